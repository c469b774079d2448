"""Distinct columns are those of NumPy, and an interrupt while they are found stays one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from induce.distinct import distinct_columns
from induce.operations.world import Resource, _not_unique
from induce.query import most_telling

TABLES = st.integers(0, 4).flatmap(
    lambda rows: st.lists(st.lists(st.integers(-2, 2), min_size=rows, max_size=rows), min_size=1, max_size=12)
)


@given(TABLES, st.sampled_from([np.int64, np.int8, np.float64]))
def test_columns_are_those_of_numpy(columns: list[list[int]], kind: type) -> None:
    table = np.array(columns, kind).reshape(len(columns), -1).T
    expected = np.unique(table, axis=1, return_inverse=True, return_counts=True)
    found = distinct_columns(table)
    assert found.columns.dtype == kind
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.tolist() == theirs.tolist()


def test_no_columns() -> None:
    found = distinct_columns(np.empty((3, 0), np.int64))
    assert (found.columns.shape, found.which.tolist(), found.counts.tolist()) == ((3, 0), [], [])


def interrupted(work: Callable[[], object], at: int) -> bool:
    """Whether `work` was interrupted as a signal does it, before the traced step number `at`.

    False when it has come to its end before. The interrupt must come out as one.
    """
    steps = 0

    def step(_: FrameType, __: str, ___: Any) -> Any:
        nonlocal steps
        steps += 1
        if steps == at:
            raise KeyboardInterrupt
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def table() -> NDArray[np.int64]:
    return np.random.default_rng(3).integers(0, 2, (4, 12))


def not_unique() -> object:
    worlds = [{"orders": [{"id": number % 2} for number in range(count)]} for count in (1, 2, 3)]
    resource = Resource("orders", worlds)
    return _not_unique(resource, np.ones(6, np.bool_), [np.array(resource.values("id"))])


WORK: dict[str, Callable[[], object]] = {
    "distinct columns": lambda: distinct_columns(table()),
    "questions": lambda: most_telling(table() > 0, np.full(4, 0.25), 3),
    "records that are not unique": not_unique,
}


@pytest.mark.parametrize("work", WORK.values(), ids=list(WORK))
def test_an_interrupt_stays_an_interrupt(work: Callable[[], object]) -> None:
    at = 1
    while interrupted(work, at):
        at += 1
    assert at > 10

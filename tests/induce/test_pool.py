"""Pools of literals: one column a verdict, however the literals come in, and which are worth keeping."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import induce.pool
from induce.literals import Literal, PathTest
from induce.pool import LiteralPool
from induce.proposers.comparison import Penalties

PASSES, SCENES = 9, 20


def empty(cap: int) -> LiteralPool:
    passing = np.arange(SCENES) < PASSES
    penalty = np.random.default_rng(0).integers(60, 900, SCENES)
    return LiteralPool(
        PASSES, Penalties(np.where(passing, penalty, 0.0), np.where(passing, 0.0, penalty)), cap
    )


def literal(number: int) -> Literal:
    return Literal(PathTest("eq", "number", number))


def literals(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Truth (count, scenes) with repeats, and costs (count,)."""
    rng = np.random.default_rng(seed)
    truth = rng.random((count, SCENES)) < rng.choice([0.2, 0.5, 0.8], (count, 1))
    truth[count // 2 :: 3] = truth[: len(truth[count // 2 :: 3])]
    return truth, rng.integers(50, 300, count)


@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(0, 60), max_size=8))
def test_a_pool_is_the_same_however_its_literals_come_in(seed: int, cuts: list[int]) -> None:
    truth, costs = literals(seed, 60)
    whole, parts = empty(250), empty(250)
    whole.add(truth, costs, literal)
    edges = sorted({0, 60, *cuts})
    for start, stop in itertools.pairwise(edges):
        parts.add(truth[start:stop], costs[start:stop], lambda i, start=start: literal(start + i))
        if start % 2:
            assert parts.entries
    assert list(parts.entries.items()) == list(whole.entries.items())
    for entry in whole.entries.values():
        numbers = [one.atom.value for one in entry.literals if isinstance(one.atom, PathTest)]
        assert [int(costs[number]) for number in numbers] == [entry.cost] * len(numbers)
        same = (truth == truth[numbers[0]]).all(axis=1) & (costs <= 250)
        assert entry.cost == costs[same].min()


@pytest.mark.parametrize("seed", range(5))
def test_what_stays_of_a_widened_pool_is_the_same_whenever_the_rest_goes(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def widened(crowd: int, cells: int) -> LiteralPool:
        monkeypatch.setattr(induce.pool, "CROWD", crowd)
        monkeypatch.setattr(induce.pool, "BATCH_CELLS", cells)
        pool = empty(80)
        truth, costs = literals(seed, 4_000)
        pool.add(truth, costs, literal)
        cheap = len(pool.entries)
        pool.widen(300, 80, 90)
        for start in range(0, 4_000, 50):
            some = slice(start, start + 50)
            pool.add(truth[some], costs[some], lambda i, start=start: literal(start + i))
        pool.keep_most_telling()
        assert cheap <= sum(entry.cost <= 80 for entry in pool.entries.values())
        assert 30 <= sum(entry.cost > 80 for entry in pool.entries.values()) <= 90
        return pool

    late, soon = widened(10**6, 10**9), widened(1, 1)
    assert late.entries.keys() == soon.entries.keys()
    assert [entry.cost for entry in late.entries.values()] == [soon.entries[key].cost for key in late.entries]

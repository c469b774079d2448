"""Linear programs end with the time that is left."""

from __future__ import annotations

import time

import numpy as np
import pytest

from induce.search import SearchProblem, pack
from induce.search.enumerate import Heuristic
from induce.search.generation import Generation
from induce.search.limits import Best, LimitReachedError, Limits
from induce.search.linear_program import minimise
from induce.search.prices import Pricing
from induce.search.table import build_table
from induce.search.term_pool import Pool

NO_TIME = 1e-9


def covering(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[tuple[float, float]]]:
    """Cover each row for the least cost, with fractions."""
    rng = np.random.default_rng(size)
    rows = (rng.random((size, size)) < 0.1).astype(float)
    return (
        rng.integers(1, 9, size).astype(float),
        -rows,
        -np.ones(size) * rows.any(axis=1),
        [(0.0, 1.0)] * size,
    )


def test_the_least_value_is_found() -> None:
    solved = minimise(
        np.array([-1.0, -2.0]), np.array([[1.0, 1.0]]), np.array([1.5]), [(0.0, 1.0)] * 2, Limits()
    )
    assert solved.x.tolist() == [0.5, 1.0]


def test_a_program_without_an_answer_is_none() -> None:
    unbounded = minimise(np.array([-1.0]), np.array([[0.0]]), np.array([1.0]), [(0.0, None)], Limits())
    assert unbounded is None


def test_the_solver_is_given_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Limits(time.monotonic() + 1e6)
    assert minimise(*covering(200), limits) is not None
    monkeypatch.setattr(limits, "remaining", lambda: NO_TIME)
    assert minimise(*covering(200), limits) is None


def test_a_program_after_the_deadline_is_not_begun() -> None:
    with pytest.raises(LimitReachedError):
        minimise(*covering(200), Limits(time.monotonic()))


def test_generation_and_prices_hand_on_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    passing, failing = rng.random((60, 100)) < 0.5, rng.random((60, 100)) < 0.4
    penalty, cost = np.full(100, 30, np.int64), np.full(60, 20, np.int64)
    problem = SearchProblem(pack(passing), pack(failing), cost, penalty, penalty, 2, 3, 2)
    table = build_table(problem)
    limits = Limits(time.monotonic() + 1e6)
    heuristic = Heuristic(table, Best(None), limits)
    heuristic.quick()
    monkeypatch.setattr(limits, "remaining", lambda: NO_TIME)
    assert Generation(heuristic).run() == []
    assert Pricing(table, 2, limits, Pool(table)).run(1000) is None

"""The search against exhaustive enumeration on small random problems, all engines."""

from __future__ import annotations

import pytest
from search_problems import ENGINES, exhaustive, random_problem

from induce.search import search


@pytest.mark.parametrize("block", range(4))
def test_agrees_with_exhaustive_search(block: int) -> None:
    judged = 0
    for seed in range(block * 50, block * 50 + 50):
        problem = random_problem(seed)
        truth = exhaustive(problem)
        if truth is None:
            continue
        judged += 1
        cost, hypothesis = truth
        for engine in ENGINES:
            outcome = search(problem, engine=engine)
            assert outcome.hypothesis is not None
            assert problem.objective(outcome.hypothesis) == outcome.cost >= cost, (seed, engine)
            assert outcome.lower_bound <= cost, (seed, engine)
            assert outcome.proved, (seed, engine)
            assert (outcome.cost, outcome.hypothesis) == (cost, hypothesis), (seed, engine)
            assert outcome.lower_bound == cost
            assert all(problem.objective(tie) == cost for tie in outcome.ties)
    assert judged > 40


def test_bounds_hold_when_stopped_early() -> None:
    for seed in range(80):
        problem = random_problem(seed)
        truth = exhaustive(problem)
        if truth is None:
            continue
        for engine in ENGINES:
            for work in (0, 1, 3, 10, 30):
                outcome = search(problem, engine=engine, work_limit=work)
                assert outcome.nodes <= work
                assert outcome.lower_bound <= truth[0] <= outcome.cost, (seed, engine, work)
                assert outcome.stopped == "proved" or not outcome.proved


def test_upper_asks_for_strictly_cheaper() -> None:
    for seed in range(80):
        problem = random_problem(seed)
        truth = exhaustive(problem)
        if truth is None:
            continue
        cost, hypothesis = truth
        for upper in (cost - 1, cost):
            outcome = search(problem, upper=upper)
            assert outcome.hypothesis is None
            assert outcome.proved
            assert outcome.cost == outcome.lower_bound == upper
        assert search(problem, upper=cost + 1).hypothesis == hypothesis

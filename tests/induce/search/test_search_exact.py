"""The search against exhaustive enumeration on small random problems, all engines."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from induce.search import Hypothesis, SearchProblem, canonical, pack, preference, search, unpack

ENGINES = ("auto", "asp", "enumerate")


def random_problem(seed: int) -> SearchProblem:
    """Up to ten literals over up to 8 + 8 scenes; equal, constant, contradictory columns; odd weights."""
    rng = np.random.default_rng(seed)
    n, passes, fails = int(rng.integers(1, 11)), int(rng.integers(0, 9)), int(rng.integers(0, 9))
    density = float(rng.choice([0.2, 0.5, 0.8]))
    passing, failing = rng.random((n, passes)) < density, rng.random((n, fails)) < density
    if rng.random() < 0.4 and n > 1:
        one, other = rng.integers(0, n, 2)
        passing[one], failing[one] = passing[other], failing[other]
    if rng.random() < 0.3:
        passing[0], failing[0] = True, True
    if rng.random() < 0.3:
        passing[-1], failing[-1] = False, False
    if rng.random() < 0.3 and passes > 1:
        passing[:, 0] = passing[:, 1]
    if rng.random() < 0.3 and passes and fails:
        failing[:, 0] = passing[:, 0]
    high = int(rng.choice([3, 30, 300]))
    kind = int(rng.integers(0, 4))

    def penalties(count: int) -> np.ndarray:
        if kind == 0:
            return np.full(count, int(rng.integers(0, high)))
        if kind == 1:
            return rng.integers(0, high * 2, count)
        if kind == 2:
            return rng.choice([0, 1, high, 2**40], count)
        return rng.integers(0, 5, count) * high

    return SearchProblem(
        passing=pack(passing),
        failing=pack(failing),
        cost=rng.integers(0 if rng.random() < 0.3 else 1, high, n).astype(np.int64),
        pass_penalty=penalties(passes).astype(np.int64),
        fail_penalty=penalties(fails).astype(np.int64),
        join_cost=int(rng.integers(0, 5)),
        max_terms=int(rng.integers(1, 4)),
        max_literals=int(rng.integers(1, 4)),
    )


def exhaustive(problem: SearchProblem, limit: int = 60) -> tuple[int, Hypothesis] | None:
    """Cost and preferred optimum by trying everything, None where that is too much."""
    passing = unpack(problem.passing, len(problem.pass_penalty))
    failing = unpack(problem.failing, len(problem.fail_penalty))
    cheapest: dict[tuple[bytes, bytes], tuple[int, int, tuple[int, ...]]] = {}
    for length in range(1, problem.max_literals + 1):
        for term in itertools.combinations(range(problem.literals), length):
            rows = list(term)
            key = passing[rows].all(0).tobytes(), failing[rows].all(0).tobytes()
            entry = int(problem.cost[rows].sum()) + problem.join_cost * length, length, term
            cheapest[key] = min(entry, cheapest.get(key, entry))
    if len(cheapest) > limit and problem.max_terms > 2:
        return None
    terms = [
        (np.frombuffer(p, np.bool_), np.frombuffer(f, np.bool_), size, term)
        for (p, f), (size, _, term) in cheapest.items()
    ]
    outcomes = []
    for count in range(1, problem.max_terms + 1):
        for chosen in itertools.combinations(terms, count):
            passed = np.any([c[0] for c in chosen], axis=0)
            failed = np.any([c[1] for c in chosen], axis=0)
            errors = int(problem.pass_penalty[~passed].sum()) + int(problem.fail_penalty[failed].sum())
            cost = sum(c[2] for c in chosen) - problem.join_cost + errors
            outcomes.append((cost, *preference(canonical(c[3] for c in chosen))))
    best = min(outcomes)
    return best[0], best[-1]


@pytest.mark.parametrize("block", range(6))
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
    for seed in range(150):
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
    for seed in range(150):
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

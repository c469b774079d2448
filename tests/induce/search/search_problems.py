"""Random search problems, planted rules, and exhaustive search as the judge."""

from __future__ import annotations

import itertools

import numpy as np

from induce.search import Hypothesis, SearchProblem, canonical, pack, preference, unpack
from induce.search.problem import Engine

ENGINES: tuple[Engine, ...] = ("auto", "asp", "enumerate")


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


def planted_problem(seed: int, literals: int, scenes: int, noise: float) -> tuple[SearchProblem, Hypothesis]:
    """Thresholds, categories and their negations over random fields, labelled by a rule of two terms."""
    rng = np.random.default_rng(seed)
    columns: list[np.ndarray] = []
    costs: list[int] = []
    while len(columns) < literals:
        base = int(rng.integers(120, 260))
        if rng.random() < 0.5:
            field = rng.normal(size=scenes)
            for cut in rng.uniform(-1.2, 1.2, 6):
                columns += [field < cut, field >= cut]
                costs += [base, base]
        else:
            values = int(rng.integers(2, 7))
            field = rng.integers(0, values, scenes)
            for value in range(values):
                columns += [field == value, field != value]
                costs += [base, base + 48]
    truth = np.array(columns[:literals])
    while True:
        rule = [tuple(rng.choice(literals, 2, replace=False).tolist()) for _ in range(2)]
        cover = [truth[list(term)].all(axis=0) for term in rule]
        alone = [cover[0] & ~cover[1], cover[1] & ~cover[0]]
        label = cover[0] | cover[1]
        if 0.3 < label.mean() < 0.7 and min(part.mean() for part in alone) > 0.1:
            break
    label ^= rng.random(scenes) < noise
    problem = SearchProblem(
        passing=pack(truth[:, label]),
        failing=pack(truth[:, ~label]),
        cost=np.array(costs[:literals], dtype=np.int64),
        pass_penalty=np.full(int(label.sum()), 170, dtype=np.int64),
        fail_penalty=np.full(int((~label).sum()), 170, dtype=np.int64),
        join_cost=32,
        max_terms=4,
        max_literals=4,
    )
    return problem, canonical(rule)

"""Column generation finds terms that go together, which greedy covers and exchanges miss."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from search_problems import random_problem

from induce.search import Hypothesis, SearchProblem, pack
from induce.search.enumerate import Heuristic
from induce.search.generation import Generation
from induce.search.limits import Best, LimitReachedError, Limits
from induce.search.table import build_table


def three_terms(seed: int) -> tuple[SearchProblem, Hypothesis]:
    """200 scenes told by three terms of two thresholds over 24 numeric fields with 20 thresholds each.

    The thresholds of one field are near-copies of each other, and no term shows before the others.
    """
    rng = np.random.default_rng(seed)
    fields = rng.normal(size=(24, 200))
    cuts = np.quantile(fields[0], np.linspace(0.1, 0.9, 20))
    below = fields[:, None, :] <= cuts[None, :, None]
    truth = np.concatenate([below, ~below]).reshape(-1, 200)
    while True:
        rule = [tuple(int(i) for i in rng.choice(len(truth), 2, replace=False)) for _ in range(3)]
        cover = np.array([truth[list(term)].all(axis=0) for term in rule])
        alone = [(cover[i] & ~np.delete(cover, i, axis=0).any(axis=0)).mean() for i in range(3)]
        if min(alone) > 0.08 and cover.any(axis=0).mean() < 0.6:
            break
    label = cover.any(axis=0)
    problem = SearchProblem(
        passing=pack(truth[:, label]),
        failing=pack(truth[:, ~label]),
        cost=rng.integers(150, 200, len(truth)).astype(np.int64),
        pass_penalty=np.full(int(label.sum()), 150, np.int64),
        fail_penalty=np.full(int((~label).sum()), 150, np.int64),
        join_cost=16,
        max_terms=4,
        max_literals=4,
    )
    return problem, tuple(rule)


def heuristic_of(problem: SearchProblem, work_limit: int | None = None) -> Heuristic:
    heuristic = Heuristic(build_table(problem), Best(None), Limits(None, work_limit))
    heuristic.quick()
    return heuristic


def best_of(heuristic: Heuristic) -> int:
    assert heuristic.best.cost is not None
    return heuristic.best.cost


def test_three_planted_terms_are_found_where_the_quick_search_fails() -> None:
    missed = found = 0
    for seed in range(6):
        problem, rule = three_terms(seed)
        heuristic = heuristic_of(problem)
        planted = problem.objective(rule)
        missed += best_of(heuristic) > planted
        heuristic.improve(Generation(heuristic).run())
        found += best_of(heuristic) <= planted
    assert found == 6
    assert missed >= 2, "these problems are too easy to show anything"


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_what_is_offered_costs_what_the_problem_says(start: int) -> None:
    for seed in range(start, start + 50):
        problem = random_problem(seed)
        heuristic = heuristic_of(problem)
        quick = best_of(heuristic)
        chosen = Generation(heuristic).run()
        assert len(chosen) <= problem.max_terms
        assert best_of(heuristic) <= quick
        for hypothesis in heuristic.best.ranked():
            assert problem.objective(hypothesis) == best_of(heuristic)


def test_a_work_limit_ends_it_with_what_it_had() -> None:
    problem, _ = three_terms(1)
    spent = []
    for work_limit in (1_000, 1_600, 2_400):
        costs = set()
        for _ in range(2):
            heuristic = heuristic_of(problem, work_limit)
            with pytest.raises(LimitReachedError):
                Generation(heuristic).run()
            costs.add(best_of(heuristic))
        assert len(costs) == 1
        spent.append(costs.pop())
    assert all(before >= after for before, after in itertools.pairwise(spent))
    assert spent[-1] < spent[0]

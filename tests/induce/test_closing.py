"""Closed pools hold what an optimum is made of, against exhaustive search.

And a proof with only the cheap literals filled in agrees with one from a pool filled much further.
"""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluator import compile_check
from induce import learn_check, pooled
from induce.closing import close
from induce.grammar import units
from induce.literals import Literal, PathTest
from induce.pool import LiteralPool
from induce.pooled import PooledSearch
from induce.proposers.comparison import Penalties
from induce.search import Openings, SearchProblem
from induce.search.limits import Limits

JSON = Any
Bools = NDArray[np.bool_]
NEVER = 1 << 60
LOW_CAPS = tuple(range(units(7), units(30), 8))
HIGH_CAPS = tuple(units(bits) for bits in (16, 24, 32, 40, 48, 56))
SEEDS = (3, 5, 6, 9, 10, 15, 18, 20, 21, 26, 27, 31, 33, 35, 37, 39, 48, 49, 50, 51, 52, 53, 57, 59)
"""Draws where literals are proposed for openings, and both proofs take little time."""
SEVERAL_TERMS = (293, 550, 841, 1317)
"""Draws whose optimum has unknown literals in several terms, which would not be found without prices."""
GRAMMAR = {"max_count": 2, "max_set": 1, "cross_field": False, "index_paths": False}


def random_scene(rng: random.Random) -> dict[str, JSON]:
    def element() -> dict[str, JSON]:
        one: dict[str, JSON] = {"k": rng.choice("abc"), "n": rng.randrange(1, 7)}
        return one | ({"ok": rng.random() < 0.5} if rng.random() < 0.7 else {})

    items: JSON = [element() for _ in range(rng.randrange(4))] if rng.random() < 0.9 else "none"
    return {"a": rng.randrange(6), "c": rng.choice("uv"), "items": items}


def random_rule(rng: random.Random) -> dict[str, JSON]:
    parts: list[dict[str, JSON]] = [
        {"op": "eq", "path": "k", "value": rng.choice("abc")},
        {"op": rng.choice(["gte", "lte"]), "path": "n", "value": rng.randrange(2, 6)},
        {"op": "eq", "path": "ok", "value": True},
        {"op": "neq", "path": "k", "value": "a"},
    ]
    chosen = rng.sample(parts, rng.choice([2, 2, 3]))
    find: dict[str, Any] = {"op": "find", "collection": "items", "where": {"op": "and", "of": chosen}}
    literal = rng.choice(
        [
            find,
            {"op": "not", "of": find},
            {"op": "count", "collection": "items", "where": chosen[0], "gte": 2},
            {"op": "count", "collection": "items", "where": find["where"], "lte": 1},
        ]
    )
    other = {"op": "eq", "path": "c", "value": "u"}
    return rng.choice([literal, {"op": rng.choice(["and", "or"]), "of": [literal, other]}])


def random_task(seed: int) -> tuple[list[JSON], list[str], dict[str, Any]]:
    """Scenes labelled by a rule, some of the labels flipped, and options for the learner."""
    rng = random.Random(f"closing-{seed}")
    scenes = [random_scene(rng) for _ in range(24)]
    check = compile_check(random_rule(rng))
    verdicts = [check.passes(scene) for scene in scenes]
    for at in rng.sample(range(24), rng.choice([0, 0, 1, 2])):
        verdicts[at] = not verdicts[at]
    options: dict[str, Any] = {name: rng.choice([1, 2, 3]) for name in ("max_terms", "max_literals")}
    options |= {"max_where": rng.choice([2, 3]), "max_nesting": 1, "penalty": rng.choice(["auto", 8.0])}
    if rng.random() < 0.4:
        options["sample_weight"] = [rng.choice([0, 0.5, 1, 2]) for _ in scenes]
    return scenes, ["pass" if passes else "fail" for passes in verdicts], options


@pytest.mark.parametrize("seed", SEEDS)
def test_closing_agrees_with_filling(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scenes, labels, options = random_task(seed)
    closed, made = PooledSearch._closed, []

    def watched(search: PooledSearch, *where: Any) -> tuple[LiteralPool, int]:
        pool, most = closed(search, *where)
        made.append(pool is not search.pool)
        return pool, most

    monkeypatch.setattr(PooledSearch, "_closed", watched)
    monkeypatch.setattr(pooled, "CAPS", LOW_CAPS)
    monkeypatch.setattr(pooled, "ENOUGH", 0)
    one = learn_check(scenes, labels, GRAMMAR, time_limit=60, **options)
    assert any(made)
    monkeypatch.setattr(PooledSearch, "_closed", lambda search, *_: (search.pool, search.complete))
    monkeypatch.setattr(pooled, "CAPS", HIGH_CAPS)
    monkeypatch.setattr(pooled, "ENOUGH", units(1000))
    other = learn_check(scenes, labels, GRAMMAR, time_limit=60, **options)
    assert one.optimal
    assert other.optimal
    assert (one.objective, one.check) == (other.objective, other.check)


class Case(NamedTuple):
    """Truth (n, scenes) of literals, the first `known` of them cheap; passing scenes come first."""

    truth: Bools
    cost: list[int]
    known: int
    passes: int
    penalty: NDArray[np.int64]
    join: int
    max_terms: int
    max_literals: int

    def pool(self, literals: list[int]) -> LiteralPool:
        labels = np.arange(len(self.penalty)) < self.passes
        penalties = Penalties(
            np.where(labels, self.penalty, 0.0), np.where(labels, 0.0, self.penalty.astype(np.float64))
        )
        pool = LiteralPool(self.passes, penalties, NEVER)
        for at in literals:
            pool.hold(self.truth[at], self.cost[at], Literal(PathTest("exists", str(at))))
        return pool

    def problem(self, pool: LiteralPool) -> SearchProblem:
        table = pool.table(NEVER)
        return SearchProblem(
            passing=table.passing,
            failing=table.failing,
            cost=table.cost,
            pass_penalty=self.penalty[: self.passes],
            fail_penalty=self.penalty[self.passes :],
            join_cost=self.join,
            max_terms=self.max_terms,
            max_literals=self.max_literals,
        )

    def fitting(self, left: Openings) -> LiteralPool:
        """The unknown literals that fit an opening, read off the definition."""
        fit = []
        for at in range(self.known, len(self.truth)):
            passing, failing = self.truth[at, : self.passes], self.truth[at, self.passes :]
            kept = left.room >= self.cost[at]
            for ask in left.asks:
                kept &= ask.wanted @ ~passing + ask.unwanted @ failing + self.cost[at] <= ask.budget
            fit += [at] if kept.any() else []
        return self.pool(fit)

    def terms(self, literals: list[int]) -> dict[bytes, int]:
        """The least cost of each truth that some term of these literals has."""
        found: dict[bytes, int] = {}
        for size in range(1, self.max_literals + 1):
            for term in combinations(literals, size):
                key = np.logical_and.reduce(self.truth[list(term)]).tobytes()
                price = sum(self.cost[at] + self.join for at in term)
                found[key] = min(price, found.get(key, NEVER))
        return found

    def least(self, literals: list[int]) -> int:
        """The least objective of a hypothesis made of these literals, or of a constant answer."""
        wanted = np.arange(len(self.penalty)) < self.passes
        terms = self.terms(literals)
        found = dict(terms)
        for _ in range(self.max_terms - 1):
            for one, price in list(found.items()):
                for other, more in terms.items():
                    either = (np.frombuffer(one, np.bool_) | np.frombuffer(other, np.bool_)).tobytes()
                    found[either] = min(price + more, found.get(either, NEVER))
        best = min(int(self.penalty[wanted].sum()), int(self.penalty[~wanted].sum()))
        for truth, price in found.items():
            wrong = np.frombuffer(truth, np.bool_) != wanted
            best = min(best, price - self.join + int(self.penalty[wrong].sum()))
        return best


def random_case(seed: int) -> Case:
    """Labels that a hypothesis of some unknown literals fits, but for a few scenes."""
    rng = random.Random(f"closing a pool {seed}")
    known, unknown, scenes = rng.randrange(2, 6), rng.randrange(2, 5), rng.randrange(8, 15)
    max_terms, max_literals = rng.choice([(1, 3), (2, 2), (2, 3), (3, 2), (3, 3)])
    truth = np.array([[rng.random() < 0.6 for _ in range(scenes)] for _ in range(known + unknown)])
    dear = list(range(known, known + unknown))
    chosen = [
        [*rng.sample(dear, rng.choice([1, 1, 2])), *rng.sample(range(known), rng.choice([0, 0, 1]))]
        for _ in range(rng.randrange(1, max_terms + 1))
    ]
    labels = np.logical_or.reduce([np.logical_and.reduce(truth[term[:max_literals]]) for term in chosen])
    labels ^= np.array([rng.random() < 0.05 for _ in labels])
    order = np.argsort(~labels, kind="stable")
    least, unit = rng.randrange(4, 12), rng.choice([1, 16])
    cost = [rng.randrange(1, least + 1) for _ in range(known)]
    cost += [least + 1 + rng.randrange(8) for _ in range(unknown)]
    penalty = np.array([rng.choice([4, 8, 8, 12]) * unit for _ in labels], np.int64)
    figures = [one * unit for one in cost], known, int(labels.sum()), penalty, rng.choice([0, 1, 2]) * unit
    return Case(truth[:, order], *figures, max_terms, max_literals)


@pytest.mark.parametrize("part", range(4))
def test_a_closed_pool_holds_an_optimum(part: int) -> None:
    needed = 0
    for seed in [*range(50 * part, 50 * part + 50), SEVERAL_TERMS[part]]:
        case = random_case(seed)
        known, everything = list(range(case.known)), list(range(len(case.truth)))
        if not 0 < case.passes < len(case.penalty):
            continue
        before, best = case.least(known), case.least(everything)
        pool = close(
            case.pool(known),
            max(case.cost[: case.known]),
            before + case.join,
            case.problem,
            case.fitting,
            Limits(None, None),
        )
        if pool is None:
            continue
        named = [int(literal.atom.path) for entry in pool.entries.values() for literal in entry.literals]
        assert case.least(named) == best, f"seed {seed}"
        needed += best < before
    assert needed > 10


def test_without_a_cheap_literal_nothing_is_closed() -> None:
    case = random_case(0)
    pool = case.pool(list(range(len(case.truth))))
    least = min(entry.cost for entry in pool.entries.values())
    assert close(pool, least - 1, 1000, case.problem, case.fitting, Limits(None, None)) is None
    assert len(pool.table(least - 1).literals) == 0

"""Openings against exhaustive search: what an optimum needs fits one, and what fits one is in budget."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from induce.search import Openings, SearchProblem, TooManyOpeningsError, Unknown, openings, pack
from induce.search.limits import LimitReachedError, Limits

Bools = NDArray[np.bool_]
NEVER = 1 << 60
FREE = Limits(None, None)


class Case(NamedTuple):
    """Truth (n, scenes) of literals, the last of which is not in the table; passes come first."""

    truth: Bools
    cost: list[int]
    pass_penalty: list[int]
    fail_penalty: list[int]
    join: int
    max_terms: int
    max_literals: int

    def problem(self) -> SearchProblem:
        passes = len(self.pass_penalty)
        return SearchProblem(
            passing=pack(self.truth[:-1, :passes]),
            failing=pack(self.truth[:-1, passes:]),
            cost=np.array(self.cost[:-1], np.int64),
            pass_penalty=np.array(self.pass_penalty, np.int64),
            fail_penalty=np.array(self.fail_penalty, np.int64),
            join_cost=self.join,
            max_terms=self.max_terms,
            max_literals=self.max_literals,
        )

    def constant(self) -> int:
        return min(sum(self.pass_penalty), sum(self.fail_penalty))

    def left(self, budget: int, limits: Limits = FREE) -> list[Openings]:
        """The openings for the last literal."""
        return openings(self.problem(), [], budget + self.join, Unknown(1, self.cost[-1]), limits)

    def fits(self, left: list[Openings]) -> bool:
        return any(self._fits(some) for some in left)

    def _fits(self, left: Openings) -> bool:
        passes = len(self.pass_penalty)
        kept = left.room >= self.cost[-1]
        for ask in left.asks:
            errors = ask.wanted @ ~self.truth[-1, :passes] + ask.unwanted @ self.truth[-1, passes:]
            kept &= errors + self.cost[-1] <= ask.budget
        return bool(kept.any())

    def least(self) -> tuple[int, int]:
        """The least objective with the last literal, which is said once, and without it."""
        last = len(self.cost) - 1
        terms: dict[tuple[bool, bytes], int] = {}
        for size in range(1, self.max_literals + 1):
            for term in combinations(range(last + 1), size):
                key = (last in term, np.logical_and.reduce(self.truth[list(term)]).tobytes())
                price = sum(self.cost[literal] + self.join for literal in term)
                terms[key] = min(price, terms.get(key, NEVER))
        found = dict(terms)
        for _ in range(self.max_terms - 1):
            for (has, one), price in list(found.items()):
                for (also, other), more in terms.items():
                    if not (has and also):
                        either = np.frombuffer(one, np.bool_) | np.frombuffer(other, np.bool_)
                        key = (has or also, either.tobytes())
                        found[key] = min(price + more, found.get(key, NEVER))
        return self._best(found, True), self._best(found, False)

    def _best(self, found: dict[tuple[bool, bytes], int], has: bool) -> int:
        passes = len(self.pass_penalty)
        wanted = np.arange(self.truth.shape[1]) < passes
        penalty = np.array([*self.pass_penalty, *self.fail_penalty], np.int64)
        return min(
            (
                price - self.join + int(penalty[np.frombuffer(truth, np.bool_) != wanted].sum())
                for (is_in, truth), price in found.items()
                if is_in == has
            ),
            default=NEVER,
        )


def random_case(seed: int) -> Case:
    rng = random.Random(f"openings-{seed}")
    passes, fails, n, unit = (
        rng.randrange(1, 7),
        rng.randrange(1, 7),
        rng.randrange(1, 7),
        rng.choice([1, 10]),
    )
    density = rng.choice([0.4, 0.5, 0.7])
    truth = np.array([[rng.random() < density for _ in range(passes + fails)] for _ in range(n + 1)])
    if rng.random() < 0.5:  # scenes that only the last literal may tell apart
        for _ in range(rng.randrange(1, 4)):
            truth[:n, passes + rng.randrange(fails)] = truth[:n, rng.randrange(passes)]
    if rng.random() < 0.7:
        truth[n] = np.arange(passes + fails) < passes
        for _ in range(rng.randrange(4)):
            truth[n, rng.randrange(passes + fails)] ^= True

    def penalties(count: int) -> list[int]:
        return [rng.choice([0, 1, 3, 5, 8]) * unit for _ in range(count)]

    cost = [rng.randrange(1, 6) * unit for _ in range(n)] + [rng.randrange(1, 14) * unit]
    join = rng.choice([0, 1, 2]) * unit
    return Case(
        truth, cost, penalties(passes), penalties(fails), join, rng.randrange(1, 4), rng.randrange(1, 4)
    )


@pytest.mark.parametrize("part", range(4))
def test_a_literal_fits_an_opening_where_an_optimum_needs_it(part: int) -> None:
    needed = 0
    for seed in range(250 * part, 250 * part + 250):
        case = random_case(seed)
        with_it, without = case.least()
        budget = min(without, case.constant()) - 1
        left = case.left(budget)
        assert case.fits(left) == (with_it <= budget), f"seed {seed}"
        needed += with_it <= budget
    assert needed > 20


@pytest.mark.parametrize("seed", range(60))
def test_whatever_the_budget_what_fits_is_within_it(seed: int) -> None:
    case = random_case(seed)
    with_it, without = case.least()
    for budget in range(case.cost[-1], min(with_it, 120) + 10, 3):
        left = case.left(budget)
        if case.fits(left):
            assert with_it <= budget
        elif with_it < min(without, case.constant()):
            assert with_it > budget


def table(*rows: str) -> Bools:
    return np.array([[letter == "1" for letter in row] for row in rows])


def test_scenes_that_the_table_cannot_tell_apart_are_not_settled() -> None:
    """The literal of the table is true of a pass and of a fail, and worth it only beside the new one."""
    case = Case(table("010" + "01", "101" + "01"), [3, 3], [24, 24, 9], [24, 15], 6, 2, 1)
    assert case.least() == (27, 51)
    assert case.fits(case.left(27))


def test_a_literal_by_itself_needs_no_join() -> None:
    """It costs less than the constant answer, by less than what joining costs."""
    case = Case(table("10" + "01", "11" + "00"), [50, 100], [80, 30], [60, 50], 20, 1, 2)
    assert case.least()[0] == 100 < case.constant() == 110
    assert case.fits(case.left(109))


def test_nothing_fits_below_the_least_cost() -> None:
    case = Case(table("10" + "01", "11" + "00"), [5, 30], [80, 30], [60, 50], 2, 2, 2)
    assert not case.left(29)


def scattered(pairs: Iterable[tuple[int, int]], scenes: int) -> Bools:
    return np.array([[scene in pair for scene in range(scenes)] for pair in pairs])


def test_too_many_openings_are_refused_and_limits_hold() -> None:
    scenes = 60
    truth = np.concatenate([scattered(combinations(range(30), 2), scenes), np.zeros((1, scenes), np.bool_)])
    case = Case(truth, [1] * (len(truth) - 1) + [10], [50] * 30, [50] * 30, 1, 4, 1)
    with pytest.raises(TooManyOpeningsError):
        case.left(1400)
    with pytest.raises(LimitReachedError):
        case.left(1400, Limits(None, 0))

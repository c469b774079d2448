"""Candidates for ``eq``, ``neq``, ``gte`` and ``lte``.

Equality takes the observed values. A bound matters only through the rows it lets in, so the
candidates are the gaps between neighbouring values, each at the price of its roundest number.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from induce.column import Column
from induce.costs import DescriptionLength
from induce.literals import Bound, Literal, PathTest
from induce.profile import Scope
from induce.proposers.rows import Candidate
from induce.proposers.stakes import Stakes


class Penalties(NamedTuple):
    """What misclassifying each row's scene costs: (rows,) each, 0 where the label differs."""

    passing: NDArray[np.float64]
    failing: NDArray[np.float64]


def equalities(scope: Scope, cost: DescriptionLength, stakes: Stakes | None = None) -> Iterator[Candidate]:
    """Equality, and inequality, with every observed scalar.

    With `stakes` those are left out that cost more than they could save (see `induce.proposers.stakes`).
    """
    rows = len(scope.rows)
    for path, column in scope.columns.items():
        plain: dict[tuple[type, bool], int] = {}
        negated: dict[tuple[type, bool], int] = {}
        saving = None if stakes is None else stakes.of(column)
        for code, (value, seen) in enumerate(zip(column.distinct, column.occurrences, strict=True)):
            kind = (type(value), seen == 1)
            if kind not in plain:
                plain[kind], negated[kind] = cost.eq(scope, column, code), cost.neq(scope, column, code)
            literal = Literal(PathTest("eq", path, value))
            if (
                cost.grammar.allows("eq")
                and (scope.depth > 0 or seen < rows)
                and (saving is None or plain[kind] <= saving[0][code] + 1)
            ):
                yield Candidate(literal, partial(np.equal, column.codes, code), plain[kind], path)
            if (
                cost.grammar.allows("neq")
                and (seen < rows or (scope.depth > 0 and not scope.always_array))
                and (saving is None or negated[kind] <= saving[1][code] + 1)
            ):
                unequal = partial(np.not_equal, column.codes, code)
                yield Candidate(literal._replace(negated=True), unequal, negated[kind], path)


class Direction:
    """One numeric column seen from one side, so that a bound always keeps the higher ranks.

    For ``lte`` the ranks are turned round.
    """

    def __init__(self, scope: Scope, column: Column, op: str, cost: DescriptionLength) -> None:
        self.column = column
        self.op = op
        top = len(column.numbers) - 1
        digits = column.gap_digits[op]
        self.ranks = column.ranks if op == "gte" else np.where(column.ranks < 0, -1, top - column.ranks)
        prices = {int(d): cost.threshold(scope, column, int(d)) for d in np.unique(digits)}
        price = np.array([prices[int(d)] for d in digits], np.int64)
        self.gap_cost = price if op == "gte" else price[::-1]
        self.cheapest = int(price.min())

    def literal(self, below: int, rank: int) -> Literal:
        """The bound that lets in `rank` and above but nothing up to `below` (-1: no end)."""
        numbers = self.column.numbers
        if self.op == "gte":
            bound = Bound(None if below < 0 else numbers[below], numbers[rank], "high")
        else:
            top = len(numbers) - 1
            bound = Bound(numbers[top - rank], None if below < 0 else numbers[top - below], "low")
        return Literal(PathTest(self.op, self.column.path, bound))

    def cut(self, found: Cuts, i: int) -> Literal:
        """The i-th of the bounds found by `cuts`."""
        return self.literal(int(found.below[i]), int(found.rank[i]))


def directions(scope: Scope, cost: DescriptionLength) -> Iterator[Direction]:
    """Every numeric column of the scope with two numbers or more, from both sides."""
    for column in scope.columns.values():
        if len(column.numbers) >= 2:
            for op in ("gte", "lte"):
                if cost.grammar.allows(op):
                    yield Direction(scope, column, op, cost)


class Cuts(NamedTuple):
    """Candidate bounds: keep ranks >= `rank`, not those <= `below`; cost of the constant's test."""

    rank: NDArray[np.int64]
    below: NDArray[np.int64]
    cost: NDArray[np.int64]

    def part(self, start: int, end: int) -> Cuts:
        """Some of the bounds."""
        return Cuts(*(figures[start:end] for figures in self))


def cuts(
    ranks: NDArray[np.int32],
    direction: Direction,
    cap: int,
    penalties: Penalties | None,
    *,
    kept_passes: bool = True,
) -> Cuts:
    """Bounds on `ranks` (one per row, -1: no number) worth considering.

    Without labels: every gap between two ranks that occur, if it costs at most `cap`. With
    labels a bound is left out when another one that costs no more lets in every passing row
    it lets in and no failing row it keeps out (with ``kept_passes=False``, the other way
    round, for literals that are negated): the other can stand in for it in any hypothesis.
    """
    occurs = np.zeros(len(direction.gap_cost) + 1, np.bool_)
    occurs[ranks + 1] = True
    values = np.flatnonzero(occurs[1:])
    if not len(values):
        empty = np.zeros(0, np.int64)
        return Cuts(empty, empty, empty)
    below = np.empty_like(values)
    below[0], below[1:] = -1, values[:-1]
    cost = np.minimum.reduceat(direction.gap_cost[: values[-1] + 1], below + 1)
    affordable = cost <= cap
    if penalties is None:
        return Cuts(values[affordable], below[affordable], cost[affordable])
    wanted = np.bincount(ranks + 1, penalties.passing, len(occurs))[values + 1]
    unwanted = np.bincount(ranks + 1, penalties.failing, len(occurs))[values + 1]
    if not kept_passes:
        wanted, unwanted = unwanted, wanted
    wanted_upto, unwanted_upto = np.zeros(len(values) + 1), np.zeros(len(values) + 1)
    np.cumsum(wanted, out=wanted_upto[1:])
    np.cumsum(unwanted, out=unwanted_upto[1:])
    survives = np.zeros(len(values), np.bool_)
    for level in np.unique(cost[affordable]):
        available = np.flatnonzero(cost <= level)
        following = np.append(available[1:], len(values))
        gains = wanted_upto[following] > wanted_upto[available]
        sheds = np.empty(len(available), np.bool_)
        sheds[0] = True
        sheds[1:] = unwanted_upto[available[1:]] > unwanted_upto[available[:-1]]
        sheds[1:] |= ~gains[:-1]  # of two bounds that differ on rows of no weight alone, one stays
        good = available[gains & sheds]
        survives[good[cost[good] == level]] = True
    return Cuts(values[survives], below[survives], cost[survives])

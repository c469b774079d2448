"""What terms of hypotheses of so many terms are asked for, scene by scene.

The prices of :mod:`induce.search.prices` hold for any terms, whatever literals they are made of, as
long as none has a smaller r than the least that is known. Here they stand for the scenes of a problem
rather than for the bits of a table, so that literals from outside the table can be asked as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from induce.search.bits import Ints
from induce.search.limits import Limits
from induce.search.prices import Pricing
from induce.search.problem import SearchProblem
from induce.search.reduce import undominated_apart
from induce.search.table import Table, reweigh
from induce.search.term_pool import Pool
from induce.search.terms import MinedTerms, Miner, Rest


@dataclass(frozen=True)
class TermPrices:
    """Prices for hypotheses of exactly ``terms`` terms, as in :mod:`induce.search.prices`.

    At least two. ``prices`` int64[P] of the passing scenes, in ``terms``-ths of a unit; ``least``, below
    which r is for no term known.
    """

    terms: int
    prices: Ints
    least: int

    def most(self, whole: int) -> int:
        """The largest r of interest: of a term of a hypothesis of sizes and penalties up to ``whole``.

        Or of one with which ``least`` would not hold for the others.
        """
        most = self.terms * whole - int(self.prices.sum()) - (self.terms - 1) * self.least
        return max(most, self.least - 1)


def term_prices(
    problem: SearchProblem, numbers: Sequence[int], whole: int, limits: Limits
) -> list[TermPrices]:
    """Prices for some numbers of terms; ``whole`` bounds sizes, a join for each literal, and penalties.

    Raises LimitReachedError as any search does.
    """
    penalty = problem.pass_penalty.astype(np.int64)
    found: list[TermPrices] = []
    table = undominated_apart(problem, limits)
    pool = Pool(table)
    for terms in numbers:
        priced = Pricing(table, terms, limits, pool).run(whole)
        if priced is None:
            found.append(TermPrices(terms, np.zeros_like(penalty), 0))
            continue
        prices = np.zeros_like(penalty)
        np.add.at(prices, table.passing.scenes[np.flatnonzero(table.passing.bit_weights())], priced.prices)
        found.append(TermPrices(terms, prices, priced.least))
    return found


def undercuts(problem: SearchProblem, asked: Sequence[TermPrices], whole: int, limits: Limits) -> bool:
    """Whether some term of the problem has a smaller r than the least known."""
    table = undominated_apart(problem, limits)
    return any(_undercuts(table, one, whole, limits) for one in asked)


def _undercuts(table: Table, asked: TermPrices, whole: int, limits: Limits) -> bool:
    bits = np.flatnonzero(table.passing.bit_weights())
    scenes = table.passing.scenes[bits]
    _, first = np.unique(scenes, return_index=True)
    prices = np.zeros(len(bits), np.int64)
    prices[first] = asked.prices[scenes[first]]
    unit = max(1, int(np.gcd.reduce(prices, initial=0)))
    side = reweigh(table.passing, bits, prices // unit, unit)

    def emit(found: MinedTerms) -> None:
        if len(found.size):
            raise _UndercutError

    try:
        Miner(
            replace(table, passing=side),
            limits,
            side.used,
            table.failing.used,
            lambda: asked.least - 1,
            Rest(0),
            False,
            emit,
            share=asked.terms,
            cap=whole - (asked.terms - 1) * int(table.cost.min()),
        ).run()
    except _UndercutError:
        return True
    return False


class _UndercutError(Exception):
    """Leaves the miner at the first term found."""

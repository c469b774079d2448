"""Bounds and complete pools by prices on passing scenes (Lagrangian duality, column generation).

Take hypotheses of exactly q terms. Pay a price L(i) <= penalty(i) for each passing scene in advance
and give it back to every term that covers the scene. Since a fail covered by any of q terms is
counted by at most q of them, any hypothesis of q terms t has

    q * cost >= sum of L(i) + sum over its terms of r(t),
    r(t) = q * size(t) + fails(t) - L(passes of t)            (all in q-ths of a unit)

So with r* the least r over all terms, no hypothesis of q terms costs less than
``(sum L + q r*) / q``; and one that costs at most B consists of terms with
``r(t) <= q B - sum L - (q - 1) r*``. Both r* and the complete list of such terms come from the
term miner, exactly. Good prices come from the linear program over the terms known so far: its dual
values price the scenes, the miner finds the terms that undercut them, and so on (column
generation, with the prices smoothed towards the best ones yet). The program is solved in floating
point by HiGHS; its answer only suggests prices, which are then rounded to whole numbers, so that
no claim rests on it.

On data that a rule fits well the bound comes within a fraction of one literal of the optimum and
the complete list holds some dozens to thousands of terms. Under noise the q-fold counting of fails
leaves a gap that grows with the fails the optimum pays for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from induce.search.bits import Ints
from induce.search.limits import Limits
from induce.search.linear_program import Floats, minimise
from induce.search.table import Indices, Table, reweigh
from induce.search.term_pool import Members, Pool, covers, passes, sizes
from induce.search.terms import MinedTerms, Miner, Rest

LEVELS = 64
"""Distinct prices kept when prices are rounded, which bounds the words of a priced column."""
PRICED_AT_ONCE = 60
COLUMNS = 400
ROUNDS = 40
MARGIN = 0.1


@dataclass(frozen=True)
class Priced:
    """Whole prices in q-ths of a unit, the least r over all terms under them, and the bound they give.

    ``listed`` holds every term that fits the budget of the pricing and whose r is at most ``listed_to``.
    """

    terms: int
    table: Table
    prices: Ints
    total: int
    least: int
    listed_to: int
    listed: tuple[Members, ...]

    @property
    def bound(self) -> int:
        """No hypothesis of ``terms`` terms has sizes and penalties below this."""
        return -(-(self.total + self.terms * self.least) // self.terms)

    def threshold(self, budget: int) -> int:
        """Largest r of a term of a hypothesis with sizes and penalties within the budget."""
        return self.terms * budget - self.total - (self.terms - 1) * self.least


class Pricing:
    """Searches good prices for hypotheses of exactly ``terms`` terms; every bound is exact."""

    def __init__(self, table: Table, terms: int, limits: Limits, pool: Pool) -> None:
        self.table = table
        self.terms = terms
        self.limits = limits
        self.pool = pool
        weights = table.passing.bit_weights()
        self.bits: Indices = np.flatnonzero(weights)
        self.penalty = weights[self.bits]
        self.best: Priced | None = None

    def run(self, budget: int) -> Priced | None:
        """Improve the prices until the bound passes the budget or stops rising; the best found."""
        if not self.pool.members:
            self.pool.add([(literal,) for literal in range(min(COLUMNS, self.table.literals))])
        self.penalty = np.minimum(self.penalty, max(0, budget + 1))
        matrix = np.zeros((0, len(self.bits)), dtype=np.bool_)
        cost = np.zeros(0, dtype=np.int64)
        pool_matrix, pool_cost = self._columns(self.pool.members)
        fresh = np.argsort(pool_cost - self.terms * (pool_matrix @ self.penalty), kind="stable")[:COLUMNS]
        smooth = 0.0
        centre: Floats | None = None
        for _ in range(ROUNDS):
            for _ in range(ROUNDS):
                self.limits.check()
                matrix = np.concatenate([matrix, pool_matrix[fresh]])
                cost = np.concatenate([cost, pool_cost[fresh]])
                solved = self._solve(matrix, cost, budget)
                if solved is None:
                    return self.best
                prices, fee, value = solved
                reduced = pool_cost - pool_matrix @ prices
                if self._enough(prices, budget) < reduced.min() - self.terms:
                    break
                if reduced.min() >= -fee - 1.0:
                    fresh = fresh[:0]
                    break
                fresh = np.argsort(reduced, kind="stable")[:PRICED_AT_ONCE]
                fresh = fresh[reduced[fresh] < -fee - 1e-6 * (1 + abs(fee))]
                if len(fresh) == 0:
                    break
            asked = prices if centre is None else smooth * centre + (1 - smooth) * prices
            whole, unit = self._round(asked)
            priced, found = self._price(whole, unit, pool_matrix, pool_cost, budget)
            if self.best is None or priced.bound > self.best.bound:
                self.best, centre = priced, whole.astype(np.float64)
            if self.best.bound > budget:
                break
            gap = value - self.terms * self.best.bound
            if gap <= 0.05 * (self.terms * budget - value) + 2 * self.terms:
                break
            known = len(self.pool.members)
            self.pool.add(found)
            new = self.pool.members[known:]
            if new:
                new_matrix, new_cost = self._columns(new)
                pool_matrix = np.concatenate([pool_matrix, new_matrix])
                pool_cost = np.concatenate([pool_cost, new_cost])
                reduced = new_cost - new_matrix @ prices
                fresh = known + np.flatnonzero(reduced < -fee - 1e-6 * (1 + abs(fee)))
            if len(fresh) == 0:
                if smooth == 0.0:
                    break
                smooth = 0.0
            else:
                smooth = 0.5
        return self.best

    def _columns(self, members: list[Members]) -> tuple[Floats, Ints]:
        """Passes covered, float64[m, bits], and scaled size plus fails, int64[m]."""
        if not members:
            return np.zeros((0, len(self.bits))), np.zeros(0, dtype=np.int64)
        passed, failed = covers(self.table, members)
        rows = passes(self.table, passed)[:, self.bits].astype(np.float64)
        return rows, self.terms * sizes(self.table, members) + self.table.failing.weigh(failed)

    def _solve(self, matrix: Any, cost: Ints, budget: int) -> tuple[Floats, float, float] | None:
        """Prices, fee of a term and value of the dual program over the columns, scaled.

        Where the value exceeds the budget, the largest prices whose value still does. None where
        floating point gives no answer.
        """
        scenes = len(self.bits)
        bounds = [(0.0, float(self.terms * penalty)) for penalty in self.penalty] + [(None, None)]
        rows = np.concatenate([matrix, -np.ones((len(matrix), 1))], axis=1)
        value = np.concatenate([-np.ones(scenes), [float(self.terms)]])
        right = cost.astype(np.float64)
        solved = minimise(value, rows, right, bounds, self.limits)
        if solved is None:
            return None
        best = -float(solved.fun)
        wanted = self.terms * (budget + 1) + MARGIN * (best - self.terms * (budget + 1))
        if best > self.terms * (budget + 1):
            spread = minimise(
                np.concatenate([-np.ones(scenes), [0.0]]),
                np.concatenate([rows, value[None, :]]),
                np.concatenate([right, [-wanted]]),
                bounds,
                self.limits,
            )
            if spread is not None:
                solved = spread
        prices = np.asarray(solved.x[:-1], dtype=np.float64)
        return prices, float(solved.x[-1]), best

    def _round(self, prices: Floats) -> tuple[Ints, int]:
        """Prices as multiples of a unit, at most the scaled penalty."""
        unit = max(1, int(np.ceil(prices.max(initial=0.0) / LEVELS)))
        whole = np.rint(prices / unit).astype(np.int64)
        return np.minimum(whole, self.terms * self.penalty // unit) * unit, unit

    def _enough(self, prices: Any, budget: int) -> int:
        """Value of r from which on the bound exceeds the budget."""
        return -int((int(prices.sum()) - self.terms * budget - 1) // self.terms)

    def _price(
        self, prices: Ints, unit: int, matrix: Any, cost: Ints, budget: int
    ) -> tuple[Priced, list[Members]]:
        """The least r over all terms under whole prices, with the terms of least r met on the way.

        Where all r are large enough for the bound to exceed the budget, no more than that is shown.
        """
        side = reweigh(self.table.passing, self.bits, prices // unit, unit)
        table = replace(self.table, passing=side)
        known = np.sort(cost - matrix.astype(np.int64) @ prices)
        total, least = int(prices.sum()), int(known[0])
        threshold = self.terms * budget - total - (self.terms - 1) * least
        top = _Cheapest(known[:PRICED_AT_ONCE], self._enough(prices, budget), threshold)
        Miner(
            table,
            self.limits,
            side.used,
            table.failing.used,
            lambda: top.worst,
            Rest(0),
            False,
            lambda found: top.add(found, self.terms),
            share=self.terms,
            cap=budget - (self.terms - 1) * int(self.table.cost.min()),
        ).run()
        found = top.members()
        priced = Priced(self.terms, table, prices, total, top.least, top.worst, tuple(found))
        return priced, found


class _Cheapest:
    """The terms of least r met while mining: about as many as there are values known beforehand.

    Where the known values leave the bound above the budget, only what would bring it down is of
    interest, values below ``enough``. Else no more than would list the complete pool.
    """

    def __init__(self, known: Ints, enough: int, threshold: int) -> None:
        self.count = len(known)
        self.least = min(int(known[0]), enough)
        self.worst = enough - 1 if known[0] >= enough else min(int(known[-1]), threshold)
        self._found: list[tuple[int, Members]] = []

    def add(self, found: MinedTerms, share: int) -> None:
        value = share * found.size + found.wrong - found.cover
        self.least = min(self.least, int(value.min()))
        near = np.flatnonzero(value <= self.worst)
        self._found.extend((int(value[at]), tuple(sorted(int(m) for m in found.members[at]))) for at in near)
        if len(self._found) > 2 * self.count:
            self._found.sort()
            self.worst = min(self.worst, self._found[self.count - 1][0])
            self._found = self._kept()

    def _kept(self) -> list[tuple[int, Members]]:
        return sorted(pair for pair in self._found if pair[0] <= self.worst)

    def members(self) -> list[Members]:
        """All terms seen whose r is at most ``worst``, the least first."""
        return [members for _, members in self._kept()]


def complete_pool(
    priced: Priced, table: Table, budget: int, limits: Limits, most: int
) -> list[Members] | None:
    """Every term that a preferred optimum of ``priced.terms`` terms within the budget may hold.

    Of terms with equal coverage only the preferred is listed. None when there are more than ``most``.
    """
    pool = Pool(table)
    threshold = priced.threshold(budget)

    def take(members: Sequence[Members]) -> None:
        if members:
            passed, _ = covers(table, members)
            useful = table.passing.weigh(passed) > sizes(table, members)
            pool.add([term for term, keep in zip(members, useful, strict=True) if keep])

    if threshold <= priced.listed_to:
        take(priced.listed)
        return pool.members

    def emit(found: MinedTerms) -> None:
        take([tuple(sorted(int(m) for m in row)) for row in found.members])
        if len(pool.members) > most:
            raise _TooManyError

    miner = Miner(
        priced.table,
        limits,
        priced.table.passing.used,
        table.failing.used,
        lambda: threshold,
        Rest(0),
        False,
        emit,
        share=priced.terms,
        cap=budget - (priced.terms - 1) * int(table.cost.min()),
    )
    try:
        miner.run()
    except _TooManyError:
        return None
    return pool.members


class _TooManyError(Exception):
    """Leaves the miner when the list grows beyond its size."""

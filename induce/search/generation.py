"""Column generation: the linear program over the terms known says what new terms should cover.

Choose terms, at most as many as a hypothesis may have, so that sizes, fails (counted for each term
that covers them) and the penalties of passes left out are least. Solved with fractions, the program
prices each passing scene at what it would be worth to cover it, and terms grown by beam towards
these prices that are worth more than they cost join it, until none is found (Dash, Günlük and Wei
2018, "Boolean decision rules via column generation", where the pricing is an integer program).
Where a rule fits well, the program hardly ever leaves fractions.

Nothing is proved here: beams may miss terms, and prices are floating-point.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from induce.search.enumerate import Heuristic
from induce.search.linear_program import Floats, minimise
from induce.search.table import Indices, reweigh
from induce.search.term_pool import Members, best_per_scene, covers, passes, sizes

PATIENCE = 4
"""Rounds without a better value after which to give up."""
LEVELS = 12
"""Distinct prices that beams go by."""
EVEN, FIRST, WIDTH = 2, 600, 40
"""Beams weigh fails at what they cost, and look beyond this many literals, then terms."""
FRESH, ENOUGH = 60, 20
"""Terms known that join the program at once, and so many that no beam is needed for more."""
CELLS_PER_NODE = 1_500
LEAST = 1e-6
DECIMALS = 6
"""Solutions are rounded, for rounding errors to decide nothing."""


class _Solved(NamedTuple):
    """Shares of the terms, prices of the passing bits, the fee for each term, and the least cost."""

    shares: Floats
    prices: Floats
    fee: float
    value: float


class Generation:
    """Finds terms that go together for a heuristic, beginning with those in its pool."""

    def __init__(self, heuristic: Heuristic) -> None:
        self.heuristic, self.limits = heuristic, heuristic.limits
        self.table, self.pool = heuristic.table, heuristic.pool
        weights = self.table.passing.bit_weights()
        self.bits: Indices = np.flatnonzero(weights)
        self.penalty = weights[self.bits]
        self.covered = np.zeros((0, len(self.bits)))
        """Which of these bits each term of the pool covers, (m, bits)."""
        self.cost = np.zeros(0, np.int64)
        """Size and fails of each term of the pool."""

    def run(self) -> list[Members]:
        """The terms that the program in the end chooses at least by half; they have been offered."""
        self._take_in()
        used = np.array(best_per_scene(self.table, self.pool.members), np.intp)
        chosen: list[Members] = []
        least, idle = np.inf, 0
        while idle < PATIENCE:
            self.limits.spend(1 + len(used) * len(self.bits) // CELLS_PER_NODE)
            solved = self._solve(used)
            if solved is None:
                break
            idle = 0 if solved.value < least - LEAST else idle + 1
            if not idle:
                least, chosen = solved.value, self._rounded(used, solved.shares)
                self.heuristic.offer(chosen)
            fresh = self._worth_more(0, solved)
            if len(fresh) < ENOUGH:
                known = len(self.pool.members)
                self._grow(solved.prices)
                self._take_in()
                fresh = np.concatenate([fresh, self._worth_more(known, solved)])
            if not len(fresh):
                break
            used = np.union1d(used, fresh)
        return chosen

    def _rounded(self, used: Indices, shares: Floats) -> list[Members]:
        """The terms chosen at least by half, as many as a hypothesis may have."""
        most = np.argsort(-shares, kind="stable")[: self.table.max_terms]
        return [self.pool.members[used[at]] for at in most if shares[at] >= 0.5]

    def _take_in(self) -> None:
        """Work out what the terms that are new in the pool cover and cost."""
        new = self.pool.members[len(self.cost) :]
        if new:
            passed, failed = covers(self.table, new)
            self.covered = np.concatenate([self.covered, passes(self.table, passed)[:, self.bits]])
            self.cost = np.concatenate([self.cost, sizes(self.table, new) + self.table.failing.weigh(failed)])

    def _worth_more(self, first: int, solved: _Solved) -> Indices:
        """The terms of the pool from the first on that are worth the most beyond what they cost."""
        reduced = self.cost[first:] - self.covered[first:] @ solved.prices + solved.fee
        reduced = reduced.round(DECIMALS)
        order = np.argsort(reduced, kind="stable")[:FRESH]
        fresh: Indices = first + order[reduced[order] < -LEAST]
        return fresh

    def _grow(self, prices: Floats) -> None:
        """Add to the pool what a beam towards the prices meets."""
        unit = max(1, int(np.ceil(prices.max(initial=0.0) / LEVELS)))
        whole = np.minimum(np.rint(prices / unit).astype(np.int64), self.penalty // unit)
        priced = replace(self.table, passing=reweigh(self.table.passing, self.bits, whole, unit))
        beam = Heuristic(priced, self.heuristic.best, self.limits)
        beam.beam(priced.passing.used, priced.failing.used, EVEN, WIDTH, first=FIRST)
        self.pool.add(beam.pool.members)

    def _solve(self, used: Indices) -> _Solved | None:
        """The program over some terms of the pool; None where floating point gives no answer."""
        solved = minimise(
            np.concatenate([-np.ones(len(self.bits)), [float(self.table.max_terms)]]),
            np.concatenate([self.covered[used], -np.ones((len(used), 1))], axis=1),
            self.cost[used].astype(np.float64),
            [*((0.0, float(penalty)) for penalty in self.penalty), (0.0, None)],
            self.limits,
        )
        if solved is None:
            return None
        shares, prices = -solved.ineqlin.marginals.round(DECIMALS), solved.x.round(DECIMALS)
        return _Solved(shares, prices[:-1], float(prices[-1]), -float(solved.fun))

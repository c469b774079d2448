"""Proof of optimality: what is settled for each number of terms, and the bound that follows.

Hypotheses are settled by their number of terms. Those of one term are mined outright. A short
nested search settles the rest where the optimum is small. Otherwise, for each number q, prices are
sought (:mod:`induce.search.prices`); either their bound passes the incumbent, or the complete pool
of terms is mined and the best q of them selected. The least bound over the numbers of terms that
are not settled is a bound on everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from induce.search.enumerate import Members, Pool
from induce.search.limits import Best, Limits, PartEndedError
from induce.search.nested import UNBOUNDED, NestedSearch
from induce.search.prices import Priced, Pricing, complete_pool
from induce.search.table import Table

NESTED_NODES = 2_000
ROUNDS: tuple[int | None, ...] = (20_000, 200_000, None)
"""Nodes for each number of terms, round after round."""
POOL_SIZES = (5_000, 20_000, 100_000)


class Selector(Protocol):
    """Finds the best hypotheses of ``priced.terms`` terms of a pool and offers them."""

    def __call__(self, priced: Priced, pool: list[Members], budget: Callable[[], int]) -> None: ...


class Prover:
    """Settles the whole space of ``table`` up to ``best.ceiling``.

    ``lower_bound`` is valid at any time, also after an exception left ``nested`` or ``run``.
    """

    def __init__(self, table: Table, best: Best, limits: Limits, report: Callable[[], None]) -> None:
        self.table = table
        self.best = best
        self.limits = limits
        self.report = report
        cheapest = int(table.cost.min())
        self._bounds = [terms * cheapest for terms in range(1, table.max_terms + 1)]
        self._single_terms_seen = False

    @property
    def lower_bound(self) -> int:
        """No hypothesis costs less, up to the ceiling of interest."""
        return min(self._bounds) + self.table.offset

    def _budget(self) -> int:
        ceiling = self.best.ceiling
        return UNBOUNDED if ceiling is None else ceiling - self.table.offset

    def nested(self, nodes: int = NESTED_NODES) -> bool:
        """Try to settle everything within some nodes; True when that succeeded."""
        search = NestedSearch(self.table, self.best, self.limits)
        try:
            with self.limits.part(nodes):
                if not self._single_terms_seen:
                    search.single_terms()
                    self._raise(1, UNBOUNDED)
                    self._single_terms_seen = True
                search.several_terms()
        except PartEndedError:
            return False
        self._bounds = [UNBOUNDED]
        return True

    def run(self, pool: Pool, select: Selector) -> None:
        """Settle everything; takes as long as the limits allow."""
        if not self._single_terms_seen:
            NestedSearch(self.table, self.best, self.limits).single_terms()
            self._raise(1, UNBOUNDED)
        for nodes, most in zip(ROUNDS, POOL_SIZES, strict=True):
            for terms in range(2, self.table.max_terms + 1):
                if self._bounds[terms - 1] > self._budget():
                    continue
                try:
                    with self.limits.part(nodes):
                        self._settle(terms, pool, select, most)
                except PartEndedError:
                    continue
            if all(bound > self._budget() for bound in self._bounds):
                return
        NestedSearch(self.table, self.best, self.limits).several_terms()
        self._bounds = [UNBOUNDED]

    def _settle(self, terms: int, pool: Pool, select: Selector, most: int) -> None:
        pricing = Pricing(self.table, terms, self.limits, pool)
        try:
            priced = pricing.run(self._budget())
        finally:
            if pricing.best is not None:
                self._raise(terms, pricing.best.bound)
        if priced is None or priced.bound > self._budget():
            return
        complete = complete_pool(priced, self.table, self._budget(), self.limits, most)
        if complete is None:
            return
        if len(complete) >= terms:
            select(priced, complete, self._budget)
        self._raise(terms, UNBOUNDED)

    def _raise(self, terms: int, bound: int) -> None:
        if bound > self._bounds[terms - 1]:
            self._bounds[terms - 1] = bound
            self.report()

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

from induce.search.limits import Best, Limits, PartEndedError
from induce.search.nested import UNBOUNDED, NestedSearch
from induce.search.prices import Priced, Pricing, complete_pool
from induce.search.table import Table
from induce.search.term_pool import Members, Pool

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

    @property
    def lower_bound(self) -> int:
        """No hypothesis costs less, up to the ceiling of interest."""
        return min(self._bounds) + self.table.offset

    def _budget(self) -> int:
        ceiling = self.best.ceiling
        return UNBOUNDED if ceiling is None else ceiling - self.table.offset

    def nested(self, nodes: int = NESTED_NODES) -> bool:
        """Try to settle everything within some nodes; True when that succeeded."""
        if not self._single_terms(nodes):
            return False
        try:
            with self.limits.part(nodes):
                NestedSearch(self.table, self.best, self.limits).several_terms()
        except PartEndedError:
            return False
        self._bounds = [UNBOUNDED]
        return True

    def run(self, pool: Pool, select: Selector) -> None:
        """Settle everything; takes as long as the limits allow."""
        for nodes, most in zip(ROUNDS, POOL_SIZES, strict=True):
            self._single_terms(nodes)
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
            self._deepen(nodes)
        NestedSearch(self.table, self.best, self.limits).several_terms()
        self._bounds = [UNBOUNDED]

    def _single_terms(self, nodes: int | None) -> bool:
        """See all hypotheses of one term within some nodes; True when that is done."""
        if self._bounds[0] < UNBOUNDED:
            try:
                with self.limits.part(nodes):
                    NestedSearch(self.table, self.best, self.limits).single_terms()
            except PartEndedError:
                return False
            self._raise(1, UNBOUNDED)
        return True

    def _deepen(self, nodes: int | None) -> None:
        """Raise the bound by excluding everything below growing shares of the incumbent's cost.

        A share is settled by a nested search that looks for anything cheaper; the smaller the share,
        the less slack there is. What it finds would be cheaper than the incumbent and is kept.
        """
        if nodes is None or self.best.cost is None:
            return
        for eighths in range(2, 8):
            below = self.table.offset + (self.best.cost - self.table.offset) * eighths // 8
            if self.lower_bound >= below:
                continue
            search = NestedSearch(self.table, Best(below), self.limits)
            try:
                with self.limits.part(nodes // 4):
                    if self._bounds[0] < UNBOUNDED:
                        search.single_terms()
                    search.several_terms()
            except PartEndedError:
                return
            for hypothesis in search.best.ranked():
                self.best.offer(hypothesis, int(search.best.cost or 0))
            reached = below if search.best.cost is None else search.best.cost
            for terms in range(1, self.table.max_terms + 1):
                self._raise(terms, reached - self.table.offset)

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

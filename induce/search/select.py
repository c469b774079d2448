"""Select exactly q terms of a complete pool, exactly.

Branch and bound on the passing scene that is hardest to do without: it is covered by one of the
terms that are left, each tried in turn and then ruled out, or it is given up and its penalty paid
in place of its price, which rules out all of them. With one term to choose the costs of all terms
are exact and are compared at once. With r terms to choose and prices L on the open passes (see
:mod:`induce.search.prices`), what is still to pay is at least ``sum of L + r * least`` where
``least`` is the least of ``size + fails not yet paid / r - L(open passes covered)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from induce.search.bits import WORD, Bools, Words, unpack
from induce.search.limits import Best, Limits
from induce.search.prices import Priced
from induce.search.table import Indices, Table
from induce.search.term_pool import Members, covers, passes, sizes


@dataclass(frozen=True)
class _Node:
    chosen: tuple[Members, ...]
    active: Indices
    open_pass: Words
    open_priced: Words
    open_fail: Words
    spent: int
    waived: int


class Selection:
    """Offers to ``best`` every preferred hypothesis of ``priced.terms`` terms of the pool."""

    def __init__(self, table: Table, priced: Priced, pool: list[Members], best: Best, limits: Limits) -> None:
        self.table = table
        self.priced = priced
        self.pool = pool
        self.best = best
        self.limits = limits
        self.passed, self.failed = covers(table, pool)
        self.priced_passed, _ = covers(priced.table, pool)
        self.size = sizes(table, pool)
        weights = table.passing.bit_weights()
        self.bits: Indices = np.flatnonzero(weights)
        self.weights = weights
        self.prices = np.zeros(len(weights), dtype=np.int64)
        self.prices[self.bits] = priced.prices
        self.rows: Bools = passes(table, self.passed)

    def run(self, budget: Callable[[], int]) -> None:
        """Search; ``budget`` is the largest sum of sizes and penalties of interest."""
        self.budget = budget
        self._visit(
            _Node(
                (),
                np.arange(len(self.pool)),
                self.table.passing.used,
                self.priced.table.passing.used,
                self.table.failing.used,
                0,
                0,
            ),
            self.priced.terms,
        )

    def _visit(self, node: _Node, left: int) -> None:
        if left == 1:
            self._finish(node)
            return
        table, q = self.table, self.priced.terms
        priced_side = self.priced.table.passing
        while True:
            self.limits.spend(1 + len(node.active) // 1000)
            if len(node.active) < left:
                return
            wrong = table.failing.weigh(self.failed[:, node.active] & node.open_fail[:, None])
            refund = priced_side.weigh(self.priced_passed[:, node.active] & node.open_priced[:, None])
            value = q * self.size[node.active] + q * wrong // left - refund
            base = q * node.spent + priced_side.weight_of(node.open_priced) - node.waived
            fits = base + value + (left - 1) * int(value.min()) <= q * self.budget()
            active = node.active[fits]
            open_bits = unpack(node.open_pass[None, :], len(self.weights))[0]
            counts = np.where(open_bits, self.rows[active].sum(axis=0), 0)
            candidates = np.flatnonzero(counts)
            if len(active) < left or len(candidates) == 0:
                return
            scene = int(candidates[np.argmax(self.weights[candidates] / counts[candidates])])
            covering = self.rows[active, scene]
            others = active[~covering]
            through = active[covering]
            through = through[np.argsort(value[fits][covering], kind="stable")]
            for place, term in enumerate(through):
                passed, failed = self.passed[:, term], self.failed[:, term]
                paid = table.failing.weight_of(failed & node.open_fail)
                self._visit(
                    _Node(
                        (*node.chosen, self.pool[term]),
                        np.concatenate([through[place + 1 :], others]),
                        node.open_pass & ~passed,
                        node.open_priced & ~self.priced_passed[:, term],
                        node.open_fail & ~failed,
                        node.spent + int(self.size[term]) + paid,
                        node.waived,
                    ),
                    left - 1,
                )
            bit = np.zeros_like(node.open_pass)
            bit[scene // WORD] = np.uint64(1) << np.uint64(scene % WORD)
            node = _Node(
                node.chosen,
                others,
                node.open_pass & ~bit,
                node.open_priced,
                node.open_fail,
                node.spent + int(self.weights[scene]),
                node.waived + int(self.prices[scene]),
            )

    def _finish(self, node: _Node) -> None:
        """Complete the hypothesis with one term; costs are exact."""
        table = self.table
        if len(node.active) == 0:
            return
        cover = table.passing.weigh(self.passed[:, node.active] & node.open_pass[:, None])
        wrong = table.failing.weigh(self.failed[:, node.active] & node.open_fail[:, None])
        total = node.spent + table.passing.weight_of(node.open_pass) + self.size[node.active] + wrong - cover
        for at in np.flatnonzero(total <= self.budget()):
            if total[at] <= self.budget():
                terms = (*node.chosen, self.pool[node.active[at]])
                self.best.offer(table.original(terms), int(total[at]) + table.offset)


__all__ = ["Selection"]

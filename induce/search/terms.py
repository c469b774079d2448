"""Mine terms on bit-vectors: all conjunctions that can still matter within a budget.

A call looks at one residual problem: passes not yet covered, fails not yet covered, and a budget
for a term together with everything that is to come after it. Partial terms are extended in
batches; a batch of partial terms against all literals is one run of vectorised bit operations.

Facts used to prune, each for a most preferred optimum h (least cost, then fewest literals):

1. *No idle literal.* In a term of two or more literals each one rejects fails that no other
   literal of the term rejects and that no other term covers, weighing more than the literal costs;
   else dropping it would cost no more with fewer literals. Fails rejected by one literal alone only
   shrink as the term grows, and counting all fails not covered by *earlier* terms errs on the safe
   side, so the test holds for partial terms.
2. *No idle term* (``useful``, for hypotheses of two or more terms). Each term covers passes that no
   other term covers, weighing more than its size; else dropping it would cost no more. What it
   covers beyond the earlier terms is at least that.
3. *Diminishing returns.* The joint gain of several further literals is at most the sum of their
   single gains. A partial term of size s, open fails phi and at most m literals to come ends with
   size plus fails at least ``s + phi`` less the m largest ``gain - cost``.
4. *What remains.* ``rest(x)`` bounds from below all further cost once the term covers passes of
   weight x (uncovered passes included); it never rises with x, and x only shrinks as the term
   grows.
5. *Order.* A term is a set, so literals are added in one fixed order. The order groups literals by
   the first fail they reject of a list j1, j2, ...: a term that begins in group i covers j1 to
   j(i-1) and pays for them, so terms may begin only while that sum is within the budget. Fails that
   few literals reject come first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from induce.search.bits import Ints, Words, unpack
from induce.search.limits import Limits
from induce.search.table import Indices, Table

CHUNK = 1 << 17

Rest = Callable[[Ints], Ints]


@dataclass(frozen=True)
class MinedTerms:
    """Finished terms, one a column: ``members`` int64[m, d] padded with -1 (table literals)."""

    members: Ints
    size: Ints
    cover: Ints
    wrong: Ints


@dataclass(frozen=True)
class _Partial:
    """A batch of partial terms of equal length over the literals in use, in extension order."""

    members: Indices
    passed: Words
    failed: Words
    alone: tuple[Words, ...]
    size: Ints
    wrong: Ints

    def slice(self, start: int, stop: int) -> _Partial:
        return _Partial(
            self.members[start:stop],
            self.passed[:, start:stop],
            self.failed[:, start:stop],
            tuple(alone[:, start:stop] for alone in self.alone),
            self.size[start:stop],
            self.wrong[start:stop],
        )

    def __len__(self) -> int:
        return len(self.size)


@dataclass
class Miner:
    """One residual problem. ``emit`` receives batches of finished terms whose cost fits the budget.

    ``budget`` is asked again for each batch, so it may shrink while mining. ``rest`` see above.
    """

    table: Table
    limits: Limits
    open_pass: Words
    open_fail: Words
    budget: Callable[[], int]
    rest: Rest
    useful: bool
    emit: Callable[[MinedTerms], None]

    def run(self) -> None:
        """Enumerate; raises LimitReachedError when a limit is reached first."""
        table = self.table
        self.limits.spend(1)
        passed = table.passing.words & self.open_pass[:, None]
        failed = table.failing.words & self.open_fail[:, None]
        cover = table.passing.weigh(passed)
        wrong = table.failing.weigh(failed)
        every_fail = table.failing.weight_of(self.open_fail)
        budget = self.budget()
        floor = self.rest(cover)

        single = table.cost + wrong + floor <= budget
        if self.useful:
            single &= cover > table.cost
        chosen = np.flatnonzero(single)
        if len(chosen):
            self.emit(MinedTerms(chosen[:, None], table.cost[chosen], cover[chosen], wrong[chosen]))
        if table.max_literals == 1:
            return

        gain = every_fail - wrong
        usable = (gain > table.cost) & (table.cost + floor <= budget)
        if self.useful:
            usable &= cover > table.cost
        while True:
            net = np.where(usable, gain - table.cost, 0)
            others = _largest(net[None, :], table.max_literals - 1)[0]
            kept = usable & (every_fail - net - others + floor <= budget)
            if kept.sum() == usable.sum():
                break
            usable = kept
        usable_literals = np.flatnonzero(usable)
        if len(usable_literals) < 2:
            return
        order, roots = self._order(usable_literals, failed, budget)
        self._literals = order
        self._pass = np.ascontiguousarray(passed[:, order])
        self._fail = np.ascontiguousarray(failed[:, order])
        self._cost = table.cost[order]
        first = np.arange(roots)
        self._extend(
            _Partial(
                first[:, None],
                self._pass[:, first],
                self._fail[:, first],
                (self.open_fail[:, None] & ~self._fail[:, first],),
                self._cost[first],
                wrong[order][first],
            )
        )

    def _order(self, literals: Indices, failed: Words, budget: int) -> tuple[Indices, int]:
        """Extension order of the literals, and how many of its first may begin a term (fact 5)."""
        side = self.table.failing
        weights = side.bit_weights()
        bits = np.flatnonzero(unpack(self.open_fail[None, :], len(weights))[0] & (weights > 0))
        rejects = ~unpack(np.ascontiguousarray(failed[:, literals].T), len(weights))[:, bits]
        counts = rejects.sum(axis=0)
        waiting = np.ones(len(literals), dtype=np.bool_)
        open_bits = np.ones(len(bits), dtype=np.bool_)
        slack = budget - 2 * int(self.table.cost[literals].min())
        order: list[Indices] = []
        while slack >= 0 and open_bits.any() and waiting.any():
            bit = int(np.argmin(np.where(open_bits, counts, len(literals) + 1)))
            group = np.flatnonzero(waiting & rejects[:, bit])
            order.append(group)
            waiting[group] = False
            counts = counts - rejects[group].sum(axis=0)
            open_bits[bit] = False
            slack -= int(weights[bits[bit]])
        roots = sum(map(len, order))
        order.append(np.flatnonzero(waiting))
        return literals[np.concatenate(order)], roots

    def _extend(self, partial: _Partial) -> None:
        step = max(1, CHUNK // len(self._literals))
        for start in range(0, len(partial), step):
            self._extend_batch(partial.slice(start, start + step))

    def _extend_batch(self, rows: _Partial) -> None:
        table = self.table
        self.limits.spend(len(rows))
        length = rows.members.shape[1]
        to_come = table.max_literals - length
        last = rows.members[:, -1]
        low = int(last.min()) + 1
        if low >= len(self._literals):
            return
        columns_pass, columns_fail = self._pass[:, low:], self._fail[:, low:]
        cost = self._cost[low:]
        cover = table.passing.cross(rows.passed, columns_pass)
        wrong = table.failing.cross(rows.failed, columns_fail)
        size = rows.size[:, None] + cost[None, :]
        net = rows.wrong[:, None] - wrong - cost[None, :]
        fits = (net > 0) & (np.arange(low, len(self._literals))[None, :] > last[:, None])
        if self.useful:
            fits &= cover > size
        budget = self.budget()
        floor = self.rest(cover)
        finished = fits & (size + wrong + floor <= budget)
        grows = np.zeros_like(fits)
        if to_come > 1:
            net = np.where(fits, net, 0)
            others = _largest(net, to_come - 1)
            ahead = rows.size[:, None] + rows.wrong[:, None] - net - others[:, None]
            grows = fits & (ahead + floor <= budget)
        row, column = np.nonzero(finished | grows)
        if len(row) == 0:
            return
        child_fail = columns_fail[:, column]
        busy = np.ones(len(row), dtype=np.bool_)
        alone: list[Words] = []
        for place, bits in enumerate(rows.alone):
            kept = bits[:, row] & child_fail
            alone.append(kept)
            busy &= table.failing.weigh(kept) > self._cost[rows.members[row, place]]
        row, column = row[busy], column[busy]
        done = finished[row, column]
        if done.any():
            r, c = row[done], column[done]
            members = np.concatenate([rows.members[r], (c + low)[:, None]], axis=1)
            self.emit(MinedTerms(self._literals[members], size[r, c], cover[r, c], wrong[r, c]))
        if to_come == 1:
            return
        on = grows[row, column]
        r, c = row[on], column[on]
        if len(r) == 0:
            return
        picked = np.flatnonzero(busy)[on]
        parent_fail = rows.failed[:, r]
        self._extend(
            _Partial(
                np.concatenate([rows.members[r], (c + low)[:, None]], axis=1),
                rows.passed[:, r] & columns_pass[:, c],
                parent_fail & columns_fail[:, c],
                (*(bits[:, picked] for bits in alone), parent_fail & ~columns_fail[:, c]),
                size[r, c],
                wrong[r, c],
            )
        )


def _largest(values: Ints, count: int) -> Ints:
    """Sum of the ``count`` largest values of each row, int64[rows]."""
    width = values.shape[1]
    if count <= 0:
        return np.zeros(values.shape[0], dtype=np.int64)
    kept = values
    if count < width:
        kept = np.partition(values, width - count, axis=1)[:, width - count :]
    sums: Ints = kept.sum(axis=1)
    return sums

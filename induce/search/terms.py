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
5. *Some fail must go.* List the fails that a partial term still covers, those that few literals
   reject first, until together they outweigh what the budget leaves after the cheapest further
   literal. A larger term within the budget rejects at least one of the list, so only literals that
   do so need be added next. To meet each set of literals once, a literal that rejects one of an
   earlier step's list must come after the literal which that step chose.
6. *Only what fits the first literal.* Cover and gain of a literal shrink as a term grows, so what
   does not fit beside the first literal of a term is left out below it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from induce.distinct import distinct_columns
from induce.search.bits import Bools, Ints, Words, pack, unpack
from induce.search.limits import Limits
from induce.search.table import Indices, Table

CHUNK = 1 << 16
DENSE = 0.25
"""Share of literals allowed from which scoring all of them beats picking them out."""

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
    """A batch of partial terms of equal length.

    ``members`` are table literals; ``passed`` and ``failed`` uint64[W, m] what the terms cover;
    ``alone`` for each member the fails that it alone rejects; ``size``, ``wrong`` and ``cover`` as
    in :class:`MinedTerms`; ``reach`` bounds what one further literal can save.
    ``steps`` are earlier lists of fact 5, ``(literals that reject one of it, row, literal chosen)``.
    """

    members: Indices
    passed: Words
    failed: Words
    alone: tuple[Words, ...]
    size: Ints
    wrong: Ints
    cover: Ints
    reach: Ints
    steps: tuple[tuple[Bools, Indices, Indices], ...]

    def take(self, at: Indices) -> _Partial:
        return _Partial(
            self.members[at],
            self.passed[:, at],
            self.failed[:, at],
            tuple(alone[:, at] for alone in self.alone),
            self.size[at],
            self.wrong[at],
            self.cover[at],
            self.reach[at],
            tuple((listed, row[at], chosen[at]) for listed, row, chosen in self.steps),
        )

    def __len__(self) -> int:
        return len(self.size)


@dataclass(frozen=True)
class _Use:
    """The literals in use, in extension order, and the order of fails.

    ``passed`` and ``failed`` hold what is open below the first literal, ``beside`` all open fails.
    """

    literals: Indices
    passed: Words
    failed: Words
    beside: Words
    cost: Ints
    cheapest: int
    fails: Indices

    def cheaper(self, width: int) -> _Use:
        """The first literals alone; below a first literal these are the cheapest."""
        return _Use(
            self.literals[:width],
            self.passed[:, :width],
            self.failed[:, :width],
            self.beside[:, :width],
            self.cost[:width],
            self.cheapest,
            self.fails,
        )


@dataclass
class Miner:
    """One residual problem. ``emit`` receives batches of finished terms whose cost fits the budget.

    ``budget`` is asked again for each batch, so it may shrink while mining. ``rest`` see above. A
    term's cost is ``share * size + fails + rest(cover)``; with ``share`` q the fails weigh a q-th
    of what they do in the objective. Terms whose size and fails at full weight exceed ``cap`` are
    of no interest.
    """

    table: Table
    limits: Limits
    open_pass: Words
    open_fail: Words
    budget: Callable[[], int]
    rest: Rest
    useful: bool
    emit: Callable[[MinedTerms], None]
    share: int = 1
    cap: int = 1 << 61

    def run(self) -> None:
        """Enumerate; raises LimitReachedError when a limit is reached first."""
        table = self.table
        self.limits.spend(1)
        self._weights = table.failing.bit_weights()
        passed = table.passing.words & self.open_pass[:, None]
        failed = table.failing.words & self.open_fail[:, None]
        cover = table.passing.weigh(passed)
        wrong = table.failing.weigh(failed)
        every_fail = table.failing.weight_of(self.open_fail)
        budget = self.budget()
        floor = self.rest(cover)

        single = (self.share * table.cost + wrong + floor <= budget) & (table.cost + wrong <= self.cap)
        if self.useful:
            single &= cover > table.cost
        chosen = np.flatnonzero(single)
        if len(chosen):
            self.emit(MinedTerms(chosen[:, None], table.cost[chosen], cover[chosen], wrong[chosen]))
        if table.max_literals == 1:
            return

        gain = every_fail - wrong
        price = self.share * table.cost
        usable = (gain > table.cost) & (price + floor <= budget)
        if self.useful:
            usable &= cover > table.cost
        while True:
            net = np.where(usable, gain - price, 0)
            others = _largest(np.maximum(net, 0)[None, :], table.max_literals - 1)[0]
            kept = usable & (every_fail - net - others + floor <= budget)
            net = np.where(usable, gain - table.cost, 0)
            others = _largest(net[None, :], table.max_literals - 1)[0]
            kept &= every_fail - net - others <= self.cap
            if kept.sum() == usable.sum():
                break
            usable = kept
        literals = np.flatnonzero(usable)
        if len(literals) < 2:
            return
        cheapest = int(table.cost[literals].min())
        fails = self._order_fails(failed[:, literals])
        slack = self._slack(0, int(floor[literals].min()), cheapest, budget)
        listed = self._listed(self.open_fail[:, None], fails, np.array([slack]))
        rejects = _meets(listed, ~failed[:, literals])[0]
        order = literals[np.concatenate([np.flatnonzero(rejects), np.flatnonzero(~rejects)])]
        columns = np.ascontiguousarray(failed[:, order])
        use = _Use(
            order,
            np.ascontiguousarray(passed[:, order]),
            columns,
            columns,
            table.cost[order],
            cheapest,
            fails,
        )
        for first in range(int(rejects.sum())):
            self._below(use, first, int(cover[order[first]]), int(wrong[order[first]]))

    def _slack(self, size: int, floor: int, cheapest: int, budget: int) -> int:
        """Fails that a term may still cover once another literal is added, by weight."""
        return min(budget - self.share * (size + cheapest) - floor, self.cap - size - cheapest)

    def _order_fails(self, failed: Words) -> Indices:
        """Bits of the open fails, those that the fewest of the given literals reject first."""
        bits = np.flatnonzero(unpack(self.open_fail[None, :], len(self._weights))[0])
        covered = unpack(np.ascontiguousarray(failed.T), len(self._weights))[:, bits].sum(axis=0)
        return bits[np.argsort(-covered, kind="stable")]

    def _listed(self, failed: Words, fails: Indices, slack: Ints) -> Words:
        """Fact 5: for each row of open fails the list that outweighs its slack, uint64[W, rows]."""
        width = len(self._weights)
        open_fails = unpack(np.ascontiguousarray(failed.T), width)[:, fails]
        weight = np.where(open_fails, self._weights[fails][None, :], 0)
        before = weight.cumsum(axis=1) - weight
        listed = np.zeros((len(slack), width), dtype=np.bool_)
        listed[:, fails] = open_fails & (before <= slack[:, None])
        return np.ascontiguousarray(pack(listed).T)

    def _below(self, use: _Use, first: int, cover: int, wrong: int) -> None:
        """Mine the terms whose first literal, in extension order, is ``first`` (fact 6)."""
        table = self.table
        later = slice(first + 1, None)
        self.limits.spend(1)
        here_pass, here_fail = use.passed[:, first], use.failed[:, first]
        both_pass = use.passed[:, later] & here_pass[:, None]
        both_fail = use.failed[:, later] & here_fail[:, None]
        both_cover, both_wrong = table.passing.weigh(both_pass), table.failing.weigh(both_fail)
        size = use.cost[later] + use.cost[first]
        gain = wrong - both_wrong
        floor = self.rest(both_cover)
        budget = self.budget()
        fits = (gain > use.cost[later]) & (self.share * size + floor <= budget) & (size <= self.cap)
        if self.useful:
            fits &= both_cover > size
        larger = size + use.cheapest
        fits &= (size + both_wrong <= self.cap) | (larger <= self.cap)
        fits &= self.share * size + floor + np.minimum(both_wrong, self.share * use.cheapest) <= budget
        kept = np.flatnonzero(fits)
        if len(kept) == 0:
            return
        kept = kept[np.argsort(use.cost[later][kept], kind="stable")]
        inner = _Use(
            use.literals[later][kept],
            np.ascontiguousarray(both_pass[:, kept]),
            np.ascontiguousarray(both_fail[:, kept]),
            np.ascontiguousarray(use.failed[:, later][:, kept]),
            use.cost[later][kept],
            int(use.cost[later][kept[0]]),
            use.fails,
        )
        if table.max_literals > 2:
            fails = self._order_fails(both_fail[:, kept])
            inner = replace(inner, fails=fails)
        one = np.ones(1, dtype=np.int64)
        self._extend(
            inner,
            _Partial(
                use.literals[first : first + 1, None],
                here_pass[:, None],
                here_fail[:, None],
                ((self.open_fail & ~here_fail)[:, None],),
                one * use.cost[first],
                one * wrong,
                one * cover,
                one * (1 << 50),
                (),
            ),
        )

    def _extend(self, use: _Use, partial: _Partial) -> None:
        """Extend all rows, in batches of rows that leave about as much for further literals."""
        afford = np.minimum(
            self.cap - partial.size,
            (self.budget() - self.rest(partial.cover)) // self.share - partial.size,
        )
        widths = np.searchsorted(use.cost, afford, side="right")
        order = np.argsort(widths, kind="stable")
        start = int(np.searchsorted(widths[order], 1))
        while start < len(order):
            stop = min(len(order), start + max(1, CHUNK // int(widths[order[start]])))
            while stop > start + 1 and (stop - start) * int(widths[order[stop - 1]]) > CHUNK:
                stop = start + max(1, (stop - start) // 2)
            self._extend_batch(use.cheaper(int(widths[order[stop - 1]])), partial.take(order[start:stop]))
            start = stop

    def _extend_batch(self, use: _Use, rows: _Partial) -> None:
        table, share = self.table, self.share
        self.limits.spend(len(rows))
        to_come = table.max_literals - rows.members.shape[1]
        budget = self.budget()
        least = rows.size + use.cheapest
        slack = np.minimum(budget - share * least - self.rest(rows.cover), self.cap - least)
        lists, which, _ = distinct_columns(self._listed(rows.failed, use.fails, slack))
        listed = _meets(lists, ~use.failed)
        allowed = listed[which]
        places = np.arange(len(use.literals))[None, :]
        for earlier, row, chosen in rows.steps:
            allowed &= (places > chosen[:, None]) | ~earlier[row, : len(use.literals)]
        row, column = np.divmod(np.flatnonzero(allowed), len(use.literals))
        if len(row) == 0:
            return
        dense = len(row) > DENSE * allowed.size
        if dense:
            all_cover = table.passing.cross(rows.passed, use.passed)
            all_wrong = table.failing.cross(rows.failed, use.failed)
            cover, wrong = all_cover[row, column], all_wrong[row, column]
            others, reach = self._savings(use, rows, all_cover, all_wrong, to_come, budget)
        else:
            cover = table.passing.weigh(rows.passed[:, row] & use.passed[:, column])
            wrong = table.failing.weigh(rows.failed[:, row] & use.failed[:, column])
            reach = rows.reach
            others = reach * (to_come - 1)
        cost = use.cost[column]
        size = rows.size[row] + cost
        gain = rows.wrong[row] - wrong
        floor = self.rest(cover)
        fits = gain > cost
        if self.useful:
            fits &= cover > size
        finished = fits & (share * size + wrong + floor <= budget) & (size + wrong <= self.cap)
        grows = np.zeros_like(fits)
        if to_come > 1:
            larger = size + use.cheapest
            ahead = np.maximum(share * size + wrong - others[row], share * larger)
            grows = fits & (ahead + floor <= budget) & (larger <= self.cap)
        kept = np.flatnonzero(finished | grows)
        if len(kept) == 0:
            return
        row, column = row[kept], column[kept]
        child_fail, beside = use.failed[:, column], use.beside[:, column]
        busy = np.ones(len(row), dtype=np.bool_)
        alone: list[Words] = []
        for place, bits in enumerate(rows.alone):
            unshared = bits[:, row] & beside
            alone.append(unshared)
            busy &= table.failing.weigh(unshared) > table.cost[rows.members[row, place]]
        members = np.concatenate([rows.members[row], use.literals[column][:, None]], axis=1)
        done = kept[busy & finished[kept]]
        if len(done):
            self.emit(MinedTerms(members[busy & finished[kept]], size[done], cover[done], wrong[done]))
        on = np.flatnonzero(busy & grows[kept])
        if to_come == 1 or len(on) == 0:
            return
        r, c, k = row[on], column[on], kept[on]
        parent_fail = rows.failed[:, r]
        steps = tuple((earlier, places[r], chosen[r]) for earlier, places, chosen in rows.steps)
        self._extend(
            use,
            _Partial(
                members[on],
                rows.passed[:, r] & use.passed[:, c],
                parent_fail & child_fail[:, on],
                (*(bits[:, on] for bits in alone), parent_fail & ~child_fail[:, on]),
                size[k],
                wrong[k],
                cover[k],
                reach[r],
                (*steps, (listed, which[r], c)),
            ),
        )

    def _savings(
        self, use: _Use, rows: _Partial, cover: Ints, wrong: Ints, to_come: int, budget: int
    ) -> tuple[Ints, Ints]:
        """What the best ``to_come - 1`` and the best single literal can save on each row (fact 3)."""
        gain = rows.wrong[:, None] - wrong
        fits = gain > use.cost
        fits &= self.share * (rows.size[:, None] + use.cost) + self.rest(cover) <= budget
        saved = np.where(fits, np.maximum(gain - self.share * use.cost, 0), 0)
        return _largest(saved, to_come - 1), saved.max(axis=1)


def _meets(rows: Words, columns: Words) -> Bools:
    """Which of uint64[W, b] and uint64[W, n] share a bit: bool[b, n]."""
    out = np.zeros((rows.shape[1], columns.shape[1]), dtype=np.bool_)
    for word in np.flatnonzero(rows.any(axis=1)):
        out |= (rows[word][:, None] & columns[word][None, :]) != 0
    return out


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

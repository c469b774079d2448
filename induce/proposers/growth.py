"""Finds and counts over elements that meet a conjunction, grown part by part towards what openings ask.

A find or count must *reach* some scenes, that is match enough of their elements, and *spare* others, that
is match few enough: a find reaches passing scenes and spares failing ones, a negated find the other way
round, and a count by its bound. A count that is met exactly, or within a range, reaches passing scenes,
and spares them from more and failing ones from as many. Both are counted for each opening in the
penalties of scenes gone wrong:

- scenes that are not reached stay so as the conjunction grows;
- scenes that are not spared must be spared in the end, or paid for. If r more parts come, some part of
  them keeps at least an r-th of what is left to be spared from matching (its share of the surplus
  elements, summed over scenes). And where scenes to be spared together outweigh what can still be paid,
  some part excludes one of their elements: of each scene as many elements are listed as are one too
  many, those that the fewest parts exclude. The parts to add next are those of which either is true,
  whichever are fewer; some part that comes is among them, and the others follow in any order.

Which part that is differs between openings; each set of parts is visited once for each opening that
leads there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from induce.grammar import units
from induce.literals import Collect, Literal
from induce.profile import Scope
from induce.proposers.collection import Allowance, PathTests
from induce.proposers.rows import Candidate, Mask, Sink

if TYPE_CHECKING:
    from induce.proposers.fitting import FittingLiterals, Weights

Floats = NDArray[np.floating]
Ints = NDArray[np.int64]

CELLS = 2_000_000
"""Truth-table cells that are looked at at once."""
PRODUCTS = 8
"""Products summed in the time of one cell."""
ROUNDING = 1e-2


def sums(scenes: NDArray[np.generic], weights: Floats) -> Floats:
    sums: Floats = scenes.astype(weights.dtype) @ weights
    return sums


class Form(NamedTuple):
    """A find (`bound` None) or a count, and what it asks of the elements that match.

    At least `reach` of them in the scenes to reach, at most `spare` in those to spare. In a form about
    `every` element the conjunction ends with a bound that is denied.
    """

    bound: tuple[str, int] | None
    negated: bool
    overhead: int
    reach: int
    spare: int
    reaches_passes: bool
    spares_passes: bool
    most: int | None = None
    every: bool = False


PLAIN, BOUND, DENIED = 0, 1, 2
"""Kinds of parts: no bound, a numeric bound, and what is out of one."""


class Parts:
    """What conjunctions about the rows of a scope may be made of, all that costs at most `cap`."""

    def __init__(
        self, scope: Scope, tests: PathTests, candidates: list[Candidate], cap: int, allowance: Allowance
    ) -> None:
        paths: dict[str | None, int] = {None: -1}
        self.literals: list[Literal] = []
        rows: list[tuple[int, int, int]] = []
        masks: list[Mask] = []

        def take(literal: Literal, mask: Mask, cost: int, path: str | None, kind: int) -> None:
            self.literals.append(literal)
            masks.append(mask)
            rows.append((cost, paths.setdefault(path, len(paths) - 1), kind))

        for one in candidates:
            if one.cost <= cap:
                take(one.literal, one.mask, one.cost, one.path, PLAIN)
        for direction in tests.directions(scope, allowance):
            for rank in np.flatnonzero(direction.gap_cost <= cap).tolist():
                literal, held = direction.literal(rank - 1, rank), direction.ranks >= rank
                figures = int(direction.gap_cost[rank]), direction.column.path
                take(literal, held, *figures, BOUND)
                if scope.depth > 0:
                    take(literal._replace(negated=True), ~held, *figures, DENIED)
        self.cost, self.path, self.kind = np.array(rows, np.int64).reshape(-1, 3).T
        self.masks = np.array(masks, np.bool_).reshape(len(masks), len(scope.rows))


class _Grown(NamedTuple):
    """A conjunction: its parts, cost with the form, matching elements, openings it may still fit."""

    parts: tuple[int, ...]
    cost: int
    mask: Mask
    viable: NDArray[np.intp]


class _Asked(NamedTuple):
    """Penalties (n, k) of scenes that are not reached, and of those not spared, and budgets (k,)."""

    reach: Floats
    spare: Floats
    budget: Ints

    def of(self, openings: NDArray[np.intp]) -> _Asked:
        return _Asked(self.reach[:, openings], self.spare[:, openings], self.budget[openings])


class Growth:
    """The conjunctions of one form over one collection."""

    def __init__(
        self,
        search: FittingLiterals,
        scope: Scope,
        parts: Parts,
        counts: NDArray[np.int32],
        form: Form,
        sink: Sink,
    ) -> None:
        self.search, self.scope, self.parts, self.form, self.sink = search, scope, parts, form, sink
        self.counts = counts
        self.two_sided = form.reaches_passes and form.spares_passes
        self.asks = [self._asked(weights) for weights in search.weights]
        self.saving = units(search.tests.cost.path_choice(scope))
        self.seen: dict[frozenset[int], NDArray[np.uint8]] = {}
        """Sets of parts that were visited, and for which openings, in packed bits."""
        self.slack = 1 + 2 * len(search.labels) * max(float(np.finfo(a.spare.dtype).eps) for a in self.asks)
        kinds = [PLAIN, BOUND]
        if form.every:
            kinds = [PLAIN, DENIED]
        elif form.most is not None or (form.bound is not None and form.bound[0] == "eq"):
            kinds = [PLAIN]
        self.usable = np.flatnonzero(np.isin(parts.kind, kinds))

    def _asked(self, weights: Weights) -> _Asked:
        """What is asked of the matching elements."""
        form = self.form
        reach = weights.wanted if form.reaches_passes else weights.unwanted
        if form.bound is not None and form.bound[0] == "lte":  # does not hold where there is no array
            reach = reach * self.scope.is_array[:, None]
        spare = weights.wanted if form.spares_passes else weights.unwanted
        if self.two_sided:  # failing scenes are spared as well, by too few matching elements or too many
            spare = weights.wanted + weights.unwanted
        return _Asked(reach, spare, weights.budget)

    def run(self) -> None:
        everything = np.ones(len(self.scope.rows), np.bool_)
        counts = self.scope.owners_with(everything[None, :])
        possible = self.search.room >= self.form.overhead
        for ask in self.asks:
            possible &= sums(counts < self.form.reach, ask.reach)[0] <= ask.budget - self.form.overhead
        start = _Grown((), self.form.overhead, everything, np.flatnonzero(possible))
        if not len(start.viable):
            return
        self._emit([start], counts)
        if not self._says_find:
            self._grow(start, counts[0], self._affordable(start, self.usable))

    def _affordable(self, grown: _Grown, parts: NDArray[np.intp]) -> NDArray[np.intp]:
        room = int(self.search.room[grown.viable].max(initial=0)) - grown.cost
        if self.form.every and any(self.parts.kind[part] == DENIED for part in grown.parts):
            parts = parts[self.parts.kind[parts] == PLAIN]
        return parts[self._added(grown, parts) <= room]

    def _added(self, grown: _Grown, parts: NDArray[np.intp]) -> Ints:
        """What each part adds to the cost."""
        path = self.parts.path[parts]
        repeated = np.zeros(len(parts), np.bool_)
        for part in grown.parts:
            if self.parts.path[part] >= 0:
                repeated |= path == self.parts.path[part]
        added: Ints = self.parts.cost[parts] - self.saving * repeated
        return added

    def _grow(self, grown: _Grown, counts: NDArray[np.int32], usable: NDArray[np.intp]) -> None:
        """Visit the conjunctions that extend `grown`, which `counts` elements match, by the usable parts."""
        form, left = self.form, self.search.max_where - len(grown.parts)
        if left < 1 or not len(usable):
            return
        surplus = self._surplus(counts)
        unspared = surplus > 0
        shares = unspared / np.where(unspared, surplus, 1)
        room, asks = self.search.room[grown.viable], [ask.of(grown.viable) for ask in self.asks]
        due = [sums(unspared[None, :], ask.spare)[0] for ask in asks]
        cheapest = max(0, int(self.parts.cost[usable].min()) - self.saving)
        added = self._added(grown, usable)
        order = np.argsort(added, kind="stable")
        usable, added = usable[order], added[order]
        met, spent, reached, freeing = [], [], [], []
        kept_parts: list[NDArray[np.intp]] = []
        step = max(1, CELLS // max(1, len(self.scope.rows)))
        for first in range(0, len(usable), step):
            batch = usable[first : first + step]
            costs = (grown.cost + added[first : first + step])[:, None]
            near = np.flatnonzero(room >= costs[0, 0])
            if not len(near):
                break
            after = self._met(grown, batch)
            self.search.allowance.spend(after.size * len(near) / PRODUCTS)
            possible = costs <= room[near]
            near_asks = [ask.of(near) for ask in asks] if len(near) < len(room) else asks
            left_of = [ask.budget - costs - sums(after < form.reach, ask.reach) for ask in near_asks]
            for allowed in left_of:
                possible &= allowed >= 0
            kept = np.flatnonzero(possible.any(axis=1))
            lasting = np.minimum((counts - after[kept]) * shares, 1)
            reaching = np.zeros((len(kept), len(room)), np.bool_)
            reaching[:, near] = possible = possible[kept]
            for ask, left_over, allowed in zip(near_asks, due, left_of, strict=True):
                allowed = allowed[kept]
                freed = sums(lasting, ask.spare) * self.slack + ROUNDING
                most = np.clip(1 + allowed // cheapest, 1, left) if cheapest else left
                freed = np.maximum(freed, freed * most - (most - 1) * cheapest)
                possible = possible & (freed >= left_over[near] - allowed)
            enough = np.zeros_like(reaching)
            enough[:, near] = possible
            kept_parts.append(batch[kept])
            met.append(after[kept])
            spent.append(costs[kept, 0])
            reached.append(reaching)
            freeing.append(enough)
        if not kept_parts:
            return
        remaining, after, costs = np.concatenate(kept_parts), np.concatenate(met), np.concatenate(spent)
        next_ones = self._next(
            grown, counts, remaining, cheapest, asks, np.concatenate(reached), np.concatenate(freeing), left
        )
        children: list[tuple[_Grown, NDArray[np.int32]]] = []
        fresh: list[int] = []
        for at in np.flatnonzero(next_ones.any(axis=1)):
            index = int(remaining[at])
            key = frozenset((*grown.parts, index))
            if len(key) == len(grown.parts):
                continue
            if key not in self.seen:
                fresh.append(len(children))
            viable = self._unvisited(key, grown.viable[next_ones[at]])
            if len(viable):
                mask = self.parts.masks[index] & grown.mask
                child = _Grown((*grown.parts, index), int(costs[at]), mask, viable)
                children.append((child, after[at]))
        for first in range(0, len(fresh), step):
            some = [children[at] for at in fresh[first : first + step]]
            self._emit([child for child, _ in some], np.array([met for _, met in some]))
        for child, counts_of_child in children if left > 1 else ():
            self._grow(child, counts_of_child, self._affordable(child, remaining))

    def _next(
        self,
        grown: _Grown,
        counts: NDArray[np.int32],
        parts: NDArray[np.intp],
        cheapest: int,
        asks: list[_Asked],
        reaching: Mask,
        freeing: Mask,
        left: int,
    ) -> Mask:
        """Which parts to add next for which openings, (m, k): some part that comes must be among them."""
        live = np.flatnonzero(grown.mask & (counts > self.form.spare)[self.scope.owner])
        if self.two_sided or not len(parts) or not len(live):
            return freeing
        held = self.parts.masks[np.ix_(parts, live)]
        excluding = len(parts) - held.sum(axis=0)
        order = np.argsort(excluding, kind="stable")
        owner = self.scope.owner[live[order]]
        by_scene = np.argsort(owner, kind="stable")
        starts = np.flatnonzero(np.concatenate([[True], np.diff(owner[by_scene]) > 0]))
        hardest = order[by_scene[starts[:, None] + np.arange(self.form.spare + 1)]]
        scenes = owner[by_scene[starts]]
        ranked = np.argsort(excluding[hardest].sum(axis=1), kind="stable")
        scenes, hardest = scenes[ranked], hardest[ranked]
        out = freeing.copy()
        for ask in asks:
            paid = sums((counts < self.form.reach)[None, :], ask.reach)[0]
            slack = ask.budget - grown.cost - cheapest - paid
            weight = ask.spare[scenes]
            total = weight.cumsum(axis=0, dtype=np.float64) * self.slack + ROUNDING
            for opening in np.flatnonzero(total[-1] > slack + 2 * ROUNDING):
                last = int(np.searchsorted(total[:, opening], slack[opening] + 2 * ROUNDING, side="right"))
                listed = hardest[: last + 1][weight[: last + 1, opening] > 0]
                some = reaching[:, opening] & ~held[:, listed.ravel()].all(axis=1)
                if left == 1:
                    out[:, opening] &= some
                elif some.sum() < out[:, opening].sum():
                    out[:, opening] = some
        return out

    def _surplus(self, counts: NDArray[np.int32]) -> NDArray[np.int32]:
        """By how many elements each scene matches too many to be spared."""
        surplus: NDArray[np.int32] = np.maximum(counts - self.form.spare, 0)
        if not self.two_sided:
            return surplus
        within = np.where(counts <= self.form.spare, np.maximum(counts - (self.form.reach - 1), 0), 0)
        return np.where(self.search.labels, surplus, within)

    def _unvisited(self, key: frozenset[int], viable: NDArray[np.intp]) -> NDArray[np.intp]:
        """Those openings for which the set of parts was not visited; it is from now on."""
        leads = np.zeros(len(self.search.room), np.bool_)
        leads[viable] = True
        packed = np.packbits(leads)
        known = self.seen.get(key)
        if known is None:
            self.seen[key] = packed
            return viable
        self.seen[key] = known | packed
        return np.flatnonzero(np.unpackbits(packed & ~known))

    def _met(self, grown: _Grown, parts: NDArray[np.intp]) -> NDArray[np.int32]:
        """How many elements of each scene match the conjunction and each part, (m, n)."""
        if not grown.parts:
            return self.counts[parts]
        self.search.allowance.spend(len(parts) * len(self.scope.rows))
        return self.scope.owners_with(self.parts.masks[parts] & grown.mask)

    def _emit(self, grown: list[_Grown], counts: NDArray[np.int32]) -> None:
        form, kind = self.form, self.parts.kind
        if form.every:
            kept = [at for at, one in enumerate(grown) if any(kind[part] == DENIED for part in one.parts)]
        else:
            kept = [at for at, one in enumerate(grown) if self._is_said(one)]
        if not kept:
            return
        name, k = form.bound if form.bound is not None else ("gte", 1)
        counts = counts[kept]
        if form.most is not None:
            truth = (counts >= k) & (counts <= form.most)
        elif name == "gte":
            truth = counts >= k
        else:
            truth = ((counts <= k) if name == "lte" else (counts == k)) & self.scope.is_array
        truth = truth ^ form.negated
        costs = np.array([grown[at].cost for at in kept], np.int64)
        fitting = np.flatnonzero((costs > self.search.least) & self.search.fit(truth, costs))

        def make(i: int) -> Literal:
            parts = sorted(grown[kept[int(fitting[i])]].parts)
            where = tuple(self.parts.literals[part] for part in parts)
            op = "find" if form.bound is None else "count"
            return Literal(Collect(op, self.scope.collection, where, form.bound, form.most), form.negated)

        if len(fitting):
            self.sink.add(truth[fitting], costs[fitting], make)

    def _is_said(self, grown: _Grown) -> bool:
        """Whether the grammar has the form: an element is asked for by count, one with conditions by find."""
        return bool(grown.parts) if self.form.bound is None else not (self._says_find and grown.parts)

    @property
    def _says_find(self) -> bool:
        """Whether the form, of elements that meet a condition, says what a find does for less."""
        return self.form.bound == ("gte", 1) and self.form.most is None

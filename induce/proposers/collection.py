"""Candidates for ``find`` and ``count``: conjunctions about one element, grown by cost.

Every conjunction of at most `max_where` element literals whose cost is affordable is visited
once, as in a levelwise search for frequent patterns (Mannila and Toivonen 1997): a
conjunction is extended only while the scenes it touches could still pay for it. The last
numeric bound of a conjunction is not enumerated value by value; its useful cuts are read off
the highest matching value of each scene (k-th highest for a count).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from induce.costs import DescriptionLength
from induce.grammar import units
from induce.literals import Collect, Literal
from induce.profile import Scope
from induce.proposers.arrays import array_equalities
from induce.proposers.comparison import Cuts, Direction, Penalties, cuts, directions, equalities
from induce.proposers.cross_field import comparisons
from induce.proposers.extent import lowest_ranks, ranges
from induce.proposers.operations import operations
from induce.proposers.presence import presence
from induce.proposers.rows import Candidate, CheapestByTruth, Mask, Sink, stack
from induce.proposers.sets import value_sets, word_sets
from induce.proposers.stakes import Stakes
from induce.proposers.text import substrings

T = TypeVar("T")

BATCH_CELLS = 4_000_000
CALL_CELLS = 50_000
"""What one batch of array operations costs beside its cells."""


class WorkExceededError(Exception):
    """More conjunctions than the allowance; the caller keeps a smaller cost cap."""


class Allowance:
    """An allowance of work: cells of truth table, which is deterministic, and a clock beside it."""

    def __init__(self, cells: float, deadline: float) -> None:
        self.cells = cells
        self.deadline = deadline
        self.late = False
        """Whether it was the clock that ended it."""

    def spend(self, cells: float) -> None:
        self.cells -= cells
        self.look()
        if self.cells < 0:
            raise WorkExceededError

    def look(self) -> None:
        """Look at the clock alone."""
        self.late = time.monotonic() > self.deadline
        if self.late:
            raise WorkExceededError


class Context(NamedTuple):
    """A conjunction so far: its literals, the elements it matches, its cost, where it may grow."""

    where: tuple[Literal, ...]
    mask: Mask
    cost: int
    paths: tuple[str, ...]
    after: int
    direction: int
    """Index of the last numeric bound's direction, -1 if there is none."""


class PathTests:
    """Candidates about one path, read off each scope once and kept, cheapest first.

    With `stakes` (see `stakes_of`) equalities that could not pay for themselves are left out.
    """

    def __init__(self, cost: DescriptionLength, stakes: dict[int, Stakes] | None = None) -> None:
        self.cost = cost
        self.stakes = stakes or {}
        self._tests: dict[int, _Listing[Candidate]] = {}
        self._directions: dict[int, _Listing[Direction]] = {}

    def of(self, scope: Scope, allowance: Allowance | None = None) -> list[Candidate]:
        """All of a scope; raises WorkExceededError when the clock of the allowance is first."""
        return self._listing(scope).all(allowance)

    def so_far(self, scope: Scope) -> list[Candidate]:
        """Those that were read off so far, cheapest first."""
        return sorted(self._listing(scope).found, key=_cost_of)

    def directions(self, scope: Scope, allowance: Allowance | None = None) -> list[Direction]:
        """All of a scope; raises WorkExceededError when the clock of the allowance is first."""
        key = id(scope)
        if key not in self._directions:
            self._directions[key] = _Listing(directions(scope, self.cost), None)
        return self._directions[key].all(allowance)

    def _listing(self, scope: Scope) -> _Listing[Candidate]:
        key = id(scope)
        if key not in self._tests:
            families = (
                operations,
                presence,
                substrings,
                array_equalities,
                comparisons,
                value_sets,
                word_sets,
            )
            candidates = chain(
                equalities(scope, self.cost, self.stakes.get(key)),
                chain.from_iterable(family(scope, self.cost) for family in families),
            )
            self._tests[key] = _Listing(candidates, _cost_of)
        return self._tests[key]


def _cost_of(candidate: Candidate) -> int:
    return candidate.cost


class _Listing(Generic[T]):
    """What an iterator gives, sorted in the end; the clock may interrupt it, and it goes on from there."""

    def __init__(self, source: Iterable[T], key: Callable[[T], int] | None) -> None:
        self.found: list[T] = []
        self._source, self._key, self._whole = iter(source), key, False

    def all(self, allowance: Allowance | None) -> list[T]:
        if not self._whole:
            for one in self._source:
                self.found.append(one)
                if allowance is not None:
                    allowance.look()
            if self._key is not None:
                self.found.sort(key=self._key)
            self._whole = True
        return self.found


def element_candidates(
    scope: Scope, tests: PathTests, cap: int, max_where: int, allowance: Allowance
) -> list[Candidate]:
    """Literals about one row of `scope` that cost at most `cap`, cheapest first."""
    found = [candidate for candidate in tests.of(scope, allowance) if candidate.cost <= cap]
    for child in scope.children.values():
        nested = CheapestByTruth(cap)
        propose_collection(scope, child, tests, cap, max_where, nested, None, allowance)
        found.extend(nested.candidates())
    if tests.cost.disjunctions is not None:
        found.extend(one for one in tests.cost.disjunctions.of(scope) if one.cost <= cap)
    return sorted(found, key=lambda candidate: candidate.cost)


def propose_collection(
    parent: Scope,
    scope: Scope,
    tests: PathTests,
    cap: int,
    max_where: int,
    sink: Sink,
    penalties: Penalties | None,
    allowance: Allowance,
) -> None:
    """Put every ``find`` and ``count`` over `scope` that costs at most `cap` into `sink`.

    Parameters
    ----------
    parent : Scope
        The scope the collection hangs in; truth columns are over its rows.
    penalties : Penalties or None
        With labels (only where `parent` holds the scenes), conjunctions that cannot pay for
        themselves and bounds that another bound makes redundant are left out.
    allowance : Allowance

    Raises
    ------
    WorkExceededError
    """
    Grower(parent, scope, tests, cap, max_where, sink, penalties, allowance).run()


class Grower:
    """Grows the conjunctions about one collection; see `propose_collection` for the arguments."""

    def __init__(
        self,
        parent: Scope,
        scope: Scope,
        tests: PathTests,
        cap: int,
        max_where: int,
        sink: Sink,
        penalties: Penalties | None,
        allowance: Allowance,
    ) -> None:
        self.parent, self.scope, self.tests, self.cap = parent, scope, tests, cap
        self.cost = cost = tests.cost
        self.max_where, self.sink, self.penalties, self.allowance = max_where, sink, penalties, allowance
        grammar = cost.grammar
        self.bounds: list[tuple[str, int] | None] = []
        if grammar.allows("find"):
            self.bounds.append(None)
        if grammar.allows("count"):
            self.bounds += [
                (name, k) for name in ("gte", "lte", "eq") for k in range(1, grammar.max_count + 1)
            ]
        self.bounds = [b for b in self.bounds if self._overhead(b) <= cap]
        self.ranges = ranges(parent, cost, cap)
        self.saving = units(cost.path_choice(scope))
        self.no_array_cost = 0.0 if penalties is None else float(penalties.failing[~scope.is_array].sum())

    def _overhead(self, bound: tuple[str, int] | None) -> int:
        return self.cost.collect(self.parent, None if bound is None else bound[1])

    def run(self) -> None:
        """Visit every affordable conjunction."""
        if self.bounds:
            self._grow([self.prepare(self.cap)], 1)

    def prepare(self, literal_cap: int) -> Context:
        """Emit the counts without a where; gather the element literals; the empty conjunction."""
        least = min(self._overhead(b) for b in self.bounds)
        self.room = self.cap - least
        everything = Context((), np.ones(len(self.scope.rows), np.bool_), 0, (), -1, -1)
        self.emit([everything])
        self.literals = element_candidates(
            self.scope, self.tests, min(literal_cap - least, self.room), self.max_where, self.allowance
        )
        self.masks, self.costs = stack(self.literals, len(self.scope.rows))
        self.directions = self.tests.directions(self.scope, self.allowance)
        return everything

    def _grow(self, contexts: list[Context], size: int) -> None:
        """Visit all conjunctions of `size` literals that extend `contexts`."""
        if size > self.max_where:
            return
        for context in contexts:
            self.cut(context)
            for batch in self.children(context):
                self._grow(self.emit(batch), size + 1)
            if size < self.max_where:
                self._grow(self.bounded(context), size + 1)

    def children(self, context: Context) -> Iterator[list[Context]]:
        """The context extended by each later element literal, in batches."""
        if context.direction >= 0:
            return
        step = max(1, BATCH_CELLS // max(1, len(self.scope.rows)))
        size = int(context.mask.sum())
        end = int(np.searchsorted(self.costs, self.room - context.cost + self.saving, side="right"))
        for first in range(context.after + 1, end, step):
            batch = []
            masks = self.masks[first : min(first + step, end)] & context.mask
            self.allowance.spend(masks.size)
            matched = masks.sum(axis=1)
            fresh = (matched > 0) | (not self.scope.always_array)
            if context.where:  # one that changes nothing only makes the conjunction longer
                fresh &= matched < size
            for offset in np.flatnonzero(fresh):
                index = first + int(offset)
                literal = self.literals[index]
                repeated = literal.path is not None and literal.path in context.paths
                cost = context.cost + literal.cost - (self.saving if repeated else 0)
                if cost > self.room:
                    continue
                paths = context.paths if literal.path is None else (*context.paths, literal.path)
                batch.append(
                    Context((*context.where, literal.literal), masks[offset], cost, paths, index, -1)
                )
            yield batch

    def bounded(self, context: Context) -> list[Context]:
        """The context extended by a numeric bound, for conjunctions of two bounds or more."""
        extended = []
        for index in range(context.direction + 1, len(self.directions) - 1):
            direction = self.directions[index]
            saved = self.saving if direction.column.path in context.paths else 0
            rest = min(d.cheapest for d in self.directions[index + 1 :]) - self.saving
            room = self.room - context.cost + saved - rest
            if direction.cheapest > room:
                continue
            ranks = np.where(context.mask, direction.ranks, -1)
            found = cuts(ranks, direction, room, None)
            self.allowance.spend(len(found.rank) * len(self.scope.rows))
            masks = ranks[None, :] >= found.rank[:, None]
            totals = found.cost + (context.cost - saved)
            paths = (*context.paths, direction.column.path)
            for i in np.flatnonzero(self._pays(self.scope.owners_with(masks), totals)):
                where = (*context.where, direction.cut(found, int(i)))
                extended.append(Context(where, masks[i], int(totals[i]), paths, context.after, index))
        return extended

    def emit(self, contexts: list[Context]) -> list[Context]:
        """Put the finds and counts over `contexts` into the sink; those worth extending remain."""
        if not contexts:
            return []
        masks = np.array([c.mask for c in contexts])
        costs = np.array([c.cost for c in contexts], np.int64)
        counts = self.scope.owners_with(masks)
        self.allowance.spend(CALL_CELLS * len(self.bounds) + masks.size + counts.size * len(self.bounds))
        for bound in self.bounds:
            if bound is not None and bound[1] > counts.max() + (bound[0] == "lte"):
                continue
            if (bound is None and not contexts[0].where) or (bound == ("gte", 1) and contexts[0].where):
                continue
            self._add(contexts, counts, costs + self._overhead(bound), bound)
        self._add_ranges(contexts, counts, costs)
        return [context for context, pays in zip(contexts, self._pays(counts, costs), strict=True) if pays]

    def _add(
        self,
        contexts: list[Context],
        counts: NDArray[np.int32],
        costs: NDArray[np.int64],
        bound: tuple[str, int] | None,
    ) -> None:
        name, k = bound if bound is not None else ("gte", 1)
        if name == "gte":
            truth = counts >= k
        else:
            truth = ((counts <= k) if name == "lte" else (counts == k)) & self.scope.is_array
        op = "find" if bound is None else "count"

        def atom(i: int) -> Collect:
            return Collect(op, self.scope.collection, contexts[i].where, bound)

        self.sink.add(truth, costs, lambda i: Literal(atom(i)))
        if bound is None and self.cost.grammar.allows("not"):
            self.sink.add(~truth, costs + self.cost.negation, lambda i: Literal(atom(i), True))

    def _add_ranges(
        self, contexts: list[Context], counts: NDArray[np.int32], costs: NDArray[np.int64]
    ) -> None:
        """Counts with both bounds, each of which keeps a failing scene out."""
        if not self.ranges or self.penalties is None or not self.penalties.failing.any():
            return
        failing = counts[:, self.penalties.failing > 0]
        least, most, cheapest = failing.min(axis=1), failing.max(axis=1), int(costs.min())
        for price, low, high in self.ranges:
            if price + cheapest > self.cap:
                return
            useful = np.flatnonzero((low > least) & (high < most) & (costs + price <= self.cap))
            if not len(useful):
                continue
            chosen = counts[useful]
            self.allowance.spend(CALL_CELLS + chosen.size)

            def make(i: int, low: int = low, high: int = high, useful: NDArray[np.intp] = useful) -> Literal:
                where = contexts[int(useful[i])].where
                return Literal(Collect("count", self.scope.collection, where, ("gte", low), high))

            self.sink.add((chosen >= low) & (chosen <= high), costs[useful] + price, make)

    def _pays(self, counts: NDArray[np.int32], costs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the scenes a conjunction touches could pay for it, in passes or in fails.

        A literal of a hypothesis better than a constant answer covers passing scenes, and
        rejects failing ones, whose penalties exceed its cost; what a narrower conjunction
        touches is a part of what this one does. A count with an upper bound also rejects every
        scene without an array.
        """
        if self.penalties is None:
            return np.ones(len(costs), np.bool_)
        touched = counts > 0
        passing = touched @ self.penalties.passing
        failing = touched @ self.penalties.failing + self.no_array_cost
        paid: NDArray[np.bool_] = np.maximum(passing, failing) + 1 >= costs + self.cap - self.room
        return paid

    def cut(self, context: Context) -> None:
        """All conjunctions of the context and one more numeric bound, on one element or on every one."""
        self._cut_every(context)
        for index in range(context.direction + 1, len(self.directions)):
            direction = self.directions[index]
            saved = self.saving if direction.column.path in context.paths else 0
            if context.cost + direction.cheapest - saved > self.room:
                continue
            ranks = np.where(context.mask, direction.ranks, -1)
            highest = self._highest(ranks)
            most = int((highest >= 0).any(axis=1).sum())
            for bound in self.bounds:
                self._cut_bound(context, direction, saved, highest, most, bound)

    def _cut_every(self, context: Context) -> None:
        """Of the elements in the context, every one keeps the bound."""
        grammar = self.cost.grammar
        if context.direction >= 0 or self.parent.depth > 0 or None not in self.bounds:
            return
        if not (grammar.every and grammar.allows("not")):
            return
        for direction in self.directions:
            saved = self.saving if direction.column.path in context.paths else 0
            overhead = self._overhead(None) + 2 * self.cost.negation + context.cost - saved
            if overhead + direction.cheapest > self.cap:
                continue
            ranks = lowest_ranks(self.scope, direction, context.mask)
            found = cuts(ranks, direction, self.cap - overhead, self.penalties)
            self.allowance.spend(CALL_CELLS + 20 * len(ranks) + len(found.rank) * len(ranks))
            if not len(found.rank):
                continue

            def make(i: int, direction: Direction = direction, found: Cuts = found) -> Literal:
                where = (*context.where, direction.cut(found, i)._replace(negated=True))
                return Literal(Collect("find", self.scope.collection, where), True)

            self.sink.add(ranks[None, :] >= found.rank[:, None], found.cost + overhead, make)

    def _highest(self, ranks: NDArray[np.int32]) -> NDArray[np.int32]:
        """The highest ranks of each owner, descending: (max_count + 1, parent rows)."""
        out = np.full((self.cost.grammar.max_count + 1, self.scope.parent_rows), -1, np.int32)
        matched = np.flatnonzero(ranks >= 0)
        self.allowance.spend(CALL_CELLS + 4 * len(ranks) + out.size)
        if len(matched):
            owner = self.scope.owner[matched]
            order = np.lexsort((-ranks[matched], owner))
            owner, ordered = owner[order], ranks[matched][order]
            firsts = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
            place = np.arange(len(owner)) - np.repeat(firsts, np.diff(np.append(firsts, len(owner))))
            kept = place < len(out)
            out[place[kept], owner[kept]] = ordered[kept]
        return out

    def _cut_bound(
        self,
        context: Context,
        direction: Direction,
        saved: int,
        highest: NDArray[np.int32],
        most: int,
        bound: tuple[str, int] | None,
    ) -> None:
        """The cuts under one bound; at most `most` elements of an owner match: larger bounds have none."""
        name, k = bound if bound is not None else ("gte", 1)
        if name == "eq" or (bound == ("gte", 1)) or k + (name == "lte") > len(highest):
            return
        if k > most and (name == "gte" or self.scope.always_array):
            return
        overhead = self._overhead(bound) + context.cost - saved
        room = self.cap - overhead
        if direction.cheapest > room:
            return
        if name == "gte":
            self._put_cuts(context, direction, highest[k - 1], overhead, bound, negated=False)
            if (
                bound is None
                and self.cost.grammar.allows("not")
                and direction.cheapest <= room - self.cost.negation
            ):
                self._put_cuts(context, direction, highest[0], overhead, bound, negated=True)
        else:
            self._put_cuts(context, direction, highest[k], overhead, bound, negated=True)
            self._put_array_test(context, direction, highest[k], overhead, bound)

    def _put_array_test(
        self,
        context: Context,
        direction: Direction,
        ranks: NDArray[np.int32],
        overhead: int,
        bound: tuple[str, int] | None,
    ) -> None:
        """The cheapest cut that no scene's ranks reach: the count then says that there is an array."""
        above = int(ranks.max()) + 1
        if self.scope.always_array or above >= len(direction.gap_cost):
            return
        rank = above + int(direction.gap_cost[above:].argmin())
        cost = np.array([overhead + int(direction.gap_cost[rank])], np.int64)
        where = (*context.where, direction.literal(rank - 1, rank))
        literal = Literal(Collect("count", self.scope.collection, where, bound))
        self.sink.add(self.scope.is_array[None, :], cost, lambda _: literal)

    def _put_cuts(
        self,
        context: Context,
        direction: Direction,
        ranks: NDArray[np.int32],
        overhead: int,
        bound: tuple[str, int] | None,
        *,
        negated: bool,
    ) -> None:
        extra = self.cost.negation if negated and bound is None else 0
        found: Cuts = cuts(
            ranks, direction, self.cap - overhead - extra, self.penalties, kept_passes=not negated
        )
        self.allowance.spend(CALL_CELLS + 20 * len(ranks) + len(found.rank) * len(ranks))
        if not len(found.rank):
            return
        truth = ranks[None, :] >= found.rank[:, None]
        if negated:
            truth = ~truth if bound is None else ~truth & self.scope.is_array
        op = "find" if bound is None else "count"

        def make(i: int) -> Literal:
            where = (*context.where, direction.cut(found, int(i)))
            return Literal(Collect(op, self.scope.collection, where, bound), negated and bound is None)

        self.sink.add(truth, found.cost + overhead + extra, make)

"""Hypotheses that the labels leave open, the cheapest first: the cheap end of a version space.

Literals are gathered by their verdicts on the labelled scenes; of each verdict the few cheapest
are kept and not only the first, since they differ on other scenes. Hypotheses over distinct
verdicts are then found in two ways. Whatever is not the best lacks one of its literals, so each
literal in turn is taken out and the rest searched again, cheapest first (the hitting-set tree of
Reiter 1987): that finds other shapes. And every literal of a hypothesis is exchanged for every
other one that keeps all verdicts right: that finds its neighbours, thousands at a time.

A heuristic: hypotheses can be missed, none is made up. The effort is counted, so that equal input
gives equal output as long as the deadline does not bite.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from induce.costs import DescriptionLength
from induce.grammar import units
from induce.literals import Literal
from induce.pool import LiteralPool
from induce.profile import Scope
from induce.proposers.collection import Allowance, WorkExceededError, propose_collection
from induce.proposers.comparison import Penalties
from induce.proposers.proposer import Proposer
from induce.proposers.rows import Mask
from induce.search import Hypothesis as Columns
from induce.search import SearchProblem, canonical, search
from induce.search.bits import pack

Truth = NDArray[np.bool_]

CAPS = tuple(units(b) for b in (14, 18, 22, 25, 28, 31, 34))
"""Literal costs up to which literals are gathered, one after another while it stays cheap."""
CELLS, GROWTH = 6e8, 3.0
"""Truth-table cells that gathering may take at once, and how they grow from cap to cap at least."""
COLUMNS = 12_000
BEAM_LITERALS, BEAM_CELLS = units(20), 3e8
"""For dearer literals: what their parts may cost, and the cells their beam search may take."""
VARIANTS = 6
"""Literals of equal verdicts that are kept."""
TOUCHED = units(26)
"""A literal touches one passing or failing scene for so many units that it costs."""
FORBIDDEN = units(1000)
NODES = 600
SEARCHES, SEARCHED_COLUMNS = 24, 60_000
"""Searches at most, and columns that all of them together may look through."""
EXPANDED = 60
"""Hypotheses whose neighbours are looked for."""
NEIGHBOURS = 40
"""Exchanges of one literal that are kept, the cheapest."""


class Variant(NamedTuple):
    """One of the literals with some verdicts; `make(at)` says it."""

    cost: int
    number: int
    make: Callable[[int], Literal]
    at: int

    @property
    def literal(self) -> Literal:
        return self.make(self.at)


class VerdictTable(NamedTuple):
    """Distinct verdicts of literals on the labelled scenes, cheapest first.

    `truth` is bool (n, scenes), passing scenes first; `cost` int64 (n,) that of the cheapest
    literal; `variants` the literals of each row, cheapest first.
    """

    truth: Truth
    cost: NDArray[np.int64]
    variants: list[list[Variant]]

    def row(self, verdicts: Truth) -> int:
        return int(np.flatnonzero((self.truth == verdicts).all(axis=1))[0])


class Gatherer(LiteralPool):
    """A sink for proposals that keeps the cheapest `VARIANTS` literals of each verdict."""

    def __init__(self, passes: int, penalties: Penalties, cap: int) -> None:
        super().__init__(passes, penalties, cap)
        self.kept: dict[bytes, list[Variant]] = {}
        self.used = 0.0
        self._number = 0

    def add(self, masks: Mask, costs: NDArray[np.int64], make: Callable[[int], Literal]) -> None:
        wanted = costs <= self.cap
        wanted &= masks[:, : self.passes].any(axis=1) & ~masks[:, self.passes :].all(axis=1)
        chosen = np.flatnonzero(wanted)
        rows = np.packbits(masks[chosen], axis=1)
        for i, cost, row in zip(chosen.tolist(), costs[chosen].tolist(), rows, strict=True):
            self._keep(row.tobytes(), cost, make, i)

    def put(self, verdicts: Truth, cost: int, make: Callable[[int], Literal], at: int) -> None:
        """Take one literal, whatever it costs."""
        self._keep(np.packbits(verdicts).tobytes(), cost, make, at)

    def _keep(self, key: bytes, cost: int, make: Callable[[int], Literal], at: int) -> None:
        known = self.kept.setdefault(key, [])
        self._number += 1
        if len(known) < VARIANTS or cost < known[-1].cost:
            known.append(Variant(cost, self._number, make, at))
            known.sort(key=lambda variant: variant[:2])
            del known[VARIANTS:]

    def verdicts(self, scenes: int) -> VerdictTable:
        keys = sorted(self.kept, key=lambda key: (self.kept[key][0].cost, key))
        rows = np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), (scenes + 7) // 8)
        return VerdictTable(
            truth=np.unpackbits(rows, axis=1, count=scenes).astype(np.bool_),
            cost=np.array([self.kept[key][0].cost for key in keys], np.int64),
            variants=[self.kept[key] for key in keys],
        )


class _Cheap(Proposer):
    """Proposes all literals up to some cost, whatever else could stand in for them."""

    def gathered(self, cap: int) -> Gatherer | None:
        """None when that is too much."""
        sink = Gatherer(self.passes, self.penalties, cap)
        allowance = Allowance(CELLS, self.deadline)
        try:
            self._about_paths(sink, allowance)
            for child in self.root.children.values():
                propose_collection(
                    self.root, child, self.tests, cap, self.max_where, sink, self.penalties, allowance
                )
        except WorkExceededError:
            return None
        sink.used = CELLS - allowance.cells
        return sink if len(sink.kept) <= COLUMNS else None


def gather(
    root: Scope,
    cost: DescriptionLength,
    labels: Truth,
    counted: Truth,
    max_where: int,
    dearest: int,
    deadline: float,
) -> Gatherer:
    """The literals of a profile by verdict, up to a cost of `dearest` as far as it stays cheap.

    `labels` has passing scenes first; scenes that are not `counted` may get either verdict.
    """
    charged = np.where(counted, float(TOUCHED), 0.0)
    penalties = Penalties(np.where(labels, charged, 0.0), np.where(labels, 0.0, charged))
    proposer = _Cheap(root, cost, int(labels.sum()), penalties, max_where, deadline)
    found = Gatherer(proposer.passes, penalties, 0)
    for cap in CAPS:
        if found.used * GROWTH > CELLS:
            break
        fuller = proposer.gathered(min(cap, dearest))
        if fuller is None:
            break
        found = fuller
        if cap >= dearest:
            return found
    found.cap = dearest
    proposer.extend(found, BEAM_LITERALS, BEAM_CELLS)
    return found


class VersionSpace:
    """Hypotheses over a verdict table that are right on all of its scenes.

    Parameters
    ----------
    truth, cost : of the `VerdictTable`, without scenes that may get either verdict
    labels : bool (scenes,), passing scenes first
    join : int
        What each literal after the first costs beside itself.
    most : int
        The most a hypothesis may cost.
    """

    def __init__(
        self,
        truth: Truth,
        cost: NDArray[np.int64],
        labels: Truth,
        join: int,
        max_terms: int,
        max_literals: int,
        most: int,
    ) -> None:
        self.truth, self.cost, self.labels = truth, cost, labels
        self.join, self.max_terms, self.max_literals, self.most = join, max_terms, max_literals, most
        self.found: dict[Columns, int] = {}

    def cheapest(self, start: Columns | None, deadline: float) -> list[tuple[int, Columns]]:
        """Cost and rows of hypotheses, the cheapest first, `start` among them if given."""
        if start is not None:
            self._offer(start)
        self._search_without(deadline)
        expanded: set[Columns] = set()
        while len(expanded) < EXPANDED and time.monotonic() < deadline:
            unexpanded = [(cost, h) for h, cost in self.found.items() if h not in expanded]
            if not unexpanded:
                break
            for _, hypothesis in heapq.nsmallest(10, unexpanded):
                expanded.add(hypothesis)
                for neighbour in self._neighbours(hypothesis):
                    self._offer(neighbour)
        return sorted((cost, hypothesis) for hypothesis, cost in self.found.items())

    def _offer(self, hypothesis: Columns) -> None:
        if hypothesis in self.found:
            return
        literals = [row for term in hypothesis for row in term]
        cost = int(self.cost[literals].sum()) + self.join * (len(literals) - 1)
        if cost <= self.most and (not self.found or not self._has_idle_part(hypothesis)):
            self.found[hypothesis] = cost

    def _has_idle_part(self, hypothesis: Columns) -> bool:
        """Whether some literal or term could be left out."""
        for at, term in enumerate(hypothesis):
            rest = [*hypothesis[:at], *hypothesis[at + 1 :]]
            shorter = [term[:i] + term[i + 1 :] for i in range(len(term))] if len(term) > 1 else []
            if any(self._consistent([*rest, one]) for one in shorter) or (rest and self._consistent(rest)):
                return True
        return False

    def _consistent(self, hypothesis: Sequence[tuple[int, ...]]) -> bool:
        return bool((self._verdicts(hypothesis) == self.labels).all())

    def _verdicts(self, hypothesis: Sequence[tuple[int, ...]]) -> Truth:
        verdicts = np.zeros(len(self.labels), np.bool_)
        for term in hypothesis:
            verdicts |= self.truth[list(term)].all(axis=0)
        return verdicts

    def _neighbours(self, hypothesis: Columns) -> Iterator[Columns]:
        """Hypotheses with one literal exchanged."""
        size = self.found[hypothesis]
        for at, term in enumerate(hypothesis):
            others = [*hypothesis[:at], *hypothesis[at + 1 :]]
            covered = self._verdicts(others)
            for row in term:
                rest = tuple(other for other in term if other != row)
                open_scenes = self.truth[list(rest)].all(axis=0) & ~covered
                needed, refused = open_scenes & self.labels, open_scenes & ~self.labels
                affordable = int(np.searchsorted(self.cost, self.most - size + self.cost[row], side="right"))
                fits = self.truth[:affordable, needed].all(axis=1) & ~self.truth[:affordable, refused].any(
                    axis=1
                )
                for other in np.flatnonzero(fits)[:NEIGHBOURS].tolist():
                    yield canonical([*others, (*rest, other)])

    def _search_without(self, deadline: float) -> None:
        """Search without the literals of the best, then without those of the next, and so on."""
        everything = np.arange(len(self.cost))
        searches = min(SEARCHES, max(4, SEARCHED_COLUMNS // len(everything)))
        tried: set[tuple[int, ...]] = {()}
        nodes = self._searched(everything, (), deadline)
        while nodes and searches > 0 and time.monotonic() < deadline:
            _, hypothesis, excluded = heapq.heappop(nodes)
            for row in sorted({row for term in hypothesis for row in term}):
                without = tuple(sorted({*excluded, row}))
                if without not in tried and searches > 0 and len(without) < len(everything):
                    tried.add(without)
                    searches -= 1
                    for node in self._searched(np.delete(everything, list(without)), without, deadline):
                        heapq.heappush(nodes, node)

    def _searched(
        self, rows: NDArray[np.intp], excluded: tuple[int, ...], deadline: float
    ) -> list[tuple[int, Columns, tuple[int, ...]]]:
        """The best hypothesis over some rows, its cost and the rows left out; its ties are offered too."""
        place = {int(row): at for at, row in enumerate(rows)}
        known = [
            (cost, h) for h, cost in self.found.items() if all(row in place for term in h for row in term)
        ]
        incumbent = canonical([place[row] for row in term] for term in min(known)[1]) if known else None
        passes = int(self.labels.sum())
        problem = SearchProblem(
            passing=pack(self.truth[rows, :passes]),
            failing=pack(self.truth[rows, passes:]),
            cost=self.cost[rows],
            pass_penalty=np.full(passes, FORBIDDEN, np.int64),
            fail_penalty=np.full(len(self.labels) - passes, FORBIDDEN, np.int64),
            join_cost=self.join,
            max_terms=self.max_terms,
            max_literals=self.max_literals,
        )
        outcome = search(
            problem,
            engine="enumerate",
            upper=self.most + 1,
            incumbent=incumbent,
            deadline=deadline,
            work_limit=NODES,
        )
        if outcome.hypothesis is None:
            return []
        met = [
            canonical([int(rows[i]) for i in term] for term in h) for h in (outcome.hypothesis, *outcome.ties)
        ]
        for hypothesis in met:
            self._offer(hypothesis)
        return [(outcome.cost, met[0], excluded)]

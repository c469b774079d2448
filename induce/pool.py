"""The pool of candidate literals: one column of the truth table for each distinct verdict.

Literals that agree on every scene are one column; the cheapest is said. Literals that could
not pay for themselves are left out (see `LiteralPool`).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from induce.costs import DescriptionLength
from induce.literals import Literal
from induce.profile import Scope
from induce.proposers.beam import Beam
from induce.proposers.collection import (
    BATCH_CELLS,
    Allowance,
    PathTests,
    WorkExceededError,
    propose_collection,
)
from induce.proposers.comparison import Penalties, cuts
from induce.proposers.fitting import ElementLiterals, FittingLiterals
from induce.proposers.rows import Candidate, Mask, stack
from induce.proposers.stakes import stakes_of
from induce.search import Openings

LEAST_TELLING = 0.02


class Table(NamedTuple):
    """A truth table of literals, cheapest first.

    `passing` and `failing` are packed truth (n, words) on the passing and the failing scenes;
    `literals` the literals of each column, all of one cost; `keys`
    name a column in every table of the same examples.
    """

    passing: NDArray[np.uint64]
    failing: NDArray[np.uint64]
    cost: NDArray[np.int64]
    literals: list[list[Literal]]
    keys: list[bytes]


class Entry(NamedTuple):
    """One distinct column: its cheapest literals, and the penalties of the scenes it gets right."""

    cost: int
    literals: list[Literal]
    covered: float
    rejected: float


class LiteralPool:
    """Distinct truth columns over the scenes, each with its cheapest literals.

    A literal is left out when the passing scenes it holds on, or the failing scenes it
    rejects, carry smaller penalties than it costs (by more than the one unit that rounding may
    add). This is sound for every hypothesis whose
    objective is below that of both constant answers: if such a literal stands in a longer
    term, dropping it (too few rejected) or its term (too few covered) is cheaper, and alone
    it is worse than a constant answer.

    Parameters
    ----------
    passes : int
        How many scenes are labelled pass; they come first.
    penalties : Penalties
    cap : int
        The most a literal may cost.

    Attributes
    ----------
    telling_only : bool
        Whether columns that hardly tell passes from fails are left out as well; heuristic.
    """

    KEPT_TIES = 32

    def __init__(self, passes: int, penalties: Penalties, cap: int) -> None:
        self.passes, self.penalties = passes, penalties
        self.cap = cap
        self.telling_only = False
        self._pass_cost = penalties.passing[:passes]
        self._fail_cost = penalties.failing[passes:]
        self._all_passes, self._all_fails = float(self._pass_cost.sum()), float(self._fail_cost.sum())
        self.best_single = 1 << 62
        """The objective of the best literal by itself."""
        self.entries: dict[bytes, Entry] = {}

    def add(self, masks: Mask, costs: NDArray[np.int64], make: Callable[[int], Literal]) -> None:
        affordable = np.flatnonzero(costs <= self.cap)
        if not len(affordable):
            return
        if len(affordable) < len(costs):
            masks, costs = masks[affordable], costs[affordable]
        on_pass, on_fail = masks[:, : self.passes], masks[:, self.passes :]
        covered = on_pass @ self._pass_cost
        rejected = self._all_fails - on_fail @ self._fail_cost
        keep = (covered + 1 >= costs) & (rejected + 1 >= costs) & on_pass.any(axis=1) & ~on_fail.all(axis=1)
        if self.telling_only:
            keep &= (self._telling(covered, rejected) > LEAST_TELLING).any(axis=0)
        kept = np.flatnonzero(keep)
        if not len(kept):
            return
        covered, rejected, costs = covered[kept], rejected[kept], costs[kept]
        totals = costs + (self._all_passes - covered) + (self._all_fails - rejected)
        self.best_single = min(self.best_single, int(totals.min()))
        packed = np.concatenate([pack(on_pass[kept]), pack(on_fail[kept])], axis=1)
        figures = zip(packed, affordable[kept].tolist(), costs.tolist(), covered, rejected, strict=True)
        for row, i, cost, passing, failing in figures:
            key = row.tobytes()
            known = self.entries.get(key)
            if known is None or cost < known.cost:
                self.entries[key] = Entry(cost, [make(i)], passing, failing)
            elif cost == known.cost and len(known.literals) < self.KEPT_TIES:
                known.literals.append(make(i))

    def hold(self, truth: Mask, cost: int, literal: Literal) -> bytes:
        """Take in a literal by its truth (scenes,) whatever it could save; the key of its column."""
        passes, fails = truth[: self.passes], truth[self.passes :]
        key = np.concatenate([pack(passes[None, :]), pack(fails[None, :])], axis=1).tobytes()
        if key not in self.entries or cost < self.entries[key].cost:
            rejected = self._all_fails - float(fails @ self._fail_cost)
            self.entries[key] = Entry(cost, [literal], float(passes @ self._pass_cost), rejected)
        return key

    def take(self, other: LiteralPool, most: int, keys: Iterable[bytes] | None = None) -> None:
        """Take in columns of another pool that cost at most `most`, save those that are here for less."""
        for key in other.entries if keys is None else keys:
            entry, known = other.entries[key], self.entries.get(key)
            if entry.cost <= most and (known is None or entry.cost < known.cost):
                self.entries[key] = entry

    def _telling(self, covered: NDArray[np.float64], rejected: NDArray[np.float64]) -> NDArray[np.float64]:
        """How telling columns are, (3, n): Youden's J, and two mixtures that favour narrow and wide ones."""
        coverage, false_alarms = covered / self._all_passes, 1 - rejected / self._all_fails
        return np.array(
            [
                coverage - false_alarms,
                coverage - 4 * false_alarms,
                4 * coverage - false_alarms - 3,
            ]
        )

    def keep_most_telling(self, count: int, above: int) -> None:
        """Of the literals that cost more than `above`, keep about the `count` most telling columns."""
        dear = sorted((entry.cost, key) for key, entry in self.entries.items() if entry.cost > above)
        if len(dear) <= count:
            return
        covered = np.array([self.entries[key].covered for _, key in dear])
        rejected = np.array([self.entries[key].rejected for _, key in dear])
        kept: set[int] = set()
        for telling in self._telling(covered, rejected):
            kept.update(np.argsort(-telling, kind="stable")[: count // 3].tolist())
        for index, (_, key) in enumerate(dear):
            if index not in kept:
                del self.entries[key]

    def table(self, most: int) -> Table:
        """The literals that cost at most `most`, by cost."""
        rows = []
        for key, entry in self.entries.items():
            if entry.cost <= most:
                rows.append((entry.cost, key, entry.literals))
        rows.sort(key=lambda row: row[:2])
        words = (self.passes + 63) // 64
        width = words + (len(self.penalties.failing) - self.passes + 63) // 64
        bits = np.frombuffer(b"".join(row[1] for row in rows), np.uint64).reshape(len(rows), width)
        return Table(
            passing=bits[:, :words].copy(),
            failing=bits[:, words:].copy(),
            cost=np.array([row[0] for row in rows], np.int64),
            literals=[row[2] for row in rows],
            keys=[row[1] for row in rows],
        )


class Proposer:
    """Fills pools with the literals of one profile, up to one cost after another.

    Parameters
    ----------
    passes : int
        How many scenes are labelled pass; they come first.
    penalties : Penalties
    deadline : float
        A reading of `time.monotonic` at which to give up.
    """

    def __init__(
        self,
        root: Scope,
        cost: DescriptionLength,
        passes: int,
        penalties: Penalties,
        max_where: int,
        deadline: float,
    ) -> None:
        self.root = root
        self.tests = PathTests(cost, stakes_of(root, *penalties))
        self.passes, self.penalties = passes, penalties
        self.max_where, self.deadline = max_where, deadline
        self.elements = ElementLiterals(self.tests, max_where)
        self.late = False
        """Whether the clock ended something."""

    def complete(self, cap: int, cells: float, max_columns: int) -> LiteralPool | None:
        """Every literal about a scene that costs at most `cap`, or None when that is too many.

        `cells` is an allowance in truth-table cells, a deterministic measure of effort, and
        `max_columns` the most distinct columns.
        """
        pool = LiteralPool(self.passes, self.penalties, cap)
        allowance = Allowance(cells, self.deadline)
        try:
            self._about_paths(pool, allowance)
            for child in self.root.children.values():
                propose_collection(
                    self.root, child, self.tests, cap, self.max_where, pool, self.penalties, allowance
                )
                if len(pool.entries) > max_columns:
                    return None
        except WorkExceededError:
            self.late |= allowance.late
            return None
        return pool

    def about_paths(self, cap: int) -> LiteralPool:
        """The literals about paths of the scene alone, without finds and counts, as far as time allows."""
        pool = LiteralPool(self.passes, self.penalties, cap)
        allowance = Allowance(math.inf, self.deadline)
        with contextlib.suppress(WorkExceededError):
            self._about_paths(pool, allowance)
        self.late |= allowance.late
        if not pool.entries:
            rows = len(self.root.rows)
            self._put(self.tests.so_far(self.root)[: max(1, BATCH_CELLS // rows)], pool)
        return pool

    def dearest(self) -> int | None:
        """The most a literal can cost; None where collections, or the clock, leave that open."""
        if self.root.children:
            return None
        allowance = Allowance(math.inf, self.deadline)
        try:
            costs = [candidate.cost for candidate in self.tests.of(self.root, allowance)]
            costs += [int(one.gap_cost.max()) for one in self.tests.directions(self.root, allowance)]
        except WorkExceededError:
            return None
        return max(costs, default=0)

    def fitting(self, left: Openings, labels: Mask, least: int, cells: float) -> LiteralPool | None:
        """Every literal dearer than `least` that fits an opening, or None when that is too much work."""
        pool = LiteralPool(self.passes, self.penalties, int(left.room.max(initial=0)))
        allowance = Allowance(cells, self.deadline)
        try:
            FittingLiterals(self.root, self.elements, left, labels, least, allowance).run(pool)
        except WorkExceededError:
            self.late |= allowance.late
            return None
        return pool

    def extend(self, pool: LiteralPool, cap: int, literal_cap: int, cells: float) -> None:
        """Add finds and counts of up to `cap` to the pool by beam search, as far as `cells` go."""
        for _ in self.extensions(pool, cap, literal_cap, cells):
            pass

    def extensions(self, pool: LiteralPool, cap: int, literal_cap: int, cells: float) -> Iterator[None]:
        """`extend` in two steps, value sets and disjunctions last; the pool may be looked at after each."""
        pool.cap, pool.telling_only = cap, True
        allowance = Allowance(math.inf, self.deadline)
        with contextlib.suppress(WorkExceededError):
            self._about_paths(pool, allowance)
        self.late |= allowance.late
        beams = []
        for child in self.root.children.values():
            allowance = Allowance(cells / len(self.root.children), self.deadline)
            beam = Beam(self.root, child, self.tests, cap, self.max_where, pool, self.penalties, allowance)
            beam.literal_cap = literal_cap
            beams.append(beam)
        for grow in (Beam.run, Beam.run_with_sets):
            for beam in beams:
                beam.allowance = Allowance(cells / len(self.root.children), self.deadline)
                with contextlib.suppress(WorkExceededError):
                    grow(beam)
                self.late |= beam.allowance.late
            yield

    def _about_paths(self, pool: LiteralPool, allowance: Allowance) -> None:
        rows = len(self.root.rows)
        candidates = [c for c in self.tests.of(self.root, allowance) if c.cost <= pool.cap]
        step = max(1, BATCH_CELLS // max(1, rows))
        for start in range(0, len(candidates), step):
            batch = candidates[start : start + step]
            self._put(batch, pool)
            allowance.spend(len(batch) * rows)
        for direction in self.tests.directions(self.root, allowance):
            found = cuts(direction.ranks, direction, pool.cap, self.penalties)
            for start in range(0, len(found.rank), step):
                batch_of_cuts = found.part(start, start + step)
                truth = direction.ranks[None, :] >= batch_of_cuts.rank[:, None]
                pool.add(truth, batch_of_cuts.cost, partial(direction.cut, batch_of_cuts))
                allowance.spend(truth.size)

    def _put(self, candidates: list[Candidate], pool: LiteralPool) -> None:
        masks, costs = stack(candidates, len(self.root.rows))
        pool.add(masks, costs, partial(_literal, candidates))


def _literal(candidates: list[Candidate], i: int) -> Literal:
    return candidates[i].literal


def pack(masks: Mask) -> NDArray[np.uint8]:
    """Rows of booleans as whole 64-bit words, lowest bit first: uint8 (n, 8 * words)."""
    packed = np.packbits(masks, axis=1, bitorder="little")
    padded = np.zeros((len(masks), (masks.shape[1] + 63) // 64 * 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded

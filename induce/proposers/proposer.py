"""Proposes literals of a profile: all up to a cost, the most telling of dearer ones, what fits openings."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from functools import partial

from induce.costs import DescriptionLength
from induce.literals import Literal
from induce.pool import LiteralPool
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

    def extend(self, pool: LiteralPool, literal_cap: int, cells: float) -> None:
        """Add literals of up to the pool's `cap` by beam search, as far as `cells` go."""
        for _ in self.extensions(pool, literal_cap, cells):
            pass

    def extensions(self, pool: LiteralPool, literal_cap: int, cells: float) -> Iterator[None]:
        """`extend` in two steps, value sets and disjunctions last; the pool may be looked at after each."""
        allowance = Allowance(math.inf, self.deadline)
        with contextlib.suppress(WorkExceededError):
            self._about_paths(pool, allowance)
        self.late |= allowance.late
        beams = []
        for child in self.root.children.values():
            allowance = Allowance(cells / len(self.root.children), self.deadline)
            beam = Beam(
                self.root, child, self.tests, pool.cap, self.max_where, pool, self.penalties, allowance
            )
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

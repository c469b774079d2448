"""The pool of candidate literals: one column of the truth table for each distinct verdict.

Literals that agree on every scene are one column; the cheapest is said. Literals that could
not pay for themselves are left out (see `LiteralPool`).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from induce.costs import DescriptionLength
from induce.literals import Literal, preference
from induce.profile import Scope
from induce.proposers.beam import Beam
from induce.proposers.collection import Allowance, PathTests, WorkExceededError, propose_collection
from induce.proposers.comparison import Penalties, cuts
from induce.proposers.rows import Candidate, Mask, stack


class Table(NamedTuple):
    """A truth table of literals, cheapest first.

    `passing` and `failing` are packed truth (n, words) on the passing and the failing scenes;
    `literals` the literals of each column, all of one cost, the preferred one first; `keys`
    name a column in every table of the same examples.
    """

    passing: NDArray[np.uint64]
    failing: NDArray[np.uint64]
    cost: NDArray[np.int64]
    literals: list[tuple[Literal, ...]]
    keys: list[bytes]


class LiteralPool:
    """Distinct truth columns over the scenes, each with its cheapest literals.

    A literal is left out when the passing scenes it holds on, or the failing scenes it
    rejects, carry smaller penalties than it costs. This is sound for every hypothesis whose
    objective is below that of both constant answers: if such a literal stands in a longer
    term, dropping it (too few rejected) or its term (too few covered) is cheaper, and alone
    it is worse than a constant answer.

    Parameters
    ----------
    passing : ndarray of bool, (scenes,)
        Which scenes are labelled pass.
    penalties : Penalties
    cap : int
        The most a literal may cost.
    """

    KEPT_TIES = 32

    def __init__(self, passing: Mask, penalties: Penalties, cap: int) -> None:
        self.passing = passing
        self.penalties = penalties
        self.cap = cap
        self._passes, self._fails = np.flatnonzero(passing), np.flatnonzero(~passing)
        self._pass_cost = penalties.passing[self._passes]
        self._fail_cost = penalties.failing[self._fails]
        self._all_passes, self._all_fails = float(self._pass_cost.sum()), float(self._fail_cost.sum())
        self.best_single = 1 << 62
        """The objective of the best literal by itself."""
        self.entries: dict[bytes, tuple[int, list[Literal]]] = {}

    def add(self, masks: Mask, costs: NDArray[np.int64], make: Callable[[int], Literal]) -> None:
        affordable = np.flatnonzero(costs <= self.cap)
        if not len(affordable):
            return
        costs = costs[affordable]
        on_pass, on_fail = masks[affordable][:, self._passes], masks[affordable][:, self._fails]
        covered = on_pass @ self._pass_cost
        rejected = self._all_fails - on_fail @ self._fail_cost
        kept = np.flatnonzero(
            (covered >= costs) & (rejected >= costs) & on_pass.any(axis=1) & ~on_fail.all(axis=1)
        )
        if not len(kept):
            return
        totals = costs[kept] + (self._all_passes - covered[kept]) + (self._all_fails - rejected[kept])
        self.best_single = min(self.best_single, int(totals.min()))
        packed = np.concatenate([pack(on_pass[kept]), pack(on_fail[kept])], axis=1)
        costs, kept = costs[kept], affordable[kept]
        for row, i, cost in zip(packed, kept.tolist(), costs.tolist(), strict=True):
            key = row.tobytes()
            known = self.entries.get(key)
            if known is None or cost < known[0]:
                self.entries[key] = (cost, [make(i)])
            elif cost == known[0] and len(known[1]) < self.KEPT_TIES:
                known[1].append(make(i))

    def keep_most_separating(self, count: int, above: int) -> None:
        """Of the literals that cost more than `above`, keep the `count` most telling columns.

        Telling is covering passes and rejecting fails, in three mixtures, so that narrow and
        wide literals both stay.
        """
        dear = [(key, cost) for key, (cost, _) in self.entries.items() if cost > above]
        if len(dear) <= count:
            return
        dear.sort(key=lambda entry: (entry[1], entry[0]))
        bits = np.frombuffer(b"".join(key for key, _ in dear), np.uint8).reshape(len(dear), -1)
        on = np.unpackbits(bits, axis=1, bitorder="little")
        words = (len(self._passes) + 63) // 64 * 64
        covered = on[:, : len(self._passes)] @ self._pass_cost / self._pass_cost.sum()
        admitted = on[:, words : words + len(self._fail_cost)] @ self._fail_cost / self._fail_cost.sum()
        kept: set[int] = set()
        for weight_pass, weight_fail in ((1.0, 1.0), (1.0, 4.0), (4.0, 1.0)):
            ranked = np.argsort(weight_fail * admitted - weight_pass * covered, kind="stable")
            kept.update(ranked[: count // 3].tolist())
        for index, (key, _) in enumerate(dear):
            if index not in kept:
                del self.entries[key]

    def table(self, most: int) -> Table:
        """The literals that cost at most `most`, by cost."""
        rows = []
        for key, (cost, literals) in self.entries.items():
            if cost <= most:
                ranked = sorted(literals, key=preference) if len(literals) > 1 else literals
                rows.append((cost, key, tuple(ranked)))
        rows.sort(key=lambda row: row[:2])
        words = (len(self._passes) + 63) // 64
        bits = np.frombuffer(b"".join(row[1] for row in rows), np.uint64).reshape(len(rows), -1)
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
    passing : ndarray of bool, (scenes,)
    penalties : Penalties
    deadline : float
        A reading of `time.monotonic` at which to give up.
    """

    def __init__(
        self,
        root: Scope,
        cost: DescriptionLength,
        passing: Mask,
        penalties: Penalties,
        max_where: int,
        deadline: float,
    ) -> None:
        self.root = root
        self.tests = PathTests(cost)
        self.passing, self.penalties = passing, penalties
        self.max_where, self.deadline = max_where, deadline

    def complete(self, cap: int, cells: float, max_columns: int) -> LiteralPool | None:
        """Every literal about a scene that costs at most `cap`, or None when that is too many.

        `cells` is an allowance in truth-table cells, a deterministic measure of effort, and
        `max_columns` the most distinct columns.
        """
        pool = LiteralPool(self.passing, self.penalties, cap)
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
            return None
        return pool

    def about_paths(self, cap: int) -> LiteralPool:
        """The literals about paths of the scene alone, without finds and counts."""
        pool = LiteralPool(self.passing, self.penalties, cap)
        self._about_paths(pool, Allowance(math.inf, math.inf))
        return pool

    def dearest(self) -> int | None:
        """The most a literal can cost; None where collections leave that open."""
        if self.root.children:
            return None
        costs = [candidate.cost for candidate in self.tests.of(self.root)]
        costs += [int(direction.gap_cost.max()) for direction in self.tests.directions(self.root)]
        return max(costs, default=0)

    def extend(self, pool: LiteralPool, cap: int, literal_cap: int, cells: float) -> None:
        """Add finds and counts of up to `cap` to the pool by beam search, as far as `cells` go."""
        pool.cap = cap
        for child in self.root.children.values():
            allowance = Allowance(cells / len(self.root.children), self.deadline)
            beam = Beam(self.root, child, self.tests, cap, self.max_where, pool, self.penalties, allowance)
            beam.literal_cap = literal_cap
            with contextlib.suppress(WorkExceededError):
                beam.run()

    def _about_paths(self, pool: LiteralPool, allowance: Allowance) -> None:
        rows = len(self.root.rows)
        candidates = [c for c in self.tests.of(self.root) if c.cost <= pool.cap]
        for start in range(0, len(candidates), 1024):
            batch = candidates[start : start + 1024]
            allowance.spend(len(batch) * rows)
            masks, costs = stack(batch, rows)
            pool.add(masks, costs, partial(_literal, batch))
        for direction in self.tests.directions(self.root):
            found = cuts(direction.ranks, direction, pool.cap, self.penalties)
            allowance.spend(len(found.rank) * rows)
            truth = direction.ranks[None, :] >= found.rank[:, None]
            pool.add(truth, found.cost, partial(direction.cut, found))


def _literal(candidates: list[Candidate], i: int) -> Literal:
    return candidates[i].literal


def pack(masks: Mask) -> NDArray[np.uint8]:
    """Rows of booleans as whole 64-bit words, lowest bit first: uint8 (n, 8 * words)."""
    packed = np.packbits(masks, axis=1, bitorder="little")
    padded = np.zeros((len(masks), (masks.shape[1] + 63) // 64 * 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded

"""The pool of candidate literals: one column of the truth table for each distinct verdict.

Literals that agree on every scene are one column; the cheapest is said. Literals that could
not pay for themselves are left out (see `LiteralPool`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from induce.costs import DescriptionLength
from induce.grammar import Grammar
from induce.literals import Literal, preference
from induce.profile import Scope
from induce.proposers.beam import Beam
from induce.proposers.collection import Allowance, WorkExceeded, propose_collection
from induce.proposers.comparison import Penalties, cuts, directions, equalities
from induce.proposers.presence import presence
from induce.proposers.rows import Mask, stack
from induce.proposers.text import substrings


class Entry(NamedTuple):
    cost: int
    literals: tuple[Literal, ...]
    """Literals of this cost and truth, the preferred one first."""


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
        self._all_fails = float(self._fail_cost.sum())
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

    def table(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64], list[Entry]]:
        """Packed truth (n, words) on passing and on failing scenes, and the entries, by cost."""
        rows = []
        for key, (cost, literals) in self.entries.items():
            ranked = sorted(literals, key=preference) if len(literals) > 1 else literals
            rows.append((cost, key, Entry(cost, tuple(ranked))))
        rows.sort(key=lambda row: row[:2])
        words = (len(self._passes) + 63) // 64
        bits = np.frombuffer(b"".join(row[1] for row in rows), np.uint64)
        matrix = bits.reshape(len(rows), -1)
        return matrix[:, :words].copy(), matrix[:, words:].copy(), [row[2] for row in rows]


def extend_best_first(
    pool: LiteralPool,
    root: Scope,
    cost: DescriptionLength,
    *,
    cap: int,
    literal_cap: int,
    max_where: int,
    work: float,
    deadline: float,
) -> None:
    """Add finds and counts of up to `cap` to the pool by beam search, as far as `work` goes."""
    pool.cap = cap
    for child in root.children.values():
        allowance = Allowance(work / len(root.children), deadline)
        beam = Beam(root, child, cost, cap, max_where, pool, pool.penalties, allowance)
        beam.literal_cap = literal_cap
        with contextlib.suppress(WorkExceeded):
            beam.run()


def pack(masks: Mask) -> NDArray[np.uint8]:
    """Rows of booleans as whole 64-bit words, lowest bit first: uint8 (n, 8 * words)."""
    packed = np.packbits(masks, axis=1, bitorder="little")
    padded = np.zeros((len(masks), (masks.shape[1] + 63) // 64 * 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded


def propose(
    root: Scope,
    cost: DescriptionLength,
    passing: Mask,
    penalties: Penalties,
    *,
    cap: int,
    max_where: int,
    work: float,
    deadline: float,
    max_columns: int,
) -> LiteralPool | None:
    """Every literal about a scene that costs at most `cap`, or None when that is too many.

    Parameters
    ----------
    work : float
        Allowance in truth-table cells, a deterministic measure of effort.
    deadline : float
        A reading of `time.monotonic` at which to give up.
    max_columns : int
        The most distinct columns.
    """
    pool = LiteralPool(passing, penalties, cap)
    allowance = Allowance(work, deadline)
    try:
        for family in (equalities, presence, substrings):
            candidates = [c for c in family(root, cost) if c.cost <= cap]
            for start in range(0, len(candidates), 4096):
                batch = candidates[start : start + 4096]
                masks, costs = stack(batch, len(root.rows))
                pool.add(masks, costs, lambda i, batch=batch: batch[i].literal)
        for direction in directions(root, cost):
            found = cuts(direction.ranks, direction, cap, penalties)
            truth = direction.ranks[None, :] >= found.rank[:, None]
            pool.add(
                truth,
                found.cost,
                lambda i, d=direction, f=found: d.literal(int(f.below[i]), int(f.rank[i])),
            )
        for child in root.children.values():
            propose_collection(root, child, cost, cap, max_where, pool, penalties, allowance)
            if len(pool.entries) > max_columns:
                return None
    except WorkExceeded:
        return None
    return pool


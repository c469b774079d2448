"""The pool of candidate literals: one column of the truth table for each distinct verdict.

Literals that agree on every scene are one column; the cheapest is said. Literals that could
not pay for themselves are left out (see `LiteralPool`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from induce.literals import Literal
from induce.proposers.collection import BATCH_CELLS
from induce.proposers.comparison import Penalties
from induce.proposers.rows import Mask

LEAST_TELLING = 0.02
DECIMALS = 9
"""To which that is rounded, for the order of a sum to decide nothing."""
CROWD = 2
"""So many times the columns that are to stay come in before the least telling go."""


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
    """

    KEPT_TIES = 32

    def __init__(self, passes: int, penalties: Penalties, cap: int) -> None:
        self.passes, self.penalties = passes, penalties
        self.cap = cap
        self._widened, self._pruned = False, False
        self._above, self._most, self._crowded = 0, 0, 0
        self._least_telling = np.full(3, LEAST_TELLING)
        self._pass_cost = penalties.passing[:passes]
        self._fail_cost = penalties.failing[passes:]
        self._all_passes, self._all_fails = float(self._pass_cost.sum()), float(self._fail_cost.sum())
        self._entries: dict[bytes, Entry] = {}
        self._waiting: list[tuple[Mask, NDArray[np.int64], Callable[[int], Literal]]] = []
        self._waiting_cells = 0

    @property
    def entries(self) -> dict[bytes, Entry]:
        """The columns by what packed truth they have."""
        if self._waiting:
            self._take_in()
        return self._entries

    def add(self, masks: Mask, costs: NDArray[np.int64], make: Callable[[int], Literal]) -> None:
        """Take in the literals `make(i)` with truth (n, scenes) and costs (n,), many calls at once."""
        self._waiting.append((masks, costs, make))
        self._waiting_cells += masks.size
        if self._waiting_cells >= BATCH_CELLS:
            self._take_in()

    def _take_in(self) -> None:
        """Look at all that was added."""
        batches, self._waiting, self._waiting_cells = self._waiting, [], 0
        masks = np.concatenate([batch[0] for batch in batches])
        costs = np.concatenate([batch[1] for batch in batches])
        ends = np.cumsum([len(batch[1]) for batch in batches])
        at = np.flatnonzero(costs <= self.cap)
        if len(at) < len(costs):
            masks, costs = masks[at], costs[at]
        on_pass, on_fail = masks[:, : self.passes], masks[:, self.passes :]
        covered = on_pass @ self._pass_cost
        rejected = self._all_fails - on_fail @ self._fail_cost
        keep = (covered + 1 >= costs) & (rejected + 1 >= costs) & on_pass.any(axis=1) & ~on_fail.all(axis=1)
        if self._widened:
            telling = self._telling(covered, rejected) >= self._least_telling[:, None]
            keep &= (costs <= self._above) | telling.any(axis=0)
        kept = np.flatnonzero(keep)
        at, costs, covered, rejected = at[kept], costs[kept], covered[kept], rejected[kept]
        batch = np.searchsorted(ends, at, side="right")
        row = at - np.concatenate([[0], ends])[batch]
        packed = np.concatenate([pack(on_pass[kept]), pack(on_fail[kept])], axis=1)
        entries = self._entries
        for key, cost, passing, failing, one, i in zip(
            map(bytes, packed),
            costs.tolist(),
            covered.tolist(),
            rejected.tolist(),
            batch.tolist(),
            row.tolist(),
            strict=True,
        ):
            known = entries.get(key)
            if known is None or cost < known.cost:
                entries[key] = Entry(cost, [batches[one][2](i)], passing, failing)
            elif cost == known.cost and len(known.literals) < self.KEPT_TIES:
                known.literals.append(batches[one][2](i))
        if self._widened and len(entries) > self._crowded:
            self.keep_most_telling()
            self._crowded = len(entries) + CROWD * self._most

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

    def widen(self, cap: int, above: int, most: int) -> None:
        """From now on take in literals up to `cap`, but of those above some cost only the most telling.

        About `most` columns of them stay; heuristic.
        """
        if self._waiting:
            self._take_in()
        self._widened, self.cap, self._above, self._most = True, cap, above, most

    def _telling(self, covered: NDArray[np.float64], rejected: NDArray[np.float64]) -> NDArray[np.float64]:
        """How telling columns are, (3, n): Youden's J, and two mixtures that favour narrow and wide ones."""
        coverage, false_alarms = covered / self._all_passes, 1 - rejected / self._all_fails
        telling = [
            coverage - false_alarms,
            coverage - 4 * false_alarms,
            4 * coverage - false_alarms - 3,
        ]
        return np.array(telling).round(DECIMALS)

    def keep_most_telling(self) -> None:
        """Of the literals that `widen` let in, keep the most telling columns; others must tell as much."""
        dear = [(entry.cost, key) for key, entry in self.entries.items() if entry.cost > self._above]
        if len(dear) <= self._most and not self._pruned:
            return
        self._pruned = True
        dear.sort()
        covered = np.array([self._entries[key].covered for _, key in dear])
        rejected = np.array([self._entries[key].rejected for _, key in dear])
        telling = self._telling(covered, rejected)
        best = np.argsort(-telling, axis=1, kind="stable")[:, : self._most // 3]
        self._least_telling = np.take_along_axis(telling, best, axis=1).min(axis=1, initial=np.inf)
        for index in set(range(len(dear))).difference(best.ravel().tolist()):
            del self._entries[dear[index][1]]

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


def pack(masks: Mask) -> NDArray[np.uint8]:
    """Rows of booleans as whole 64-bit words, lowest bit first: uint8 (n, 8 * words)."""
    packed = np.packbits(masks, axis=1, bitorder="little")
    padded = np.zeros((len(masks), (masks.shape[1] + 63) // 64 * 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded

"""Candidate literals as truth columns over the rows of one scope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from induce.literals import Literal

Mask = NDArray[np.bool_]


class Candidate:
    """A literal with its truth over the rows of its scope, its cost and the path it tests.

    The truth may be given as a function that makes it, where there are more candidates than memory has room
    for their truth; it is made anew each time.
    """

    __slots__ = ("_mask", "cost", "literal", "path")

    def __init__(
        self, literal: Literal, mask: Mask | Callable[[], Mask], cost: int, path: str | None
    ) -> None:
        self.literal, self.cost, self.path = literal, cost, path
        self._mask = mask

    @property
    def mask(self) -> Mask:
        return self._mask() if callable(self._mask) else self._mask


class Sink(Protocol):
    """Where proposers put what they find."""

    def add(self, masks: Mask, costs: NDArray[np.int64], make: Callable[[int], Literal]) -> None:
        """Take literals with truth `masks` (n, rows); ``make(i)`` says the i-th."""


class CheapestByTruth:
    """A sink that keeps, for equal truth over the rows, the cheapest literal."""

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self._best: dict[bytes, Candidate] = {}

    def add(self, masks: Mask, costs: NDArray[np.int64], make: Callable[[int], Literal]) -> None:
        packed = np.packbits(masks, axis=1)
        for i in np.flatnonzero(costs <= self.cap):
            key = packed[i].tobytes()
            known = self._best.get(key)
            if known is None or costs[i] < known.cost:
                self._best[key] = Candidate(make(int(i)), masks[i], int(costs[i]), None)

    def candidates(self) -> list[Candidate]:
        return sorted(self._best.values(), key=lambda c: c.cost)


def stack(candidates: Sequence[Candidate], rows: int) -> tuple[Mask, NDArray[np.int64]]:
    """The masks (n, rows) and costs (n,) of candidates."""
    masks = np.array([c.mask for c in candidates], np.bool_).reshape(len(candidates), rows)
    return masks, np.array([c.cost for c in candidates], np.int64)

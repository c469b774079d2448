"""Terms met by a search, and what they cover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from induce.search.bits import WORD, Bools, Ints, Words, unpack
from induce.search.table import Table

Members = tuple[int, ...]

PER_SCENE = 20


@dataclass
class Pool:
    """Distinct terms by what they cover, the cheapest of each, with their full coverage."""

    table: Table
    members: list[Members] = field(default_factory=list)
    _place: dict[bytes, int] = field(default_factory=dict)
    _key: list[tuple[int, int, Members]] = field(default_factory=list)
    _arrays: tuple[Words, Words, Ints] | None = None

    def add(self, terms: Sequence[Members]) -> None:
        if not terms:
            return
        passed, failed = covers(self.table, terms)
        for at, term in enumerate(terms):
            coverage = passed[:, at].tobytes() + failed[:, at].tobytes()
            key = (int(self.table.cost[list(term)].sum()), len(term), term)
            place = self._place.setdefault(coverage, len(self.members))
            if place == len(self.members):
                self.members.append(term)
                self._key.append(key)
            elif key < self._key[place]:
                self.members[place], self._key[place] = term, key
        self._arrays = None

    def arrays(self) -> tuple[Words, Words, Ints]:
        """Passing and failing coverage, uint64[W, m], and sizes, int64[m]."""
        if self._arrays is None:
            size = np.array([key[0] for key in self._key], dtype=np.int64)
            self._arrays = (*covers(self.table, self.members), size)
        return self._arrays


def covers(table: Table, terms: Sequence[Members]) -> tuple[Words, Words]:
    """Coverage of many terms: uint64[W, m] over passing and over failing scenes."""
    width = max(map(len, terms))
    padded = np.array([term + term[-1:] * (width - len(term)) for term in terms], dtype=np.intp)
    passed = table.passing.words[:, padded[:, 0]]
    failed = table.failing.words[:, padded[:, 0]]
    for place in range(1, width):
        passed &= table.passing.words[:, padded[:, place]]
        failed &= table.failing.words[:, padded[:, place]]
    return passed, failed


def sizes(table: Table, terms: Sequence[Members]) -> Ints:
    """Summed costs of the literals of each term."""
    return np.array([int(table.cost[list(term)].sum()) for term in terms], dtype=np.int64)


def passes(table: Table, passed: Words) -> Bools:
    """Coverage of passing scenes, uint64[W, m], as bool[m, 64 W]."""
    return unpack(np.ascontiguousarray(passed.T), len(table.passing.used) * WORD)


def best_per_scene(table: Table, terms: Sequence[Members], count: int = PER_SCENE) -> list[int]:
    """For each passing scene the ``count`` terms covering it of greatest net gain, their places in order.

    The best terms overall are near-copies of each other; the best for each scene differ.
    """
    passed, failed = covers(table, terms)
    value = table.passing.weigh(passed) - table.failing.weigh(failed) - sizes(table, terms)
    rank = np.argsort(-value, kind="stable")
    rows = passes(table, passed)[rank]
    chosen = np.any(rows & (rows.cumsum(axis=0) <= count), axis=1)
    found: list[int] = np.sort(rank[chosen]).tolist()
    return found

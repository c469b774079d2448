"""What the other terms of a hypothesis may be, where little is left for them.

All disjunctions of table terms whose sizes and fails fit a budget, by their number of terms. With them
the least that a hypothesis costs beside a part of one term is known exactly: the passes which that part
does not cover are covered by one of these disjunctions, or paid for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from induce.search.bits import Bools, Ints, pack, unpack
from induce.search.limits import Limits, PartEndedError
from induce.search.problem import SearchProblem
from induce.search.table import Table
from induce.search.terms import MinedTerms, Miner, Rest

MOST_DISJUNCTIONS, MOST_CELLS = 20_000, 2e7
"""Disjunctions, and scenes times disjunctions."""
MINING_NODES = 200_000
BLOCK = 1024


Level = tuple[Ints, Bools, Bools, Ints]


class TooManyError(Exception):
    """There are more disjunctions than it pays to list."""


@dataclass(frozen=True)
class Others:
    """m disjunctions: ``cost`` int64[m] of sizes and fails, ``passed`` bool[m, P], ``failed`` bool[m, F].

    ``terms`` int64[m] says of how many terms each is.
    """

    cost: Ints
    passed: Bools
    failed: Bools
    terms: Ints

    def take(self, at: Ints) -> Others:
        """Some of them."""
        return Others(self.cost[at], self.passed[at], self.failed[at], self.terms[at])

    def beside(self, penalty: Ints, open_pass: Bools) -> Ints:
        """What each costs with the passes of open_pass bool[k, P] that it does not cover: int64[k, m]."""
        missed = (open_pass * penalty.astype(np.float64)) @ (~self.passed).T.astype(np.float64)
        sums: Ints = (missed + self.cost).astype(np.int64)
        return sums


def disjunctions(problem: SearchProblem, table: Table, room: int, most_terms: int, limits: Limits) -> Others:
    """Those of up to ``most_terms`` terms, the empty one first; ``table`` is of the problem, scenes apart.

    Raises TooManyError.
    """
    listed = _Listed(problem, table, room, limits)
    parts = [listed.level, *(listed.next() for _ in range(most_terms))]
    size = np.concatenate([part[0] for part in parts])
    passed = np.concatenate([part[1] for part in parts])
    failed = np.concatenate([part[2] for part in parts])
    terms = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])
    return Others(size + failed @ problem.fail_penalty.astype(np.int64), passed, failed, terms)


class _Listed:
    def __init__(self, problem: SearchProblem, table: Table, room: int, limits: Limits) -> None:
        self.problem, self.table, self.room, self.limits = problem, table, room, limits
        self.pass_penalty = problem.pass_penalty.astype(np.int64)
        self.fail_penalty = problem.fail_penalty.astype(np.int64)
        scenes = len(self.pass_penalty) + len(self.fail_penalty)
        self.most = min(MOST_DISJUNCTIONS, MOST_CELLS / scenes)
        self.level: Level = (
            np.zeros(1, np.int64),
            np.zeros((1, len(self.pass_penalty)), np.bool_),
            np.zeros((1, len(self.fail_penalty)), np.bool_),
            np.zeros(1, np.int64),
        )
        """Sizes, passes and fails of the disjunctions so far, and the first term that may follow each."""

    def next(self) -> Level:
        """The disjunctions of one more term."""
        grown = [tuple(part[:0] for part in self.level)]
        sizes_of, passed_of, failed_of = self._terms
        count = 0
        for size, passed, failed, first in zip(*self.level, strict=True):
            self.limits.spend(1)
            at = slice(first, int(np.searchsorted(sizes_of, self.room - size, side="right")))
            wrong = (failed_of[at] | failed) @ self.fail_penalty
            fresh = (passed_of[at] & ~passed) @ self.pass_penalty
            kept = first + np.flatnonzero(
                (size + sizes_of[at] + wrong <= self.room) & (fresh >= sizes_of[at])
            )
            grown.append(
                (size + sizes_of[kept], passed | passed_of[kept], failed | failed_of[kept], kept + 1)
            )
            count += len(kept)
            if count > self.most:
                raise TooManyError
        sizes, covers, errors, after = zip(*grown, strict=True)
        self.level = (
            np.concatenate(sizes),
            np.concatenate(covers),
            np.concatenate(errors),
            np.concatenate(after),
        )
        return self.level

    @cached_property
    def _terms(self) -> tuple[Ints, Bools, Bools]:
        """Terms within the room, the smallest first, of which no other covers as much for as little."""
        mined: list[MinedTerms] = []
        count = 0

        def emit(found: MinedTerms) -> None:
            nonlocal count
            mined.append(found)
            count += len(found.size)
            if count > 10 * self.most:
                raise TooManyError

        miner = Miner(
            self.table,
            self.limits,
            self.table.passing.used,
            self.table.failing.used,
            lambda: self.room,
            Rest(0, slope=0),
            True,
            emit,
        )
        try:
            with self.limits.part(MINING_NODES):
                miner.run()
        except PartEndedError:
            raise TooManyError from None
        seen: dict[bytes, tuple[int, Bools, Bools]] = {}
        for found in mined:
            index = self.table.index[found.members]
            passing, failing = self.problem.passing[index], self.problem.failing[index]
            passed = unpack(np.bitwise_and.reduce(passing, axis=1), len(self.pass_penalty))
            failed = unpack(np.bitwise_and.reduce(failing, axis=1), len(self.fail_penalty))
            wrong = failed @ self.fail_penalty
            for at in np.flatnonzero(found.size + wrong <= self.room):
                key = np.packbits(passed[at]).tobytes() + np.packbits(failed[at]).tobytes()
                if key not in seen or found.size[at] < seen[key][0]:
                    seen[key] = int(found.size[at]), passed[at], failed[at]
        ranked = sorted(seen.values(), key=lambda term: term[0])
        size = np.array([term[0] for term in ranked], np.int64)
        passed = np.array([term[1] for term in ranked], np.bool_).reshape(-1, len(self.pass_penalty))
        failed = np.array([term[2] for term in ranked], np.bool_).reshape(-1, len(self.fail_penalty))
        kept = self._undominated(~passed, failed)
        return size[kept], passed[kept], failed[kept]

    def _undominated(self, missed: Bools, wrong: Bools) -> Ints:
        """Rows than which no earlier row misses less and errs less; raises TooManyError."""
        from induce.search.dominance import keep_minimal  # loads Numba

        rows = np.concatenate([pack(missed), pack(wrong)], axis=1)
        kept, number = np.empty(int(self.most) + 1, np.int64), 0
        for first in range(0, len(rows), BLOCK):
            self.limits.check()
            number = keep_minimal(rows, first, min(first + BLOCK, len(rows)), kept, number)
            if number == len(kept):
                raise TooManyError
        return kept[:number]

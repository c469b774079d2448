"""The truth table as the search reads it: word-major columns whose words carry weights.

A penalty-weighted count over scenes is the commonest question of the search. Scenes are therefore
laid out so that all bits of a word weigh the same: a weighted count is then a population count a
word times the word's weight. Scenes of equal penalty share words; where penalties differ too much
for that, a scene takes one bit for each binary digit of its penalty instead. Either way a scene's
penalty is the sum of the weights of its bits, and set operations act on all of them alike.

Building the table is exact. Scenes without a penalty go. Literals with equal columns merge into
the cheapest, then the lowest. Scenes with equal columns and label merge, their penalties added.
Where equal columns stand under both labels, every hypothesis pays at least the smaller penalty:
that part moves to ``offset``. Scenes are sorted by their columns, so that their order in the
input cannot matter.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from induce.search.bits import WORD, Bools, Ints, Words, pack, unpack
from induce.search.problem import Hypothesis, SearchProblem, canonical

BLOCK = 2048

Indices = NDArray[np.intp]


class _Scratch(threading.local):
    """Buffers kept between calls: fresh pages cost more than the arithmetic done in them."""

    def __init__(self) -> None:
        self._size = 0

    def arrays(self, shape: tuple[int, int]) -> tuple[Words, NDArray[np.uint8], NDArray[np.uint32]]:
        size = shape[0] * shape[1]
        if size > self._size:
            self._size = size
            self._meet = np.empty(size, dtype=np.uint64)
            self._count = np.empty(size, dtype=np.uint8)
            self._tally = np.empty(size, dtype=np.uint32)
        return (
            self._meet[:size].reshape(shape),
            self._count[:size].reshape(shape),
            self._tally[:size].reshape(shape),
        )


_SCRATCH = _Scratch()


@dataclass(frozen=True)
class Side:
    """Columns over the scenes of one label.

    ``words`` uint64[W, n], ``used`` uint64[W] (bits that stand for a scene), ``runs``: word ranges
    ``(start, stop, weight of each bit)``, and ``scenes`` int[64 W]: the scene of the problem that each
    bit stands for, the first of those merged, -1 for none.
    """

    words: Words
    used: Words
    runs: tuple[tuple[int, int, int], ...]
    scenes: Indices

    @cached_property
    def by_literal(self) -> Words:
        """The columns as rows, uint64[n, W]."""
        return np.ascontiguousarray(self.words.T)

    @cached_property
    def word_weights(self) -> Ints:
        """Weight of each bit of a word, int64[W]."""
        return np.array([weight for start, stop, weight in self.runs for _ in range(start, stop)], np.int64)

    def weigh(self, bits: Words) -> Ints:
        """Weighted counts of uint64[W, ...] along its words."""
        out = np.zeros(bits.shape[1:], dtype=np.int64)
        for start, stop, weight in self.runs:
            tally = np.bitwise_count(bits[start]).astype(np.int64)
            for word in range(start + 1, stop):
                tally += np.bitwise_count(bits[word])
            out += tally * weight
        return out

    def weight_of(self, bits: Words) -> int:
        """Weighted count of one vector uint64[W]."""
        return int(self.weigh(bits[:, None])[0])

    def cross(self, rows: Words, columns: Words) -> Ints:
        """Weighted counts of all intersections of uint64[W, b] with uint64[W, n]: int64[b, n]."""
        shape = (rows.shape[1], columns.shape[1])
        meet, count, tally = _SCRATCH.arrays(shape)
        out = np.zeros(shape, dtype=np.int64) if len(self.runs) != 1 else np.empty(shape, dtype=np.int64)
        for start, stop, weight in self.runs:
            tally[...] = 0
            for word in range(start, stop):
                np.bitwise_and(rows[word][:, None], columns[word][None, :], out=meet)
                np.bitwise_count(meet, out=count)
                np.add(tally, count, out=tally)
            if len(self.runs) == 1:
                np.multiply(tally, np.int64(weight), out=out)
            else:
                np.multiply(tally, np.int64(weight), out=meet.view(np.int64))
                np.add(out, meet.view(np.int64), out=out)
        return out

    def bit_weights(self) -> Ints:
        """Weight of each bit, int64[64 W]; 0 where no scene is."""
        weights = np.zeros(len(self.used) * WORD, dtype=np.int64)
        for start, stop, weight in self.runs:
            weights[start * WORD : stop * WORD] = weight
        return np.where(unpack(self.used[None, :], len(weights))[0], weights, 0)

    def select(self, literals: Indices) -> Side:
        return replace(self, words=np.ascontiguousarray(self.words[:, literals]))


@dataclass(frozen=True)
class Table:
    """A search problem made ready: literal ``j`` here is ``index[j]`` of the problem.

    ``cost`` int64[n] includes one join each, so a hypothesis costs the sum of its literals' costs
    plus penalties plus ``offset`` (which takes back the one join too many).
    """

    passing: Side
    failing: Side
    cost: Ints
    index: Ints
    offset: int
    max_terms: int
    max_literals: int

    @property
    def literals(self) -> int:
        return len(self.cost)

    @cached_property
    def by_cost(self) -> Ints:
        """The literals, the cheapest first."""
        return np.argsort(self.cost, kind="stable").astype(np.int64)

    def select(self, literals: Indices) -> Table:
        """The table of some of the literals, given in ascending order."""
        return replace(
            self,
            passing=self.passing.select(literals),
            failing=self.failing.select(literals),
            cost=self.cost[literals],
            index=self.index[literals],
        )

    def original(self, terms: Iterable[Iterable[int]]) -> Hypothesis:
        """The hypothesis in the problem's own literal numbers."""
        return canonical([int(self.index[literal]) for literal in term] for term in terms)

    def cover(self, term: Iterable[int]) -> tuple[Words, Words]:
        """Passing and failing bits on which all literals of the term are true."""
        rows = list(term)
        return (
            np.bitwise_and.reduce(self.passing.words[:, rows], axis=1),
            np.bitwise_and.reduce(self.failing.words[:, rows], axis=1),
        )

    def total(self, terms: Iterable[Iterable[int]]) -> int:
        """Objective of a hypothesis in this table's literal numbers."""
        passed = np.zeros_like(self.passing.used)
        failed = np.zeros_like(self.failing.used)
        size = 0
        for term in terms:
            term = tuple(term)
            term_pass, term_fail = self.cover(term)
            passed |= term_pass
            failed |= term_fail
            size += int(self.cost[list(term)].sum())
        missed = self.passing.used & ~passed
        return self.offset + size + self.passing.weight_of(missed) + self.failing.weight_of(failed)


def _distinct_rows(rows: NDArray[np.uint8]) -> tuple[Indices, Indices]:
    """First occurrence of each distinct row in sorted order, and each row's class."""
    if rows.shape[1] == 0:
        return np.zeros(1, dtype=np.intp), np.zeros(len(rows), dtype=np.intp)
    keys = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1])))[:, 0]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first.astype(np.intp), inverse.reshape(-1).astype(np.intp)


def _scene_columns(words: Words, literals: Indices, scenes: int) -> NDArray[np.uint8]:
    """One packed row a scene over the given literals: uint8[scenes, ceil(n / 8)]."""
    parts = [
        np.packbits(unpack(words[literals[start : start + BLOCK]], scenes).T, axis=1)
        for start in range(0, len(literals), BLOCK)
    ]
    return np.concatenate(parts, axis=1)


def _merge_scenes(columns: NDArray[np.uint8], penalty: Ints) -> tuple[dict[bytes, int], Indices, Ints]:
    """Distinct scene columns in sorted order with their first scene and summed penalty."""
    if len(penalty) == 0:
        return {}, np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.int64)
    first, classes = _distinct_rows(columns)
    summed = np.zeros(len(first), dtype=np.int64)
    np.add.at(summed, classes, penalty)
    return {columns[scene].tobytes(): place for place, scene in enumerate(first)}, first, summed


def _lay_out(
    words: Words, literals: Indices, scenes: int, chosen: Indices, penalty: Ints, unit: int = 1
) -> Side:
    """Columns of the chosen scenes, by equal penalty or by binary digit, whichever takes fewer words.

    Penalties count in units of ``unit``.
    """
    by_value = [(int(value), np.flatnonzero(penalty == value)) for value in np.unique(penalty)]
    digits = range(int(penalty.max()).bit_length()) if len(penalty) else range(0)
    by_digit = [(1 << digit, np.flatnonzero(penalty >> digit & 1)) for digit in digits]
    by_digit = [(weight, places) for weight, places in by_digit if len(places)]
    groups = min((by_value, by_digit), key=lambda g: sum(-(-len(places) // WORD) for _, places in g))
    slots: list[int] = []
    runs: list[tuple[int, int, int]] = []
    for weight, places in groups:
        start = len(slots) // WORD
        slots.extend(int(scene) for scene in chosen[places])
        slots.extend([-1] * (-len(slots) % WORD))
        runs.append((start, len(slots) // WORD, weight * unit))
    slot = np.asarray(slots, dtype=np.intp)
    used: Bools = slot >= 0
    out = np.zeros((len(slot) // WORD, len(literals)), dtype=np.uint64)
    for start in range(0, len(literals), BLOCK):
        block = unpack(words[literals[start : start + BLOCK]], scenes)
        out[:, start : start + BLOCK] = pack(block[:, slot] & used).T if len(slot) else 0
    return Side(out, pack(used[None, :])[0], tuple(runs), slot)


def reweigh(side: Side, bits: Indices, weight: Ints, unit: int) -> Side:
    """The same columns with other weights: ``unit * weight[k]`` for bit ``bits[k]``, 0 for all others."""
    literals = np.arange(side.words.shape[1])
    kept = weight > 0
    rows = np.ascontiguousarray(side.words.T)
    laid = _lay_out(rows, literals, len(side.used) * WORD, bits[kept], weight[kept], unit)
    return replace(laid, scenes=np.where(laid.scenes < 0, -1, side.scenes[laid.scenes]))


def build_table(problem: SearchProblem, *, apart: bool = False) -> Table:
    """Merge what is equal and lay the rest out; nothing is lost that an optimum could need.

    Merging literals keeps the preferred optimum: replacing a literal by an equal one that is
    cheaper, or equally cheap and lower, never worsens cost or preference. With ``apart`` scenes are
    not merged, nor their penalties settled, for where further literals may tell them apart.
    """
    pass_scenes = np.flatnonzero(problem.pass_penalty > 0)
    fail_scenes = np.flatnonzero(problem.fail_penalty > 0)
    pass_mask = pack(problem.pass_penalty[None, :] > 0)
    fail_mask = pack(problem.fail_penalty[None, :] > 0)
    passing, failing = problem.passing & pass_mask, problem.failing & fail_mask

    order = np.argsort(problem.cost, kind="stable")
    rows = np.concatenate([passing, failing], axis=1)[order].view(np.uint8)
    first, _ = _distinct_rows(rows)
    literals = np.sort(order[first])

    n_pass, n_fail = len(problem.pass_penalty), len(problem.fail_penalty)
    pass_sum = problem.pass_penalty[pass_scenes].astype(np.int64)
    fail_sum = problem.fail_penalty[fail_scenes].astype(np.int64)
    offset = -problem.join_cost
    if not apart:
        pass_columns = _scene_columns(passing, literals, n_pass)[pass_scenes]
        fail_columns = _scene_columns(failing, literals, n_fail)[fail_scenes]
        pass_place, pass_first, pass_sum = _merge_scenes(pass_columns, pass_sum)
        fail_place, fail_first, fail_sum = _merge_scenes(fail_columns, fail_sum)
        for column, place in pass_place.items():
            other = fail_place.get(column)
            if other is not None:
                shared = min(int(pass_sum[place]), int(fail_sum[other]))
                pass_sum[place] -= shared
                fail_sum[other] -= shared
                offset += shared
        pass_scenes, fail_scenes = pass_scenes[pass_first], fail_scenes[fail_first]
    left_pass, left_fail = np.flatnonzero(pass_sum > 0), np.flatnonzero(fail_sum > 0)
    return Table(
        passing=_lay_out(passing, literals, n_pass, pass_scenes[left_pass], pass_sum[left_pass]),
        failing=_lay_out(failing, literals, n_fail, fail_scenes[left_fail], fail_sum[left_fail]),
        cost=problem.cost[literals].astype(np.int64) + problem.join_cost,
        index=literals.astype(np.int64),
        offset=offset,
        max_terms=problem.max_terms,
        max_literals=problem.max_literals,
    )

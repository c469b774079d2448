"""Value sets: which alternatives on one path the grammar holds, read off the labelled examples.

A path with n values has 2**n sets of them, so the grammar names the candidates, as it does for
numbers and substrings: on a path with few values all sets, else those that a beam finds (see
`induce.set_beam`), among all rows of the scope and among the rows that another telling test of
the scope leaves. Of the tools that the steps of a trace name, the classes are candidates as well
(see `induce.tool_sets`). The candidates depend on nothing but the examples and the grammar, so what is
proved over the grammar is proved over them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from induce.column import Column, is_number
from induce.examples import Examples, evenly
from induce.grammar import Grammar
from induce.profile import Scope
from induce.set_beam import Codes, CountParts, Judges, Mask, MaskParts, beam, best_of_each_size, most_telling
from induce.tool_sets import ToolSets

JUDGED = 1000
"""Scenes of each label that sets are judged by, at most."""
EXHAUSTED = 5
"""Values of a path up to which every set is a candidate."""
CODES = 12
"""Distinct whole numbers up to which they are taken for codes, of which sets make sense."""
FIRST = 40
"""Values, or words, of one path that can be in a set, the most telling first."""
CONTEXTS, WORD_CONTEXTS = 8, 3
"""Tests of a scope among whose rows sets of values, and of words, are looked for."""
MOST_CONTEXTS = 200
"""Tests of a scope, the most telling, of which those are taken that differ."""
ALIKE = 2
"""Such tests of one path."""
REPEATED = 4
"""How often each value of a path occurs in the mean, if it has many and they are no names of rows."""
KEPT, KEPT_WORDS = 12, 4
"""Candidate sets of one path and one size."""


class Rows(NamedTuple):
    """Rows of a scope that sets are judged by, and the scene of each, counted among the judged ones."""

    rows: NDArray[np.int64]
    scenes: NDArray[np.int64]


class Context(NamedTuple):
    """A test of a scope by the judged rows it leaves, how telling it is, and the path it speaks of."""

    score: float
    path: str
    mask: Mask


class ValueSets:
    """Candidate sets for each path of each scope of one profile, found when first asked for."""

    def __init__(self, root: Scope, grammar: Grammar, examples: Examples) -> None:
        self.most = grammar.max_set
        self.tools = ToolSets.of(root, grammar) if grammar.max_set > 1 else None
        weights = np.array(examples.weights, np.float64)
        judged = evenly(np.flatnonzero(examples.labels & (weights > 0)), JUDGED)
        judged = np.concatenate([judged, evenly(np.flatnonzero(~examples.labels & (weights > 0)), JUDGED)])
        self._judges = Judges.of(examples.labels[judged], weights[judged])
        self._rows: dict[int, Rows] = {}
        place = np.full(len(weights), -1, np.int64)
        place[judged] = np.arange(len(judged))
        self._place(root, place)
        self._values: dict[int, dict[Codes, None]] = {}
        self._words: dict[tuple[int, bool], dict[Codes, None]] = {}
        self._plain: dict[int, dict[Codes, float]] = {}
        self._contexts: dict[int, list[Context]] = {}

    def _place(self, scope: Scope, scenes: NDArray[np.int64]) -> None:
        rows = np.flatnonzero(scenes >= 0)
        self._rows[id(scope)] = Rows(rows, scenes[rows])
        for child in scope.children.values():
            self._place(child, scenes[child.owner])

    def of_values(self, scope: Scope, column: Column) -> dict[Codes, None]:
        """The candidate sets of codes of `column`, each ascending."""
        if id(column) not in self._values:
            found = self._find_values(scope, column)
            if self.tools is not None and column is self.tools.column:
                found |= self.tools.classes
            self._values[id(column)] = found
        return self._values[id(column)]

    def _find_values(self, scope: Scope, column: Column) -> dict[Codes, None]:
        codes = choosable(column)
        most = min(self.most, len(column.distinct) - 1)
        if most < 2:
            return {}
        if len(codes) <= EXHAUSTED:
            return dict.fromkeys(
                chosen for size in range(2, most + 1) for chosen in combinations(codes, size)
            )
        found = dict(self._without_context(scope, column))
        for context in self._telling_elsewhere(scope, column.path)[:CONTEXTS]:
            parts = self._counts(scope, column, self._first(scope, column), context.mask)
            _take(found, beam(parts, self._judges.even, most, both=scope.depth > 0))
        return dict.fromkeys(best_of_each_size(found, KEPT))

    def _without_context(self, scope: Scope, column: Column) -> dict[Codes, float]:
        if id(column) not in self._plain:
            codes = self._first(scope, column)
            most = min(self.most, len(column.distinct) - 1)
            parts = self._counts(scope, column, codes, None)
            self._plain[id(column)] = beam(parts, self._judges.all, most, both=scope.depth > 0)
        return self._plain[id(column)]

    def of_words(
        self, scope: Scope, column: Column, words: Iterable[str], ignore_case: bool
    ) -> dict[Codes, None]:
        """The candidate sets of positions in `words`, each ascending."""
        key = (id(column), ignore_case)
        if key not in self._words:
            self._words[key] = self._find_words(scope, column, tuple(words), ignore_case)
        return self._words[key]

    def _find_words(
        self, scope: Scope, column: Column, words: tuple[str, ...], ignore_case: bool
    ) -> dict[Codes, None]:
        if len(words) < 2 or self.most < 2 or column.kind != "plain" or column.identifier_like:
            return {}
        (at, scenes), both = self._rows[id(scope)], scope.depth > 0
        truth = np.array([holding(column, (word,), ignore_case)[at] for word in words])
        everywhere = np.ones(len(scenes), np.bool_)
        chosen = self._telling_words(truth, scenes, everywhere)
        elsewhere = self._telling_elsewhere(scope, column.path)[:WORD_CONTEXTS]
        looked_at = [(everywhere, chosen), *((context.mask, chosen) for context in elsewhere)]
        if self.tools is not None and scope is self.tools.scope:
            acting = np.isin(self.tools.column.codes[at], self.tools.acting)
            looked_at.append((acting, self._telling_words(truth, scenes, acting)))
        found: dict[Codes, float] = {}
        for rows, words_there in looked_at:
            there = truth[words_there][:, rows]
            parts = MaskParts(there, tuple(words_there), scenes[rows], self._judges.scenes)
            _take(found, beam(parts, self._judges.even, self.most, both=both))
        return dict.fromkeys(best_of_each_size(found, KEPT_WORDS))

    def _telling_words(self, truth: Mask, scenes: NDArray[np.int64], rows: Mask) -> list[int]:
        """The words that tell the most by themselves, among some rows."""
        parts = MaskParts(truth[:, rows], tuple(range(len(truth))), scenes[rows], self._judges.scenes)
        return most_telling(parts, FIRST, self._judges.even)

    def _first(self, scope: Scope, column: Column) -> Codes:
        codes = choosable(column)
        if len(codes) <= FIRST:
            return codes
        parts = self._counts(scope, column, codes, None)
        return tuple(codes[i] for i in most_telling(parts, FIRST, self._judges.even))

    def _counts(self, scope: Scope, column: Column, codes: Codes, mask: Mask | None) -> CountParts:
        """How many rows of each scene hold each of `codes`, among the rows of `mask`."""
        rows, scenes = self._rows[id(scope)]
        held = column.codes[rows]
        if mask is not None:
            scenes, held = scenes[mask], held[mask]
        total = np.bincount(scenes, minlength=self._judges.scenes)
        position = np.full(len(column.distinct) + 1, -1, np.int64)
        position[list(codes)] = np.arange(len(codes))
        at = position[held]
        cells = at[at >= 0] * self._judges.scenes + scenes[at >= 0]
        members = np.bincount(cells, minlength=len(codes) * self._judges.scenes)
        return CountParts(members.reshape(len(codes), -1), codes, total)

    def _telling_elsewhere(self, scope: Scope, path: str) -> list[Context]:
        """The most telling tests of the scope about other paths."""
        if id(scope) not in self._contexts:
            found = heapq.nlargest(MOST_CONTEXTS, self._tests(scope), key=lambda context: context.score)
            kept: list[Context] = []
            seen: dict[bytes, None] = {}
            for context in found:
                key = context.mask.tobytes()
                if key not in seen and sum(one.path == context.path for one in kept) < ALIKE:
                    seen[key] = None
                    kept.append(context)
            self._contexts[id(scope)] = kept
        return [context for context in self._contexts[id(scope)] if context.path != path]

    def _tests(self, scope: Scope) -> Iterator[Context]:
        rows, scenes = self._rows[id(scope)]
        for path, column in scope.columns.items():
            if column.kind != "plain" or column.identifier_like:
                continue
            present, held, ranks = column.present[rows], column.codes[rows], column.ranks[rows]
            if not present.all():
                yield self._context(scenes, path, present)
            codes = range(len(column.distinct))
            usual = sorted(codes, key=lambda code: (-column.occurrences[code], code))[:FIRST]
            for code in usual if len(column.distinct) > 1 else ():
                yield self._context(scenes, path, held == code)
                yield self._context(scenes, path, held != code)
            if len(column.numbers) > 1:
                turned = np.where(ranks < 0, -1, len(column.numbers) - 1 - ranks)
                yield from self._cuts(scenes, path, ranks)
                yield from self._cuts(scenes, path, turned)
            if len(choosable(column)) > EXHAUSTED:
                found = self._without_context(scope, column)
                for chosen in sorted(found, key=lambda chosen: (-found[chosen], chosen))[:ALIKE]:
                    yield self._context(scenes, path, np.isin(held, chosen))

    def _context(self, scenes: NDArray[np.int64], path: str, mask: Mask) -> Context:
        touched = np.zeros(self._judges.scenes, np.bool_)
        touched[scenes[mask]] = True
        return Context(round(abs(float(touched @ self._judges.even[:, 0])), 9), path, mask)

    def _cuts(self, scenes: NDArray[np.int64], path: str, ranks: NDArray[np.int32]) -> Iterator[Context]:
        """Bounds: the most telling, and the highest that each class as a whole still meets."""
        highest = np.full(self._judges.scenes, -1, np.int64)
        np.maximum.at(highest, scenes, ranks)
        lean = self._judges.even[:, 0]
        met = np.cumsum(np.bincount(highest + 1, lean)[::-1])[::-1][1:]
        places = {int(met.argmax()), int(met.argmin())} if len(met) else set()
        for side in (lean > 0, lean < 0):
            reached = highest[side & (highest >= 0)]
            places |= {int(reached.min())} if len(reached) else set()
        for place in sorted(places):
            yield self._context(scenes, path, ranks >= place)


def holding(column: Column, words: Iterable[str], ignore_case: bool) -> Mask:
    """Rows whose text holds one of the words, which are in lower case where case is put aside."""
    texts = [v if isinstance(v, str) else "" for v in column.distinct]
    if ignore_case:
        texts = [text.lower() for text in texts]
    found = np.array([*(any(word in text for word in words) for text in texts), False], np.bool_)
    rows: Mask = found[column.codes]
    return rows


def choosable(column: Column) -> Codes:
    """Codes of the values that may stand in a set: texts, null, and few whole numbers; no names of rows."""
    if column.kind != "plain" or column.identifier_like:
        return ()
    if len(column.distinct) > FIRST and sum(column.occurrences) < REPEATED * len(column.distinct):
        return ()
    numbers = len(column.numbers) <= CODES and all(isinstance(n, int) for n in column.numbers)
    chosen = tuple(
        code
        for code, value in enumerate(column.distinct)
        if column.occurrences[code] > 1
        and (value is None or isinstance(value, str) or (numbers and is_number(value)))
    )
    return chosen if len(chosen) > 1 else ()


def _take(found: dict[Codes, float], more: Mapping[Codes, float]) -> None:
    for chosen, score in more.items():
        found[chosen] = max(score, found.get(chosen, score))

"""Disjunctions about one element: which of them the grammar holds, read off the labelled examples.

An or of two tests of different paths inside a ``where`` could be any pair of tests, far more than a proof
over all of them could take; so the grammar names the candidates, as it does for value sets. A pair matters
where it touches other scenes than either test does, alone or beside a third test of the same element, and
tells the classes apart. For a ``find`` that is quickly said of all pairs at once: an element meets the third
test and one of the pair where it meets the third and the first, or the third and the second, so scenes that
a pair touches are those that its tests touch, less those that both do. The candidates depend on nothing but
the examples and the grammar, so what is proved over the grammar is proved over them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from evaluator import canonical_json
from induce.costs import DescriptionLength
from induce.examples import Examples, evenly
from induce.grammar import UNIT, Grammar, units
from induce.literals import Collect, Either, Literal, PathTest, literal_check
from induce.profile import Scope
from induce.proposers.collection import Allowance, PathTests, WorkExceededError, propose_collection
from induce.proposers.presence import presence
from induce.proposers.rows import Candidate, CheapestByTruth, Mask
from induce.value_sets import ValueSets

PART = units(14)
"""What each side of a disjunction may cost."""
PARTS, CONTEXTS = 80, 24
"""Tests of an element that may be sides, and those beside which pairs are judged: the cheapest."""
USUAL = 40
"""Values of one path that may stand in a side, the most usual."""
JUDGED = 300
"""Scenes of each label that pairs are judged by, at most."""
GAIN = 0.01
"""How much more a pair has to tell than each of its sides, and than the test beside it."""
WAYS = np.array([sign * np.array(way) for way in ((1, -1), (1, -4), (4, -1)) for sign in (1, -1)], float)
"""How the shares of passing and of failing scenes that a pair touches are weighed."""
DEAR = 0.01
"""How much more a pair has to tell for each bit that it costs more than another."""
NESTED_CELLS = 2e8


def description_length(root: Scope, grammar: Grammar, examples: Examples) -> DescriptionLength:
    """The costs of everything that the grammar holds, its candidate sets and disjunctions included."""
    cost = DescriptionLength(root, grammar, ValueSets(root, grammar, examples))
    cost.disjunctions = Disjunctions(cost, examples)
    return cost


class Disjunctions:
    """Candidate disjunctions for each collection of the scenes of one profile, found when first asked for."""

    def __init__(self, cost: DescriptionLength, examples: Examples) -> None:
        self.cost = cost
        self.most = cost.grammar.max_disjunctions if cost.grammar.allows("find") else 0
        weights = np.array(examples.weights, np.float64)
        passing = evenly(np.flatnonzero(examples.labels & (weights > 0)), JUDGED)
        failing = evenly(np.flatnonzero(~examples.labels & (weights > 0)), JUDGED)
        self._scenes = np.concatenate([passing, failing])
        self._place = np.full(len(weights), -1, np.int64)
        self._place[self._scenes] = np.arange(len(self._scenes))
        self._weights = np.zeros((2, len(self._scenes)))
        self._weights[0, : len(passing)] = weights[passing]
        self._weights[1, len(passing) :] = weights[failing]
        self._ways = WAYS / self._weights.sum(axis=1)
        self._found: dict[int, dict[frozenset[str], Candidate]] = {}

    def of(self, scope: Scope) -> list[Candidate]:
        """The candidates about one element of a collection of scenes, cheapest first."""
        return sorted(self._of(scope).values(), key=lambda one: one.cost)

    def price(self, scope: Scope, parts: Sequence[Literal]) -> int | None:
        """What the disjunction costs, in whatever order; None where the grammar does not hold it."""
        found = self._of(scope).get(_key(parts))
        return None if found is None else found.cost

    def _of(self, scope: Scope) -> dict[frozenset[str], Candidate]:
        if id(scope) not in self._found:
            self._found[id(scope)] = self._find(scope) if scope.depth == 1 and self.most else {}
        return self._found[id(scope)]

    def _find(self, scope: Scope) -> dict[frozenset[str], Candidate]:
        sides = self._sides(scope)
        if len(sides) < 2:
            return {}
        found: dict[frozenset[str], Candidate] = {}
        join = self.cost.join
        for first, second in self._pairs(scope, sides):
            parts = (sides[first].literal, sides[second].literal)
            mask = sides[first].mask | sides[second].mask
            price = sides[first].cost + sides[second].cost + join
            found[_key(parts)] = Candidate(Literal(Either(parts)), mask, price, None)
        return found

    def _sides(self, scope: Scope) -> list[Candidate]:
        """The cheapest tests of one element, one for each truth over the elements."""
        cheapest: dict[bytes, Candidate] = {}
        tests = sorted(chain(self._tests(scope), self._nested(scope)), key=lambda one: one.cost)
        for one in tests:
            if one.cost <= PART and one.mask.any() and not one.mask.all():
                cheapest.setdefault(one.mask.tobytes(), one)
        return list(cheapest.values())[:PARTS]

    def _tests(self, scope: Scope) -> Iterator[Candidate]:
        """Whether a path has a usual value, or any."""
        for path, column in scope.columns.items():
            if column.kind != "plain" or column.identifier_like or not self.cost.grammar.allows("eq"):
                continue
            codes = [code for code, times in enumerate(column.occurrences) if times > 1]
            for code in sorted(codes, key=lambda code: (-column.occurrences[code], code))[:USUAL]:
                test = Literal(PathTest("eq", path, column.distinct[code]))
                yield Candidate(test, column.codes == code, self.cost.eq(scope, column, code), path)
        yield from presence(scope, self.cost)

    def _nested(self, scope: Scope) -> Iterator[Candidate]:
        """Whether the element has a collection with such an element."""
        tests = PathTests(self.cost)
        for child in scope.children.values():
            sink = CheapestByTruth(PART)
            try:
                propose_collection(
                    scope, child, tests, PART, 1, sink, None, Allowance(NESTED_CELLS, math.inf)
                )
            except WorkExceededError:
                continue
            yield from (one for one in sink.candidates() if _is_find(one.literal))

    def _pairs(self, scope: Scope, sides: list[Candidate]) -> list[tuple[int, int]]:
        """The most telling pairs, those of each way of judging in turn."""
        scenes = self._place[scope.owner]
        rows = np.flatnonzero(scenes >= 0)
        truth, scenes = np.array([one.mask[rows] for one in sides]), scenes[rows]
        apart = self._apart(sides, truth)
        best = np.full((len(WAYS), *apart.shape), -np.inf)
        everything = np.ones(len(rows), np.bool_)
        for beside in (everything, *truth[:CONTEXTS]):
            touched = self._touched(truth & beside, scenes)
            single = touched @ self._weights.T
            alone = self._touched(beside[None, :], scenes)[0] @ self._weights.T
            both = np.array([(touched * weights) @ touched.T for weights in self._weights])
            either = single.T[:, :, None] + single.T[:, None, :] - both
            for at, way in enumerate(self._ways):
                judged, one = np.tensordot(way, either, 1), single @ way
                least = np.maximum(np.maximum(one[:, None], one[None, :]), max(0.0, float(alone @ way)))
                best[at] = np.maximum(best[at], np.where(apart & (judged > least + GAIN), judged, -np.inf))
        prices = np.array([one.cost for one in sides])
        ranked: NDArray[np.float64] = best - DEAR * (prices[:, None] + prices[None, :]) / UNIT
        return _in_turn(ranked.round(9), self.most)

    def _touched(self, truth: Mask, scenes: NDArray[np.int64]) -> NDArray[np.float64]:
        touched = np.zeros((len(truth), len(self._scenes)))
        met, first = np.unique(scenes, return_index=True)
        if len(met):
            touched[:, met] = np.logical_or.reduceat(truth, first, axis=1)
        return touched

    def _apart(self, sides: list[Candidate], truth: Mask) -> Mask:
        """Pairs of tests, of two paths, neither of which holds wherever the other does."""
        both = truth.astype(np.float32) @ truth.T.astype(np.float32)
        size = truth.sum(axis=1)
        apart: Mask = (both < size[:, None]) & (both < size[None, :])
        for at, one in enumerate(sides):
            for other in range(at):
                if one.path is not None and one.path == sides[other].path:
                    apart[other, at] = False
        return np.triu(apart, 1)


def _in_turn(best: NDArray[np.float64], most: int) -> list[tuple[int, int]]:
    """At most so many pairs, the best of each way of judging in turn."""
    ways = []
    for judged in best:
        order = np.argsort(-judged, axis=None, kind="stable")[:most]
        kept = order[np.isfinite(judged.ravel()[order])]
        ways.append([(int(pair) // judged.shape[1], int(pair) % judged.shape[1]) for pair in kept])
    chosen: dict[tuple[int, int], None] = {}
    for rank in range(most):
        for way in ways:
            if rank < len(way) and len(chosen) < most:
                chosen[way[rank]] = None
    return list(chosen)


def _is_find(literal: Literal) -> bool:
    return isinstance(literal.atom, Collect) and literal.atom.op == "find" and not literal.negated


def _key(parts: Sequence[Literal]) -> frozenset[str]:
    return frozenset(canonical_json(literal_check(part)) for part in parts)

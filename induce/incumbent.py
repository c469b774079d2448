"""The best hypothesis that a search over pools has met, by the true objective."""

from __future__ import annotations

import math
from itertools import chain, islice, product
from typing import NamedTuple

import numpy as np

from induce.hypothesis_space import HypothesisSpace
from induce.literals import Hypothesis, Literal, preference
from induce.pool import LiteralPool, Table
from induce.search import Hypothesis as Columns
from induce.search import unpack

KEPT_TIES = 8
NONE = 1 << 62


class Incumbent(NamedTuple):
    """A hypothesis, its objective in cost units, and the weight of its errors.

    `terms` names its columns by their keys, and `held` has these columns, for every pool that is
    searched to have them; `spoken` are the ways to say it, and others of the same objective, the
    preferred first; `verdicts` its truth on the examples.
    """

    objective: int
    errors: float
    terms: tuple[tuple[bytes, ...], ...]
    held: LiteralPool
    spoken: list[Hypothesis]
    verdicts: list[bool]

    @classmethod
    def none(cls, space: HypothesisSpace) -> Incumbent:
        """Worse than any hypothesis."""
        return cls(NONE, 0.0, (), LiteralPool(space.passes, space.penalties, NONE), [], [])

    def or_better(
        self, found: list[Columns], table: Table, pool: LiteralPool, space: HypothesisSpace
    ) -> Incumbent:
        """The best of what was found in the table of a pool, unless this is better."""
        judged = [(objective(columns, table, space), columns) for columns in found]
        best = min(total for (total, _), _ in judged)
        if best > self.objective:
            return self
        equal = [columns for (total, _), columns in judged if total == best]
        errors = next(errors for (total, errors), _ in judged if total == best)
        terms = tuple(tuple(table.keys[i] for i in term) for term in equal[0])
        held = LiteralPool(space.passes, space.penalties, NONE)
        held.take(pool, NONE, chain.from_iterable(terms))
        return Incumbent(
            best, errors, terms, held, _spoken(equal, table, space), _verdicts(equal[0], table, space)
        )


def objective(columns: Columns, table: Table, space: HypothesisSpace) -> tuple[int, float]:
    """The true objective of a hypothesis, and the weight of its errors."""
    literals = [i for term in columns for i in term]
    size = int(table.cost[literals].sum()) + space.cost.join * (len(literals) - 1)
    wrong = np.array(_verdicts(columns, table, space), np.bool_) != space.labels
    errors = math.fsum(space.weights[wrong])
    return size + space.noise.cost(errors), errors


def _verdicts(columns: Columns, table: Table, space: HypothesisSpace) -> list[bool]:
    labels = space.labels
    verdicts = np.zeros(len(labels), np.bool_)
    for words, side in ((table.passing, labels), (table.failing, ~labels)):
        truth = [np.bitwise_and.reduce(words[list(term)], axis=0) for term in columns]
        verdicts[side] = unpack(np.bitwise_or.reduce(truth, axis=0)[None, :], int(side.sum()))[0]
    return verdicts.tolist()


def _spoken(equal: list[Columns], table: Table, space: HypothesisSpace) -> list[Hypothesis]:
    """Hypotheses of one objective in words, the preferred first."""
    spoken: dict[Hypothesis, None] = {}
    for columns in equal:
        choices = [_variants(table.literals[i], space) for term in columns for i in term]
        for picked in islice(product(*choices), KEPT_TIES):
            spoken[_shaped(columns, picked)] = None
        if len(spoken) > KEPT_TIES:
            break
    return list(spoken)[: KEPT_TIES + 1]


def _variants(literals: list[Literal], space: HypothesisSpace) -> list[Literal]:
    """The ways to say one column, the preferred first."""
    ordered = dict.fromkeys(space.cost.ordered(space.root, literal) for literal in literals)
    return sorted(ordered, key=preference)


def _shaped(columns: Columns, picked: tuple[Literal, ...]) -> Hypothesis:
    """The picked literals in the shape of `columns`, parts in the order of preference."""
    rest = iter(picked)
    terms = [tuple(sorted((next(rest) for _ in term), key=preference)) for term in columns]
    return tuple(sorted(terms, key=lambda term: (len(term), [preference(lit) for lit in term])))

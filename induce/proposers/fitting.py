"""Literals that fit an opening: nearly right by themselves on the scenes that an opening leaves to them.

The search for a literal dearer than those known knows how few errors it may make (see
`induce.search.openings`). Tests of the scene itself are looked at one by one; how finds and counts over
elements are grown is told in `induce.proposers.growth`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from induce.profile import Scope
from induce.proposers.collection import Allowance, PathTests, element_candidates
from induce.proposers.extent import ranges
from induce.proposers.growth import CELLS, PRODUCTS, Floats, Form, Growth, Ints, Parts, sums
from induce.proposers.rows import Candidate, Mask, Sink
from induce.search import Asks, Openings

EXACT = 1 << 24
"""Whole numbers up to here are exact in single precision."""


class Weights(NamedTuple):
    """What k openings ask in one way: penalties (n, k) of scenes, and budgets (k,) of cost and errors."""

    wanted: Floats
    unwanted: Floats
    budget: Ints

    @classmethod
    def of(cls, asks: Asks, labels: Mask) -> Weights:
        kind = np.float32 if asks.largest < EXACT else np.float64
        wanted = np.zeros((len(labels), len(asks.budget)), kind)
        unwanted = np.zeros_like(wanted)
        wanted[labels], unwanted[~labels] = asks.wanted.T, asks.unwanted.T
        return cls(wanted, unwanted, asks.budget)

    def fit(self, truth: Mask, cost: Ints) -> Mask:
        """Which literals with truth (m, n) and cost (m,) satisfy which openings: (m, k)."""
        errors = sums(~truth, self.wanted) + sums(truth, self.unwanted)
        fits: Mask = errors + cost[:, None] <= self.budget
        return fits


class ElementLiterals:
    """The literals about one row of a scope, listed once and kept for whoever asks for no dearer ones."""

    def __init__(self, tests: PathTests, max_where: int) -> None:
        self.tests, self.max_where = tests, max_where
        self._listed: dict[int, tuple[int, list[Candidate]]] = {}

    def of(self, scope: Scope, cap: int, allowance: Allowance) -> list[Candidate]:
        """Those that cost at most `cap`, cheapest first; raises WorkExceededError."""
        most, found = self._listed.get(id(scope), (-1, []))
        if most < cap:
            most, found = cap, element_candidates(scope, self.tests, cap, self.max_where, allowance)
            self._listed[id(scope)] = most, found
        return [one for one in found if one.cost <= cap]


class FittingLiterals:
    """Proposes every literal of cost above `least` that fits an opening.

    Parameters
    ----------
    root : Scope
    elements : ElementLiterals
    openings : Openings
        Of a problem whose scenes are those of `root`.
    labels : bool (n,)
    least : int
        Literals that cost no more than this are known.
    allowance : Allowance
        WorkExceededError is raised when it is spent.
    """

    def __init__(
        self,
        root: Scope,
        elements: ElementLiterals,
        openings: Openings,
        labels: Mask,
        least: int,
        allowance: Allowance,
    ) -> None:
        self.root, self.elements = root, elements
        self.tests, self.max_where = elements.tests, elements.max_where
        self.weights, self.labels = [Weights.of(asks, labels) for asks in openings.asks], labels
        self.room = openings.room
        self.cap = int(self.room.max(initial=0))
        self.least, self.allowance = least, allowance

    def run(self, sink: Sink) -> None:
        """Put the literals into the sink."""
        candidates = self.tests.of(self.root, self.allowance)
        parts = Parts(self.root, self.tests, candidates, self.cap, self.allowance)
        self.allowance.spend(parts.masks.size * len(self.room) / PRODUCTS)
        dear = np.flatnonzero(parts.cost > self.least)
        if len(dear):
            dear = dear[self.fit(parts.masks[dear], parts.cost[dear])]
            sink.add(parts.masks[dear], parts.cost[dear], lambda i: parts.literals[int(dear[i])])
        for child in self.root.children.values():
            self._about_elements(child, sink)

    def fit(self, truth: Mask, cost: Ints) -> Mask:
        """Which literals with truth (m, n) and cost (m,) fit some opening: (m,)."""
        asked = [weights.fit(truth, cost) for weights in self.weights]
        fits: Mask = np.logical_and.reduce([cost[:, None] <= self.room, *asked]).any(axis=1)
        return fits

    def _about_elements(self, scope: Scope, sink: Sink) -> None:
        forms = [form for form in self._forms() if form.overhead <= self.cap]
        if not forms:
            return
        room = self.cap - min(form.overhead for form in forms)
        found = self.elements.of(scope, room, self.allowance)
        parts = Parts(scope, self.tests, found, room, self.allowance)
        counts = np.zeros((len(parts.masks), scope.parent_rows), np.int32)
        step = max(1, CELLS // max(1, len(scope.rows)))
        for first in range(0, len(counts), step):
            self.allowance.spend(step * len(scope.rows))
            counts[first : first + step] = scope.owners_with(parts.masks[first : first + step])
        for form in forms:
            Growth(self, scope, parts, counts, form, sink).run()

    def _forms(self) -> list[Form]:
        cost, root = self.tests.cost, self.root
        grammar = cost.grammar
        forms: list[Form] = []
        if grammar.allows("find"):
            find = cost.collect(root, None)
            forms.append(Form(None, False, find, 1, 0, True, False))
            if grammar.allows("not"):
                forms.append(Form(None, True, find + cost.negation, 1, 0, False, True))
            if grammar.allows("not") and grammar.every:
                every = find + 2 * cost.negation
                forms.append(Form(None, True, every, 1, 0, False, True, every=True))
        if grammar.allows("count"):
            for k in range(1, grammar.max_count + 1):
                count = cost.collect(root, k)
                forms.append(Form(("gte", k), False, count, k, k - 1, True, False))
                forms.append(Form(("lte", k), False, count, k + 1, k, False, True))
                forms.append(Form(("eq", k), False, count, k, k, True, True))
        for price, low, high in ranges(root, cost, self.cap):
            forms.append(Form(("gte", low), False, price, low, high, True, True, most=high))
        return forms

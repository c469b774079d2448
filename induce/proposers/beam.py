"""Longer conjunctions, best first: what complete enumeration cannot afford.

A beam over conjunctions about one element, scored by how differently the conjunction touches
passing and failing scenes (Youden's J, which is weighted relative accuracy up to a factor, as
in CN2-SD, Lavrac et al. 2004). Heuristic: what it adds to the pool never counts for a proof.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from induce.literals import Alternatives, Bound, Either, Literal, PathTest
from induce.proposers.collection import Context, Grower
from induce.proposers.rows import Candidate, stack

WIDTH = 40
TOOLS = 24
"""Tools and classes of tools whose calls are looked into in any case."""


class Beam(Grower):
    """Grows only the `WIDTH` best conjunctions of each length, from literals of `literal_cap`.

    Half as many again that end in a round number are grown as well: one side of a range may
    separate nothing before the other is there. Conjunctions with a value set have a beam of their
    own, which `run_with_sets` grows after `run`: they separate more for the bits they cost and would
    crowd out all others.
    """

    literal_cap: int

    def run(self) -> None:
        self.starts: list[Context] = []
        if not self.bounds or self.penalties is None:
            return
        level = [self.prepare(self.literal_cap)]
        self._use([candidate for candidate in self.literals if not _is_set(candidate.literal)])
        self.starts = level
        seen: set[bytes] = set()
        for size in range(self.max_where):
            scored = self._grown(level, seen)
            level = _best(scored)
            if size == 0:
                level += self._of_tools(scored, level)
            if size == 0 and self.max_where > 1:
                self.starts = self.starts + level

    def run_with_sets(self) -> None:
        """Add a value set, whatever it costs, to the conjunctions that `run` grew first, and grow on."""
        if not self.starts:
            return
        tests, plain = self.tests.of(self.scope, self.allowance), self.literals
        sets = [test for test in tests if _is_set(test.literal) and test.cost <= self.room]
        if not sets:
            return
        self._use(sets)
        seen: set[bytes] = set()
        scored: list[tuple[float, int, Context]] = []
        starts, of_tools = list(self.starts), []
        for number, context in enumerate(starts):
            for batch in self.children(context._replace(after=-1, direction=-1)):
                self._score(self.emit([c._replace(after=-1) for c in batch]), seen, scored)
            if number == 0:  # the sets alone
                of_tools = self._of_tools(scored, [])
                starts[1:1] = of_tools
        self._use(sorted(plain + sets, key=lambda candidate: candidate.cost))
        level = of_tools + _best(scored)
        for _ in range(self.max_where - 1):
            level = _best(self._grown([c for c in level if len(c.where) < self.max_where], seen))

    def emit(self, contexts: list[Context]) -> list[Context]:
        """As ever, but over a numeric bound no exact counts and ranges, which the grammar does not hold."""
        bounds, ranges = self.bounds, self.ranges
        if contexts and any(map(_is_bound, contexts[0].where)):
            self.bounds, self.ranges = [one for one in bounds if one is None or one[0] != "eq"], []
        try:
            return super().emit(contexts)
        finally:
            self.bounds, self.ranges = bounds, ranges

    def _of_tools(self, scored: list[tuple[float, int, Context]], kept: list[Context]) -> list[Context]:
        """Further conjunctions to grow: the calls of a tool, or of a class of tools, the cheapest first.

        By itself that may separate nothing, where every run has such calls; how they are made does.
        """
        tools = None if self.cost.sets is None else self.cost.sets.tools
        if tools is None or self.scope is not tools.scope:
            return []
        known = {context.where for context in kept}
        found = [(cost, context) for _, cost, context in scored if context.where not in known]
        named = [(cost, context) for cost, context in found if _names_tools(context, tools.column.path)]
        return [context for _, context in sorted(named, key=lambda entry: entry[0])[:TOOLS]]

    def _use(self, literals: list[Candidate]) -> None:
        self.literals = literals
        self.masks, self.costs = stack(literals, len(self.scope.rows))

    def _grown(self, level: list[Context], seen: set[bytes]) -> list[tuple[float, int, Context]]:
        """The conjunctions that extend those of a level, each with how little it separates and its cost."""
        scored: list[tuple[float, int, Context]] = []
        for context in level:
            self.cut(context)
            for batch in self.children(context):
                self._score(self.emit([c._replace(after=-1) for c in batch]), seen, scored)
            if len(context.where) + 1 < self.max_where:
                self._score(self.bounded(context), seen, scored)
        return scored

    def _score(
        self, contexts: list[Context], seen: set[bytes], scored: list[tuple[float, int, Context]]
    ) -> None:
        if not contexts:
            return
        masks = np.array([c.mask for c in contexts])
        separation = self._separation(self.scope.owners_with(masks))
        for mask, context, value in zip(np.packbits(masks, axis=1), contexts, separation, strict=True):
            key = mask.tobytes() + bytes([context.direction & 0xFF])
            if key not in seen:
                seen.add(key)
                scored.append((-float(value), context.cost, context))

    def _separation(self, counts: NDArray[np.int32]) -> NDArray[np.float64]:
        """The best Youden's J of touching at least 1, 2 or 3 elements, of either sign."""
        assert self.penalties is not None
        passing, failing = self.penalties
        best = np.zeros(len(counts))
        for k in (1, 2, 3):
            touched = counts >= k
            j = touched @ passing / passing.sum() - touched @ failing / failing.sum()
            best = np.maximum(best, np.abs(j))
        return best


def _is_set(literal: Literal) -> bool:
    atom = literal.atom
    return isinstance(atom, Either) or (isinstance(atom, PathTest) and isinstance(atom.value, Alternatives))


def _is_bound(literal: Literal) -> bool:
    return isinstance(literal.atom, PathTest) and isinstance(literal.atom.value, Bound)


def _names_tools(context: Context, path: str) -> bool:
    if len(context.where) != 1 or context.where[0].negated:
        return False
    atom = context.where[0].atom
    return isinstance(atom, PathTest) and (atom.op, atom.path) == ("eq", path)


def _best(scored: list[tuple[float, int, Context]]) -> list[Context]:
    scored.sort(key=lambda entry: entry[:2])
    round_bounds = sorted((e for e in scored[WIDTH:] if e[2].direction >= 0), key=lambda e: (e[1], e[0]))
    return [context for _, _, context in scored[:WIDTH] + round_bounds[: WIDTH // 2]]

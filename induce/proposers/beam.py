"""Longer conjunctions, best first: what complete enumeration cannot afford.

A beam over conjunctions about one element, scored by how differently the conjunction touches
passing and failing scenes (Youden's J, which is weighted relative accuracy up to a factor, as
in CN2-SD, Lavrac et al. 2004). Heuristic: what it adds to the pool never counts for a proof.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from induce.literals import Alternatives
from induce.proposers.collection import Context, Grower
from induce.proposers.rows import stack

WIDTH = 40


class Beam(Grower):
    """Grows only the `WIDTH` best conjunctions of each length, from literals of `literal_cap`.

    Half as many again that end in a round number are grown as well: one side of a range may
    separate nothing before the other is there.
    """

    literal_cap: int

    def run(self) -> None:
        if not self.bounds or self.penalties is None:
            return
        level = [self.prepare(self.literal_cap)]
        self._add_sets()
        seen: set[bytes] = set()
        for _ in range(self.max_where):
            scored: list[tuple[float, int, Context]] = []
            for context in level:
                self.cut(context)
                for batch in self.children(context):
                    self._score(self.emit([c._replace(after=-1) for c in batch]), seen, scored)
                if len(context.where) + 1 < self.max_where:
                    self._score(self.bounded(context), seen, scored)
            scored.sort(key=lambda entry: entry[:2])
            round_bounds = sorted(
                (e for e in scored[WIDTH:] if e[2].direction >= 0), key=lambda e: (e[1], e[0])
            )
            level = [context for _, _, context in scored[:WIDTH] + round_bounds[: WIDTH // 2]]

    def _add_sets(self) -> None:
        """Value sets join the element literals whatever they cost: they are few, and dear by nature."""
        known = {id(candidate) for candidate in self.literals}
        for candidate in self.tests.of(self.scope):
            value = getattr(candidate.literal.atom, "value", None)
            if isinstance(value, Alternatives) and candidate.cost <= self.room and id(candidate) not in known:
                self.literals.append(candidate)
        self.literals.sort(key=lambda candidate: candidate.cost)
        self.masks, self.costs = stack(self.literals, len(self.scope.rows))

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

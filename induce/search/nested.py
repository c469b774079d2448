"""Exact search: terms in greedy order, each mined on what the earlier ones left.

Every hypothesis can be written so that each term covers at least as much of the passes still open
(by weight) as any later one does. The search chooses terms in that order. Each level mines all
terms that can begin an affordable remainder (:mod:`induce.search.terms`) and descends into them,
the most promising first. When it ends, every hypothesis of cost at most the incumbent's has been
seen or shown not to be preferred.

Of terms with equal coverage of what is open only the preferred one, by ``(size, literals,
indices)``, is tried: exchanging one for it worsens neither cost nor preference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from induce.search.bits import Words
from induce.search.limits import Best, Limits
from induce.search.table import Table
from induce.search.terms import MinedTerms, Miner, Rest

UNBOUNDED = 1 << 61


@dataclass(frozen=True)
class _State:
    """Terms chosen so far and what they leave: open bits, cost of sizes and fails, largest next cover."""

    terms: tuple[tuple[int, ...], ...]
    open_pass: Words
    open_fail: Words
    spent: int
    cap: int


class NestedSearch:
    """Searches the whole space of ``table`` for hypotheses not above ``best.ceiling``.

    Quick where few terms fit the budget; its work grows with the slack that the budget leaves.
    """

    def __init__(self, table: Table, best: Best, limits: Limits) -> None:
        self.table = table
        self.best = best
        self.limits = limits
        self.cheapest = int(table.cost.min())

    def _budget(self) -> int:
        ceiling = self.best.ceiling
        return UNBOUNDED if ceiling is None else ceiling - self.table.offset

    def single_terms(self) -> None:
        """See all hypotheses of one term."""
        table = self.table
        start = _State((), table.passing.used, table.failing.used, 0, UNBOUNDED)
        self._last_term(start, useful=False)

    def several_terms(self) -> None:
        """See all hypotheses of two and more terms."""
        table = self.table
        if table.max_terms > 1:
            start = _State((), table.passing.used, table.failing.used, 0, UNBOUNDED)
            self._branch(start, table.max_terms)

    def _last_term(self, state: _State, *, useful: bool) -> None:
        """Mine the term that completes the hypothesis; its cost is then exact."""
        table = self.table
        left = table.passing.weight_of(state.open_pass)

        def emit(found: MinedTerms) -> None:
            totals = state.spent + left + found.size + found.wrong - found.cover
            for at in np.argsort(totals, kind="stable"):
                cost = int(totals[at]) + table.offset
                ceiling = self.best.ceiling
                if ceiling is not None and cost > ceiling:
                    break
                self.best.offer(table.original([*state.terms, _members(found, int(at))]), cost)

        Miner(
            table,
            self.limits,
            state.open_pass,
            state.open_fail,
            lambda: self._budget() - state.spent,
            Rest(left),
            useful,
            emit,
        ).run()

    def _branch(self, state: _State, terms_left: int) -> None:
        """Choose the next of up to ``terms_left`` terms in all ways that may fit the budget."""
        if terms_left == 1:
            self._last_term(state, useful=True)
            return
        table = self.table
        left = table.passing.weight_of(state.open_pass)
        rest = Rest(left, cheapest=self.cheapest, further=terms_left - 1)
        mined: list[MinedTerms] = []
        Miner(
            table,
            self.limits,
            state.open_pass,
            state.open_fail,
            lambda: self._budget() - state.spent,
            rest,
            True,
            mined.append,
        ).run()
        candidates = self._undominated(state, mined, rest)
        for bound, _, members in candidates:
            if bound > self._budget():
                break
            term_pass, term_fail = table.cover(members)
            term_pass &= state.open_pass
            term_fail &= state.open_fail
            cover = table.passing.weight_of(term_pass)
            spent = state.spent + int(table.cost[list(members)].sum()) + table.failing.weight_of(term_fail)
            terms = (*state.terms, members)
            cost = spent + left - cover + table.offset
            ceiling = self.best.ceiling
            if ceiling is None or cost <= ceiling:
                self.best.offer(table.original(terms), cost)
            self._branch(
                _State(terms, state.open_pass & ~term_pass, state.open_fail & ~term_fail, spent, cover),
                terms_left - 1,
            )

    def _undominated(
        self, state: _State, mined: list[MinedTerms], rest: Rest
    ) -> list[tuple[int, tuple[int, int, tuple[int, ...]], tuple[int, ...]]]:
        """Bounds, preference and members of the terms worth choosing next, best bound first."""
        table = self.table
        seen: dict[bytes, tuple[int, tuple[int, int, tuple[int, ...]], tuple[int, ...]]] = {}
        for found in mined:
            self.limits.spend(1 + len(found.size) // 100)
            bounds = state.spent + found.size + found.wrong + rest(found.cover)
            first = found.members[:, 0]
            passed, failed = table.passing.words[:, first], table.failing.words[:, first]
            for place in range(1, found.members.shape[1]):
                passed &= table.passing.words[:, found.members[:, place]]
                failed &= table.failing.words[:, found.members[:, place]]
            both = np.concatenate([passed & state.open_pass[:, None], failed & state.open_fail[:, None]])
            rows = np.ascontiguousarray(both.T)
            for at in np.flatnonzero(found.cover <= state.cap):
                members = tuple(sorted(_members(found, int(at))))
                key = (int(found.size[at]), len(members), members)
                coverage = rows[at].tobytes()
                if coverage not in seen or key < seen[coverage][1]:
                    seen[coverage] = (int(bounds[at]), key, members)
        return sorted(seen.values(), key=lambda entry: (entry[0], entry[1]))


def _members(found: MinedTerms, at: int) -> tuple[int, ...]:
    return tuple(int(literal) for literal in found.members[at])

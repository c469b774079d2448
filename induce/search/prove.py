"""Exact search: terms in greedy order, each mined on what the earlier ones left.

Every hypothesis can be written so that each term covers at least as much of the passes still open
(by weight) as any later one does. The search chooses terms in that order. Each level mines all
terms that can begin an affordable remainder (:mod:`induce.search.terms`), throws out those that
another one dominates, and descends into the rest, the most promising first. When it ends, every
hypothesis of cost at most the incumbent's has been seen or shown not to be preferred.

Dominance between terms: if t' covers no fewer open passes and no more open fails than t, and
``(size, literals, indices)`` of t' is smaller, then exchanging t for t' in any hypothesis with the
same earlier terms worsens neither cost nor preference, so t may go.

The bound while running: the terms that may come first are tried in the order of their bounds, so
whatever is left costs at least the bound of the next one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from induce.search.bits import Ints, Words
from induce.search.limits import Best, Limits
from induce.search.table import Table
from induce.search.terms import MinedTerms, Miner

UNBOUNDED = 1 << 61


@dataclass(frozen=True)
class _State:
    """Terms chosen so far and what they leave: open bits, cost of sizes and fails, largest next cover."""

    terms: tuple[tuple[int, ...], ...]
    open_pass: Words
    open_fail: Words
    spent: int
    cap: int


class Prover:
    """Searches the whole space of ``table`` for hypotheses not above ``best.ceiling``.

    ``lower_bound`` is valid at any time, also after :class:`LimitReachedError` left ``run``.
    """

    def __init__(self, table: Table, best: Best, limits: Limits, report: Callable[[], None]) -> None:
        self.table = table
        self.best = best
        self.limits = limits
        self.report = report
        self.cheapest = int(table.cost.min())
        self._single_done = False
        self._open_bound = table.offset + self.cheapest

    @property
    def lower_bound(self) -> int:
        """Nothing costs less, up to the ceiling of interest."""
        return self._open_bound

    def _budget(self) -> int:
        ceiling = self.best.ceiling
        return UNBOUNDED if ceiling is None else ceiling - self.table.offset

    def run(self) -> None:
        table = self.table
        start = _State((), table.passing.used, table.failing.used, 0, UNBOUNDED)
        self._last_term(start, useful=False)
        if table.max_terms > 1:
            self._branch(start, table.max_terms)
        ceiling = self.best.ceiling
        self._open_bound = UNBOUNDED if ceiling is None else ceiling + (self.best.cost is None)

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
            lambda cover: left - cover,
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
        later = np.arange(terms_left, dtype=np.int64)

        def rest(cover: Ints) -> Ints:
            after = left - cover
            out = after
            for terms in later[1:]:
                out = np.minimum(out, terms * self.cheapest + np.maximum(after - terms * cover, 0))
            return out

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
            if not state.terms:
                self._open_bound = max(
                    self._open_bound, min(bound + table.offset, self._budget() + table.offset)
                )
                self.report()
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
        self, state: _State, mined: list[MinedTerms], rest: Callable[[Ints], Ints]
    ) -> list[tuple[int, tuple[int, int, tuple[int, ...]], tuple[int, ...]]]:
        """Bounds, preference and members of the terms worth choosing next, best bound first."""
        table = self.table
        seen: dict[bytes, tuple[int, tuple[int, int, tuple[int, ...]], tuple[int, ...]]] = {}
        for found in mined:
            bounds = state.spent + found.size + found.wrong + rest(found.cover)
            for at in range(len(found.size)):
                if found.cover[at] > state.cap:
                    continue
                members = _members(found, at)
                original = tuple(sorted(int(table.index[literal]) for literal in members))
                key = (int(found.size[at]), len(members), original)
                term_pass, term_fail = table.cover(members)
                coverage = (term_pass & state.open_pass).tobytes() + (term_fail & state.open_fail).tobytes()
                if coverage not in seen or key < seen[coverage][1]:
                    seen[coverage] = (int(bounds[at]), key, members)
        return sorted(seen.values(), key=lambda entry: (entry[0], entry[1]))


def _members(found: MinedTerms, at: int) -> tuple[int, ...]:
    return tuple(int(literal) for literal in found.members[at])

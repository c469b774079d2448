"""Openings: what partial hypotheses leave to one more literal.

Suppose a hypothesis within the budget holds one literal from outside the table, of cost c at least
``least``. Without it the hypothesis is a conjunction T of the literal's own term and other terms O,
all made of table literals, and small, for budget less c must pay for them and for their errors:
fails that O covers, and passes that neither O nor T covers. Of the passes that T but not O covers
the literal must cover all, of such fails it must cover none, or pay the penalties. So each pair
(T, O) within ``budget - least`` is an opening with *wanted* and *unwanted* scenes and a budget for
the literal's cost and its errors on them; a literal that fits no opening stands in no hypothesis
within the budget that is otherwise made of the table. As c nears the budget few openings remain,
and what fits them is nearly right by itself.

What another literal or term can replace in every hypothesis is in no opening, nor is what an optimum
has no use for (facts 1 and 2 of :mod:`induce.search.terms`): an idle literal of a term that has others,
the new one among them, an idle term of a hypothesis that has others. All of this must hold whatever the
new literal is. So scenes that no table literal tells apart are kept apart where their labels differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from induce.search.bits import Bools, Ints, unpack
from induce.search.limits import Limits, PartEndedError
from induce.search.problem import SearchProblem
from induce.search.reduce import undominated
from induce.search.table import build_table
from induce.search.terms import MinedTerms, Miner

MOST_TERMS = 20_000
MOST_OPENINGS = 6_000
MINING_NODES = 20_000
BLOCK = 256


@dataclass(frozen=True)
class Openings:
    """``wanted`` bool[k, P], ``unwanted`` bool[k, F], ``budget`` int64[k]; the problem's penalties."""

    wanted: Bools
    unwanted: Bools
    budget: Ints
    pass_penalty: Ints
    fail_penalty: Ints

    @property
    def largest(self) -> int:
        """No sum of penalties and budgets is larger."""
        total = int(self.pass_penalty.sum()) + int(self.fail_penalty.sum())
        return total + int(self.budget.max(initial=0))


@dataclass(frozen=True)
class _Others:
    """A disjunction of terms: sizes and penalties of fails, terms, and what it covers."""

    cost: int
    size: int
    terms: int
    passed: Bools
    failed: Bools


class TooManyOpeningsError(Exception):
    """There are more openings than it pays to look at."""


def openings(problem: SearchProblem, budget: int, least: int, limits: Limits) -> Openings:
    """The openings for a literal of cost at least ``least`` in hypotheses of cost at most ``budget``.

    Raises TooManyOpeningsError, and LimitReachedError as any search does.
    """
    return _Opener(problem, budget, least, limits).run()


class _Opener:
    def __init__(self, problem: SearchProblem, budget: int, least: int, limits: Limits) -> None:
        self.problem = problem
        self.limits = limits
        join = problem.join_cost
        self.whole = budget + join
        self.room = self.whole - least - join
        self.least = least + join
        table = build_table(problem, settle=False)
        self.table = table.select(undominated(table, limits))
        literals = self.table.index[self.table.cost <= self.room]
        literals = literals[np.argsort(problem.cost[literals], kind="stable")]
        self.cost = problem.cost[literals].astype(np.int64) + join
        self.passed = unpack(problem.passing[literals], len(problem.pass_penalty))
        self.failed = unpack(problem.failing[literals], len(problem.fail_penalty))
        self.pass_penalty = problem.pass_penalty.astype(np.int64)
        self.fail_penalty = problem.fail_penalty.astype(np.int64)
        self.found: dict[bytes, tuple[int, Bools, Bools]] = {}

    def run(self) -> Openings:
        for others in self._others() if self.room >= 0 else ():
            wanted = ~others.passed
            everything = np.ones(len(self.fail_penalty), np.bool_)
            self._conjoin(others, wanted, everything & ~others.failed, others.cost, 0, 0)
        ranked = sorted(self.found.values(), key=lambda entry: -entry[0])
        wanted = np.array([entry[1] for entry in ranked], np.bool_).reshape(-1, len(self.pass_penalty))
        unwanted = np.array([entry[2] for entry in ranked], np.bool_).reshape(-1, len(self.fail_penalty))
        kept = self._undominated(wanted, unwanted)
        spent = np.array([entry[0] for entry in ranked], np.int64)
        return Openings(wanted[kept], unwanted[kept], spent[kept], self.pass_penalty, self.fail_penalty)

    def _conjoin(
        self, others: _Others, wanted: Bools, unwanted: Bools, spent: int, first: int, length: int
    ) -> None:
        """Take the opening beside some literals of its own term, and those with further literals."""
        covered, rejected = int(self.pass_penalty @ wanted), int(self.fail_penalty @ unwanted)
        if (covered >= self.least or not others.terms) and (rejected >= self.least or not length):
            self._keep(wanted, unwanted, self.whole - self.problem.join_cost - spent)
        end = int(np.searchsorted(self.cost, self.room - spent, side="right"))
        if length + 1 >= self.problem.max_literals or first >= end:
            return
        self.limits.spend(1)
        cost = self.cost[first:end]
        missed = (wanted & ~self.passed[first:end]) @ self.pass_penalty
        shed = (unwanted & ~self.failed[first:end]) @ self.fail_penalty
        fits = (spent + cost + missed <= self.room) & (shed >= cost)
        if others.terms:
            fits &= covered - missed >= self.least + cost
        for at in np.flatnonzero(fits):
            index = first + int(at)
            self._conjoin(
                others,
                wanted & self.passed[index],
                unwanted & self.failed[index],
                spent + int(cost[at]) + int(missed[at]),
                index + 1,
                length + 1,
            )

    def _keep(self, wanted: Bools, unwanted: Bools, budget: int) -> None:
        key = np.packbits(wanted).tobytes() + np.packbits(unwanted).tobytes()
        known = self.found.get(key)
        if known is None or known[0] < budget:
            self.found[key] = (budget, wanted, unwanted)
        if len(self.found) > 4 * MOST_OPENINGS:
            raise TooManyOpeningsError

    def _others(self) -> list[_Others]:
        """Disjunctions of table terms that leave room for a literal of the least cost."""
        nothing = _Others(
            0, 0, 0, np.zeros(len(self.pass_penalty), np.bool_), np.zeros(len(self.fail_penalty), np.bool_)
        )
        terms = self._terms()
        level, found = [(nothing, 0)], [nothing]
        if not terms:
            return found
        sizes = np.array([term.size for term in terms])
        passed, failed = np.array([t.passed for t in terms]), np.array([t.failed for t in terms])
        for _ in range(1, self.problem.max_terms):
            grown = []
            for others, first in level:
                end = int(np.searchsorted(sizes, self.room - others.size, side="right"))
                if first >= end:
                    continue
                self.limits.spend(1)
                wrong = (failed[first:end] | others.failed) @ self.fail_penalty
                fresh = (passed[first:end] & ~others.passed) @ self.pass_penalty
                size = others.size + sizes[first:end]
                for at in np.flatnonzero((size + wrong <= self.room) & (fresh >= sizes[first:end])):
                    term, spent = terms[first + int(at)], int(size[at])
                    joined = _Others(
                        spent + int(wrong[at]),
                        spent,
                        others.terms + 1,
                        others.passed | term.passed,
                        others.failed | term.failed,
                    )
                    grown.append((joined, first + int(at) + 1))
            level = grown
            found.extend(others for others, _ in grown)
            if len(found) > MOST_TERMS:
                raise TooManyOpeningsError
        return found

    def _terms(self) -> list[_Others]:
        """Terms of table literals within the room, the smallest first; of equal coverage the smallest."""
        mined: list[MinedTerms] = []
        count = 0

        def emit(found: MinedTerms) -> None:
            nonlocal count
            mined.append(found)
            count += len(found.size)
            if count > 10 * MOST_TERMS:
                raise TooManyOpeningsError

        if self.problem.max_terms > 1:
            miner = Miner(
                self.table,
                self.limits,
                self.table.passing.used,
                self.table.failing.used,
                lambda: self.room,
                np.zeros_like,
                True,
                emit,
            )
            try:
                with self.limits.part(MINING_NODES):
                    miner.run()
            except PartEndedError:
                raise TooManyOpeningsError from None
        seen: dict[bytes, _Others] = {}
        for found in mined:
            index = self.table.index[found.members]
            absent = found.members < 0
            passing, failing = self.problem.passing[index], self.problem.failing[index]
            passing[absent], failing[absent] = ~np.uint64(0), ~np.uint64(0)
            passed = unpack(np.bitwise_and.reduce(passing, axis=1), len(self.pass_penalty))
            failed = unpack(np.bitwise_and.reduce(failing, axis=1), len(self.fail_penalty))
            wrong = failed @ self.fail_penalty
            for at in np.flatnonzero(found.size + wrong <= self.room):
                size = int(found.size[at])
                key = np.packbits(passed[at]).tobytes() + np.packbits(failed[at]).tobytes()
                known = seen.get(key)
                if known is None or size < known.size:
                    seen[key] = _Others(size + int(wrong[at]), size, 1, passed[at], failed[at])
        ranked = sorted(seen.values(), key=lambda term: term.size)
        if not ranked:
            return []
        passed, failed = np.array([t.passed for t in ranked]), np.array([t.failed for t in ranked])
        kept = self._undominated(~passed, failed)
        if len(kept) > MOST_TERMS:
            raise TooManyOpeningsError
        return [ranked[i] for i in kept]

    def _undominated(self, wanted: Bools, unwanted: Bools) -> Ints:
        """Rows that no earlier row asks less than of both kinds."""
        rows = np.concatenate([np.packbits(wanted, axis=1), np.packbits(unwanted, axis=1)], axis=1)
        kept: list[int] = []
        for at in range(len(rows)):
            if at % BLOCK == 0:
                self.limits.check()
            before = rows[kept]
            if not len(kept) or not ((before & ~rows[at]) == 0).all(axis=1).any():
                kept.append(at)
        return np.array(kept, np.int64)

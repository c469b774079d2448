"""Openings: what the other literals of a hypothesis leave to one more.

Take a hypothesis within the budget and a literal of it from outside the table, of cost at least ``least``,
in a term whose other literals are T. T covers some passes and fails: of those passes the literal must
cover all, of those fails none, or pay. So each T that leaves room for the least cost is an opening with
*wanted* and *unwanted* scenes and a budget; what fits no opening stands in no hypothesis within the
budget that is otherwise made of the table. What the other terms do is known in one of two ways.

- Where they are made of the table, each disjunction of table terms that leaves room for the literal is
  looked at (:mod:`induce.search.others`): what it covers is not wanted, or not to be rejected.
- Where one of them holds a literal from outside as well, little room is left, and prices on the passing
  scenes say what a term may ask (:mod:`induce.search.term_prices`): in hypotheses of q terms each
  has an r within a threshold, whatever the others are. There fails weigh a q-th, so the opening asks
  twice: by r, and by what the term may cost in full.

Where j literals of the term are from outside the table, none knows what the others do. Yet one of them
leaves at most a j-th of the work to all others: if ``u`` fails are rejected by none of the j, out of U
to be rejected, one of them rejects all but ``((j - 1) U + u) / j``, since each of the others counts
every fail at most once. It therefore errs on u' fails only where ``u >= j u' - (j - 1) U``. The other
literals of its term are found in the same way, once it is in the table.

A term in which a literal is idle, and one that is idle itself, is in no preferred optimum (facts 1 and 2
of :mod:`induce.search.terms`). All of this must hold whatever the new literal is, so scenes that no
table literal tells apart are kept apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from induce.search.bits import Bools, Ints, unpack
from induce.search.limits import Limits
from induce.search.others import Others, TooManyError, disjunctions
from induce.search.problem import SearchProblem
from induce.search.reduce import undominated_apart
from induce.search.term_prices import TermPrices

MOST_OPENINGS, MOST_CELLS = 40_000, 2e7
"""Openings, and scenes times openings, before superfluous ones go."""
MOST_KEPT = 6_000
BLOCK = 256


@dataclass(frozen=True)
class Asks:
    """What a literal must satisfy for each of k openings: cost and errors within a budget.

    ``wanted`` int64[k, P] is paid for passing scenes on which it does not hold, ``unwanted`` int64[k, F]
    for failing ones on which it does; ``budget`` int64[k].
    """

    wanted: Ints
    unwanted: Ints
    budget: Ints

    def take(self, at: Ints) -> Asks:
        return Asks(self.wanted[at], self.unwanted[at], self.budget[at])

    @property
    def largest(self) -> int:
        """No sum of budgets and of what is paid is larger."""
        paid = self.wanted.sum(axis=1) + self.unwanted.sum(axis=1)
        return int((paid + np.maximum(self.budget, 0)).max(initial=0))


@dataclass(frozen=True)
class Openings:
    """k openings; a literal fits one if it costs at most its ``room`` int64[k] and satisfies all it asks."""

    room: Ints
    asks: tuple[Asks, ...]

    def take(self, at: Ints) -> Openings:
        return Openings(self.room[at], tuple(ask.take(at) for ask in self.asks))

    def __len__(self) -> int:
        return len(self.room)


class TooManyOpeningsError(Exception):
    """There are more openings than it pays to look at."""


@dataclass(frozen=True)
class Unknown:
    """Literals from outside a table: ``count`` of them in one term, each of cost at least ``least``."""

    count: int
    least: int


def openings(
    problem: SearchProblem,
    prices: Sequence[TermPrices],
    whole: int,
    unknown: Unknown,
    limits: Limits,
) -> list[Openings]:
    """The openings for the best of some unknown literals; ``whole`` bounds costs with a join a literal.

    First where all other terms are made of literals of the problem, then where there are prices.

    Raises TooManyOpeningsError, and LimitReachedError as any search does.
    """
    table = undominated_apart(problem, limits)
    order = np.argsort(table.cost, kind="stable")
    rest = whole - unknown.count * (unknown.least + problem.join_cost)
    try:
        others = disjunctions(problem, table, rest, problem.max_terms - 1, limits)
    except TooManyError:
        raise TooManyOpeningsError from None
    literals = _Literals(
        table.cost[order],
        unpack(problem.passing[table.index[order]], len(problem.pass_penalty)),
        unpack(problem.failing[table.index[order]], len(problem.fail_penalty)),
    )
    openers = [
        _BesideKnown(problem, literals, whole, unknown, limits, others),
        *(_Priced(problem, literals, whole, unknown, limits, one) for one in prices),
    ]
    return [found for found in (opener.run() for opener in openers) if len(found)]


@dataclass(frozen=True)
class _Literals:
    """Table literals, the cheapest first: ``cost`` with a join, truth on passing and failing scenes."""

    cost: Ints
    passed: Bools
    failed: Bools


@dataclass(frozen=True)
class _Part:
    """Table literals of a term: passes and fails that they cover, their size, the first that may follow.

    ``others`` are disjunctions, all of those that leave openings beside it.
    """

    wanted: Bools
    unwanted: Bools
    size: int
    first: int
    length: int
    others: Ints


class _Opener:
    """Goes through the parts of terms that leave room for the unknown literals."""

    def __init__(
        self, problem: SearchProblem, literals: _Literals, whole: int, unknown: Unknown, limits: Limits
    ) -> None:
        self.problem, self.literals, self.limits = problem, literals, limits
        self.pass_penalty = problem.pass_penalty.astype(np.int64)
        self.fail_penalty = problem.fail_penalty.astype(np.int64)
        self.count, self.least = unknown.count, unknown.least
        self.new = unknown.count * (unknown.least + problem.join_cost)
        """What the unknown literals add at least."""
        self.spoken_for = self.new - unknown.least
        """Of that, what is not the cost of the one to find."""
        self.cap = whole - self.spoken_for
        self.disjunctions = 0
        self.found: list[Openings] = []
        self.number = 0
        self.most_found = min(MOST_OPENINGS, MOST_CELLS / (len(self.pass_penalty) + len(self.fail_penalty)))

    def run(self) -> Openings:
        every_pass, every_fail = (
            np.ones(len(self.pass_penalty), np.bool_),
            np.ones(len(self.fail_penalty), np.bool_),
        )
        self._visit(_Part(every_pass, every_fail, 0, 0, 0, np.arange(self.disjunctions)))
        if not self.found:
            return Openings(np.zeros(0, np.int64), ())
        return self._undominated(_joined(self.found))

    def _take(self, part: _Part) -> Ints:
        """Note the openings beside a part; the disjunctions that leave them."""
        raise NotImplementedError

    def _note(self, found: Openings) -> None:
        self.found.append(found)
        self.number += len(found)
        if self.number > self.most_found:
            raise TooManyOpeningsError

    def _room(self, part: _Part, cost: Ints, wanted: Bools) -> Bools:
        """Whether the part leaves room with further literals of that cost and those passes left, (k,)."""
        raise NotImplementedError

    def _visit(self, part: _Part) -> None:
        part = replace(part, others=self._take(part))
        literals = self.literals
        end = int(np.searchsorted(literals.cost, self.cap - self.least - part.size, side="right"))
        if part.length + self.count >= self.problem.max_literals or part.first >= end:
            return
        self.limits.spend(1)
        later = slice(part.first, end)
        cost = literals.cost[later]
        shed = (part.unwanted & ~literals.failed[later]) @ self.fail_penalty
        at = np.flatnonzero((shed >= cost) & (int(self.fail_penalty @ part.unwanted) - shed >= self.new))
        wanted = part.wanted & literals.passed[later][at]
        room = self._room(part, cost[at], wanted)
        for index, covered in zip((part.first + at[room]).tolist(), wanted[room], strict=True):
            self._visit(
                _Part(
                    covered,
                    part.unwanted & literals.failed[index],
                    part.size + int(literals.cost[index]),
                    index + 1,
                    part.length + 1,
                    part.others,
                )
            )

    def _needed(self, part: _Part, rejected: Ints) -> Ints:
        """The most that a literal may cost without being idle, by the weight of fails left to reject."""
        if part.length == 0 and self.count == 1:
            return np.full_like(rejected, self.cap)
        return rejected - self.spoken_for

    def _undominated(self, found: Openings) -> Openings:
        """The openings that no other makes superfluous: one that all that fits them fits as well.

        What fits one opening fits another if what the other wants beyond it, and does not want beyond it,
        can be paid from the other's larger budget.
        """
        found = found.take(np.argsort(-found.room, kind="stable"))
        kept = np.zeros(0, np.int64)
        for first in range(0, len(found), BLOCK):
            self.limits.check()
            fresh = np.arange(first, min(first + BLOCK, len(found)))
            rivals = np.concatenate([kept, fresh])
            below = rivals[None, :] < fresh[:, None]
            for ask in found.asks:
                more = ask.budget[rivals][None, :] - ask.budget[fresh][:, None]
                below &= more >= _beyond(ask.wanted[rivals], ask.wanted[fresh]) + _beyond(
                    ask.unwanted[rivals], ask.unwanted[fresh]
                )
            kept = np.concatenate([kept, fresh[~below.any(axis=1)]])
            if len(kept) > MOST_KEPT:
                raise TooManyOpeningsError
        return found.take(kept)


class _BesideKnown(_Opener):
    """Openings beside disjunctions of table terms."""

    def __init__(
        self,
        problem: SearchProblem,
        literals: _Literals,
        whole: int,
        unknown: Unknown,
        limits: Limits,
        others: Others,
    ) -> None:
        super().__init__(problem, literals, whole, unknown, limits)
        self.others = others
        self.disjunctions = len(others.cost)

    def _take(self, part: _Part) -> Ints:
        others, further = self.others.take(part.others), self.count - 1
        budget = self.cap - part.size - others.beside(self.pass_penalty, ~part.wanted[None, :])[0]
        at = np.flatnonzero(budget >= self.least)
        wanted, unwanted = part.wanted & ~others.passed[at], part.unwanted & ~others.failed[at]
        covered, rejected = wanted @ self.pass_penalty, unwanted @ self.fail_penalty
        budget = budget[at]
        room = np.minimum(budget, self._needed(part, rejected))
        room = np.where(others.terms[at] > 0, np.minimum(room, covered - part.size - self.spoken_for), room)
        kept = np.flatnonzero(room >= self.least)
        near = part.others[at[kept]]
        if not len(kept):
            return near
        missed = wanted[kept] * self.pass_penalty
        wrong = unwanted[kept] * self.fail_penalty
        budget = budget[kept]
        asks = [Asks(missed, wrong, budget)]
        if further:
            asks = [
                Asks(missed, np.zeros_like(wrong), budget),
                Asks(missed, wrong * self.count, budget + further * rejected[kept]),
            ]
        self._note(Openings(room[kept], tuple(asks)))
        return near

    def _room(self, part: _Part, cost: Ints, wanted: Bools) -> Bools:
        left = self.cap - part.size - cost
        out: Bools = np.zeros(len(cost), np.bool_)
        near = self.others.take(part.others)
        for first in range(0, len(cost), BLOCK):
            some = slice(first, first + BLOCK)
            beside = near.beside(self.pass_penalty, ~wanted[some])
            out[some] = (left[some, None] - beside >= self.least).any(axis=1)
        return out


class _Priced(_Opener):
    """Openings under prices for hypotheses of q terms, others of which hold unknown literals."""

    def __init__(
        self,
        problem: SearchProblem,
        literals: _Literals,
        whole: int,
        unknown: Unknown,
        limits: Limits,
        prices: TermPrices,
    ) -> None:
        super().__init__(problem, literals, whole, unknown, limits)
        self.terms, self.prices = prices.terms, prices.prices
        self.most = prices.most(whole) - self.terms * self.spoken_for
        self.cap -= unknown.least + problem.join_cost + (self.terms - 2) * int(literals.cost[0])

    def _take(self, part: _Part) -> Ints:
        priced = (self.most + int(self.prices @ part.wanted) - self.terms * part.size) // self.terms
        capped = self.cap - part.size
        rejected = int(self.fail_penalty @ part.unwanted)
        covered = int(self.pass_penalty @ part.wanted)
        room = min(priced, capped, covered - part.size - self.spoken_for)
        room = min(room, int(self._needed(part, np.array([rejected]))[0]))
        if room < self.least:
            return part.others
        wanted, unwanted = part.wanted[None, :], part.unwanted[None, :]
        by_price = Asks(
            wanted * (self.prices // self.terms),
            unwanted * (0 if self.count > 1 else self.fail_penalty // self.terms),
            np.array([priced]),
        )
        by_size = Asks(
            np.zeros(wanted.shape, np.int64),
            unwanted * (self.count * self.fail_penalty),
            np.array([capped + (self.count - 1) * rejected]),
        )
        self._note(Openings(np.array([room]), (by_price, by_size)))
        return part.others

    def _room(self, part: _Part, cost: Ints, wanted: Bools) -> Bools:
        size = part.size + cost
        room = self.most + wanted @ self.prices - self.terms * size >= self.terms * self.least
        room &= wanted @ self.pass_penalty >= size + self.new
        out: Bools = room & (self.cap - size >= self.least)
        return out


def _joined(parts: Sequence[Openings]) -> Openings:
    asks = zip(*(part.asks for part in parts), strict=True)
    return Openings(
        np.concatenate([part.room for part in parts]),
        tuple(
            Asks(
                np.concatenate([one.wanted for one in some]),
                np.concatenate([one.unwanted for one in some]),
                np.concatenate([one.budget for one in some]),
            )
            for some in asks
        ),
    )


def _beyond(theirs: Ints, ours: Ints) -> Ints:
    """How much more theirs (m, n) ask for scenes for which ours (k, n) ask nothing, (k, m).

    Where both ask they ask the same.
    """
    sums: Ints = ((ours == 0).astype(np.float64) @ theirs.T.astype(np.float64)).astype(np.int64)
    return sums

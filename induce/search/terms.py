"""Mine terms on bit-vectors: all conjunctions that can still matter within a budget.

A call looks at one residual problem: passes not yet covered, fails not yet covered, and a budget
for a term together with everything that is to come after it. Partial terms grow depth first in a
compiled loop (:mod:`induce.search.term_kernel`), which comes back after some of them.

Facts used to prune, each for a most preferred optimum h (least cost, then fewest literals):

1. *No idle literal.* In a term of two or more literals each one rejects fails that no other
   literal of the term rejects and that no other term covers, weighing more than the literal costs;
   else dropping it would cost no more with fewer literals. Fails rejected by one literal alone only
   shrink as the term grows, and counting all fails not covered by *earlier* terms errs on the safe
   side, so the test holds for partial terms.
2. *No idle term* (``useful``, for hypotheses of two or more terms). Each term covers passes that no
   other term covers, weighing more than its size; else dropping it would cost no more. What it
   covers beyond the earlier terms is at least that.
3. *Diminishing returns.* The joint gain of several further literals is at most the sum of their
   single gains. A partial term of size s, open fails phi and at most m literals to come ends with
   size plus fails at least ``s + phi`` less the m largest ``gain - cost``.
4. *What remains.* ``rest(x)`` bounds from below all further cost once the term covers passes of
   weight x (uncovered passes included); it never rises with x, and x only shrinks as the term
   grows.
5. *Some fail must go.* List the fails that a partial term still covers, those that few literals
   reject first, until together they outweigh what the budget leaves after the cheapest further
   literal. A larger term within the budget rejects at least one of the list, so only literals that
   do so need be added next. To meet each set of literals once, each branch leaves out those of the
   branches before it.
6. *Only what fits above.* Cover and gain of a literal shrink as a term grows, so what does not fit
   beside a partial term, or fits no larger one, is left out below it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from induce.search.bits import WORD, Ints, Words
from induce.search.limits import Limits
from induce.search.table import Side, Table
from induce.search.term_stack import Asked, Columns, Found, begin

NODES_AT_ONCE, TERMS_AT_ONCE = 256, 256
"""After how many nodes, or finished terms, the loop comes back."""


@dataclass(frozen=True)
class MinedTerms:
    """Finished terms of d literals: ``members`` int64[m, d] (of the table), and int64[m] each."""

    members: Ints
    size: Ints
    cover: Ints
    wrong: Ints


@dataclass(frozen=True)
class Rest:
    """What remains once a term covers passes of weight x (fact 4).

    That is ``left - slope * x`` where no term follows. Where up to ``further`` do, each costs at least
    ``cheapest`` and covers at most x.
    """

    left: int
    slope: int = 1
    cheapest: int = 0
    further: int = 0

    def __call__(self, cover: Ints) -> Ints:
        after = self.left - self.slope * cover
        out = after
        for terms in range(1, self.further + 1):
            out = np.minimum(out, terms * self.cheapest + np.maximum(after - terms * cover, 0))
        return out


@dataclass
class Miner:
    """One residual problem. ``emit`` receives batches of finished terms whose cost fits the budget.

    ``budget`` is asked again for each batch, so it may shrink while mining. ``rest`` see above. A
    term's cost is ``share * size + fails + rest(cover)``; with ``share`` q the fails weigh a q-th
    of what they do in the objective. Terms whose size and fails at full weight exceed ``cap`` are
    of no interest.
    """

    table: Table
    limits: Limits
    open_pass: Words
    open_fail: Words
    budget: Callable[[], int]
    rest: Rest
    useful: bool
    emit: Callable[[MinedTerms], None]
    share: int = 1
    cap: int = 1 << 61

    def run(self) -> None:
        """Enumerate; raises LimitReachedError when a limit is reached first."""
        from induce.search.term_kernel import mine  # loads Numba, which a start without search should not

        table, rest = self.table, self.rest
        columns = Columns(
            table.passing.by_literal,
            table.failing.by_literal,
            table.passing.word_weights,
            table.failing.word_weights,
            table.cost,
            table.by_cost,
        )
        asked = Asked(
            self.share,
            self.cap,
            self.useful,
            table.max_literals,
            rest.left,
            rest.slope,
            rest.cheapest,
            rest.further,
        )
        stack, scratch = begin(columns, table.max_literals, self.open_pass, self.open_fail)
        room = TERMS_AT_ONCE + table.literals
        found = Found(
            np.empty((room, table.max_literals), np.int64), *(np.empty(room, np.int64) for _ in range(3))
        )
        done = False
        while not done:
            nodes = self.limits.allowance(NODES_AT_ONCE)
            number, seen, done = mine(
                columns, asked, self.budget(), nodes, TERMS_AT_ONCE, stack, scratch, found
            )
            self._emit(found, number)
            self.limits.spend(seen)

    def _emit(self, found: Found, number: int) -> None:
        """Hand on what was found, term length by term length."""
        lengths = (found.members[:number] >= 0).sum(axis=1)
        for length in range(1, self.table.max_literals + 1):
            at = np.flatnonzero(lengths == length)
            if len(at):
                self.emit(
                    MinedTerms(found.members[at, :length], found.size[at], found.cover[at], found.wrong[at])
                )


@cache
def get_ready() -> None:
    """Compile the loop if this machine has not yet, which takes seconds: call it before a clock runs."""
    words, one = np.zeros((1, 2), np.uint64), np.ones(1, np.uint64)
    side = Side(words, one, ((0, 1, 1),), np.zeros(WORD, np.int64))
    costs = np.ones(2, np.int64)
    table = Table(side, side, costs, costs, 0, max_terms=1, max_literals=2)
    found: list[MinedTerms] = []
    Miner(table, Limits(), one, one, lambda: 0, Rest(0), False, found.append).run()

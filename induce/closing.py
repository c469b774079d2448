"""Close a pool of literals: add every dearer one that a hypothesis within a budget could hold.

The pool has all literals up to some cost. A hypothesis within the budget may hold a few dearer ones
besides. Each fits an opening that the literals known leave (see `induce.search.openings`), so all
that fit are proposed: first the best of as many as one term has room for, then, with these known, of
one fewer, down to one. Prices stand for what other terms with unknown literals may do; when a term
turns up with which they would not hold, new prices are sought.
"""

from __future__ import annotations

from collections.abc import Callable

from induce.pool import LiteralPool
from induce.search import Openings, SearchProblem, Unknown, openings, term_prices, undercuts
from induce.search.limits import Limits

MOST_UNKNOWN = 3
"""Literals of one term that may be missing from a pool that is closed."""
ROUNDS = 8
EVERYTHING = 1 << 62


def close(
    pool: LiteralPool,
    complete: int,
    whole: int,
    problem: Callable[[LiteralPool], SearchProblem],
    propose: Callable[[Openings], LiteralPool | None],
    limits: Limits,
) -> LiteralPool | None:
    """The literals that hypotheses within the budget are made of, or None where that is too much work.

    Parameters
    ----------
    pool : LiteralPool
        All literals that cost up to `complete`, and some dearer ones for good prices. Takes in what is found.
    whole : int
        The budget: sizes, with a join for each literal, and penalties.
    problem : callable
        The search problem over the literals of a pool.
    propose : callable
        All literals dearer than `complete` that fit some opening; None when that is too much work.

    Raises
    ------
    TooManyOpeningsError, LimitReachedError
    """
    known = LiteralPool(pool.passes, pool.penalties, EVERYTHING)
    known.take(pool, complete)
    if not known.entries:
        return None
    asked = problem(known)
    each = complete + 1 + asked.join_cost
    unknown = min(whole // each, asked.max_literals)
    if unknown > MOST_UNKNOWN:
        return None
    cheapest = int(asked.cost.min()) + asked.join_cost
    several = [q for q in range(2, asked.max_terms + 1) if 2 * each + (q - 2) * cheapest <= whole]
    for _ in range(ROUNDS):
        prices = term_prices(problem(pool), several, whole, limits) if several else []
        closed = LiteralPool(pool.passes, pool.penalties, EVERYTHING)
        closed.take(known, EVERYTHING)
        for count in range(unknown, 0, -1):
            for left in openings(problem(closed), prices, whole, Unknown(count, complete + 1), limits):
                found = propose(left)
                if found is None:
                    return None
                closed.take(found, EVERYTHING)
        pool.take(closed, EVERYTHING)
        if not prices or not undercuts(problem(closed), prices, whole, limits):
            return closed
    return None

"""Drop literals that another literal makes redundant.

Literal A dominates B when A is true on every passing scene where B is, on no failing scene where B
is not, and ``(cost, index)`` of A is smaller. Replacing B by A in any DNF then covers no fewer
passes and no more fails at no more cost, and when the cost is equal the written form is preferred:
an optimum without B exists, and the most preferred optimum has no B. (If A already stands in B's
term, B merely goes.) Dominance is transitive, so literals may be removed one after the other.
"""

from __future__ import annotations

import numpy as np

from induce.search.limits import Limits
from induce.search.problem import SearchProblem
from induce.search.table import Indices, Table, build_table

STRONGEST = 4000


def undominated(table: Table, limits: Limits, strongest: int = STRONGEST) -> Indices:
    """Literals that none of the ``strongest`` ones dominates, ascending.

    Strength is the penalty covered less the penalty incurred. Testing only the strongest removes
    less and stays sound; it costs about 0.1 ms for each of them and 30,000 literals.
    """
    n = table.literals
    cover = table.passing.weigh(table.passing.words)
    wrong = table.failing.weigh(table.failing.words)
    rank = np.empty(n, dtype=np.int64)
    rank[np.lexsort((np.arange(n), table.cost))] = np.arange(n)
    alive = np.ones(n, dtype=np.bool_)
    for a in np.argsort(wrong - cover, kind="stable")[:strongest]:
        if not alive[a]:
            continue
        limits.check()
        rivals = np.flatnonzero(alive & (cover <= cover[a]) & (wrong >= wrong[a]) & (rank > rank[a]))
        for words in table.passing.words:
            rivals = rivals[words[rivals] & ~words[a] == 0]
        for words in table.failing.words:
            rivals = rivals[words[a] & ~words[rivals] == 0]
        alive[rivals] = False
    return np.flatnonzero(alive)


def undominated_apart(problem: SearchProblem, limits: Limits) -> Table:
    """The table of a problem without dominated literals, its scenes kept apart for further ones to tell."""
    table = build_table(problem, apart=True)
    return table.select(undominated(table, limits))

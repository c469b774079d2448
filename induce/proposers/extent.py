"""How many, and all of them: the ranges a count may ask for, and the least value among elements."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from induce.costs import DescriptionLength
from induce.profile import Scope
from induce.proposers.comparison import Direction
from induce.proposers.rows import Mask


class Range(NamedTuple):
    """Both bounds of a count, and what the count costs without its conditions."""

    price: int
    low: int
    high: int


def ranges(parent: Scope, cost: DescriptionLength, cap: int) -> list[Range]:
    """The ranges that cost at most `cap`, the cheapest first; none below the scene itself."""
    grammar = cost.grammar
    if not (grammar.count_ranges and grammar.allows("count")) or parent.depth > 0:
        return []
    found = [
        Range(cost.collect_range(parent, low, high), low, high)
        for low in range(1, grammar.max_count)
        for high in range(low + 1, grammar.max_count + 1)
    ]
    return sorted(one for one in found if one.price <= cap)


def lowest_ranks(scope: Scope, direction: Direction, mask: Mask) -> NDArray[np.int32]:
    """The lowest rank among the elements of each owner that are in `mask`, (parent rows,).

    -1 where one of them has no number, the highest rank where there are none.
    """
    lowest = np.full(scope.parent_rows, len(direction.gap_cost) - 1, np.int32)
    matched = np.flatnonzero(mask)
    if len(matched):
        owner = scope.owner[matched]
        first = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
        lowest[owner[first]] = np.minimum.reduceat(direction.ranks[matched], first)
    return lowest

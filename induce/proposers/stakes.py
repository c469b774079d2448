"""What hangs on an equality: the penalties of the scenes that hold its value.

An equality with a value that few scenes hold, or its negation, can be left out of a hypothesis with the
literal or the term it stands in, and only those scenes change their verdict: dropping a literal lets failing
ones in, dropping a term leaves passing ones out. So an equality that costs more than that is in no hypothesis
worth having. Where values hardly come back, that is nearly every equality.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from induce.column import Column
from induce.profile import Scope


class Stakes(NamedTuple):
    """For each row of a scope, (rows,): the most that an equality, and an inequality, could save there."""

    equal: NDArray[np.float64]
    unequal: NDArray[np.float64]

    def of(self, column: Column) -> tuple[list[float], list[float]]:
        """What equality and inequality with each value of the column could save, at most."""
        codes, values = column.codes + 1, len(column.distinct) + 1
        equal, unequal = (np.bincount(codes, side, values)[1:].tolist() for side in self)
        return equal, unequal


def stakes_of(root: Scope, passing: NDArray[np.float64], failing: NDArray[np.float64]) -> dict[int, Stakes]:
    """The stakes of each scope from `root` down, by its `id`.

    `passing` and `failing` are the penalties of each scene, 0 where the label differs. Of a scene, an
    equality covers passing ones and an inequality rejects failing ones. Of an element both do either, in a
    ``find`` or in its negation.
    """
    found = {id(root): Stakes(passing, failing)}
    either = np.maximum(passing, failing)
    pending = [(child, either) for child in root.children.values()]
    while pending:
        scope, above = pending.pop()
        here = above[scope.owner]
        found[id(scope)] = Stakes(here, here)
        pending.extend((child, here) for child in scope.children.values())
    return found

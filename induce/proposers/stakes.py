"""What hangs on an equality: the penalties of the scenes that hold its value, or lack elements.

An equality with a value that few scenes hold, or its negation, can be left out of a hypothesis with the
literal or the term it stands in, and only those scenes change their verdict: dropping a literal lets failing
ones in, dropping a term leaves passing ones out. So an equality that costs more than that is in no hypothesis
worth having. Where values hardly come back, that is nearly every equality.

Of an element it also says that there is one: a ``find`` of an inequality does not hold where there are no
elements, a ``count`` of at most so many where there is no array. If nothing else stands beside it, scenes
without elements change their verdict as well; deeper down, scenes where any element lacks them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from induce.column import Column
from induce.profile import Scope


class Stakes(NamedTuple):
    """For each row of a scope, (rows,): the most that an equality, and an inequality, could save there.

    And what either could save where there are no elements.
    """

    equal: NDArray[np.float64]
    unequal: NDArray[np.float64]
    equal_without: float = 0.0
    unequal_without: float = 0.0

    def of(self, column: Column) -> tuple[list[float], list[float]]:
        """What equality and inequality with each value of the column could save, at most."""
        codes, values = column.codes + 1, len(column.distinct) + 1
        equal = np.bincount(codes, self.equal, values)[1:] + self.equal_without
        unequal = np.bincount(codes, self.unequal, values)[1:] + self.unequal_without
        return equal.tolist(), unequal.tolist()


def stakes_of(root: Scope, passing: NDArray[np.float64], failing: NDArray[np.float64]) -> dict[int, Stakes]:
    """The stakes of each scope from `root` down, by its `id`.

    `passing` and `failing` are the penalties of each scene, 0 where the label differs. Of a scene, an
    equality covers passing ones and an inequality rejects failing ones. Of an element both do either, in a
    ``find`` or in its negation.
    """
    found = {id(root): Stakes(passing, failing)}
    scenes, whole = np.arange(len(root.rows)), np.zeros(len(root.rows), np.bool_)
    pending = [(child, scenes, whole) for child in root.children.values()]
    while pending:
        scope, above, lacked = pending.pop()
        scenes, lacking = above[scope.owner], lacked.copy()
        lacking[above[np.bincount(scope.owner, minlength=scope.parent_rows) == 0]] = True
        here = np.maximum(passing, failing)[scenes]
        without = max(float(passing[lacking].sum()), float(failing[lacking].sum()))
        no_array = float(failing[~scope.is_array].sum()) if scope.depth == 1 else without
        found[id(scope)] = Stakes(here, here, no_array, without)
        pending.extend((child, scenes, lacking) for child in scope.children.values())
    return found

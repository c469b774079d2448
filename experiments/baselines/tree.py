"""A decision tree of scikit-learn, four tests deep at most."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from experiments.baselines.features import Features, Table, Test, between
from experiments.baselines.fitted import Fitted, Split, Tree, fitted_constant, fitted_tree

DEPTH: Final = 4


def fit(features: Features, *, seed: int, time_limit: float) -> Fitted:  # noqa: ARG001 (the same for all learners)
    """Fit the tree to the weighted scenes; `seed` decides between equally good tests."""
    from sklearn.tree import DecisionTreeClassifier

    if not features.names or not features.weights.any():
        return fitted_constant(features)
    model = DecisionTreeClassifier(max_depth=DEPTH, random_state=seed)
    columns = SingleColumns(features.train)
    model.fit(columns.table, features.train_passes, sample_weight=features.weights)
    return fitted_tree(features, _read(model.tree_, model.classes_, columns, 0))


class SingleColumns:
    """A table whose neighbouring values can be cut apart in single precision, all that the trees see.

    Columns where that fails are replaced by the ordinals of their values, so that times in milliseconds and
    large amounts can be told apart; `threshold` gives the number that a cut stands for.
    """

    def __init__(self, table: Table) -> None:
        self.table = table.copy()
        self._values: dict[int, NDArray[np.float64]] = {}
        for column in range(table.shape[1]):
            values, ordinals = np.unique(table[:, column], return_inverse=True)
            with np.errstate(over="ignore", invalid="ignore"):
                seen = values.astype(np.float32).astype(np.float64)
                cuts = (seen[:-1] + seen[1:]) / 2
            apart = (seen[:-1] < seen[1:]) & (values[:-1] < cuts) & (cuts < values[1:])
            if not apart.all():
                self.table[:, column] = ordinals
                self._values[column] = values

    def threshold(self, column: int, cut: float) -> float:
        """The number in the column that lies where `cut` lies in the table."""
        if column not in self._values:
            return cut
        values, below = self._values[column], int(np.floor(cut))
        return between(float(values[below]), float(values[below + 1]))


def _read(tree: Any, classes: NDArray[Any], columns: SingleColumns, node: int) -> Tree:
    if tree.children_left[node] < 0:
        return bool(classes[tree.value[node][0].argmax()])
    column = int(tree.feature[node])
    test = Test(column, True, columns.threshold(column, float(tree.threshold[node])))
    then, otherwise = int(tree.children_right[node]), int(tree.children_left[node])
    return Split(test, _read(tree, classes, columns, then), _read(tree, classes, columns, otherwise))

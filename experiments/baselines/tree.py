"""A decision tree of scikit-learn, four tests deep at most."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.baselines.features import Features

DEPTH: Final = 4


class Fitted(NamedTuple):
    """What a learner made of the tables: its rule in words, the conditions in it, and its verdicts."""

    rule: str
    size: int
    train: NDArray[np.bool_]
    test: NDArray[np.bool_]


def fit_tree(features: Features, seed: int) -> Fitted:
    """Fit the tree; ``seed`` decides between equally good tests."""
    from sklearn.tree import DecisionTreeClassifier

    if not features.names:
        verdict = bool(features.weights @ features.train_passes * 2 >= features.weights.sum())
        return Fitted(
            "pass" if verdict else "fail",
            0,
            np.full(len(features.train), verdict),
            np.full(len(features.test), verdict),
        )
    model = DecisionTreeClassifier(max_depth=DEPTH, random_state=seed)
    model.fit(features.train, features.train_passes, sample_weight=features.weights)
    tree = model.tree_
    return Fitted(
        "\n".join(_lines(features, tree, model.classes_, 0, "")),
        int((tree.children_left >= 0).sum()),
        model.predict(features.train),
        model.predict(features.test),
    )


def _lines(features: Features, tree: Any, classes: NDArray[Any], node: int, indent: str) -> Iterator[str]:
    """``if`` and ``else`` down to the verdicts."""
    left, right = int(tree.children_left[node]), int(tree.children_right[node])
    if left < 0:
        yield f"{indent}{'pass' if classes[tree.value[node][0].argmax()] else 'fail'}"
        return
    test = features.condition(int(tree.feature[node]), ">", float(tree.threshold[node]))
    yield f"{indent}if {test}:"
    yield from _lines(features, tree, classes, right, f"{indent}  ")
    yield f"{indent}else:"
    yield from _lines(features, tree, classes, left, f"{indent}  ")

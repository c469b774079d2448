"""A greedy rule list of imodels: the best single test, then the best on what it leaves, at most five."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from experiments.baselines.features import Features, Test
from experiments.baselines.fitted import Fitted, ListedRule, fitted_constant, fitted_list
from experiments.baselines.tree import SingleColumns


def fit(features: Features, *, seed: int, time_limit: float) -> Fitted:  # noqa: ARG001 (the same for all learners)
    """Fit the list; weights repeat scenes, see `Features.repeated`."""
    from imodels import GreedyRuleListClassifier

    rows = features.repeated()
    if not features.names or len(np.unique(features.train_passes[rows])) < 2:
        return fitted_constant(features)
    random.seed(seed)
    np.random.seed(seed)  # the list's trees have no seed of their own
    columns = SingleColumns(features.train)
    model = GreedyRuleListClassifier()
    model.fit(columns.table[rows], features.train_passes[rows].astype(int))
    *rules, last = model.rules_
    return fitted_list(features, [_read(rule, columns) for rule in rules], float(last["val"]) > 0.5)


def _read(rule: dict[str, Any], columns: SingleColumns) -> ListedRule:
    column = int(rule["index_col"])
    test = Test(column, not rule["flip"], columns.threshold(column, float(rule["cutoff"])))
    return ListedRule((test,), float(rule["val_right"]) > 0.5)

"""RIPPER (Cohen 1995) of wittgenstein: rules for passing, grown, pruned and optimised."""

from __future__ import annotations

from typing import Final

import numpy as np

from experiments.baselines.conditions import conditions
from experiments.baselines.features import Features
from experiments.baselines.fitted import Fitted, ListedRule, fitted_constant, fitted_list

MOST_CONDITIONS: Final = 200


def fit(features: Features, *, seed: int, time_limit: float) -> Fitted:  # noqa: ARG001 (the same for all learners)
    """Fit the rules to tests of the columns; weights repeat scenes, see `Features.repeated`.

    The library's own bins are not used: they are rounded to two decimals.
    """
    import pandas as pd
    from wittgenstein import RIPPER

    given = conditions(features, MOST_CONDITIONS)
    rows = features.repeated()
    if not given.tests or len(np.unique(features.train_passes[rows])) < 2:
        return fitted_constant(features)
    names = [f"c{index}" for index in range(len(given.tests))]
    table = pd.DataFrame(given.truth[rows].astype(int), columns=names)
    model = RIPPER(random_state=seed, n_discretize_bins=None)
    model.fit(table, y=features.train_passes[rows].astype(int).tolist(), pos_class=1)
    rules = [
        ListedRule(
            tuple(
                test if int(cond.val) else test._replace(above=False)
                for cond in rule.conds
                for test in [given.tests[names.index(cond.feature)]]
            ),
            verdict=True,
        )
        for rule in model.ruleset_.rules
    ]
    return fitted_list(features, rules, default=False, note=given.note)

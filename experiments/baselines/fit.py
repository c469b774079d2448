"""Fitting the baselines that an experiment names, all on the same scenes and under the same time limit."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

from experiments.baselines.baseline import Baseline
from experiments.config import Learner
from induce.scenes import LabelledScenes

BASELINES: Final = ("tree", "ripper", "greedy_list", "optimal_list", "popper", "fastlas", "ilasp")


def fit_baselines(
    train: LabelledScenes,
    test: LabelledScenes,
    names: Iterable[str],
    *,
    time_limit: float,
    seed: int,
    grammar: Mapping[str, Any] | None = None,
    learner: Learner | None = None,
) -> tuple[Baseline, ...]:
    """Fit each named baseline on ``train`` and grade it on both.

    Parameters
    ----------
    names : iterable of str
        Of :data:`BASELINES`; in this order they are returned, each once.
    time_limit : float
        Seconds for each of them.
    grammar, learner
        The language bias and its limits, for the learners of logic programs.

    Raises
    ------
    ValueError
        When a name is unknown.
    """
    wanted = tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in BASELINES:
            raise ValueError(f"unknown baseline {name!r}; there are {', '.join(BASELINES)}")
    return tuple(_fit(name, train, test, seed) for name in wanted)


def _fit(name: str, train: LabelledScenes, test: LabelledScenes, seed: int) -> Baseline:
    if name != "tree":
        return Baseline(name, available=False, reason="not there yet")
    from experiments.baselines.features import encode
    from experiments.baselines.tree import fit_tree

    started = time.perf_counter()
    features = encode(train, test)
    fitted = fit_tree(features, seed)
    return Baseline(
        name,
        available=True,
        train_accuracy=float((fitted.train == features.train_passes).mean()),
        test_accuracy=float((fitted.test == features.test_passes).mean()),
        size=fitted.size,
        seconds=time.perf_counter() - started,
        rule=fitted.rule,
        stopped="finished",
    )

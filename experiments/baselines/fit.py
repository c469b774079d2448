"""Fitting the baselines that an experiment names, all on the same scenes and under the same time limit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from experiments.baselines.baseline import Baseline
from experiments.config import Learner
from induce.scenes import LabelledScenes

OVER_TABLES: Final = ("tree", "ripper", "greedy_list", "optimal_list")
PROGRAMS: Final = ("popper", "fastlas", "ilasp")
BASELINES: Final = (*OVER_TABLES, *PROGRAMS)


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

    Trees, rule sets and lists are fitted on the columns of `induce.SceneEncoder`, learners of logic programs
    on what `induce.export.task.export_task` writes, if their programs are on the PATH. What a baseline lacks,
    or how it failed, stands in its ``reason`` and is no error.

    Parameters
    ----------
    names : iterable of str
        Of :data:`BASELINES`; in this order they are returned, each once.
    time_limit : float
        Seconds for each of them, from the scenes to the rule.
    seed : int
        Of the learners that draw lots.
    grammar, learner
        The language bias and its limits, for the learners of logic programs.

    Raises
    ------
    ValueError
        When a name is unknown.
    SceneError
        When a scene has no label.
    """
    from experiments.baselines.tables import Task, fit_over_tables

    wanted = tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in BASELINES:
            raise ValueError(f"unknown baseline {name!r}; there are {', '.join(BASELINES)}")
    train.require_labels()
    test.require_labels()
    task = Task(train, test, time_limit, seed)
    found = [*fit_over_tables([name for name in wanted if name in OVER_TABLES], task)]
    for name in wanted:
        if name in PROGRAMS:
            found.append(Baseline(name, available=False, reason="not on the PATH"))
    by_name = {baseline.name: baseline for baseline in found}
    return tuple(by_name[name] for name in wanted)

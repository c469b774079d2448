"""Fitting the baselines that an experiment names, all on the same scenes and under the same time limit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from experiments.baselines.baseline import Baseline, Task
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
    wanted = tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in BASELINES:
            raise ValueError(f"unknown baseline {name!r}; there are {', '.join(BASELINES)}")
    train.require_labels()
    test.require_labels()
    if not len(train):
        return tuple(Baseline(name, available=True, reason="no scenes to learn from") for name in wanted)
    task = Task(train, test, time_limit, seed)
    found = {}
    if over_tables := [name for name in wanted if name in OVER_TABLES]:
        from experiments.baselines.tables import fit_over_tables  # scikit-learn is slow to import

        found = {baseline.name: baseline for baseline in fit_over_tables(over_tables, task)}
    for name in wanted:
        if name in PROGRAMS:
            from experiments.baselines.programs import fit_program

            found[name] = fit_program(name, task, grammar, learner)
    return tuple(found[name] for name in wanted)

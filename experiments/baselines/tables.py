"""Trees, rule sets and rule lists over the columns of `induce.SceneEncoder`, in a process of their own."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Final

from experiments.baselines.baseline import Baseline, Task, graded
from experiments.baselines.child import Done, Failed, Fit, Load, Scenes
from experiments.baselines.installed import PACKAGES, why_absent
from experiments.baselines.process import START, Learners, TimeUpError, learners

_SHARE: Final = 0.9
"""Of the time left, what a learner that watches the clock itself may use before its process is ended."""
_SEEDS: Final = 2**32
"""So many seeds numpy's generators know."""
_session = threading.Lock()


def fit_over_tables(names: Sequence[str], task: Task) -> Iterator[Baseline]:
    """Fit these learners, each a key of `experiments.baselines.child.LEARNERS`."""
    present = []
    for name in names:
        if reason := why_absent(name):
            yield Baseline(name, available=False, reason=reason)
        else:
            present.append(name)
    if present:
        with _session:
            yield from _ask(learners(), present, task)


def _ask(process: Learners, names: Sequence[str], task: Task) -> Iterator[Baseline]:
    """Ask for each learner; the tables are made again where the process had to be ended."""
    encoding: float | None = None
    for place, name in enumerate(names):
        if encoding is None or not process.running:
            try:
                made = process.ask(Scenes(task.train, task.test), task.time_limit)
            except TimeUpError:
                made = None
            if not isinstance(made, Done):
                for skipped in names[place:]:
                    yield _without_tables(skipped, made, task)
                return
            encoding = made.seconds
        yield _fit(process, name, encoding, task)


def _without_tables(name: str, failure: Failed | None, task: Task) -> Baseline:
    if failure is None:
        return Baseline.timed_out(name, task)
    return Baseline(name, available=True, reason=f"the scenes could not be made a table: {failure.message}")


def _fit(process: Learners, name: str, encoding: float, task: Task) -> Baseline:
    try:
        loaded = process.ask(Load(name), START)
    except TimeUpError:
        loaded = Failed(f"no import within {START:g} s")
    if isinstance(loaded, Failed):
        package = PACKAGES.get(name, name)
        return Baseline(name, available=False, reason=f"{package} can't be imported ({loaded.message})")
    if not process.running:
        return Baseline(name, available=True, reason="its process ended")
    left = task.time_limit - encoding
    try:
        if left <= 0:
            raise TimeUpError
        answer = process.ask(Fit(name, task.seed % _SEEDS, left * _SHARE), left)
    except TimeUpError:
        return Baseline.timed_out(name, task)
    if isinstance(answer, Failed):
        return Baseline(name, available=True, reason=f"it failed: {answer.message}")
    fitted = answer.fitted
    assert fitted is not None
    train_accuracy, train_wrong = graded(task.train, answer.train_wrong)
    test_accuracy, test_wrong = graded(task.test, answer.test_wrong)
    return Baseline(
        name,
        available=True,
        reason=answer.note,
        train_accuracy=train_accuracy,
        test_accuracy=test_accuracy,
        size=fitted.size,
        seconds=encoding + answer.seconds,
        rule=fitted.rule,
        stopped="finished" if fitted.finished else "time",
        train_wrong=train_wrong,
        test_wrong=test_wrong,
    )

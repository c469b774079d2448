"""Best-of-rounds timing of several tasks, in CPU seconds."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any, NamedTuple


class Task(NamedTuple):
    """Something to time: `run` on what `prepare` makes afresh for each round, outside the clock."""

    name: str
    evaluations: int
    prepare: Callable[[], Any]
    run: Callable[[Any], object]


class Figure(NamedTuple):
    """What a task took at best: CPU seconds for so many evaluations."""

    name: str
    evaluations: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Evaluations a CPU second."""
        return self.evaluations / self.seconds


def measure(tasks: Sequence[Task], rounds: int) -> list[Figure]:
    """The best of `rounds` rounds of each task, after one round to warm up.

    Every round runs every task once, so that a busy spell of the machine falls on all of them.
    """
    best = [float("inf")] * len(tasks)
    for number in range(rounds + 1):
        for index, task in enumerate(tasks):
            seconds = _seconds(task)
            if number:
                best[index] = min(best[index], seconds)
    return [Figure(task.name, task.evaluations, seconds) for task, seconds in zip(tasks, best, strict=True)]


def _seconds(task: Task) -> float:
    material = task.prepare()
    gc.collect()  # what earlier tasks left
    start = process_time()
    task.run(material)
    return max(process_time() - start, 1e-9)  # the clock may be coarse

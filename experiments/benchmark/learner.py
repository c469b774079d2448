"""The learner's speed on generated scenes, by their number and by the terms of the rule behind the labels.

Each learner learns from the same warehouse plans: this one with each of its engines, and a decision tree on
the columns of `SceneEncoder` (encoding counted). Every learning is a process of its own, so that its peak of
memory is its own, and every round has one of each, so that ratios are between neighbours in time. Starting
the process, imports and the making of the scenes are left out.
"""

from __future__ import annotations

import math
import multiprocessing
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Final, NamedTuple

from evaluator.text_table import text_table
from experiments.anytime import Anytime
from experiments.benchmark.memory import peak, resident
from experiments.datasets.warehouse import generate
from experiments.metrics import grade, milestones
from induce.learn import learn_check
from induce.scenes import LabelledScenes

RULES: Final = {
    1: "no_forklift_in_cold_zone",
    2: "heavy_with_sprinklers_or_small_and_inspected",
    3: "cooled_or_heavy_or_small",
}
"""Hidden rules by their number of terms, those of two and three of two literals each."""

TREE: Final = "tree"
UNSEEN: Final = 300
_WARM_UP: Final = 12


class Measured(NamedTuple):
    """One learning: what it took and what came of it.

    Times are in seconds, ``memory`` in MB above what the process held before. ``to_rule`` and the next two
    are those of :func:`experiments.metrics.milestones`. What a learner does not tell is None.
    """

    cpu: float
    wall: float
    memory: float | None
    accuracy: float
    to_rule: float | None = None
    to_best: float | None = None
    to_proof: float | None = None
    objective: float | None = None
    lower_bound: float | None = None
    nodes: int | None = None


class Case(NamedTuple):
    """A number of scenes and of terms, and each learner's rounds on it."""

    scenes: int
    terms: int
    rounds: dict[str, list[Measured]]


class LearnerReport(NamedTuple):
    """What the benchmark found."""

    seconds: float
    rounds: int
    cases: list[Case]


def benchmark_learner(
    scenes: Iterable[int],
    terms: Iterable[int],
    engines: Sequence[str],
    rounds: int,
    seconds: float,
    tell: Callable[[str], None] = lambda _: None,
) -> LearnerReport:
    """Measure each engine and the tree on each combination; ``seconds`` is the time limit of one learning."""
    cases = []
    for count in terms:
        for size in scenes:
            found: dict[str, list[Measured]] = {name: [] for name in (*engines, TREE)}
            for number in range(1, rounds + 1):
                for name, measured in found.items():
                    measured.append(_in_a_process(name, RULES[count], size, seconds))
                    tell(f"{size} scenes, rule of {count} terms: {name}, round {number} of {rounds}")
            cases.append(Case(size, count, found))
    return LearnerReport(seconds, rounds, cases)


def _in_a_process(name: str, rule: str, scenes: int, seconds: float) -> Measured:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        return pool.submit(measure, name, rule, scenes, seconds).result()


def measure(name: str, rule: str, scenes: int, seconds: float) -> Measured:
    """Measure one learning in this process, after one on few scenes that loads what is needed."""
    fit = _fit_tree if name == TREE else _learn(name, seconds)
    fit(generate(rule, "train", _WARM_UP, seed=1), generate(rule, "test", _WARM_UP, seed=1))
    train, test = generate(rule, "train", scenes), generate(rule, "test", UNSEEN)
    held, cpu, wall = resident(), time.process_time(), time.perf_counter()
    finish = fit(train, test)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    most = peak()
    memory = None if most is None or held is None else max(0.0, most - held)
    return Measured(cpu, wall, memory, **finish())


Fit = Callable[[LabelledScenes, LabelledScenes], Callable[[], dict[str, Any]]]
"""Fits to the first scenes; what it returns says, off the clock, how that went and is on the second."""


def _learn(engine: str, seconds: float) -> Fit:
    def fit(train: LabelledScenes, test: LabelledScenes) -> Callable[[], dict[str, Any]]:
        anytime = Anytime()
        result = learn_check(
            train.scenes, train.require_labels(), engine=engine, time_limit=seconds, progress=anytime
        )

        def finish() -> dict[str, Any]:
            anytime.finish(result)
            reached = milestones(anytime, result)
            return {
                "accuracy": grade(result.check, test).confusion.accuracy,
                "to_rule": reached.get("seconds_to_rule"),
                "to_best": reached.get("seconds_to_best"),
                "to_proof": reached.get("seconds_to_proof"),
                "objective": result.objective,
                "lower_bound": result.lower_bound,
                "nodes": result.nodes,
            }

        return finish

    return fit


def _fit_tree(train: LabelledScenes, test: LabelledScenes) -> Callable[[], dict[str, Any]]:
    from experiments.baselines import tree
    from experiments.baselines.features import encode

    tree.fit(encode(train, test.subset([0])), seed=0, time_limit=math.inf)  # one to judge: tables need some

    def finish() -> dict[str, Any]:
        features = encode(train, test)
        right = tree.fit(features, seed=0, time_limit=math.inf).test == features.test_passes
        return {"accuracy": float(right.mean())}

    return finish


def as_dict(report: LearnerReport) -> dict[str, Any]:
    """The report as JSON: medians over the rounds, and medians of the ratios within each round."""
    return {
        "seconds": report.seconds,
        "rounds": report.rounds,
        "python": platform.python_version(),
        "cases": [
            {
                "scenes": case.scenes,
                "terms": case.terms,
                "rule": RULES[case.terms],
                "learners": [
                    {
                        "name": name,
                        **{field: _median(values, field) for field in Measured._fields},
                        "cpu_to_tree": _ratio(values, case.rounds[TREE]),
                        "cpu_to_auto": _ratio(values, case.rounds.get("auto", [])),
                    }
                    for name, values in case.rounds.items()
                ],
            }
            for case in report.cases
        ],
    }


def table(report: LearnerReport) -> str:
    """The report for a reader."""
    head = ("scenes", "terms", "learner", "CPU s", "wall s", "rule s", "proof s", "MB", "unseen", "x tree")
    rows = []
    for case in report.cases:
        for name, values in case.rounds.items():
            figures = ("cpu", "wall", "to_rule", "to_proof", "memory")
            rows.append(
                (
                    str(case.scenes),
                    str(case.terms),
                    name,
                    *(_shown(_median(values, field), 1 if field == "memory" else 2) for field in figures),
                    f"{_median(values, 'accuracy') or 0:.1%}",
                    _shown(_ratio(values, case.rounds[TREE]), 1),
                )
            )
    told = (
        f"warehouse plans, {report.seconds:g} s at most, median of {report.rounds} "
        f"(rule: first one better than a constant; unseen: right on {UNSEEN} unseen scenes)"
    )
    return "\n".join([told, *text_table(head, rows, right=set(head) - {"learner"})])


def _median(values: Sequence[Measured], field: str) -> float | None:
    """The median of what all rounds have."""
    known = [getattr(one, field) for one in values]
    return None if not known or None in known else statistics.median(known)


def _ratio(values: Sequence[Measured], others: Sequence[Measured]) -> float | None:
    ratios = [one.cpu / max(other.cpu, 1e-9) for one, other in zip(values, others, strict=False)]
    return statistics.median(ratios) if ratios else None


def _shown(figure: float | None, digits: int) -> str:
    return "-" if figure is None else f"{figure:.{digits}f}"

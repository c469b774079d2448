"""One experiment: load labelled scenes, learn a check, grade it on unseen scenes, and say what came out."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from evaluator import json_text, sentence
from experiments.anytime import Anytime
from experiments.asking import ask
from experiments.baselines import Baseline, fit_baselines
from experiments.config import ExperimentConfig, flatten
from experiments.datasets.dataset import Dataset, load_dataset, load_pool
from experiments.environment import Environment
from experiments.evaluation import evaluate, figures, told
from experiments.learning import learn
from experiments.metrics import Grade, Truth, compare_with_rule, coverage, evidence, grade, milestones
from experiments.tracking import DatasetRecord, RunRecord, TrackedRun, masked
from induce.export import export_check, write_atomically
from induce.result import InductionResult
from induce.scenes import LabelledScenes
from induce.summary import result_lines, scene_lines


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one experiment found.

    ``anytime`` is how the learner came to its result, in ``cpu_seconds`` of this process; ``evaluation`` has
    the parts of :mod:`experiments.evaluation` that were asked for.
    """

    config: ExperimentConfig
    environment: Environment
    dataset: Dataset
    result: InductionResult
    train: Grade
    test: Grade
    started: float
    anytime: Anytime
    cpu_seconds: float
    baselines: tuple[Baseline, ...] = ()
    evaluation: Mapping[str, Any] = field(default_factory=dict)
    answers: int | None = None
    """The labels that were asked for, where ``asking.labels`` allowed some."""
    truth: Truth | None = None

    @property
    def recovered(self) -> bool:
        """Whether the check is right on every unseen scene."""
        return not self.test.confusion.wrong


def run_experiment(config: ExperimentConfig, folder: Path) -> Outcome:
    """Learn and grade as ``config`` says; relative paths start at ``folder``. Nothing is written.

    Raises :class:`evaluator.SceneError` for unusable files and :class:`ConfigError` for scenes that nothing
    can be learnt from.
    """
    started, environment = time.time(), Environment.of(folder)
    dataset = load_dataset(config.dataset, folder)
    answers, took = None, 0.0
    anytime = Anytime()

    def learnt(scenes: LabelledScenes) -> InductionResult:
        nonlocal anytime, took
        anytime, before = Anytime(), time.process_time()
        result = learn(config, scenes, anytime)
        took = time.process_time() - before
        anytime.finish(result)
        return result

    if config.asking.labels:
        asked = ask(
            config,
            dataset.train,
            load_pool(config.dataset, config.asking.pool, folder, config.seed),
            learn=learnt,
            exact=lambda result: not grade(result.check, dataset.test).mistakes,
        )
        result, answers = asked.result, asked.answers
        dataset = dataclasses.replace(dataset, train=asked.train)
    else:
        result = learnt(dataset.train)
    truth, rule = None, dataset.hidden_rule
    if rule is not None:
        truth = compare_with_rule(rule.check, result.misclassified, dataset.train, config.grammar)
    return Outcome(
        config=config,
        environment=environment,
        dataset=dataset,
        result=result,
        train=grade(result.check, dataset.train),
        test=grade(result.check, dataset.test),
        started=started,
        anytime=anytime,
        cpu_seconds=took,
        baselines=fit_baselines(
            dataset.train,
            dataset.test,
            config.baselines.names,
            time_limit=config.baselines.time_limit,
            seed=config.seed,
            grammar=config.grammar,
            learner=config.learner,
        ),
        evaluation=evaluate(config, result, dataset.train, dataset.test),
        answers=answers,
        truth=truth,
    )


def write_results(outcome: Outcome, composed: str, output: Path) -> tuple[Path, ...]:
    """Write the files of a run into ``output``; ``composed`` is its configuration.

    They are check.json, result.json, predictions.jsonl (each scene), misclassified.jsonl, config.yaml,
    environment.json and, where the configuration asks for it, evaluation.json.
    """
    splits = (("train", outcome.train), ("test", outcome.test))
    predictions = [{"split": split, **record} for split, found in splits for record in found.predictions]
    mistakes = [{"split": split, **record} for split, found in splits for record in found.mistakes]
    texts = {
        "check.json": export_check(outcome.result.to_check()),
        "result.json": f"{json_text(_result(outcome))}\n",
        "predictions.jsonl": _lines(predictions),
        "misclassified.jsonl": _lines(mistakes),
        "config.yaml": composed,
        "environment.json": f"{json_text(outcome.environment.to_dict())}\n",
    }
    if outcome.evaluation:
        texts["evaluation.json"] = f"{json_text(outcome.evaluation)}\n"
    paths = tuple(output / name for name in texts)
    for path, text in zip(paths, texts.values(), strict=True):
        write_atomically(path, text)
    if outcome.config.tracking.record and outcome.config.tracking.report:
        from experiments.report.pages import write_pages  # not at the top: draws with matplotlib

        paths += write_pages(output)
    return paths


def _lines(records: Iterable[Mapping[str, Any]]) -> str:
    return "".join(f"{json_text(record)}\n" for record in records)


def run_record(outcome: Outcome, files: tuple[Path, ...]) -> RunRecord:
    """What MLflow is told about the experiment. Sizes and bounds are in bits, ``optimal`` is 1 or 0."""
    config, dataset, result = outcome.config, outcome.dataset, outcome.result
    hashes = {"grammar_hash": result.grammar_hash, "data_hash": result.data_hash}
    address = {"tracking.uri": masked(config.tracking.uri)}
    versions = {f"version.{name}": version for name, version in _versions(outcome).items()}
    train_file, test_file = dataset.files or (None, None)
    return RunRecord(
        name=_title(config),
        params=flatten(msgspec.to_builtins(config)) | address | hashes | versions,
        metrics=metrics_of(outcome),
        datasets=(
            _dataset_record(dataset, "training", dataset.train, train_file),
            _dataset_record(dataset, "testing", dataset.test, test_file),
        ),
        files=files,
        started=outcome.started,
        tags=outcome.environment.tags() | {"proof": "proved" if result.optimal else "bound"},
        series=outcome.anytime.series(),
        check=result.to_check(),
    )


def metrics_of(outcome: Outcome) -> dict[str, float]:
    """The figures of a run by name; ``recovered`` is 1 when the check is right on every unseen scene.

    Where the rule is known there are those of :class:`experiments.metrics.Truth`; where labels were asked
    for, ``answers``, and whether 0, 5, 10 and 20 of them were enough. Seconds are those of
    :func:`experiments.metrics.milestones`.
    """
    result = outcome.result
    found = {
        "train_accuracy": outcome.train.confusion.accuracy,
        "test_accuracy": outcome.test.confusion.accuracy,
        "train_misclassified": outcome.train.confusion.wrong,
        "test_misclassified": outcome.test.confusion.wrong,
        "recovered": int(outcome.recovered),
        "size": result.size,
        "penalty": result.penalty,
        "objective": result.objective,
        "lower_bound": result.lower_bound,
        "optimal": int(result.optimal),
        "seconds": result.seconds,
        "atoms": result.atoms,
        "nodes": result.nodes,
        "cpu_seconds": outcome.cpu_seconds,
    }
    found |= milestones(outcome.anytime, result) | figures(outcome.evaluation)
    for baseline in outcome.baselines:
        found |= baseline.metrics()
    if outcome.truth is not None:
        found |= outcome.truth.to_dict()
    if outcome.answers is not None:
        found["answers"] = outcome.answers
        for most in (0, 5, 10, 20):
            found[f"recovered_by_{most}"] = int(outcome.recovered and outcome.answers <= most)
    return found


def _dataset_record(
    dataset: Dataset, context: str, scenes: LabelledScenes, file: Path | None
) -> DatasetRecord:
    return DatasetRecord(
        name=f"{dataset.name}-{context}",
        context=context,
        digest=scenes.digest(),
        source=dataset.source,
        counts=scenes.counts,
        file=file,
    )


def summary(outcome: Outcome) -> Iterator[str]:
    """The experiment in a few lines: counts, the check as a sentence and as JSON, proof, accuracy."""
    dataset, result = outcome.dataset, outcome.result
    train, *contradictions = scene_lines(dataset.train)
    yield f"run: {_title(outcome.config)}"
    yield f"dataset: {dataset.name}, {dataset.source}"
    yield f"train: {train}"
    yield f"test: {dataset.test.summary()}"
    yield from contradictions
    yield from result_lines(dataset.train, result, outcome.config.learner.time_limit)
    if dataset.hidden_rule is not None:
        yield f"hidden rule: {dataset.hidden_rule.says}"
    unseen = outcome.test.confusion
    if outcome.answers is not None:
        how = outcome.config.asking.how
        end = "the check is exact" if outcome.recovered else "the check is not exact"
        yield f"asked: {outcome.answers} labels ({how}), {end}"
    yield f"accuracy on unseen scenes: {unseen.accuracy:.3f} ({unseen.right} of {len(dataset.test)} right)"
    for baseline in outcome.baselines:
        yield f"baseline {baseline.line()}"
    yield from told(outcome.evaluation)


def summary_line(outcome: Outcome) -> str:
    """What came of the experiment in one line, for sweeps of many."""
    unseen, end = outcome.test.confusion, "recovered" if outcome.recovered else "not recovered"
    asked = "" if outcome.answers is None else f", {outcome.answers} labels asked"
    return f"{end}{asked}, {outcome.result.size:g} bits, accuracy on unseen scenes {unseen.accuracy:.3f}"


def tracking_summary(tracked: TrackedRun) -> Iterator[str]:
    """Where MLflow has the run, in three lines."""
    yield f"mlflow: {tracked.store}, experiment {tracked.experiment}, run {tracked.run_id}"
    yield f"artifacts: {tracked.artifacts}"
    yield f"look at it: {tracked.look}"


def _title(config: ExperimentConfig) -> str:
    return f"{config.dataset.title}, {config.learner.engine}, seed {config.seed}"


def _result(outcome: Outcome) -> dict[str, Any]:
    dataset = outcome.dataset
    rule = dataset.hidden_rule
    return {
        "dataset": {
            "name": dataset.name,
            "source": dataset.source,
            "train": {"digest": dataset.train.digest(), **dataset.train.counts},
            "test": {"digest": dataset.test.digest(), **dataset.test.counts},
            "hidden_rule": None if rule is None else {"says": rule.says, "check": rule.check},
        },
        "sentence": sentence(outcome.result.check),
        "induction": outcome.result.to_dict(),
        "anytime": outcome.anytime.to_list(),
        "metrics": metrics_of(outcome),
        "train": outcome.train.confusion.to_dict(),
        "test": outcome.test.confusion.to_dict(),
        "evidence": evidence(outcome.train.confusion, outcome.result.size),
        "coverage": coverage(outcome.result.check, dataset.train, dataset.test),
        "baselines": [baseline.to_dict() for baseline in outcome.baselines],
        "versions": _versions(outcome),
    }


def _versions(outcome: Outcome) -> dict[str, str]:
    """The versions that decide what is learnt; environment.json has them all."""
    found = outcome.environment
    return {"python": found.python} | {
        name: found.versions[name] for name in ("check-induction", "clingo", "numpy")
    }

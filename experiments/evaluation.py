"""How far a learnt check can be trusted: what a run measures beside its accuracy on unseen scenes.

The group ``evaluation`` of a configuration says which parts are wanted, and :func:`evaluate` gives those as
one JSON object (``evaluation.json``), each under its name:

``cross_validation``
    ``folds``, ``right``, ``total``, ``accuracy``, ``wrong`` (ids of training scenes) and ``rules``: each
    different check that was learnt from all folds but one, its ``sentence`` and in how many ``folds``.
``permutation``
    ``p_value``, ``objective``, ``rounds``, ``hits`` and ``cut_by_clock``, as
    :class:`induce.trust.PermutationTest` explains them.
``learning_curve``
    For each number of training ``scenes`` that something can be learnt from, the last of them all:
    ``train_accuracy``, ``test_accuracy``, ``size`` and ``objective`` in bits, ``optimal``, ``check`` and
    ``sentence``. Smaller sets are parts of larger ones.
``alternatives``
    Checks near the best that differ from it somewhere, as :class:`induce.differences.Alternative` has them.
``next_scenes``
    Edits of the training scenes whose label would settle most, as :class:`induce.query.Question` has them.

In place of a part that these scenes do not allow stands ``{"instead": reason}``. No part has a clock time in
it: where no time limit bites, the same configuration gives the same bytes.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluator import canonical_json, sentence
from experiments.config import ConfigError, ExperimentConfig
from experiments.learning import learn, rivals, sizes
from experiments.metrics import grade
from induce.crossval import class_sizes, cross_validate
from induce.differences import alternatives
from induce.parallel import in_parallel
from induce.query import next_scenes
from induce.result import InductionResult
from induce.scenes import LabelledScenes
from induce.trust import permutation_test


def evaluate(
    config: ExperimentConfig, result: InductionResult, train: LabelledScenes, test: LabelledScenes
) -> dict[str, Any]:
    """The parts that ``config.evaluation`` asks for; empty when it asks for none."""
    wanted, found = config.evaluation, dict[str, Any]()
    if wanted.folds:
        found["cross_validation"] = _cross_validation(config, train)
    if wanted.permutations:
        found["permutation"] = _permutation(config, result, train)
    if wanted.learning_curve:
        found["learning_curve"] = list(_learning_curve(config, result, train, test))
    if wanted.alternatives or wanted.next_scenes:
        found |= _open_questions(config, result, train)
    return found


def figures(evaluation: Mapping[str, Any]) -> dict[str, float]:
    """The single figures in it, as metrics of the run."""
    validation, permutation = evaluation.get("cross_validation", {}), evaluation.get("permutation", {})
    found = {"cross_validated_accuracy": validation.get("accuracy"), "p_value": permutation.get("p_value")}
    return {name: value for name, value in found.items() if value is not None}


def told(evaluation: Mapping[str, Any]) -> Iterator[str]:
    """It in lines for a reader, one for each part, alternative and question."""
    names = {"cross_validation": "cross-validation", "permutation": "shuffled labels"}
    for part, name in names.items():
        if "instead" in evaluation.get(part, {}):
            yield f"{name}: none; {evaluation[part]['instead']}"
    folds = evaluation.get("cross_validation", {})
    if "folds" in folds:
        rules = len(folds["rules"])
        learnt = "the same check in all of them" if rules == 1 else f"{rules} different checks"
        right = f"{folds['right']} of {folds['total']} right"
        yield f"cross-validation: {right} in {folds['folds']} folds, {learnt}"
    shuffled = evaluation.get("permutation", {})
    if "rounds" in shuffled:
        yield (
            f"shuffled labels: {shuffled['hits']} of {shuffled['rounds']} shufflings have a check as cheap "
            f"(p = {shuffled['p_value']:.3f})"
        )
    points = evaluation.get("learning_curve", ())
    if points:
        shown = (f"{point['test_accuracy']:.3f} from {point['scenes']}" for point in points)
        yield f"learning curve: {', '.join(shown)} scenes"
    for other in evaluation.get("alternatives", ()):
        yield f"alternative: {other['sentence']} ({other['distance']:g} bits dearer)"
    for asked in evaluation.get("next_scenes", ()):
        edits = "; ".join(asked["question"]["edits"])
        yield f"to label next: {asked['question']['source']} with {edits}"


def _cross_validation(config: ExperimentConfig, train: LabelledScenes) -> dict[str, Any]:
    folds = min(config.evaluation.folds, *class_sizes(train).values())
    if folds < 2:
        return {"instead": "two different scenes of each label are needed"}
    try:
        found = cross_validate(
            train, functools.partial(_check, config), folds, config.seed, n_jobs=config.learner.n_jobs
        )
    except ConfigError as error:
        return {"instead": str(error)}
    texts = [canonical_json(check) for check in found.checks]
    rules = sorted(
        dict(zip(texts, found.checks, strict=True)).items(), key=lambda rule: -texts.count(rule[0])
    )
    return {
        "folds": found.folds,
        "right": found.accuracy.right,
        "total": found.accuracy.total,
        "accuracy": found.accuracy.share,
        "wrong": list(found.accuracy.wrong),
        "rules": [
            {"check": check, "sentence": sentence(check), "folds": texts.count(text)} for text, check in rules
        ],
    }


def _check(config: ExperimentConfig, scenes: LabelledScenes) -> dict[str, Any]:
    return learn(config, scenes).check


def _permutation(config: ExperimentConfig, result: InductionResult, train: LabelledScenes) -> dict[str, Any]:
    try:
        found = permutation_test(
            train.scenes,
            train.require_labels(),
            config.evaluation.permutations,
            config.seed,
            check=result.check,
            grammar=config.grammar,
            sample_weight=train.weights,
            time_limit=config.learner.time_limit,
            n_jobs=config.learner.n_jobs,
            **sizes(config),
        )
    except ValueError as error:  # equal scenes count once, and what is left may be of one class
        return {"instead": str(error)}
    return {
        "p_value": found.p_value,
        "objective": found.objective,
        "rounds": found.rounds,
        "hits": found.hits,
        "cut_by_clock": found.cut_by_clock,
    }


def _learning_curve(
    config: ExperimentConfig, result: InductionResult, train: LabelledScenes, test: LabelledScenes
) -> Iterator[dict[str, Any]]:
    sizes = sorted({size for size in config.evaluation.learning_curve if size < len(train)})
    parts = [train.subset(part) for part in nested_parts(train.require_labels(), sizes, config.seed)]
    learnt = in_parallel(_learn_part, [(config, part) for part in parts], config.learner.n_jobs)
    for part, one in zip([*parts, train], [*learnt, result], strict=True):
        if one is None:
            continue
        yield {
            "scenes": len(part),
            "train_accuracy": grade(one.check, part).confusion.accuracy,
            "test_accuracy": grade(one.check, test).confusion.accuracy,
            "size": one.size,
            "objective": one.objective,
            "optimal": one.optimal,
            "check": one.check,
            "sentence": sentence(one.check),
        }


def _learn_part(config: ExperimentConfig, scenes: LabelledScenes) -> InductionResult | None:
    """None where nothing can be learnt: of equal scenes under both labels, say."""
    try:
        return learn(config, scenes)
    except ConfigError:
        return None


def nested_parts(labels: Sequence[str], sizes: Sequence[int], seed: int) -> list[tuple[int, ...]]:
    """Positions of so many scenes each, smaller parts inside larger ones, the labels' shares kept.

    ``sizes`` are ascending, from 2 on; each part has scenes of both labels.
    """
    positions = [[at for at, label in enumerate(labels) if label == wanted] for wanted in ("pass", "fail")]
    for name, group in zip(("pass", "fail"), positions, strict=True):
        random.Random(f"learning curve/{seed}/{name}").shuffle(group)
    passing, failing = positions
    parts = []
    for size in sizes:
        passes = round(size * len(passing) / len(labels))
        passes = min(max(passes, 1, size - len(failing)), size - 1, len(passing))
        parts.append(tuple(sorted((*passing[:passes], *failing[: size - passes]))))
    return parts


def _open_questions(
    config: ExperimentConfig, result: InductionResult, train: LabelledScenes
) -> dict[str, Any]:
    """Alternatives and what to label next, from one committee of near-best checks."""
    wanted, found = config.evaluation, dict[str, Any]()
    known = rivals(config, result, train)
    if wanted.alternatives:
        others = alternatives(known, train.scenes, wanted.alternatives, ids=train.ids)
        found["alternatives"] = [one.to_dict() for one in others]
    if wanted.next_scenes:
        questions = next_scenes(known, train.scenes, wanted.next_scenes, ids=train.ids)
        found["next_scenes"] = [one.to_dict() for one in questions]
    return found

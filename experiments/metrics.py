"""How well a check does on labelled scenes: accuracy, confusion, and the scenes it gets wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evaluator import compile_check
from experiments.anytime import Anytime
from induce import trust
from induce.costs import OutsideGrammarError
from induce.objective import objective_of
from induce.result import InductionResult
from induce.scenes import LabelledScenes


@dataclass(frozen=True, slots=True)
class Confusion:
    """Scenes by label and verdict: ``pass_as_fail`` are labelled pass and fail the check."""

    pass_as_pass: int
    pass_as_fail: int
    fail_as_pass: int
    fail_as_fail: int

    @property
    def right(self) -> int:
        return self.pass_as_pass + self.fail_as_fail

    @property
    def wrong(self) -> int:
        return self.pass_as_fail + self.fail_as_pass

    @property
    def accuracy(self) -> float:
        """The share of scenes whose verdict is their label."""
        return self.right / (self.right + self.wrong)

    def to_dict(self) -> dict[str, Any]:
        return {
            "accuracy": self.accuracy,
            "misclassified": self.wrong,
            "confusion": {
                "pass": {"pass": self.pass_as_pass, "fail": self.pass_as_fail},
                "fail": {"pass": self.fail_as_pass, "fail": self.fail_as_fail},
            },
        }


@dataclass(frozen=True, slots=True)
class Grade:
    """The verdicts of one check on labelled scenes, as the standard evaluator gives them."""

    confusion: Confusion
    predictions: tuple[dict[str, Any], ...]
    """A record for each scene: id, label, pass, gap, and why where the verdict is not the label."""
    mistakes: tuple[dict[str, Any], ...]
    """The records of the misclassified scenes, with the scene."""


def grade(check: Mapping[str, Any], scenes: LabelledScenes) -> Grade:
    """Run ``check`` on every scene; all of them must be labelled, and there must be at least one."""
    labels = scenes.require_labels()
    predictions = tuple(_predictions(check, scenes))
    pairs = [(label, record["pass"]) for label, record in zip(labels, predictions, strict=True)]
    confusion = Confusion(
        pass_as_pass=pairs.count(("pass", True)),
        pass_as_fail=pairs.count(("pass", False)),
        fail_as_pass=pairs.count(("fail", True)),
        fail_as_fail=pairs.count(("fail", False)),
    )
    wrong = tuple(
        {**record, "scene": scene}
        for record, scene in zip(predictions, scenes.scenes, strict=True)
        if "why" in record
    )
    return Grade(confusion, predictions, wrong)


@dataclass(frozen=True, slots=True)
class Truth:
    """What is known of a learnt check where the rule behind the labels is known.

    ``rule_size`` is in bits, None where the rule lies outside the grammar. Of the training labels,
    ``flipped`` differ from the rule's verdict, ``suspected`` from the learnt check's, and
    ``flipped_suspected`` from both.
    """

    rule_size: float | None
    flipped: int
    suspected: int
    flipped_suspected: int

    def to_dict(self) -> dict[str, float]:
        counts: dict[str, float] = {
            "flipped": self.flipped,
            "suspected": self.suspected,
            "flipped_suspected": self.flipped_suspected,
        }
        return counts if self.rule_size is None else {"rule_size": self.rule_size, **counts}


def compare_with_rule(
    rule: Mapping[str, Any], suspected: Collection[str], scenes: LabelledScenes, grammar: Mapping[str, Any]
) -> Truth:
    """Compare with the hidden ``rule`` a check that gets the scenes with ids ``suspected`` wrong."""
    labels = scenes.require_labels()
    try:
        size = objective_of(dict(rule), scenes.scenes, labels, dict(grammar)).size
    except OutsideGrammarError:
        size = None
    flipped = {record["id"] for record in grade(rule, scenes).mistakes}
    return Truth(size, len(flipped), len(suspected), len(flipped.intersection(suspected)))


def milestones(anytime: Anytime, result: InductionResult) -> dict[str, float]:
    """When a learning came how far, in seconds, as far as it did.

    ``seconds_to_rule`` is when it had its first check that beats a constant answer, ``seconds_to_best`` when
    it had the one that it ended with, ``seconds_to_proof`` when that was proved.
    """
    had = [(moment.seconds, moment.objective) for moment in anytime.moments if moment.objective is not None]
    found = {
        "seconds_to_rule": [seconds for seconds, objective in had if objective < result.constant],
        "seconds_to_best": [seconds for seconds, objective in had if objective == result.objective],
        "seconds_to_proof": [result.seconds] if result.optimal else [],
    }
    return {name: seconds[0] for name, seconds in found.items() if seconds}


def evidence(confusion: Confusion, size: float) -> dict[str, float]:
    """The figures of `induce.trust.Evidence`, in bits, of a rule that takes ``size`` bits to say."""
    table = trust.Confusion(
        true_pass=confusion.pass_as_pass,
        false_pass=confusion.fail_as_pass,
        true_fail=confusion.fail_as_fail,
        false_fail=confusion.pass_as_fail,
    )
    found = trust.Evidence.of(table, size)
    return {
        "labels": found.labels,
        "errors": found.errors,
        "rule": size,
        "saved": found.saved,
        "surplus": found.saved - size,
    }


def coverage(check: Mapping[str, Any], train: LabelledScenes, test: LabelledScenes) -> list[dict[str, Any]]:
    """How many scenes each term of ``check`` lets pass: of both labels, and those that no other term does."""
    seen, unseen = (
        trust.coverage_by_term(check, scenes.scenes, scenes.require_labels(), scenes.ids)
        for scenes in (train, test)
    )
    return [
        {"sentence": known.sentence, "train": _counts(known), "test": _counts(new)}
        for known, new in zip(seen, unseen, strict=True)
    ]


def _counts(term: trust.TermCoverage) -> dict[str, int]:
    return {"pass": len(term.right), "fail": len(term.wrong), "alone": len(term.alone)}


def _predictions(check: Mapping[str, Any], scenes: LabelledScenes) -> Iterator[dict[str, Any]]:
    evaluate = compile_check(check)
    for name, label, scene in zip(scenes.ids, scenes.labels, scenes.scenes, strict=True):
        found = evaluate(scene)
        if found.passed == (label == "pass"):
            yield {"id": name, "label": label, "pass": found.passed, "gap": found.gap}
        else:
            yield {"id": name, "label": label, **found.to_dict()}

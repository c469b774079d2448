"""What `induce learn` reports: the same facts as lines for a reader and as one JSON object for a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluator import json_text, sentence
from induce.crossval import Accuracy, CrossValidation
from induce.scenes import LabelledScenes

if TYPE_CHECKING:
    from induce.result import InductionResult

_NAMED_AT_MOST = 20


@dataclass(frozen=True)
class HeldOut:
    """Accuracy on scenes that were not learnt from, or the reason why there is none (`instead`)."""

    test: Accuracy | None = None
    cross_validation: CrossValidation | None = None
    instead: str | None = None


def scene_lines(scenes: LabelledScenes) -> Iterator[str]:
    """What is there to learn from."""
    yield scenes.summary()
    for group in scenes.contradictions():
        yield f"contradiction: the same scene is labelled both pass and fail: {_names(group)}"


def result_lines(
    scenes: LabelledScenes, result: InductionResult, time_limit: float, kept: float = 0.0
) -> Iterator[str]:
    """The check as a sentence and as JSON, its verdicts on the training scenes, and its objective.

    `kept` are the seconds of the time limit that learning did not have, as they are for cross-validation.
    """
    yield f"check: {sentence(result.check)}"
    yield f"json: {json_text(result.check)}"
    wrong = result.misclassified
    yield f"training: {_rightness(Accuracy(len(scenes) - len(wrong), len(scenes), wrong))}"
    yield f"objective: {_objective(result, time_limit, kept)}"
    if not result.beats_constant:
        yield (
            f"warning: always answering the same costs {_bits(result.constant)} bits, "
            "no more than this check; "
            "the labels look like noise, or the grammar cannot say the rule"
        )
    if result.vacuous:
        yield (
            f"vacuous: {_percent(result.vacuous)} of the passing scenes pass only because nothing happened "
            "that the check speaks of"
        )
    if result.alternatives:
        count = len(result.alternatives)
        yield f"ties: {count} other check{' has' if count == 1 else 's have'} the same objective"


def held_out_lines(held_out: HeldOut) -> Iterator[str]:
    """The accuracy on unseen scenes."""
    if held_out.test is not None:
        yield f"test: {_rightness(held_out.test)} (accuracy {held_out.test.share:.3f})"
    if held_out.cross_validation is not None:
        validation = held_out.cross_validation
        yield (
            f"cross-validation: {validation.accuracy.right} of {validation.accuracy.total} right "
            f"in {_folds(validation)} (accuracy {validation.accuracy.share:.3f}){_bitten(validation)}"
        )
    if held_out.instead is not None:
        yield f"cross-validation: none; {held_out.instead}"


def _folds(validation: CrossValidation) -> str:
    planned = validation.folds + validation.skipped
    return f"{validation.folds} of {planned} folds" if validation.skipped else f"{planned} folds"


def _bitten(validation: CrossValidation) -> str:
    """What the time limit did to the folds, if anything."""
    said = [f"stopped the search in {validation.cut} of them"] if validation.cut else []
    said += ["left no time for the others"] if validation.skipped else []
    return f"; the time limit {' and '.join(said)}" if said else ""


def to_dict(
    scenes: LabelledScenes, result: InductionResult, held_out: HeldOut, written: str | None
) -> dict[str, Any]:
    """Everything as one JSON-able object."""
    test, validation = held_out.test, held_out.cross_validation
    return {
        "scenes": scenes.counts,
        "contradictions": [list(group) for group in scenes.contradictions()],
        "ignored_keys": list(scenes.ignored_keys),
        "sentence": sentence(result.check),
        "result": result.to_dict(),
        "test": None if test is None else _accuracy_dict(test),
        "cross_validation": None
        if validation is None
        else {
            "folds": validation.folds,
            **_accuracy_dict(validation.accuracy),
            "checks": list(validation.checks),
            "stopped_by_time": validation.cut,
            "skipped": validation.skipped,
        },
        "written": written,
    }


def _accuracy_dict(accuracy: Accuracy) -> dict[str, Any]:
    return {
        "right": accuracy.right,
        "total": accuracy.total,
        "accuracy": accuracy.share,
        "wrong": list(accuracy.wrong),
    }


def _rightness(accuracy: Accuracy) -> str:
    text = f"{accuracy.right} of {accuracy.total} right"
    return f"{text}; wrong on {_names(accuracy.wrong)}" if accuracy.wrong else text


def _objective(result: InductionResult, time_limit: float, kept: float) -> str:
    parts = f"{_bits(result.size)} for the check"
    if result.penalty:
        parts += f" + {_bits(result.penalty)} for errors"
    if result.optimal:
        return f"{_bits(result.objective)} bits ({parts}), proved minimal"
    spared = f", {kept:.3g} s of it kept for cross-validation," if kept else ""
    reason = {
        "time": f"the time limit of {time_limit:g} s{spared} stopped the search",
        "work": "the work limit stopped the search",
        "interrupted": "it was interrupted",
    }.get(result.stopped, "the search ended at its own limits")
    return (
        f"{_bits(result.objective)} bits ({parts}), not proved minimal: "
        f"nothing is below {_bits(result.lower_bound)} bits, and {reason}"
    )


def _percent(share: float) -> str:
    """A share that is not zero; 100 % is said of all alone."""
    percent = min(max(round(100 * share), 1), 99)
    return "all" if share == 1 else f"{percent} %"


def _bits(bits: float) -> str:
    return f"{bits:.2f}".rstrip("0").rstrip(".")


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(name if name.isprintable() else json_text(name) for name in names[:_NAMED_AT_MOST])
    return shown if len(names) <= _NAMED_AT_MOST else f"{shown} and {len(names) - _NAMED_AT_MOST} more"

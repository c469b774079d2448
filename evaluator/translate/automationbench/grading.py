"""Scoring the end of a run as AutomationBench does: what counts, what is credited, and why.

Every assertion is asked of the end state and of the starting world. One that holds in both is left out: it is
free to an agent that does nothing. One marked `"scored": false` never counts, one marked `"excluded": false`
counts whatever the start was. Partial credit is the share of the counted ones that hold, and 0 when nothing
counts; a task is completed when all of them hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from evaluator.compile import CompiledCheck, compile_check
from evaluator.errors import CheckError, SceneError, kind_of
from evaluator.translate.automationbench.translation import Translation, translate_automationbench
from evaluator.translate.automationbench.worlds import normalise_world

Standing = Literal["counted", "free", "unscored", "untranslated"]
"""Whether an assertion counts for the score, and if not, why not."""


@dataclass(frozen=True, slots=True)
class GradedAssertion:
    """One assertion of a task at the end of a run.

    Attributes:
        index: its position in the task.
        assertion: the assertion as the task has it.
        standing: `counted`, `free` (holds at the start and at the end), `unscored` (the task says so), or
            `untranslated` (no rule for its type: it would count, and nothing is known about it).
        passed, gap, why: as of a `CheckResult` on the end state; None when it is untranslated.
        at_start: whether it holds in the starting world; None when it is untranslated.
        confidence: where the rule comes from (`source`, `port`, `usage`, `choice`); None when untranslated.
        approximate: whether the check says less than the rule; `needs` tells what is missing.
    """

    index: int
    assertion: Mapping[str, Any]
    standing: Standing
    passed: bool | None
    gap: float | None
    why: str | None
    at_start: bool | None
    confidence: str | None
    approximate: bool
    needs: tuple[str, ...]

    @property
    def type(self) -> str:
        """The type of the assertion."""
        return str(self.assertion.get("type"))

    def to_dict(self) -> dict[str, Any]:
        """The assertion and what came of it, as JSON."""
        return {
            "i": self.index,
            "type": self.type,
            "standing": self.standing,
            "pass": self.passed,
            "gap": self.gap,
            "why": self.why,
            "at_start": self.at_start,
            "confidence": self.confidence,
            "approximate": self.approximate,
            "needs": list(self.needs),
        }


@dataclass(frozen=True, slots=True)
class Grading:
    """The score of one run of a task, and what it is made of."""

    task: str
    assertions: tuple[GradedAssertion, ...]

    @property
    def counted(self) -> tuple[GradedAssertion, ...]:
        """The assertions that make the score."""
        return tuple(one for one in self.assertions if one.standing == "counted")

    @property
    def untranslated(self) -> tuple[GradedAssertion, ...]:
        """The assertions that would count but whose type has no rule."""
        return tuple(one for one in self.assertions if one.standing == "untranslated")

    @property
    def partial_credit(self) -> float:
        """The share of the counted assertions that hold, from 0 to 1; 0 when nothing counts."""
        counted = self.counted
        return sum(one.passed is True for one in counted) / len(counted) if counted else 0.0

    @property
    def completed(self) -> bool:
        """Whether all counted assertions hold; False when none counts or one that would is untranslated."""
        return self.partial_credit == 1.0 and not self.untranslated

    @property
    def gap(self) -> float:
        """How far the end state is from completing the task: the sum of the counted assertions' gaps."""
        return sum(one.gap or 0.0 for one in self.counted)

    def to_dict(self) -> dict[str, Any]:
        """The score and every assertion, as JSON."""
        counted = self.counted
        return {
            "task": self.task,
            "completed": self.completed,
            "partial_credit": self.partial_credit,
            "counted": len(counted),
            "passed": sum(one.passed is True for one in counted),
            "untranslated": [one.type for one in self.untranslated],
            "assertions": [one.to_dict() for one in self.assertions],
        }


class AssertionCheck(NamedTuple):
    """An assertion of a task made ready to be asked of end states."""

    assertion: Mapping[str, Any]
    translation: Translation | None
    check: CompiledCheck | None
    at_start: bool | None


class TaskGrader:
    """A task made ready to grade many end states: translated, compiled and asked of its start once.

    Attributes:
        name: the name of the task.
        start: the starting world, normalised.
        checks: one entry an assertion, in the order of the task.
    """

    def __init__(self, task: Mapping[str, Any]) -> None:
        """Translate and compile the assertions of a task, `{"task", "initial_state", "assertions"}`.

        Raises:
            SceneError: the task lacks a part, or one is of another kind.
            CheckError: a parameter of an assertion is of an impossible type; `place` says which.
        """
        require_task(task)
        self.name: str = task["task"]
        self.start: Any = normalise_world(task["initial_state"])
        self.checks: tuple[AssertionCheck, ...] = tuple(
            self._prepared(assertion, f"$.assertions[{index}]")
            for index, assertion in enumerate(task["assertions"])
        )

    def _prepared(self, assertion: dict[str, Any], place: str) -> AssertionCheck:
        try:
            translation = translate_automationbench(assertion, self.start)
        except CheckError as error:
            raise CheckError(error.problem, place + error.place.removeprefix("$")) from None
        if translation is None:
            return AssertionCheck(assertion, None, None, None)
        check = compile_check(translation.check)
        return AssertionCheck(assertion, translation, check, check.passes(self.start))

    def grade(self, final_world: Any) -> Grading:
        """The score of an end state, given as the run left it; it is normalised here and never changed.

        Raises `SceneError` when it is not a world, an object with an entry an app.
        """
        if not isinstance(final_world, dict):
            raise SceneError(f"expected a world, an object with an entry an app, got {kind_of(final_world)}")
        world = normalise_world(final_world)
        graded = (_graded(index, one, world) for index, one in enumerate(self.checks))
        return Grading(self.name, tuple(graded))


def grade(task: Mapping[str, Any], final_world: Any) -> Grading:
    """Score the end state of one run of a task, `{"task", "initial_state", "assertions"}`.

    Neither the task nor the world is changed. For many end states of one task a `TaskGrader` saves work.

    Raises:
        SceneError: the task lacks a part, or the world is no object.
        CheckError: a parameter of an assertion is of an impossible type; `place` says which.
    """
    return TaskGrader(task).grade(final_world)


def require_task(task: Any) -> None:
    """Raise `SceneError` unless it is a task: an object with a name, a starting world and assertions."""
    if not isinstance(task, Mapping):
        raise SceneError(f"expected a task, an object, got {kind_of(task)}", "$")
    parts = (
        ("task", str, "the name of the task"),
        ("initial_state", dict, "the starting world"),
        ("assertions", list, "the assertions"),
    )
    for key, kind, what in parts:
        if key not in task:
            expected = '"task", "initial_state" and "assertions"'
            raise SceneError(f'expected {what} under "{key}"; a task has {expected}', "$")
        if not isinstance(task[key], kind):
            raise SceneError(f"expected {what}, got {kind_of(task[key])}", f"$.{key}")
    for index, assertion in enumerate(task["assertions"]):
        if not isinstance(assertion, dict) or not isinstance(assertion.get("type"), str):
            raise SceneError('expected an assertion, an object with a "type"', f"$.assertions[{index}]")


def _graded(index: int, one: AssertionCheck, world: Any) -> GradedAssertion:
    assertion = one.assertion
    unscored = assertion.get("scored") is False
    if one.check is None or one.translation is None:
        standing: Standing = "unscored" if unscored else "untranslated"
        return GradedAssertion(index, assertion, standing, None, None, None, None, None, False, ())
    result = one.check(world)
    free = one.at_start and result.passed and assertion.get("excluded") is not False
    return GradedAssertion(
        index,
        assertion,
        "unscored" if unscored else "free" if free else "counted",
        result.passed,
        result.gap,
        result.why,
        one.at_start,
        one.translation.confidence,
        one.translation.approximate,
        tuple(one.translation.needs),
    )

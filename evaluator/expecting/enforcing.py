"""Enforcing what a chain came to: a test passes, fails, or ends as skipped since evidence was missing."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, TypeVar
from unittest import SkipTest

from evaluator.errors import kind_of
from evaluator.expecting.caller import calling_line
from evaluator.expecting.policy import Choices, NotEvaluated, policy_of, run_options
from evaluator.expecting.result import AgentResult
from evaluator.expecting.scope import current_scope
from evaluator.expecting.trials_result import TrialsResult

Verdict = TypeVar("Verdict", AgentResult, TrialsResult)


class ExpectationError(AssertionError):
    """What was expected of a run does not hold; the text lists what failed, and why.

    Attributes:
        result: the result that was enforced.
    """

    def __init__(self, text: str, result: AgentResult | TrialsResult) -> None:
        super().__init__(text)
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.result)


class NotEvaluatedError(SkipTest):
    """Nothing failed, but something could not be evaluated: the test has no verdict.

    It is a `unittest.SkipTest`, the signal by which pytest and unittest know that a test is skipped, and no
    `AssertionError`. A program that is no test meets an ordinary exception: a run without evidence is never
    taken for a good one.

    Attributes:
        result: the result that was enforced.
    """

    def __init__(self, text: str, result: AgentResult | TrialsResult) -> None:
        super().__init__(text)
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.result)


class NotEvaluatedWarning(UserWarning):
    """Something was not evaluated, and the policy is to warn and go on."""


for _raised in (ExpectationError, NotEvaluatedError, NotEvaluatedWarning):
    _raised.__module__ = "evaluator"  # the name that users know, and the shorter one in reports of tests


def enforce(
    verdict: Verdict,
    *,
    strict: bool | None = None,
    soft_limit: int | None = None,
    not_evaluated: NotEvaluated | None = None,
) -> Verdict:
    """Let a result decide: return it, or raise what makes the test fail or skipped.

    Parameters:
        verdict: what `inspect()` gave, or the result of trials.
        strict: whether what was not evaluated fails; by default as when it was inspected.
        soft_limit: how many soft failures this chain may have; by default as when it was inspected.
        not_evaluated: "skip", "warn" or "block" (see `NotEvaluated`); by default as when it was inspected.

    Raises:
        ExpectationError: an assertion failed hard; too many failed softly, here or in the whole run where
            that has a limit; or something was not evaluated under strict. It is an `AssertionError`.
        NotEvaluatedError: nothing of that, but something was not evaluated. It is a `unittest.SkipTest`.
        TypeError: the verdict is none, a chain that was not inspected, say.
    """
    __tracebackhide__ = True
    if not isinstance(verdict, AgentResult | TrialsResult):
        raise TypeError(f"enforce takes the result of inspect() or of trials, got {kind_of(verdict)}")
    asked = Choices(strict, soft_limit, not_evaluated)
    if asked != Choices():
        policy = policy_of(asked.over(verdict.policy.choices()))
        verdict = replace(verdict, policy=policy)
    beyond = _beyond_limit_of_run(verdict) if isinstance(verdict, AgentResult) else ""
    outcome = verdict.outcome
    if outcome == "fail" or beyond:
        raise ExpectationError(f"{beyond}{verdict.summary()}", verdict)
    if outcome == "skip":
        if verdict.policy.not_evaluated != "warn":
            raise NotEvaluatedError(verdict.summary(), verdict)
        file, line = calling_line()
        warnings.warn_explicit(verdict.summary(), NotEvaluatedWarning, file, line)
    return verdict


def _beyond_limit_of_run(result: AgentResult) -> str:
    """Count the soft failures that were not counted yet; what to say when the run has too many now."""
    new = [failure for failure in result.soft_failures if not failure.counted]
    for failure in new:
        failure.counted = True
    scope = current_scope()
    if scope is not None:
        scope.note_soft_failures([failure.sentence for failure in new])
    run = run_options()
    so_far = run.count_soft_failures(len(new))
    limit = run.choices().soft_limit
    if not new or limit is None or so_far <= limit:
        return ""
    return f"{so_far} soft failures in the whole run, {limit} allowed\n"

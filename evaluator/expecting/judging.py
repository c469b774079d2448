"""Running the assertions of a chain, each by itself, with its own score history."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluator.assertions.judgement import Status
from evaluator.assertions.method import find_method
from evaluator.assertions.run import AssertionResult, evaluate_assertion, providing
from evaluator.compile import compile_check
from evaluator.expecting.assertion import CHECK, Assertion
from evaluator.expecting.result import JudgedAssertion
from evaluator.providers import History, Providers
from evaluator.providers.errors import HistoryError


def judge_assertion(assertion: Assertion, scene: dict[str, Any], providers: Providers) -> JudgedAssertion:
    """What an assertion says of a scene. Scores of semantic ones are remembered under their stable id."""
    if assertion.method == CHECK:
        with providing(providers):
            return JudgedAssertion(assertion, _checked(assertion.args["check"], scene, soft=assertion.soft))
    wire = {"method": assertion.method, "args": assertion.args}
    history = providers.history
    if history is None or isinstance(history, Sequence) or find_method(assertion.method).family != "semantic":
        return JudgedAssertion(assertion, evaluate_assertion(scene, wire, providers))
    result = evaluate_assertion(scene, wire, replace(providers, history=_earlier(history, assertion)))
    if result.status != "not_evaluated" and result.reason is None:
        _remember(history, assertion, result)
    return JudgedAssertion(assertion, result)


def _checked(check: dict[str, Any], scene: dict[str, Any], *, soft: bool) -> AssertionResult:
    """What a check says: a failure is soft where that is asked for, or where the check itself says so."""
    compiled = compile_check(check)
    result = compiled(scene)
    said = result.meta if compiled.three_valued else {}
    status: Status = said.get("status", "pass" if result.passed else "hard_fail")
    if soft and status == "hard_fail":
        status = "soft_fail"
    score = 1.0 if status == "pass" else 0.0
    return AssertionResult(status, score, result.gap, lambda: result.why, said.get("reason"))


def _earlier(history: History, assertion: Assertion) -> Sequence[Mapping[str, Any]]:
    """The earlier scores, where they are asked for."""
    return history.scores(assertion.id) if assertion.args.get("threshold") == "dynamic" else ()


def _remember(history: History, assertion: Assertion, result: AssertionResult) -> None:
    try:
        history.record(assertion.id, result.score, result.status)
    except HistoryError as error:  # the verdict stands without it
        warnings.warn(f"the score of {assertion.method} is not remembered: {error}", stacklevel=2)

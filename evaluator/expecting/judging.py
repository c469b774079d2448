"""Running the assertions of a chain, each by itself, with its own score history."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluator.assertions.method import find_method
from evaluator.assertions.run import AssertionResult, evaluate_assertion, providing
from evaluator.compile import compile_check
from evaluator.expecting.assertion import CHECK, Assertion
from evaluator.expecting.result import JudgedAssertion
from evaluator.providers import History, Providers
from evaluator.providers.errors import HistoryError
from evaluator.result import CheckResult


def judge_assertion(assertion: Assertion, scene: dict[str, Any], providers: Providers) -> JudgedAssertion:
    """What an assertion says of a scene. Scores of semantic ones are remembered under their stable id."""
    if assertion.method == CHECK:
        with providing(providers):
            checked = compile_check(assertion.args["check"])(scene)
        return JudgedAssertion(assertion, _of_check(checked, soft=assertion.soft))
    wire = {"method": assertion.method, "args": assertion.args}
    history = providers.history
    if history is None or isinstance(history, Sequence) or find_method(assertion.method).family != "semantic":
        return JudgedAssertion(assertion, evaluate_assertion(scene, wire, providers))
    result = evaluate_assertion(scene, wire, replace(providers, history=_earlier(history, assertion)))
    if result.status != "not_evaluated" and result.reason is None:
        _remember(history, assertion, result)
    return JudgedAssertion(assertion, result)


def _of_check(result: CheckResult, *, soft: bool) -> AssertionResult:
    if result.passed:
        return AssertionResult("pass", 1.0, 0.0, lambda: result.why)
    return AssertionResult("soft_fail" if soft else "hard_fail", 0.0, result.gap, lambda: result.why)


def _earlier(history: History, assertion: Assertion) -> Sequence[Mapping[str, Any]]:
    """The earlier scores, where they are asked for."""
    return history.scores(assertion.id) if assertion.args.get("threshold") == "dynamic" else ()


def _remember(history: History, assertion: Assertion, result: AssertionResult) -> None:
    try:
        history.record(assertion.id, result.score, result.status)
    except HistoryError as error:  # the verdict stands without it
        warnings.warn(f"the score of {assertion.method} is not remembered: {error}", stacklevel=2)

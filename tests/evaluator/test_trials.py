"""Trials outside pytest: a function that calls a test several times and enforces the verdict of all."""

from __future__ import annotations

import asyncio
import unittest
from collections.abc import Callable
from typing import Any

import pytest

from evaluator import ExpectationError, NotEvaluatedError, TrialsResult, enforce, expect, trials
from evaluator.expecting import Trial
from evaluator.expecting.scope import Scope, current_scope, entering
from evaluator.providers.errors import BudgetExceededError

RUN: dict[str, Any] = {"steps": [{"type": "tool_call", "name": "search"}]}


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EVALUATOR_STRICT", "ATTEST_STRICT", "EVALUATOR_MIN_PASS"):
        monkeypatch.delenv(name, raising=False)


def turns(*outcomes: str) -> Callable[[], None]:
    """A test that takes these turns: it passes, fails, breaks, is skipped, or leaves a chain."""
    left = iter(outcomes)

    def test() -> None:
        chain = expect(RUN)
        outcome = next(left)
        if outcome == "left":
            return
        if outcome == "broken":
            raise TimeoutError("the agent did not answer")
        if outcome == "skip":
            chain.tokens_under(5)
        chain.required_tools(["pay" if outcome == "fail" else "search"]).evaluate()

    return test


def test_all_must_pass_unless_less_is_asked() -> None:
    trials(3)(turns("pass", "pass", "pass"))()
    with pytest.raises(ExpectationError) as failed:
        trials(3)(turns("pass", "fail", "broken"))()
    assert str(failed.value).splitlines() == [
        "1 of 3 trials passed; 100 % must",
        "  trial 2 failed: required_tools: steps: expected every one of 1 names, missing: pay",
        "  trial 3 failed: TimeoutError: the agent did not answer",
    ]
    trials(4, min_pass=0.75)(turns("pass", "fail", "pass", "pass"))()
    with pytest.raises(ExpectationError, match="1 of 2 trials passed; 51 % must"):
        trials(2, min_pass=0.51)(turns("pass", "fail"))()


def test_a_trial_that_leaves_a_chain_unevaluated_fails() -> None:
    with pytest.raises(ExpectationError, match="trial 2 failed: a chain was left unevaluated, made at "):
        trials(2)(turns("pass", "left"))()


def test_missing_evidence_decides_only_where_it_can() -> None:
    trials(3, min_pass=0.5)(turns("pass", "skip", "pass"))()
    with pytest.raises(NotEvaluatedError, match="2 of 3 trials passed, 1 not evaluated; 100 % must"):
        trials(3)(turns("pass", "skip", "pass"))()
    with pytest.raises(ExpectationError):
        trials(3, min_pass=0.9)(turns("pass", "skip", "fail"))()


def test_a_strict_run_does_not_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    def skipped() -> None:
        raise unittest.SkipTest("no agent today")

    with pytest.raises(NotEvaluatedError, match="trial 1 skipped: no agent today"):
        trials(2)(skipped)()
    monkeypatch.setenv("EVALUATOR_STRICT", "1")
    with pytest.raises(ExpectationError):
        trials(2)(skipped)()


def test_the_share_comes_from_the_environment_when_the_test_says_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EVALUATOR_MIN_PASS", "0.5")
    trials(2)(turns("pass", "fail"))()
    with pytest.raises(ExpectationError):
        trials(2, min_pass=1)(turns("pass", "fail"))()


def test_a_spent_budget_ends_all_trials() -> None:
    ran = []

    @trials(3)
    def spent() -> None:
        ran.append(1)
        raise BudgetExceededError("the session's budget is spent", "usd")

    with pytest.raises(BudgetExceededError):
        spent()
    assert len(ran) == 1


def test_an_async_test_is_repeated_and_keeps_its_arguments() -> None:
    seen = []

    @trials(3)
    async def ask(question: str, *, again: bool) -> None:
        await asyncio.sleep(0)
        seen.append((question, again))
        await expect(RUN).required_tools(["search"]).evaluate_async()

    asyncio.run(ask("why", again=True))
    assert seen == [("why", True)] * 3
    assert ask.__name__ == "ask"


def test_ids_are_the_same_in_every_trial() -> None:
    ids = []

    @trials(2)
    def test() -> None:
        chain = expect(RUN).required_tools(["search"]).required_tools(["search"])
        ids.append([assertion.id for assertion in chain.assertions])
        chain.evaluate()

    test()
    with entering(Scope("another test")):
        test()
    assert ids[0] == ids[1] != ids[2] == ids[3]
    assert current_scope() is None


def test_a_runner_that_repeats_the_test_is_left_to_it() -> None:
    with entering(Scope("a test", trial=True)):
        trials(5)(turns("pass"))()


@pytest.mark.parametrize(
    ("count", "min_pass"),
    [(0, None), (True, None), ("3", None), (2, 0), (2, 1.01), (2, "all"), (2, float("nan"))],
)
def test_numbers_that_mean_nothing_are_refused(count: Any, min_pass: Any) -> None:
    with pytest.raises(ValueError, match=r"(trials|min_pass): expected"):
        trials(count, min_pass=min_pass)


def test_an_aggregate_verdict_can_be_enforced() -> None:
    passed, failed, skipped = Trial("pass"), Trial("fail", "no"), Trial("skip", "unknown")
    good = TrialsResult((passed, passed, failed), min_pass=2 / 3)
    assert enforce(good) is good
    assert (good.outcome, good.passed, bool(good), good.share) == ("pass", False, True, 2 / 3)
    with pytest.raises(ExpectationError):
        enforce(TrialsResult((passed, failed)))
    open_ = TrialsResult((passed, skipped))
    with pytest.raises(NotEvaluatedError):
        enforce(open_)
    with pytest.raises(ExpectationError):
        enforce(open_, strict=True)
    assert TrialsResult((passed,) * 7 + (failed,) * 3, min_pass=0.7).outcome == "pass"

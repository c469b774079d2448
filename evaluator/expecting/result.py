"""What a chain of assertions came to: each one's result, and the outcome of all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from evaluator.assertions.outcome import aggregate_outcome
from evaluator.assertions.run import AssertionResult
from evaluator.expecting.assertion import Assertion
from evaluator.expecting.policy import DEFAULT_POLICY, Policy
from evaluator.values import MISSING

_MOST_LINES: Final = 40


class JudgedAssertion(AssertionResult):
    """The result of one assertion of a chain: an `AssertionResult` that knows its assertion.

    Attributes:
        assertion: what was demanded, with its stable id.
        counted: whether it was counted among the soft failures of the run, which happens once.
    """

    __slots__ = ("assertion", "counted")

    def __init__(self, assertion: Assertion, result: AssertionResult) -> None:
        super().__init__(result.status, result.score, result.gap, lambda: result.why, result.reason)
        self.assertion = assertion
        self.counted = False

    @property
    def id(self) -> str:
        """The stable id of the assertion."""
        return self.assertion.id

    @property
    def method(self) -> str:
        """The method of the assertion."""
        return self.assertion.method

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON, with the `id` and `method` of its assertion."""
        return {"id": self.id, "method": self.method} | super().to_dict()

    def __reduce__(self) -> tuple[Any, ...]:
        said = AssertionResult(self.status, self.score, self.gap, self.why, self.reason)
        return JudgedAssertion, (self.assertion, said)

    @property
    def sentence(self) -> str:
        """The method and why, on one line."""
        why = self.why
        return why if why.startswith(f"{self.method}: ") else f"{self.method}: {why}"


@dataclass(frozen=True, eq=False)
class AgentResult:
    """One run of an agent, and what its assertions said of it. It is true when all of them passed.

    Attributes:
        trace: the trace of the run.
        results: the assertions' results, in the order they were made.
        world: the snapshot of the world beside the trace; `MISSING` where there is none.
        policy: what is made of soft failures and of what was not evaluated.
    """

    trace: dict[str, Any]
    results: tuple[JudgedAssertion, ...] = ()
    world: Any = field(default=MISSING, repr=False)
    policy: Policy = DEFAULT_POLICY

    @property
    def outcome(self) -> Literal["pass", "skip", "fail"]:
        """What becomes of the test: see `aggregate_outcome`; soft failures within the limit pass."""
        statuses = (result.status for result in self.results)
        strict, limit = self.policy.strict, self.policy.soft_limit
        return aggregate_outcome(statuses, strict=strict, soft_limit=limit).outcome

    @property
    def passed(self) -> bool:
        """Whether every assertion passed, without a soft failure and none left not evaluated."""
        return all(result.passed for result in self.results)

    @property
    def hard_failures(self) -> tuple[JudgedAssertion, ...]:
        """The results with the status `hard_fail`."""
        return self._with("hard_fail")

    @property
    def soft_failures(self) -> tuple[JudgedAssertion, ...]:
        """The results with the status `soft_fail`."""
        return self._with("soft_fail")

    @property
    def not_evaluated(self) -> tuple[JudgedAssertion, ...]:
        """The results with the status `not_evaluated`."""
        return self._with("not_evaluated")

    @property
    def scene(self) -> dict[str, Any]:
        """The run as a scene for checks: the trace, and the world where there is one."""
        scene = {"trace": self.trace}
        return scene if self.world is MISSING else scene | {"world": self.world}

    def summary(self) -> str:
        """What did not pass and why, in lines; what failed hard comes first."""
        counted = len(self.results)
        lines: list[str] = []
        failed = self.hard_failures
        if failed:
            lines += _told(f"{len(failed)} of {counted} assertions failed" if counted > 1 else "", failed)
        if self.soft_failures:
            limit = self.policy.soft_limit
            allowed = "" if limit is None else f", {limit} allowed"
            lines += _told(f"{_failures(len(self.soft_failures))}{allowed}", self.soft_failures)
        if self.not_evaluated:
            title = f"{len(self.not_evaluated)} of {counted} assertions not evaluated" if counted > 1 else ""
            if self.policy.strict:
                title = f"{title}, a failure under strict" if title else "a failure under strict"
            lines += _told(title, self.not_evaluated)
        return "\n".join(lines) if lines else f"{counted} of {counted} assertions passed"

    def to_dict(self) -> dict[str, Any]:
        """The outcome as JSON: `outcome`, `passed` and the `results`."""
        results = [result.to_dict() for result in self.results]
        return {"outcome": self.outcome, "passed": self.passed, "results": results}

    def _with(self, status: str) -> tuple[JudgedAssertion, ...]:
        return tuple(result for result in self.results if result.status == status)

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return f"{self.outcome}: {self.summary()}"


def _told(title: str, results: Iterable[JudgedAssertion]) -> list[str]:
    sentences = [result.sentence for result in results]
    if len(sentences) == 1:
        return [f"{sentences[0]} ({title})" if title else sentences[0]]
    lines = [f"{title}:"]
    lines += [f"  {sentence}" for sentence in sentences[:_MOST_LINES]]
    if len(sentences) > _MOST_LINES:
        lines.append(f"  ... and {len(sentences) - _MOST_LINES} more")
    return lines


def _failures(count: int) -> str:
    return "1 soft failure" if count == 1 else f"{count} soft failures"

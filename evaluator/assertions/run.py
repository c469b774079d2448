"""Running one assertion on one trace, as the expect DSL does; and the providers that a run may call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from evaluator.assertions.judgement import SpecError, Status, Why
from evaluator.assertions.method import find_method
from evaluator.assertions.view import view_of
from evaluator.errors import CheckError, kind_of

if TYPE_CHECKING:
    from evaluator.providers import Providers


class AssertionResult:
    """What one assertion says of one trace.

    Attributes:
        status: `pass`, `soft_fail`, `hard_fail` or `not_evaluated`.
        score: in 0…1.
        gap: 0.0 exactly when the status is `pass`.
        reason: what kind of failure it is, or why it was not evaluated; None where there is nothing to say.
    """

    __slots__ = ("_why", "gap", "reason", "score", "status")

    def __init__(self, status: Status, score: float, gap: float, why: Why, reason: str | None = None) -> None:
        self.status: Status = status
        self.score = score
        self.gap = gap
        self.reason = reason
        self._why = why

    @property
    def why(self) -> str:
        """One line that says what was expected and what was there; built when first asked for."""
        if not isinstance(self._why, str):
            self._why = self._why()
        return self._why

    @property
    def passed(self) -> bool:
        """Whether the status is `pass`."""
        return self.status == "pass"

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON: `status`, `score`, `gap`, `why` and, where there is one, `reason`."""
        wire = {"status": self.status, "score": self.score, "gap": self.gap, "why": self.why}
        return wire if self.reason is None else wire | {"reason": self.reason}

    def __bool__(self) -> bool:
        return self.passed

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, AssertionResult) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.status, self.score, self.gap, self.reason))

    def __repr__(self) -> str:
        reason = "" if self.reason is None else f", reason={self.reason!r}"
        shown = f"{self.status!r}, score={self.score!r}, gap={self.gap!r}, why={self.why!r}{reason}"
        return f"AssertionResult({shown})"


def evaluate_assertion(
    trace: Any, assertion: dict[str, Any], providers: Providers | None = None
) -> AssertionResult:
    """Evaluate one assertion, as the expect DSL writes it, on a trace.

    Parameters:
        trace: a trace, or a scene with one (`view.py`). Never changed.
        assertion: `{"method", "args"?}`; the method bare or with its family. An optional argument that is
            null counts as left out.
        providers: what semantic assertions and plugins call; by default those of `providing`.

    An unusable spec is a failure with the reason `spec_error`. Raises `CheckError` when there is no such
    method, or the assertion is not of this form.

    >>> ran = {"steps": [{"type": "tool_call", "name": "search"}], "output": {"message": "ok"}}
    >>> evaluate_assertion(ran, {"method": "required_tools", "args": {"tools": ["search", "pay"]}}).why
    'steps: expected every one of 2 names, missing: pay'
    """
    if type(assertion) is not dict:
        raise CheckError(f'expected an assertion, an object with a "method", got {kind_of(assertion)}', "$")
    method = find_method(assertion.get("method"))
    given = assertion.get("args", {})
    if type(given) is not dict:
        raise CheckError(f"expected an object of arguments, got {kind_of(given)}", "$.args")
    holds_null = {each.name for each in method.arguments if each.required or each.holds is Any}
    arguments = {name: value for name, value in given.items() if value is not None or name in holds_null}
    try:
        judge = method.build(arguments)
    except SpecError as error:
        soft = method.soft_spec and arguments.get("soft") is True
        return AssertionResult("soft_fail" if soft else "hard_fail", 0.0, 1.0, error.problem, "spec_error")
    status, score, gap, why, reason, _ = judge(
        view_of(trace, current_providers() if providers is None else providers)
    )
    return AssertionResult(status, score, gap, why, reason)


# A check is data and carries no providers, so they come with the run

_PROVIDERS: ContextVar[Providers | None] = ContextVar("providers", default=None)


@contextmanager
def providing(providers: Providers | None) -> Iterator[None]:
    """While it lasts, the checks that are evaluated here may call these providers."""
    before = _PROVIDERS.set(providers)
    try:
        yield
    finally:
        _PROVIDERS.reset(before)


def current_providers() -> Providers | None:
    """The providers that checks may call here."""
    return _PROVIDERS.get()

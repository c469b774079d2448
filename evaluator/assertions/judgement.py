"""What an assertion over a trace says: its status, score, gap and why; and the words all families share."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from sys import float_info
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from evaluator.errors import CheckError
from evaluator.values import distance, number_text

if TYPE_CHECKING:
    from evaluator.assertions.view import TraceView

Status = Literal["pass", "soft_fail", "hard_fail", "not_evaluated"]
Why = str | Callable[[], str]
BoundOperator = Literal["eq", "lt", "lte", "gt", "gte"]

SIGNS: Final[dict[BoundOperator, str]] = {"eq": "=", "lt": "<", "lte": "≤", "gt": ">", "gte": "≥"}
_STRICT_WHOLE, _STRICT = 1.0, 1e-6


class Judgement(NamedTuple):
    """The outcome of one assertion on one trace.

    Attributes:
        status: families say `hard_fail` for a failure; the runner makes it `soft_fail` where the assertion
            is soft and the failure heeds that.
        score: in 0…1, 1 on a pass.
        gap: 0.0 exactly when the status is `pass`; 1.0 when it is `not_evaluated`.
        why: one line, or a function that builds it when it is asked for.
        reason: why it was not evaluated (`missing_evidence`, `simulation`, `provider`, `malformed_reply`,
            `abstained`), or what kind of failure it is beyond the rule itself (`spec_error`, `target`).
        soft_heeded: whether soft turns this failure into `soft_fail`.
    """

    status: Status
    score: float
    gap: float
    why: Why
    reason: str | None = None
    soft_heeded: bool = True

    def text(self) -> str:
        """The why, built now if it has to be."""
        return self.why if isinstance(self.why, str) else self.why()


Judge = Callable[["TraceView"], Judgement]


def passed(why: Why, score: float = 1.0) -> Judgement:
    """The assertion holds."""
    return Judgement("pass", score, 0.0, why)


def failed(
    gap: float, why: Why, score: float = 0.0, *, soft_heeded: bool = True, reason: str | None = None
) -> Judgement:
    """The assertion does not hold; `gap` is positive, infinite where no double is as large."""
    return Judgement("hard_fail", score, gap if gap <= float_info.max else inf, why, reason, soft_heeded)


def not_evaluated(what: str, which: str, reason: str = "missing_evidence") -> Judgement:
    """The assertion cannot be decided: `which` says what is missing, or what went wrong."""
    return Judgement("not_evaluated", 0.0, 1.0, f"{what}: not evaluated: {reason}: {which}", reason)


class MissingEvidenceError(Exception):
    """What an assertion reads is absent from the trace, or not of its form.

    The runner answers `not_evaluated`; `which` names what is missing, as a path into the trace.
    """

    def __init__(self, which: str) -> None:
        super().__init__(which)
        self.which = which


class SpecError(CheckError):
    """The arguments of an assertion cannot be used: `<method>: spec: <what is wrong>`.

    A factory raises it with what is wrong and, where one argument is at fault, `field`; the method's name and
    the place in a check are added when the assertion is built.
    """

    def __init__(self, wrong: str, field: str = "", *, method: str = "", place: str = "") -> None:
        super().__init__(f"{method}: spec: {wrong}" if method else wrong, place)
        self.wrong = wrong
        self.field = field


# Numbers against a bound


def gap_to_bound(value: float, operator: BoundOperator, bound: float) -> float:
    """How far a number is from satisfying `value <operator> bound`; 0.0 exactly when it does.

    For the strict operators 1 is added when both numbers are whole, else 1e-6, so that the gap is not 0 at
    the bound.
    """
    if operator == "eq":
        return 0.0 if value == bound else between(value, bound)
    if operator in ("lte", "lt"):
        over, beyond = value > bound, distance(value, bound) if value > bound else 0.0
    else:
        over, beyond = value < bound, distance(bound, value) if value < bound else 0.0
    if operator in ("lte", "gte"):
        return beyond
    if not over and value != bound:
        return 0.0
    return beyond + (_STRICT_WHOLE if is_whole(value) and is_whole(bound) else _STRICT)


def between(left: float, right: float) -> float:
    """The distance between two numbers."""
    return distance(left, right) if left > right else distance(right, left)


def is_whole(number: float) -> bool:
    """Whether a number is whole; `2.0` is."""
    return type(number) is int or float(number).is_integer()


def short_number(number: float) -> str:
    """A number to six digits: `0.04` where the difference of doubles is 0.04000000000000001."""
    if type(number) is int or float(number).is_integer():
        return number_text(number)
    return number_text(float(f"{number:.6g}"))


def over_or_short(value: float, operator: BoundOperator, bound: float) -> str:
    """` (over by 40)` or ` (short by 40)`; empty for `eq` and at a strict bound."""
    if operator == "eq" or value == bound:
        return ""
    side = "over" if operator in ("lte", "lt") else "short"
    return f" ({side} by {short_number(between(value, bound))})"


def bound_text(what: str, value: float, operator: BoundOperator, bound: float) -> str:
    """`metadata.latency_ms: expected ≤ 60000, got 64200 (over by 4200)`; on a pass without "expected"."""
    sign = f"{SIGNS[operator]} {number_text(bound)}"
    if gap_to_bound(value, operator, bound) == 0.0:
        return f"{what} = {number_text(value)} {sign}"
    return f"{what}: expected {sign}, got {number_text(value)}{over_or_short(value, operator, bound)}"


def bounded(what: str, value: float, operator: BoundOperator, bound: float) -> Judgement:
    """The judgement of `value <operator> bound`."""
    gap = gap_to_bound(value, operator, bound)
    if gap == 0.0:
        return passed(lambda: bound_text(what, value, operator, bound))
    return failed(gap, lambda: bound_text(what, value, operator, bound))

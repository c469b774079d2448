"""Constraints: one number of the root trace against a bound.

The numbers are what was measured (`metadata.cost_usd`, `metadata.total_tokens`, `metadata.latency_ms`) and
how many steps there are, all or of one type. A metric that is absent, null or no number is missing evidence;
a measured 0 is a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from evaluator.assertions.json_value import is_number
from evaluator.assertions.judgement import (
    BoundOperator,
    Judge,
    Judgement,
    MissingEvidenceError,
    SpecError,
    bounded,
    failed,
    passed,
    short_number,
)
from evaluator.assertions.method import Method
from evaluator.assertions.view import TraceView
from evaluator.values import distance, number_text

_TYPED_STEPS: Final = re.compile(r"steps\[\?type=='([^']*)'\]\.length")
_FIELD: Final = (
    r"^(?:metadata\.(?:cost_usd|total_tokens|latency_ms)|steps(?:\[\?type=='[^']*'\])?\.length)$(?!\n)"
)
Metric = Annotated[str, Meta(pattern=_FIELD)]
"""What can be bounded: a metric of the metadata, `steps.length`, or `steps[?type=='T'].length`."""


def cost_under(*, max_cost: float) -> Judge:
    """The run cost at most `max_cost` dollars (`metadata.cost_usd`)."""
    return _bound("metadata.cost_usd", "lte", max_cost)


def latency_under(*, max_ms: float) -> Judge:
    """The run took at most `max_ms` milliseconds (`metadata.latency_ms`)."""
    return _bound("metadata.latency_ms", "lte", max_ms)


def tokens_under(*, max_tokens: float) -> Judge:
    """The run used at most `max_tokens` tokens (`metadata.total_tokens`)."""
    return _bound("metadata.total_tokens", "lte", max_tokens)


def tokens_between(*, min_tokens: float, max_tokens: float) -> Judge:
    """The run used between `min_tokens` and `max_tokens` tokens, both ends inside."""
    return _range("metadata.total_tokens", min_tokens, max_tokens)


def step_count(*, operator: BoundOperator, value: float) -> Judge:
    """The number of steps, of whatever type, stands to `value` as `operator` says."""
    return _bound("steps.length", operator, value)


def tool_call_count(*, operator: BoundOperator, value: float) -> Judge:
    """The number of `tool_call` steps stands to `value` as `operator` says."""
    return _bound("steps[?type=='tool_call'].length", operator, value)


def constraint(
    *,
    field: Metric,
    operator: Literal["eq", "lt", "lte", "gt", "gte", "between"],
    value: float | None = None,
    min: float | None = None,  # noqa: A002 (the wire's own words)
    max: float | None = None,  # noqa: A002
) -> Judge:
    """The number `field` stands to `value` as `operator` says, or lies between `min` and `max`."""
    if operator == "between":
        if min is None or max is None:
            raise SpecError('"between" needs "min" and "max"', "operator")
        return _range(field, min, max)
    if value is None:
        raise SpecError(f'"{operator}" needs a "value"', "value")
    return _bound(field, operator, value)


def _bound(field: str, operator: BoundOperator, bound: float) -> Judge:
    number_of, what = _measure(field)
    return lambda view: bounded(what, number_of(view), operator, bound)


def _range(field: str, least: float, most: float) -> Judge:
    number_of, what = _measure(field)
    wanted = f"{number_text(least)}…{number_text(most)}"

    def judge(view: TraceView) -> Judgement:
        number = number_of(view)
        short = distance(least, number) if number < least else 0.0
        over = distance(number, most) if number > most else 0.0
        if not short and not over:
            return passed(f"{what} = {number_text(number)} in {wanted}")
        side = f"short by {short_number(short)}" if short >= over else f"over by {short_number(over)}"
        return failed(
            short if short >= over else over,
            f"{what}: expected {wanted}, got {number_text(number)} ({side})",
        )

    return judge


def _measure(field: str) -> tuple[Callable[[TraceView], float], str]:
    """How to read a field, and what it is called in `why`."""
    typed = _TYPED_STEPS.fullmatch(field)
    if typed:
        kind = typed[1]
        if kind == "tool_call":
            return lambda view: len(view.call_names), "steps[type=tool_call].length"
        return lambda view: sum(step.get("type") == kind for step in view.steps), f"steps[type={kind}].length"
    if field == "steps.length":
        return lambda view: len(view.steps), field
    metric = field.removeprefix("metadata.")

    def measured(view: TraceView) -> float:
        number: Any = view.metadata.get(metric)
        if not is_number(number):
            raise MissingEvidenceError(field)
        return float(number) if type(number) is float else int(number)

    return measured, field


METHODS: Final = (
    Method("cost_under", "constraint", cost_under),
    Method("latency_under", "constraint", latency_under),
    Method("tokens_under", "constraint", tokens_under),
    Method("tokens_between", "constraint", tokens_between),
    Method("step_count", "constraint", step_count),
    Method("tool_call_count", "constraint", tool_call_count),
    Method(
        "constraint",
        "constraint",
        constraint,
        asks={
            "if": {"required": ["operator"], "properties": {"operator": {"const": "between"}}},
            "then": {"required": ["min", "max"]},
            "else": {"required": ["value"]},
        },
    ),
)

"""Assertions over what an agent did: its metrics, its steps, and contracts on its tool calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

from evaluator.expecting.collecting import Collecting, listed

Order = Literal["eq", "lt", "lte", "gt", "gte"]


class ConstraintMethods(Collecting):
    """Bounds on the metrics of the root trace. An absent metric is missing evidence, not a zero."""

    def cost_under(self, max_cost: float, *, soft: bool = False) -> Self:
        """`metadata.cost_usd` is at most this."""
        return self._add("cost_under", {"max_cost": max_cost}, soft=soft)

    def latency_under(self, max_ms: float, *, soft: bool = False) -> Self:
        """`metadata.latency_ms` is at most this."""
        return self._add("latency_under", {"max_ms": max_ms}, soft=soft)

    def tokens_under(self, max_tokens: float, *, soft: bool = False) -> Self:
        """`metadata.total_tokens` is at most this."""
        return self._add("tokens_under", {"max_tokens": max_tokens}, soft=soft)

    def tokens_between(self, min_tokens: float, max_tokens: float, *, soft: bool = False) -> Self:
        """`metadata.total_tokens` lies between these, both inside."""
        return self._add("tokens_between", {"min_tokens": min_tokens, "max_tokens": max_tokens}, soft=soft)

    def step_count(self, operator: Order, value: float, *, soft: bool = False) -> Self:
        """The number of steps, of whatever type, compares so with the value."""
        return self._add("step_count", {"operator": operator, "value": value}, soft=soft)

    def tool_call_count(self, operator: Order, value: float, *, soft: bool = False) -> Self:
        """The number of steps of type `tool_call` compares so with the value."""
        return self._add("tool_call_count", {"operator": operator, "value": value}, soft=soft)

    def constraint(
        self,
        field: str,
        operator: Literal["eq", "lt", "lte", "gt", "gte", "between"],
        value: float | None = None,
        *,
        min: float | None = None,  # noqa: A002 (the wire's own words)
        max: float | None = None,  # noqa: A002
        soft: bool = False,
    ) -> Self:
        """A metric compares so with the value, or lies between `min` and `max`.

        Fields: `metadata.cost_usd`, `metadata.total_tokens`, `metadata.latency_ms`, `steps.length`,
        `steps[?type=='T'].length`.
        """
        arguments = {"field": field, "operator": operator}
        return self._add("constraint", arguments, {"value": value, "min": min, "max": max}, soft=soft)


class TraceMethods(Collecting):
    """The names of all steps of the root trace, whatever their type, in order."""

    def tools_called_in_order(self, tools: Sequence[str], *, soft: bool = False) -> Self:
        """The names occur in this order; other steps may stand between."""
        return self._add("tools_called_in_order", {"tools": listed(tools)}, soft=soft)

    def tools_called_exactly(self, tools: Sequence[str], *, soft: bool = False) -> Self:
        """The names occur next to each other in this order."""
        return self._add("tools_called_exactly", {"tools": listed(tools)}, soft=soft)

    def required_tools(self, tools: Sequence[str], *, soft: bool = False) -> Self:
        """Each of the names occurs."""
        return self._add("required_tools", {"tools": listed(tools)}, soft=soft)

    def forbidden_tools(self, tools: Sequence[str], *, soft: bool = False) -> Self:
        """None of the names occurs."""
        return self._add("forbidden_tools", {"tools": listed(tools)}, soft=soft)

    def no_tool_loops(self, tool: str, max_repetitions: int = 1, *, soft: bool = False) -> Self:
        """At most so many steps bear the name, next to each other or not."""
        arguments = {"tool": tool, "max_repetitions": max_repetitions}
        return self._add("no_tool_loops", arguments, soft=soft)

    def no_duplicate_tools(self, *, soft: bool = False) -> Self:
        """No name occurs twice."""
        return self._add("no_duplicate_tools", {}, soft=soft)

    def distinct(self, tool: str | None = None, *, collection: str | None = None, soft: bool = False) -> Self:
        """No call is made twice with equal arguments: of any tool, or of one.

        The calls are those of the trace, or the elements at a path of the scene (`trace.steps`).
        """
        return self._add("distinct", {}, {"tool": tool, "collection": collection}, soft=soft)

    def grounded(self, tool: str, arg: str, *, soft: bool = False) -> Self:
        """In every call of the tool the argument, a dot path, is a value that occurred before.

        It stands in the input or in an earlier result: an invented id is caught.
        """
        return self._add("grounded", {"tool": tool, "arg": arg}, soft=soft)


class BehaviourMethods(Collecting):
    """Contracts on the `tool_call` steps of the root trace; a retry is one more call."""

    def tool_cardinality(
        self,
        tool: str,
        *,
        per: str | None = None,
        at_most: int | None = None,
        at_least: int | None = None,
        soft: bool = False,
    ) -> Self:
        """The number of calls lies within the bounds; with `per`, for each value of that argument."""
        bounds = {"per": per, "at_most": at_most, "at_least": at_least}
        return self._add("tool_cardinality", {"tool": tool}, bounds, soft=soft)

    def trajectory(
        self,
        tools: Sequence[str],
        mode: Literal["strict", "unordered", "subset", "superset"] = "strict",
        *,
        soft: bool = False,
    ) -> Self:
        """The calls are these: in this order, in any order, no others, or these at least."""
        return self._add("trajectory", {"tools": listed(tools), "mode": mode}, soft=soft)

    def trajectory_partial_order(
        self, order: Sequence[Sequence[str]], *, tools: Sequence[str] | None = None, soft: bool = False
    ) -> Self:
        """Every tool named is called; for each pair (a, b) every call of b has an earlier one of a."""
        pairs = [listed(pair) for pair in order]
        named = None if tools is None else listed(tools)
        return self._add("trajectory_partial_order", {"order": pairs}, {"tools": named}, soft=soft)

    def tool_called_before(self, before: str, after: str, *, soft: bool = False) -> Self:
        """Every call of `after` has an earlier call of `before`; passes when `after` is not called."""
        return self._add("tool_called_before", {"before": before, "after": after}, soft=soft)

    def no_tool_cycles(self, period: int, min_repeats: int = 2, *, soft: bool = False) -> Self:
        """No block of so many calls is repeated back to back so many times or more."""
        arguments = {"period": period, "min_repeats": min_repeats}
        return self._add("no_tool_cycles", arguments, soft=soft)

    def max_tool_failure_streak(self, max_streak: int, *, soft: bool = False) -> Self:
        """No more than so many calls in a row failed; needs the error evidence of trace-v2."""
        return self._add("max_tool_failure_streak", {"max_streak": max_streak}, soft=soft)

    def tool_arg_satisfies(
        self,
        tool: str,
        arg: str,
        op: Literal["eq", "ne", "in", "not_in", "lt", "lte", "gt", "gte"],
        value: Any,
        *,
        soft: bool = False,
    ) -> Self:
        """In every call of the tool the argument, a dot path, compares so with the value."""
        arguments = {"tool": tool, "arg": arg, "op": op, "value": value}
        return self._add("tool_arg_satisfies", arguments, soft=soft)

"""Behaviour contracts: how often, in which order and with which arguments tools are called.

They read the `tool_call` steps of the root trace alone; a retry is one more call, and other steps are not
seen at all. Calls are numbered from 1 among the calls of the trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from evaluator.assertions.arguments import Natural, Text
from evaluator.assertions.json_value import at_dot_path, is_number, key_of, same_value
from evaluator.assertions.judgement import (
    SIGNS,
    Judge,
    Judgement,
    SpecError,
    failed,
    gap_to_bound,
    not_evaluated,
    over_or_short,
    passed,
)
from evaluator.assertions.method import Method
from evaluator.assertions.trajectory import calls_without_earlier, trajectory, trajectory_partial_order
from evaluator.assertions.view import Call, TraceView
from evaluator.assertions.wording import and_more, beyond_text, counted, listed, name_text, range_text
from evaluator.values import MISSING, compact, number_text

Period = Annotated[int, Meta(ge=1, le=4)]
Repeats = Annotated[int, Meta(ge=2)]
ArgumentOperator = Literal["eq", "ne", "in", "not_in", "lt", "lte", "gt", "gte"]


# How often


def tool_cardinality(
    *, tool: Text, per: Text | None = None, at_most: Natural | None = None, at_least: Natural | None = None
) -> Judge:
    """The tool is called so often; with `per`, so often for each value of that argument.

    A call without the argument is missing evidence: a group that has too many calls fails all the same, and
    one that has too few if those calls could not fill it.
    """
    if at_most is None and at_least is None:
        raise SpecError("at_most or at_least is needed")
    if at_most is not None and at_least is not None and at_least > at_most:
        raise SpecError(f"at_least {at_least} is above at_most {at_most}", "at_least")
    if per is not None:
        return _cardinality_per(tool, per, at_most, at_least)
    what, wanted = f"calls of {name_text(tool)}", _range(at_least, at_most)

    def judge(view: TraceView) -> Judgement:
        count = len(view.calls_by_name.get(tool, ()))
        over, short = _over(count, at_most), _short(count, at_least)
        if not over and not short:
            return passed(lambda: f"{what} = {count} {wanted}")
        return failed(over + short, lambda: f"{what}: expected {wanted}, got {count}{_beyond(over, short)}")

    return judge


def _cardinality_per(tool: str, per: str, at_most: int | None, at_least: int | None) -> Judge:
    what, wanted, path = f"{name_text(tool)} per {per}", _range(at_least, at_most), per.split(".")

    def judge(view: TraceView) -> Judgement:
        calls = view.calls_by_name.get(tool)
        if calls is None:
            if at_least:
                return failed(at_least, f"{what}: expected {wanted}, no calls (short by {at_least})")
            return passed(f"{what}: no calls")
        values, unknown = [], 0
        for call in calls:
            value = at_dot_path(call.step.get("args"), path)
            if value is MISSING:
                unknown += 1
            else:
                values.append(value)
        groups = Counter(map(key_of, values))
        beyond = sum(_over(n, at_most) + _short(n + unknown, at_least) for n in groups.values())
        if not groups:  # calls without the argument alone: no group of theirs can have more than all of them
            beyond = _short(unknown, at_least)
        if beyond:
            return failed(
                beyond, lambda: _cardinality_why(what, wanted, groups, values, unknown, at_most, at_least)
            )
        if unknown:
            return not_evaluated(what, f"{per} of {_calls_text(_without(calls, path))}")
        return passed(lambda: f"{what}: {wanted} in each of {counted(len(groups), 'group')}")

    return judge


def _cardinality_why(
    what: str,
    wanted: str,
    groups: Counter[Any],
    values: list[Any],
    unknown: int,
    at_most: int | None,
    at_least: int | None,
) -> str:
    if not groups:
        missing = _beyond(0, _short(unknown, at_least))
        return f"{what}: expected {wanted}, got {counted(unknown, 'call')} without it{missing}"
    shown = {key_of(value): compact(value) for value in reversed(values)}
    wrong = []
    for key, count in groups.items():
        over, short = _over(count, at_most), _short(count + unknown, at_least)
        if over or short:
            wrong.append(f"{shown[key]} has {count}{_beyond(over, short)}")
    return f"{what}: expected {wanted}, {wrong[0]}{and_more(len(wrong) - 1)}"


def _over(count: int, at_most: int | None) -> int:
    return count - at_most if at_most is not None and count > at_most else 0


def _short(count: int, at_least: int | None) -> int:
    return at_least - count if at_least is not None and count < at_least else 0


def _range(at_least: int | None, at_most: int | None) -> str:
    least, most = (None if bound is None else str(bound) for bound in (at_least, at_most))
    return range_text(least, most)


def _beyond(over: int, short: int) -> str:
    return beyond_text(str(over) if over else None, str(short) if short else None)


# Order


def tool_called_before(*, before: Text, after: Text) -> Judge:
    """Each call of the tool `after` has an earlier call of the tool `before`."""

    def judge(view: TraceView) -> Judgement:
        early = calls_without_earlier(view, before, after)
        if not early:
            return passed(f"{name_text(after)}: an earlier {name_text(before)} to every call")
        first = view.calls_by_name[after][0].number + 1
        return failed(
            early,
            lambda: (
                f"{name_text(after)} (call {first}): expected an earlier {name_text(before)}, "
                f"got none{and_more(early - 1)}"
            ),
        )

    return judge


# Repetition and failure


def no_tool_cycles(*, period: Period, min_repeats: Repeats = 2) -> Judge:
    """No block of `period` consecutive calls, by their names, stands `min_repeats` times back to back.

    The block need not be primitive: four calls of one tool are a block of two, twice.
    """

    def judge(view: TraceView) -> Judgement:
        names = view.call_names
        repeats, start = _most_repeats(names, period)
        if repeats < min_repeats:
            return passed(f"calls: no block of {period} repeated {min_repeats} times")
        block = names[start : start + period]
        return failed(
            repeats - min_repeats + 1,
            lambda: (
                f"calls: expected no block of {period} repeated {min_repeats} times, "
                f"{listed(block, ' → ')} repeats {repeats} times from call {start + 1}"
            ),
        )

    return judge


def _most_repeats(names: Sequence[str], period: int) -> tuple[int, int]:
    """How often at most a block of so many elements stands back to back, and where it starts first."""
    best, start, run = int(len(names) >= period), 0, 0
    for index, (name, later) in enumerate(zip(names, names[period:], strict=False)):
        if name != later:
            run = 0
            continue
        run += 1
        if run // period >= best:
            best, start = run // period + 1, index - run + 1
    return best, start


def max_tool_failure_streak(*, max_streak: Natural) -> Judge:
    """At most so many calls in a row fail, whichever tools they call.

    The evidence is that of a trace with `schema_version` 2: a call failed when its `error` is not null or,
    without an error, its `status` is another than "ok"; it succeeded when the `status` is "ok" or the `error`
    is present and null.
    """
    wanted = f"≤ {counted(max_streak, 'failure')} in a row"

    def judge(view: TraceView) -> Judgement:
        outcomes = view.call_failures
        longest, end = _longest_streak(outcomes)
        if longest > max_streak:
            calls = f"call {end}" if longest == 1 else f"calls {end - longest + 1}\u2013{end}"
            return failed(longest - max_streak, f"calls: expected {wanted}, got {longest} ({calls})")
        if None in outcomes:
            unknown = [call for call, outcome in zip(view.calls, outcomes, strict=True) if outcome is None]
            return not_evaluated("calls", f"error or status of {_calls_text(unknown)}")
        return passed(f"calls: longest run of failures {longest} ≤ {max_streak}")

    return judge


def _longest_streak(outcomes: Sequence[bool | None]) -> tuple[int, int]:
    """The length of the first longest run of failures, and the number of its last call, from 1."""
    longest, end, run = 0, 0, 0
    for number, outcome in enumerate(outcomes, 1):
        run = run + 1 if outcome else 0
        if run > longest:
            longest, end = run, number
    return longest, end


# Arguments


def tool_arg_satisfies(*, tool: Text, arg: Text, op: ArgumentOperator, value: Any) -> Judge:
    """In every call of the tool the argument, at a dot path, stands to the value as the operator says.

    Only numbers satisfy `lt`, `lte`, `gt` and `gte`. A call without the argument is missing evidence.
    """
    gap_of, wanted = _argument_rule(op, value)
    what, path = f"{name_text(tool)}.{arg}", arg.split(".")

    def judge(view: TraceView) -> Judgement:
        calls = view.calls_by_name.get(tool, ())
        total, unknown, wrong = 0.0, False, []
        for call in calls:
            found = at_dot_path(call.step.get("args"), path)
            if found is MISSING:
                unknown = True
                continue
            gap = gap_of(found)
            if gap:
                total += gap
                wrong.append((call, found))
        if wrong:
            return failed(total, lambda: _argument_why(what, op, value, wanted, wrong))
        if unknown:
            return not_evaluated(what, f"{arg} of {_calls_text(_without(calls, path))}")
        return passed(lambda: f"{what} {wanted} in {counted(len(calls), 'call')}")

    return judge


def _argument_rule(op: ArgumentOperator, value: Any) -> tuple[Callable[[Any], float], str]:
    """The gap of an argument, and the rule in words."""
    if op == "in" or op == "not_in":
        if type(value) is not list:
            raise SpecError(f'value: "{op}" needs an array, got {compact(value)}', "value")
        inside, is_member = op == "in", _membership(value)
        return lambda found: float(is_member(found) is not inside), f"{_WORDS[op]} {compact(value)}"
    if op == "ne":
        return lambda found: float(same_value(found, value)), f"≠ {compact(value)}"
    if op == "eq":
        if not is_number(value):
            return lambda found: float(not same_value(found, value)), f"= {compact(value)}"
    elif not is_number(value):
        raise SpecError(f'value: "{op}" needs a number, got {compact(value)}', "value")
    return (
        lambda found: gap_to_bound(found, op, value) if is_number(found) else 1.0,
        f"{SIGNS[op]} {number_text(value)}",
    )


_WORDS: Final = {"in": "one of", "not_in": "none of"}


def _membership(members: list[Any]) -> Callable[[Any], bool]:
    """Whether a value equals one of the members."""
    scalars = frozenset(key_of(member) for member in members if not isinstance(member, list | dict))
    others = [member for member in members if isinstance(member, list | dict)]

    def is_member(found: Any) -> bool:
        if isinstance(found, list | dict):
            return any(same_value(found, member) for member in others)
        return key_of(found) in scalars

    return is_member


def _argument_why(
    what: str, op: ArgumentOperator, value: Any, wanted: str, wrong: Sequence[tuple[Call, Any]]
) -> str:
    call, found = wrong[0]
    beyond = ""
    if op in SIGNS and is_number(found) and is_number(value):
        beyond = over_or_short(found, op, value)
    got = number_text(found) if is_number(found) else compact(found)
    return f"{what} (call {call.number + 1}): expected {wanted}, got {got}{beyond}{and_more(len(wrong) - 1)}"


def _without(calls: Sequence[Call], path: Sequence[str]) -> list[Call]:
    """The calls that lack an argument."""
    return [call for call in calls if at_dot_path(call.step.get("args"), path) is MISSING]


def _calls_text(calls: Sequence[Call]) -> str:
    numbers = ", ".join(str(call.number + 1) for call in calls[:5])
    return f"call{'' if len(calls) == 1 else 's'} {numbers}{and_more(max(0, len(calls) - 5))}"


_ASKS: Final[dict[str, dict[str, Any]]] = {
    "tool_cardinality": {"anyOf": [{"required": ["at_most"]}, {"required": ["at_least"]}]},
    "tool_arg_satisfies": {
        "allOf": [
            {
                "if": {"properties": {"operator": {"enum": operators}}},
                "then": {"properties": {"value": {"type": kind}}},
            }
            for operators, kind in ((["in", "not_in"], "array"), (["lt", "lte", "gt", "gte"], "number"))
        ]
    },
}
METHODS: Final = tuple(
    Method(factory.__name__, "behaviour", factory, asks=_ASKS.get(factory.__name__))
    for factory in (
        tool_cardinality,
        trajectory,
        trajectory_partial_order,
        tool_called_before,
        no_tool_cycles,
        max_tool_failure_streak,
        tool_arg_satisfies,
    )
)

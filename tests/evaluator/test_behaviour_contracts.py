"""Behaviour contracts against their definitions, written down a second time and by brute force."""

from __future__ import annotations

from functools import cache
from itertools import permutations
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_cases import (
    NAME_LISTS,
    NAMES,
    VALUES,
    called,
    calls,
    is_unusable,
    json_equal,
    judged,
    runs,
    step,
    trace,
)

from evaluator.assertions.behaviour import METHODS
from evaluator.assertions.edit_distance import edit_distance
from evaluator.assertions.judgement import Judgement


def judge(method: str, scene: Any, **arguments: Any) -> Judgement:
    given = {name: value for name, value in arguments.items() if value is not None or name == "value"}
    return judged(METHODS, method, scene, **given)


def agrees(found: Judgement, gap: float | None) -> bool:
    """Whether a judgement has this gap and the status that goes with it; None for missing evidence."""
    if gap is None:
        return (found.status, found.gap, found.reason) == ("not_evaluated", 1.0, "missing_evidence")
    wanted = ("pass", 1.0) if gap == 0 else ("hard_fail", 0.0)
    return (found.status, found.score) == wanted and found.gap == gap and "\n" not in found.text()


# Cardinality

BOUNDS = st.tuples(st.one_of(st.none(), st.integers(0, 4)), st.one_of(st.none(), st.integers(0, 4))).filter(
    lambda both: both != (None, None) and (None in both or both[0] <= both[1])
)


def out_of_bounds(count: int, at_least: int | None, at_most: int | None) -> int:
    over = count - at_most if at_most is not None else 0
    short = at_least - count if at_least is not None else 0
    return max(0, over) + max(0, short)


@given(runs(), NAMES, BOUNDS)
def test_cardinality_counts_calls(
    run: dict[str, Any], tool: str, bounds: tuple[int | None, int | None]
) -> None:
    at_least, at_most = bounds
    found = judge("tool_cardinality", run, tool=tool, at_least=at_least, at_most=at_most)
    assert agrees(found, out_of_bounds(called(run).count(tool), at_least, at_most))


@given(st.lists(st.one_of(st.just("absent"), VALUES), max_size=6), BOUNDS)
def test_cardinality_per_value_of_an_argument(
    values: list[Any], bounds: tuple[int | None, int | None]
) -> None:
    at_least, at_most = bounds
    steps = [step("pay", {} if value == "absent" else {"order": {"id": value}}) for value in values]
    found = judge(
        "tool_cardinality", trace(*steps), tool="pay", per="order.id", at_least=at_least, at_most=at_most
    )
    known = [value for value in values if value != "absent"]
    unknown = len(values) - len(known)
    firsts = [
        value for at, value in enumerate(known) if not any(json_equal(value, other) for other in known[:at])
    ]
    sizes = [sum(json_equal(value, other) for other in known) for value in firsts]
    wrong = sum(
        out_of_bounds(size, None, at_most) + out_of_bounds(size + unknown, at_least, None) for size in sizes
    )
    if not firsts:
        wrong = out_of_bounds(unknown, at_least, None)
    assert agrees(found, wrong if wrong or not unknown else None)


@given(st.lists(st.sampled_from(["x", "y", None]), max_size=5), BOUNDS)
def test_a_violation_is_certain_only_if_no_value_of_the_missing_arguments_removes_it(
    values: list[str | None], bounds: tuple[int | None, int | None]
) -> None:
    at_least, at_most = bounds

    def verdict(args: list[Any]) -> Judgement:
        run = trace(*(step("pay", arg) for arg in args))
        return judge("tool_cardinality", run, tool="pay", per="id", at_least=at_least, at_most=at_most)

    found = verdict([{} if value is None else {"id": value} for value in values])
    unknown = values.count(None)
    filled = [
        verdict([{"id": next(given) if value is None else value} for value in values]).status
        for chosen in {tuple(sorted(p)) for p in permutations("xyxyzvw", unknown)}
        for given in [iter(chosen)]
    ]
    assert found.status == "not_evaluated" or set(filled) == {found.status}
    assert unknown == 0 or found.status != "pass"


# Trajectories


def table_edit_distance(left: list[str], right: list[str]) -> int:
    @cache
    def between(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        kept = between(i - 1, j - 1) + (left[i - 1] != right[j - 1])
        return min(kept, between(i - 1, j) + 1, between(i, j - 1) + 1)

    return between(len(left), len(right))


@given(NAME_LISTS, NAME_LISTS)
def test_edit_distance(left: list[str], right: list[str]) -> None:
    assert edit_distance(left, right) == table_edit_distance(left, right)


def test_edit_distance_of_sequences_longer_than_a_machine_word() -> None:
    left = [f"t{number % 7}" for number in range(300)]
    right = [f"t{number % 5}" for number in range(0, 300, 2)]
    assert edit_distance(left, right) == table_edit_distance(left, right)


@given(runs(), NAME_LISTS)
def test_trajectory(run: dict[str, Any], tools: list[str]) -> None:
    names = called(run)
    assert agrees(judge("trajectory", run, tools=tools), table_edit_distance(names, tools))
    missing, extra = left_over(tools, names), left_over(names, tools)
    assert agrees(judge("trajectory", run, tools=tools, mode="unordered"), missing + extra)
    assert agrees(judge("trajectory", run, tools=tools, mode="subset"), extra)
    assert agrees(judge("trajectory", run, tools=tools, mode="superset"), missing)


def left_over(left: list[str], right: list[str]) -> int:
    """How many elements of one list remain when each element of the other takes away an equal one."""
    remaining = list(left)
    for element in right:
        if element in remaining:
            remaining.remove(element)
    return len(remaining)


# Order


def without_earlier(names: list[str], before: str, after: str) -> int:
    return sum(name == after and before not in names[:at] for at, name in enumerate(names))


@given(runs(), NAMES, NAMES)
def test_tool_called_before(run: dict[str, Any], before: str, after: str) -> None:
    found = judge("tool_called_before", run, before=before, after=after)
    assert agrees(found, without_earlier(called(run), before, after))


@given(runs(), st.lists(st.tuples(NAMES, NAMES), max_size=4), st.one_of(st.none(), NAME_LISTS))
def test_trajectory_partial_order(
    run: dict[str, Any], order: list[tuple[str, str]], tools: list[str] | None
) -> None:
    names = called(run)
    needed = {name for pair in order for name in pair} | set(tools or ())
    gap = len(needed - set(names)) + sum(without_earlier(names, *pair) for pair in order)
    assert agrees(
        judge("trajectory_partial_order", run, order=[list(pair) for pair in order], tools=tools), gap
    )


# Repetition and failure


@given(runs(max_steps=14), st.integers(1, 4), st.integers(2, 4))
def test_no_tool_cycles(run: dict[str, Any], period: int, min_repeats: int) -> None:
    names = called(run)
    most = 0
    for start in range(len(names)):
        block = names[start : start + period]
        repeats = 0
        while len(block) == period and names[start + repeats * period :][:period] == block:
            repeats += 1
        most = max(most, repeats)
    found = judge("no_tool_cycles", run, period=period, min_repeats=min_repeats)
    assert agrees(found, max(0, most - min_repeats + 1))


EVIDENCE: dict[str, tuple[dict[str, Any], bool | None]] = {
    "error": ({"error": {"kind": "timeout"}}, True),
    "empty error": ({"error": ""}, True),
    "error beats status": ({"error": "x", "status": "ok"}, True),
    "no error": ({"error": None}, False),
    "no error, bad status": ({"error": None, "status": "failed"}, True),
    "no error, good status": ({"error": None, "status": "ok"}, False),
    "good status": ({"status": "ok"}, False),
    "bad status": ({"status": "OK"}, True),
    "null status": ({"status": None}, True),
    "nothing": ({}, None),
}


@given(st.lists(st.sampled_from(sorted(EVIDENCE)), max_size=8), st.integers(0, 3), st.sampled_from([1, 2, 3]))
def test_max_tool_failure_streak(kinds: list[str], max_streak: int, version: int) -> None:
    run = trace(*(step("a", **EVIDENCE[kind][0]) for kind in kinds), schema_version=version)
    failures = [EVIDENCE[kind][1] if version >= 2 else None for kind in kinds]
    longest = max(
        (
            end - start
            for start in range(len(kinds))
            for end in range(start, len(kinds) + 1)
            if all(failures[start:end])
        ),
        default=0,
    )
    gap = max(0, longest - max_streak)
    found = judge("max_tool_failure_streak", run, max_streak=max_streak)
    assert agrees(found, gap if gap or None not in failures else None)


def test_other_steps_do_not_break_a_streak_of_failures() -> None:
    run = trace(step("a", error="x"), step("m", kind="llm_call"), step("b", error="y"), schema_version=2)
    assert agrees(judge("max_tool_failure_streak", run, max_streak=1), 1)


# Arguments


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def argument_gap(found: Any, op: str, value: Any) -> float:
    if op == "eq" and is_number(found) and is_number(value):
        return abs(found - value)
    if op in ("eq", "ne"):
        return float(json_equal(found, value) is (op == "ne"))
    if op in ("in", "not_in"):
        return float(any(json_equal(found, member) for member in value) is (op == "not_in"))
    if not is_number(found):
        return 1
    holds = {"lt": found < value, "lte": found <= value, "gt": found > value, "gte": found >= value}[op]
    if holds:
        return 0
    step_beyond = 1 if float(found).is_integer() and float(value).is_integer() else 1e-6
    return abs(found - value) + (step_beyond if op in ("lt", "gt") else 0)


@given(
    st.lists(st.one_of(st.just("absent"), VALUES), max_size=4),
    st.one_of(
        st.tuples(st.sampled_from(["eq", "ne"]), VALUES),
        st.tuples(st.sampled_from(["in", "not_in"]), st.lists(VALUES, max_size=3)),
        st.tuples(st.sampled_from(["lt", "lte", "gt", "gte"]), st.sampled_from([0, 1, 1.0, 2.5, -3])),
    ),
)
def test_tool_arg_satisfies(values: list[Any], rule: tuple[str, Any]) -> None:
    op, value = rule
    steps = [step("pay", {} if found == "absent" else {"sum": {"of": found}}) for found in values]
    run = trace(step("other", {"sum": {"of": "x"}}), *steps)
    found = judge("tool_arg_satisfies", run, tool="pay", arg="sum.of", op=op, value=value)
    gap = sum(argument_gap(each, op, value) for each in values if each != "absent")
    assert agrees(found, pytest.approx(gap) if gap or "absent" not in values else None)


@pytest.mark.parametrize("args", [None, [], "text", 7, {"a": [{"b": 1}]}, {"a.b": 1}, {"a": None}])
def test_a_dot_path_goes_through_objects_only(args: Any) -> None:
    run = trace(step("pay", args))
    assert agrees(judge("tool_arg_satisfies", run, tool="pay", arg="a.b", op="eq", value=1), None)
    assert agrees(judge("tool_cardinality", run, tool="pay", per="a.b", at_most=1), None)


def test_an_object_never_equals_an_array() -> None:
    run = trace(step("pay", {"x": {"0": "a"}}), step("pay", {"x": {}}))
    assert agrees(judge("tool_arg_satisfies", run, tool="pay", arg="x", op="in", value=[["a"], []]), 2)


def test_infinite_arguments_have_infinite_distances() -> None:
    run = trace(step("pay", {"x": inf}))
    assert judge("tool_arg_satisfies", run, tool="pay", arg="x", op="lte", value=5).gap == inf


# Unusable specs and traces that lack things


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("tool_cardinality", {"tool": "a"}),
        ("tool_cardinality", {"tool": "a", "at_most": -1}),
        ("tool_cardinality", {"tool": "a", "at_most": True}),
        ("tool_cardinality", {"tool": "a", "at_most": 1.5}),
        ("tool_cardinality", {"tool": "a", "at_most": 1, "at_least": 2}),
        ("tool_cardinality", {"at_most": 1}),
        ("tool_cardinality", {"tool": "", "at_most": 1}),
        ("trajectory", {"tools": "a"}),
        ("trajectory", {"tools": ["a", 1]}),
        ("trajectory", {"tools": ["a"], "mode": "exact"}),
        ("trajectory_partial_order", {"order": [["a"]]}),
        ("trajectory_partial_order", {"order": [["a", "b", "c"]]}),
        ("trajectory_partial_order", {"order": ["ab"]}),
        ("tool_called_before", {"before": "a"}),
        ("no_tool_cycles", {"period": 0}),
        ("no_tool_cycles", {"period": 5}),
        ("no_tool_cycles", {"period": 1, "min_repeats": 1}),
        ("max_tool_failure_streak", {"max_streak": -1}),
        ("max_tool_failure_streak", {}),
        ("tool_arg_satisfies", {"tool": "a", "arg": "x", "op": "like", "value": 1}),
        ("tool_arg_satisfies", {"tool": "a", "arg": "x", "op": "eq"}),
        ("tool_arg_satisfies", {"tool": "a", "arg": "x", "op": "in", "value": {"0": 1}}),
        ("tool_arg_satisfies", {"tool": "a", "arg": "x", "op": "not_in", "value": "abc"}),
        ("tool_arg_satisfies", {"tool": "a", "arg": "x", "op": "lte", "value": "5"}),
        ("tool_arg_satisfies", {"tool": "a", "arg": "x", "op": "gt", "value": True}),
        ("tool_arg_satisfies", {"tool": "a", "arg": "x", "op": "lt", "value": None}),
    ],
)
def test_unusable_specs_are_refused_when_built(method: str, arguments: dict[str, Any]) -> None:
    assert is_unusable(METHODS, method, **arguments)


def test_whole_doubles_are_whole_numbers() -> None:
    assert agrees(judge("tool_cardinality", calls("a", "a"), tool="a", at_most=1.0), 1)


def test_soft_turns_a_failure_into_a_soft_one_and_leaves_the_rest() -> None:
    run = calls("a", "a")
    assert judge("tool_cardinality", run, tool="a", at_most=1, soft=True).status == "soft_fail"
    assert judge("tool_cardinality", run, tool="a", at_most=2, soft=True).status == "pass"
    assert judge("tool_cardinality", run, tool="a", per="x", at_most=2, soft=True).status == "not_evaluated"


@pytest.mark.parametrize("scene", [{}, {"trace": {}}, {"steps": None}, {"steps": [7, {"type": "tool_call"}]}])
def test_real_traces_lack_things(scene: dict[str, Any]) -> None:
    assert judge("tool_called_before", scene, before="a", after="b").status == "pass"


@pytest.mark.parametrize("scene", [None, [], {"trace": None}, {"steps": {}}])
def test_a_trace_of_another_form_is_missing_evidence(scene: Any) -> None:
    assert agrees(judge("tool_called_before", scene, before="a", after="b"), None)


# Why


@pytest.mark.parametrize(
    ("method", "arguments", "steps", "why"),
    [
        (
            "tool_cardinality",
            {"tool": "issue_refund", "per": "order_id", "at_most": 1},
            [step("issue_refund", {"order_id": order}) for order in ("O-7", "O-1", "O-7", "O-7")],
            'issue_refund per order_id: expected ≤ 1, "O-7" has 3 (over by 2)',
        ),
        (
            "tool_cardinality",
            {"tool": "issue_refund", "per": "order_id", "at_most": 1, "at_least": 1},
            [step("issue_refund", {})],
            "issue_refund per order_id: not evaluated: missing_evidence: order_id of call 1",
        ),
        (
            "tool_cardinality",
            {"tool": "issue_refund", "at_least": 2, "at_most": 3},
            [step("issue_refund")],
            "calls of issue_refund: expected 2…3, got 1 (short by 1)",
        ),
        (
            "trajectory",
            {"tools": ["search", "book"]},
            [step("search"), step("search"), step("book")],
            "calls: expected exactly search → book, got search → search → book (1 edit)",
        ),
        (
            "trajectory",
            {"tools": ["search"], "mode": "subset"},
            [step("delete_all"), step("search")],
            "calls: expected no call outside the list, got 1: delete_all",
        ),
        (
            "trajectory",
            {"tools": ["search", "book"], "mode": "superset"},
            [],
            "calls: expected every listed call, missing 2: search, book",
        ),
        (
            "trajectory",
            {"tools": ["search", "book"], "mode": "unordered"},
            [step("search"), step("search")],
            "calls: expected exactly the listed calls in any order, missing 1: book; extra 1: search",
        ),
        (
            "trajectory_partial_order",
            {"order": [["check", "pay"]]},
            [step("pay"), step("check")],
            "calls: expected check before pay, pay (call 1) has no earlier check",
        ),
        (
            "trajectory_partial_order",
            {"order": [["check", "pay"]], "tools": ["log"]},
            [step("check")],
            "calls: expected every one of 3 tools to be called, missing: pay, log",
        ),
        (
            "tool_called_before",
            {"before": "check_stock", "after": "pay"},
            [step("log"), step("pay")],
            "pay (call 2): expected an earlier check_stock, got none",
        ),
        (
            "no_tool_cycles",
            {"period": 2},
            [step(name) for name in ["x", "y", "z", *["search", "book"] * 3]],
            "calls: expected no block of 2 repeated 2 times, search → book repeats 3 times from call 4",
        ),
        (
            "max_tool_failure_streak",
            {"max_streak": 1},
            [step("a", error=None), *[step("a", error="x")] * 3],
            "calls: expected ≤ 1 failure in a row, got 3 (calls 2\u20134)",
        ),
        (
            "max_tool_failure_streak",
            {"max_streak": 2},
            [step("a", error=None), step("b")],
            "calls: not evaluated: missing_evidence: error or status of call 2",
        ),
        (
            "tool_arg_satisfies",
            {"tool": "issue_refund", "arg": "amount_cents", "op": "lte", "value": 500},
            [step("look"), step("issue_refund", {"amount_cents": 650})],
            "issue_refund.amount_cents (call 2): expected ≤ 500, got 650 (over by 150)",
        ),
        (
            "tool_arg_satisfies",
            {"tool": "pay", "arg": "by", "op": "in", "value": ["card", "cash"]},
            [step("pay", {"by": "gift"}), step("pay", {"by": 1})],
            'pay.by (call 1): expected one of ["card","cash"], got "gift" (and 1 more)',
        ),
        (
            "tool_arg_satisfies",
            {"tool": "pay", "arg": "by", "op": "eq", "value": "card"},
            [step("pay", {"by": "card"}), step("pay")],
            "pay.by: not evaluated: missing_evidence: by of call 2",
        ),
    ],
)
def test_why(method: str, arguments: dict[str, Any], steps: list[dict[str, Any]], why: str) -> None:
    assert judge(method, trace(*steps, schema_version=2), **arguments).text() == why


def test_why_of_a_long_run_stays_a_line() -> None:
    found = judge("trajectory", calls(*["search"] * 500, "tool\nname"), tools=["search"])
    assert found.text().endswith("search → … (489 more) (500 edits)")
    assert len(found.text()) < 250

"""Constraints, trace checks, content and trace trees against their definitions, by brute force."""

from __future__ import annotations

import json
from itertools import combinations
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_cases import NAME_LISTS, NAMES, VALUES, calls, json_equal, runs, step, trace

from evaluator import run_check
from evaluator.assertions.judgement import Judgement
from evaluator.assertions.method import methods
from evaluator.assertions.view import view_of

SIGNS = st.sampled_from(["eq", "lt", "lte", "gt", "gte"])


def judge(op: str, scene: Any, **arguments: Any) -> Judgement:
    return methods()[op].build(arguments)(view_of(scene))


def agrees(found: Judgement, gap: float | None, score: float = 0.0) -> bool:
    """Whether a judgement has this gap and the status that goes with it; None for missing evidence."""
    if gap is None:
        return (found.status, found.gap, found.reason) == ("not_evaluated", 1.0, "missing_evidence")
    wanted = ("pass", 1.0) if gap == 0 else ("hard_fail", score)
    shown = found.text()
    return (
        (found.status, found.score) == wanted and found.gap == pytest.approx(float(gap)) and "\n" not in shown
    )


# Constraints


def bound_gap(number: float, operator: str, bound: float) -> float:
    holds = {
        "eq": number == bound,
        "lt": number < bound,
        "lte": number <= bound,
        "gt": number > bound,
        "gte": number >= bound,
    }
    if holds[operator]:
        return 0
    if operator in ("lt", "gt"):
        return abs(number - bound) + (1 if number % 1 == 0 and bound % 1 == 0 else 1e-6)
    return abs(number - bound)


METRICS = st.sampled_from([0, 1, 2, 2.0, 2.5, 3, None, "absent", "2", True])


@given(METRICS, SIGNS, st.sampled_from([0, 1, 2, 2.5, 3.0]))
def test_a_metric_against_a_bound(metric: Any, operator: str, bound: float) -> None:
    run = trace(metadata={} if metric == "absent" else {"cost_usd": metric})
    known = isinstance(metric, (int, float)) and not isinstance(metric, bool)
    found = judge("constraint.constraint", run, field="metadata.cost_usd", operator=operator, value=bound)
    assert agrees(found, bound_gap(metric, operator, bound) if known else None)
    found = judge("constraint.cost_under", run, max_cost=bound)
    assert agrees(found, bound_gap(metric, "lte", bound) if known else None)


@given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6))
def test_a_range_of_tokens(tokens: int, least: int, most: int) -> None:
    run = trace(metadata={"total_tokens": tokens})
    gap = max(0, least - tokens, tokens - most)
    assert agrees(judge("constraint.tokens_between", run, min_tokens=least, max_tokens=most), gap)
    arguments = {"field": "metadata.total_tokens", "operator": "between", "min": least, "max": most}
    assert agrees(judge("constraint.constraint", run, **arguments), gap)


@given(runs(), SIGNS, st.integers(0, 5), st.sampled_from(["tool_call", "llm_call", "agent_call", "dance"]))
def test_numbers_of_steps(run: dict[str, Any], operator: str, bound: int, kind: str) -> None:
    steps = run["steps"]
    gap = bound_gap(len(steps), operator, bound)
    assert agrees(judge("constraint.step_count", run, operator=operator, value=bound), gap)
    of_type = sum(each["type"] == kind for each in steps)
    field = f"steps[?type=='{kind}'].length"
    found = judge("constraint.constraint", run, field=field, operator=operator, value=bound)
    assert agrees(found, bound_gap(of_type, operator, bound))


# Names


def common_subsequence(left: list[str], right: list[str]) -> int:
    for size in range(len(left), 0, -1):
        for chosen in combinations(left, size):
            rest = iter(right)
            if all(name in rest for name in chosen):
                return size
    return 0


@given(runs(), NAME_LISTS.filter(bool))
def test_names_in_order(run: dict[str, Any], tools: list[str]) -> None:
    names = [each["name"] for each in run["steps"]]
    gap = len(tools) - common_subsequence(tools, names)
    found = judge("trace.tools_called_in_order", run, tools=tools)
    assert agrees(found, gap)
    if gap:
        assert f"(missing {gap}: " in found.text()


@given(runs(), NAME_LISTS.filter(bool))
def test_names_next_to_each_other(run: dict[str, Any], tools: list[str]) -> None:
    names = [each["name"] for each in run["steps"]]
    best = 0
    for start in range(-len(tools), len(names) + 1):
        there = [names[start + at] if 0 <= start + at < len(names) else None for at in range(len(tools))]
        best = max(best, sum(name == tool for name, tool in zip(there, tools, strict=True)))
    assert agrees(judge("trace.tools_called_exactly", run, tools=tools), len(tools) - best)


@given(runs(), NAME_LISTS.filter(bool), st.integers(1, 3))
def test_names_that_occur(run: dict[str, Any], tools: list[str], bound: int) -> None:
    names = [each["name"] for each in run["steps"]]
    assert agrees(judge("trace.required_tools", run, tools=tools), len(set(tools) - set(names)))
    assert agrees(judge("trace.forbidden_tools", run, tools=tools), sum(name in tools for name in names))
    loops = judge("trace.no_tool_loops", run, tool=tools[0], max_repetitions=bound)
    assert agrees(loops, max(0, names.count(tools[0]) - bound))
    assert agrees(judge("trace.no_duplicate_tools", run), len(names) - len(set(names)))


# Content

TEXTS = st.text(st.sampled_from("aAß\u1e9e\u03a3\u03c3\u03c2\u0130i "), max_size=5)


def lowered(text: str) -> str:
    """Lower case by single code points, those that have one of a single code point."""
    special = {"\u0130": "i"}
    return "".join(special.get(character, character.lower()) for character in text)


@given(TEXTS, TEXTS, st.lists(TEXTS, max_size=3), st.booleans())
def test_content(message: str, value: str, keywords: list[str], case_sensitive: bool) -> None:
    run = trace(message=message)

    def prepared(text: str) -> str:
        return text if case_sensitive else lowered(text)

    def holds(text: str) -> bool:
        return prepared(text) in prepared(message)

    options = {"case_sensitive": case_sensitive}
    assert agrees(judge("content.output_contains", run, value=value, **options), not holds(value))
    times = prepared(message).count(prepared(value)) if value else 1
    assert agrees(judge("content.output_not_contains", run, value=value, **options), times)
    missing = sum(not holds(keyword) for keyword in keywords)
    found = judge("content.output_has_all_keywords", run, keywords=keywords, **options)
    assert agrees(found, missing, (len(keywords) - missing) / max(1, len(keywords)))
    found = judge("content.output_has_any_keyword", run, keywords=keywords, **options)
    assert agrees(found, not any(map(holds, keywords)))
    forbidden = sum(lowered(keyword) in lowered(message) for keyword in keywords)
    assert agrees(judge("content.output_forbids", run, terms=keywords), forbidden)


@given(VALUES, st.sampled_from(["", "1", "a", '"', "[", "null", "true", ":"]))
def test_content_of_other_targets(value: Any, wanted: str) -> None:
    scene = {
        "output": {"report": {"x": value}},
        "steps": [step("look", {"q": value}, kind="retrieval", result=[value]), step("look", {"q": "no"})],
    }
    for target, found in (
        ("output.report.x", value),
        ("output.report", {"x": value}),
        ("steps[?name=='look'].args.q", value),
        ("steps[?name=='look'].result", [value]),
    ):
        text = json.dumps(found, separators=(",", ":")).replace("1.0", "1")
        text = found if isinstance(found, str) else "" if found is None else text
        judged = judge("content.content_contains", scene, target=target, value=wanted, case_sensitive=True)
        assert agrees(judged, wanted not in text)
    for target in ("output.report.y", "output.report.x.y.z", "steps[?name=='other'].args"):
        judged = judge("content.content_contains", scene, target=target, value="", soft=True)
        assert (judged.status, judged.gap) == ("hard_fail", 1)


# Trees

AGENTS = st.sampled_from(["lead", "aide", "scout"])
TIME_FIELDS = ("started_at_ms", "ended_at_ms")
TIMES = st.one_of(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20), st.none())


@st.composite
def trees(draw: st.DrawFn, depth: int = 0) -> dict[str, Any]:
    """Traces with sub-traces, agents on traces and on steps, metrics and times here and there."""
    steps = []
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["tool_call", "agent_call", "agent_call", "llm_call"]))
        made = step(draw(NAMES), kind=kind)
        if draw(st.booleans()):
            made["agent_id"] = draw(AGENTS)
        for field in TIME_FIELDS:
            time = draw(TIMES)
            if time is not None:
                made[field] = time
        if depth < 3 and draw(st.booleans()):
            made["sub_trace"] = draw(trees(depth + 1))
        steps.append(made)
    made = {"trace_id": "t", "steps": steps, "output": {"code": draw(VALUES), "message": "m"}}
    if draw(st.booleans()):
        made["agent_id"] = draw(AGENTS)
    if draw(st.booleans()):
        made["input"] = draw(st.one_of(VALUES, st.builds(lambda value: {"q": [value]}, VALUES)))
    if draw(st.booleans()):
        made["metadata"] = {"cost_usd": draw(st.sampled_from([0, 0.5, 1, 2, None]))}
    return made


def walked(run: dict[str, Any], depth: int = 0, parent: str = "") -> list[tuple[dict[str, Any], int, str]]:
    """Every trace of a tree with its depth and its parent's agent."""
    found = [(run, depth, parent)]
    for each in run["steps"]:
        if each["type"] == "agent_call" and "sub_trace" in each:
            found += walked(each["sub_trace"], depth + 1, run.get("agent_id", ""))
    return found


@given(trees(), AGENTS, st.integers(0, 3), st.lists(st.tuples(AGENTS, AGENTS), min_size=1, max_size=4))
def test_who_ran_and_delegated(run: dict[str, Any], agent: str, most: int, pairs: list[Any]) -> None:
    tree = walked(run)
    called = any(one.get("agent_id") == agent for one, *_ in tree)
    assert agrees(judge("trace_tree.agent_called", run, agent_id=agent), not called)
    deepest = max(depth for _, depth, _ in tree)
    assert agrees(judge("trace_tree.delegation_depth", run, max_depth=most), max(0, deepest - most))
    others = sum((parent, one.get("agent_id", "")) not in pairs for one, _, parent in tree[1:])
    found = judge("trace_tree.follows_transitions", run, transitions=[list(pair) for pair in pairs])
    assert agrees(found, others)


@given(trees(), st.lists(NAMES, min_size=1, max_size=4))
def test_tools_of_the_whole_tree(run: dict[str, Any], tools: list[str]) -> None:
    called = {each["name"] for one, *_ in walked(run) for each in one["steps"] if each["type"] == "tool_call"}
    found = judge("trace_tree.all_tools_called", run, tool_names=tools)
    assert agrees(found, len(set(tools) - called))


@given(trees(), st.sampled_from([0, 0.5, 1.5]))
def test_costs_of_the_whole_tree(run: dict[str, Any], bound: float) -> None:
    costs = [(one.get("metadata") or {}).get("cost_usd") for one, *_ in walked(run)]
    known = [cost for cost in costs if cost is not None]
    found = judge("trace_tree.aggregate_cost_under", run, max_cost=bound)
    assert agrees(found, max(0, sum(known) - bound) if known else None)


def test_costs_are_added_one_after_another_whatever_the_version_of_python() -> None:
    costs = [0.1, 0.2, 0.3]
    children = [trace(metadata={"cost_usd": cost}) for cost in costs[1:]]
    steps = [step("ask", kind="agent_call", sub_trace=child) for child in children]
    run = trace(*steps, metadata={"cost_usd": costs[0]})
    found = judge("trace_tree.aggregate_cost_under", run, max_cost=0.6)
    assert (found.status, found.gap) == ("hard_fail", 0.1 + 0.2 + 0.3 - 0.6)


BEYOND = 10**400
"""A whole number that no double is as large as; JSON has such."""
LONG_RUN: dict[str, Any] = {
    "metadata": {"cost_usd": 0.5},
    "steps": [
        {"type": "tool_call", "name": "a", "agent_id": "A", "started_at_ms": 0.5, "ended_at_ms": 1},
        {
            "type": "agent_call",
            "name": "b",
            "agent_id": "B",
            "started_at_ms": BEYOND,
            "ended_at_ms": BEYOND + 1,
        },
        {"type": "agent_call", "name": "c", "agent_id": "C", "started_at_ms": 0.5, "ended_at_ms": BEYOND},
    ],
}
LONG_RUN["steps"][1]["sub_trace"] = {"metadata": {"cost_usd": BEYOND}}


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        ("trace_tree.aggregate_cost_under", {"max_cost": 1}),
        ("trace_tree.agents_overlap", {"agent_a": "A", "agent_b": "B"}),
        ("trace_tree.agent_ordered_before", {"agent_a": "B", "agent_b": "A"}),
        ("trace_tree.agent_wall_time_under", {"agent_id": "C", "max_ms": 5}),
        ("trace_tree.ordered_agents", {"groups": [["B"], ["A"]]}),
        ("behaviour.tool_cardinality", {"tool": "a", "at_least": BEYOND}),
        ("constraint.step_count", {"operator": "gte", "value": BEYOND}),
    ],
)
def test_distances_beyond_all_doubles_are_infinite(op: str, arguments: dict[str, Any]) -> None:
    result = run_check({"trace": LONG_RUN}, {"op": op, **arguments})
    assert (result.passed, result.gap) == (False, inf)
    assert result.why


def contains(whole: Any, part: Any) -> bool:
    if json_equal(whole, part):
        return True
    members = whole.values() if isinstance(whole, dict) else whole if isinstance(whole, list) else ()
    return any(contains(member, part) for member in members)


def text_of(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("1.0", "1")


@given(trees(), AGENTS, AGENTS, st.sampled_from(["code", "message", "gone"]))
def test_data_that_flows(run: dict[str, Any], sender: str, receiver: str, field: str) -> None:
    tree = [one for one, *_ in walked(run)]
    sent = [one["output"][field] for one in tree if one.get("agent_id") == sender and field in one["output"]]
    given = [one["input"] for one in tree if one.get("agent_id") == receiver and "input" in one]
    flows = any(
        text_of(value).strip('"' if isinstance(value, str) else "") in text_of(taken)
        or contains(taken, value)
        for value in sent
        for taken in given
    )
    found = judge("trace_tree.cross_agent_data_flow", run, from_agent=sender, to_agent=receiver, field=field)
    assert agrees(found, not flows)


@given(trees(), AGENTS, AGENTS, st.sampled_from([5, 9.5]))
def test_times_of_agents(run: dict[str, Any], agent_a: str, agent_b: str, bound: float) -> None:
    steps = [each for one, *_ in walked(run) for each in one["steps"]]
    of_a = [each for each in steps if each.get("agent_id") == agent_a]
    of_b = [each for each in steps if each.get("agent_id") == agent_b]
    ends_a, starts_b = (
        [each.get(f) for each in of] for f, of in (("ended_at_ms", of_a), ("started_at_ms", of_b))
    )
    starts_a, ends_b = (
        [each.get(f) for each in of] for f, of in (("started_at_ms", of_a), ("ended_at_ms", of_b))
    )

    before: float | None
    if not of_a or not of_b:
        before = 1
    elif None in ends_a or None in starts_b:
        before = None
    else:
        before = max(0, max(ends_a) - min(starts_b) + 1)
    found = judge("trace_tree.agent_ordered_before", run, agent_a=agent_a, agent_b=agent_b)
    assert agrees(found, before)
    absent = len({agent_a} - {agent_a for _ in of_a} | {agent_b} - {agent_b for _ in of_b})
    found = judge("trace_tree.ordered_agents", run, groups=[[agent_a], [agent_b]])
    assert agrees(found, absent or before)

    overlap: float | None
    if not of_a or not of_b:
        overlap = 1
    elif None in (*starts_a, *ends_a, *starts_b, *ends_b):
        overlap = None
    elif min(starts_a) < max(ends_b) and min(starts_b) < max(ends_a):
        overlap = 0
    else:
        overlap = max(0, min(starts_b) - max(ends_a), min(starts_a) - max(ends_b)) + 1
    assert agrees(judge("trace_tree.agents_overlap", run, agent_a=agent_a, agent_b=agent_b), overlap)

    wall: float | None
    if not of_a:
        wall = 1
    elif None in (*starts_a, *ends_a):
        wall = None
    else:
        wall = bound_gap(sum(ends_a) - sum(starts_a), "lt", bound)
    assert agrees(judge("trace_tree.agent_wall_time_under", run, agent_id=agent_a, max_ms=bound), wall)


def test_groups_of_agents_are_compared_with_their_neighbours() -> None:
    run = trace(
        *(
            step("x", agent_id=agent, started_at_ms=start, ended_at_ms=end)
            for agent, start, end in (("a", 0, 10), ("b", 8, 20), ("c", 20, 30), ("d", 5, 40))
        )
    )
    groups = [["a"], ["b", "d"], ["c"]]
    found = judge("trace_tree.ordered_agents", run, groups=groups)
    assert agrees(found, (10 - 5 + 1) + (40 - 20 + 1))
    assert found.text() == "group 2: expected to start after 10 ms, started at 5 ms (over by 6)"
    assert agrees(judge("trace_tree.ordered_agents", run, groups=[["a"], ["z", "y"], ["z"]]), 2)


# Why of all of them, as the rules give it

RUN = trace(
    *(step(name) for name in ("search", "pay", "search", "log", "search", "book", "book")),
    message="Hello",
    metadata={"cost_usd": 0.14, "latency_ms": 64_200, "total_tokens": 520},
    agent_id="front_desk",
)
DELEGATED = trace(
    step(
        "ask",
        kind="agent_call",
        sub_trace={
            "agent_id": "archivist",
            "steps": [step("dig", agent_id="archivist", started_at_ms=0, ended_at_ms=140)],
            "output": {"message": "none", "code": "LN-7"},
            "metadata": {"cost_usd": 0.5},
        },
    ),
    step("go", kind="agent_call", sub_trace={"agent_id": "courier", "input": {"q": 1}, "output": {"m": 1}}),
    step("run", agent_id="courier", started_at_ms=120, ended_at_ms=620),
    agent_id="front_desk",
    metadata={"cost_usd": 0.12},
)


@pytest.mark.parametrize(
    ("op", "scene", "arguments", "why"),
    [
        (
            "constraint.cost_under",
            RUN,
            {"max_cost": 0.1},
            "metadata.cost_usd: expected ≤ 0.1, got 0.14 (over by 0.04)",
        ),
        (
            "constraint.latency_under",
            RUN,
            {"max_ms": 60_000},
            "metadata.latency_ms: expected ≤ 60000, got 64200 (over by 4200)",
        ),
        (
            "constraint.tokens_between",
            RUN,
            {"min_tokens": 100, "max_tokens": 500},
            "metadata.total_tokens: expected 100…500, got 520 (over by 20)",
        ),
        ("constraint.step_count", RUN, {"operator": "eq", "value": 4}, "steps.length: expected = 4, got 7"),
        (
            "constraint.tool_call_count",
            RUN,
            {"operator": "lt", "value": 7},
            "steps[type=tool_call].length: expected < 7, got 7",
        ),
        (
            "trace.tools_called_in_order",
            calls("search", "pay"),
            {"tools": ["search", "book", "pay"]},
            "steps: expected search → book → pay in order, got search → pay (missing 1: book)",
        ),
        (
            "trace.tools_called_exactly",
            RUN,
            {"tools": ["search", "book"]},
            None,
        ),
        (
            "trace.tools_called_exactly",
            calls("search", "pay"),
            {"tools": ["search", "book"]},
            "steps: expected search, book next to each other, best run has 1 of 2",
        ),
        (
            "trace.required_tools",
            calls("search"),
            {"tools": ["search", "book", "pay"]},
            "steps: expected every one of 3 names, missing: book, pay",
        ),
        (
            "trace.forbidden_tools",
            calls("a", "b", "delete_all", "c", "d", "e", "delete_all"),
            {"tools": ["delete_all"]},
            "steps: expected none of delete_all, got 2 (steps 3, 7)",
        ),
        (
            "trace.no_tool_loops",
            calls(*["search"] * 5),
            {"tool": "search", "max_repetitions": 2},
            "steps[name=search]: expected ≤ 2, got 5 (over by 3)",
        ),
        (
            "trace.no_duplicate_tools",
            RUN,
            {},
            "steps: expected distinct names, search occurs 3 times, book 2 times",
        ),
        (
            "content.output_contains",
            RUN,
            {"value": "refund"},
            'output.message: expected string containing "refund", got "Hello"',
        ),
        (
            "content.output_not_contains",
            trace(message="Refund, refund"),
            {"value": "refund"},
            'output.message: expected no "refund", found 2',
        ),
        (
            "content.output_has_all_keywords",
            trace(message="order total"),
            {"keywords": ["order", "invoice", "total"]},
            "output.message: expected all of 3 keywords, missing: invoice",
        ),
        (
            "content.output_has_any_keyword",
            RUN,
            {"keywords": ["a", "b"]},
            "output.message: expected one of: a, b",
        ),
        (
            "content.output_forbids",
            trace(message="your SSN"),
            {"terms": ["ssn"]},
            "output.message: expected none of the forbidden terms, found: ssn",
        ),
        (
            "trace_tree.agent_called",
            DELEGATED,
            {"agent_id": "porter"},
            "agents: expected porter to be called, got front_desk, archivist, courier",
        ),
        (
            "trace_tree.delegation_depth",
            DELEGATED,
            {"max_depth": 0},
            "delegation depth: expected ≤ 0, got 1 (over by 1)",
        ),
        (
            "trace_tree.agent_output_contains",
            DELEGATED,
            {"agent_id": "archivist", "value": "tide"},
            'archivist.output: expected text containing "tide", got {"message":"none","code":"LN-7"}',
        ),
        (
            "trace_tree.cross_agent_data_flow",
            DELEGATED,
            {"from_agent": "archivist", "to_agent": "courier", "field": "code"},
            'courier.input: expected archivist.output.code "LN-7", not found',
        ),
        (
            "trace_tree.follows_transitions",
            DELEGATED,
            {"transitions": [["front_desk", "archivist"]]},
            "delegations: expected only listed ones, got front_desk → courier (1)",
        ),
        (
            "trace_tree.aggregate_cost_under",
            DELEGATED,
            {"max_cost": 0.5},
            "tree cost_usd: expected ≤ 0.5, got 0.62 (over by 0.12)",
        ),
        (
            "trace_tree.agent_ordered_before",
            DELEGATED,
            {"agent_a": "archivist", "agent_b": "courier"},
            "archivist → courier: expected end before 120 ms, got 140 ms (over by 21)",
        ),
        (
            "trace_tree.agent_wall_time_under",
            DELEGATED,
            {"agent_id": "courier", "max_ms": 500},
            "courier wall time: expected < 500 ms, got 500 ms",
        ),
        (
            "trace_tree.all_tools_called",
            DELEGATED,
            {"tool_names": ["dig", "summarize"]},
            "tools in tree: expected 2 names, missing: summarize",
        ),
    ],
)
def test_why(op: str, scene: Any, arguments: dict[str, Any], why: str | None) -> None:
    found = judge(op, scene, **arguments)
    assert found.status == ("pass" if why is None else "hard_fail")
    assert why is None or found.text() == why


def test_why_of_agents_that_do_not_overlap() -> None:
    run = trace(
        step("a", agent_id="archivist", started_at_ms=0, ended_at_ms=5),
        step("b", agent_id="courier", started_at_ms=9, ended_at_ms=12),
    )
    found = judge("trace_tree.agents_overlap", run, agent_a="archivist", agent_b="courier")
    assert found.text() == "archivist [0, 5], courier [9, 12]: expected overlap, apart by 4 ms"

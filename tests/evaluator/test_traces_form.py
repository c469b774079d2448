"""Building, judging and walking traces."""

from __future__ import annotations

import copy
import doctest
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import SceneError, TraceBuilder, TraceTree, trace_json_schema, validate_trace
from evaluator.traces import builder, tree
from evaluator.traces.validation import LARGEST_STEP, MOST_STEPS

SCHEMA = jsonschema.Draft202012Validator(trace_json_schema())


def trip() -> dict[str, Any]:
    """A trace with two levels below it."""
    berth = TraceBuilder("berth").add_tool_call("check_tide", {"at": 4}).set_output(message="Berth 7")
    tide = TraceBuilder("tide").add_agent_call("berth", berth).add_tool_call("log").set_output(message="in")
    harbour = TraceBuilder("harbour").set_input(request="arrive").add_llm_call("planner")
    harbour.add_agent_call("tide", tide, {"task": "do"}, result={"message": "in"})
    harbour.add_retrieval("charts", {"query": "shoals"}, result=[]).set_output(message="Docked.")
    return harbour.set_metadata(total_tokens=12, cost_usd=0.5, model="m").build()


def test_a_builder_gives_a_valid_trace_with_its_sub_traces() -> None:
    trace = trip()
    validate_trace(trace)
    assert [step["type"] for step in trace["steps"]] == ["llm_call", "agent_call", "retrieval"]
    sub = trace["steps"][1]["sub_trace"]
    assert sub["parent_trace_id"] == trace["trace_id"]
    assert sub["steps"][0]["sub_trace"]["parent_trace_id"] == sub["trace_id"]
    assert trace["schema_version"] == 1
    assert trip() == trace, "the same calls give the same ids"


def test_what_was_given_is_copied_and_what_is_built_is_new() -> None:
    args: dict[str, Any] = {"ids": [1]}
    builder = TraceBuilder().add_tool_call("f", args).set_output(message="x")
    args["ids"].append(2)
    first = builder.build()
    first["steps"][0]["args"]["ids"].append(3)
    assert builder.build()["steps"][0]["args"] == {"ids": [1]}


def test_evidence_of_failure_makes_version_2() -> None:
    ok = TraceBuilder().add_tool_call("f", error=None).set_output(message="x").build()
    assert (ok["schema_version"], ok["steps"][0]["error"]) == (2, None)
    assert TraceBuilder().add_tool_call("f", status="timeout").set_output(a=1).build()["schema_version"] == 2


def test_a_builder_says_what_is_missing() -> None:
    with pytest.raises(SceneError, match=r'\$: no "output"'):
        TraceBuilder().build()
    with pytest.raises(SceneError, match=r"\$\.steps\[0\]\.args\.when"):
        TraceBuilder().add_tool_call("f", {"when": {1, 2}})
    with pytest.raises(SceneError, match=r"\$\.steps\[0\]\.name: expected a text that is not blank"):
        TraceBuilder().add_tool_call(" ").set_output(message="x").build()
    builder = TraceBuilder()
    with pytest.raises(SceneError, match="cannot delegate to itself"):
        builder.add_agent_call("me", builder).set_output(message="x").build()


def edited(path: list[str | int], value: object) -> dict[str, Any]:
    trace: Any = copy.deepcopy(trip())
    node = trace
    for step in path[:-1]:
        node = node[step]
    if value is ...:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return dict(trace)


SUB: list[str | int] = ["steps", 1, "sub_trace"]


@pytest.mark.parametrize(
    ("path", "value", "place", "problem"),
    [
        (["trace_id"], ..., "$", 'no "trace_id"'),
        (["trace_id"], " ", "$.trace_id", "not blank"),
        (["output"], {}, "$.output", "at least one key"),
        (["output"], "done", "$.output", "an object"),
        (["schema_version"], 3, "$.schema_version", "from 0 to 2, got a number 3"),
        (["schema_version"], True, "$.schema_version", "got a boolean"),
        (["steps", 0, "type"], "tool_cal", "$.steps[0].type", 'is "tool_call" meant?'),
        (["steps", 0, "name"], "", "$.steps[0].name", "not blank"),
        (["steps", 0, "started_at_ms"], 1.5, "$.steps[0].started_at_ms", "whole number"),
        (["steps"], {}, "$.steps", "an array of steps"),
        (["metadata", "total_tokens"], 1.5, "$.metadata.total_tokens", "whole number"),
        (["metadata", "cost_usd"], "1", "$.metadata.cost_usd", "a number"),
        ([*SUB], ..., "$.steps[1]", 'no "sub_trace"'),
        ([*SUB, "parent_trace_id"], "else", "$.steps[1].sub_trace.parent_trace_id", "the trace above"),
        ([*SUB, "output"], ..., "$.steps[1].sub_trace", 'no "output"'),
        ([*SUB, "steps", 1, "name"], 7, "$.steps[1].sub_trace.steps[1].name", "got a number 7"),
    ],
)
def test_a_fault_is_named_with_its_place(
    path: list[str | int], value: object, place: str, problem: str
) -> None:
    with pytest.raises(SceneError) as caught:
        validate_trace(edited(path, value))
    assert caught.value.place == place
    assert problem in caught.value.problem


def test_trace_ids_are_unique_up_to_spaces_around_them() -> None:
    trace = trip()
    sub = trace["steps"][1]["sub_trace"]
    sub["trace_id"] = f" {trace['trace_id']} "
    with pytest.raises(SceneError, match=r"unique in a tree, .* is also at \$\.trace_id"):
        validate_trace(trace)


def nested(levels: int) -> dict[str, Any]:
    trace: dict[str, Any] = {"trace_id": "t0", "output": {"message": "x"}}
    for level in range(1, levels + 1):
        call = {"type": "agent_call", "name": "a", "sub_trace": trace}
        trace = {"trace_id": f"t{level}", "output": {"message": "x"}, "steps": [call]}
    return trace


def test_the_limits_hold_to_the_last_unit() -> None:
    validate_trace(nested(4))
    with pytest.raises(SceneError, match="at most 4 below the root"):
        validate_trace(nested(5))
    step = {"type": "tool_call", "name": "f"}
    base = {"trace_id": "t", "output": {"message": "x"}}
    validate_trace(base | {"steps": [step] * MOST_STEPS})
    with pytest.raises(SceneError, match=r"\$\.steps: a trace has at most 10,000 steps, got 10,001"):
        validate_trace(base | {"steps": [step] * (MOST_STEPS + 1)})
    room = LARGEST_STEP - len('{"type":"tool_call","name":"f","args":""}')
    validate_trace(base | {"steps": [step | {"args": "x" * room}]})
    with pytest.raises(SceneError, match=r"\$\.steps\[0\]: a step is at most 1 MiB .* 1,048,577 bytes"):
        validate_trace(base | {"steps": [step | {"args": "x" * (room + 1)}]})
    with pytest.raises(SceneError, match=r"\$: a trace is at most 10 MiB"):
        validate_trace(base | {"input": "ä" * (5 * 2**20)})


def test_a_step_is_measured_without_its_sub_trace() -> None:
    steps = [{"type": "tool_call", "name": "f", "args": "x" * 2**19} for _ in range(4)]
    sub = {"trace_id": "s", "output": {"a": 1}, "steps": steps}
    call = {"type": "agent_call", "name": "a", "sub_trace": sub}
    validate_trace({"trace_id": "t", "output": {"a": 1}, "steps": [call]})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.sampled_from(["tool_call", "agent_call", "t", ""]),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(
                    ["trace_id", "output", "steps", "type", "name", "sub_trace", "metadata", "model"]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=20,
    )
)
def test_the_schema_and_the_judge_agree(value: Any) -> None:
    try:
        validate_trace(value)
    except SceneError:
        assert not SCHEMA.is_valid(value) or "unique in a tree" in str(reason_of(value))
    else:
        assert SCHEMA.is_valid(value)


def reason_of(value: Any) -> SceneError:
    with pytest.raises(SceneError) as caught:
        validate_trace(value)
    return caught.value


def test_a_tree_is_walked_depth_first() -> None:
    tree = TraceTree(trip())
    assert [node.agent_id for node in tree] == ["harbour", "tide", "berth"]
    assert [node.depth for node in tree.walk()] == [0, 1, 2]
    assert (tree.depth, tree.agents, len(tree)) == (2, ("harbour", "tide", "berth"), 3)
    assert tree.delegations == (("harbour", "tide"), ("tide", "berth"))
    assert [flat.place for flat in tree.flatten()] == [
        "$.steps[0]",
        "$.steps[1]",
        "$.steps[1].sub_trace.steps[0]",
        "$.steps[1].sub_trace.steps[0].sub_trace.steps[0]",
        "$.steps[1].sub_trace.steps[1]",
        "$.steps[2]",
    ]
    assert tree.tools == ("check_tide", "log")
    assert [node.place for node in tree.find("berth")] == ["$.steps[1].sub_trace.steps[0].sub_trace"]
    assert tree.find("nobody") == ()


def test_aggregates_are_sums_and_none_where_nothing_was_measured() -> None:
    trace = trip()
    trace["steps"][1]["sub_trace"]["metadata"] = {"total_tokens": 5, "cost_usd": None}
    tree = TraceTree({"trace": trace})
    assert (tree.aggregate_tokens, tree.aggregate_cost_usd, tree.aggregate_latency_ms) == (17, 0.5, None)


def test_a_tree_of_a_broken_trace_is_walked_as_far_as_it_goes() -> None:
    steps = [
        7,
        {"type": "agent_call"},
        {"type": "tool_call", "sub_trace": {}},
        {"type": "agent_call", "sub_trace": {}},
    ]
    tree = TraceTree({"steps": steps, "metadata": []})
    assert (len(tree), tree.depth, tree.agents, tree.aggregate_tokens) == (2, 1, (), None)
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"steps": [{"type": "agent_call", "sub_trace": deep}]}
    assert TraceTree(deep).depth == len(TraceTree(deep).flatten()) == 5_000
    with pytest.raises(SceneError, match="expected a trace, an object, got an array"):
        TraceTree([])


def test_the_examples_in_docstrings_run() -> None:
    for module in (builder, tree):
        ran = doctest.testmod(module)
        assert (ran.attempted > 0, ran.failed) == (True, 0)

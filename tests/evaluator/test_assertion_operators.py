"""The assertions as operators: declared once, composed by Kleene's rule, put in words, and lowered."""

from __future__ import annotations

import copy
import random
from inspect import signature
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_attest_golden import FILES, cases

from evaluator import (
    CheckError,
    check_json_schema,
    compile_check,
    dump_check,
    evaluate_assertion,
    evaluate_many,
    explain,
    lower,
    parse_check,
    run_check,
    sentence,
    simplify,
)
from evaluator.assertions.method import find_method, methods
from evaluator.assertions.phrases import BY_ARGUMENTS, PHRASES
from evaluator.expression import TraceBefore, declared, fields_of

SCHEMA = jsonschema.Draft202012Validator(check_json_schema())
UNSAYABLE = ("no rubric", "is above", "spec: schema:", "path segment", "unclosed", "regular expression")
"""What no JSON Schema can say: what is registered, how two numbers compare, schemas, paths, patterns."""
EXISTS = {"op": "exists", "path": "a"}
VALUES: list[Any] = [
    *("", "a", "x.y", "a[", "(", "eq", "lte", "between", "in", "dynamic", "strict", "subset", "default"),
    *(
        "steps.length",
        "steps[?type=='x'].length",
        "metadata.cost_usd",
        "metadata.cost_usd\n",
        "metadata.model",
    ),
    *("output", "output.a", "output.", "steps[?name=='N'].args.x", "steps[?name=='N'].metadata", "input"),
    *(0, 1, 2, 4, 5, -1, 0.5, 1.0, 2.5, True, False, None),
    *([], ["a"], ["a", "b"], [""], [["a", "b"]], [["a"], ["b"]], [["a", "b", "c"]], [[], ["a"]], [1]),
    *({}, {"type": "string"}, {"type": "strng"}, EXISTS, [EXISTS], {"resource": "a", "field": "b"}),
    *({"resource": "a", "field": "b", "on": "c"}, {"resource": "", "field": "b", "on": "c"}),
]


def step(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_call", "name": name, **more}


def ran(*steps: Any, **more: Any) -> dict[str, Any]:
    return {"trace_id": "t", "steps": list(steps), "output": {"message": "done"}, **more}


# Declared once


def refusal(check: dict[str, Any]) -> str | None:
    """Why a check does not compile; None when it does."""
    try:
        compile_check(check)
    except CheckError as error:
        return str(error)
    return None


@pytest.mark.parametrize("op", [*methods(), "trace.before"])
def test_the_schema_accepts_exactly_what_compiles(op: str) -> None:
    draw = random.Random(op)
    for _ in range(60):
        check: dict[str, Any] = {"op": op}
        for field in fields_of(op):
            if draw.random() < (0.95 if field.required else 0.4):
                check[field.name] = copy.deepcopy(draw.choice(VALUES))
        refused = refusal(check)
        if refused is None:
            assert SCHEMA.is_valid(check), check
            assert dump_check(parse_check(check)) == check
            assert sentence(check)
            assert compile_check(simplify(check)).gap({}) == compile_check(check).gap({})
        elif not any(said in refused for said in UNSAYABLE):
            assert not SCHEMA.is_valid(check), (check, refused)


def test_golden_assertions_are_typed_and_accepted_by_the_schema() -> None:
    for name in FILES:
        for case in cases(name):
            if case["expect"].get("reason") != "spec_error":
                wire = find_method(case["assertion"]["method"]).check(case["assertion"]["args"])
                assert SCHEMA.is_valid(wire), wire
                typed = parse_check(wire)
                assert type(typed) is declared()[wire["op"]]
                assert dump_check(typed) == wire
                assert hash(typed) == hash(parse_check(wire))


def test_errors_name_the_operator_and_the_place() -> None:
    with pytest.raises(
        CheckError, match=r"^\$\.of\[0\]\.op: .*did you mean \"trace.required_tools\""
    ) as caught:
        compile_check({"op": "and", "of": [{"op": "trace.required_tols", "tools": ["a"]}]})
    assert caught.value.place == "$.of[0].op"
    with pytest.raises(CheckError, match="required_tools: spec: tools") as caught:
        compile_check({"op": "not", "of": {"op": "trace.required_tools", "tools": []}})
    assert caught.value.place == "$.of.tools"
    with pytest.raises(CheckError, match='is "tool" a misspelling of it'):
        compile_check({"op": "trace.required_tools", "tool": ["a"]})
    with pytest.raises(CheckError, match="unknown method") as caught:
        evaluate_assertion({}, {"method": "required_tool"})


# Three values

COST = {"op": "constraint.cost_under", "max_cost": 1}
PASSES, FAILS = {"op": "exists", "path": "trace"}, {"op": "exists", "path": "nothing"}
SCENE = {
    "trace": ran(step("a")),
    "runs": [ran(), ran(metadata={"cost_usd": 0.5}), ran(metadata={"cost_usd": 3})],
}


def status(check: dict[str, Any], scene: Any = SCENE) -> str:
    result = run_check(scene, check)
    compiled = compile_check(check)
    assert (result.gap == 0.0) is result.passed is compiled.passes(scene)
    assert result.gap == compiled.gap(scene) == evaluate_many([check], [scene]).gap[0, 0]
    decided = compiled.decide(scene)
    assert (decided is None) is (result.meta["status"] == "not_evaluated")
    if decided is None:
        assert result.gap == 1.0
    assert isinstance(result.meta["status"], str)
    return str(result.meta["status"])


@pytest.mark.parametrize(
    ("check", "wanted"),
    [
        (COST, "not_evaluated"),
        ({"op": "not", "of": COST}, "not_evaluated"),
        ({"op": "not", "of": {"op": "not", "of": COST}}, "not_evaluated"),
        ({"op": "and", "of": [COST, PASSES]}, "not_evaluated"),
        ({"op": "and", "of": [COST, FAILS]}, "hard_fail"),
        ({"op": "or", "of": [COST, FAILS]}, "not_evaluated"),
        ({"op": "or", "of": [COST, PASSES]}, "pass"),
        ({"op": "not", "of": {"op": "and", "of": [COST, FAILS]}}, "pass"),
        ({"op": "not", "of": {"op": "or", "of": [COST, FAILS]}}, "not_evaluated"),
        ({"op": "find", "collection": "runs", "where": COST}, "pass"),
        ({"op": "find", "collection": "runs", "where": COST | {"max_cost": 0.1}}, "not_evaluated"),
        ({"op": "find", "collection": "nothing", "where": COST}, "hard_fail"),
        ({"op": "count", "collection": "runs", "where": COST, "lte": 1}, "not_evaluated"),
        ({"op": "count", "collection": "runs", "where": COST, "lte": 2}, "pass"),
        ({"op": "count", "collection": "runs", "where": COST, "lte": 0}, "hard_fail"),
        ({"op": "count", "collection": "runs", "where": COST, "gte": 1}, "pass"),
        ({"op": "count", "collection": "runs", "where": COST, "eq": 1}, "not_evaluated"),
        ({"op": "count", "collection": "runs", "where": COST, "eq": 1.5}, "hard_fail"),
        ({"op": "and", "of": [{"op": "trace.required_tools", "tools": ["x"], "soft": True}]}, "soft_fail"),
        (
            {"op": "and", "of": [{"op": "trace.required_tools", "tools": ["x"], "soft": True}, FAILS]},
            "hard_fail",
        ),
        ({"op": "not", "of": {"op": "trace.required_tools", "tools": ["x"], "soft": True}}, "pass"),
        ({"op": "or", "of": [{"op": "trace.required_tools", "tools": ["x"], "soft": True}]}, "soft_fail"),
        (
            {"op": "or", "of": [FAILS, {"op": "trace.required_tools", "tools": ["x"], "soft": True}]},
            "soft_fail",
        ),
        ({"op": "or", "of": [FAILS, {"op": "trace.required_tools", "tools": ["x"]}]}, "hard_fail"),
        (
            {
                "op": "find",
                "collection": "runs",
                "where": {"op": "trace.required_tools", "tools": ["x"], "soft": True},
            },
            "soft_fail",
        ),
    ],
)
def test_missing_evidence_never_becomes_a_pass(check: dict[str, Any], wanted: str) -> None:
    assert status(check) == wanted


LEAVES: dict[str, tuple[dict[str, Any], str]] = {
    "pass": ({"op": "trace.required_tools", "tools": ["a"]}, "pass"),
    "fail": ({"op": "trace.required_tools", "tools": ["x", "y"]}, "hard_fail"),
    "open": (COST, "not_evaluated"),
    "core pass": (PASSES, "pass"),
    "core fail": (FAILS, "hard_fail"),
}
trees = st.recursive(
    st.sampled_from([leaf for leaf, _ in LEAVES.values()]),
    lambda inner: (
        st.builds(lambda of: {"op": "not", "of": of}, inner)
        | st.builds(
            lambda op, of: {"op": op, "of": of}, st.sampled_from(["and", "or"]), st.lists(inner, max_size=3)
        )
    ),
    max_leaves=8,
)


def kleene(check: dict[str, Any]) -> bool | None:
    for leaf, wanted in LEAVES.values():
        if check == leaf:
            return {"pass": True, "hard_fail": False}.get(wanted)
    if check["op"] == "not":
        inner = kleene(check["of"])
        return None if inner is None else not inner
    values, decisive = [kleene(part) for part in check["of"]], check["op"] == "or"
    return decisive if decisive in values else None if None in values else not decisive


@given(trees)
def test_logic_is_kleenes_and_simplifying_keeps_it(check: dict[str, Any]) -> None:
    compiled = compile_check(check)
    wanted = kleene(check)
    decided = compiled.decide(SCENE)
    assert (None if decided is None else decided == 0.0) is wanted
    assert compiled(SCENE).passed is (wanted is True)
    simpler = compile_check(simplify(check))
    assert (simpler.decide(SCENE), simpler.gap(SCENE)) == (decided, compiled.gap(SCENE))
    assert sentence(check)
    assert explain(check, SCENE)
    try:
        lowered = lower(check)
    except CheckError:
        return
    assert run_check(SCENE, lowered).passed is (wanted is True)


def test_the_status_stands_beside_the_meta_of_a_defined_check() -> None:
    defined = {"id": "x", "expr": COST, "meta": {"tags": ["t"]}}
    assert run_check(SCENE, defined).meta == {
        "tags": ["t"],
        "status": "not_evaluated",
        "reason": "missing_evidence",
    }
    assert run_check(SCENE, defined | {"meta": 5}).meta["meta"] == 5
    assert run_check(SCENE, {"id": "x", "expr": PASSES, "meta": {"tags": []}}).meta == {"tags": []}


def test_a_scene_may_change_between_evaluations() -> None:
    scene = {"trace": ran(step("a"))}
    compiled = compile_check({"op": "trace.required_tools", "tools": ["b"]})
    assert compiled.gap(scene) == 1
    scene["trace"]["steps"].append(step("b"))
    assert compiled.gap(scene) == 0


@pytest.mark.parametrize("trace", [None, 5, [], {"steps": 3}])
@pytest.mark.parametrize("op", methods())
def test_what_is_no_trace_is_never_a_pass_of_what_reads_steps(op: str, trace: Any) -> None:
    if op.startswith("trace."):
        fine = {"tools": ["a"], "tool": "a", "arg": "x"}
        arguments = {each.name: fine[each.name] for each in methods()[op].arguments if each.name in fine}
        assert status({"op": op, **arguments}, {"trace": trace}) == "not_evaluated"


# What is said


@pytest.mark.parametrize(
    ("method", "arguments", "trace", "why"),
    [
        (
            "tools_called_in_order",
            {"tools": ["search", "book", "pay"]},
            ran(step("search"), step("pay")),
            "steps: expected search → book → pay in order, got search → pay (missing 1: book)",
        ),
        (
            "tools_called_exactly",
            {"tools": ["search", "book"]},
            ran(step("search"), step("x"), step("book")),
            "steps: expected search, book next to each other, best run has 1 of 2",
        ),
        (
            "required_tools",
            {"tools": ["search", "book", "pay"]},
            ran(step("search")),
            "steps: expected every one of 3 names, missing: book, pay",
        ),
        (
            "forbidden_tools",
            {"tools": ["delete_all"]},
            ran(*map(step, "ab"), step("delete_all"), *map(step, "cde"), step("delete_all")),
            "steps: expected none of delete_all, got 2 (steps 3, 7)",
        ),
        (
            "no_tool_loops",
            {"tool": "search", "max_repetitions": 2},
            ran(*[step("search")] * 5),
            "steps[name=search]: expected ≤ 2, got 5 (over by 3)",
        ),
        (
            "no_duplicate_tools",
            {},
            ran(*map(step, ["search", "book", "search", "book", "search"])),
            "steps: expected distinct names, search occurs 3 times, book 2 times",
        ),
        (
            "cost_under",
            {"max_cost": 0.1},
            ran(metadata={"cost_usd": 0.14}),
            "metadata.cost_usd: expected ≤ 0.1, got 0.14 (over by 0.04)",
        ),
        (
            "latency_under",
            {"max_ms": 60000},
            ran(metadata={"latency_ms": 64200}),
            "metadata.latency_ms: expected ≤ 60000, got 64200 (over by 4200)",
        ),
        (
            "tokens_between",
            {"min_tokens": 100, "max_tokens": 500},
            ran(metadata={"total_tokens": 520}),
            "metadata.total_tokens: expected 100…500, got 520 (over by 20)",
        ),
        (
            "step_count",
            {"operator": "eq", "value": 4},
            ran(*map(step, "abcdef")),
            "steps.length: expected = 4, got 6",
        ),
        (
            "tool_call_count",
            {"operator": "lt", "value": 3},
            ran(*map(step, "abc")),
            "steps[type=tool_call].length: expected < 3, got 3",
        ),
        (
            "cost_under",
            {"max_cost": 1},
            ran(),
            "cost_under: not evaluated: missing_evidence: metadata.cost_usd",
        ),
        (
            "output_matches_schema",
            {"schema": {"properties": {"qty": {"minimum": 1}}}},
            {"output": {"structured": {"qty": 0}}},
            "output.structured.qty: expected ≥ 1, got 0",
        ),
        (
            "output_matches_schema",
            {"schema": {"required": ["a", "b"], "properties": {"qty": {"minimum": 1}}}},
            {"output": {"structured": {"qty": 0}}},
            "output.structured.a: expected a value, got none (and 2 more)",
        ),
        (
            "output_field_matches_schema",
            {"field": "report.qty", "schema": {"type": "integer"}},
            {"output": {"report": {"qty": "3"}}},
            'output.report.qty: expected integer, got "3"',
        ),
        (
            "tool_args_match_schema",
            {"tool_name": "search", "schema": {"properties": {"limit": {"maximum": 50}}}},
            ran(*map(step, "abc"), step("search", args={"limit": 80})),
            "search.args (step 4).limit: expected ≤ 50, got 80",
        ),
        (
            "tool_args_match_schema",
            {"tool_name": "search", "schema": True},
            ran(),
            "search: expected a step, got none",
        ),
        (
            "output_contains",
            {"value": "refund"},
            {"output": {"message": "Hello"}},
            'output.message: expected string containing "refund", got "Hello"',
        ),
        (
            "output_not_contains",
            {"value": "refund"},
            {"output": {"message": "Refund or refund"}},
            'output.message: expected no "refund", found 2',
        ),
        (
            "output_matches_regex",
            {"pattern": r"RFD-\d+"},
            {"output": {"message": "x"}},
            r'output.message: expected match of /RFD-\d+/, got "x"',
        ),
        (
            "output_has_all_keywords",
            {"keywords": ["a", "b", "invoice"]},
            {"output": {"message": "ab"}},
            "output.message: expected all of 3 keywords, missing: invoice",
        ),
        (
            "output_has_any_keyword",
            {"keywords": ["a", "b"]},
            {"output": {"message": "x"}},
            "output.message: expected one of: a, b",
        ),
        (
            "output_forbids",
            {"terms": ["ssn", "pin"]},
            {"output": {"message": "the SSN"}},
            "output.message: expected none of the forbidden terms, found: ssn",
        ),
        (
            "agent_called",
            {"agent_id": "courier"},
            {
                "agent_id": "front_desk",
                "steps": [{"type": "agent_call", "name": "x", "sub_trace": {"agent_id": "archivist"}}],
            },
            "agents: expected courier to be called, got front_desk, archivist",
        ),
        (
            "aggregate_cost_under",
            {"max_cost": 0.5},
            ran(metadata={"cost_usd": 0.62}),
            "tree cost_usd: expected ≤ 0.5, got 0.62 (over by 0.12)",
        ),
        (
            "agent_ordered_before",
            {"agent_a": "archivist", "agent_b": "courier"},
            ran(
                {"name": "x", "agent_id": "archivist", "ended_at_ms": 140},
                {"name": "y", "agent_id": "courier", "started_at_ms": 120},
            ),
            "archivist → courier: expected end before 120 ms, got 140 ms (over by 21)",
        ),
        (
            "agents_overlap",
            {"agent_a": "archivist", "agent_b": "courier"},
            ran(
                {"name": "x", "agent_id": "archivist", "started_at_ms": 0, "ended_at_ms": 5},
                {"name": "y", "agent_id": "courier", "started_at_ms": 9, "ended_at_ms": 12},
            ),
            "archivist [0, 5], courier [9, 12]: expected overlap, apart by 4 ms",
        ),
        (
            "agent_wall_time_under",
            {"agent_id": "archivist", "max_ms": 500},
            ran({"name": "x", "agent_id": "archivist", "started_at_ms": 0, "ended_at_ms": 500}),
            "archivist wall time: expected < 500 ms, got 500 ms",
        ),
        (
            "ordered_agents",
            {"groups": [["a"], ["b"]]},
            ran(
                {"name": "x", "agent_id": "a", "ended_at_ms": 40},
                {"name": "y", "agent_id": "b", "started_at_ms": 38},
            ),
            "group 2: expected to start after 40 ms, started at 38 ms (over by 3)",
        ),
        (
            "all_tools_called",
            {"tool_names": ["a", "summarize"]},
            ran(step("a")),
            "tools in tree: expected 2 names, missing: summarize",
        ),
    ],
)
def test_why(method: str, arguments: dict[str, Any], trace: dict[str, Any], why: str) -> None:
    assert evaluate_assertion(trace, {"method": method, "args": arguments}).why == why


def test_every_method_has_a_phrase() -> None:
    assert sorted([*PHRASES, *BY_ARGUMENTS]) == sorted(methods())
    check = {"op": "not", "of": {"op": "constraint.step_count", "operator": "lte", "value": 3}}
    assert sentence(check) == "it is not so that the number of steps is at most 3"
    assert explain(COST, SCENE).startswith("?    the run costs at most 1 dollars: ")


# Beyond attest

LOOK_UP, CHANGE = ({"op": "eq", "path": "name", "value": name} for name in ("look", "change"))
BEFORE = {"op": "trace.before", "collection": "trace.steps", "first": LOOK_UP, "then": CHANGE}


def test_before() -> None:
    same = BEFORE | {"same": "args.id"}
    look, change = step("look", args={"id": 1}), step("change", args={"id": 1.0})
    assert run_check({"trace": ran(look, change)}, same).passed
    assert run_check({"trace": ran(look, change)}, same | {"same": ["args.id", "type"]}).passed
    assert run_check({"trace": ran(look)}, same).passed
    other = step("change", args={"id": True})
    failed = run_check({"trace": ran(change, look, other, change, step("change"))}, same, anchors=True)
    assert (failed.gap, failed.anchor) == (3, {"asset_id": "trace", "anchor": "0"})
    wanted = "an earlier element that passes first with an equal args.id"
    assert failed.why == f"trace.steps[0]: expected {wanted}, got none (and 2 more)"
    assert run_check({"trace": ran(change, look, other)}, BEFORE).gap == 1
    assert run_check({}, BEFORE).why == "trace.steps: not an array"
    assert run_check({"trace": ran(look, look)}, BEFORE | {"then": LOOK_UP}).gap == 1
    assert isinstance(parse_check(same), TraceBefore)
    assert sentence(same) == (
        'every trace.steps that has name equal to "change" has an earlier one that has name equal to "look" '
        "and an equal args.id"
    )
    for bad in (5, [], ["a["], "a["):
        with pytest.raises(CheckError):
            compile_check(same | {"same": bad})


def test_before_over_what_may_be_not_evaluated() -> None:
    runs = {"op": "trace.before", "collection": "runs", "first": COST, "then": COST | {"max_cost": 4}}
    known, unknown, dear = ran(metadata={"cost_usd": 0}), ran(), ran(metadata={"cost_usd": 3})
    assert status(runs, {"runs": [known]}) == "hard_fail"
    assert status(runs, {"runs": [unknown]}) == "not_evaluated"
    assert status(runs, {"runs": [unknown, dear]}) == "not_evaluated"
    assert status(runs, {"runs": []}) == "pass"
    assert status(BEFORE | {"collection": "runs"} | {"then": COST}, {"runs": [unknown]}) == "not_evaluated"


def test_distinct() -> None:
    calls = [
        step("a", args={"x": 1, "y": [2]}),
        step("a", args={"y": [2.0], "x": 1}),
        step("b", args={"x": 1}),
    ]
    scene = {
        "trace": ran(*calls, {"type": "retrieval", "name": "b", "args": {"x": 1}}),
        "log": [*calls, calls[2]],
    }
    assert run_check(scene, {"op": "trace.distinct"}).gap == 1
    assert run_check(scene, {"op": "trace.distinct", "tool": "b"}).passed
    assert run_check(scene, {"op": "trace.distinct", "collection": "log"}).gap == 2
    assert status({"op": "trace.distinct", "collection": "nothing"}, scene) == "not_evaluated"
    assert run_check({"trace": ran(step("a"), step("a"))}, {"op": "trace.distinct"}).gap == 1
    without, null = {"type": "tool_call", "name": "a"}, {"type": "tool_call", "name": "a", "args": None}
    assert run_check({"trace": ran(without, null)}, {"op": "trace.distinct"}).passed
    assert run_check({"trace": ran(without, null, without, null)}, {"op": "trace.distinct"}).gap == 2


@pytest.mark.parametrize(
    ("value", "grounded"),
    [
        ("ORD-7", True),
        ("ORD", True),
        ("O", False),
        ("anna_1", True),
        ("anna", False),
        (1234, True),
        (123, False),
        (12.5, True),
        (155, False),
        (7, True),
        (True, False),
        (None, False),
        (["ORD-7", 7], True),
        (["ORD-7", "ORD-8"], False),
        ({"id": 7.0}, True),
        ("later", False),
        ("made up", False),
        ("key_of_result", True),
    ],
)
def test_grounded(value: Any, grounded: bool) -> None:
    trace = ran(
        {"type": "llm_call", "name": "m", "result": "made up"},
        step("look", result={"user": "anna_1", "key_of_result": {"id": 7}, "price": 12.5}),
        step("use", args={"v": value}, result="later"),
        input="Cancel ORD-7, room 1234, for 155.50 please",
    )
    check = {"op": "trace.grounded", "tool": "use", "arg": "v"}
    assert run_check({"trace": trace}, check).passed is grounded
    assert status(check, {"trace": ran(step("use", args={}))}) == "not_evaluated"
    assert run_check({"trace": ran(step("use", args={}), step("use", args={"v": 1}))}, check).gap == 1


@pytest.mark.parametrize(
    ("check", "wanted"),
    [
        (
            {"op": "behaviour.tool_cardinality", "tool": "pay", "per": "order_id", "at_most": 1},
            '"pay" is called at most 1 time for each value of its "order_id"',
        ),
        (
            {"op": "behaviour.tool_cardinality", "tool": "pay", "at_least": 2, "at_most": 3, "soft": True},
            '"pay" is called 2 to 3 times (soft)',
        ),
        (
            {"op": "behaviour.trajectory_partial_order", "order": [["get", "pay"]], "tools": ["log"]},
            'every one of "get", "pay", "log" is called and every "pay" call follows a "get" call',
        ),
        (
            {"op": "behaviour.trajectory", "tools": ["a", "b"], "mode": "subset"},
            'there are no calls but "a", "b"',
        ),
        ({"op": "behaviour.trajectory", "tools": []}, "no tool is called"),
        ({"op": "behaviour.no_tool_cycles", "period": 1}, "no call stands 2 times in a row"),
        ({"op": "trace.tools_called_in_order", "tools": ["a", "b"]}, 'the steps have "a", "b" in this order'),
        (
            {
                "op": "constraint.constraint",
                "field": "steps.length",
                "operator": "between",
                "min": 1,
                "max": 3,
            },
            "the run's steps.length is 1 to 3",
        ),
        (
            {"op": "effect.world_count", "resource": "refunds", "equals": 1, "where": {"id": "O-7"}},
            'the world has exactly 1 of "refunds" where "id" is "O-7"',
        ),
        (
            {
                "op": "effect.world_sum",
                "resource": "refunds",
                "field": "amount",
                "at_most": {"resource": "orders", "field": "total", "on": "id"},
            },
            (
                'the sum of "amount" over the "refunds" of the world is at most '
                'the "total" of the "orders" with the same "id"'
            ),
        ),
    ],
)
def test_a_sentence_says_what_the_arguments_mean(check: dict[str, Any], wanted: str) -> None:
    assert sentence(check) == wanted


def test_assertions_that_differ_are_said_differently() -> None:
    said: dict[str, dict[str, Any]] = {}
    for name in FILES:
        for case in cases(name):
            method = find_method(case["assertion"]["method"])
            arguments = {key: value for key, value in case["assertion"]["args"].items() if key != "snapshot"}
            try:
                told = sentence(method.check(arguments)).replace(" (soft false)", "")
            except CheckError:
                continue
            defaults = {each.name: each.default for each in signature(method.factory).parameters.values()}
            meant = {"soft": False, **defaults, **arguments, "method": method.name}
            assert said.setdefault(told, meant) == meant
    assert len(said) > 300


# Lowered


def test_lowered_assertions_say_the_same_of_the_golden_traces() -> None:
    lowered = 0
    for name in FILES:
        for case in cases(name):
            arguments = dict(case["assertion"]["args"])
            scene = {"trace": case["trace"], "world": arguments.pop("snapshot", None)}
            wire = find_method(case["assertion"]["method"]).check(arguments)
            message = case["trace"].get("output", {}).get("message")
            if case["expect"].get("reason") == "spec_error" or "not objects" in case.get("note", ""):
                continue
            try:
                core, opposite = lower(wire), lower({"op": "not", "of": wire})
            except CheckError:
                continue
            if name == "content" and (type(message) is not str or "İ" in message):
                continue
            lowered += 1
            assert not compile_check(core).three_valued
            verdict = compile_check(wire)(scene).meta["status"]
            assert run_check(scene, core).passed is (verdict == "pass"), (case["id"], core)
            assert run_check(scene, opposite).passed is (verdict in ("hard_fail", "soft_fail")), case["id"]
    assert lowered > 200


@pytest.mark.parametrize("target", ["output", "output.total", "steps[?name=='pay'].result.id"])
def test_what_may_be_no_text_is_not_lowered(target: str) -> None:
    check = {"op": "content.content_contains", "target": target, "value": "4"}
    trace = ran(step("pay", result={"id": 41})) | {"output": {"total": 14}}
    assert run_check({"trace": trace}, check).passed
    with pytest.raises(CheckError, match="may be another value"):
        lower(check)


def test_lowering_names_everything_that_core_operators_cannot_say() -> None:
    check = {"op": "and", "of": [{"op": "trace.no_duplicate_tools"}, PASSES, {"op": "not", "of": BEFORE}]}
    with pytest.raises(CheckError) as caught:
        lower(check)
    assert "$.of[0].op" in str(caught.value)
    assert '"trace.before"' in str(caught.value)
    one = {"op": "trace.required_tools", "tools": ["a"]}
    assert lower(one, trace="") == {
        "op": "find",
        "collection": "steps",
        "where": {"op": "eq", "path": "name", "value": "a"},
    }
    assert lower({"id": "x", "expr": one, "meta": 1})["meta"] == 1
    assert lower(PASSES) == PASSES

"""The agent tools: wire dicts in and out, errors an agent can act on, answers of limited length."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_evaluator_golden import as_double, same
from wellformedness import can_be_written, well_formed

import evaluator
from evaluator import TOOL_DESCRIPTORS, check_scene, diagnose, gap, json_text, run_check
from evaluator.tools import HANDLERS, SHORTEST_CAP

GOLDEN = Path(__file__).parents[1] / "golden" / "autocheck" / "tools.jsonl"
CHEAP = {"op": "lte", "path": "total", "value": 500}


def test_every_recorded_call_is_answered_as_recorded() -> None:
    different, seen = [], 0
    for line in GOLDEN.read_text(encoding="utf-8").splitlines():
        case = json.loads(line, parse_int=as_double)
        seen += 1
        golden, args = case["expect"], case["args"]
        ours = getattr(evaluator, case["tool"])(args)
        if not well_formed(args.get("check")) or not can_be_written(args):
            right = "error" in ours
        elif case["tool"] == "check_scene":
            right = same(ours | {"gap": float(ours["gap"])}, golden)
        elif case["tool"] == "gap":
            right = ours.keys() == golden.keys() and float(ours["gap"]) == float(golden["gap"])
        else:
            right = ours == golden
        if not right:
            different.append((case["id"], ours, golden))
    assert different == []
    assert seen == 258


def test_without_a_scene_nothing_is_there_and_null_is_a_scene() -> None:
    everything = {"op": "exists", "path": ""}
    assert diagnose({"check": everything}) == {"pass": False, "diagnostic": ": missing"}
    assert diagnose({"check": everything, "scene": None}) == {"pass": True}
    assert gap({"check": everything}) == {"gap": 1}


def test_an_infinite_gap_is_text_so_that_every_answer_is_json() -> None:
    impossible = {"op": "or", "of": []}
    assert gap({"check": impossible, "scene": {}}) == {"gap": "Infinity"}
    assert check_scene({"check": impossible, "scene": {}})["gap"] == "Infinity"


def test_gap_builds_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Any) -> str:
        raise AssertionError("text was built")

    monkeypatch.setattr(evaluator.CheckResult, "why", property(fail))
    monkeypatch.setattr(evaluator.CompiledCheck, "__call__", fail)
    assert gap({"check": CHEAP, "scene": {"total": 540}}) == {"gap": 40}


def test_anchors_are_given_when_asked_for() -> None:
    args = {"check": CHEAP | {"path": "order.total"}, "scene": {"order": {"total": 540}}, "anchors": True}
    anchor = {"asset_id": "order", "anchor": "total"}
    assert check_scene(args)["anchor"] == anchor
    assert diagnose(args)["anchor"] == anchor
    assert "anchor" not in check_scene(args | {"anchors": False})
    assert gap(args) == {"gap": 40}


@pytest.mark.parametrize(
    ("args", "fault", "place", "said"),
    [
        ({"check": {"op": "ltee", "path": "a", "value": 1}}, "check", "$.op", 'did you mean "lte"?'),
        (
            {"check": {"op": "and", "of": [{"op": "gte", "path": "a"}]}},
            "check",
            "$.of[0].value",
            "needs a field",
        ),
        ({"check": {"op": "exists", "path": "a["}}, "check", "$.path", "unclosed"),
        ({"check": None}, "check", "$", "expected a check"),
        ({"check": CHEAP, "scene": {"total": {1}}}, "scene", "$.total", "set"),
        ({}, "arguments", None, '"check" is missing'),
        ({"check": CHEAP, "scen": {}}, "arguments", None, 'unknown argument "scen"; did you mean "scene"?'),
        (
            {"check": CHEAP, "xyzzy": {}},
            "arguments",
            None,
            "the arguments are check, scene, anchors, max_chars",
        ),
        ({"check": CHEAP, "anchors": 1}, "arguments", None, '"anchors" is true or false, got a number'),
        ({"check": CHEAP, "max_chars": 5}, "arguments", None, "at least 100, got 5"),
        ({"check": CHEAP, "max_chars": True}, "arguments", None, "at least 100, got a boolean"),
        ([], "arguments", None, "the arguments are an object"),
        (None, "arguments", None, "the arguments are an object"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_raised(
    args: Any, fault: str, place: str | None, said: str
) -> None:
    answer = check_scene(args)
    assert said in answer["error"]
    assert (answer["fault"], answer.get("place")) == (fault, place)
    assert json.loads(json_text(answer)) == answer
    assert "error" in diagnose(args)
    if fault != "scene":  # gap looks only where the check leads
        assert gap(args) == answer


@given(
    st.text(max_size=400),
    st.integers(SHORTEST_CAP, 500),
    st.sampled_from(sorted(HANDLERS)),
    st.booleans(),
    st.booleans(),
)
def test_answers_keep_to_their_cap(text: str, cap: int, tool: str, anchors: bool, broken: bool) -> None:
    check: dict[str, Any] = {"op": "eq", "path": "a[0].b", "value": text}
    if broken:
        check = {"op": "exists", "path": text + "["}
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    args = {
        "check": {"id": "c", "expr": check, "meta": {"note": text}},
        "scene": {"a": [{"b": text + "!"}]},
        "anchors": anchors,
    }
    whole, capped = HANDLERS[tool](args), HANDLERS[tool](args | {"max_chars": cap})
    assert len(json_text(capped)) <= cap
    if len(json_text(whole)) <= cap:
        assert capped == whole
    else:
        assert capped["truncated"] is True
        assert {name: capped[name] for name in ("pass", "gap", "fault") if name in whole} == {
            name: whole[name] for name in ("pass", "gap", "fault") if name in whole
        }


def test_a_cut_keeps_what_fits() -> None:
    args = {"check": {"op": "exists", "path": "x" * 500}, "scene": {}, "max_chars": 200}
    answer = check_scene(args)
    assert answer["why"].endswith("x...")
    assert len(json_text(answer)) == 200


def test_descriptors_have_the_shapes_of_the_providers() -> None:
    anthropic, openai = TOOL_DESCRIPTORS["anthropic"], TOOL_DESCRIPTORS["openai"]
    assert [tool["name"] for tool in anthropic] == list(HANDLERS) == ["check_scene", "gap", "diagnose"]
    for ours, theirs in zip(anthropic, openai, strict=True):
        assert set(ours) == {"name", "description", "input_schema"}
        assert set(theirs) == {"type", "function"}
        assert theirs["type"] == "function"
        function = theirs["function"]
        assert set(function) == {"name", "description", "parameters"}
        assert (function["name"], function["parameters"]) == (ours["name"], ours["input_schema"])
        jsonschema.Draft202012Validator.check_schema(ours["input_schema"])
    assert json.loads(json.dumps(TOOL_DESCRIPTORS)) == TOOL_DESCRIPTORS


def test_the_schema_accepts_what_the_handlers_accept() -> None:
    validator = jsonschema.Draft202012Validator(TOOL_DESCRIPTORS["anthropic"][0]["input_schema"])
    good = {"check": CHEAP, "scene": {"total": 1}, "anchors": True, "max_chars": 100}
    assert validator.is_valid(good)
    assert "error" not in check_scene(good)
    for change in ({"anchors": 1}, {"max_chars": 99}, {"chek": 1}, {"check": 5}):
        assert not validator.is_valid(good | change)
        assert "error" in check_scene(good | change)


def test_the_operators_an_agent_is_told_of_exist() -> None:
    told = TOOL_DESCRIPTORS["anthropic"][0]["input_schema"]["properties"]["check"]["description"]
    for op in (
        "eq",
        "neq",
        "gte",
        "lte",
        "gt",
        "lt",
        "contains",
        "matches",
        "exists",
        "missing",
        "find",
        "count",
    ):
        assert f'"{op}"' in told
        assert "unknown operator" not in check_scene({"check": {"op": op}}).get("error", "")
    scene = {"spent": 3, "budget": 2, "a key.": [{"id": 7}]}
    assert run_check(scene, {"op": "gt", "path": "spent", "value_path": "budget"}).passed
    assert run_check(scene, {"op": "exists", "path": '["a key."][id=7]'}).passed

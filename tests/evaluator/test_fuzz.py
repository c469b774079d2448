"""Hostile input, one page. The contract: whatever the scene, the check or the text, only `CheckError` and
`SceneError` may leave, their messages stay short, and nothing that was given is changed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_attest_golden import FILES, cases
from test_evaluator_properties import checks, foreign, json_values

import evaluator
from evaluator import CheckError, SceneError, compile_check, json_text, run_check, sentence
from evaluator.assertions.method import find_method
from evaluator.json_read import JsonTextError, read_json

LONGEST_MESSAGE = 6_000
EVERY_PLANE = "".join(
    chr(plane * 0x10000 + offset) for plane in range(17) for offset in (0x41, 0x1F30, 0xFFFF)
)
LEAF = {"op": "exists", "path": "a"}


def nested(depth: int, wrap: Callable[[Any], Any], inner: Any) -> Any:
    for _ in range(depth):
        inner = wrap(inner)
    return inner


def containing_itself() -> Any:
    members: list[Any] = []
    members.append(members)
    return {"op": "and", "of": members, "a": members}


def assertions() -> dict[str, Any]:
    """One assertion of every method, all asked at once."""
    parts: dict[str, Any] = {}
    for name in FILES:
        for case in cases(name):
            wire = find_method(case["assertion"]["method"]).check(case["assertion"]["args"])
            if case["expect"].get("reason") != "spec_error":
                parts.setdefault(wire["op"], wire)
    calls = {"tool": "a", "arg": "x"}
    parts |= {op: {"op": op, **calls} for op in ("trace.grounded", "trace.distinct")}
    before = {"op": "trace.before", "collection": "trace.steps", "first": LEAF, "then": LEAF, "same": "args"}
    return {"op": "and", "of": [*parts.values(), before]}


SCENES: dict[str, Callable[[], Any]] = {
    "arrays 5,000 deep": lambda: nested(5_000, lambda inner: [inner], 1),
    "objects 5,000 deep": lambda: nested(5_000, lambda inner: {"a": inner}, 1),
    "5 MB of text": lambda: "xy" * 2_500_000,
    "5 MB of text beyond ASCII": lambda: {"a": "é🙂" * 830_000},
    "every plane": lambda: {EVERY_PLANE: EVERY_PLANE, "a": {letter: letter for letter in EVERY_PLANE}},
    "lone surrogates": lambda: {"\ud83d": "\ud83d", "a": "\udc00x\ud83d", "\udc00a": []},
    "huge numbers": lambda: {"a": 2**100, "b": -(2**2000), "c": 10**5_000, "d": 5e-324, "e": -1.8e308},
    "control characters": lambda: {"a": "\x00\x1b[31m", "\x00": 1, "": {"": ""}},
    "many keys": lambda: {str(number): number for number in range(20_000)},
    "no object": lambda: None,
    "a tree of traces 5,000 deep": lambda: {
        "trace": nested(5_000, lambda inner: {"steps": [{"type": "agent_call", "sub_trace": inner}]}, {})
    },
    "a trace of other forms": lambda: {
        "trace": {
            "steps": [5, None, {"name": 3, "type": []}, {"type": "tool_call", "name": "a", "args": [1]}],
            "metadata": [],
            "output": {"message": nested(5_000, lambda inner: [inner], 1), "structured": "\ud83d"},
            "input": {"\ud83d": 10**5_000},
            "schema_version": "2",
        },
        "world": {"a": 5},
    },
    "contains itself": containing_itself,
    "no JSON": lambda: {
        "trace": {"steps": [{"type": "tool_call", "name": "a", "args": {"x": {1}}}], "input": b""},
        "a": {1},
        "b": b"",
        "c": float("nan"),
        1: None,
        "d": float("inf"),
        "e": (1,),
        "f": object(),
    },
}
CHECKS: dict[str, Callable[[], Any]] = {
    "a leaf": lambda: LEAF,
    "not, 20 deep": lambda: nested(20, lambda inner: {"op": "not", "of": inner}, LEAF),
    "and, 20 deep": lambda: nested(20, lambda inner: {"op": "and", "of": [inner, LEAF]}, LEAF),
    "not, 200 deep": lambda: nested(200, lambda inner: {"op": "not", "of": inner}, LEAF),
    "and, 200 deep": lambda: nested(200, lambda inner: {"op": "and", "of": [inner, LEAF]}, LEAF),
    "find, 200 deep": lambda: nested(
        200, lambda inner: {"op": "find", "collection": "", "where": inner}, LEAF
    ),
    "count, 200 deep": lambda: nested(
        200, lambda inner: {"op": "count", "collection": "", "where": inner}, LEAF
    ),
    "not, 5,000 deep": lambda: nested(5_000, lambda inner: {"op": "not", "of": inner}, LEAF),
    "a value 5,000 deep": lambda: {"op": "eq", "path": "", "value": nested(5_000, lambda inner: [inner], 1)},
    "3,000 branches": lambda: {"op": "or", "of": [LEAF] * 3_000},
    "200,000 branches": lambda: {"op": "or", "of": [LEAF] * 200_000},
    "5 MB of text": lambda: {"op": "eq", "path": "a", "value": "é🙂" * 830_000},
    "a long substring": lambda: {"op": "contains", "path": "", "substring": "xy" * 9_999 + "z", "ci": True},
    "2**100": lambda: {"op": "gte", "path": "a", "value": 2**100},
    "10**5000": lambda: {"op": "lte", "path": "c", "value": -(10**5_000)},
    "counts 2**100": lambda: {"op": "count", "collection": "", "where": LEAF, "eq": 2**100, "gte": 1e308},
    "every plane": lambda: {"op": "eq", "path": EVERY_PLANE, "value": {EVERY_PLANE: EVERY_PLANE}},
    "a lone surrogate": lambda: {"op": "eq", "path": "\ud83d", "value": "\ud83d"},
    "a huge index": lambda: {"op": "exists", "path": f"a[{'9' * 50_000}]"},
    "compares its own paths": lambda: {"op": "lte", "path": "a", "value_path": "c"},
    "a pattern that backtracks": lambda: {"op": "matches", "path": "", "pattern": "(x+x+)+y$"},
    "a pattern too large": lambda: {"op": "matches", "path": "a", "pattern": "((x{100}){100}){100}"},
    "a pattern too deep": lambda: {"op": "matches", "path": "a", "pattern": "(" * 5_000 + ")" * 5_000},
    "every assertion": assertions,
    "a schema that refers to itself": lambda: schema_of({"$ref": "#"}),
    "a schema 20 deep": lambda: schema_of(nested(20, lambda inner: {"items": inner}, {"type": "null"})),
    "a schema 400 deep": lambda: schema_of(nested(400, lambda inner: {"items": inner}, {"type": "null"})),
    "a schema with a pattern too large": lambda: schema_of({"pattern": "(x{65536}){65536}"}),
    "contains itself": containing_itself,
    "no JSON": lambda: {"op": "eq", "path": "a", "value": {1: float("nan")}},
    "no text": lambda: {"op": b"eq", "path": 5, None: ()},
}


def schema_of(schema: Any) -> Any:
    return {"op": "schema.output_field_matches_schema", "field": "message", "schema": schema}


ON_A_SCENE: dict[str, Callable[[Any, Any], Any]] = {
    "run_check": lambda scene, check: json_text(run_check(scene, check).to_dict()).encode(),
    "anchors": lambda scene, check: json_text(run_check(scene, check, anchors=True).to_dict()).encode(),
    "compiled": lambda scene, check: (compile_check(check).gap(scene), compile_check(check)(scene).why),
    "explain": lambda scene, check: evaluator.explain(check, scene),
    "attach_check": lambda scene, check: evaluator.attach_check(check, lambda *_: None).tick(scene).why,
}
ALONE: dict[str, Callable[[Any], Any]] = {
    "sentence": sentence,
    "simplify": lambda check: evaluator.simplify(check),
    "parse_check": lambda check: evaluator.dump_check(evaluator.parse_check(check)),
    "check_hash": lambda check: evaluator.check_hash(check),
    "to_cel": lambda check: evaluator.to_cel(check),
    "define_check": lambda check: evaluator.define_check("c", check, {"tags": ["t"]}).to_dict(),
}


def keeps_the_contract(use: Callable[..., Any], *given: Any) -> None:
    try:
        use(*given)
    except (CheckError, SceneError) as refusal:
        error: ValueError = refusal
    else:
        return
    assert len(str(error)) <= LONGEST_MESSAGE


def answers_an_agent(scene: Any, check: Any) -> None:
    for handler in (evaluator.check_scene, evaluator.gap, evaluator.diagnose):
        answer = handler({"check": check, "scene": scene, "max_chars": 300})
        assert len(json_text(answer).encode("ascii", "backslashreplace")) > 0
        assert len(json_text(answer)) <= 300


LARGE = {
    "3,000 branches",
    "200,000 branches",
    "5 MB of text",
    "a value 5,000 deep",
    "not, 5,000 deep",
    "a pattern too deep",
}
DEEP = {"not, 200 deep", "and, 200 deep", "a schema 400 deep"}
DEEP_SCENES = {"no object", "arrays 5,000 deep", "a trace of other forms", "contains itself"}


@pytest.mark.parametrize("scene", SCENES)
def test_scenes_and_checks_together(scene: str) -> None:
    built = SCENES[scene]()
    for name, make in CHECKS.items():
        if name in LARGE and scene != "no object":  # what is large is so on any scene
            continue
        if name in DEEP and scene not in DEEP_SCENES:  # and how deep it is tells on those that are deep too
            continue
        check = make()
        for use in ON_A_SCENE.values():
            keeps_the_contract(use, built, check)
        answers_an_agent(built, check)


@pytest.mark.parametrize("check", CHECKS)
def test_checks_alone(check: str) -> None:
    for use in ALONE.values():
        keeps_the_contract(use, CHECKS[check]())


def test_an_array_of_many_elements() -> None:
    elements = [{"id": number} if number % 2 else number for number in range(200_000)]
    find = {"op": "find", "collection": "", "where": {"op": "eq", "path": "id", "value": -1}}
    check = {"op": "or", "of": [find, {"op": "count", "collection": "", "gte": 400_000}]}
    assert run_check(elements, check, anchors=True).gap == 1
    answers_an_agent(elements, check)


@pytest.mark.parametrize("segment", ["a.", "a[0]", "[id=7]", '["a b"]', "[", "é🙂."])
def test_paths_of_twenty_thousand_segments(segment: str) -> None:
    path = segment * 20_000
    keeps_the_contract(evaluator.lookup, {"a": []}, path)
    keeps_the_contract(lambda: run_check({"a": 1}, {"op": "exists", "path": path}).why)
    keeps_the_contract(lambda: compile_check({"op": "exists", "path": path}).gap({"a": {1}}))


JSON_TEXTS = {
    "5,000 deep": b"[" * 5_000 + b"]" * 5_000,
    "500,000 deep": b'{"a":' * 500_000,
    "a key twice": b'{"a": 1, "\\u0061": 2}',
    "a lone surrogate": b'["\\ud83d"]',
    "beyond doubles": b"[1e400]",
    "5,000 digits": b"1" * 5_000,
    "not UTF-8": b'"\xff\xfe"',
    "NUL": b'"\x00"',
    "cut": b'{"a": [1, 2',
    "nothing": b"",
    "a second byte order mark": b"\xef\xbb\xbf\xef\xbb\xbf1",
    "NaN": b"[NaN]",
    "minus infinity": b"-Infinity",
}


@pytest.mark.parametrize("text", JSON_TEXTS.values(), ids=JSON_TEXTS)
def test_texts_that_are_no_strict_json(text: bytes) -> None:
    with pytest.raises(JsonTextError) as caught:
        read_json(text)
    assert isinstance(caught.value, ValueError)
    assert len(str(caught.value)) < 300


def test_large_numbers_and_every_plane_are_read_exactly() -> None:
    assert read_json(b"[1267650600228229401496703205376]") == [2**100]
    assert read_json(json_text({EVERY_PLANE: 2**100}).encode()) == {EVERY_PLANE: 2**100}


@given(
    st.binary(max_size=60)
    | st.text(alphabet='[]{}",:\\u0123456789eE+-.dD truefalsnNaIity', max_size=40).map(str.encode)
)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        value = read_json(data)
    except JsonTextError:
        return
    assert read_json(json_text(value).encode()) == value


@given(st.text(alphabet="abx.[]()!=<>&|\"'\\ 0123,in\n🙂", max_size=40))
def test_any_text_is_a_cel_predicate_or_refused(text: str) -> None:
    keeps_the_contract(lambda it: run_check({"a": [1, {"b": "x"}]}, evaluator.from_cel(it)).why, text)
    keeps_the_contract(lambda it: evaluator.lookup({"a": [1]}, it), text)


@pytest.mark.parametrize(
    "text", ["(" * 10_000, "!" * 10_000 + "a", "a && " * 5_000 + "a", "a" + ".b" * 20_000, "[" * 9_999]
)
def test_long_cel_texts(text: str) -> None:
    keeps_the_contract(lambda it: run_check({}, evaluator.from_cel(it)).why, text)


@settings(max_examples=60)
@given(foreign | checks, foreign | json_values)
def test_any_two_objects(check: Any, scene: Any) -> None:
    for use in ON_A_SCENE.values():
        keeps_the_contract(use, scene, check)
    for use in ALONE.values():
        keeps_the_contract(use, check)
    answers_an_agent(scene, check)


def frames_left() -> int:
    """How many calls the stack has room for."""
    depth = 0

    def down() -> None:
        nonlocal depth
        depth += 1
        down()

    with suppress(RecursionError):
        down()
    return depth


def test_little_room_on_the_stack_is_an_error_of_the_check() -> None:
    deep = CHECKS["find, 200 deep"]()

    def below(frames: int) -> None:
        if frames:
            below(frames - 1)
        else:
            keeps_the_contract(run_check, [], deep)

    for frames in range(0, frames_left() - 30, 50):  # an error needs some room to be raised in
        below(frames)

"""Packs: read from JSON and YAML, judged whole with places, run on scenes and rolled up."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import Check, CheckError, SceneError, load_pack, parse_pack, run_pack
from evaluator.json_read import JsonTextError
from evaluator.junit import junit_suite, write_junit
from evaluator.yaml_read import read_yaml

BUDGET = {
    "id": "budget",
    "expr": {"op": "lte", "path": "total", "value": 500},
    "meta": {"severity": "warn", "tags": ["money"], "references": ["Budget note"]},
}
SIGNED = {"id": "signed", "expr": {"op": "exists", "path": "signed"}, "meta": {"tags": ["papers", "money"]}}
NEVER = {"id": "never", "expr": {"op": "or", "of": []}, "meta": {"severity": "info"}}
PACK = {"id": "yard@1.2.0", "title": "Yard", "checks": [BUDGET, SIGNED, NEVER]}
YAML = """\
# a pack
id: yard@1.2.0
title: Yard
checks:
  - id: budget
    expr: {op: lte, path: total, value: 500}
    meta:
      severity: warn
      tags: [money]
      references:
        - Budget note
  - id: signed
    expr:
      op: exists
      path: signed
    meta: {tags: [papers, money]}
  - {id: never, expr: {op: or, of: []}, meta: {severity: info}}
"""


def as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def test_a_pack_is_read_alike_from_json_and_yaml(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps(PACK))
    (tmp_path / "p.YAML").write_text(YAML)
    pack = load_pack(tmp_path / "p.json")
    assert pack == load_pack(str(tmp_path / "p.YAML")) == parse_pack(PACK)
    assert (pack.id, pack.name, pack.version) == ("yard@1.2.0", "yard", "1.2.0")
    assert pack.checks[1] == Check("signed", SIGNED["expr"], SIGNED["meta"])
    assert pack.to_dict() == PACK


@pytest.mark.parametrize(
    ("changed", "place", "said"),
    [
        ([], "$", "expected a pack"),
        ({"id": "yard"}, "$.id", 'name and version of a pack, "yard-safety@1.2.0", got "yard"'),
        ({"checks": {}}, "$.checks", "an array of defined checks, got an object"),
        ({"checks": []}, "$.checks", "an empty one"),
        ({"checks": [BUDGET["expr"]]}, "$.checks[0]", 'an object with "id" and "expr"'),
        (
            {"checks": [BUDGET, {"id": "x", "expr": {"op": "not", "of": {"op": "lt"}}}]},
            "$.checks[1].expr.of.path",
            "",
        ),
        (
            {"checks": [BUDGET, {"id": "x", "expr": {"op": "exsts"}}]},
            "$.checks[1].expr.op",
            'did you mean "exists"',
        ),
        (
            {"checks": [BUDGET | {"meta": {"severity": "bad"}}]},
            "$.checks[0].meta.severity",
            "fail (or error)",
        ),
        ({"checks": [BUDGET | {"meta": "text"}]}, "$.checks[0].meta", "meta is an object"),
        (
            {"checks": [BUDGET, SIGNED, BUDGET]},
            "$.checks[2].id",
            'two checks of the pack have the id "budget"',
        ),
    ],
)
def test_what_is_wrong_is_named_with_file_and_place(
    tmp_path: Path, changed: Any, place: str, said: str
) -> None:
    wire = PACK | changed if isinstance(changed, dict) else changed
    with pytest.raises(CheckError) as caught:
        parse_pack(wire)
    assert caught.value.place == place
    assert said in caught.value.problem
    path = tmp_path / "p.json"
    path.write_text(json.dumps(wire))
    with pytest.raises(CheckError) as caught:
        load_pack(path)
    assert str(caught.value).startswith(f"{path}: {place}: ")


def test_a_missing_field_is_named_with_its_misspelling() -> None:
    with pytest.raises(
        CheckError, match=r'\$\.checks: a pack needs a field "checks" .*is "check" a misspelling'
    ):
        parse_pack({"id": "yard@1", "check": []})


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("p.json", '{"id": }', ":1:8: not JSON"),
        ("p.json", "", ":1:1: not JSON"),
        ("p.yaml", "id: [1", ":1:7: not YAML"),
        ("p.yaml", "", ": the file is empty"),
        ("p.yml", "a: 1\nb: 2\na: 3\n", ':3:1: the key "a" stands twice'),
        ("p.yaml", "id: !!python/object:os.system x\n", ":1:5: the tag"),
        ("p.yaml", "a: *x", ':1:4: no anchor has the name "x"'),
        (
            "p.yaml",
            "id: x@1\nchecks: [{id: a, expr: {op: eq, path: a, value: &x [*x]}}]",
            ": $.checks[0]: the JSON of a check is at most 500 levels deep; this one is deeper or",
        ),
        ("p.yaml", "a: 1\n---\nb: 2\n", "a second document"),
        ("p.yaml", "1: 2\n", ":1:1: a key is text, got a number; put it in quotes"),
        ("p.yaml", "base: &b {a: 1}\nc: {<<: *b}\n", "merge keys"),
        ("p.yaml", "a: .nan\n", "no JSON number"),
        ("p.yaml", "a: 1e999\n", "too large for a double"),
    ],
)
def test_texts_that_cannot_be_read_are_named_with_their_place(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(CheckError) as caught:
        load_pack(tmp_path / name)
    assert str(caught.value).startswith(str(tmp_path / name))
    assert said in str(caught.value)


def test_yaml_is_read_by_the_core_schema() -> None:
    text = """
    texts: [yes, on, 12:30, 2026-01-01, 1_000, "1", 'true', !!str 5, a b, =, 0b1, '<<']
    numbers: [1, -2, +3, 010, 0x1f, 0o17, 1e3, .5, 5., -1.5e-3]
    others: [true, False, null, ~, ]
    empty:
    block: |
      two
      lines
    shared: [&one {a: 1}, *one]
    """
    assert read_yaml(text.encode()) == {
        "texts": ["yes", "on", "12:30", "2026-01-01", "1_000", "1", "true", "5", "a b", "=", "0b1", "<<"],
        "numbers": [1, -2, 3, 10, 31, 15, 1000.0, 0.5, 5.0, -0.0015],
        "others": [True, False, None, None],
        "empty": None,
        "block": "two\nlines\n",
        "shared": [{"a": 1}, {"a": 1}],
    }


@given(
    st.binary(max_size=40) | st.text("ab:-[]{},&*!|>'\"#? \n\t0123456789.\ud83d~", max_size=40).map(as_bytes)
)
def test_any_bytes_are_read_or_refused_with_one_kind_of_error(data: bytes) -> None:
    with suppress(JsonTextError):
        read_yaml(data)


def test_depth_is_refused_before_it_costs() -> None:
    value = read_yaml(b"[" * 500 + b"]" * 500)
    for _ in range(499):
        (value,) = value
    assert value == []
    with pytest.raises(JsonTextError, match="more than 500 levels deep") as caught:
        read_yaml(b"[" * 1_000_000)
    assert (caught.value.line, caught.value.column) == (1, 501)


def test_aliases_that_multiply_are_refused_not_expanded(tmp_path: Path) -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    text = "id: laughs@1\nchecks:\n  - {id: x, expr: {op: exists, path: a}}\n" + "\n".join(levels)
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(CheckError, match="at most 100,000 values"):
        load_pack(tmp_path / "p.yaml")


SCENES = [{"total": 499, "signed": 1}, {"total": 540.5}, {"total": 530, "signed": None}, {"total": "x"}]


def test_verdicts_are_rolled_up_per_check_tag_and_severity() -> None:
    report = run_pack(parse_pack(PACK), SCENES)
    assert report.scenes == 4
    assert report.to_dict() == {
        "pack": "yard@1.2.0",
        "scenes": 4,
        "checks": [
            {
                "id": "budget",
                "severity": "warn",
                "tags": ["money"],
                "pass": 1,
                "fail": 3,
                "worst": {"id": 2, "gap": 40.5, "why": "total: expected ≤ 500, got 540.5 (over by 40.5)"},
            },
            {
                "id": "signed",
                "severity": "error",
                "tags": ["papers", "money"],
                "pass": 2,
                "fail": 2,
                "worst": {"id": 2, "gap": 1.0, "why": "signed: missing"},
            },
            {
                "id": "never",
                "severity": "info",
                "tags": [],
                "pass": 0,
                "fail": 4,
                "worst": {"id": 1, "gap": math.inf, "why": "none of 0 branches satisfied"},
            },
        ],
        "tags": {
            "money": {"checks": 2, "failing_checks": 2, "pass": 3, "fail": 5}
            | {"worst": {"id": 2, "gap": 40.5, "why": "total: expected ≤ 500, got 540.5 (over by 40.5)"}},
            "papers": {"checks": 1, "failing_checks": 1, "pass": 2, "fail": 2}
            | {"worst": {"id": 2, "gap": 1.0, "why": "signed: missing"}},
        },
        "severities": {
            "error": {"checks": 1, "failing_checks": 1, "pass": 2, "fail": 2}
            | {"worst": {"id": 2, "gap": 1.0, "why": "signed: missing"}},
            "warn": {"checks": 1, "failing_checks": 1, "pass": 1, "fail": 3}
            | {"worst": {"id": 2, "gap": 40.5, "why": "total: expected ≤ 500, got 540.5 (over by 40.5)"}},
            "info": {"checks": 1, "failing_checks": 1, "pass": 0, "fail": 4}
            | {"worst": {"id": 1, "gap": math.inf, "why": "none of 0 branches satisfied"}},
        },
    }


@pytest.mark.parametrize(
    ("scenes", "error", "warn", "info"),
    [
        (SCENES, True, True, True),
        ([{"total": 600, "signed": 1}], False, True, True),
        ([{"total": 1, "signed": 1}], False, False, True),
    ],
)
def test_warn_and_info_do_not_fail_unless_asked(scenes: Any, error: bool, warn: bool, info: bool) -> None:
    report = run_pack(parse_pack(PACK), scenes)
    assert (report.fails(), report.fails("warn"), report.fails("info")) == (error, warn, info)


def test_what_is_not_evaluated_is_counted_among_the_failures() -> None:
    cheap = {
        "id": "cheap",
        "expr": {"op": "constraint.cost_under", "max_cost": 1},
        "meta": {"tags": ["money"]},
    }
    report = run_pack(parse_pack({"id": "runs@1", "checks": [cheap]}), [{"metadata": {"cost_usd": 1}}, {}])
    tally = {"pass": 1, "fail": 1, "not_evaluated": 1}
    told = report.to_dict()
    assert report.fails()
    assert told["checks"][0].items() >= tally.items()
    assert told["tags"]["money"].items() >= tally.items()
    assert told["severities"]["error"].items() >= tally.items()


def test_a_scene_that_is_none_is_refused() -> None:
    with pytest.raises(SceneError, match="a Python set"):
        run_pack(parse_pack(PACK), [{"total": {1}}])


# JUnit XML


@given(st.text(st.characters(exclude_categories=())), st.text(st.characters(exclude_categories=())))
def test_junit_is_xml_whatever_the_texts(name: str, why: str) -> None:
    out = StringIO()
    with junit_suite(name, {"tags": why}) as suite:
        suite.add(name)
        suite.add(why, failure=why, kind=name)
        suite.add(name, output=why)
        write_junit(out, name, [suite])
    root = ET.fromstring(out.getvalue().encode("utf-8"))
    assert [case.tag for case in root.iter("testcase")] == ["testcase"] * 3
    (failure,) = root.iter("failure")
    assert failure.get("message") == written_out(why)
    assert [output.text for output in root.iter("system-out")] == ([written_out(why)] if why else [])
    assert root.get("tests") == "3"
    assert root.get("failures") == "1"


def written_out(text: str) -> str:
    def is_xml(c: str) -> bool:
        return c in "\t\n\r" or " " <= c < "\ud800" or "\ue000" <= c < "\ufffe" or c > "\uffff"

    return "".join(c if is_xml(c) else f"\\u{ord(c):04x}" for c in text)


def test_junit_control_characters_are_written_out() -> None:
    out = StringIO()
    with junit_suite("s") as suite:
        suite.add("a\x00b\x1b\ufffe\ud83d\n", failure="<&\"'>\x07", kind="gap 1")
        write_junit(out, "p", [suite])
    case = ET.fromstring(out.getvalue())[0][0]
    assert case.get("name") == "a\\u0000b\\u001b\\ufffe\\ud83d\n"
    assert case[0].get("message") == "<&\"'>\\u0007"


def test_a_pack_that_is_not_there_is_an_error_like_any_other(tmp_path: Path) -> None:
    for path, said in ((tmp_path / "none.yaml", "no such file"), (tmp_path, "is a folder")):
        with pytest.raises(CheckError, match=said) as raised:
            load_pack(path)
        assert raised.value.place == str(path)
    with pytest.raises(CheckError, match="null"):
        load_pack("a\0b")

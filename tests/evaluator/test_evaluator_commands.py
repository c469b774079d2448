"""`evaluator pack`, `explain`, `diff` and `schema` as users run them."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from test_evaluator_cli import run, write

from evaluator import check_json_schema
from evaluator.cli import main

PACK = """\
id: yard@1.2.0
checks:
  - id: budget
    expr: {op: lte, path: total, value: 500}
    meta: {severity: warn, tags: [money]}
  - id: signed
    expr: {op: exists, path: signed}
    meta: {tags: [papers, money]}
"""
SCENES = """\
{"id": "a17", "label": "pass", "scene": {"total": 499, "signed": 1}}
{"id": "a\\u0007", "scene": {"total": 540.5, "signed": null}}
{"total": "x\\u0000", "signed": 1}
"""
UNDER_500 = '{"op": "lte", "path": "total", "value": 500}'
UNDER_600 = '{"id": "wide", "expr": {"op": "lte", "path": "total", "value": 600}}'


@pytest.fixture
def here(tmp_path: Path) -> Path:
    write(tmp_path / "pack.yaml", PACK)
    write(tmp_path / "scenes.jsonl", SCENES)
    write(tmp_path / "a.json", UNDER_500)
    write(tmp_path / "b.json", UNDER_600)
    return tmp_path


def test_pack_prints_a_table_and_warnings_do_not_fail_the_run(here: Path) -> None:
    ran = run("pack", here / "pack.yaml", here / "scenes.jsonl")
    assert ran.stdout.decode().splitlines() == [
        "check   severity  pass  fail  worst gap  worst scene",
        "budget  warn         1     2       40.5  a\\x07",
        "signed  error        3     0",
        "",
        "tag     checks  failing  pass  fail",
        "money        2        1     4     2",
        "papers       1        0     3     0",
        "",
        "severity  checks  failing  pass  fail",
        "error          1        0     3     0",
        "warn           1        1     1     2",
    ]
    assert ran.stderr.decode() == "yard@1.2.0 on 3 scenes: pass (checks failing: 0 of 1 error, 1 of 1 warn)\n"
    assert ran.returncode == 0


@pytest.mark.parametrize(("fail_on", "status"), [("error", 0), ("warn", 1), ("info", 1)])
def test_pack_fails_from_the_severity_that_is_asked_for(
    here: Path, capsys: pytest.CaptureFixture[str], fail_on: str, status: int
) -> None:
    args = ["pack", str(here / "pack.yaml"), str(here / "scenes.jsonl"), "--format", "json"]
    assert main([*args, "--fail-on", fail_on]) == status
    report = json.loads(capsys.readouterr().out)
    assert report["severities"]["warn"]["fail"] == 2
    assert report["checks"][0]["worst"]["id"] == "a\x07"


def test_pack_writes_junit_a_build_server_can_read(here: Path) -> None:
    failing = run(
        "pack", here / "pack.yaml", "-", "--format", "junit", "--fail-on", "warn", stdin=SCENES.encode()
    )
    assert failing.returncode == 1
    root = ET.fromstring(failing.stdout)
    assert (root.get("name"), root.get("tests"), root.get("failures")) == ("yard@1.2.0", "6", "2")
    budget, signed = root
    assert [case.get("name") for case in budget.iter("testcase")] == ["a17", "a\\u0007", "3"]
    messages = [failure.get("message") for failure in budget.iter("failure")]
    assert messages == [
        "total: expected ≤ 500, got 540.5 (over by 40.5)",
        'total: expected number ≤ 500, got "x\\u0000"',
    ]
    assert not list(signed.iter("failure"))
    passing = run("pack", here / "pack.yaml", here / "scenes.jsonl", "--format", "junit")
    assert passing.returncode == 0
    budget = ET.fromstring(passing.stdout)[0]
    assert not list(budget.iter("failure"))
    told = [output.text for output in budget.iter("system-out")]
    assert told[0] == "warn, gap 40.5: total: expected ≤ 500, got 540.5 (over by 40.5)\n"


def test_explain_prints_the_check_and_how_a_scene_fares(here: Path) -> None:
    assert run("explain", here / "b.json").stdout.decode() == "total is at most 600\n"
    ran = run("explain", here / "a.json", here / "scenes.jsonl")
    assert ran.returncode == 0
    assert ran.stdout.decode() == (
        'scene "a17": pass\n'
        "pass total is at most 500: found 499\n"
        "\n"
        'scene "a\\u0007": FAIL, gap 40.5\n'
        "FAIL total is at most 500: found 540.5 (gap 40.5)\n"
        "\n"
        "scene 3: FAIL, gap 1\n"
        'FAIL total is at most 500: found "x\\u0000" (gap 1)\n'
    )
    assert run("explain", here / "a.json", here / "scenes.jsonl", "--id", "3").stdout.startswith(
        b"scene 3: FAIL"
    )


def test_diff_lists_the_scenes_on_which_two_checks_disagree(here: Path) -> None:
    ran = run("diff", here / "a.json", here / "b.json", here / "scenes.jsonl")
    assert ran.returncode == 1
    assert [json.loads(line) for line in ran.stdout.splitlines()] == [
        {
            "id": "a\x07",
            "a": {"pass": False, "gap": 40.5, "why": "total: expected ≤ 500, got 540.5 (over by 40.5)"},
            "b": {"pass": True, "gap": 0, "why": "total = 540.5 ≤ 600"},
        }
    ]
    assert ran.stderr.decode() == "3 scenes: 1 differs\n"


def test_diff_takes_gaps_into_account_when_asked(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here / "far.jsonl", '{"total": 700}\n{"total": 1}\n')
    args = ["diff", str(here / "a.json"), str(here / "b.json"), str(here / "far.jsonl")]
    assert main(args) == 0
    assert capsys.readouterr().out == ""
    assert main([*args, "--gap"]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert (json.loads(line)["a"]["gap"], json.loads(line)["b"]["gap"]) == (200, 100)


def test_schema_prints_the_schema() -> None:
    ran = run("schema")
    assert (ran.returncode, json.loads(ran.stdout)) == (0, check_json_schema())
    jsonschema.Draft202012Validator(json.loads(ran.stdout)).validate(json.loads(UNDER_600))


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["pack", "none.yaml", "scenes.jsonl"], "none.yaml: no such file"),
        (["pack", ".", "scenes.jsonl"], "is a folder"),
        (["pack", "a.json", "scenes.jsonl"], 'a.json: $.id: a pack needs a field "id"'),
        (["pack", "bad.yaml", "scenes.jsonl"], "bad.yaml: $.checks[0].expr.value: "),
        (["pack", "cut.yaml", "scenes.jsonl"], "cut.yaml:2:1: not YAML"),
        (["pack", "pack.yaml", "bad.jsonl"], "bad.jsonl:2:7: not JSON"),
        (["pack", "pack.yaml", "empty.jsonl"], "empty.jsonl: no scenes"),
        (["explain", "bad.jsonl"], "bad.jsonl:2:1: not JSON"),
        (["explain", "a.json", "empty.jsonl"], "empty.jsonl: no scenes"),
        (["explain", "a.json", "scenes.jsonl", "--id", "x"], 'scenes.jsonl: no scene has the id "x"'),
        (["explain", "a.json", "--id", "x"], "name the file with the scenes as well"),
        (["diff", "a.json", "pack.yaml", "scenes.jsonl"], "pack.yaml:1:1: not JSON"),
        (["diff", "a.json", "b.json", "none.jsonl"], "none.jsonl: no such file"),
        (["diff", "a.json", "b.json", "empty.jsonl"], "empty.jsonl: no scenes"),
    ],
)
def test_unusable_input_is_one_sentence_and_status_two(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    args: list[str],
    said: str,
) -> None:
    write(here / "bad.yaml", PACK.replace("value: 500", "value: much"))
    write(here / "cut.yaml", "id: [yard\n")
    write(here / "bad.jsonl", '{"total": 1}\n{"a": }\n')
    write(here / "empty.jsonl", "\n")
    monkeypatch.chdir(here)
    assert main(args) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"evaluator {args[0]}: ")
    assert said in error
    assert error.count("\n") == 1


def test_yaml_without_its_package_says_what_to_install(here: Path) -> None:
    code = "import sys; sys.modules['yaml'] = None; from evaluator.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "pack", str(here / "pack.yaml"), str(here / "scenes.jsonl")]
    ran = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert ran.returncode == 2
    assert b"reading YAML needs PyYAML; install it" in ran.stderr


def test_scenes_do_not_pile_up_in_memory(here: Path) -> None:
    code = (
        "import sys, tracemalloc; from evaluator.cli import main; tracemalloc.start()\n"
        "main(sys.argv[1:]); print(tracemalloc.get_traced_memory()[1], file=sys.stderr)"
    )
    scene: dict[str, Any] = {"total": 1, "signed": 1, "text": "x" * 4_000}
    write(here / "many.jsonl", (json.dumps(scene) + "\n") * 4_000)
    command = [sys.executable, "-c", code, "pack", str(here / "pack.yaml"), str(here / "many.jsonl")]
    ran = subprocess.run(command, capture_output=True, timeout=60, check=True)
    assert int(ran.stderr.split()[-1]) < (here / "many.jsonl").stat().st_size / 2

"""`evaluator cel` as users run it: texts to checks, checks to texts, faults shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_evaluator_cli import run

CHECK = {"op": "find", "collection": "xs", "where": {"op": "eq", "path": "é", "value": -1}}


def test_a_text_becomes_a_check(tmp_path: Path) -> None:
    ran = run("cel", "spent <= 500 && has(owner)")
    assert (ran.returncode, ran.stderr) == (0, b"")
    check = {
        "op": "and",
        "of": [{"op": "lte", "path": "spent", "value": 500}, {"op": "exists", "path": "owner"}],
    }
    assert json.loads(ran.stdout) == check
    (tmp_path / "check.json").write_bytes(ran.stdout)
    (tmp_path / "scenes.jsonl").write_text('{"spent": 510, "owner": null}\n')
    judged = run("check", tmp_path / "check.json", tmp_path / "scenes.jsonl")
    assert json.loads(judged.stdout)["gap"] == 10


def test_a_check_becomes_a_text(tmp_path: Path) -> None:
    (tmp_path / "check.json").write_text(json.dumps(CHECK), encoding="utf-8")
    assert run("cel", "--to", "cel", tmp_path / "check.json").stdout.decode() == (
        'xs.exists(x, x["é"] >= "-1" && x["é"] <= "-1")\n'
    )
    standard = run("cel", "--to", "cel", "--standard", "-", stdin=json.dumps(CHECK).encode())
    assert standard.stdout.decode() == 'xs.exists(x, x["é"] == -1)\n'
    back = run("cel", "--standard", "-", stdin=standard.stdout)
    assert json.loads(back.stdout) == CHECK


def test_a_body_at_fault_is_named_beside_the_check() -> None:
    ran = run("cel", "xs.all(x, x.bad())")
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["where"]["of"]["op"] == "cel.unsupported"
    assert "fails once there is an element to test: CEL: unsupported method '.bad()'" in ran.stderr.decode()


@pytest.mark.parametrize(
    ("args", "stdin", "said"),
    [
        (["a == "], b"", "evaluator cel: CEL: unexpected EOF at line 1, column 6\n  a == \n       ^\n"),
        (["-"], b"\xff", "evaluator cel: standard input:1: not UTF-8 at byte 1 of the line; save"),
        (["--to", "cel", "gone.json"], b"", "evaluator cel: gone.json: no such file or directory\n"),
        (["--to", "cel", "-"], b"{", "evaluator cel: standard input:1:2: not JSON: "),
        (["--to", "cel", "-"], b'{"op": "eq", "path": "a", "value": null}', "$.value: this dialect of CEL"),
        (["--to", "cel", "-"], b'{"op": "eqq"}', 'standard input: $.op: unknown operator "eqq"'),
    ],
)
def test_what_cannot_be_used_ends_with_status_2(args: list[str], stdin: bytes, said: str) -> None:
    ran = run("cel", *args, stdin=stdin)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert said in ran.stderr.decode()
    assert b"Traceback" not in ran.stderr

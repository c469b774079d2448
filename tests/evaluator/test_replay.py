"""`evaluator replay` and what stands behind it: verdicts step by step, flips, rises, charts, errors."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from otel_fixtures import REAL, call, event, span, ticket_run, write_spans

from evaluator import SceneRecorder, read_scene_otel, replay_trace
from evaluator.cli import main

ROOT = Path(__file__).parents[2]
NONE_OPEN = {"op": "lte", "path": "ticket.open", "value": 0}


@pytest.fixture
def check(tmp_path: Path) -> str:
    return write_check(tmp_path, NONE_OPEN)


def write_check(folder: Path, check: dict[str, Any]) -> str:
    (folder / "check.json").write_text(json.dumps(check))
    return str(folder / "check.json")


def run(*args: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "evaluator", "replay", *map(str, args)]
    return subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, encoding="utf-8", timeout=60, check=False
    )


def test_a_run_is_told_step_by_step(tmp_path: Path, check: str) -> None:
    write_spans(tmp_path / "run.jsonl", ticket_run())
    ran = run(check, "run.jsonl", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == (
        "run.jsonl: ticket: 3 steps\n"
        "step  tool   verdict  gap  why\n"
        "   1  read   FAIL       2  ticket.open: expected ≤ 0, got 2 (over by 2)\n"
        "   2  split  FAIL       3  ticket.open: expected ≤ 0, got 3 (over by 3)\n"
        "   3  close  pass       0  ticket.open = 0 ≤ 0\n"
        "flips: step 3 to pass\n"
        "the gap rose at step 2\n"
        "the run says of itself: success\n"
    )


def test_json_lines_say_the_same_and_the_status_is_that_of_the_ends(tmp_path: Path, check: str) -> None:
    write_spans(tmp_path / "good.jsonl", ticket_run())
    write_spans(
        tmp_path / "bad.jsonl",
        span([event("ticket", {"open": 0}, 1), event("ticket", {}, 2)], trace="t2", name="worse"),
    )
    ran = run(check, "good.jsonl", "bad.jsonl", "--format", "jsonl", cwd=tmp_path)
    assert ran.returncode == 1
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [(line["file"], line.get("step"), line["pass"]) for line in lines] == [
        ("good.jsonl", 1, False),
        ("good.jsonl", 2, False),
        ("good.jsonl", 3, True),
        ("good.jsonl", None, True),
        ("bad.jsonl", 1, True),
        ("bad.jsonl", 2, False),
        ("bad.jsonl", None, False),
    ]
    assert lines[1] == {
        "file": "good.jsonl",
        "trace": "t1",
        "step": 2,
        "tools": ["split"],
        "pass": False,
        "gap": 3,
        "why": "ticket.open: expected ≤ 0, got 3 (over by 3)",
        "flip": False,
        "rise": True,
    }
    assert lines[6] == {
        "file": "bad.jsonl",
        "trace": "t2",
        "name": "worse",
        "steps": 2,
        "pass": False,
        "flips": [2],
        "rises": [2],
        "success": None,
    }


def test_a_value_that_is_not_known_makes_the_verdict_unknown(tmp_path: Path, check: str) -> None:
    path = write_spans(
        tmp_path / "run.jsonl",
        span(
            [
                event("ticket", {"open": 1}, 1),
                event("ticket", '{"open": …'.encode(), 2),
                event("other", 1, 3),
                event("ticket", {"open": 2}, 4),
            ]
        ),
    )
    replay = replay_trace(NONE_OPEN, read_scene_otel(path))
    assert [None if step.result is None else step.result.gap for step in replay.steps] == [1, None, None, 2]
    assert [step.number for step in replay.rises] == [4]
    assert replay.steps[1].problem.startswith("ticket: the value was cut after 9 bytes (")
    present = replay_trace({"op": "exists", "path": "ticket"}, read_scene_otel(path))
    assert [None if step.result is None else step.result.gap for step in present.steps] == [0, 0, 0, 0]
    ran = run(check, "run.jsonl", cwd=tmp_path)
    assert ran.returncode == 1
    assert (
        "   2  -     unknown       ticket: the value was cut after 9 bytes (run.jsonl:1: $.events[1]"
        in ran.stdout
    )


def test_the_world_under_one_key(tmp_path: Path) -> None:
    path = write_spans(tmp_path / "run.jsonl", span([event("distance", 1, 1), event("scene", {"n": 3}, 2)]))
    replay = replay_trace({"op": "gte", "path": "n", "value": 5}, read_scene_otel(path), key="scene")
    assert [step.problem for step in replay.steps] == ["the key scene is not set yet", ""]
    assert replay.passed is False
    assert replay_trace(NONE_OPEN, []).passed is None
    check = write_check(tmp_path, {"op": "gte", "path": "n", "value": 3})
    assert main(["replay", check, str(path), "--key", "scene"]) == 0


def test_the_chart_is_whole_svg_with_a_mark_a_step(tmp_path: Path) -> None:
    nasty = '<b>&"\x1b[31m'
    write_spans(
        tmp_path / "run.jsonl",
        ticket_run(),
        span(
            [call(nasty, {}, 1), event("ticket", {"open": "]]>"}, 1), event("ticket", b"{", 2)],
            trace="t2",
            name="<&>",
        ),
    )
    for check in ({"op": "or", "of": [NONE_OPEN]}, {"op": "or", "of": []}):
        path = write_check(tmp_path, check)
        ran = run(path, "run.jsonl", "--format", "svg", cwd=tmp_path)
        assert ran.stderr == ""
        root = ElementTree.fromstring(ran.stdout)
        circles = root.findall(".//{*}circle")
        titles = [title.text or "" for title in root.findall(".//{*}title")]
        assert len(titles) == 5
        assert len(circles) >= 4
        assert any('step 1 (<b>&"\\x1b[31m)' in title for title in titles)
        assert ("∞" in ran.stdout) is (check == {"op": "or", "of": []})
        assert "not known" in titles[4] or check == {"op": "or", "of": []}
        assert ran.stdout == run(path, "run.jsonl", "--format", "svg", cwd=tmp_path).stdout


def test_unusable_input_is_said_in_one_sentence(
    tmp_path: Path, check: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "half.jsonl").write_text('{"trace_id": "t1", "span')
    write_spans(tmp_path / "still.jsonl", span([]))
    write_spans(tmp_path / "odd.jsonl", span([], bench_success=1))
    for name, said in (
        ("nope.jsonl", ": no such file"),
        ("empty.jsonl", "no spans"),
        ("half.jsonl", "half.jsonl:1:"),
        ("still.jsonl", "no span sets a scene"),
        ("odd.jsonl", "expected true or false, got a number"),
    ):
        assert main(["replay", check, str(tmp_path / name)]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith(f"evaluator replay: {tmp_path / name}")
        assert said in captured.err
        assert captured.err.count("\n") == 1
    assert main(["replay", str(tmp_path / "nope.json"), check]) == 2


def test_what_python_records_is_replayed(
    tmp_path: Path, check: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with SceneRecorder(tmp_path / "run.jsonl", name="agent") as recorder:
        for tool, left in (("split", 2), ("close", 0)):
            recorder.call(tool)
            recorder.set("ticket", {"open": left})
        recorder.finish(success=True)
    assert main(["replay", check, str(tmp_path / "run.jsonl")]) == 0
    assert "flips: step 2 to pass\nthe gap never rose\n" in capsys.readouterr().out


@pytest.mark.skipif(not REAL.is_dir(), reason="the recorded traces of others are not at hand")
def test_the_gradient_of_a_real_run_is_the_one_it_recorded() -> None:
    steps = list(read_scene_otel(REAL / "scenegrad-support-triage-haiku-4-5.jsonl"))
    replay = replay_trace({"op": "lte", "path": "distance.d_after", "value": 0}, steps)
    assert [None if step.result is None else step.result.gap for step in replay.steps] == [4, 3, 2, 0]
    assert [step.tools for step in replay.steps] == [
        ("read_ticket",),
        ("enrich_with_account",),
        ("search_kb",),
        ("escalate_vip",),
    ]
    assert replay.passed is True
    assert not replay.rises


def test_standard_input_and_packed_files_are_read(tmp_path: Path, check: str) -> None:
    write_spans(tmp_path / "run.jsonl", ticket_run())
    spans = (tmp_path / "run.jsonl").read_bytes()
    (tmp_path / "run.jsonl.gz").write_bytes(gzip.compress(spans))
    plain = run(check, "run.jsonl", cwd=tmp_path)
    packed = run(check, "run.jsonl.gz", cwd=tmp_path)
    piped = subprocess.run(
        [sys.executable, "-m", "evaluator", "replay", check, "-"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input=spans,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert packed.stdout == plain.stdout.replace("run.jsonl:", "run.jsonl.gz:")
    assert piped.stdout.decode() == plain.stdout.replace("run.jsonl:", "standard input:")
    assert (plain.returncode, packed.returncode, piped.returncode) == (0, 0, 0)

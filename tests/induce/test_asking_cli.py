"""`induce next`, `label` and `alternatives` as processes; what they refuse, within this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluator import run_check
from induce import load_scenes
from induce.cli import main

ROOT = Path(__file__).resolve().parents[2]
RECORDS = [
    {"id": "a", "label": "pass", "scene": {"colour": "red", "shape": "box", "size": 1}},
    {"id": "b", "label": "pass", "scene": {"colour": "red", "shape": "box", "size": 2}},
    {"id": "c", "label": "fail", "scene": {"colour": "blue", "shape": "ball", "size": 1}},
    {"id": "d", "label": "fail", "scene": {"colour": "blue", "shape": "ball", "size": 2}},
]
OPEN = {"id": "e", "weight": 2, "scene": {"colour": "red", "shape": "ball", "size": 1}}


def write(path: Path, records: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


def induce(*arguments: str, answers: str = "", seed: str = "0") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "induce", *arguments],
        input=answers,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        check=False,
    )


def test_next_names_an_edit_and_what_the_rivals_say(tmp_path: Path) -> None:
    ran = induce("next", write(tmp_path / "scenes.jsonl", RECORDS), "-k", "1")
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert lines[0] == "4 scenes: 2 pass, 2 fail"
    assert lines[1].startswith("check: ")
    asked = next(line for line in lines if line.startswith("ask "))
    assert " with " in asked
    assert " → " in asked
    assert any(line.startswith("  settles 1 bits; 50 % of the votes") for line in lines)
    said = {line.split(":")[0].strip(): line for line in lines if line.startswith(("  pass: ", "  fail: "))}
    assert {"colour", "shape"} == {
        word for line in said.values() for word in ("colour", "shape") if word in line
    }


def test_next_prints_records_that_can_be_read_and_labelled(tmp_path: Path) -> None:
    file = write(tmp_path / "scenes.jsonl", RECORDS)
    ran = induce("next", file, "-k", "2", "--json")
    assert ran.returncode == 0
    questions = [json.loads(line) for line in ran.stdout.splitlines()]
    for question in questions:
        assert question["label"] is None
        rivals = question["question"]["if"]
        assert run_check(question["scene"], rivals["pass"]["check"]).passed
        assert not run_check(question["scene"], rivals["fail"]["check"]).passed
    (tmp_path / "asked.jsonl").write_text(ran.stdout, encoding="utf-8")
    read = load_scenes(str(tmp_path / "asked.jsonl"))
    assert read.ids == tuple(question["id"] for question in questions)
    assert read.ignored_keys == ("question",)
    assert induce("next", file, "-k", "2", "--json", seed="7").stdout == ran.stdout


def test_scenes_without_a_label_and_the_pool_are_chosen_from(tmp_path: Path) -> None:
    file = write(tmp_path / "scenes.jsonl", [*RECORDS, OPEN])
    pool = write(
        tmp_path / "pool.jsonl", [{"id": "far", "scene": {"colour": "blue", "shape": "box", "size": 3}}]
    )
    ran = induce("next", file, "--pool", pool, "-k", "5", "--json")
    asked = [json.loads(line) for line in ran.stdout.splitlines()]
    assert {question["id"] for question in asked} <= {"e", "far"}
    assert asked[0]["question"]["source"] is None
    settled = induce(
        "next", write(tmp_path / "few.jsonl", [*RECORDS, {**OPEN, "scene": RECORDS[0]["scene"]}])
    )
    assert settled.returncode == 0
    assert "agree on every scene" in settled.stderr


def test_label_fills_in_the_line_of_a_scene_without_a_label(tmp_path: Path) -> None:
    file = write(tmp_path / "scenes.jsonl", [OPEN, *RECORDS])
    check = tmp_path / "check.json"
    ran = induce("label", file, "-o", str(check), answers="what\nF\n")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "ask e" in ran.stdout
    assert ran.stdout.count("label it:") == 2  # the first answer was none
    assert "labelled: 1 scene, written to" in ran.stdout
    records = [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()]
    assert records == [{**OPEN, "label": "fail"}, *RECORDS]
    assert json.loads(check.read_text(encoding="utf-8"))["expr"] == {
        "op": "eq",
        "path": "shape",
        "value": "box",
    }


def test_label_adds_edits_at_the_end_and_stops_when_told(tmp_path: Path) -> None:
    file = tmp_path / "scenes.jsonl"
    file.write_text("\n".join(json.dumps(record) for record in RECORDS), encoding="utf-8")  # no last newline
    ran = induce("label", str(file), answers="p\nskip\nq\n")
    assert ran.returncode == 0, ran.stderr
    read = load_scenes(str(file))
    assert len(read) == 5
    assert read.labels[4] == "pass"
    assert "-edit-" in read.ids[4]
    assert read.ids[:4] == ("a", "b", "c", "d")


def test_the_end_of_the_input_is_no_answer(tmp_path: Path) -> None:
    file = write(tmp_path / "scenes.jsonl", RECORDS)
    before = Path(file).read_text(encoding="utf-8")
    ran = induce("label", file, answers="")
    assert ran.returncode == 0
    assert "labelled: 0 scenes" in ran.stdout
    assert Path(file).read_text(encoding="utf-8") == before


def test_alternatives_show_a_scene_on_which_they_differ(tmp_path: Path) -> None:
    file = write(tmp_path / "scenes.jsonl", RECORDS)
    ran = induce("alternatives", file, "-k", "2", "--json")
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert 1 <= len(told["alternatives"]) <= 2
    for one in told["alternatives"]:
        example = one["example"]
        assert run_check(example["scene"], one["check"]).passed is example["pass"]
        assert run_check(example["scene"], told["best"]["check"]).passed is not example["pass"]
    lines = induce("alternatives", file, "-k", "1").stdout.splitlines()
    assert lines[2].startswith("as good: ")
    assert "plausible scenes" in lines[4]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("next", "absent.jsonl"), "absent.jsonl: cannot be read"),
        (("next", "one.jsonl"), "add scenes labelled fail"),
        (("next", "scenes.jsonl", "-k", "0"), "k: expected a whole number of scenes"),
        (("next", "scenes.jsonl", "--pool", "absent.jsonl"), "absent.jsonl: cannot be read"),
        (("label", "-"), "give one instead of -"),
        (("label", "scenes.jsonl", "-n", "0"), "-n: expected a number of questions"),
        (("label", "scenes.jsonl", "-o", "no/where.json"), "no/where.json"),
        (("alternatives", "scenes.jsonl", "--within", "-1"), "within: expected bits"),
        (("alternatives", "scenes.jsonl", "-k", "0"), "k: expected a whole number of alternatives"),
    ],
)
def test_unusable_input_is_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "scenes.jsonl", RECORDS)
    write(tmp_path / "one.jsonl", RECORDS[:2])
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" or arguments[0] == "next"
    assert said in err
    assert err.count("\n") == 1
    assert "Traceback" not in err

"""`induce explain|score|invariants|repair` and learning by rule, as a user runs them: real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluator import run_check
from induce.cli import main

ROOT = Path(__file__).resolve().parents[2]
KNIFE = {
    "op": "not",
    "of": {"op": "find", "collection": "items", "where": {"op": "eq", "path": "kind", "value": "knife"}},
}
SCENES = [
    ("a", "pass", {"total": 120, "items": [{"kind": "book"}, {"kind": "pen"}]}),
    ("b", "pass", {"total": 480, "items": [{"kind": "pen"}]}),
    ("c", "pass", {"total": 510, "items": [{"kind": "book"}, {"kind": "ink"}]}),
    ("d", "fail", {"total": 505, "items": [{"kind": "knife"}, {"kind": "pen"}]}),
    ("e", "fail", {"total": 130, "items": [{"kind": "ink"}, {"kind": "knife"}]}),
]


def run(module: str, *arguments: object, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )


def write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_lines(tmp_path / "s.jsonl", [{"id": i, "label": x, "scene": s} for i, x, s in SCENES])
    (tmp_path / "check.json").write_text(json.dumps({"id": "no-knives", "expr": KNIFE}), encoding="utf-8")
    return tmp_path


def test_explain_names_the_scenes_that_forced_each_part(folder: Path) -> None:
    done = run("induce", "explain", "check.json", "s.jsonl", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        'check: no items has kind equal to "knife"',
        'part: no items has kind equal to "knife" ($)',
        "  forced by d, e: wrong without it",
    ]


def test_explain_tells_why_a_scene_fails_and_what_would_turn_it(folder: Path) -> None:
    done = run("induce", "explain", "check.json", "s.jsonl", "--scene", "d", folder=folder)
    assert done.stdout.splitlines()[1:] == [
        "scene d: fails, labelled fail",
        '  wanted: no items has kind equal to "knife"',
        '  observed: 1 of 2 elements is so: items[0] (kind is "knife")',
        '  smallest change that makes it pass: items[0].kind: "knife" → "book"',
    ]
    report = json.loads(
        run("induce", "explain", "check.json", "s.jsonl", "--scene", "d", "--json", folder=folder).stdout
    )
    (scene,) = report["scenes"]
    assert (scene["pass"], scene["label"]) == (False, "fail")
    assert scene["change"]["edits"] == [{"path": "items[0].kind", "before": "knife", "after": "book"}]
    unknown = run("induce", "explain", "check.json", "s.jsonl", "--scene", "zz", folder=folder)
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert unknown.stderr == 'induce: no scene has the id "zz"; there are a, b, c, d, e\n'


def test_score_counts_weighs_and_names_what_is_wrong(folder: Path) -> None:
    records = [{"id": i, "label": x, "scene": s} for i, x, s in SCENES]
    records[0]["label"] = "fail"
    write_lines(folder / "s.jsonl", records)
    done = run("induce", "score", "check.json", "s.jsonl", "--permutation", 3, folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    for line in (
        "accuracy: 0.800 (4 of 5 right)",
        "labelled pass: 2 pass, 0 fail",
        "labelled fail: 1 pass, 2 fail",
        "wrong: a is labelled fail and passes",
        '  wanted: no items has kind equal to "knife"',
        '  observed: none of 2 elements is so; nearest is items[0] (kind is "book")',
    ):
        assert line in lines
    assert lines[-1].startswith("permutation: p = ")
    one = json.loads(run("induce", "score", "check.json", "s.jsonl", "--json", folder=folder).stdout)
    assert one["accuracy"] == 0.8
    assert one["confusion"] == {"true_pass": 2, "false_pass": 1, "true_fail": 2, "false_fail": 0}
    assert one["objective"]["total"] == one["objective"]["size"] + one["objective"]["penalty"]
    assert one["permutation"] is None


def test_score_is_the_same_for_any_hash_seed(folder: Path) -> None:
    told = {
        run(
            "induce", "score", "check.json", "s.jsonl", "--permutation", 2, folder=folder, PYTHONHASHSEED=seed
        ).stdout
        for seed in ("0", "1")
    }
    assert len(told) == 1


def test_invariants_are_ranked_written_and_run_as_a_pack(folder: Path) -> None:
    done = run("induce", "invariants", "s.jsonl", "-k", 4, "-o", "p.json", folder=folder)
    assert done.returncode == 0
    assert "2 of 5 scenes are not labelled pass and were left out" in done.stderr
    assert "cannot tell which of these a failing scene would break" in done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "3 passing scenes"
    assert lines[-1] == "written: p.json"
    pack = json.loads((folder / "p.json").read_text(encoding="utf-8"))
    assert [json.loads(line) for line in lines[2:-1:2]] == [check["expr"] for check in pack["checks"]]
    assert all(run_check(s, c["expr"]).passed for c in pack["checks"] for _, x, s in SCENES if x == "pass")
    ran = run("evaluator", "pack", "p.json", "s.jsonl", "--format", "json", folder=folder)
    assert ran.returncode in (0, 1)
    assert json.loads(ran.stdout)["pack"] == "invariants@1.0.0"
    told = json.loads(run("induce", "invariants", "s.jsonl", "-k", 4, "--json", folder=folder).stdout)
    assert [one["check"] for one in told["invariants"]] == [check["expr"] for check in pack["checks"]]


def test_one_class_is_told_what_to_do(folder: Path) -> None:
    for label, command, message in (
        (
            "fail",
            "invariants",
            "all labelled scenes are labelled fail; invariants are what passing scenes share",
        ),
        ("pass", "learn", "`induce invariants` ranks what passing scenes share"),
    ):
        write_lines(folder / "one.jsonl", [{"label": label, "scene": s} for _, _, s in SCENES])
        done = run("induce", command, "one.jsonl", folder=folder)
        assert done.returncode == 2
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1
    write_lines(folder / "one.jsonl", [{"scene": s} for _, x, s in SCENES if x == "pass"])
    assert run("induce", "invariants", "one.jsonl", folder=folder).stdout.startswith("3 passing scenes\n")


def test_repair_lists_its_edits_and_keeps_the_name(folder: Path) -> None:
    wrong = json.loads(json.dumps(KNIFE).replace("knife", "pen"))
    meta = {"severity": "warn", "induction": {"objective": 1}}
    (folder / "w.json").write_text(json.dumps({"id": "w", "expr": wrong, "meta": meta}), encoding="utf-8")
    done = run("induce", "repair", "w.json", "s.jsonl", "-o", "r.json", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "wrong before: a, b, e" in lines
    assert 'edit: $.of.where.value: "pen" → "knife"; now: kind is "knife"' in lines
    assert "wrong after: none" in lines
    written = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    assert written == {"id": "w", "expr": KNIFE, "meta": {"severity": "warn"}}
    report = json.loads(run("induce", "repair", "w.json", "s.jsonl", "--json", folder=folder).stdout)
    assert report["edits"][0]["from"] == "pen"
    assert report["objective_after"]["penalty"] == 0
    assert sorted(os.listdir(folder)) == ["check.json", "r.json", "s.jsonl", "w.json"]


def test_rules_are_learnt_into_a_pack_that_runs(folder: Path) -> None:
    records = [
        {"labels": {"knives": x, "budget": "pass" if s["total"] < 500 else "fail"}, "scene": s}
        for _, x, s in SCENES
    ]
    write_lines(folder / "rules.jsonl", records)
    done = run("induce", "learn", "rules.jsonl", "-o", "pack.json", "--id", "yard", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("rule: ")] == ["rule: budget", "rule: knives"]
    assert 'check: no items has kind equal to "knife"' in lines
    assert "written: pack.json" in lines
    pack = json.loads((folder / "pack.json").read_text(encoding="utf-8"))
    assert (pack["id"], [check["id"] for check in pack["checks"]]) == ("yard@1.0.0", ["budget", "knives"])
    ran = run("evaluator", "pack", "pack.json", "rules.jsonl", "--format", "json", folder=folder)
    assert [check["fail"] for check in json.loads(ran.stdout)["checks"]] == [2, 2]
    told = json.loads(run("induce", "learn", "rules.jsonl", "--json", "--id", "yard@2", folder=folder).stdout)
    assert told["pack"]["id"] == "yard@2"
    assert set(told["rules"]) == {"budget", "knives"}
    records[0]["labels"]["knives"] = "perhaps"
    write_lines(folder / "rules.jsonl", records)
    bad = run("induce", "learn", "rules.jsonl", folder=folder)
    assert bad.returncode == 2
    assert "rules.jsonl:1: $.labels.knives: unknown label" in bad.stderr


@pytest.mark.parametrize("command", ["explain", "score", "repair"])
def test_an_unusable_check_is_one_sentence_with_its_place(
    folder: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    (folder / "bad.json").write_text('{"op": "lte", "path": "total", "value": "x"}', encoding="utf-8")
    assert main([command, "bad.json", "s.jsonl"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("induce: bad.json: $.value: expected a number")
    assert len(err.splitlines()) == 1
    assert main([command, "nowhere.json", "s.jsonl"]) == 2
    assert "Traceback" not in capsys.readouterr().err

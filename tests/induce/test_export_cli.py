"""`induce export` and `induce export-task` as a user runs them: real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from induce.cli import main

ROOT = Path(__file__).resolve().parents[2]
CHECK = {"id": "cheap", "expr": {"op": "lt", "path": "total", "value": 500}}


def induce(*arguments: object, folder: Path, stdin: str = "") -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "induce", *map(str, arguments)],
        cwd=folder,
        input=stdin.encode(),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=60,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_check_is_exported_to_stdout_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "check.json").write_text(json.dumps(CHECK))
    assert induce("export", "check.json", "--to", "cel", folder=tmp_path) == (0, "total < 500\n", "")
    code, out, err = induce(
        "export", "-", "--to", "core", "-o", "core.json", folder=tmp_path, stdin=json.dumps(CHECK)
    )
    assert (code, out) == (0, "")
    assert (
        err == 'induce: note: -: $.expr: "lt" is said as lte and neq: the same verdict, the gap may differ\n'
    )
    assert json.loads((tmp_path / "core.json").read_text())["expr"]["op"] == "and"
    assert induce("export", "check.json", "--to", "python", "-o", "cheap.py", folder=tmp_path) == (0, "", "")
    code = "from cheap import passes; print(passes({'total': 499.5}), passes({'total': True}))"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert ran.stdout == "True False\n"


def test_rules_with_the_facts_of_scenes_run_in_clingo(tmp_path: Path) -> None:
    (tmp_path / "check.json").write_text(json.dumps(CHECK))
    lines = [{"id": repr(total), "scene": {"total": total}} for total in (3, 499.5, 500, 2**40, "3")]
    (tmp_path / "scenes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    asked = ("export", "check.json", "--to", "las", "--scenes", "scenes.jsonl", "-o", "check.lp")
    assert induce(*asked, folder=tmp_path) == (0, "", "")
    ran = subprocess.run(
        [sys.executable, "-m", "clingo", "--warn=none", "-V0", "check.lp"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.stdout.splitlines()[0].split() == ["passes(s0)", "passes(s1)"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["check.json", "--to", "xml"],
            "unknown export format 'xml'; there are json, core, cel, python, las",
        ),
        (
            ["as.json", "--to", "core"],
            'as.json: $.as: the core profile cannot say this: its "eq" has no "as"',
        ),
        (["broken.json"], 'broken.json: $.op: unknown operator "lessthan"'),
        (["none.json"], "none.json: cannot be read: no such file or directory"),
        (["list.json"], "list.json: expected a check, a JSON object"),
        (["check.json", "-o", "no/out.json"], "no/out.json: the folder"),
        (["check.json", "--scenes", "check.json"], "--scenes goes with --to las only"),
        ([], "Missing argument 'CHECK'"),
    ],
)
def test_what_cannot_be_exported_is_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "check.json").write_text(json.dumps(CHECK))
    (tmp_path / "as.json").write_text(json.dumps({"op": "eq", "path": "a", "value": 1, "as": "cell"}))
    (tmp_path / "broken.json").write_text('{"op": "lessthan"}')
    (tmp_path / "list.json").write_text("[]")
    assert main(["export", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"induce: {message}")
    assert err.count("\n") == 1


def test_tasks_are_written_from_labelled_scenes(tmp_path: Path) -> None:
    records = [{"id": f"o{n}", "label": "pass" if n < 3 else "fail", "scene": {"total": n}} for n in range(6)]
    (tmp_path / "scenes.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    done = induce("export-task", "scenes.jsonl", "--to", "popper", "-o", "task", folder=tmp_path)
    assert done == (0, "written: task/exs.pl\nwritten: task/bk.pl\nwritten: task/bias.pl\n", "")
    done = induce("export-task", "scenes.jsonl", "-o", "task", "--penalty", 0, folder=tmp_path)
    assert done == (0, "written: task/task.las\n", "")
    assert sorted(path.name for path in (tmp_path / "task").iterdir()) == [
        "bias.pl",
        "bk.pl",
        "exs.pl",
        "task.las",
    ]
    assert "#pos(ex0, {pass(s0)}, {}, {\n" in (tmp_path / "task" / "task.las").read_text()


def test_an_unusable_task_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "scenes.jsonl").write_text('{"label": "pass", "scene": {"a": 1}}\n{"scene": {"a": 2}}\n')
    code, out, err = induce("export-task", "scenes.jsonl", "-o", "task", folder=tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith("induce: scenes.jsonl:2: no label;")
    code, _, err = induce("export-task", "scenes.jsonl", folder=tmp_path)
    assert (code, err) == (2, "induce: Missing option '-o' / '--output' (see induce export-task --help)\n")
    assert [path.name for path in tmp_path.iterdir()] == ["scenes.jsonl"]


def test_exporting_starts_without_what_it_does_not_need(tmp_path: Path) -> None:
    (tmp_path / "check.json").write_text(json.dumps(CHECK))
    code = (
        "import sys; from induce.cli import main; main(['export', 'check.json', '--to', 'python']);"
        "print([name for name in ('sklearn', 'mlflow', 'pandas', 'clingo') if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.stdout.endswith("[]\n"), ran

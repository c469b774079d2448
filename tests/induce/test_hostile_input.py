"""Every command on input nobody can use: one sentence on standard error, exit code 2, nothing written."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from induce.cli import main

ROOT = Path(__file__).resolve().parents[2]
CHECK = '{"id": "c", "expr": {"op": "lte", "path": "total", "value": 400}}'
SCENES = {
    "missing.jsonl": None,
    "binary.jsonl": bytes(range(256)) * 4,
    "empty.jsonl": b"",
    "blank.jsonl": b"\n \n",
    "nan.jsonl": b'{"label": "pass", "scene": {"total": NaN}}\n',
    "huge.jsonl": b'{"label": "pass", "scene": {"total": 1e999}}\n',
    "cut.jsonl": b'{"label": "pass", "scene": {"total": 1',
    "array.jsonl": b"[1, 2]\n",
    "scalar.jsonl": b"5\n",
    "odd_label.jsonl": b'{"label": "maybe", "scene": {"total": 1}}\n',
    "red\x1b[31m.jsonl": b"{",
    "unknown.suffix": b"{}",
    "a.csv": b"label,total\npass,1\nfail\n",
    "a.parquet": b"PAR1 no",
    "": None,
}
LABELS_NEEDED = {
    "unlabelled.jsonl": b'{"scene": {"total": 1}}\n{"scene": {"total": 2}}\n',
    "only_pass.jsonl": b'{"label": "pass", "scene": {"total": 1}}\n',
    "only_fail.jsonl": b'{"label": "fail", "scene": {"total": 1}}\n',
}
CHECKS = {
    "missing.json": None,
    "binary.json": bytes(range(256)),
    "empty.json": b"",
    "operator.json": b'{"op": "nope"}',
    "list.json": b"[]",
    "null.json": b"null",
    "nan.json": b'{"op": "lte", "path": "a", "value": NaN}',
    "deep.json": b'{"op": "not", "of": ' * 300 + b"{}" + b"}" * 300,
    "path.json": b'{"op": "exists", "path": "a[0"}',
}
OF_SCENES = ("learn", "next", "label", "alternatives", "invariants", "export-task")
OF_CHECK_AND_SCENES = ("explain", "score", "repair")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    draw = random.Random(1)
    totals = [draw.randrange(1000) for _ in range(12)] + [100, 900]
    lines = [
        json.dumps({"label": "pass" if total <= 500 else "fail", "scene": {"total": total}})
        for total in totals
    ]
    (tmp_path / "good.jsonl").write_text("\n".join(lines))
    (tmp_path / "good.json").write_text(CHECK)
    (tmp_path / "folder.jsonl").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one sentence with which a command refuses its input."""
    before = sorted(os.listdir())
    assert main(arguments) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("induce: note: ")]
    assert len(said) == 1
    assert said[0].startswith("induce: ")
    assert said[0].isprintable()
    assert sorted(os.listdir()) == before
    return said[0]


def arguments_for(command: str, scenes: str) -> list[str]:
    if command in OF_CHECK_AND_SCENES:
        return [command, "good.json", scenes]
    return [command, scenes, *(["-o", "task"] if command == "export-task" else [])]


@pytest.mark.parametrize("name", [*SCENES, "folder.jsonl"])
@pytest.mark.parametrize("command", [*OF_SCENES, *OF_CHECK_AND_SCENES])
def test_scenes_that_cannot_be_read(
    here: Path, capsys: pytest.CaptureFixture[str], command: str, name: str
) -> None:
    data = SCENES.get(name)
    if data is not None:
        (here / name).write_bytes(data)
    said = refused(capsys, *arguments_for(command, name))
    shown = name.encode("unicode_escape").decode()
    assert shown in said


@pytest.mark.parametrize("name", LABELS_NEEDED)
@pytest.mark.parametrize("command", ["learn", "next", "label", "alternatives", "repair"])
def test_labels_that_are_not_there(
    here: Path, capsys: pytest.CaptureFixture[str], command: str, name: str
) -> None:
    (here / name).write_bytes(LABELS_NEEDED[name])
    assert "label" in refused(capsys, *arguments_for(command, name))


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("command", [*OF_CHECK_AND_SCENES, "export"])
def test_checks_that_cannot_be_read(
    here: Path, capsys: pytest.CaptureFixture[str], command: str, name: str
) -> None:
    if (data := CHECKS[name]) is not None:
        (here / name).write_bytes(data)
    scenes = [] if command == "export" else ["good.jsonl"]
    assert f"{name}:" in refused(capsys, command, name, *scenes)


@pytest.mark.parametrize("name", ["missing.json", "operator.json", "list.json", "null.json", "nan.json"])
@pytest.mark.parametrize("command", ["learn", "next", "label", "alternatives", "score", "repair"])
def test_grammars_that_cannot_be_read(
    here: Path, capsys: pytest.CaptureFixture[str], command: str, name: str
) -> None:
    if (data := CHECKS[name]) is not None:
        (here / name).write_bytes(data)
    assert f"{name}:" in refused(capsys, *arguments_for(command, "good.jsonl"), "--grammar", name)


@pytest.mark.parametrize("output", ["nowhere/x", "folder.jsonl", "good.json/x", "", "a\0b"])
@pytest.mark.parametrize("command", ["learn", "label", "repair", "invariants", "export"])
@pytest.mark.usefixtures("here")
def test_outputs_that_cannot_be_written(
    capsys: pytest.CaptureFixture[str], command: str, output: str
) -> None:
    given = ["export", "good.json"] if command == "export" else arguments_for(command, "good.jsonl")
    refused(capsys, *given, "-o", output)


@pytest.mark.parametrize(
    "arguments",
    [
        "learn good.jsonl --time-limit nan",
        "learn good.jsonl --work-limit 0",
        "learn good.jsonl --max-terms 0",
        "learn good.jsonl --max-nesting -1",
        "learn good.jsonl --penalty much",
        "learn good.jsonl --penalty nan",
        "learn good.jsonl --seed -1",
        "learn good.jsonl --jobs 0",
        "learn good.jsonl --folds 1",
        "learn good.jsonl --format xml",
        "learn good.jsonl --test missing.jsonl",
        "learn good.jsonl --pass folder.jsonl",
        "learn",
        "next good.jsonl -k 0",
        "next good.jsonl --time-limit -1",
        "next good.jsonl --pool missing.jsonl",
        "alternatives good.jsonl -k 0",
        "alternatives good.jsonl --within nan",
        "label good.jsonl -n 0",
        "label -",
        "explain good.json good.jsonl --scene nobody",
        "score good.json good.jsonl --permutation -1",
        "score good.json good.jsonl --permutation 2 --work-limit 0",
        "score good.json good.jsonl --permutation 2 --jobs 0",
        "repair good.json good.jsonl --max-edits 0",
        "repair good.json good.jsonl --node-limit 0",
        "invariants good.jsonl -k 0",
        "export good.json --to nope",
        "export good.json --to las --scenes missing.jsonl",
        "export-task good.jsonl -o task --to nope",
        "export-task good.jsonl -o task --max-terms 0",
        "export-task good.jsonl -o task --max-literals 0",
        "export-task good.jsonl -o good.json",
        "nope",
    ],
)
@pytest.mark.usefixtures("here")
def test_options_that_make_no_sense(capsys: pytest.CaptureFixture[str], arguments: str) -> None:
    refused(capsys, *arguments.split())


@pytest.mark.parametrize("command", ["explain", "score", "repair", "invariants", "export", "learn"])
def test_an_output_that_is_closed_or_full(here: Path, command: str) -> None:
    given = ["export", "good.json"] if command == "export" else arguments_for(command, "good.jsonl")
    line = [sys.executable, "-m", "induce", *given]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    shell = f"exec {' '.join(line)}"
    for redirected, status in ((">&-", 0), (">/dev/full", 2)):
        if redirected == ">/dev/full" and not os.path.exists("/dev/full"):
            continue
        done = subprocess.run(
            ["sh", "-c", f"{shell} {redirected}"],
            cwd=here,
            env=env,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == status
        assert b"Traceback" not in done.stderr

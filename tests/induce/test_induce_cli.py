"""`induce learn` as a user runs it: real processes, what they print, write and answer."""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluator import run_check
from induce.cli import main
from induce.export import export_check
from induce.learn import learn_check
from induce.scenes import load_scenes

ROOT = Path(__file__).resolve().parents[2]


def induce(
    *arguments: object, folder: Path, stdin: bytes | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "induce", *map(str, arguments)],
        cwd=folder,
        input=stdin,
        env=environment(**variables),
        capture_output=True,
        timeout=60,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def environment(**variables: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **variables}


def orders(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Orders that pass when some item is a robot and the total is at most 500."""
    draw = random.Random(seed)
    records = []
    for number in range(count):
        kinds = [draw.choice(["rack", "robot", "belt", "dock"]) for _ in range(draw.randint(1, 4))]
        total = draw.randrange(0, 1000, 5)
        if number % 2 == 0:
            kinds[0], total = "robot", total % 505
        passes = "robot" in kinds and total <= 500
        scene = {"total": total, "items": [{"kind": kind} for kind in kinds], "lane": draw.choice(["a", "b"])}
        records.append({"id": f"o{number}", "label": "pass" if passes else "fail", "scene": scene})
    return records


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    return write(tmp_path / "orders.jsonl", orders(24))


def test_learns_reports_and_writes(scenes: Path, tmp_path: Path) -> None:
    done = induce("learn", scenes.name, "-o", "check.json", "--time-limit", 20, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    loaded = load_scenes(scenes)
    written = json.loads((tmp_path / "check.json").read_text(encoding="utf-8"))
    lines = done.stdout.splitlines()
    assert lines[0] == loaded.summary()
    assert [line.split(":")[0] for line in lines[1:]] == [
        "check",
        "json",
        "training",
        "objective",
        "written",
        "cross-validation",
    ]
    assert json.loads(lines[2].removeprefix("json: ")) == written["expr"]
    assert lines[3] == "training: 24 of 24 right"
    assert lines[5] == "written: check.json"
    assert lines[6].startswith("cross-validation: ")
    assert " of 24 right in 5 folds (accuracy " in lines[6]
    for scene, label in zip(loaded.scenes, loaded.labels, strict=True):
        assert run_check(scene, written).passed == (label == "pass")
    result = learn_check(loaded.scenes, loaded.require_labels(), ids=loaded.ids, random_state=0)
    assert export_check(result.to_check()) == (tmp_path / "check.json").read_text(encoding="utf-8")
    assert sorted(os.listdir(tmp_path)) == ["check.json", "orders.jsonl"]


def test_json_has_everything_in_one_object(scenes: Path, tmp_path: Path) -> None:
    unseen = write(tmp_path / "unseen.jsonl", orders(30, seed=1))
    done = induce(
        "learn",
        scenes,
        "--test",
        unseen,
        "--folds",
        3,
        "--json",
        "--id",
        "x",
        "-o",
        "c.json",
        folder=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert report["result"]["check"] == json.loads((tmp_path / "c.json").read_text())["expr"]
    assert report["written"] == "c.json"
    assert report["result"]["optimal"] is True
    assert report["result"]["data_hash"] == load_scenes(scenes).digest()
    check = report["result"]["check"]
    wrong = [
        r["id"] for r in orders(30, seed=1) if run_check(r["scene"], check).passed != (r["label"] == "pass")
    ]
    assert report["test"]["wrong"] == wrong
    assert report["test"]["right"] == 30 - len(wrong)
    assert report["cross_validation"]["folds"] == 3
    assert len(report["cross_validation"]["checks"]) == 3


def test_the_same_check_for_any_hash_seed_and_order(tmp_path: Path) -> None:
    records = orders(24)
    records[3]["label"] = "pass" if records[3]["label"] == "fail" else "fail"
    written = set()
    for seed in (0, 1):
        write(tmp_path / "s.jsonl", random.Random(seed).sample(records, len(records)))
        done = induce(
            "learn", "s.jsonl", "-o", "c.json", "--no-cv", "--json", folder=tmp_path, PYTHONHASHSEED=str(seed)
        )
        assert done.returncode == 0
        written.add((tmp_path / "c.json").read_bytes())
    assert len(written) == 1


def test_formats_and_folders_teach_the_same(tmp_path: Path) -> None:
    flat = [
        {"id": f"r{n}", "label": n <= 5, "scene": {"size": {"cm": n * 10}, "kind": "ab"[n % 2]}}
        for n in range(10)
    ]
    write(tmp_path / "s.jsonl", flat)
    rows = [f"{r['id']},{r['label']},{r['scene']['size']['cm']},{r['scene']['kind']}" for r in flat]  # type: ignore[index]
    (tmp_path / "s.txt").write_text("\n".join(["id,verdict,size.cm,kind", *rows]))
    for name, label in (("good", True), ("bad", False)):
        (tmp_path / name).mkdir()
        for record in flat:
            if record["label"] is label:
                (tmp_path / name / f"{record['id']}.json").write_text(json.dumps(record["scene"]))
    runs = [
        ("s.jsonl",),
        ("s.txt", "--format", "csv", "--label-column", "verdict"),
        ("--pass", "good", "--fail", "bad"),
        ("-",),
    ]
    printed = []
    for arguments in runs:
        stdin = (tmp_path / "s.jsonl").read_bytes() if arguments == ("-",) else None
        done = induce("learn", *arguments, "--no-cv", folder=tmp_path, stdin=stdin)
        assert (done.returncode, done.stderr) == (0, "")
        printed.append(done.stdout)
    assert len(set(printed)) == 1
    assert '"path": "size.cm"' in printed[0]


def test_contradictions_and_notes_are_told(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [
        {"id": f"n{n}", "label": n < 6, "note": "by hand", "scene": {"n": n, "p95.latency": 1}}
        for n in range(12)
    ]
    records.append({"id": "again", "label": 0, "scene": {"n": 2.0, "p95.latency": 1}})
    done = induce("learn", write(tmp_path / "s.jsonl", records), folder=tmp_path)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        "13 scenes: 6 pass, 7 fail",
        "contradiction: the same scene is labelled both pass and fail: again, n2",
    ]
    assert "training: 12 of 13 right; wrong on again" in lines
    assert done.stderr.splitlines() == [
        'induce: note: keys beside id, label, scene and weight were ignored: "note"',
        (
            "induce: note: no check speaks of these keys, which a path cannot address or which lie too deep: "
            '"p95.latency"'
        ),
    ]


def test_too_few_scenes_for_folds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "s.jsonl", [{"label": n < 3, "scene": {"n": n}} for n in range(7)])
    assert main(["learn", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "cross-validation: none; 3 different pass scenes are too few for 5 folds (--folds K or --test FILE)"
    )
    assert main(["learn", str(path), "--folds", "4"]) == 2
    assert capsys.readouterr().err == (
        "induce: cannot make 4 folds: at least 2 are needed, and at least as many different scenes "
        "of each label as folds; there are 3 pass and 4 fail\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learn"], "give SCENES or the folders --pass DIR and --fail DIR, one of the two"),
        (
            ["learn", "s.jsonl", "--fail", "x"],
            "give SCENES or the folders --pass DIR and --fail DIR, one of the two",
        ),
        (["learn", "none.jsonl"], "none.jsonl: cannot be read: no such file or directory"),
        (
            ["learn", "bad.jsonl"],
            "bad.jsonl:2: $.scene.a: NaN is not JSON; leave the key out or write null (column 29)",
        ),
        (
            ["learn", "open.jsonl"],
            'open.jsonl:2: no label; learning needs "pass" or "fail" for every scene (2 scenes: 1 pass',
        ),
        (
            ["learn", "s.jsonl", "--test", "open.jsonl"],
            'open.jsonl:2: no label; learning needs "pass" or "fail"',
        ),
        (["learn", "one.jsonl"], "all scenes are labelled pass"),
        (["learn", "s.jsonl", "--grammar", "g.json"], "g.json: grammar: "),
        (
            ["learn", "s.jsonl", "--grammar", "s.jsonl"],
            "s.jsonl:2: not JSON, expected nothing after the value",
        ),
        (["learn", "s.jsonl", "--engine", "magic"], "engine: expected auto, enumerate or asp, got 'magic'"),
        (
            ["learn", "s.jsonl", "--penalty", "high"],
            "--penalty: expected \"auto\" or a number of bits but found 'high'",
        ),
        (["learn", "s.jsonl", "--time-limit", "0"], "time_limit: expected a positive number of seconds"),
        (["learn", "s.jsonl", "--folds", "1"], "cannot make 1 folds: at least 2 are needed"),
        (["learn", "s.jsonl", "--folds", "2", "--no-cv"], "--folds and --no-cv exclude each other"),
        (["learn", "s.jsonl", "--format", "jsnl"], 'unknown format "jsnl"; did you mean "jsonl"?'),
        (["learn", "s.jsonl", "--output", "no/c.json"], "no/c.json: the folder "),
        (["learn", "s.jsonl", "--output", "."], ".: is a folder; name a file"),
        (["learn", "s.jsonl", "--output", "-"], "-o - would be a file of that name"),
        (["learn", "s.jsonl", "--max-term", "3"], "No such option: --max-term (Possible options: "),
        (["learn", "s.jsonl", "--max-terms", "few"], "Invalid value for '--max-terms': "),
        (["lern", "s.jsonl"], "No such command 'lern'. Did you mean 'learn'? (see induce --help)"),
        ([], "Missing command (see induce --help)"),
    ],
)
def test_unusable_input_is_one_sentence_and_exit_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "s.jsonl", orders(10))
    (tmp_path / "bad.jsonl").write_text('{"label": 1, "scene": {}}\n{"label": 0, "scene": {"a": NaN}}')
    write(tmp_path / "open.jsonl", [{"label": 1, "scene": {"a": 1}}, {"scene": {"a": 2}}])
    write(tmp_path / "one.jsonl", [{"label": 1, "scene": {"a": 1}}])
    (tmp_path / "g.json").write_text('{"operatorz": ["eq"]}')
    before = sorted(os.listdir(tmp_path))
    assert main(arguments) == 2
    stderr = capsys.readouterr().err
    assert stderr.startswith(f"induce: {message}")
    assert stderr.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == before


def test_nothing_is_written_when_learning_fails(tmp_path: Path) -> None:
    (tmp_path / "check.json").write_text("old")
    write(tmp_path / "one.jsonl", [{"label": 0, "scene": {"a": n}} for n in range(3)])
    done = induce("learn", "one.jsonl", "-o", "check.json", folder=tmp_path)
    assert done.returncode == 2
    assert (tmp_path / "check.json").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["check.json", "one.jsonl"]


def test_text_is_utf8_and_plain_whatever_the_locale(tmp_path: Path) -> None:
    records = [
        {"id": f"[bold]ü{n}", "label": n < 6, "scene": {"größe [x]": n, "ort": "東京🙂"[n % 3]}}
        for n in range(12)
    ]
    path = write(tmp_path / "szene [red].jsonl", records)
    command = ("learn", path, "-o", "prüf [x].json", "--no-cv")
    printed = {
        induce(*command, folder=tmp_path, LC_ALL="C", PYTHONIOENCODING="ascii").stdout,
        induce(*command, folder=tmp_path, PYTHONUTF8="1").stdout,
    }
    assert len(printed) == 1
    assert "written: prüf [x].json" in printed.pop()
    (tmp_path / "größe [x].jsonl").write_text("{")
    done = induce("learn", "größe [x].jsonl", folder=tmp_path, LC_ALL="C", PYTHONIOENCODING="ascii")
    assert done.stderr.startswith("induce: größe [x].jsonl:1: not JSON, ")


def test_a_reader_that_leaves_is_no_error(scenes: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "induce", "learn", str(scenes), "-o", "check.json", "--no-cv"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=30) == 141
    assert process.stderr.read() == b""
    assert json.loads((tmp_path / "check.json").read_text())["id"] == "induced"


def test_progress_is_one_line_that_goes(scenes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for option, told in (([], True), (["--no-progress"], False), (["--quiet", "--json"], False)):
        shown = io.StringIO()
        monkeypatch.setattr(shown, "isatty", lambda: True)
        monkeypatch.setattr(sys, "stderr", shown)
        assert main(["learn", str(scenes), "--no-cv", *option]) == 0
        text = shown.getvalue()
        assert (" atoms, best " in text) is told
        assert text == "" or text.endswith("\x1b[2K")


def test_progress_in_a_file_is_plain_lines(scenes: Path, tmp_path: Path) -> None:
    done = induce("learn", scenes, "--no-cv", "--progress", folder=tmp_path)
    lines = done.stderr.splitlines()
    assert lines[0].startswith("induce: reading scenes, ")
    assert any(line.startswith("induce: proving: ") and " atoms, best " in line for line in lines)
    assert "\x1b" not in done.stderr
    assert induce("learn", scenes, "--no-cv", folder=tmp_path).stderr == ""


def test_quiet_writes_and_says_nothing(scenes: Path, tmp_path: Path) -> None:
    done = induce("learn", scenes, "--quiet", "-o", "check.json", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads((tmp_path / "check.json").read_text())["id"] == "induced"
    idle = induce("learn", scenes, "--quiet", folder=tmp_path)
    assert (idle.returncode, idle.stdout) == (2, "")
    assert idle.stderr.startswith("induce: --quiet would leave nothing to see")


def test_jobs_change_nothing(scenes: Path, tmp_path: Path) -> None:
    outputs = {
        induce("learn", scenes, "--folds", 3, "--jobs", jobs, folder=tmp_path).stdout for jobs in (1, 2)
    }
    assert len(outputs) == 1
    assert " right in 3 folds" in outputs.pop()
    assert induce("learn", scenes, "--jobs", 0, folder=tmp_path).returncode == 2


def test_help_and_version(tmp_path: Path) -> None:
    done = induce("learn", "--help", folder=tmp_path)
    assert done.returncode == 0
    for option in (
        "--pass",
        "--fail",
        "-o",
        "--grammar",
        "--time-limit",
        "--work-limit",
        "--test",
        "--folds",
        "--json",
    ):
        assert option in done.stdout
    assert induce("--version", folder=tmp_path).stdout.startswith("induce ")


def test_start_imports_nothing_slow() -> None:
    """scikit-learn and MLflow take over a second each."""
    slow = ["sklearn", "mlflow", "pandas", "pyarrow", "joblib", "rich", "scipy"]
    code = (
        "import sys, contextlib, io\n"
        "from induce.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()): status = main(['learn', '--help'])\n"
        f"print(status, sorted(set({slow!r}) & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "0 []\n"

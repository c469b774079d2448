"""`evaluator check` as users run it: a process, its output, its exit status."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from evaluator import run_check
from evaluator.cli import main

ROOT = Path(__file__).parents[2]
CHECK = {"op": "lte", "path": "total", "value": 500}
COMMAND = [sys.executable, "-m", "evaluator"]


def environment(**more: str) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "LANG"))
    }
    return kept | {"PYTHONPATH": str(ROOT)} | more


def run(
    *args: Any, stdin: bytes = b"", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    command = [*COMMAND, *map(str, args)]
    return subprocess.run(
        command, input=stdin, capture_output=True, env=environment(**(env or {})), timeout=60, check=False
    )


@pytest.fixture
def check(tmp_path: Path) -> Path:
    return write(tmp_path / "check.json", json.dumps(CHECK))


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def verdicts(output: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.decode().splitlines()]


def test_one_verdict_a_line_in_order_and_a_summary_on_stderr(tmp_path: Path, check: Path) -> None:
    scenes = write(tmp_path / "s.jsonl", '{"total": 499}\n\n{"total": 540.5}\r\n{"t": "é"}')
    ran = run("check", check, scenes)
    assert ran.returncode == 1
    assert verdicts(ran.stdout) == [
        {"id": 1, "pass": True, "gap": 0, "why": "total = 499 ≤ 500"},
        {"id": 3, "pass": False, "gap": 40.5, "why": "total: expected ≤ 500, got 540.5 (over by 40.5)"},
        {"id": 4, "pass": False, "gap": 1, "why": "total: expected number ≤ 500, got undefined"},
    ]
    assert ran.stderr.decode() == "3 scenes: 1 pass, 2 fail\n"


def test_the_exit_status_is_zero_when_all_pass(tmp_path: Path, check: Path) -> None:
    ran = run("check", check, write(tmp_path / "s.jsonl", '{"total": 1}\n'))
    assert (ran.returncode, ran.stderr.decode()) == (0, "1 scene: 1 pass, 0 fail\n")


def test_labelled_lines_are_unwrapped_unless_raw(tmp_path: Path, check: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"id": "a17", "label": "pass", "scene": {"total": 1}},
        {"label": "fail", "scene": {"total": 501}},
        {"id": 7, "scene": {"total": 2}},
        {"id": None, "scene": {"total": 3}},
        {"scene": {"total": 4}, "total": 5},
        {"id": "bare", "total": 6},
    ]
    scenes = write(tmp_path / "s.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    ran = run("check", check, scenes)
    found = [(verdict["id"], verdict["why"]) for verdict in verdicts(ran.stdout)]
    assert found == [
        ("a17", "total = 1 ≤ 500"),
        (2, "total: expected ≤ 500, got 501 (over by 1)"),
        (7, "total = 2 ≤ 500"),
        (4, "total = 3 ≤ 500"),
        (5, "total = 5 ≤ 500"),
        (6, "total = 6 ≤ 500"),
    ]
    raw = verdicts(run("check", check, scenes, "--raw").stdout)
    assert [verdict["id"] for verdict in raw] == [1, 2, 3, 4, 5, 6]
    assert [verdict["pass"] for verdict in raw] == [False, False, False, False, True, True]


def test_scenes_come_from_standard_input_and_checks_may_be_defined(tmp_path: Path) -> None:
    check = write(
        tmp_path / "c.json",
        b"\xef\xbb\xbf" + json.dumps({"id": "c", "expr": {"op": "or", "of": []}}).encode(),
    )
    ran = run("check", check, "-", stdin=b'\xef\xbb\xbf{"a": 1}\n5')
    assert ran.returncode == 1
    assert verdicts(ran.stdout)[1] == {
        "id": 2,
        "pass": False,
        "gap": "Infinity",
        "why": "none of 0 branches satisfied",
    }


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C"},
        {"PYTHONIOENCODING": "ascii:strict"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_output_is_utf8_whatever_the_locale(tmp_path: Path, env: dict[str, str]) -> None:
    check = write(tmp_path / "prüfung.json", json.dumps({"op": "eq", "path": "ключ", "value": "x"}))
    scene = {"ключ": "x" * 55 + "🙂🙂"}
    ran = run("check", check, "-", stdin=json.dumps(scene).encode(), env=env)
    assert ran.returncode == 1
    assert verdicts(ran.stdout)[0]["why"] == run_check(scene, {"op": "eq", "path": "ключ", "value": "x"}).why
    failed = run("check", check, tmp_path / "нет.jsonl", env=env)
    assert failed.returncode == 2
    assert ".jsonl: no such file or directory\n" in failed.stderr.decode()


BAD_SCENES = [
    (b"", "no scenes; one JSON value a line is expected"),
    (b"\n  \n", "no scenes"),
    (b'{"total": 1}\n{"total": \n', "s.jsonl:2:11: not JSON"),
    (b'{"total": 1}\n{"total": NaN}\n', "s.jsonl:2: $.total: NaN is no JSON number"),
    (b'[{"a b": Infinity}]', 's.jsonl:1: $[0]["a b"]: a number is Infinity'),
    (b'{"total": 1e400}', "s.jsonl:1: $.total: a number is Infinity, or too large"),
    (b'{"total": "\\ud83d"}', "s.jsonl:1: $.total: the text"),
    (b'{"total": 1, "total": 2}', 's.jsonl:1: the key "total" stands twice'),
    (b'{"total": "\xff"}', "s.jsonl:1: not UTF-8"),
    (
        gzip.compress(b'{"total": 1}', mtime=0),
        "s.jsonl:1: compressed with gzip; unpack it first (gzip -dc < FILE)\n",
    ),
    ('{"total": 1}'.encode("utf-16"), "s.jsonl:1: not UTF-8 but UTF-16"),
    (b"[\n  1\n]\n", "every line is one whole JSON value"),
    (b"[" * 5000 + b"]" * 5000, "s.jsonl:1: nested too deeply"),
    (b"1" * 5000, "s.jsonl:1: a whole number has too many digits"),
]


@pytest.mark.parametrize(("text", "said"), BAD_SCENES)
def test_unusable_scenes_are_named_by_file_line_and_place(
    tmp_path: Path, check: Path, capsys: pytest.CaptureFixture[str], text: bytes, said: str
) -> None:
    assert main(["check", str(check), str(write(tmp_path / "s.jsonl", text))]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.startswith(f"evaluator check: {tmp_path}")
    assert error.count("\n") == 1


BAD_CHECKS = [
    (b"", "the file is empty"),
    (b'{"op": "eq"\n "path": "a"}', "c.json:2:2: not JSON"),
    (b'{"op": "eqq", "path": "a"}', 'c.json: $.op: unknown operator "eqq"; did you mean "eq"?'),
    (b'{"id": "c", "expr": {"op": "not", "of": {"op": "exists"}}}', "c.json: $.expr.of.path:"),
    (b'{"op": "lte", "path": "a", "value": 1e400}', "c.json: $.value: a number is Infinity"),
    (b'{"op": "eq", "op": "neq"}', 'c.json: the key "op" stands twice'),
    (b"\xff\xfe{\x00}\x00", "c.json:1: not UTF-8"),
    (
        gzip.compress(b'{"op": "exists", "path": "a"}', mtime=0),
        "c.json: compressed with gzip; unpack it first",
    ),
    (b"[1]", "c.json: $: expected a check"),
]


@pytest.mark.parametrize(("text", "said"), BAD_CHECKS)
def test_an_unusable_check_is_named_by_file_and_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: bytes, said: str
) -> None:
    scenes = write(tmp_path / "s.jsonl", b"{}")
    assert main(["check", str(write(tmp_path / "c.json", text)), str(scenes)]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""


def test_files_that_are_not_there_or_no_files(tmp_path: Path, check: Path) -> None:
    for args in ((tmp_path / "nope.json", check), (check, tmp_path / "nope.jsonl")):
        ran = run("check", *args)
        assert (ran.returncode, ran.stdout) == (2, b"")
        assert b"nope.json" in ran.stderr
        assert b"no such file or directory" in ran.stderr
    for args in ((tmp_path, check), (check, tmp_path)):
        ran = run("check", *args)
        assert ran.returncode == 2
        assert b"is a folder" in ran.stderr


@pytest.mark.parametrize(
    "args", [[], ["chek"], ["check"], ["check", "c.json"], ["check", "a", "b", "--format", "xml"]]
)
def test_wrong_usage_exits_with_two(args: list[str]) -> None:
    ran = run(*args)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert b"usage: evaluator" in ran.stderr
    assert b"Traceback" not in ran.stderr


def test_help_and_version() -> None:
    assert run("--version").stdout.startswith(b"evaluator ")
    assert b"check" in run("--help").stdout
    told = run("check", "--help").stdout.decode()
    for word in ("CHECK.json", "SCENES.jsonl", "--raw", "--format", "exit status", "Infinity"):
        assert word in told


def test_a_table_when_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check = write(tmp_path / "c.json", json.dumps({"op": "exists", "path": "a[id=7]"}))
    scenes = write(tmp_path / "s.jsonl", '{"id": "[red]x\\u001b[31m", "scene": {"a": [{"id": 7}]}}\n{}\n')
    assert main(["check", str(check), str(scenes), "--format", "table"]) == 1
    out = capsys.readouterr().out
    assert "a[id=7] present" in out
    assert "[red]x\\x1b[31m" in out
    assert "\x1b[31m" not in out
    assert "FAIL" in out


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")
def test_a_table_on_a_terminal(tmp_path: Path, check: Path) -> None:
    leader, follower = os.openpty()
    scenes = write(tmp_path / "s.jsonl", '{"total": 1}\n')
    with subprocess.Popen([*COMMAND, "check", check, scenes], stdout=follower, env=environment()) as process:
        process.wait(timeout=60)
    os.close(follower)
    shown = os.read(leader, 100_000).decode()
    os.close(leader)
    assert "total = 1 ≤ 500" in shown
    assert "│" in shown
    assert '"pass"' not in shown


def test_a_reader_that_goes_away_is_no_error(check: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "check", check, "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b'{"total": 1}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["pass"] is True  # while more scenes may still come
        process.stdout.close()
        try:
            process.stdin.write(b'{"total": 1}\n' * 1000)
            process.stdin.close()
        except BrokenPipeError:
            pass
        assert process.wait(timeout=60) == 141
        assert process.stderr.read() == b""


@pytest.mark.skipif(os.name != "posix", reason="interrupts are sent as POSIX signals")
def test_an_interrupt_is_quiet(check: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "check", check, "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b'{"total": 1}\n')
        process.stdin.flush()
        process.stdout.readline()
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_that_cannot_be_written_is_reported(tmp_path: Path, check: Path) -> None:
    scenes = write(tmp_path / "s.jsonl", '{"total": 1}\n')
    with Path("/dev/full").open("wb") as full:
        command = [*COMMAND, "check", str(check), str(scenes)]
        ran = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, env=environment(), timeout=60, check=False
        )
    assert ran.returncode == 2
    assert b"the output cannot be written: No space left on device" in ran.stderr
    assert b"Traceback" not in ran.stderr


def test_scenes_do_not_pile_up_in_memory(tmp_path: Path, check: Path) -> None:
    scenes = tmp_path / "s.jsonl"
    with scenes.open("w") as lines:
        for number in range(4_000):
            lines.write(json.dumps({"total": number, "padding": "x" * 1_000}) + "\n")
    script = (
        "import sys, tracemalloc; from evaluator.cli import main; import evaluator.commands.check;"
        "tracemalloc.start();"
        "status = main(sys.argv[1:]);"
        "print(tracemalloc.get_traced_memory()[1], file=sys.stderr); sys.exit(status)"
    )
    command = [sys.executable, "-c", script, "check", str(check), str(scenes)]
    ran = subprocess.run(command, capture_output=True, env=environment(), timeout=60, check=False)
    assert ran.returncode == 1
    summary, peak = ran.stderr.decode().splitlines()
    assert summary == "4000 scenes: 501 pass, 3499 fail"
    assert int(peak) < scenes.stat().st_size / 4

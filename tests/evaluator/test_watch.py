"""`evaluator watch`: a growing file is followed through rotation and truncation; only flips are printed."""

from __future__ import annotations

import gzip
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli import main
from evaluator.follow import follow_lines

ROOT = Path(__file__).parents[2]


class Watched:
    """A running `evaluator watch`; `next_line` waits for a line of its output."""

    def __init__(self, folder: Path, *args: str) -> None:
        (folder / "check.json").write_text('{"op": "lte", "path": "x", "value": 5}')
        command = [sys.executable, "-m", "evaluator", "watch", "check.json", "s.jsonl", *args]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        self.out: queue.Queue[str] = queue.Queue()
        self.err: queue.Queue[str] = queue.Queue()
        for stream, lines in ((self.process.stdout, self.out), (self.process.stderr, self.err)):
            threading.Thread(target=self._collect, args=(stream, lines), daemon=True).start()

    @staticmethod
    def _collect(stream: Any, lines: queue.Queue[str]) -> None:
        for line in stream:
            lines.put(line.rstrip("\n"))

    def flip(self) -> tuple[Any, bool, float]:
        told = json.loads(self.out.get(timeout=30))
        return told["id"], told["pass"], told["gap"]

    def complaint(self) -> str:
        return self.err.get(timeout=30)


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    return append(tmp_path / "s.jsonl", 1, 2)


def append(path: Path, *values: object) -> Path:
    with path.open("a") as file:
        file.writelines(json.dumps({"x": value}) + "\n" for value in values)
    return path


@pytest.fixture
def watched(scenes: Path) -> Iterator[Watched]:
    running = Watched(scenes.parent, "--first", "--interval", "0.02")
    yield running
    if running.process.poll() is None:
        running.process.kill()
    running.process.wait()


def test_only_flips_are_printed_while_the_file_grows_rotates_and_shrinks(
    scenes: Path, watched: Watched
) -> None:
    assert watched.flip() == (1, True, 0)
    append(scenes, 3, 7, 8)
    assert watched.flip() == (4, False, 2)

    with scenes.open("a") as file:
        file.write('{"x": ')
        file.flush()
        file.write("not json}\n")
    assert "s.jsonl:6:" in watched.complaint()
    append(scenes, 9, 5)
    assert watched.flip() == (8, True, 0)

    scenes.rename(scenes.with_suffix(".1"))
    append(scenes.with_suffix(".1"), 10)  # still written to for a moment
    append(scenes, 2)
    assert watched.flip() == (9, False, 5)
    assert watched.complaint() == "evaluator watch: s.jsonl: replaced, reading it from its start"
    assert watched.flip() == (1, True, 0)

    append(scenes, 1, 1, 1)
    scenes.write_text('{"x": 6}\n')
    assert watched.complaint() == "evaluator watch: s.jsonl: truncated, reading it from its start"
    assert watched.flip() == (1, False, 1)

    watched.process.send_signal(signal.SIGINT)
    assert watched.process.wait(timeout=30) == 130
    assert watched.out.empty()
    assert watched.err.empty()


def run(folder: Path, *args: str) -> int:
    return main(["watch", str(folder / "check.json"), str(folder / "s.jsonl"), "--once", *args])


def test_once_reads_to_the_end_with_windows_over_the_scenes_own_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "check.json").write_text('{"op": "lte", "path": "x", "value": 5}')
    lines = [(0, 1), (10, 9), (12, 1), (40, 1), (43, 1), (41, 1), (None, 1), (80, 8)]
    (tmp_path / "s.jsonl").write_text("\n".join(json.dumps({"t": t, "x": x}) for t, x in lines))
    assert run(tmp_path, "--window", "30", "--time", "t", "--format", "text") == 1
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        "line 2: FAIL by 4: now: x: expected ≤ 5, got 9 (over by 4)",
        "line 5: pass: now: x = 1 ≤ 5",
        "line 8: FAIL by 3: now: x: expected ≤ 5, got 8 (over by 3)",
    ]
    backwards, null = captured.err.splitlines()
    times = "this tick is at 41 s, the one before at 43 s"
    assert backwards.endswith(f"s.jsonl:6: at: time went backwards: {times}; the line is skipped")
    assert null.endswith("s.jsonl:7: t: expected a time in seconds, got null; the line is skipped")
    assert run(tmp_path, "--window", "90", "--time", "t", "--eventually") == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--eventually"], "add --window"),
        (["--window", "0"], "--window: a window opens before it closes"),
        (["--window", "nan"], "--window: expected a finite number"),
        (["--time", "a[["], "--time: "),
        (["--interval", "0"], "--interval: expected seconds"),
    ],
)
def test_options_that_make_no_sense(
    tmp_path: Path, scenes: Path, capsys: pytest.CaptureFixture[str], args: list[str], said: str
) -> None:
    (scenes.parent / "check.json").write_text('{"op": "exists", "path": "x"}')
    assert run(tmp_path, *args) == 2
    assert said in capsys.readouterr().err


def test_a_file_that_is_not_there_and_standard_input(tmp_path: Path) -> None:
    (tmp_path / "check.json").write_text('{"op": "lte", "path": "x", "value": 5}')
    command = [sys.executable, "-m", "evaluator", "watch", "check.json"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [*command, "no.jsonl"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (2, "evaluator watch: no.jsonl: no such file or directory\n")
    piped = b'{"id": "a", "scene": {"x": 1}}\n{"id": "b", "scene": {"x": 9}}\n'
    fed = subprocess.run(
        [*command, "-"], cwd=tmp_path, env=env, capture_output=True, input=piped, check=False
    )
    assert fed.returncode == 1
    assert [json.loads(line)["id"] for line in fed.stdout.splitlines()] == ["b"]


def test_following_waits_for_whole_lines_and_for_a_name_that_is_gone(tmp_path: Path) -> None:
    """Each sleep of the follower is a move of the writer, so nothing depends on time."""
    path = tmp_path / "log"
    path.write_bytes(b"one\ntw")

    def write(data: bytes) -> None:
        with path.open("ab") as file:
            file.write(data)

    def rewrite_longer() -> None:
        path.write_bytes(b"eleven\ntwelve\nthirteen\n")

    moves = [
        lambda: write(b"o\nthr"),
        lambda: write(b"ee"),
        lambda: path.rename(tmp_path / "log.1"),
        lambda: None,
        lambda: path.write_bytes(b"four\n"),
        lambda: path.write_bytes(b""),
        lambda: write(b"5\n"),
        rewrite_longer,
    ]

    def sleep(_seconds: float) -> None:
        if not moves:
            raise EOFError
        moves.pop(0)()

    seen: list[tuple[int, bytes]] = []

    def collect() -> None:
        for line in follow_lines(
            str(path), sleep=sleep, on_restart=lambda what: seen.append((0, what.encode()))
        ):
            seen.append(tuple(line))

    with pytest.raises(EOFError):
        collect()
    assert seen == [
        (1, b"one"),
        (2, b"two"),
        (3, b"three"),
        (0, b"replaced"),
        (1, b"four"),
        (0, b"truncated"),
        (1, b"5"),
        (0, b"truncated"),
        (1, b"eleven"),
        (2, b"twelve"),
        (3, b"thirteen"),
    ]


def test_a_file_without_a_scene_has_no_verdict(tmp_path: Path) -> None:
    check, empty = tmp_path / "check.json", tmp_path / "empty.jsonl"
    check.write_text('{"op": "exists", "path": "a"}', encoding="utf-8")
    empty.write_text("", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "evaluator", "watch", str(check), str(empty), "--once"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "no scene was read" in done.stderr


def test_a_packed_file_is_read_to_its_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "check.json").write_text('{"op": "lte", "path": "x", "value": 5}')
    with gzip.open(tmp_path / "s.jsonl.gz", "wb") as packed:
        packed.write(b'{"x": 1}\n{"x": 9}\n{"x": 2}\n')
    assert main(["watch", str(tmp_path / "check.json"), str(tmp_path / "s.jsonl.gz")]) == 0
    assert [json.loads(line)["pass"] for line in capsys.readouterr().out.splitlines()] == [False, True]
    (tmp_path / "cut.jsonl.gz").write_bytes((tmp_path / "s.jsonl.gz").read_bytes()[:-9])
    assert main(["watch", str(tmp_path / "check.json"), str(tmp_path / "cut.jsonl.gz")]) == 2
    assert "the compressed file is cut off" in capsys.readouterr().err


def test_control_characters_of_a_name_are_shown_as_escapes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "check.json").write_text('{"op": "lte", "path": "x", "value": 5}')
    name = str(tmp_path / "red\x1b[31m.jsonl")
    for command in ("watch", "check", "replay", "diff"):
        more = [str(tmp_path / "check.json")] if command == "diff" else []
        assert main([command, str(tmp_path / "check.json"), *more, name]) == 2
        assert "red\\x1b[31m.jsonl: " in capsys.readouterr().err
    Path(name).write_text("{\n")
    assert main(["watch", str(tmp_path / "check.json"), name, "--once"]) == 2
    assert "\x1b" not in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["check", "\x1b[31m", "b", "--\x1b"])
    assert "\x1b" not in capsys.readouterr().err

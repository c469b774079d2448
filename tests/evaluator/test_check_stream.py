"""`evaluator check` on long, packed and slow input: the same output in any number of processes."""

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
from xml.etree import ElementTree

import pytest

from evaluator import scene_lines
from evaluator.cli import main
from evaluator.parallel import LostProcessError, in_order

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "evaluator", "check"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def run(*args: Any, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [*COMMAND, *map(str, args)]
    return subprocess.run(command, input=stdin, capture_output=True, env=ENVIRONMENT, timeout=60, check=False)


@pytest.fixture
def check(tmp_path: Path) -> Path:
    path = tmp_path / "check.json"
    path.write_text(json.dumps({"op": "lte", "path": "total", "value": 500}))
    return path


def scenes(number: int) -> bytes:
    lines = (
        json.dumps({"id": f"s{index}", "scene": {"total": index * 7 % 1000, "é": "🙂"}})
        for index in range(number)
    )
    return "\n".join(lines).encode() + b"\n"


@pytest.mark.parametrize(("form", "jobs"), [("jsonl", "2"), ("junit", "3"), ("table", "2")])
def test_output_is_the_same_in_any_number_of_processes(
    tmp_path: Path, check: Path, form: str, jobs: str
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(scenes(1_600))
    alone = run(check, path, "--format", form)
    several = run(check, path, "--format", form, "--jobs", jobs)
    assert alone.returncode == 1
    assert several.returncode == 1
    assert (several.stdout, several.stderr) == (alone.stdout, alone.stderr)
    passing = sum(index * 7 % 1000 <= 500 for index in range(1_600))
    assert alone.stderr.decode() == f"1600 scenes: {passing} pass, {1_600 - passing} fail\n"


def test_a_fault_far_down_stops_after_the_verdicts_before_it(tmp_path: Path, check: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(scenes(1_234) + b"{broken\n" + scenes(3_000))
    alone, several = run(check, path), run(check, path, "--jobs", "2")
    assert alone.returncode == several.returncode == 2
    assert len(alone.stdout.splitlines()) == 1_234
    assert alone.stdout == several.stdout
    assert b"s.jsonl:1235:2: not JSON" in alone.stderr
    assert alone.stderr == several.stderr


def test_a_report_is_written_whole_or_not_at_all(tmp_path: Path, check: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(scenes(3) + b"{broken\n")
    ran = run(check, path, "--format", "junit")
    assert (ran.returncode, ran.stdout) == (2, b"")


def test_junit_names_scenes_and_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check, path = tmp_path / "c.json", tmp_path / "s.jsonl"
    check.write_text(json.dumps({"id": "cheap", "expr": {"op": "eq", "path": "t", "value": "<&\"'>"}}))
    path.write_text('{"id": "a & b", "scene": {"t": "\\u0001]]>"}}\n{"t": "<&\\"\'>"}\n')
    assert main(["check", str(check), str(path), "--format", "junit"]) == 1
    suites = ElementTree.fromstring(capsys.readouterr().out)
    assert suites.attrib["tests"] == "2"
    assert suites.attrib["failures"] == "1"
    (suite,) = suites
    assert suite.attrib["name"] == "cheap"
    failed, passed = suite.findall("testcase")
    assert (failed.attrib["name"], passed.attrib["name"]) == ("a & b", "2")
    (failure,) = failed
    assert failure.attrib["type"] == "gap 1"
    assert failure.attrib["message"].startswith('t: expected "<&\\"\'>", got ')
    assert len(passed) == 0


def test_packed_files_are_read(tmp_path: Path, check: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain, gz = tmp_path / "s.jsonl", tmp_path / "s.jsonl.gz"
    plain.write_bytes(b"\xef\xbb\xbf" + scenes(200))
    gz.write_bytes(gzip.compress(plain.read_bytes()))
    main(["check", str(check), str(plain)])
    expected = capsys.readouterr().out
    assert main(["check", str(check), str(gz)]) == 1
    assert capsys.readouterr().out == expected

    zstd = pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    zst = tmp_path / "s.jsonl.zst"
    zst.write_bytes(zstd.compress(plain.read_bytes()))
    assert main(["check", str(check), str(zst)]) == 1
    assert capsys.readouterr().out == expected
    for packed, said in ((zst.read_bytes()[:60], "cut off"), (b"{}\n", "damaged")):
        (tmp_path / "bad.zst").write_bytes(packed)
        assert main(["check", str(check), str(tmp_path / "bad.zst")]) == 2
        assert f"bad.zst: the compressed file is {said}" in capsys.readouterr().err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_damaged_packed_files_are_named(
    tmp_path: Path, check: Path, capsys: pytest.CaptureFixture[str], jobs: str
) -> None:
    whole = gzip.compress(scenes(2_000))
    damaged = bytearray(whole)
    damaged[len(damaged) // 2] ^= 0xFF
    for data, said in (
        (whole[: len(whole) // 2], "the compressed file is cut off"),
        (bytes(damaged), ""),
        (b"{}\n", "not a gzipped file"),
        (b"", "no scenes"),
    ):
        path = tmp_path / "s.gz"
        path.write_bytes(data)
        assert main(["check", str(check), str(path), "--jobs", jobs]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"evaluator check: {path}")
        assert said in error
        assert error.count("\n") == 1


def test_a_missing_unpacker_is_named(
    tmp_path: Path, check: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scene_lines, "_ZSTD_MODULES", ("no.such.module",))
    assert main(["check", str(check), str(tmp_path / "s.zst")]) == 2
    assert "pip install 'check-induction[zst]'" in capsys.readouterr().err


def test_standard_input_may_be_spread_over_processes(check: Path) -> None:
    alone, several = run(check, "-", stdin=scenes(1_500)), run(check, "-", "--jobs", "2", stdin=scenes(1_500))
    assert (alone.returncode, alone.stdout) == (several.returncode, several.stdout)
    assert len(alone.stdout.splitlines()) == 1_500


@pytest.mark.parametrize("jobs", ["0", "-1", "x", "1.5", "9999"])
def test_a_wrong_number_of_jobs_is_refused(
    check: Path, jobs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["check", str(check), "-", "--jobs", jobs])
    assert "a whole number from 1 to" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="interrupts are sent as POSIX signals")
def test_an_interrupt_ends_all_processes_quietly(check: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, check, "-", "--jobs", "2"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(scenes(1_050))  # two batches and a bit, less than a pipe holds
        process.stdin.flush()
        process.stdout.readline()
        time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        assert process.wait(timeout=60) == 130
        process.stdin.close()
        assert process.stderr.read() == b""
        with pytest.raises(ProcessLookupError):  # nobody is left of the group
            os.killpg(process.pid, 0)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")
def test_progress_is_shown_on_a_terminal(check: Path) -> None:
    leader, follower = os.openpty()
    with subprocess.Popen(
        [*COMMAND, check, "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=follower,
        env=ENVIRONMENT,
    ) as process:
        assert process.stdin is not None
        for _ in range(2):
            time.sleep(0.3)
            process.stdin.write(scenes(2))
            process.stdin.flush()
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    os.close(follower)
    shown = b""
    while chunk := _read(leader):
        shown += chunk
    os.close(leader)
    assert b"\r" in shown
    assert b"scenes: " in shown
    assert shown.rstrip().endswith(b"4 scenes: 4 pass, 0 fail")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 10_000)
    except OSError:  # the other end is closed
        return b""


def test_memory_stays_the_same_however_many_scenes_there_are(tmp_path: Path, check: Path) -> None:
    peaks = []
    script = (
        "import sys, tracemalloc; from evaluator.cli import main; tracemalloc.start();"
        "main(sys.argv[1:]); print(tracemalloc.get_traced_memory()[1], file=sys.stderr)"
    )
    for number in (1_500, 12_000):
        path = tmp_path / "s.jsonl.gz"
        path.write_bytes(gzip.compress(scenes(number), compresslevel=1))
        command = [sys.executable, "-c", script, "check", str(check), str(path)]
        ran = subprocess.run(command, capture_output=True, env=ENVIRONMENT, timeout=120, check=True)
        peaks.append(int(ran.stderr.split()[-1]))
    assert peaks[1] < 1.2 * peaks[0]


def test_results_come_in_order_and_the_last_before_an_error() -> None:
    def batches() -> Any:
        for number in range(7):
            yield [number]
        raise ValueError("the stream broke")

    results = in_order(sum, batches(), jobs=3)
    assert [next(results) for _ in range(7)] == list(range(7))
    with pytest.raises(ValueError, match="the stream broke"):
        next(results)
    assert list(in_order(sum, [], jobs=2)) == []


def test_a_process_that_dies_is_noticed() -> None:
    with pytest.raises(LostProcessError):
        list(in_order(_die, [[1], [2], [3]], jobs=2))


def _die(_: list[int]) -> int:
    os._exit(9)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_is_not_evaluated_says_so_and_does_not_pass(tmp_path: Path, jobs: str) -> None:
    cheap, path = tmp_path / "cheap.json", tmp_path / "s.jsonl"
    cheap.write_text('{"op": "constraint.cost_under", "max_cost": 1, "soft": true}')
    path.write_text('{"metadata": {"cost_usd": 1}}\n{"metadata": {"cost_usd": 1.5}}\n{"steps": []}\n')
    ran = run(cheap, path, "--raw", "--jobs", jobs)
    verdicts = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ran.returncode == 1
    assert ran.stderr == b"3 scenes: 1 pass, 2 fail (1 not evaluated)\n"
    assert [(said["pass"], said["gap"], said["status"]) for said in verdicts] == [
        (True, 0, "pass"),
        (False, 0.5, "soft_fail"),
        (False, 1, "not_evaluated"),
    ]
    assert [said.get("reason") for said in verdicts] == [None, None, "missing_evidence"]
    report = run(cheap, path, "--raw", "--jobs", jobs, "--format", "junit").stdout.decode()
    assert 'tests="3" failures="2"' in report
    assert '<failure type="not evaluated" message="cost_under: not evaluated: missing_evidence' in report

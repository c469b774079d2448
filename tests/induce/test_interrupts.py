"""An interrupt while learning: what was found by then is kept, with a bound that holds."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import induce.learn
import induce.progress
from evaluator import run_check
from induce import CheckInducer, InductionResult, Progress, learn_check, objective_of

ROOT = Path(__file__).resolve().parents[2]
JSON = Any


def orders(count: int, flips: int = 0) -> tuple[list[JSON], list[str]]:
    """Orders that pass below a total and with a robot, some labels flipped."""
    draw = random.Random(count)
    scenes: list[JSON] = [
        {
            "total": draw.randrange(1000),
            "lane": draw.choice("abc"),
            "items": [{"kind": draw.choice(["rack", "robot", "belt"])} for _ in range(draw.randint(1, 4))],
        }
        for _ in range(count)
    ]
    good = [s["total"] <= 500 and {"kind": "robot"} in s["items"] for s in scenes]
    labels = ["pass" if label != (n < flips) else "fail" for n, label in enumerate(good)]
    return scenes, labels


def interrupting(turn: int) -> Callable[[Progress], None]:
    """A listener that interrupts at its call number `turn`."""
    heard: list[Progress] = []

    def listen(progress: Progress) -> None:
        heard.append(progress)
        if len(heard) == turn + 1:
            raise KeyboardInterrupt

    return listen


@pytest.mark.parametrize("flips", [0, 2])
def test_whenever_it_comes_the_bound_holds(monkeypatch: pytest.MonkeyPatch, flips: int) -> None:
    monkeypatch.setattr(induce.progress, "BETWEEN", 0.0)
    scenes, labels = orders(30, flips)
    told: list[Progress] = []
    whole = learn_check(scenes, labels, progress=told.append)
    assert whole.optimal
    seen = set()
    for turn in range(0, len(told), max(1, len(told) // 15)):
        progress = told[turn]
        try:
            result = learn_check(scenes, labels, progress=interrupting(turn))
        except KeyboardInterrupt:
            assert progress.best is None
            continue
        seen.add(progress.stage)
        assert result.stopped == "interrupted"
        assert result.lower_bound <= whole.objective <= result.objective
        assert result.optimal == (result.lower_bound == result.objective)
        assert objective_of(result.check, scenes, labels).total == result.objective
        assert progress.best is None or result.objective <= progress.best
        wrong = [
            str(i)
            for i, (scene, label) in enumerate(zip(scenes, labels, strict=True))
            if run_check(scene, result.check).passed != (label == "pass")
        ]
        assert sorted(wrong) == list(result.misclassified)
    assert "proof" in seen


def test_progress_is_in_bits_and_only_gets_better(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(induce.progress, "BETWEEN", 0.0)
    told: list[Progress] = []
    result = learn_check(*orders(30, 1), progress=told.append)
    stages = list(dict.fromkeys(progress.stage for progress in told))
    assert stages == ["scenes", "candidates", "search", "proof"] or stages == [
        "scenes",
        "candidates",
        "proof",
    ]
    best = [progress.best for progress in told if progress.best is not None]
    assert best == sorted(best, reverse=True)
    assert best[-1] == result.objective
    assert all(progress.bound <= result.objective for progress in told)
    assert told[-1].atoms == result.atoms
    assert told[-1].nodes <= result.nodes
    assert [progress.seconds for progress in told] == sorted(progress.seconds for progress in told)


def test_progress_is_told_now_and_then_only() -> None:
    told: list[Progress] = []
    learn_check(*orders(30, 1), progress=told.append)
    changes = sum(a.stage != b.stage for a, b in pairwise(told))
    assert len(told) <= 1 + changes + told[-1].seconds / induce.progress.BETWEEN


def test_an_interrupt_while_grading_is_heeded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    grade, calls = induce.learn._grade, []

    def interrupted(*given: Any) -> Any:
        calls.append(given)
        if len(calls) <= times:
            raise KeyboardInterrupt
        return grade(*given)

    monkeypatch.setattr(induce.learn, "_grade", interrupted)
    times = 1
    result = learn_check(*orders(20))
    assert (result.stopped, result.optimal) == ("interrupted", True)
    calls.clear()
    times = 2
    with pytest.raises(KeyboardInterrupt):
        learn_check(*orders(20))


def test_a_second_interrupt_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    def listen(progress: Progress) -> None:
        if progress.best is not None:
            raise KeyboardInterrupt

    monkeypatch.setattr(induce.learn, "_grade", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learn_check(*orders(30), progress=listen)


def test_fit_keeps_the_best_so_far() -> None:
    def listen(progress: Progress) -> None:
        if progress.best is not None:
            raise KeyboardInterrupt

    scenes, labels = orders(30)
    fitted = CheckInducer(progress=listen).fit(scenes, labels)
    result: InductionResult = fitted.result_
    assert result.stopped == "interrupted"
    assert fitted.score(scenes, labels) == 1 - len(result.misclassified) / 30


def start(tmp_path: Path, *options: str) -> subprocess.Popen[str]:
    """`induce learn` on noise, for as long as one lets it."""
    draw = random.Random(3)
    records = [
        {"label": draw.random() < 0.5, "scene": {f"f{k}": draw.randrange(1000) for k in range(20)}}
        for _ in range(150)
    ]
    path = tmp_path / "noise.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return subprocess.Popen(
        [sys.executable, "-m", "induce", "learn", str(path), "--time-limit", "100", "--progress", *options],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(process: subprocess.Popen[str], text: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"no {text!r} on standard error")


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_the_command_writes_the_best_so_far(tmp_path: Path, sent: signal.Signals) -> None:
    process = start(tmp_path, "-o", "check.json")
    wait_for(process, "proving: ")
    process.send_signal(sent)
    stdout, stderr = process.communicate(timeout=60)
    last = stderr.splitlines()[-1]
    assert process.returncode == 130
    assert last == "induce: interrupted; the check that was written to check.json is the best so far"
    induction = json.loads((tmp_path / "check.json").read_text())["meta"]["induction"]
    assert induction["lower_bound"] < induction["objective"]
    lines = stdout.splitlines()
    assert [line.split(":")[0] for line in lines[1:5]] == ["check", "json", "training", "objective"]
    assert "not proved minimal: nothing is below " in stdout
    assert " bits, and it was interrupted" in stdout
    assert "cross-validation" not in stdout
    assert "Traceback" not in stderr


def test_with_json_the_object_says_that_it_was_interrupted(tmp_path: Path) -> None:
    process = start(tmp_path, "--json")
    wait_for(process, "proving: ")
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(stdout)["result"]["stopped"] == "interrupted"
    assert stderr.splitlines()[-1] == "induce: interrupted; the check is the best so far"


def test_before_anything_is_found_nothing_is_written(tmp_path: Path) -> None:
    process = start(tmp_path, "-o", "check.json")
    wait_for(process, "reading scenes")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr.splitlines()[-1] == "induce: interrupted before a check was ready; nothing was written"
    assert os.listdir(tmp_path) == ["noise.jsonl"]


def test_rules_learnt_before_are_kept(tmp_path: Path) -> None:
    scenes, labels = orders(24)
    draw = random.Random(1)
    records = [
        {"labels": {"a": label, "b": draw.choice(["pass", "fail"]), "c": label}, "scene": scene}
        for scene, label in zip(scenes, labels, strict=True)
    ]
    noise = [
        {"labels": {"b": draw.choice(["pass", "fail"])}, "scene": {f"f{k}": draw.random() for k in range(20)}}
        for _ in range(60)
    ]
    path = tmp_path / "rules.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records + noise))
    process = subprocess.Popen(
        [sys.executable, "-m", "induce", "learn", str(path), "-o", "pack.json", "--progress"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(process, "rule b: proving: ")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr.splitlines()[-1].endswith("is the best so far; rules not learnt: c")
    assert [check["id"] for check in json.loads((tmp_path / "pack.json").read_text())["checks"]] == ["a", "b"]


def test_an_interrupt_within_a_proof_leaves_the_rest_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(induce.progress, "BETWEEN", 0.0)
    draw = random.Random(3)
    scenes = [{f"f{k}": draw.randrange(1000) for k in range(8)} for _ in range(60)]
    labels = [draw.choice(["pass", "fail"]) for _ in scenes]
    proving: list[Progress] = []

    def listen(progress: Progress) -> None:
        if progress.stage == "proof":
            proving.append(progress)
            if len(proving) == 5:
                raise KeyboardInterrupt
            assert progress.nodes < proving[0].nodes + 20_000, "it goes on"

    result = learn_check(scenes, labels, time_limit=3600, progress=listen)
    assert result.stopped == "interrupted"

"""Sweeps as a user runs them: nested runs in one store, stopped and gone on with, alone and side by side."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mlflow_store import Store

Command = Callable[..., Any]
Words = tuple[str, ...]
Start = Callable[..., "subprocess.Popen[str]"]
QUICK = (
    "dataset.rule=inspected",
    "dataset.train=10",
    "dataset.test=10",
    "learner=enumerate",
    "learner.work_limit=300",
)
BARE = ("tracking.model=false", "tracking.report=false")
"""Nothing drawn and no model logged, which other tests look at."""
FOUR = ("-m", "seed=1,2,3,4", *QUICK, *BARE)
PARENT = "mlflow.parentRunId"


@dataclass(frozen=True)
class SweepStore(Store):
    """What the store of a folder says: the runs of sweeps, and those that are nested in them."""

    def parents(self) -> list[Any]:
        return [run for run in self.runs() if PARENT not in run.data.tags]

    def jobs(self) -> list[Any]:
        return [run for run in self.runs() if PARENT in run.data.tags]

    def assert_each_finished_once(self, count: int) -> None:
        (parent,) = self.parents()
        jobs = self.jobs()
        assert parent.info.status == "FINISHED"
        assert parent.data.metrics["finished"] == count
        assert [run.info.status for run in jobs] == ["FINISHED"] * count
        assert {run.data.tags[PARENT] for run in jobs} == {parent.info.run_id}
        assert set(Counter(run.data.tags["config_hash"] for run in jobs).values()) == {1}
        assert len({run.data.tags["config_hash"] for run in jobs}) == count


def finished(folder: Path) -> dict[str, int]:
    """The finished runs of the one sweep in a folder, and when their results were written."""
    return {
        path.parent.name: path.with_name("result.json").stat().st_mtime_ns
        for path in sorted(folder.glob("multirun/*/*/run.json"))
    }


def wait_until(process: subprocess.Popen[str], what: Callable[[], bool], seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.fixture
def start(environment: dict[str, str]) -> Iterator[Start]:
    """``start(folder, *words)`` starts the command in ``folder`` and goes on; it is killed after the test."""
    begun: list[subprocess.Popen[str]] = []

    def run(folder: Path, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "experiments", *words]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True)
        begun.append(process)
        return process

    yield run
    for process in begun:
        process.kill()
        process.communicate()


def test_h12_a_parallel_sweep_in_an_empty_folder(experiments: Command, tmp_path: Path) -> None:
    words = ("hydra/launcher=joblib", "learner=enumerate,asp", "seed=1,2", "tracking.report=false")
    done = experiments(tmp_path, "-m", *words, *(word for word in QUICK if word != "learner=enumerate"))
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mlartifacts", "mlflow.db", "multirun"]
    SweepStore(tmp_path).assert_each_finished_once(4)
    engines = Counter(run.data.params["learner.engine"] for run in SweepStore(tmp_path).jobs())
    assert engines == {"enumerate": 2, "asp": 2}
    lines = sorted(line for line in done.stdout.splitlines() if line.startswith("["))
    assert [line.partition(": ")[0] for line in lines] == [
        "[0] learner=enumerate seed=1",
        "[1] learner=enumerate seed=2",
        "[2] learner=asp seed=1",
        "[3] learner=asp seed=2",
    ]
    assert "sweep: 4 of 4 runs finished" in done.stdout


def assert_gone_on(experiments: Command, folder: Path, words: Words, before: dict[str, int]) -> None:
    """The same command finishes what is left and touches nothing that was finished."""
    done = experiments(folder, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("reused, an earlier call finished it") == len(before)
    assert f"sweep: 4 of 4 runs finished, {len(before)} of them by an earlier call" in done.stdout
    after = finished(folder)
    assert len(after) == 4
    assert {name: after[name] for name in before} == before
    assert not list(folder.rglob("unfinished.json"))


def test_a_killed_sweep_goes_on_where_it_was(experiments: Command, start: Start, tmp_path: Path) -> None:
    words = (*FOUR, "tracking=none")
    killed = start(tmp_path, *words)
    wait_until(killed, lambda: bool(list(tmp_path.glob("multirun/*/2/unfinished.json"))))
    killed.kill()
    killed.wait()
    before = finished(tmp_path)
    assert {"0", "1"} <= before.keys() < {"0", "1", "2", "3"}
    assert_gone_on(experiments, tmp_path, words, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_sweep_that_is_told_to_stop_says_so_and_goes_on(
    experiments: Command, start: Start, store: Path, tmp_path: Path, number: signal.Signals
) -> None:
    shutil.copy(store, tmp_path)
    words = FOUR if number == signal.SIGTERM else (*FOUR, "tracking=none")
    stopped = start(tmp_path, *words)
    wait_until(stopped, lambda: bool(list(tmp_path.glob("multirun/*/2/unfinished.json"))))
    stopped.send_signal(number)
    _, err = stopped.communicate()
    before = finished(tmp_path)
    assert {"0", "1"} <= before.keys() < {"0", "1", "2", "3"}
    assert stopped.returncode == 128 + number
    assert "Traceback" not in err
    assert err.splitlines()[-1] == (
        f"experiments: interrupted with {len(before)} of 4 runs finished; "
        "the same command goes on with the others"
    )
    if number == signal.SIGTERM:
        (parent,) = SweepStore(tmp_path).parents()
        assert parent.info.status == "KILLED"
        assert {run.info.status for run in SweepStore(tmp_path).jobs()} <= {"FINISHED", "KILLED"}
    assert_gone_on(experiments, tmp_path, words, before)
    if number == signal.SIGTERM:
        SweepStore(tmp_path).assert_each_finished_once(4)


def test_the_jobs_of_a_killed_sweep_end_with_it(experiments: Command, start: Start, tmp_path: Path) -> None:
    words = (*FOUR, "tracking=none", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    killed = start(tmp_path, *words)
    wait_until(killed, lambda: len(finished(tmp_path)) >= 1)
    killed.kill()
    killed.communicate()  # the jobs of joblib hold the other ends of these pipes
    assert_gone_on(experiments, tmp_path, words, finished(tmp_path))


def test_a_sweep_goes_into_a_folder_beside_the_working_one(experiments: Command, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    size = ("dataset.rule=inspected", "dataset.train=10", "dataset.test=10", "learner=bounded")
    words = ("-m", "seed=1,2", *size, "tracking=none", "hydra.sweep.dir=../there")
    done = experiments(tmp_path / "here", *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"sweep: 2 of 2 runs finished\nfiles: {tmp_path / 'there'}\n")


def test_one_configuration_that_fails_stops_no_other(
    experiments: Command, store: Path, tmp_path: Path
) -> None:
    shutil.copy(store, tmp_path)

    def write(name: str) -> None:
        lines = [json.dumps({"label": "pass" if n < 6 else "fail", "scene": {"n": n}}) for n in range(12)]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")

    write("a.jsonl")
    write("c.jsonl")
    words = ("-m", "dataset=jsonl", "dataset.path=a.jsonl,b.jsonl,c.jsonl", "learner=enumerate", *BARE)
    done = experiments(tmp_path, *words)
    assert done.returncode == 2
    missing = f"{tmp_path / 'b.jsonl'}: cannot be read: no such file or directory"
    complaint = f"experiments: 1 of 3 runs failed: [1] dataset.path=b.jsonl: {missing}"
    assert done.stderr.splitlines()[-1] == complaint
    assert "Traceback" not in done.stderr
    (parent,) = SweepStore(tmp_path).parents()
    assert parent.info.status == "FAILED"
    assert (parent.data.metrics["finished"], parent.data.metrics["failed"]) == (2, 1)
    (failed,) = (run for run in SweepStore(tmp_path).jobs() if run.info.status == "FAILED")
    assert failed.data.params["dataset.path"] == "b.jsonl"
    assert failed.data.tags["failure"] == missing

    write("b.jsonl")
    again = experiments(tmp_path, *words)
    assert again.returncode == 0, again.stderr
    assert "sweep: 3 of 3 runs finished, 2 of them by an earlier call" in again.stdout
    SweepStore(tmp_path).assert_each_finished_once(3)


def test_results_that_could_not_be_recorded_are_recorded_later(
    experiments: Command, store: Path, tmp_path: Path
) -> None:
    shutil.copy(store, tmp_path)
    (tmp_path / "notes.txt").write_text("not a database", encoding="utf-8")
    words = ("-m", "seed=1,2", *QUICK, *BARE)
    done = experiments(tmp_path, *words, "tracking.uri=sqlite:///notes.txt")
    assert done.returncode == 2
    (sweep,) = (tmp_path / "multirun").iterdir()
    assert done.stderr.splitlines()[-1] == (
        "experiments: tracking: 'sqlite:///notes.txt' can't be used: file is not a database; "
        f"the results are in multirun/{sweep.name}, and the same command records them when it can"
    )
    assert not list(sweep.rglob("run.json"))
    written = {path: path.stat().st_mtime_ns for path in sweep.rglob("result.json")}
    assert sorted(path.parent.name for path in written) == ["0", "1"]
    again = experiments(tmp_path, *words)
    assert again.returncode == 0, again.stderr
    assert again.stdout.count("reused, an earlier call finished it; recorded now") == 2
    assert {path: path.stat().st_mtime_ns for path in sweep.rglob("result.json")} == written
    SweepStore(tmp_path).assert_each_finished_once(2)


@pytest.mark.parametrize(
    ("launcher", "module"),
    [("joblib", "hydra_plugins.hydra_joblib_launcher"), ("dask", "distributed")],
)
def test_a_launcher_that_is_not_installed(
    environment: dict[str, str], tmp_path: Path, launcher: str, module: str
) -> None:
    words = ["experiments", "-m", f"hydra/launcher={launcher}", "seed=1,2"]
    hidden = f"import sys; sys.modules[{module!r}] = None; sys.argv = {words!r}"
    code = f"{hidden}; from experiments.cli import main; main()"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"experiments: hydra/launcher={launcher}: not installed; pip install 'check-induction[{launcher}]' "
        "brings it\n"
    )
    assert not list(tmp_path.iterdir())

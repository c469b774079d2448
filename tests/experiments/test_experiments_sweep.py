"""Sweeps as a user runs them: nested runs in one store, stopped and gone on with, alone and side by side."""

from __future__ import annotations

import json
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
from mlflow.entities import ViewType
from mlflow.tracking import MlflowClient

from experiments.runfolder import locked

Command = Callable[..., Any]
Start = Callable[..., "subprocess.Popen[str]"]
QUICK = (
    "dataset.rule=inspected",
    "dataset.train=10",
    "dataset.test=10",
    "learner=enumerate",
    "learner.work_limit=300",
)
SIX = ("-m", "seed=1,2,3,4,5,6", *QUICK)
PARENT = "mlflow.parentRunId"


@dataclass(frozen=True)
class Store:
    """What the store of a folder says: the runs of sweeps, and those that are nested in them."""

    folder: Path
    database: str = "mlflow.db"

    @property
    def client(self) -> MlflowClient:
        return MlflowClient(f"sqlite:///{(self.folder / self.database).as_posix()}")

    def runs(self, view: int = ViewType.ACTIVE_ONLY) -> list[Any]:
        experiment = self.client.get_experiment_by_name("check-induction")
        assert experiment is not None
        return list(self.client.search_runs([experiment.experiment_id], run_view_type=view))

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


def sweep_of(folder: Path) -> Path:
    (sweep,) = (folder / "multirun").iterdir()
    return sweep


def finished(folder: Path) -> dict[str, int]:
    """The finished runs of the one sweep in a folder, and when their results were written."""
    return {
        path.parent.name: path.with_name("result.json").stat().st_mtime_ns
        for path in folder.glob("multirun/*/*/run.json")
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
    words = ("hydra/launcher=joblib", "learner=enumerate,asp", "seed=1,2")
    done = experiments(tmp_path, "-m", *words, *(word for word in QUICK if word != "learner=enumerate"))
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mlartifacts", "mlflow.db", "multirun"]
    Store(tmp_path).assert_each_finished_once(4)
    engines = Counter(run.data.params["learner.engine"] for run in Store(tmp_path).jobs())
    assert engines == {"enumerate": 2, "asp": 2}
    lines = sorted(line for line in done.stdout.splitlines() if line.startswith("["))
    assert [line.partition(": ")[0] for line in lines] == [
        "[0] learner=enumerate seed=1",
        "[1] learner=enumerate seed=2",
        "[2] learner=asp seed=1",
        "[3] learner=asp seed=2",
    ]
    assert "sweep: 4 runs finished, 0 of them by an earlier call" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_stopped_sweep_goes_on_where_it_was(
    experiments: Command, start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    stopped = start(tmp_path, *SIX)
    wait_until(stopped, lambda: len(finished(tmp_path)) >= 3)
    stopped.send_signal(number)
    _, err = stopped.communicate()
    before = finished(tmp_path)
    assert 3 <= len(before) < 6
    if number == signal.SIGKILL:
        assert stopped.returncode == -number
        assert Store(tmp_path).parents()[0].info.status == "RUNNING"
    else:
        assert stopped.returncode == 128 + number
        assert err.endswith(
            f"experiments: interrupted with {len(before)} of 6 runs finished; the same command goes on with "
            "the others\n"
        )
        assert "Traceback" not in err
        assert Store(tmp_path).parents()[0].info.status == "KILLED"
        assert {run.info.status for run in Store(tmp_path).jobs()} <= {"FINISHED", "KILLED"}
    done = experiments(tmp_path, *SIX)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("reused, an earlier call finished it") == len(before)
    assert f"sweep: 6 runs finished, {len(before)} of them by an earlier call" in done.stdout
    after = finished(tmp_path)
    assert len(after) == 6
    assert {name: after[name] for name in before} == before
    Store(tmp_path).assert_each_finished_once(6)
    assert not list(tmp_path.rglob("unfinished.json"))


def test_a_parallel_sweep_that_is_killed_leaves_no_run_out_and_none_twice(
    experiments: Command, start: Start, tmp_path: Path
) -> None:
    """The processes of the launcher may outlive it and still be at a run when the sweep goes on."""
    words = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2", *SIX)
    stopped = start(tmp_path, *words)
    wait_until(stopped, lambda: len(finished(tmp_path)) >= 2)
    stopped.kill()
    done = experiments(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    Store(tmp_path).assert_each_finished_once(6)


def test_one_configuration_that_fails_stops_no_other(experiments: Command, tmp_path: Path) -> None:
    def write(name: str) -> None:
        lines = [json.dumps({"label": "pass" if n < 6 else "fail", "scene": {"n": n}}) for n in range(12)]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")

    write("a.jsonl")
    write("c.jsonl")
    words = ("-m", "dataset=jsonl", "dataset.path=a.jsonl,b.jsonl,c.jsonl", "learner=enumerate")
    done = experiments(tmp_path, *words)
    assert done.returncode == 2
    complaint = done.stderr.splitlines()[-1]
    missing = f"{tmp_path / 'b.jsonl'}: cannot be read: no such file or directory"
    assert complaint == f"experiments: 1 of 3 runs failed: [1] dataset.path=b.jsonl: {missing}"
    assert "Traceback" not in done.stderr
    (parent,) = Store(tmp_path).parents()
    assert parent.info.status == "FAILED"
    assert (parent.data.metrics["finished"], parent.data.metrics["failed"]) == (2, 1)
    (failed,) = (run for run in Store(tmp_path).jobs() if run.info.status == "FAILED")
    assert failed.data.params["dataset.path"] == "b.jsonl"
    assert failed.data.tags["failure"] == missing

    write("b.jsonl")
    again = experiments(tmp_path, *words)
    assert again.returncode == 0, again.stderr
    assert "sweep: 3 runs finished, 2 of them by an earlier call" in again.stdout
    Store(tmp_path).assert_each_finished_once(3)

    (tmp_path / "a.jsonl").write_text((tmp_path / "a.jsonl").read_text("utf-8") + "\n", encoding="utf-8")
    changed = experiments(tmp_path, *words)
    assert changed.returncode == 0, changed.stderr
    assert changed.stdout.count("reused, an earlier call finished it") == 2  # other scenes, another run
    Store(tmp_path).assert_each_finished_once(3)


def test_results_that_could_not_be_recorded_are_recorded_later(experiments: Command, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database", encoding="utf-8")
    words = ("-m", "seed=1,2", *QUICK)
    done = experiments(tmp_path, *words, "tracking.uri=sqlite:///notes.txt")
    assert done.returncode == 2
    sweep = sweep_of(tmp_path)
    assert done.stderr.splitlines()[-1] == (
        "experiments: tracking: 'sqlite:///notes.txt' can't be used: file is not a database; "
        f"the results are in multirun/{sweep.name}, and the same command records them when it can"
    )
    assert sorted(path.parent.name for path in sweep.rglob("result.json")) == ["0", "1"]
    assert not list(sweep.rglob("run.json"))
    written = {path: path.stat().st_mtime_ns for path in sweep.rglob("result.json")}
    again = experiments(tmp_path, *words)
    assert again.returncode == 0, again.stderr
    assert again.stdout.count("reused, an earlier call finished it; recorded now") == 2
    assert {path: path.stat().st_mtime_ns for path in sweep.rglob("result.json")} == written
    Store(tmp_path).assert_each_finished_once(2)

    (tmp_path / "mlflow.db").unlink()
    elsewhere = experiments(tmp_path, *words)
    assert elsewhere.returncode == 0, elsewhere.stderr
    Store(tmp_path).assert_each_finished_once(2)


def test_a_sweep_anew_and_beside_itself(experiments: Command, tmp_path: Path) -> None:
    words = ("-m", "seed=1,2", *QUICK, "tracking=none")
    assert experiments(tmp_path, *words).returncode == 0
    first = sweep_of(tmp_path)
    anew = experiments(tmp_path, *words, "sweep.resume=false")
    assert anew.returncode == 0, anew.stderr
    second = first.with_name(f"{first.name}-2")
    assert f"files: multirun/{second.name}" in anew.stdout
    assert "reused" not in anew.stdout
    latest = experiments(tmp_path, *words)
    assert f"files: multirun/{second.name}" in latest.stdout
    assert "sweep: 2 runs finished, 2 of them by an earlier call" in latest.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["multirun"]
    with locked(second, "sweep", wait=False):
        beside = experiments(tmp_path, *words)
    assert (beside.returncode, beside.stdout) == (2, "")
    assert beside.stderr == (
        f"experiments: multirun/{second.name}: another process is at this sweep; wait for it, or give "
        "sweep.resume=false to run it all anew beside it\n"
    )


def test_a_folder_of_ones_own_holds_one_sweep(experiments: Command, tmp_path: Path) -> None:
    words = ("-m", *QUICK, "tracking=none", r"hydra.sweep.dir='an \'own\' folder'")
    done = experiments(tmp_path, *words, "seed=1,2")
    assert done.returncode == 0, done.stderr
    assert "files: an 'own' folder" in done.stdout
    assert sorted(path.parent.name for path in (tmp_path / "an 'own' folder").rglob("run.json")) == ["0", "1"]
    other = experiments(tmp_path, *words, "seed=1,3")
    assert other.returncode == 2
    assert "hydra.sweep.dir: an 'own' folder holds another sweep; choose another folder" in other.stderr
    anew = experiments(tmp_path, *words, "seed=1,2", "sweep.resume=false")
    assert anew.returncode == 2
    assert "sweep.resume=false: an 'own' folder holds this sweep already" in anew.stderr


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
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"experiments: hydra/launcher={launcher}: not installed; pip install 'check-induction[{launcher}]' "
        "brings it\n"
    )
    assert not list(tmp_path.iterdir())

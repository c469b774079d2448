"""A sweep on a real Dask cluster of this machine, which loses a worker half-way."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mlflow.tracking import MlflowClient

Command = Callable[..., Any]
WORDS = (
    "-m",
    "hydra/launcher=dask",
    "seed=1,2,3,4,5",
    "dataset.rule=inspected",
    "dataset.train=10",
    "dataset.test=10",
    "learner=enumerate",
    "learner.work_limit=300",
    "tracking.model=false",
    "tracking.report=false",
)


@pytest.fixture
def cluster(
    environment: dict[str, str], tmp_path: Path
) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler, and its two workers, processes without a nurse."""
    file, home = tmp_path / "scheduler.json", tmp_path / "elsewhere"
    home.mkdir()
    quiet = {**environment, "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error"}

    def start(*words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *words, "--scheduler-file", str(file), "--no-dashboard"]
        return subprocess.Popen(command, cwd=home, env=quiet, stderr=subprocess.DEVNULL)

    scheduler = start("scheduler", "--host", "127.0.0.1", "--port", "0")
    until = time.monotonic() + 60
    while not file.exists():
        assert scheduler.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)
    workers = [start("worker", "--no-nanny", "--nthreads", "1", "--host", "127.0.0.1") for _ in range(2)]
    yield json.loads(file.read_text(encoding="utf-8"))["address"], workers
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


def test_a_worker_that_is_killed_half_way_loses_nothing(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], environment: dict[str, str], tmp_path: Path
) -> None:
    address, workers = cluster
    folder = tmp_path / "sweep"
    folder.mkdir()
    command = [sys.executable, "-m", "experiments", *WORDS, f"hydra.launcher.address={address}"]
    pipe = subprocess.PIPE
    sweep = subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True)
    until = time.monotonic() + 120
    while len(list(folder.glob("multirun/*/*/run.json"))) < 2:
        assert sweep.poll() is None, sweep.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)
    workers[0].kill()
    out, err = sweep.communicate(timeout=240)
    assert sweep.returncode == 0, err
    assert "Traceback" not in err
    assert "sweep: 5 of 5 runs finished" in out
    assert sorted(line.partition(":")[0] for line in out.splitlines() if line.startswith("[")) == [
        f"[{number}] seed={number + 1}" for number in range(5)
    ]
    client = MlflowClient(f"sqlite:///{(folder / 'mlflow.db').as_posix()}")
    experiment = client.get_experiment_by_name("check-induction")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    (parent,) = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
    jobs = [run for run in runs if run is not parent]
    assert parent.info.status == "FINISHED"
    assert {run.data.tags["mlflow.parentRunId"] for run in jobs} == {parent.info.run_id}
    assert {run.info.status for run in jobs} == {"FINISHED"}
    assert Counter(run.data.params["seed"] for run in jobs) == dict.fromkeys("12345", 1)
    assert not list((tmp_path / "elsewhere").glob("m*"))


def test_no_cluster_at_the_address(experiments: Command, tmp_path: Path) -> None:
    words = (*WORDS, "tracking=none", "hydra.launcher.address=127.0.0.1:9", "hydra.launcher.timeout=1")
    done = experiments(tmp_path, *words)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(
        "experiments: hydra.launcher.address: no Dask scheduler answers at '127.0.0.1:9'; start one with"
    )
    assert "Traceback" not in done.stderr


def test_jobs_do_not_wait_for_workers_that_never_come(experiments: Command, tmp_path: Path) -> None:
    done = experiments(tmp_path, *WORDS, "tracking=none", "hydra.launcher.workers=0")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "experiments: hydra.launcher.workers: expected a whole number >= 1, got 0"
    )

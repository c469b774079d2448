"""A sweep recorded by a real ``mlflow server`` on this machine: nested runs, inputs, files, models."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

from experiments.config import Tracking
from experiments.tracking import open_store

PASSWORD = "s3cret"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("server")
    open_store(Tracking(), folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [
        "--backend-store-uri",
        "sqlite:///mlflow.db",
        "--artifacts-destination",
        "kept",
        "--workers",
        "1",
    ]
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    own = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW_")}
    with (folder / "server.log").open("wb") as log:
        serving = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", *words, "--host", "127.0.0.1", "--port", str(port)],
            cwd=folder,
            env={**own, "PATH": path, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        until = time.monotonic() + 180
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                    break
            except OSError:
                assert serving.poll() is None, (folder / "server.log").read_text()
                assert time.monotonic() < until, "the server does not start"
                time.sleep(0.2)
        yield f"127.0.0.1:{port}"
    finally:
        serving.terminate()
        serving.wait(timeout=30)


@pytest.fixture(scope="module")
def swept(server: str, experiments: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which a sweep of two configurations ran, in a repository with a change in it."""
    folder = tmp_path_factory.mktemp("swept")
    lines = [f'{{"label": "{"pass" if n > 3 else "fail"}", "scene": {{"n": {n}}}}}' for n in range(8)]
    (folder / "scenes.jsonl").write_text("\n".join(lines), encoding="utf-8")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q", "-b", "trunk"], ["add", "scenes.jsonl"], ["commit", "-q", "-m", "Scenes"]):
        subprocess.run([*git, *words], cwd=folder, check=True)
    with (folder / "scenes.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n")
    files = ["dataset=jsonl", "dataset.train=scenes.jsonl", "dataset.test=scenes.jsonl"]
    address = f"tracking.uri=http://me:{PASSWORD}@{server}"
    done = experiments(folder, "-m", address, *files, "seed=1,2")
    assert done.returncode == 0, done.stderr
    assert PASSWORD not in done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def client(server: str, swept: Path) -> MlflowClient:
    assert swept.is_dir()
    return MlflowClient(f"http://{server}")


@pytest.fixture(scope="module")
def runs(client: MlflowClient) -> list[Any]:
    """The run of the sweep, then those of its jobs by their seed."""
    experiment = client.get_experiment_by_name("check-induction")
    assert experiment is not None
    found = client.search_runs([experiment.experiment_id])
    return sorted(found, key=lambda run: ("mlflow.parentRunId" in run.data.tags, run.data.params.get("seed")))


def test_the_runs_of_a_sweep_are_nested_in_its_own(runs: list[Any]) -> None:
    sweep, *jobs = runs
    assert [job.data.tags["mlflow.parentRunId"] for job in jobs] == [sweep.info.run_id] * 2
    assert [job.data.params["seed"] for job in jobs] == ["1", "2"]
    assert [run.info.status for run in runs] == ["FINISHED"] * 3


def test_inputs_have_their_digests(runs: list[Any]) -> None:
    for job in runs[1:]:
        inputs = {item.tags[0].value: item.dataset for item in job.inputs.dataset_inputs}
        assert set(inputs) == {"training", "testing"}
        assert inputs["training"].digest == inputs["testing"].digest
        assert json.loads(inputs["training"].profile) == {"pass": 4, "fail": 4}


def test_files_go_through_the_server(
    client: MlflowClient, runs: list[Any], swept: Path, tmp_path: Path
) -> None:
    for number, job in enumerate(runs[1:]):
        assert job.info.artifact_uri.startswith("mlflow-artifacts:/")
        (output,) = swept.glob(f"multirun/*/{number}")
        for name in ("check.json", "result.json", "predictions.jsonl", "environment.json", "report.html"):
            stored = Path(client.download_artifacts(job.info.run_id, name, str(tmp_path)))
            assert stored.read_bytes() == (output / name).read_bytes()


def test_tags_have_the_state_of_git(runs: list[Any], swept: Path) -> None:
    words = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(words, cwd=swept, capture_output=True, text=True, check=True).stdout.strip()
    for job in runs[1:]:
        tags = job.data.tags
        assert tags["mlflow.source.git.commit"] == commit
        assert tags["mlflow.source.git.branch"] == "trunk"
        assert tags["git.dirty"] == "true"
        assert tags["proof"] == "proved"


def test_the_model_of_a_run_loads_from_the_server(
    client: MlflowClient, runs: list[Any], server: str, tmp_path: Path
) -> None:
    (output,) = runs[1].outputs.model_outputs
    program = (
        "import sys, json, mlflow\n"
        "mlflow.set_tracking_uri(sys.argv[1])\n"
        "print(json.dumps(mlflow.pyfunc.load_model(sys.argv[2]).predict([{'n': 7}, {'n': 0}])))"
    )
    root = Path(__file__).resolve().parents[2]
    words = [sys.executable, "-c", program, f"http://{server}", f"models:/{output.model_id}"]
    done = subprocess.run(
        words,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert [said["pass"] for said in json.loads(done.stdout)] == [True, False]
    assert client.get_logged_model(output.model_id).source_run_id == runs[1].info.run_id


def test_the_password_is_nowhere(client: MlflowClient, runs: list[Any], swept: Path) -> None:
    kept = [path for path in swept.rglob("*") if path.is_file()]
    assert not [path for path in kept if PASSWORD.encode() in path.read_bytes()]
    for run in runs:
        assert PASSWORD not in json.dumps(run.to_dictionary())
    assert client.get_run(runs[1].info.run_id).data.params["tracking.uri"].startswith("http://127.0.0.1:")

"""A check as a model of MLflow: logged, loaded, registered, carried elsewhere, and served over HTTP."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mlflow
import pandas
import pytest
from mlflow.exceptions import MlflowException

import evaluator
import experiments
from evaluator import CheckError, define_check, run_check

ROOT = Path(__file__).resolve().parents[2]
CHECK = {"op": "lte", "path": "order.total", "value": 500}
SCENES: list[Any] = [{"order": {"total": 450}}, {"order": {"total": 540}}, {"order": None}]


def verdict(scene: Any, check: Any = CHECK) -> dict[str, Any]:
    return run_check(scene, check).to_dict()


@pytest.fixture(scope="module", autouse=True)
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A store that MLflow's functions use meanwhile."""
    folder = tmp_path_factory.mktemp("models")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{(folder / 'mlflow.db').as_posix()}")
    mlflow.create_experiment("models", artifact_location=(folder / "artifacts").as_uri())
    mlflow.set_experiment("models")
    yield
    mlflow.set_tracking_uri(before)


@pytest.fixture(scope="module")
def logged() -> Any:
    with mlflow.start_run():
        return experiments.log_check(define_check("total", CHECK), registered_model_name="total-of-an-order")


@pytest.fixture(scope="module")
def model(logged: Any) -> Any:
    return mlflow.pyfunc.load_model(logged.model_uri)


def test_predictions_are_the_verdicts_of_the_evaluator(model: Any) -> None:
    assert model.predict(SCENES) == [verdict(scene) for scene in SCENES]


def test_a_data_frame_holds_scenes_or_their_json(model: Any) -> None:
    frame = pandas.DataFrame({"scene": [SCENES[0], json.dumps(SCENES[1])]})
    assert model.predict(frame) == [verdict(scene) for scene in SCENES[:2]]


def test_labelled_lines_are_judged_by_their_scenes(model: Any) -> None:
    assert model.predict([{"id": "a", "label": "pass", "scene": SCENES[1]}]) == [verdict(SCENES[1])]


def test_an_infinite_gap_is_a_text_as_on_the_wire() -> None:
    never = {"op": "or", "of": []}
    with mlflow.start_run():
        logged = experiments.log_check(never)
    (said,) = mlflow.pyfunc.load_model(logged.model_uri).predict([{}])
    assert said == {"pass": False, "gap": "Infinity", "why": verdict({}, never)["why"]}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([SCENES[0], 3], "scene 1: expected an object, an array, or the JSON text of one"),
        (["no JSON"], "scene 0: expected an object, an array, or the JSON text of one"),
        ([{"order": float("nan")}], "scene 0: $.order: JSON has no number for NaN"),
    ],
)
def test_what_is_no_scene_is_named(given: list[Any], sentence: str, model: Any) -> None:
    with pytest.raises(MlflowException) as caught:
        model.predict(given)
    assert sentence in str(caught.value)


def test_a_check_that_is_not_well_formed_is_refused() -> None:
    with pytest.raises(CheckError, match="unknown operator"):
        experiments.log_check({"op": "equals", "path": "a", "value": 1})


def test_the_model_is_registered_and_has_a_signature(logged: Any) -> None:
    found = mlflow.pyfunc.load_model("models:/total-of-an-order/1")
    assert found.predict(SCENES[:1]) == [verdict(SCENES[0])]
    signature = found.metadata.signature
    assert signature.inputs is not None
    assert signature.outputs is not None
    assert [item.path for item in mlflow.artifacts.list_artifacts(logged.model_uri)].count(
        "model_code.py"
    ) == 1


def test_a_self_contained_model_loads_without_this_library(tmp_path: Path) -> None:
    with mlflow.start_run():
        logged = experiments.log_check(CHECK, self_contained=True)
    local = mlflow.artifacts.download_artifacts(logged.model_uri, dst_path=str(tmp_path))
    program = (
        "import sys, json\n"
        "sys.path = [place for place in sys.path if place not in ('', sys.argv[2])]\n"
        "import mlflow.pyfunc\n"
        "said = mlflow.pyfunc.load_model(sys.argv[1]).predict(json.loads(sys.argv[3]))\n"
        "import evaluator\n"
        "print(json.dumps([evaluator.__file__, said]))"
    )
    words = [sys.executable, "-I", "-c", program, local, str(ROOT), json.dumps(SCENES)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    carried, said = json.loads(done.stdout)
    assert Path(local) in Path(carried).parents
    assert Path(carried) != Path(evaluator.__file__)
    assert said == [verdict(scene) for scene in SCENES]
    requirements = Path(local, "requirements.txt").read_text(encoding="utf-8").split()
    assert [line.partition("==")[0] for line in requirements] == ["mlflow", "msgspec"]


@pytest.fixture(scope="module")
def address(logged: Any) -> Iterator[str]:
    """Where ``mlflow models serve`` serves the model."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["models", "serve", "-m", logged.model_uri, "--env-manager", "local", "-h", "127.0.0.1"]
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    serving = subprocess.Popen(
        [sys.executable, "-m", "mlflow", *words, "-p", str(port)],
        env={
            **os.environ,
            "MLFLOW_TRACKING_URI": mlflow.get_tracking_uri(),
            "PYTHONPATH": str(ROOT),
            "PATH": path,
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    found = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + 120
        while True:
            try:
                with urllib.request.urlopen(f"{found}/ping", timeout=5):
                    break
            except OSError:
                assert serving.poll() is None, serving.communicate()[1]
                assert time.monotonic() < until, "the model is not served"
                time.sleep(0.2)
        yield found
    finally:
        serving.terminate()
        serving.communicate(timeout=30)


def post(address: str, body: Any) -> tuple[int, Any]:
    request = urllib.request.Request(
        f"{address}/invocations",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_mlflow_serves_the_model(address: str) -> None:
    assert post(address, {"inputs": SCENES}) == (200, {"predictions": [verdict(scene) for scene in SCENES]})
    code, said = post(address, {"inputs": [7]})
    assert code == 400
    assert "scene 0: expected an object" in said["message"]

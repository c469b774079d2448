"""Tracking addresses: what is made of each, and one sentence for those that are of no use."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.config import Tracking
from experiments.tracking import (
    RunRecord,
    TrackingError,
    begin_sweep,
    end_sweep,
    masked,
    open_store,
    track,
)


@pytest.fixture
def folder(store: Path, tmp_path: Path) -> Path:
    """A folder with a store."""
    shutil.copy(store, tmp_path / "mlflow.db")
    return tmp_path


def record(**params: object) -> RunRecord:
    return RunRecord("a run", params, {"size": 1.5, "bound": float("-inf")}, (), (), time.time())


@pytest.mark.parametrize(
    ("uri", "sentence"),
    [
        ("./mlruns", "tracking.uri: './mlruns' is MLflow's retired file store; use an SQLite file"),
        ("mlruns", "tracking.uri: 'mlruns' is MLflow's retired file store; use an SQLite file"),
        ("file:///tmp/mlruns", "tracking.uri: 'file:///tmp/mlruns' is MLflow's retired file store"),
        ("sqlite://", "tracking.uri: 'sqlite://' names no SQLite file; write sqlite:///mlflow.db"),
        ("sqlite:///:memory:", "tracking.uri: 'sqlite:///:memory:' names no SQLite file"),
        ("sqlite:///a-file/mlflow.db", "tracking: 'sqlite:///a-file/mlflow.db' can't be used: "),
        ("sqlite:///a-file", "tracking: 'sqlite:///a-file' can't be used: file is not a database"),
        ("sqlite:///a-folder", "tracking: 'sqlite:///a-folder' can't be used: unable to open database file"),
        ("nonsense://me:secret@host/x", "tracking: 'nonsense://host/x' can't be used: "),
        (
            "http://127.0.0.1:9",
            "tracking: 'http://127.0.0.1:9' can't be used: nothing answers",
        ),
    ],
)
def test_an_address_of_no_use_is_one_sentence(uri: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "a-file").write_text("some text\n" * 20, encoding="utf-8")
    (tmp_path / "a-folder").mkdir()
    with pytest.raises(TrackingError) as caught:
        track(Tracking(uri=uri), record(), tmp_path)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a-file", "a-folder"]


def test_values_of_any_length_and_keys_of_any_kind_are_recorded(tmp_path: Path) -> None:
    config = Tracking(uri="sqlite:///deep/er/runs.db", experiment="größe/über alles", artifacts="kept")
    params = {f"p{number}": number for number in range(250)}
    run = track(config, record(long="x" * 9000, nothing=None, **{"trace.*[0]": [1]}, **params), tmp_path)
    logged = open_store(config, tmp_path).get_run(run.run_id).data
    assert len(logged.params) == 253
    assert logged.params["long"].startswith("xxx")
    assert logged.params["long"].endswith("…")
    assert logged.params["nothing"] == "null"
    assert logged.params["trace.__0_"] == "[1]"
    assert logged.metrics == {"size": 1.5}


def test_a_deleted_experiment_is_named(folder: Path) -> None:
    config = Tracking(experiment="old")
    track(config, record(), folder)
    client = open_store(config, folder)
    found = client.get_experiment_by_name("old")
    assert found is not None
    client.delete_experiment(found.experiment_id)
    with pytest.raises(TrackingError, match=r"'old' is deleted in sqlite:///mlflow\.db; restore it with"):
        track(config, record(), folder)


def test_files_that_cannot_be_stored_leave_a_failed_run(folder: Path) -> None:
    config = Tracking(artifacts="blocked")
    (folder / "blocked").write_text("", encoding="utf-8")
    (folder / "check.json").write_text("{}", encoding="utf-8")
    blocked = RunRecord("a run", {}, {}, (), (folder / "check.json",), time.time())
    with pytest.raises(TrackingError, match=r"can't be used: Not a directory: .*blocked"):
        track(config, blocked, folder)
    client = open_store(config, folder)
    found = client.get_experiment_by_name(config.experiment)
    assert found is not None
    assert [run.info.status for run in client.search_runs([found.experiment_id])] == ["FAILED"]


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("http://me:secret@host:5000/x", "http://host:5000/x"),
        ("https://host", "https://host"),
        ("sqlite:///mlflow.db", "sqlite:///mlflow.db"),
        ("sqlite:///a@b.db", "sqlite:///a@b.db"),
        ("sqlite:////home/a@b/runs.db", "sqlite:////home/a@b/runs.db"),
        ("http://me:se/cret@host/x", "http://host/x"),
        ("http://host:5000/a@b", "http://host:5000/a@b"),
        (
            "postgresql://host/runs?user=me&password=secret&x=1",
            "postgresql://host/runs?user=me&password=…&x=1",
        ),
        ("no answer from http://me:secret@host:1/api (2)", "no answer from http://host:1/api (2)"),
    ],
)
def test_names_and_passwords_are_not_shown(uri: str, shown: str) -> None:
    assert masked(uri) == shown


def test_a_sweep_is_a_run_that_others_are_nested_in_and_that_goes_on(folder: Path) -> None:
    config = Tracking()
    parent = begin_sweep(config, folder, "a sweep", {"swept.seed": [1, 2]})
    assert parent is not None
    client = open_store(config, folder)
    assert client.get_run(parent).info.status == "RUNNING"
    child = track(config, record(seed=1), folder, parent)
    assert child is not None
    assert client.get_run(child.run_id).data.tags["mlflow.parentRunId"] == parent
    (folder / "table.md").write_text("# Means", encoding="utf-8")
    end_sweep(config, folder, parent, "KILLED", {"finished": 1}, [folder / "table.md"])
    assert client.get_run(parent).info.status == "KILLED"
    assert begin_sweep(config, folder, "a sweep", {}, parent) == parent
    assert client.get_run(parent).info.status == "RUNNING"
    end_sweep(config, folder, parent, "FINISHED", {"finished": 2}, [])
    ended = client.get_run(parent)
    assert (ended.info.status, ended.data.metrics, ended.data.params) == (
        "FINISHED",
        {"finished": 2.0},
        {"swept.seed": "[1, 2]"},
    )
    assert [item.path for item in client.list_artifacts(parent)] == ["table.md"]
    client.delete_run(parent)
    assert begin_sweep(config, folder, "a sweep", {}, parent) not in (None, parent)


def test_figures_over_time_and_tags_are_recorded(folder: Path) -> None:
    series = {"anytime.objective": [(0.25, 31.5), (1.5, 20.0), (2.0, float("inf"))]}
    tags = {"proof": "bound", "odd*name": "x" * 9000}
    run = track(Tracking(), RunRecord("a run", {}, {}, (), (), 1000.0, tags, series), folder)
    assert run is not None
    client = open_store(Tracking(), folder)
    points = client.get_metric_history(run.run_id, "anytime.objective")
    assert [(point.step, point.timestamp, point.value) for point in points] == [
        (0, 1_000_250, 31.5),
        (1, 1_001_500, 20.0),
    ]
    logged = client.get_run(run.run_id).data.tags
    assert logged["proof"] == "bound"
    assert logged["odd_name"].startswith("xxx")


def test_nothing_is_recorded_where_that_is_off(tmp_path: Path) -> None:
    config = Tracking(record=False)
    assert begin_sweep(config, tmp_path, "a sweep", {}) is None
    assert track(config, record(), tmp_path, None) is None
    assert end_sweep(config, tmp_path, None, "FINISHED", {}, []) is None
    assert list(tmp_path.iterdir()) == []


def test_processes_that_open_a_missing_store_at_once_all_succeed(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path\n"
        "from experiments.config import Tracking; from experiments.tracking import RunRecord, track\n"
        "track(Tracking(), RunRecord('r', {}, {}, (), (), 0.0), Path.cwd())"
    )
    words = [sys.executable, "-c", program, str(root)]
    started = [subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=240)[1] for process in started]
    failures = [text for process, text in zip(started, said, strict=True) if process.returncode]
    assert failures == []
    client = open_store(Tracking(), tmp_path)
    found = client.get_experiment_by_name("check-induction")
    assert found is not None
    assert len(client.search_runs([found.experiment_id])) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["mlflow.db"]

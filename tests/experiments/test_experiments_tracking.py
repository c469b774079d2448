"""Tracking addresses: what is made of each, and one sentence for those that are of no use."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.config import Tracking
from experiments.tracking import RunRecord, TrackingError, masked, open_store, track


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


def test_a_deleted_experiment_is_named(tmp_path: Path) -> None:
    config = Tracking(experiment="old")
    track(config, record(), tmp_path)
    client = open_store(config, tmp_path)
    found = client.get_experiment_by_name("old")
    assert found is not None
    client.delete_experiment(found.experiment_id)
    with pytest.raises(TrackingError, match=r"'old' is deleted in sqlite:///mlflow\.db; restore it with"):
        track(config, record(), tmp_path)


def test_files_that_cannot_be_stored_leave_a_failed_run(tmp_path: Path) -> None:
    config = Tracking(artifacts="blocked")
    (tmp_path / "blocked").write_text("", encoding="utf-8")
    (tmp_path / "check.json").write_text("{}", encoding="utf-8")
    blocked = RunRecord("a run", {}, {}, (), (tmp_path / "check.json",), time.time())
    with pytest.raises(TrackingError, match=r"can't be used: Not a directory: .*blocked"):
        track(config, blocked, tmp_path)
    client = open_store(config, tmp_path)
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
    ],
)
def test_names_and_passwords_are_not_shown(uri: str, shown: str) -> None:
    assert masked(uri) == shown


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

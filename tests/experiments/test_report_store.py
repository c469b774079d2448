"""Reports and comparisons of runs that are named by their ids in an MLflow store."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

import pytest
from report_runs import full_evaluation, write_run, write_sweep

from experiments.compare.cli import main as compare
from experiments.config import Tracking
from experiments.report.cli import main as report
from experiments.tracking import RunRecord, begin_sweep, end_sweep, open_store, track


class Store(NamedTuple):
    folder: Path
    uri: str
    run: str
    sweep: str
    empty: str


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("store")
    config = Tracking(uri="sqlite:///runs.db")
    write_run(folder / "run", evaluation=full_evaluation())
    write_sweep(folder / "sweep")

    def tracked(path: Path, parent: str | None = None) -> str:
        files = tuple(sorted(path.iterdir()))
        record = RunRecord(f"named {path.name}", {}, {"size": 1.0}, (), files, time.time())
        found = track(config, record, folder, parent)
        assert found is not None
        return found.run_id

    run = tracked(folder / "run")
    sweep = begin_sweep(config, folder, "engines-1234", {})
    assert sweep is not None
    for number in range(4):
        tracked(folder / f"sweep/{number}", sweep)
    tracked(folder / "sweep/99", sweep)
    end_sweep(config, folder, sweep, "FINISHED", {}, (folder / "sweep/table.json",))
    client = open_store(config, folder)
    experiment = client.get_run(run).info.experiment_id
    empty = client.create_run(experiment, run_name="empty").info.run_id
    return Store(folder, f"sqlite:///{(folder / 'runs.db').as_posix()}", run, sweep, empty)


def test_a_run_of_the_store_is_reported_as_its_folder_is(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = tmp_path / "one.html", tmp_path / "other.html"
    assert report([store.run, "--uri", store.uri, "-o", str(one)]) == 0
    assert report([str(store.folder / "run"), "-o", str(other)]) == 0
    assert capsys.readouterr().err == ""
    pages = [path.read_text(encoding="utf-8") for path in (one, other)]
    assert "named run" in pages[0]
    assert pages[0].replace("named run", "shop, asp, seed 0") == pages[1]


def test_the_store_of_the_environment_is_the_default(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store.uri)
    assert report([store.run]) == 0
    assert (tmp_path / "report.html").is_file()
    assert capsys.readouterr().out == "report: report.html (1 run)\n"


def test_a_sweep_of_the_store_is_reported_with_its_table(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sweep.html"
    assert report([store.sweep, "--uri", store.uri, "-o", str(path)]) == 0
    assert "(a sweep of 4 runs, 1 not finished)" in capsys.readouterr().out
    page = path.read_text(encoding="utf-8")
    assert "Sweep report · engines-1234" in page
    assert "named 3" in page
    assert "Means of 4 runs; columns: seed" in page


def test_a_sweep_of_the_store_is_compared(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare([store.sweep, "--uri", store.uri]) == 0
    from_store = capsys.readouterr().out
    assert compare([str(store.folder / "sweep")]) == 0
    assert capsys.readouterr().out == from_store


@pytest.mark.parametrize(
    ("which", "problem"),
    [
        ("unknown", "no such folder, and no run of this id in sqlite:///"),
        ("empty", "this MLflow run has no result.json, nor has any run inside it"),
    ],
)
def test_what_the_store_lacks_is_said(
    store: Store, capsys: pytest.CaptureFixture[str], which: str, problem: str
) -> None:
    word = store.empty if which == "empty" else "0" * 32
    for command in (report, compare):
        assert command([word, "--uri", store.uri]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert problem in said.err
        assert said.err.count("\n") == 1


def test_a_damaged_file_of_the_store_is_named_by_its_run(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = Tracking(uri=store.uri)
    write_run(tmp_path / "run", scenes=2)
    (tmp_path / "run/result.json").write_text("{", encoding="utf-8")
    record = RunRecord("broken", {}, {}, (), (tmp_path / "run/result.json",), time.time())
    found = track(config, record, tmp_path)
    assert found is not None
    assert report([found.run_id, "--uri", store.uri]) == 2
    assert f"report: MLflow run {found.run_id}/result.json: not JSON (" in capsys.readouterr().err


def test_a_store_that_is_none_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "text.db"
    file.write_text("not a database" * 100, encoding="utf-8")
    for uri in (f"sqlite:///{file.as_posix()}", "runs", "http://127.0.0.1:9"):
        assert report(["0" * 32, "--uri", uri]) == 2
        said = capsys.readouterr()
        assert said.err.startswith("experiments report: tracking")
        assert said.err.count("\n") == 1

"""What sweeps go on from: hashes, folders, locks, and the runs that a store has of each job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mlflow.tracking import MlflowClient

from experiments.commandline import SweepRequest, options_first, read_command_line
from experiments.config import ConfigError, ExperimentConfig, Tracking
from experiments.sweeps import sweep
from experiments.sweeps.identity import config_hash
from experiments.sweeps.job import run_alone
from experiments.sweeps.nesting import Nest, is_recorded, mark, read_nest, record
from experiments.sweeps.run_folder import BusyError, RunFolder, locked, run_folders
from experiments.tracking import RunRecord, TrackingError, begin_sweep
from experiments.tracking.sweeps import JOB


def request(*words: str) -> SweepRequest:
    read = read_command_line(["-m", "tracking=none", *words])
    assert read is not None
    return read


def config(*words: str) -> ExperimentConfig:
    return request("seed=0,1", *words).first


def begin(folder: Path, *words: str) -> Path:
    with sweep.begun(request(*words), folder) as begun:
        return begun.output


def test_a_hash_is_of_what_makes_results(tmp_path: Path) -> None:
    base = config_hash(config(), tmp_path)
    assert base == config_hash(config("tracking.experiment=other", "sweep.resume=false"), tmp_path)
    assert base == config_hash(config("learner.time_limit=60.0"), tmp_path)
    assert base != config_hash(config("learner.time_limit=61"), tmp_path)
    assert len(base) == 64


def test_a_learner_that_is_installed_later_is_asked_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    own = config("baselines.names=[tree,fastlas]")
    absent = config_hash(own, tmp_path)
    (tmp_path / "FastLAS").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "FastLAS").chmod(0o755)
    assert config_hash(own, tmp_path) != absent


def test_files_count_by_their_content(tmp_path: Path) -> None:
    own = config("dataset=jsonl", "dataset.path=a.jsonl")
    hashes = []
    for text in ("one", "another", "one"):
        (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")
        hashes.append(config_hash(own, tmp_path))
    assert hashes[0] == hashes[2] != hashes[1]


def test_a_folder_that_a_dataset_does_not_read_is_no_part_of_it(tmp_path: Path) -> None:
    own = config("dataset=tables", "dataset.table=iris")
    before = config_hash(own, tmp_path)
    for name in ("tables", "iris"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "notes").write_text("anything", encoding="utf-8")
    assert config_hash(own, tmp_path) == before


def test_a_folder_of_scenes_counts_by_all_its_files(tmp_path: Path) -> None:
    own = config("dataset=folder", "dataset.path=set")
    hashes = [config_hash(own, tmp_path)]
    (tmp_path / "set").mkdir()
    for name in ("train.jsonl", "truth.json"):
        (tmp_path / "set" / name).write_text("one", encoding="utf-8")
        hashes.append(config_hash(own, tmp_path))
    assert len(set(hashes)) == 3


def test_a_sweep_finds_its_folder(tmp_path: Path) -> None:
    first = begin(tmp_path, "seed=1,2")
    assert first.parent == tmp_path / "multirun"
    assert begin(tmp_path, "seed=1,2", "tracking.experiment=other") == first
    others = [
        ("seed=1,2,3",),
        ("seed=2,1",),
        ("seed=1,2", "dataset.train=30"),
        ("seed=1,2", "learner=asp,auto"),
    ]
    assert len({first, *(begin(tmp_path, *words) for words in others)}) == 5
    second = begin(tmp_path, "seed=1,2", "sweep.resume=false")
    assert second == first.with_name(f"{first.name}-2")
    assert begin(tmp_path, "seed=1,2") == second
    assert begin(tmp_path, "seed=1,2", "sweep.resume=false").name == f"{first.name}-3"
    noise = begin(tmp_path, "preset=noise")
    assert noise.name.startswith("noise-")
    assert read_nest(noise) is not None


def test_a_folder_of_ones_own_holds_one_sweep(tmp_path: Path) -> None:
    words = ("seed=1,2", r"hydra.sweep.dir='an \'own\' folder'")
    own = tmp_path / "an 'own' folder"
    assert begin(tmp_path, *words) == own == begin(tmp_path, *words)
    with pytest.raises(ConfigError, match=r"an 'own' folder holds another sweep; choose another folder"):
        begin(tmp_path, "seed=1,3", words[1])
    with pytest.raises(ConfigError, match=r"sweep\.resume=false: an 'own' folder holds this sweep already"):
        begin(tmp_path, *words, "sweep.resume=false")


def test_the_same_sweep_twice_at_once(tmp_path: Path) -> None:
    with sweep.begun(request("seed=1,2"), tmp_path) as begun:
        name = begun.output.name
        with pytest.raises(ConfigError, match=f"^multirun/{name}: another process is at this sweep; wait"):
            begin(tmp_path, "seed=1,2")
        assert begin(tmp_path, "seed=1,2", "sweep.resume=false").name == f"{name}-2"
        assert begin(tmp_path, "seed=1,3") != begun.output
    assert begin(tmp_path, "seed=1,2").name == f"{name}-2"


def test_jobs_are_counted() -> None:
    assert request("seed=1,2,3", "learner=asp,auto").jobs == 6
    assert request("seed=range(0,4)").jobs == 4
    assert request("learner=glob(*)", "seed=1,2").jobs is None
    assert request("seed=4").jobs == 1


def test_a_sweep_is_recorded_in_one_place() -> None:
    with pytest.raises(ConfigError, match=r"tracking\.experiment: a sweep has one value of it"):
        request("tracking.experiment=a,b")
    with pytest.raises(ConfigError, match="sweep: a sweep has one value of it"):
        request("sweep=resume,fresh")


def test_options_may_stand_anywhere() -> None:
    words = ["seed=1", "-m", "learner=asp", "--config-dir", "mine", "dataset=own"]
    assert options_first(words) == ["-m", "--config-dir", "mine", "seed=1", "learner=asp", "dataset=own"]
    with pytest.raises(ConfigError, match="--bla: unknown option"):
        options_first(["seed=1", "--bla"])


def result_in(folder: Path, config_hash: str = "a") -> RunFolder:
    """The folder of a run whose results are written and not recorded yet."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "check.json").write_text("{}", encoding="utf-8")
    run = RunFolder(folder)
    run.begin(config_hash, "[0] seed=1", RunRecord("[0] seed=1", {"seed": 1}, {}, (), (), 1.0))
    told = RunRecord(
        "a run", {"seed": 1}, {"size": 3.0, "bound": float("-inf")}, (), (folder / "check.json",), 1.0
    )
    run.learnt(config_hash, told)
    return run


def test_a_run_folder_says_how_far_its_run_came(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "0")
    run.path.mkdir()
    run.begin("a", "[0] seed=1", RunRecord("[0] seed=1", {}, {}, (), (), 1.0))
    assert run.unfinished["status"] == "running"
    assert not run.holds("a")
    run.fail("failed", "no scenes")
    assert run.last_words().tags == {"failure": "no scenes"}
    result_in(run.path)
    assert run.holds("a")
    assert not run.holds("b")
    assert not run.unfinished
    assert run.record().metrics == {"size": 3.0}  # infinite ones are never recorded
    assert run.record().files == (run.path / "check.json",)
    (run.path / "check.json").unlink()
    assert not run.holds("a")
    run.finish("a", None, None, None)
    run.begin("b", "[0] seed=1", RunRecord("", {}, {}, (), (), 1.0))
    assert not run.run
    assert not run.holds("a")


def test_a_run_in_the_folder_of_another_leaves_nothing_of_it(tmp_path: Path) -> None:
    tree = {
        "dataset": {"kind": "warehouse", "rule": "inspected", "train": 10, "test": 10},
        "learner": {"engine": "enumerate", "work_limit": 300},
        "tracking": {"record": False},
    }
    (tmp_path / "out").mkdir()
    list(run_alone({**tree, "evaluation": {"folds": 2}}, tmp_path, tmp_path / "out"))
    assert (tmp_path / "out/evaluation.json").is_file()
    list(run_alone(tree, tmp_path, tmp_path / "out"))
    assert not (tmp_path / "out/evaluation.json").exists()


def test_folders_of_runs_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("10", "9", "x", "1/a"):
        result_in(tmp_path / name)
    names = [run.path.relative_to(tmp_path).as_posix() for run in run_folders(tmp_path)]
    assert names == ["1/a", "9", "10", "x"]


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    with locked(tmp_path, "a", wait=False):
        with pytest.raises(BusyError), locked(tmp_path, "a", wait=False):
            pass
        with locked(tmp_path, "b", wait=False):
            pass
    with locked(tmp_path, "a", wait=True):
        pass


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture
def nest(home: Path) -> Nest:
    run_id = begin_sweep(Tracking(), home, "sweep-1", {})
    return Nest("sweep-1", "1", {}, 1, "sqlite:///mlflow.db", run_id)


def nested(home: Path, nest: Nest) -> list[Any]:
    client = MlflowClient(f"sqlite:///{(home / 'mlflow.db').as_posix()}")
    (experiment,) = client.search_experiments(filter_string="name = 'check-induction'")
    return list(
        client.search_runs([experiment.experiment_id], f"tags.`mlflow.parentRunId` = '{nest.run_id}'")
    )


def test_a_job_has_one_run_however_often_it_was_begun(home: Path, nest: Nest, tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    for status in ("failed", "cut off"):
        run.begin("a", "[0] seed=1", RunRecord("[0] seed=1", {"seed": 1}, {}, (), (), 1.0))
        run.fail(status, "for a reason")
        mark(Tracking(), home, nest, "0", run, "FAILED")
        (marked,) = nested(home, nest)
        assert (marked.info.status, marked.data.tags["failure"]) == ("FAILED", "for a reason")
    result_in(tmp_path)
    record(Tracking(), home, nest, "0", run)
    (finished,) = nested(home, nest)
    assert finished.info.status == "FINISHED"
    assert finished.data.tags["config_hash"] == "a"
    assert finished.data.tags[JOB] == "0"
    assert is_recorded(nest, run)
    assert run.run == {
        "config_hash": "a",
        "store": "sqlite:///mlflow.db",
        "run_id": finished.info.run_id,
        "sweep": nest.run_id,
    }
    (tmp_path / "run.json").unlink()  # as if it was cut off just before
    assert not is_recorded(nest, run)
    record(Tracking(), home, nest, "0", run)
    assert run.run["run_id"] == finished.info.run_id
    record(Tracking(), home, nest, "it's / another", result_in(tmp_path / "1"))
    assert len(nested(home, nest)) == 2
    result_in(tmp_path, "b")  # the files of the configuration have changed
    record(Tracking(), home, nest, "0", run)
    assert sorted(one.data.tags["config_hash"] for one in nested(home, nest)) == ["a", "b"]


def test_results_wait_for_a_store(home: Path, tmp_path: Path) -> None:
    run = result_in(tmp_path)
    closed = Nest("sweep-1", "1", {}, 1, "sqlite:///mlflow.db", None, "tracking: it can't be used")
    with pytest.raises(TrackingError, match="can't be used"):
        record(Tracking(), home, closed, "0", run)
    assert not run.run
    untracked = Nest("sweep-1", "1", {}, 1, None, None)
    record(Tracking(record=False), home, untracked, "0", run)
    assert is_recorded(untracked, run)
    assert not is_recorded(closed, run)

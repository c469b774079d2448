"""Whole runs of ``experiments``, read back from the MLflow store and from the output folder."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname
from xml.etree import ElementTree

import pytest
from mlflow.data import get_source
from mlflow_store import Store
from omegaconf import OmegaConf

from evaluator import run_check, sentence
from experiments.config import parse_config
from experiments.datasets.warehouse import RULES, generate

Command = Callable[..., Any]
FILES = [
    "check.json",
    "config.yaml",
    "environment.json",
    "misclassified.jsonl",
    "predictions.jsonl",
    "result.json",
]


@dataclass(frozen=True)
class Ran(Store):
    """A finished process, its folder, what it printed by line name, and the one run in the store."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> dict[str, str]:
        return dict(line.split(": ", 1) for line in self.out.splitlines())

    @property
    def output(self) -> Path:
        return self.folder / self.said["files"]

    @property
    def pages(self) -> set[str]:
        """The report and its charts; how the learner went on has one where it took several steps."""
        found = {path.name for path in self.output.iterdir() if path.suffix in (".html", ".svg")}
        assert {"report.html", "gaps-train.svg", "gaps-test.svg"} <= found
        return found


@pytest.fixture(scope="module")
def default(experiments: Command, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("a folder")
    done = experiments(folder)
    return Ran(folder, done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def own(experiments: Command, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A run on JSONL files, in the output of which some labels are wrong, with configs of one's own."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "configs/dataset").mkdir(parents=True)
    (folder / "configs/learner").mkdir()
    (folder / "configs/dataset/orders.yaml").write_text(
        "kind: jsonl\ntrain: orders/train.jsonl\ntest: orders/test.jsonl\n", encoding="utf-8"
    )
    (folder / "configs/learner/careful.yaml").write_text("engine: asp\nwork_limit: 2000\n", encoding="utf-8")
    (folder / "orders").mkdir()
    for name, first in (("train", 0), ("test", 100)):
        with (folder / f"orders/{name}.jsonl").open("w", encoding="utf-8") as lines:
            for number in range(first, first + 12):
                label = "pass" if (number % 3 == 0) != (number == 103) else "fail"
                scene = {"paid": number % 3 == 0, "total": number * 7 % 11}
                lines.write(json.dumps({"id": f"o{number}", "label": label, "scene": scene}) + "\n")
    done = experiments(folder, "--config-dir", "configs", "dataset=orders", "learner=careful", "seed=7")
    return Ran(folder, done.returncode, done.stdout, done.stderr)


def test_the_default_run_prints_what_it_found(default: Ran) -> None:
    assert (default.code, default.err) == (0, "")
    said = default.said
    check = json.loads(said["json"])
    assert said["train"] == "60 scenes: 30 pass, 30 fail"
    assert said["test"] == "200 scenes: 100 pass, 100 fail"
    assert said["check"] == sentence(check)
    assert said["hidden rule"] == RULES["no_forklift_in_cold_zone"].says
    unseen = generate("no_forklift_in_cold_zone", "test", 200)
    right = sum(
        run_check(scene, check).passed == (label == "pass")
        for scene, label in zip(unseen.scenes, unseen.labels, strict=True)
    )
    assert said["accuracy on unseen scenes"] == f"{right / 200:.3f} ({right} of 200 right)"
    assert said["objective"].endswith("proved minimal")
    (run,) = default.runs()
    assert said["mlflow"] == f"sqlite:///mlflow.db, experiment check-induction, run {run.info.run_id}"
    assert said["look at it"] == "mlflow ui --backend-store-uri sqlite:///mlflow.db"


def test_nothing_is_littered(default: Ran) -> None:
    assert sorted(path.name for path in default.folder.iterdir()) == ["mlartifacts", "mlflow.db", "outputs"]
    (run,) = default.runs()
    artifacts = default.folder / "mlartifacts/check-induction" / run.info.run_id / "artifacts"
    assert default.said["artifacts"] == str(artifacts)
    stored = sorted(path for path in default.folder.rglob("*") if path.is_file())
    logs = [default.output / name for name in ("experiments.log", "record.json", "run.json")]
    hydra = [default.output / ".hydra" / name for name in ("config.yaml", "hydra.yaml", "overrides.yaml")]
    written = [parent / name for parent in (artifacts, default.output) for name in (*FILES, *default.pages)]
    models = (default.folder / "mlartifacts/check-induction/models").rglob("*")
    model = [path for path in models if path.is_file()]
    assert stored == sorted([*written, *model, *logs, *hydra, default.folder / "mlflow.db"])


def test_the_store_has_parameters_and_metrics(default: Ran) -> None:
    (run,) = default.runs()
    result = json.loads((default.output / "result.json").read_text(encoding="utf-8"))["induction"]
    params, metrics = run.data.params, run.data.metrics
    assert run.info.status == "FINISHED"
    assert run.info.run_name == "no_forklift_in_cold_zone, auto, seed 0"
    assert params["dataset.rule"] == "no_forklift_in_cold_zone"
    assert params["learner.max_terms"] == "null"
    assert params["grammar.costs.path"] == "0.75"
    assert params["grammar_hash"] == result["grammar_hash"]
    assert params["data_hash"] == result["data_hash"]
    assert params["version.python"] == ".".join(map(str, sys.version_info[:3]))
    assert {"version.check-induction", "version.clingo", "version.numpy"} <= params.keys()
    for name in ("objective", "size", "penalty", "lower_bound", "seconds", "atoms", "nodes"):
        assert metrics[name] == pytest.approx(result[name])
    assert metrics["optimal"] == 1.0
    assert metrics["train_accuracy"] == 1.0
    assert metrics["train_misclassified"] == 0.0
    assert metrics["test_accuracy"] >= 0.9


def test_the_store_has_both_datasets(default: Ran, own: Ran) -> None:
    generated = {item.tags[0].value: item.dataset for item in default.runs()[0].inputs.dataset_inputs}
    train = generate("no_forklift_in_cold_zone", "train", 60)
    assert generated["training"].digest == train.digest()[:36]
    assert json.loads(generated["testing"].profile) == {"pass": 100, "fail": 100}
    assert generated["training"].source_type == "code"
    files = {item.tags[0].value: item.dataset for item in own.runs()[0].inputs.dataset_inputs}
    assert Path(get_source(files["training"]).load()) == own.folder / "orders/train.jsonl"
    assert Path(get_source(files["testing"]).load()) == own.folder / "orders/test.jsonl"


def test_artifacts_are_the_files_of_the_output_folder(default: Ran, own: Ran) -> None:
    for ran in (default, own):
        (run,) = ran.runs()
        names = sorted([*FILES, *ran.pages])
        assert sorted(item.path for item in ran.client.list_artifacts(run.info.run_id)) == names
        for name in names:
            stored = Path(ran.client.download_artifacts(run.info.run_id, name))
            assert stored.read_bytes() == (ran.output / name).read_bytes()


def test_check_json_is_the_printed_check_on_the_wire(default: Ran) -> None:
    check = json.loads((default.output / "check.json").read_text(encoding="utf-8"))
    assert check["expr"] == json.loads(default.said["json"])
    assert check["meta"]["induction"]["optimal"] is True


def test_the_charts_are_files_that_need_no_other(default: Ran) -> None:
    for name in default.pages - {"report.html"}:
        text = (default.output / name).read_text(encoding="utf-8")
        assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
        assert text.count("http") == 1  # its name space
        named = set(re.findall(r"var\((--\w+)\)", text))
        assert named
        assert named <= set(re.findall(r"(--\w+):", text))


def test_the_run_has_its_check_as_a_model(default: Ran) -> None:
    (run,) = default.runs()
    (output,) = run.outputs.model_outputs
    model = default.client.get_logged_model(output.model_id)
    assert (model.name, model.source_run_id, str(model.status)) == ("check", run.info.run_id, "READY")
    stored = Path(url2pathname(urlsplit(model.artifact_location).path), "artifacts/check.json")
    assert json.loads(stored.read_text(encoding="utf-8")) == json.loads(
        (default.output / "check.json").read_text(encoding="utf-8")
    )


def test_tags_say_how_far_it_is_proved_and_in_what_it_ran(default: Ran) -> None:
    (run,) = default.runs()
    environment = json.loads((default.output / "environment.json").read_text(encoding="utf-8"))
    assert run.data.tags["proof"] == "proved"
    assert run.data.tags["version.python"] == environment["python"]
    assert run.data.tags["version.clingo"] == environment["versions"]["clingo"]
    assert environment["git"] is None
    assert not [name for name in run.data.tags if "git" in name]


def test_objective_and_bound_are_metrics_over_time(default: Ran) -> None:
    (run,) = default.runs()
    result = json.loads((default.output / "result.json").read_text(encoding="utf-8"))
    for name in ("objective", "lower_bound"):
        known = [moment for moment in result["anytime"] if moment[name] is not None]
        history = default.client.get_metric_history(run.info.run_id, f"anytime.{name}")
        assert sorted(point.value for point in history) == sorted(moment[name] for moment in known)
        assert history[-1].value == result["induction"][name]


def test_config_yaml_runs_again(own: Ran) -> None:
    tree = OmegaConf.to_container(OmegaConf.load(own.output / "config.yaml"))
    assert isinstance(tree, dict)
    config = parse_config({str(key): value for key, value in tree.items()})
    assert config.seed == 7
    assert config.learner.work_limit == 2000


def test_ones_own_configs_and_files_are_used(own: Ran) -> None:
    assert (own.code, own.err) == (0, "")
    assert own.said["train"] == "12 scenes: 4 pass, 8 fail"
    assert own.said["check"] == "paid is true"
    assert own.said["accuracy on unseen scenes"] == "0.917 (11 of 12 right)"
    assert "hidden rule" not in own.said
    (line,) = (own.output / "misclassified.jsonl").read_text(encoding="utf-8").splitlines()
    mistake = json.loads(line)
    assert mistake.pop("why")
    assert mistake.pop("gap") > 0
    scene = {"paid": False, "total": 103 * 7 % 11}
    assert mistake == {"split": "test", "id": "o103", "label": "pass", "pass": False, "scene": scene}


@pytest.fixture(scope="module")
def untracked(experiments: Command, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("untracked")
    (folder / "notes.txt").write_text("not a database", encoding="utf-8")
    words = ["dataset.rule=inspected", "dataset.train=20", "dataset.test=10", "learner.work_limit=1000"]
    done = experiments(folder, "tracking.uri=sqlite:///notes.txt", *words)
    return Ran(folder, done.returncode, done.stdout, done.stderr)


def test_results_are_on_disk_when_the_store_is_of_no_use(untracked: Ran) -> None:
    assert untracked.code == 2
    assert untracked.err == (
        "experiments: tracking: 'sqlite:///notes.txt' can't be used: file is not a database; "
        f"the results are in {untracked.said['files']}\n"
    )
    assert sorted(path.name for path in untracked.output.iterdir() if path.name in FILES) == FILES
    assert (untracked.folder / "notes.txt").read_text(encoding="utf-8") == "not a database"
    assert sorted(path.name for path in untracked.folder.iterdir()) == ["notes.txt", "outputs"]


def test_help_and_a_missing_file(experiments: Command, tmp_path: Path) -> None:
    shown = experiments(tmp_path, "--help")
    assert shown.returncode == 0
    assert shown.stdout.startswith("experiments: learn a check from labelled scenes")
    assert "dataset: automationbench, folder, jsonl, monks, parquet, " in shown.stdout
    assert "preset: active, noise, paper, " in shown.stdout
    assert not list(tmp_path.iterdir())
    missing = experiments(tmp_path, "dataset=jsonl", "dataset.path=none.jsonl")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "none.jsonl" in missing.stderr
    assert missing.stderr.count("\n") == 1


def test_one_class_alone_is_one_sentence(experiments: Command, tmp_path: Path) -> None:
    for name in ("a", "b"):
        lines = [json.dumps({"label": "pass", "scene": {"n": n}}) for n in range(4)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    done = experiments(tmp_path, "dataset=jsonl", "dataset.train=a.jsonl", "dataset.test=b.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("experiments: ")
    assert done.stderr.count("\n") == 1


def test_the_store_is_an_intact_database(default: Ran) -> None:
    with sqlite3.connect(default.folder / "mlflow.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)

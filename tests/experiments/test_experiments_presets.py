"""Presets: small versions of the sweeps, their tables, and what a mistake in one says."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from mlflow.tracking import MlflowClient
from omegaconf import OmegaConf

from evaluator import run_check
from experiments.asking import ask
from experiments.cli import config_directory
from experiments.config import ConfigError, ExperimentConfig, Table, parse_config
from experiments.datasets.warehouse import RULES, generate
from experiments.metrics import compare_with_rule, grade
from experiments.sweeps.table import SweptRun, read_runs, tabulate
from induce.learn import learn_check
from induce.result import InductionResult
from induce.scenes import LabelledScenes

Command = Callable[..., Any]
SMALL = ("dataset.rule=within_budget,inspected", "dataset.train=6,10", "seed=0,1", "dataset.test=40")


def table_of(folder: Path) -> tuple[str, dict[str, Any]]:
    (markdown,) = folder.glob("multirun/*/table.md")
    return markdown.read_text(encoding="utf-8"), json.loads(markdown.with_suffix(".json").read_text("utf-8"))


@pytest.fixture(scope="module")
def swept(experiments: Command, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("sweep")
    bare = ("tracking.model=false", "tracking.report=false")
    done = experiments(folder, "-m", "preset=sample_efficiency", *SMALL, *bare)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_a_preset_sweeps_and_tabulates_what_its_runs_found(swept: tuple[Path, str]) -> None:
    folder, out = swept
    markdown, table = table_of(folder)
    assert markdown in out
    assert table["rows"]["values"] == ["within_budget", "inspected"]
    assert table["columns"] == {"key": "dataset.train", "values": ["6", "10"]}
    assert table["runs"] == 8
    results = [json.loads(path.read_text("utf-8")) for path in folder.glob("multirun/*/*/result.json")]
    for row, cells in zip(table["rows"]["values"], table["means"]["test_accuracy"][:-1], strict=True):
        for size, mean in zip((6, 10), cells, strict=True):
            unseen = [
                one["test"]["accuracy"]
                for one in results
                if one["dataset"]["hidden_rule"]["says"] == RULES[row].says
                and one["dataset"]["train"]["pass"] * 2 == size
            ]
            assert len(unseen) == 2
            assert mean == pytest.approx(sum(unseen) / 2)


def test_the_table_is_with_the_run_of_the_sweep(swept: tuple[Path, str]) -> None:
    folder, _ = swept
    client = MlflowClient(f"sqlite:///{(folder / 'mlflow.db').as_posix()}")
    experiment = client.get_experiment_by_name("check-induction")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    (parent,) = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
    means = table_of(folder)[1]["means"]
    metrics = parent.data.metrics
    assert metrics["recovered/inspected/10"] == means["recovered"][1][1]
    assert metrics["recovered/all/6"] == means["recovered"][2][0]
    files = [item.path for item in client.list_artifacts(parent.info.run_id)]
    assert sorted(files) == ["sweep.json", "table.json", "table.md"]
    jobs = [run for run in runs if run is not parent]
    assert {run.data.tags["mlflow.parentRunId"] for run in jobs} == {parent.info.run_id}
    assert len(jobs) == 8
    assert all(run.data.metrics["recovered"] in (0, 1) for run in jobs)


def test_the_same_table_without_m_and_with_another_hash_seed(
    swept: tuple[Path, str], experiments: Command, tmp_path: Path
) -> None:
    words = ("preset=sample_efficiency", *SMALL, "tracking=none")
    assert experiments(tmp_path, *words, hash_seed="77").returncode == 0
    assert table_of(tmp_path) == table_of(swept[0])


def test_noise_and_active_run(experiments: Command, tmp_path: Path) -> None:
    less = ("dataset.test=40", "learner.work_limit=300", "tracking=none")
    small = ("dataset.rule=within_budget", "seed=0", *less)
    noise = experiments(tmp_path, "preset=noise", "dataset.noise=0,0.1", "dataset.train=40", *small)
    assert noise.returncode == 0, noise.stderr
    assert "| within_budget |   10 | 0.0 | 4.0 |" in noise.stdout
    active = experiments(tmp_path, "preset=active", "asking.labels=1", "dataset.train=6", *small)
    assert active.returncode == 0, active.stderr
    assert "| dataset.rule  | bits | random | telling |" in active.stdout


@pytest.mark.parametrize("preset", ["sample_efficiency", "noise", "active", "scaling", "recovery", "quick"])
def test_the_shipped_presets_hide_rules_that_exist_and_limit_work(preset: str) -> None:
    tree: Any = OmegaConf.load(config_directory() / f"preset/{preset}.yaml")
    assert {"override /learner": "bounded"} in tree.defaults
    assert set(tree.hydra.sweeper.params["dataset.rule"].split(",")) <= set(RULES)
    assert tree.table.rows == "dataset.rule"
    assert tree.table.columns in tree.hydra.sweeper.params or preset == "recovery"
    bounded: Any = OmegaConf.load(config_directory() / "learner/bounded.yaml")
    assert bounded.work_limit
    assert bounded.time_limit >= 3600


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["preset=nois"], "preset=nois: no such preset; did you mean 'noise'?"),
        (["preset=noise", "dataset.rule=inspected,inspect"], "dataset.rule: 'inspect' is no hidden rule"),
        (["table.rows=dataset.rule"], "table.columns is missing; a table needs both"),
        (
            ["table.rows=dataset.rul", "table.columns=seed"],
            "table.rows: expected a key of the configuration, got 'dataset.rul'; did you mean",
        ),
        (["asking.how=asked"], "asking.how: expected telling or random, got 'asked'"),
        (["dataset=jsonl", "dataset.path=x", "asking.labels=3"], "asking.labels: dataset=jsonl has no"),
    ],
)
def test_a_mistake_is_one_sentence_and_runs_nothing(
    experiments: Command, tmp_path: Path, words: list[str], sentence: str
) -> None:
    done = experiments(tmp_path, *words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"experiments: {sentence}"), done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def active(how: str, labels: int = 6) -> ExperimentConfig:
    return parse_config(
        {
            "dataset": {"kind": "warehouse", "rule": "cold_or_small", "train": 6, "test": 60},
            "asking": {"labels": labels, "how": how, "pool": 40},
            "learner": {"max_terms": 2, "max_literals": 2, "max_where": 1, "max_nesting": 1},
        }
    )


def learn(scenes: LabelledScenes) -> InductionResult:
    return learn_check(
        scenes.scenes,
        scenes.require_labels(),
        ids=scenes.ids,
        max_nesting=1,
        max_where=1,
        max_literals=2,
        max_terms=2,
        work_limit=1000,
    )


@pytest.mark.parametrize("how", ["telling", "random"])
def test_answers_are_the_rules_and_asking_ends_with_an_exact_check(how: str) -> None:
    config = active(how)
    train = generate("cold_or_small", "train", 6)
    unseen = generate("cold_or_small", "test", 60)
    exact = []

    def is_exact(result: InductionResult) -> bool:
        exact.append(not grade(result.check, unseen).mistakes)
        return exact[-1]

    asked = ask(config, train, generate("cold_or_small", "pool", 40), learn, is_exact)
    assert asked.answers == len(asked.train) - 6 == len(exact) - exact[-1]
    assert exact[:-1].count(True) == 0
    assert exact[-1] or asked.answers == 6
    assert len(set(asked.train.ids)) == len(asked.train)
    for scene, label in zip(asked.train.scenes, asked.train.require_labels(), strict=True):
        assert run_check(scene, RULES["cold_or_small"].check).passed == (label == "pass")


def test_flipped_labels_are_told_from_suspected_ones() -> None:
    scenes = generate("inspected", "train", 40, noise=0.1)
    rule = RULES["inspected"].check
    flipped = [record["id"] for record in grade(rule, scenes).mistakes]
    honest = next(name for name in scenes.ids if name not in flipped)
    truth = compare_with_rule(rule, [honest, *flipped[:3]], scenes, {})
    assert (truth.flipped, truth.suspected, truth.flipped_suspected) == (4, 4, 3)
    assert truth.rule_size == pytest.approx(11, abs=1)
    outside = compare_with_rule(rule, (), scenes, {"operators": ["eq"]})
    assert outside.rule_size is None
    assert "rule_size" not in outside.to_dict()


def run(row: str, column: Any, **metrics: float) -> SweptRun:
    config: Mapping[str, Any] = {"dataset.rule": row, "dataset.train": column}
    return SweptRun(config, metrics)


def test_a_table_averages_its_cells_and_orders_rows_by_size() -> None:
    config = Table("T", "dataset.rule", "dataset.train", {"recovered": "share", "answers": "labels asked"})
    runs = [
        run("long", 100, recovered=0, answers=20, rule_size=30.4),
        run("long", 20, recovered=1, answers=3, rule_size=30.0),
        run("long", 20, recovered=0, answers=4, rule_size=30.2),
        run("short", 20, recovered=1, answers=0, rule_size=9.0),
    ]
    table = tabulate(config, runs)
    assert table.markdown() == (
        "# T\n\nMeans of 4 runs.\n\nshare (columns: dataset.train)\n\n"
        "| dataset.rule | bits |   20 | 100 |\n"
        "| ------------ | ---: | ---: | --: |\n"
        "| short        |    9 | 100% |     |\n"
        "| long         |   30 |  50% |  0% |\n"
        "| all          |      |  75% |  0% |\n\n"
        "labels asked (columns: dataset.train)\n\n"
        "| dataset.rule | bits |  20 |  100 |\n"
        "| ------------ | ---: | --: | ---: |\n"
        "| short        |    9 | 0.0 |      |\n"
        "| long         |   30 | 3.5 | 20.0 |\n"
        "| all          |      | 1.8 | 20.0 |\n"
    )
    assert dict(table.figures())["answers/all/20"] == 1.75
    assert tabulate(config, runs[::-1]) == table
    with pytest.raises(ConfigError, match="'answer' is no metric of these runs; did you mean 'answers'"):
        tabulate(Table("T", "dataset.rule", "dataset.train", {"answer": "x"}), runs)


def test_only_runs_that_ended_are_read(tmp_path: Path) -> None:
    for name in ("2", "10", "1", "3"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "config.yaml").write_text(f"dataset:\n  train: {name}\n", encoding="utf-8")
        if name != "1":
            (folder / "result.json").write_text(json.dumps({"metrics": {"size": 1}}), encoding="utf-8")
    (tmp_path / "3/unfinished.json").write_text("{}", encoding="utf-8")
    assert [one.config for one in read_runs(tmp_path)] == [{"dataset.train": 2}, {"dataset.train": 10}]

"""Configurations: what is valid, and one sentence (exit code 2, nothing written) for what is not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from experiments.cli import config_directory, main
from experiments.config import (
    AutomationBench,
    ConfigError,
    ExperimentConfig,
    Jsonl,
    Learner,
    Tracking,
    Warehouse,
    flatten,
    parse_config,
)
from induce.grammar import Grammar

WAREHOUSE = {"kind": "warehouse"}


def warehouse(**values: Any) -> dict[str, Any]:
    return {"dataset": WAREHOUSE | values}


def learner(**values: Any) -> dict[str, Any]:
    return {"dataset": WAREHOUSE, "learner": values}


def jsonl(**values: Any) -> dict[str, Any]:
    return {"dataset": {"kind": "jsonl"} | values}


def automationbench(**values: Any) -> dict[str, Any]:
    return {"dataset": {"kind": "automationbench"} | values}


def shipped(name: str) -> dict[str, Any]:
    tree = OmegaConf.to_container(OmegaConf.load(config_directory() / name))
    assert isinstance(tree, dict)
    return {str(key): value for key, value in tree.items()}


def test_the_shipped_configs_say_the_defaults() -> None:
    def without_seed(name: str) -> dict[str, Any]:
        return {key: value for key, value in shipped(name).items() if value != "${seed}"}

    grammar = shipped("grammar/default.yaml")
    assert Grammar.of(grammar) == Grammar()
    assert flatten(grammar).keys() == flatten(Grammar().to_dict()).keys()
    groups = {"dataset": "dataset/warehouse.yaml", "learner": "learner/auto.yaml"}
    config = parse_config({group: without_seed(name) for group, name in groups.items()})
    assert config == ExperimentConfig(dataset=Warehouse(), learner=Learner(), grammar={}, tracking=Tracking())
    assert without_seed("dataset/jsonl.yaml") == {
        "kind": "jsonl",
        **{name: getattr(Jsonl(), name) for name in ("path", "test_share", "train", "test")},
    }
    assert without_seed("dataset/automationbench.yaml") == {
        "kind": "automationbench",
        **{
            name: getattr(AutomationBench(), name) for name in ("tasks", "task", "assertion", "train", "test")
        },
    }


@pytest.mark.parametrize(
    ("tree", "sentence"),
    [
        ({}, "dataset is missing"),
        ({"dataset": {"rule": "x"}}, "dataset.kind is missing; give one of warehouse, jsonl"),
        (
            warehouse(kind="warehous"),
            "dataset.kind: expected warehouse, jsonl or automationbench, got 'warehous'; did you mean",
        ),
        (warehouse(trian=1), "dataset.trian: unknown key; did you mean 'train'?"),
        (warehouse(train=1), "dataset.train: expected a whole number >= 2, got 1"),
        (warehouse(noise=0.7), "dataset.noise: expected a number <= 0.5, got 0.7"),
        (warehouse(rule="cold"), "dataset.rule: 'cold' is no hidden rule"),
        (warehouse() | {"sed": 1}, "sed: unknown key; did you mean 'seed'?"),
        (learner(time_limit="5 s"), "learner.time_limit: expected a number, got '5 s'"),
        (learner(max_terms=True), "learner.max_terms: expected a whole number or null, got true"),
        (learner(penalty="high"), "learner.penalty: expected auto or a number above 0, got 'high'"),
        (learner(engine=3), "learner.engine: expected auto, enumerate or asp, got 3"),
        (warehouse() | {"learner": [1]}, "learner: expected a mapping, got [1]"),
        (
            warehouse() | {"grammar": {"costs": {"fnd": 1}}},
            "grammar.costs: unknown key 'fnd'; did you mean 'find'?",
        ),
        (jsonl(), "dataset: dataset.path is missing"),
        (jsonl(train="a"), "dataset: dataset.test is missing"),
        (jsonl(path="a", test="b"), "dataset: give either dataset.path"),
        (
            automationbench(),
            "dataset: dataset.tasks is missing; give dataset.tasks=FILE with one task a line",
        ),
        (automationbench(tasks="a"), "dataset: dataset.task is missing; give dataset.task=NAME of a task"),
        (automationbench(assertion=-1), "dataset.assertion: expected a whole number >= 0, got -1"),
        (jsonl(path="a", test_share=1), "dataset.test_share: expected a number < 1.0, got 1"),
    ],
)
def test_a_wrong_configuration_is_one_sentence(tree: Mapping[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(tree)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["leaner=asp"], "leaner: unknown key; did you mean 'learner'?"),
        (["learner.engin=asp"], "learner.engin: unknown key; did you mean 'learner.engine'?"),
        (["time_limit=3"], "time_limit: unknown key; did you mean 'learner.time_limit'?"),
        (["grammar.costs.fnd=3"], "grammar.costs.fnd: unknown key; did you mean 'grammar.costs.find'?"),
        (["+foo=1"], "foo: unknown key; known are asking, baselines, dataset, evaluation"),
        (["dataset=warehuse"], "dataset=warehuse: no such dataset; did you mean 'warehouse'?"),
        (["-m", "learner=asp,enumerat"], "learner=enumerat: no such learner; did you mean 'enumerate'?"),
        (["-m", "seed=1,two", "learner=asp,auto"], "seed: expected a whole number, got 'two'"),
        (["hydra/launcher=far"], "hydra/launcher=far: no such hydra/launcher; known are"),
        (["learner=null"], "Config group override must be a string or a list"),
        (["seed=one"], "seed: expected a whole number, got 'one'"),
        (
            ["dataset.rule=within_buget"],
            "dataset.rule: 'within_buget' is no hidden rule of the warehouse",
        ),
        (["seed=1,2"], "seed=1,2: several values need -m"),
        (["~seed"], "dataset.seed: refers to another key"),
        (["wat"], "'wat' is neither an option nor an override; write KEY=VALUE"),
        (["a=b={"], "'a=b={' can't be read as an override"),
        (["--frob"], "--frob: unknown option"),
        (["--config-dir", "nowhere"], "--config-dir: nowhere does not exist"),
        (["-cn", "mine"], "Cannot find primary config 'mine'"),
        (["--config-dir", "own", "dataset=broken"], "a config file is not valid YAML"),
        (
            ["--config-dir", "own", "learner=short", "learner.max_terms=2"],
            "learner.max_terms: this configuration leaves the key out; write +learner.max_terms=VALUE",
        ),
        (["dataset=jsonl"], "dataset: dataset.path is missing"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_sentence(
    words: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    own = tmp_path / "own"
    for group, text in (("dataset/broken", "kind: [warehouse"), ("learner/short", "engine: asp")):
        (own / group).parent.mkdir(parents=True)
        (own / f"{group}.yaml").write_text(text, encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["experiments", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"experiments: {sentence}")
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert sorted(tmp_path.rglob("*")) == before


def test_a_reader_that_has_gone_is_no_mistake(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "experiments", "--help"]
    own = {**os.environ, "PYTHONPATH": str(config_directory().parent)}
    ran = subprocess.run(command, cwd=tmp_path, env=own, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (141, b"")

"""Configurations: what is valid, and one sentence (exit code 2, nothing written) for what is not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from experiments.cli import main
from experiments.commandline import config_directory
from experiments.config import (
    ConfigError,
    DatasetConfig,
    ExperimentConfig,
    Learner,
    Split,
    Tables,
    Warehouse,
    Zendo,
    flatten,
    known_keys,
    parse_config,
)
from experiments.config.datasets import RULES
from experiments.run import metrics_of, run_experiment
from induce.grammar import Grammar

WAREHOUSE = {"kind": "warehouse"}
KINDS: dict[str, type[msgspec.Struct]] = {
    str(kind.__struct_config__.tag): kind for kind in get_args(DatasetConfig)
}


def warehouse(**values: Any) -> dict[str, Any]:
    return {"dataset": WAREHOUSE | values}


def learner(**values: Any) -> dict[str, Any]:
    return {"dataset": WAREHOUSE, "learner": values}


def dataset(kind: str, **values: Any) -> dict[str, Any]:
    return {"dataset": {"kind": kind} | values}


def with_group(group: str, **values: Any) -> dict[str, Any]:
    return {"dataset": WAREHOUSE, group: values}


@pytest.fixture(scope="module")
def composed() -> Iterator[Any]:
    """``composed(*overrides)`` is the configuration that Hydra makes of them, as a mapping."""

    def tree(*overrides: str) -> Any:
        with initialize_config_dir(str(config_directory()), version_base="1.3"):
            return OmegaConf.to_container(compose("config", overrides=list(overrides)), resolve=True)

    yield tree
    GlobalHydra.instance().clear()


def test_the_shipped_configs_say_the_defaults(composed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME"):
        monkeypatch.delenv(name, raising=False)
    tree = composed()
    assert Grammar.of(tree["grammar"]) == Grammar()
    assert flatten(tree["grammar"]).keys() == flatten(Grammar().to_dict()).keys()
    config = parse_config(tree)
    assert config.learner == Learner()
    assert msgspec.structs.replace(config, grammar={}) == ExperimentConfig(dataset=Warehouse())
    assert {f"grammar.{key}" for key in flatten(tree["grammar"])} <= known_keys()


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_dataset_has_a_config_that_says_its_defaults(kind: str, composed: Any) -> None:
    tree = composed(f"dataset={kind}")["dataset"]
    assert tree == {"kind": kind, **msgspec.to_builtins(KINDS[kind]())}


def test_every_key_of_the_schema_is_in_the_shipped_configs(composed: Any) -> None:
    shown: set[str] = set()
    for kind in KINDS:
        for name in flatten(composed(f"dataset={kind}")):
            parts = name.split(".")
            shown.update(".".join(parts[: length + 1]) for length in range(len(parts)))
    only_presets = {key for key in known_keys() if key.startswith(("table.values", "paper"))}
    assert known_keys() - shown == only_presets


def test_a_dataset_that_names_no_seed_has_that_of_the_run() -> None:
    """As in a config file of one's own that leaves it out."""
    generated = parse_config(dataset("zendo") | {"seed": 7})
    assert generated.dataset == Zendo(seed=7)
    table = parse_config(dataset("tables", split={"kind": "kfold"}) | {"seed": 7})
    assert table.dataset == Tables(split=Split(kind="kfold", seed=7))
    assert parse_config(dataset("zendo", seed=1) | {"seed": 7}).dataset == Zendo(seed=1)
    with pytest.raises(ConfigError, match=r"^seed: expected a whole number, got 'one'"):
        parse_config(dataset("zendo") | {"seed": "one"})


def test_the_metrics_of_a_run_are_known() -> None:
    """With noise, labels asked for, another learner and an evaluation, a run has all kinds of figures."""
    tree = {
        "dataset": {"kind": "trains", "rule": "triangle_load", "train": 10, "test": 20, "noise": 0.1},
        "asking": {"labels": 1, "how": "random", "pool": 5},
        "learner": {"engine": "enumerate", "max_terms": 1, "work_limit": 200},
        "baselines": {"names": ["tree"]},
        "evaluation": {"folds": 2, "permutations": 2},
    }
    metrics = metrics_of(run_experiment(parse_config(tree), Path()))
    assert {
        "answers",
        "flipped",
        "baseline.tree.size",
        "cross_validated_accuracy",
        "p_value",
    } <= metrics.keys()
    assert parse_config(tree | {"table": {"values": dict.fromkeys(metrics, "title")}})


def test_the_help_names_every_key() -> None:
    config: Any = OmegaConf.load(config_directory() / "config.yaml")
    text = str(config.hydra.help.footer)
    inner = ("grammar.", "paper", "dataset.kind", "dataset.split.")
    for key in known_keys():
        if not key.startswith(inner):
            assert key.rpartition(".")[2] in text, key


@pytest.mark.parametrize("kind", ["warehouse", "trains", "zendo", "traces", "monks"])
def test_the_config_of_a_generator_lists_its_rules(kind: str) -> None:
    text = (config_directory() / f"dataset/{kind}.yaml").read_text(encoding="utf-8")
    listed = {word for line in text.splitlines() for word in line.partition("#")[2].replace("|", " ").split()}
    assert RULES[KINDS[kind]].keys() <= listed


@pytest.mark.parametrize("group", ["learner", "grammar", "tracking", "evaluation", "baselines", "sweep"])
def test_every_option_of_a_group_is_valid(group: str, composed: Any) -> None:
    options = [path.stem for path in (config_directory() / group).glob("*.yaml")]
    assert len(options) > 1
    for option in options:
        assert parse_config(composed(f"{group}={option}"))


@pytest.mark.parametrize("kind", ["auto", "given", "stratified", "grouped", "kfold"])
def test_every_option_of_the_split_is_valid(kind: str, composed: Any) -> None:
    words = ["dataset=folder", "dataset.path=x", f"dataset/split={kind}"]
    group = "task" if kind == "grouped" else "null"
    config = parse_config(composed(*words, f"dataset.split.group={group}"))
    assert msgspec.to_builtins(config)["dataset"]["split"]["kind"] == kind


@pytest.mark.parametrize(
    ("tree", "sentence"),
    [
        ({}, "dataset is missing; give one of warehouse, trains, zendo, traces, monks, jsonl"),
        ({"dataset": {"rule": "x"}}, "dataset.kind is missing; give one of warehouse, trains"),
        ({"dataset": "warehouse"}, "dataset: expected a mapping, got 'warehouse'"),
        (warehouse(kind="warehous"), "dataset.kind: expected warehouse, trains, zendo,"),
        (warehouse(trian=1), "dataset.trian: unknown key; did you mean 'dataset.train'?"),
        (warehouse(train=1), "dataset.train: expected a whole number >= 2, got 1"),
        (warehouse(train="ten"), "dataset.train: expected a whole number, got 'ten'"),
        (warehouse(train=[10, 20]), "dataset.train: expected a whole number, got [10, 20]"),
        (warehouse(train=10.5), "dataset.train: expected a whole number, got 10.5"),
        (warehouse(noise=0.7), "dataset.noise: expected a number <= 0.5, got 0.7"),
        (warehouse(rule="cold"), "dataset.rule: 'cold' is no hidden rule of dataset=warehouse; known are"),
        (warehouse(rule=""), "dataset.rule: expected some text, got ''"),
        (dataset("trains", rule="x"), "dataset.rule: 'x' is no hidden rule of dataset=trains; known are"),
        (dataset("zendo", near_misses=2), "dataset.near_misses: expected a number <= 1.0, got 2"),
        (dataset("traces", rule="one_writes"), "dataset.rule: 'one_writes' is no hidden rule of dataset=tr"),
        (dataset("monks", rule="monks4"), "dataset.rule: 'monks4' is no hidden rule of dataset=monks"),
        (dataset("monks", train=431), "dataset.train: expected a whole number <= 430, got 431"),
        (warehouse() | {"sed": 1}, "sed: unknown key; did you mean 'seed'?"),
        (learner(time_limit="5 s"), "learner.time_limit: expected a number, got '5 s'"),
        (learner(max_terms=True), "learner.max_terms: expected a whole number or null, got true"),
        (learner(penalty="high"), "learner.penalty: expected auto or a number above 0, got 'high'"),
        (learner(n_jobs=0), "learner.n_jobs: expected a number of workers, -1 for all cores, or null, got 0"),
        (learner(engine=3), "learner.engine: expected auto, enumerate or asp, got 3"),
        (learner(engine=["asp"]), "learner.engine: expected auto, enumerate or asp, got ['asp']"),
        (warehouse() | {"learner": [1]}, "learner: expected a mapping, got [1]"),
        (
            warehouse() | {"learner": "asp"},
            "learner: expected a mapping, got 'asp'; give its keys, such as learner.engine",
        ),
        (with_group("grammar", costs={"fnd": 1}), "grammar.costs.fnd: unknown key; did you mean 'grammar.co"),
        (with_group("grammar", costs={"find": "x"}), "grammar.costs.find: expected a number, got 'x'"),
        (with_group("grammar", costs={"find": -1}), "grammar.costs.find: expected 0 to 1000 bits, got -1"),
        (with_group("grammar", include="a"), "grammar.include: expected a list, such as [a,b], got 'a'"),
        (with_group("grammar", operators=[1]), "grammar.operators[0]: expected text, got 1"),
        (with_group("grammar", operators=["eqq"]), "grammar.operators: 'eqq' is not one of eq"),
        (with_group("grammar", lengths="no"), "grammar.lengths: expected true or false, got 'no'"),
        (with_group("tracking", uri=None), "tracking.uri: expected text, got null"),
        (with_group("tracking", record=1), "tracking.record: expected true or false, got 1"),
        (with_group("evaluation", folds=1), "evaluation.folds: expected 0 (none) or a whole number >= 2"),
        (with_group("evaluation", learning_curve=10), "evaluation.learning_curve: expected a list, such as"),
        (
            with_group("evaluation", learning_curve=[10, 1]),
            "evaluation.learning_curve[1]: expected a whole number >= 2, got 1",
        ),
        (
            with_group("baselines", names="tree"),
            "baselines.names: expected a list, such as [a,b], got 'tree'",
        ),
        (
            with_group("baselines", names=["tree", "riper"]),
            "baselines.names[1]: expected tree, ripper, greedy_list, optimal_list, popper, fastlas or ilasp",
        ),
        (with_group("sweep", resum=True), "sweep.resum: unknown key; did you mean 'sweep.resume'?"),
        (with_group("table", values={"a": 1}), "table.values.a: expected text, got 1"),
        (
            with_group("table", values={"recoverd": "a"}),
            "table.values: 'recoverd' is no metric of a run; did",
        ),
        (
            with_group("table", values={"baseline.tre.size": "a"}),
            "table.values: 'baseline.tre.size' is no metric of a run; did you mean 'baseline.tree.size'?",
        ),
        (with_group("table", rows="seed"), "table.columns is missing; a table needs both"),
        (
            dataset("monks") | {"asking": {"labels": 3}},
            "asking.labels: dataset=monks has no further scenes to ask for; warehouse, trains",
        ),
        (
            dataset("folder", path="a") | {"asking": {"labels": 3}},
            "asking.labels: dataset=folder has no further scenes",
        ),
        (dataset("jsonl"), "dataset: dataset.path is missing"),
        (dataset("parquet", train="a"), "dataset: dataset.test is missing"),
        (dataset("jsonl", path="a", test="b"), "dataset: give either dataset.path"),
        (dataset("folder"), "dataset: dataset.path is missing; give dataset.path=FOLDER with train.jsonl"),
        (dataset("automationbench"), "dataset: dataset.tasks is missing; give dataset.tasks=FILE with one"),
        (dataset("automationbench", tasks="a"), "dataset: dataset.task is missing; give dataset.task=NAME"),
        (dataset("automationbench", assertion=-1), "dataset.assertion: expected a whole number >= 0, got -1"),
        (dataset("jsonl", path="a", test_share=1), "dataset.test_share: unknown key; did you mean"),
        (
            dataset("jsonl", path="a", split={"test_share": 1}),
            "dataset.split.test_share: expected a number < 1.0, got 1",
        ),
        (
            dataset("jsonl", path="a", split="kfold"),
            "dataset.split: expected a mapping, got 'kfold'; give its keys, such as dataset.split.kind",
        ),
        (
            dataset("tables", split={"kind": "kfolds"}),
            "dataset.split.kind: expected auto, given, stratified, grouped or kfold, got 'kfolds'; did you",
        ),
        (
            dataset("tables", split={"kid": "kfold"}),
            "dataset.split.kid: unknown key; did you mean 'dataset.split.kind'?",
        ),
        (dataset("tables", split={"kind": "given"}), "dataset.split.kind: given needs two sets"),
        (dataset("tables", split={"kind": "grouped"}), "dataset.split.group is missing; kind grouped needs"),
        (dataset("tables", split={"group": "a"}), "dataset.split.group: kind auto keeps no groups together"),
        (
            dataset("tables", split={"kind": "kfold", "fold": 6}),
            "dataset.split.fold: expected a fold from 1 to 5 (dataset.split.folds), got 6",
        ),
        (dataset("tables", table="irs"), "dataset.table: expected breast_cancer, wine, iris, digits or diab"),
        (dataset("tables", passing="a"), "dataset.passing: expected a list, such as [a,b] or null, got 'a'"),
    ],
)
def test_a_wrong_configuration_is_one_sentence(tree: Mapping[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(tree)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)
    assert "`" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["leaner=asp"], "leaner: unknown key; did you mean 'learner'?"),
        (["datset=warehouse"], "datset: unknown key; did you mean 'dataset'?"),
        (["presets=noise"], "presets: unknown key; did you mean 'preset'?"),
        (["learner.engin=asp"], "learner.engin: unknown key; did you mean 'learner.engine'?"),
        (["time_limit=3"], "time_limit: unknown key; did you mean 'learner.time_limit'?"),
        (["grammar.costs.fnd=3"], "grammar.costs.fnd: unknown key; did you mean 'grammar.costs.find'?"),
        (["dataset=trains", "dataset.near_mises=1"], "dataset.near_mises: unknown key; did you mean 'datase"),
        (["dataset=jsonl", "dataset.splt.kind=kfold"], "dataset.splt.kind: unknown key; did you mean"),
        (["dataset/splt=kfold"], "dataset/splt: unknown key; did you mean 'dataset/split'?"),
        (
            ["dataset/split=kfold"],
            "dataset/split: this dataset has no such key, but dataset=jsonl, parquet, folder and tables have",
        ),
        (
            ["dataset.near_misses=0.1"],
            "dataset.near_misses: this dataset has no such key, but dataset=trains, zendo and traces have; +",
        ),
        (
            ["table.values.size=bits"],
            "table.values.size: table.values names no such metric yet; write +table",
        ),
        (["hydra.run.dri=x"], "hydra.run.dri: unknown key; experiments --cfg hydra shows Hydra's own keys"),
        (["+foo=1"], "foo: unknown key; known are asking, baselines, dataset, evaluation"),
        (["+learner.engin=asp"], "learner.engin: unknown key; did you mean 'learner.engine'?"),
        (
            ["++learner.engine=aps"],
            "learner.engine: expected auto, enumerate or asp, got 'aps'; did you mean",
        ),
        (["+learner.engine=asp"], "learner.engine: has a value already; leave out the +"),
        (["+learner=asp"], "learner: has a value already; leave out the +"),
        (["~sed"], "~sed: unknown key; did you mean 'seed'?"),
        (["~learner.engin"], "~learner.engin: unknown key; did you mean 'learner.engine'?"),
        (["~dataset"], "dataset is missing; give one of warehouse"),
        (["~dataset.kind"], "dataset.kind is missing; give one of warehouse"),
        (["dataset=warehuse"], "dataset=warehuse: no such dataset; did you mean 'warehouse'?"),
        (["dataset="], "dataset=: no such dataset; known are automationbench, folder"),
        (["tracking=sqllite"], "tracking=sqllite: no such tracking; did you mean 'sqlite'?"),
        (["-m", "learner=asp,enumerat"], "learner=enumerat: no such learner; did you mean 'enumerate'?"),
        (["-m", "seed=1,two", "learner=asp,auto"], "seed: expected a whole number, got 'two'"),
        (["-m", "dataset.rule=inspected,inspect"], "dataset.rule: 'inspect' is no hidden rule of dataset=wa"),
        (["hydra/launcher=far"], "hydra/launcher=far: no such hydra/launcher; known are"),
        (["learner=null"], "a group takes the name of an option, and null or a number is none"),
        (["hydra.sweep.dir=[a]"], "hydra.sweep.dir=[a]: cannot convert"),
        (["seed=one"], "seed: expected a whole number, got 'one'"),
        (
            ["dataset.rule=within_buget"],
            "dataset.rule: 'within_buget' is no hidden rule of dataset=warehouse",
        ),
        (["seed=1,2"], "seed=1,2: several values need -m"),
        (["~seed"], "dataset.seed: refers to another key"),
        (["wat"], "'wat' is neither an option nor an override; write KEY=VALUE"),
        (["a=b={"], "'a=b={' can't be read as an override"),
        (
            ["seed=zwölf"],
            """'seed=zwölf' can't be read as an override; a value with signs needs quotes: 'seed="zwölf"'""",
        ),
        (["--frob"], "--frob: unknown option"),
        (["--cfg", "jobs"], "argument --cfg/-c: invalid choice: 'jobs'"),
        (["--config-dir", "nowhere"], "--config-dir: nowhere does not exist"),
        (["--config-path", "own", "-m", "seed=1,2"], "--config-path: not taken here; --config-dir DIR adds"),
        (["-m", "preset=recovery", "--cfg", "job"], "--multirun and --cfg exclude each other"),
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

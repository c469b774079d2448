"""A dataset of an experiment: labelled scenes to learn from and unseen ones to grade on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evaluator import sentence
from experiments.config import AutomationBench, DatasetConfig, Jsonl, Warehouse
from experiments.datasets import automationbench, jsonl, warehouse
from induce.scenes import LabelledScenes


@dataclass(frozen=True, slots=True)
class Dataset:
    """Training and unseen scenes, where they came from, and the rule behind the labels where it is known.

    ``source`` says in one line what the dataset is; ``files`` are the files of the training and of the unseen
    scenes, None for generated ones.
    """

    name: str
    source: str
    train: LabelledScenes
    test: LabelledScenes
    files: tuple[Path, Path] | None = None
    hidden_rule: warehouse.Rule | None = None


def load_dataset(config: DatasetConfig, folder: Path) -> Dataset:
    """The dataset that ``config`` describes; relative paths start at ``folder``.

    Raises :class:`evaluator.SceneError` in one sentence for files that can't be used.
    """
    if isinstance(config, Warehouse):
        return _warehouse(config)
    if isinstance(config, AutomationBench):
        return _automationbench(config, folder)
    return _jsonl(config, folder)


def load_pool(config: Warehouse, size: int) -> LabelledScenes:
    """Scenes that labels can be asked for: independent of the others, with the answers of the hidden rule."""
    return warehouse.generate(config.rule, "pool", size, seed=config.seed)


def _warehouse(config: Warehouse) -> Dataset:
    noise = f", {config.noise:.0%} of the training labels flipped" if config.noise else ""
    return Dataset(
        name="warehouse",
        source=f"generated plans, rule {config.rule}, seed {config.seed}{noise}",
        train=warehouse.generate(config.rule, "train", config.train, noise=config.noise, seed=config.seed),
        test=warehouse.generate(config.rule, "test", config.test, seed=config.seed),
        hidden_rule=warehouse.RULES[config.rule],
    )


def _automationbench(config: AutomationBench, folder: Path) -> Dataset:
    assert config.tasks is not None
    assert config.task is not None
    corpus = automationbench.Corpus.read(folder / config.tasks)
    item = corpus.item(config.task, config.assertion)
    maker = automationbench.WorldMaker(corpus, item, config.seed)
    check = item.translation.check
    return Dataset(
        name="automationbench",
        source=f"worlds for assertion {item.place} ({item.type}) of {item.task}, seed {config.seed}",
        train=maker.worlds("train", config.train),
        test=maker.worlds("test", config.test),
        hidden_rule=warehouse.Rule(sentence(check), check),
    )


def _jsonl(config: Jsonl, folder: Path) -> Dataset:
    if config.path is not None:
        path = folder / config.path
        train, test = jsonl.split(jsonl.read(path), config.test_share, config.seed)
        source = f"{config.path}, {config.test_share:.0%} of each label kept unseen, seed {config.seed}"
        return Dataset("jsonl", source, train, test, files=(path, path))
    assert config.train is not None
    assert config.test is not None
    files = folder / config.train, folder / config.test
    return Dataset(
        "jsonl", f"{config.train} and {config.test}", jsonl.read(files[0]), jsonl.read(files[1]), files=files
    )

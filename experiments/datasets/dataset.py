"""A dataset of an experiment: labelled scenes to learn from and unseen ones to grade on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from experiments.config import Jsonl, Warehouse
from experiments.datasets import jsonl, warehouse
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


def load_dataset(config: Warehouse | Jsonl, folder: Path) -> Dataset:
    """The dataset that ``config`` describes; relative paths start at ``folder``.

    Raises :class:`evaluator.SceneError` in one sentence for files that can't be used.
    """
    if isinstance(config, Warehouse):
        return _warehouse(config)
    return _jsonl(config, folder)


def _warehouse(config: Warehouse) -> Dataset:
    noise = f", {config.noise:.0%} of the training labels flipped" if config.noise else ""
    return Dataset(
        name="warehouse",
        source=f"generated plans, rule {config.rule}, seed {config.seed}{noise}",
        train=warehouse.generate(config.rule, "train", config.train, noise=config.noise, seed=config.seed),
        test=warehouse.generate(config.rule, "test", config.test, seed=config.seed),
        hidden_rule=warehouse.RULES[config.rule],
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

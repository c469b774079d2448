"""A dataset of an experiment: labelled scenes to learn from and unseen ones to grade on."""

from __future__ import annotations

from pathlib import Path

from evaluator import sentence
from experiments.config.datasets import (
    AutomationBench,
    DatasetConfig,
    Folder,
    Monks,
    Tables,
    Traces,
    Trains,
    Warehouse,
    Zendo,
)
from experiments.datasets import files, folder, monks, tables
from experiments.datasets.automationbench import Corpus, WorldMaker
from experiments.datasets.base import Dataset, Rule
from experiments.datasets.generator import Generator
from experiments.datasets.traces import TRACES
from experiments.datasets.trains import TRAINS
from experiments.datasets.warehouse import WAREHOUSE
from experiments.datasets.zendo import ZENDO
from induce.scenes import LabelledScenes

__all__ = ["Dataset", "load_dataset", "load_pool"]

_GENERATORS: dict[type, Generator] = {
    Warehouse: WAREHOUSE,
    Trains: TRAINS,
    Zendo: ZENDO,
    Traces: TRACES,
}


def load_dataset(config: DatasetConfig, working_folder: Path) -> Dataset:
    """The dataset that ``config`` describes; relative paths start at ``working_folder``.

    Raises :class:`evaluator.SceneError` in one sentence for files that can't be used, and
    :class:`experiments.config.ConfigError` for names that they don't have.
    """
    if isinstance(config, (Warehouse, Trains, Zendo, Traces)):
        return _GENERATORS[type(config)].dataset(
            config.rule,
            config.train,
            config.test,
            noise=config.noise,
            near_misses=_near_misses(config),
            seed=config.seed,
        )
    if isinstance(config, Monks):
        return monks.dataset(config.rule, config.train, config.noise, config.seed)
    if isinstance(config, Tables):
        return tables.dataset(config)
    if isinstance(config, AutomationBench):
        return _automationbench(config, working_folder)
    if isinstance(config, Folder):
        return folder.dataset(config, working_folder)
    return files.dataset(config, working_folder)


def load_pool(config: DatasetConfig, size: int, working_folder: Path, seed: int = 0) -> LabelledScenes:
    """Scenes that labels can be asked for, beside those to learn from and the unseen ones, with the answers.

    Where there are files they are ``size`` scenes at most, drawn by ``seed``. ``config`` is one of which
    :func:`experiments.config.datasets.can_answer` holds.
    """
    if isinstance(config, (Warehouse, Trains, Zendo, Traces)):
        generator = _GENERATORS[type(config)]
        return generator.scenes(config.rule, "pool", size, near_misses=_near_misses(config), seed=config.seed)
    if isinstance(config, AutomationBench):
        return _worlds(config, working_folder).worlds("pool", size)
    assert isinstance(config, Folder)
    return folder.pool(config, working_folder, size, seed)


def _near_misses(config: Warehouse | Trains | Zendo | Traces) -> float:
    return 0.0 if isinstance(config, Warehouse) else config.near_misses


def _automationbench(config: AutomationBench, working_folder: Path) -> Dataset:
    maker = _worlds(config, working_folder)
    item = maker.item
    check = item.translation.check
    return Dataset(
        name="automationbench",
        source=f"worlds for assertion {item.place} ({item.type}) of {item.task}, seed {config.seed}",
        train=maker.worlds("train", config.train),
        test=maker.worlds("test", config.test),
        hidden_rule=Rule(sentence(check), check),
    )


def _worlds(config: AutomationBench, working_folder: Path) -> WorldMaker:
    assert config.tasks is not None
    assert config.task is not None
    corpus = Corpus.read(working_folder / config.tasks)
    return WorldMaker(corpus, corpus.item(config.task, config.assertion), config.seed)

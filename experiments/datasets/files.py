"""Labelled scenes from JSONL and Parquet files: two files as they are, or one that is split."""

from __future__ import annotations

from pathlib import Path

from experiments.config.datasets import Files, Parquet, Split, kind_of
from experiments.datasets.base import Dataset, Rule
from experiments.datasets.split import described, joined, split
from induce.scenes import LabelledScenes, load_scenes


def dataset(config: Files, folder: Path) -> Dataset:
    """The dataset of one file or two; relative paths start at ``folder``.

    Raises :class:`evaluator.SceneError` for a file that can't be read and for a scene without a label.
    """
    name = kind_of(config)
    if config.path is not None:
        path = folder / config.path
        train, test = split(_read(config, path), config.split)
        return Dataset(name, f"{config.path}, {described(config.split)}", train, test, files=(path, path))
    assert config.train is not None
    assert config.test is not None
    files = folder / config.train, folder / config.test
    sets = _read(config, files[0]), _read(config, files[1])
    return two_sets(name, f"{config.train} and {config.test}", sets, files, config.split)


def two_sets(
    name: str,
    source: str,
    sets: tuple[LabelledScenes, LabelledScenes],
    files: tuple[Path, Path],
    config: Split,
    hidden_rule: Rule | None = None,
) -> Dataset:
    """Training and unseen scenes as given, or joined and split anew when ``config`` asks for that."""
    if config.kind not in ("auto", "given"):
        sets = split(joined(*sets), config)
        source = f"{source}, joined, {described(config)}"
    return Dataset(name, source, *sets, files=files, hidden_rule=hidden_rule)


def read_jsonl(path: Path) -> LabelledScenes:
    """The scenes of a JSONL file, all of them labelled; :class:`SceneError` names file and line otherwise."""
    scenes = load_scenes(path, fmt="jsonl")
    scenes.require_labels()
    return scenes


def _read(config: Files, path: Path) -> LabelledScenes:
    if not isinstance(config, Parquet):
        return read_jsonl(path)
    scenes = load_scenes(
        path,
        fmt="parquet",
        label_column=config.label_column,
        id_column=config.id_column,
        weight_column=config.weight_column,
    )
    scenes.require_labels()
    return scenes

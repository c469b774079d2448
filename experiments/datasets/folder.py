"""A folder of labelled scenes: train.jsonl, test.jsonl, perhaps smaller training sets, perhaps their rule.

``truth.json`` tells the rule behind the labels where one is known, ``{"check": …, "statement"?: …}``, and
null for the check where none is.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

from evaluator import CheckError, SceneError, compile_check, sentence
from evaluator.json_read import JsonTextError, read_json
from experiments.config.datasets import Folder
from experiments.config.sentence import ConfigError, did_you_mean
from experiments.datasets.base import Dataset, Rule
from experiments.datasets.files import read_jsonl, two_sets
from induce.scenes import LabelledScenes

_ALL = "train.jsonl"
_TRUTH = "truth.json"


def dataset(config: Folder, folder: Path) -> Dataset:
    """The dataset of a folder; its path starts at ``folder``. Raises :class:`SceneError` in one sentence."""
    place = _place(config, folder)
    files = _file(place, config.train, "train"), _file(place, config.test, "test")
    sets = read_jsonl(files[0]), read_jsonl(files[1])
    source = f"{config.path}: {config.train} and {config.test}"
    return two_sets("folder", source, sets, files, config.split, _rule(place / _TRUTH))


def pool(config: Folder, folder: Path, size: int, seed: int) -> LabelledScenes:
    """Up to ``size`` scenes of train.jsonl that are not among the training scenes."""
    place = _place(config, folder)
    known = set(read_jsonl(_file(place, config.train, "train")).ids)
    scenes = read_jsonl(_file(place, _ALL, "train"))
    others = [index for index, name in enumerate(scenes.ids) if name not in known]
    return scenes.subset(random.Random(f"pool/{seed}").sample(others, min(size, len(others))))


def _place(config: Folder, folder: Path) -> Path:
    assert config.path is not None
    place = folder / config.path
    if not place.is_dir():
        kind = "is a file" if place.exists() else "does not exist"
        raise SceneError(f"{config.path} {kind}; dataset.path names a folder with train.jsonl and test.jsonl")
    return place


def _file(place: Path, name: str, key: str) -> Path:
    path = place / name
    if not path.is_file():
        known = [found.name for found in place.glob("*.jsonl")]
        hint = did_you_mean(name, known) if known else "; it has no *.jsonl files"
        raise ConfigError(f"dataset.{key}: {place.name} has no file {name}{hint}")
    return path


def _rule(path: Path) -> Rule | None:
    if not path.is_file():
        return None
    try:
        truth = read_json(path.read_bytes())
    except JsonTextError as error:
        raise SceneError(f"{path}: {error.problem}") from None
    check = truth.get("check") if isinstance(truth, dict) else None
    if not isinstance(truth, dict) or not (check is None or isinstance(check, Mapping)):
        raise SceneError(f'{path}: expected the rule behind the labels, {{"check", "statement"?}}')
    if check is None:
        return None
    try:
        compile_check(check)
    except CheckError as error:
        raise SceneError(f"{path}: check: {error}") from None
    statement = truth.get("statement")
    return Rule(statement if isinstance(statement, str) else sentence(check), dict(check))

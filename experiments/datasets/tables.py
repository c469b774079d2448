"""Tables that come with scikit-learn as scenes: a row is a flat scene, its label whether its class passes.

No rule is known behind these labels. scikit-learn is imported when a table is loaded and not before, since
that takes more than a second.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from evaluator import SceneError
from experiments.config.datasets import Tables
from experiments.config.sentence import ConfigError, did_you_mean
from experiments.datasets.base import Dataset
from experiments.datasets.split import described, split
from induce.scenes import LabelledScenes

_PASSING = {"breast_cancer": "benign", "wine": "class_0", "iris": "versicolor", "digits": "0"}
_AT_LEAST = 150.0
"""Of the progression of diabetes after a year, which runs from 25 to 346 with a mean of 152."""
_DIABETES = {
    "bmi": "body_mass_index",
    "bp": "blood_pressure",
    "s1": "total_cholesterol",
    "s2": "low_density_lipoproteins",
    "s3": "high_density_lipoproteins",
    "s4": "cholesterol_ratio",
    "s5": "log_triglycerides",
    "s6": "blood_sugar",
}
_DIGITS = 6
"""Significant digits kept of a value; the tables have no more, but for the noise of floating point."""


class _Table(NamedTuple):
    rows: list[dict[str, Any]]
    targets: list[str] | list[float]


def dataset(config: Tables) -> Dataset:
    """Training and unseen rows of a table. Raises :class:`ConfigError` for classes that it has not."""
    table = _loaded(config.table)
    labels, says = _labels(config, table.targets)
    kept = [index for index, label in enumerate(labels) if label is not None]
    scenes = LabelledScenes(
        ids=tuple(f"row-{index + 1:04}" for index in kept),
        labels=tuple(labels[index] for index in kept),
        scenes=tuple({"sample": table.rows[index]} for index in kept),
        weights=(1.0,) * len(kept),
    )
    if len(set(scenes.labels)) < 2:
        raise SceneError(f"all rows of {config.table} have the same label: {says}; choose another bound")
    train, test = split(scenes, config.split)
    return Dataset("tables", f"{config.table}, {says}, {described(config.split)}", train, test)


def _loaded(name: str) -> _Table:
    from sklearn import datasets

    options = {"scaled": False} if name == "diabetes" else {}
    bunch = getattr(datasets, f"load_{name}")(**options)
    keys = [_key(str(feature)) for feature in bunch.feature_names]
    rows = [dict(zip(keys, map(_number, row), strict=True)) for row in bunch.data.tolist()]
    if name == "diabetes":
        return _Table(rows, bunch.target.tolist())
    return _Table(rows, [str(bunch.target_names[target]) for target in bunch.target])


def _key(feature: str) -> str:
    """A feature's name as a key: words joined by underscores."""
    return _DIABETES.get(feature) or re.sub(r"\W+", "_", feature).strip("_")


def _number(value: float) -> float | int:
    return int(value) if value.is_integer() else float(f"{value:.{_DIGITS}g}")


def _labels(config: Tables, targets: list[str] | list[float]) -> tuple[list[str | None], str]:
    """The label of each row, None for rows left out, and what passes in words."""
    if config.table == "diabetes":
        for key in ("passing", "failing"):
            if getattr(config, key) is not None:
                raise ConfigError(
                    f"dataset.{key}: diabetes has a number and no classes; give dataset.at_least"
                )
        bound = _AT_LEAST if config.at_least is None else config.at_least
        verdicts = [float(target) >= bound for target in targets]
        return [
            "pass" if passes else "fail" for passes in verdicts
        ], f"progression of {bound:g} or more passes"
    if config.at_least is not None:
        raise ConfigError(f"dataset.at_least: {config.table} has classes; give dataset.passing")
    known = list(dict.fromkeys(map(str, targets)))
    passing = (_PASSING[config.table],) if config.passing is None else config.passing
    failing = tuple(name for name in known if name not in passing)
    failing = failing if config.failing is None else config.failing
    for key, names in (("passing", passing), ("failing", failing)):
        for name in names:
            if name not in known:
                hint = did_you_mean(name, known)
                raise ConfigError(f"dataset.{key}: {name!r} is no class of {config.table}{hint}")
    both = next((name for name in passing if name in failing), None)
    if both is not None:
        raise ConfigError(f"dataset.failing: {both} passes already (dataset.passing)")
    if not passing or not failing:
        key = "failing" if passing else "passing"
        raise ConfigError(f"dataset.{key}: some class has to {key.removesuffix('ing')}, and none is left")
    label = dict.fromkeys(passing, "pass") | dict.fromkeys(failing, "fail")
    says = f"{_listed(passing)} {'passes' if len(passing) == 1 else 'pass'}"
    return [label.get(str(target)) for target in targets], says


def _listed(names: tuple[str, ...]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last

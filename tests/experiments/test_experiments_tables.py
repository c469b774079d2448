"""scikit-learn's tables as scenes: readable keys, classes that pass, splits, and mistakes in a sentence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from evaluator import SceneError
from experiments.config import ConfigError, Split, Tables
from experiments.datasets.base import Dataset
from experiments.datasets.dataset import load_dataset


def load(**values: Any) -> Dataset:
    return load_dataset(Tables(**values), Path())


@pytest.mark.parametrize(
    ("table", "passing", "failing", "keys", "path"),
    [
        ("breast_cancer", 357, 212, 30, "mean_concave_points"),
        ("wine", 59, 119, 13, "od280_od315_of_diluted_wines"),
        ("iris", 50, 100, 4, "petal_length_cm"),
        ("digits", 178, 1619, 64, "pixel_0_0"),
        ("diabetes", 204, 238, 10, "body_mass_index"),
    ],
)
def test_a_table_is_scenes_with_readable_keys(
    table: str, passing: int, failing: int, keys: int, path: str
) -> None:
    dataset = load(table=table)
    scenes = [*dataset.train.scenes, *dataset.test.scenes]
    labels = [*dataset.train.labels, *dataset.test.labels]
    assert (labels.count("pass"), labels.count("fail")) == (passing, failing)
    assert all(len(scene["sample"]) == keys and path in scene["sample"] for scene in scenes)
    assert all(re.fullmatch(r"[a-z]\w*", key) for key in scenes[0]["sample"])
    assert all(len(repr(value)) <= 9 for scene in scenes for value in scene["sample"].values())
    assert dataset.hidden_rule is None
    assert dataset.source.startswith(f"{table}, ")


def test_classes_are_chosen() -> None:
    dataset = load(table="digits", passing=("0",), failing=("6",))
    counts = {label: dataset.train.counts[label] + dataset.test.counts[label] for label in ("pass", "fail")}
    assert counts == {"pass": 178, "fail": 181}
    assert dataset.source == "digits, 0 passes, 25% of each label kept unseen, seed 0"
    assert load(table="wine", passing=("class_0", "class_2")).source.startswith(
        "wine, class_0 and class_2 pass"
    )


def test_a_number_passes_from_a_bound_on() -> None:
    dataset = load(table="diabetes", at_least=300)
    assert dataset.train.counts["pass"] + dataset.test.counts["pass"] == 14
    assert dataset.source.startswith("diabetes, progression of 300 or more passes")


def test_folds_of_a_table_are_complete() -> None:
    parts = [load(table="iris", split=Split(kind="kfold", folds=3, fold=fold)) for fold in (1, 2, 3)]
    assert sorted(name for part in parts for name in part.test.ids) == [f"row-{n:04}" for n in range(1, 151)]
    assert {len(part.test) for part in parts} == {50}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            {"passing": ("benin",)},
            "dataset.passing: 'benin' is no class of breast_cancer; did you mean 'benign'",
        ),
        ({"failing": ("benign",)}, "dataset.failing: benign passes already (dataset.passing)"),
        ({"passing": ("benign", "malignant")}, "dataset.failing: some class has to fail, and none is left"),
        ({"passing": ()}, "dataset.passing: some class has to pass, and none is left"),
        ({"at_least": 3}, "dataset.at_least: breast_cancer has classes; give dataset.passing"),
        ({"table": "diabetes", "failing": ("a",)}, "dataset.failing: diabetes has a number and no classes"),
        ({"table": "diabetes", "at_least": 1e4}, "all rows of diabetes have the same label"),
    ],
)
def test_a_class_that_is_not_there_is_one_sentence(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises((ConfigError, SceneError)) as caught:
        load(**values)
    assert str(caught.value).startswith(sentence)

"""Datasets from files: JSONL and Parquet, two sets or one that is split, and folders with their rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pandas
import pytest

from evaluator import SceneError
from experiments.config import ConfigError, Folder, Jsonl, Parquet, Split, parse_config
from experiments.datasets.dataset import load_dataset, load_pool
from experiments.run import run_experiment, run_record

ROWS: list[dict[str, Any]] = [
    {"id": f"s{n:02}", "label": "pass" if n % 3 else "fail", "scene": {"n": n}} for n in range(24)
]
CHECK = {"op": "gte", "path": "n", "value": 1}


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder `set` with train.jsonl (16 scenes), test.jsonl (8) and train_small.jsonl (6 of the first)."""
    inside = tmp_path / "set"
    inside.mkdir()
    write(inside / "train.jsonl", ROWS[:16])
    write(inside / "test.jsonl", ROWS[16:])
    write(inside / "train_small.jsonl", ROWS[:6])
    return tmp_path


def truth(folder: Path, text: str) -> None:
    (folder / "set/truth.json").write_text(text, encoding="utf-8")


def test_paths_start_at_the_working_folder(tmp_path: Path) -> None:
    for name in ("a", "b"):
        rows = [{"label": label, "scene": {name: n}} for n, label in enumerate(["pass", "fail"])]
        write(tmp_path / f"{name}.jsonl", rows)
    dataset = load_dataset(Jsonl(train="a.jsonl", test="b.jsonl"), tmp_path)
    assert dataset.train.scenes == ({"a": 0}, {"a": 1})
    assert dataset.test.scenes == ({"b": 0}, {"b": 1})
    assert dataset.files == (tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert dataset.hidden_rule is None


def test_scenes_without_a_label_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "some.jsonl", [{"label": "pass", "scene": 1}, {"scene": 2}])
    with pytest.raises(SceneError, match=r"some\.jsonl:2.*no label"):
        load_dataset(Jsonl(path="some.jsonl"), tmp_path)


def test_two_files_are_joined_where_a_split_is_asked_for(folder: Path) -> None:
    files = Jsonl(train="set/train.jsonl", test="set/test.jsonl")
    given = load_dataset(files, folder)
    assert given.source == "set/train.jsonl and set/test.jsonl"
    assert (len(given.train), len(given.test)) == (16, 8)
    folds = msgspec.structs.replace(files, split=Split(kind="kfold", folds=4, fold=2))
    anew = load_dataset(folds, folder)
    assert anew.source == f"{given.source}, joined, fold 2 of 4 kept unseen, seed 0"
    assert (len(anew.train), len(anew.test)) == (18, 6)
    assert sorted((*anew.train.ids, *anew.test.ids)) == [row["id"] for row in ROWS]


def test_files_that_share_an_id_are_not_joined(folder: Path) -> None:
    config = Jsonl(train="set/train.jsonl", test="set/train_small.jsonl", split=Split(kind="stratified"))
    with pytest.raises(SceneError, match=r"have the same id s00.*dataset\.split\.kind=given"):
        load_dataset(config, folder)


def test_parquet_holds_the_same_scenes_as_jsonl(folder: Path) -> None:
    flat = [{"id": row["id"], "label": row["label"], "n": row["scene"]["n"]} for row in ROWS]
    pandas.DataFrame(flat).to_parquet(folder / "all.parquet")
    write(folder / "all.jsonl", ROWS)
    lines = load_dataset(Jsonl(path="all.jsonl"), folder)
    table = load_dataset(Parquet(path="all.parquet"), folder)
    assert table.name == "parquet"
    assert (table.train, table.test) == (lines.train, lines.test)


def test_columns_of_parquet_have_the_names_that_are_given(tmp_path: Path) -> None:
    rows = {"ok": [True, False, True, False], "w": [1.0, 2.0, 1.0, 1.0], "n": [1, 2, 3, 4]}
    pandas.DataFrame(rows).to_parquet(tmp_path / "t.parquet")
    config = Parquet(train="t.parquet", test="t.parquet", label_column="ok", id_column="", weight_column="w")
    scenes = load_dataset(config, tmp_path).train
    assert scenes.labels == ("pass", "fail", "pass", "fail")
    assert scenes.weights == (1.0, 2.0, 1.0, 1.0)
    assert scenes.scenes == ({"n": 1}, {"n": 2}, {"n": 3}, {"n": 4})


def test_a_folder_has_two_sets_and_perhaps_their_rule(folder: Path) -> None:
    dataset = load_dataset(Folder(path="set"), folder)
    assert (len(dataset.train), len(dataset.test), dataset.hidden_rule) == (16, 8, None)
    assert dataset.files == (folder / "set/train.jsonl", folder / "set/test.jsonl")
    truth(folder, json.dumps({"check": None, "statement": "None known."}))
    assert load_dataset(Folder(path="set"), folder).hidden_rule is None
    truth(folder, json.dumps({"check": CHECK}))
    rule = load_dataset(Folder(path="set"), folder).hidden_rule
    assert rule is not None
    assert (rule.check, rule.says) == (CHECK, "n is at least 1")
    truth(folder, json.dumps({"check": CHECK, "statement": "more than none"}))
    rule = load_dataset(Folder(path="set"), folder).hidden_rule
    assert rule is not None
    assert rule.says == "more than none"


def test_the_rest_of_a_folder_can_be_asked_for(folder: Path) -> None:
    config = Folder(path="set", train="train_small.jsonl")
    assert len(load_dataset(config, folder).train) == 6
    pool = load_pool(config, 200, folder)
    assert sorted(pool.ids) == [f"s{n:02}" for n in range(6, 16)]
    assert load_pool(config, 4, folder, seed=1).ids == load_pool(config, 4, folder, seed=1).ids
    assert load_pool(config, 4, folder, seed=1).ids != load_pool(config, 4, folder, seed=2).ids


def test_a_run_asks_for_the_rest_of_a_folder(folder: Path) -> None:
    """Two scenes cannot tell the rule; those asked for join the training scenes until none is unsure."""
    write(folder / "set/train_small.jsonl", ROWS[:2])
    tree = {"dataset": {"kind": "folder", "path": "set", "train": "train_small.jsonl"}}
    outcome = run_experiment(parse_config(tree | {"asking": {"labels": 3}}), folder)
    assert outcome.answers == 3
    assert len(outcome.dataset.train) == 5
    assert set(outcome.dataset.train.ids) <= {row["id"] for row in ROWS[:16]}


def test_the_split_and_its_seed_are_parameters_of_the_run(folder: Path) -> None:
    write(folder / "all.jsonl", ROWS)
    split = {"kind": "kfold", "folds": 3, "fold": 2, "seed": 5}
    tree = {"dataset": {"kind": "jsonl", "path": "all.jsonl", "split": split}}
    params = run_record(run_experiment(parse_config(tree), folder), ()).params
    assert {key: params[f"dataset.split.{key}"] for key in split} == split


@pytest.mark.parametrize(
    ("config", "text", "sentence"),
    [
        (Folder(path="nowhere"), "{}", "nowhere does not exist; dataset.path names a folder"),
        (Folder(path="set/test.jsonl"), "{}", "set/test.jsonl is a file; dataset.path names a folder"),
        (
            Folder(path="set", train="train_smal.jsonl"),
            "{}",
            "dataset.train: set has no file train_smal.jsonl; did you mean 'train_small.jsonl'?",
        ),
        (Folder(path="set", test="x"), "{}", "dataset.test: set has no file x; known are test.jsonl, train"),
        (
            Folder(path="set"),
            "[1]",
            'truth.json: expected the rule behind the labels, {"check", "statement"?}',
        ),
        (Folder(path="set"), '{"check": "gte"}', "truth.json: expected the rule behind the labels"),
        (Folder(path="set"), '{"check": {"op": "gt"}}', "truth.json: check: "),
        (Folder(path="set"), '{"check": ', "truth.json: "),
    ],
)
def test_an_unusable_folder_is_one_sentence(folder: Path, config: Folder, text: str, sentence: str) -> None:
    truth(folder, text)
    with pytest.raises((SceneError, ConfigError)) as caught:
        load_dataset(config, folder)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)

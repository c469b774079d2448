"""JSONL datasets: the split is stratified, seeded, and the same whatever the order of the lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator import SceneError
from experiments.config import Jsonl
from experiments.datasets.dataset import load_dataset
from experiments.datasets.files import read_jsonl as read
from induce.scenes import LabelledScenes, load_scenes


def numbered(passes: int, fails: int) -> LabelledScenes:
    labels = ["pass"] * passes + ["fail"] * fails
    return load_scenes([{"id": f"s{n}", "label": label, "scene": {"n": n}} for n, label in enumerate(labels)])


@pytest.mark.parametrize(("share", "kept"), [(0.25, (5, 2)), (0.01, (1, 1)), (0.99, (19, 7))])
def test_each_label_is_shared_out(share: float, kept: tuple[int, int]) -> None:
    train, test = split(numbered(20, 8), share, seed=0)
    assert (test.counts["pass"], test.counts["fail"]) == kept
    assert sorted((*train.ids, *test.ids)) == sorted(numbered(20, 8).ids)


def test_the_split_follows_the_seed_and_not_the_order() -> None:
    scenes = numbered(12, 12)
    backwards = scenes.subset(reversed(range(24)))
    assert set(split(scenes, 0.25, 3)[1].ids) == set(split(backwards, 0.25, 3)[1].ids)
    assert set(split(scenes, 0.25, 3)[1].ids) != set(split(scenes, 0.25, 4)[1].ids)


def test_a_label_of_one_scene_cannot_be_split() -> None:
    with pytest.raises(SceneError, match=r"only s5 is labelled fail.*dataset\.train and dataset\.test"):
        split(numbered(5, 1), 0.5, 0)


def test_scenes_without_a_label_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text('{"label": "pass", "scene": 1}\n{"scene": 2}\n', encoding="utf-8")
    with pytest.raises(SceneError, match=r"some\.jsonl:2.*no label"):
        read(path)


def test_paths_start_at_the_working_folder(tmp_path: Path) -> None:
    for name in ("a", "b"):
        lines = [json.dumps({"label": label, "scene": {name: n}}) for n, label in enumerate(["pass", "fail"])]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    dataset = load_dataset(Jsonl(train="a.jsonl", test="b.jsonl"), tmp_path)
    assert dataset.train.scenes == ({"a": 0}, {"a": 1})
    assert dataset.test.scenes == ({"b": 0}, {"b": 1})
    assert dataset.files == (tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert dataset.hidden_rule is None

"""Folds that are stratified, deterministic and free of leaks; accuracy by the standard evaluator."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import SceneError
from induce.crossval import accuracy_of, class_sizes, cross_validate, stratified_folds
from induce.scenes import LabelledScenes, load_scenes

SMALL = {"op": "lte", "path": "n", "value": 4}


def numbered(labels: list[bool]) -> LabelledScenes:
    return load_scenes([{"id": f"s{n}", "label": label, "scene": {"n": n}} for n, label in enumerate(labels)])


def test_accuracy_names_the_wrong_ones() -> None:
    scenes = numbered([True] * 4 + [False] * 4)
    accuracy = accuracy_of(SMALL, scenes)
    assert (accuracy.right, accuracy.total, accuracy.share, accuracy.wrong) == (7, 8, 0.875, ("s4",))
    assert accuracy_of({"id": "x", "expr": SMALL}, scenes) == accuracy
    with pytest.raises(SceneError, match="no label"):
        accuracy_of(SMALL, load_scenes([{"scene": {}}]))


@given(st.integers(5, 40), st.integers(5, 40), st.integers(2, 5), st.integers(0, 3))
def test_folds_part_the_scenes_and_keep_the_shares(passes: int, fails: int, folds: int, seed: int) -> None:
    scenes = numbered([True] * passes + [False] * fails)
    parts = stratified_folds(scenes, folds, seed)
    assert sorted(i for part in parts for i in part) == list(range(passes + fails))
    for label, count in (("pass", passes), ("fail", fails)):
        sizes = [sum(scenes.labels[i] == label for i in part) for part in parts]
        assert max(sizes) - min(sizes) <= 1
        assert sum(sizes) == count
    assert max(map(len, parts)) - min(map(len, parts)) <= 2


def test_folds_do_not_depend_on_the_order() -> None:
    scenes = numbered([n % 3 == 0 for n in range(30)])
    order = random.Random(5).sample(range(30), 30)
    shuffled = scenes.subset(order)

    def by_id(which: LabelledScenes, seed: int) -> list[list[str]]:
        return [sorted(which.ids[i] for i in part) for part in stratified_folds(which, 5, seed)]

    assert by_id(scenes, 1) == by_id(shuffled, 1)
    assert by_id(scenes, 1) != by_id(scenes, 2)


def test_equal_scenes_share_a_fold() -> None:
    records: list[dict[str, Any]] = [
        {"label": n % 2, "scene": {"n": [n // 3, 0.5]}} for n in range(40) for _ in range(n % 4 + 1)
    ]
    scenes = load_scenes(records)
    for part in stratified_folds(scenes, 4):
        inside = {scenes.canonical[i] for i in part}
        assert all(scenes.canonical[i] not in inside for i in range(len(scenes)) if i not in part)


def test_too_many_folds() -> None:
    scenes = load_scenes(
        [{"label": 1, "scene": n} for n in range(9)]
        + [{"label": 0, "scene": scene} for scene in ("a", "b", "b", "c", {"x": 1}, {"x": 1.0})]
    )
    assert class_sizes(scenes) == {"pass": 9, "fail": 4}
    assert len(stratified_folds(scenes, 4)) == 4
    for folds in (1, 5):
        with pytest.raises(ValueError, match=rf"^cannot make {folds} folds: .*there are 9 pass and 4 fail$"):
            stratified_folds(scenes, folds)


def test_each_scene_is_judged_by_a_check_that_did_not_see_it() -> None:
    scenes = numbered([n <= 9 for n in range(20)])
    seen: list[frozenset[str]] = []

    def learn(part: LabelledScenes) -> dict[str, Any]:
        """The tightest bound: wrong exactly where the largest pass is held out."""
        seen.append(frozenset(part.ids))
        largest = max(s["n"] for s, label in zip(part.scenes, part.labels, strict=True) if label == "pass")
        return {"op": "lte", "path": "n", "value": largest}

    validation = cross_validate(scenes, learn, folds=5)
    assert validation.folds == len(seen) == 5
    assert validation.accuracy.wrong == ("s9",)
    assert (validation.accuracy.right, validation.accuracy.total) == (19, 20)
    parts = [frozenset(scenes.ids) - ids for ids in seen]
    assert frozenset.union(*parts) == frozenset(scenes.ids)
    assert sum(map(len, parts)) == 20

"""Splits: complete and disjoint, the same in any order of the lines, labels shared out, groups whole."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator import SceneError
from experiments.config import Split
from experiments.datasets.split import described, split
from induce.scenes import LabelledScenes, load_scenes


def numbered(passes: int, fails: int) -> LabelledScenes:
    labels = ["pass"] * passes + ["fail"] * fails
    return load_scenes([{"id": f"s{n}", "label": label, "scene": {"n": n}} for n, label in enumerate(labels)])


def grouped(groups: list[tuple[int, bool]]) -> LabelledScenes:
    rows: list[dict[str, Any]] = [
        {"id": f"s{n}", "label": "pass" if passes else "fail", "scene": {"run": {"task": task}}}
        for n, (task, passes) in enumerate(groups)
    ]
    return load_scenes(rows)


@pytest.mark.parametrize(("share", "kept"), [(0.25, (5, 2)), (0.01, (1, 1)), (0.99, (19, 7))])
def test_each_label_is_shared_out(share: float, kept: tuple[int, int]) -> None:
    train, test = split(numbered(20, 8), Split(test_share=share))
    assert (test.counts["pass"], test.counts["fail"]) == kept
    assert sorted((*train.ids, *test.ids)) == sorted(numbered(20, 8).ids)


@pytest.mark.parametrize(
    "config",
    [
        Split(),
        Split(kind="stratified", test_share=0.4),
        Split(kind="kfold"),
        Split(kind="kfold", group="n", fold=3),
        Split(kind="grouped", group="n"),
    ],
)
def test_a_split_follows_the_seed_and_not_the_order(config: Split) -> None:
    scenes = numbered(12, 12)
    backwards = scenes.subset(reversed(range(24)))
    other = Split(**{**{name: getattr(config, name) for name in config.__struct_fields__}, "seed": 4})
    assert set(split(scenes, config)[1].ids) == set(split(backwards, config)[1].ids)
    assert set(split(scenes, config)[1].ids) != set(split(scenes, other)[1].ids)


def test_a_label_of_one_scene_cannot_be_split() -> None:
    for kind in ("stratified", "kfold"):
        with pytest.raises(SceneError, match=r"only s5 is labelled fail, too few to keep some unseen"):
            split(numbered(5, 1), Split(kind=kind))


@given(passes=st.integers(2, 30), fails=st.integers(2, 30), folds=st.integers(2, 9), seed=st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_folds_are_disjoint_complete_and_balanced(passes: int, fails: int, folds: int, seed: int) -> None:
    scenes = numbered(passes, fails)
    if folds > len(scenes):
        with pytest.raises(SceneError, match="too few for"):
            split(scenes, Split(kind="kfold", folds=folds))
        return
    parts = [
        split(scenes, Split(kind="kfold", folds=folds, fold=fold, seed=seed)) for fold in range(1, folds + 1)
    ]
    assert sorted(name for _, test in parts for name in test.ids) == sorted(scenes.ids)
    for train, test in parts:
        assert not set(train.ids) & set(test.ids)
        assert len(train) + len(test) == len(scenes)
    for label, number in (("pass", passes), ("fail", fails)):
        sizes = [test.counts[label] for _, test in parts]
        assert max(sizes) - min(sizes) <= 1, (label, number)


@given(
    groups=st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=8, max_size=60),
    kind=st.sampled_from(["grouped", "kfold"]),
    share=st.sampled_from([0.1, 0.25, 0.5, 0.9]),
    seed=st.integers(0, 3),
)
@settings(max_examples=120, deadline=None)
def test_groups_never_straddle(groups: list[tuple[int, bool]], kind: Any, share: float, seed: int) -> None:
    scenes = grouped(groups)
    labels, tasks = Counter(passes for _, passes in groups), {task for task, _ in groups}
    config = Split(kind=kind, group="run.task", test_share=share, folds=2, seed=seed)
    if 1 in labels.values() or len(tasks) < 2:
        with pytest.raises(SceneError):
            split(scenes, config)
        return
    train, test = split(scenes, config)
    assert sorted((*train.ids, *test.ids)) == sorted(scenes.ids)
    assert len(train) > 0
    assert len(test) > 0
    sides = [{scene["run"]["task"] for scene in side.scenes} for side in (train, test)]
    assert not sides[0] & sides[1]


def test_groups_come_near_the_share_that_is_wanted() -> None:
    scenes = grouped([(n // 5, n % 2 == 0) for n in range(400)])
    for seed in range(5):
        test = split(scenes, Split(kind="grouped", group="run.task", seed=seed))[1]
        assert 95 <= len(test) <= 105
        assert abs(test.counts["pass"] - 50) <= 5


def test_a_group_is_what_equals_as_json() -> None:
    rows = [
        {"id": f"s{n}", "label": "pass", "scene": {"t": value}} for n, value in enumerate([1, 1.0, "1", "1"])
    ]
    train, test = split(load_scenes(rows), Split(kind="grouped", group="t", test_share=0.5))
    assert {frozenset(train.ids), frozenset(test.ids)} == {frozenset(("s0", "s1")), frozenset(("s2", "s3"))}


@pytest.mark.parametrize(
    ("group", "sentence"),
    [
        ("run.job", r"scene s0 has nothing at run\.job \(dataset\.split\.group\)"),
        ("run", r"too few|nothing at"),
    ],
)
def test_a_path_that_tells_no_groups_is_one_sentence(group: str, sentence: str) -> None:
    scenes = grouped([(1, True), (1, False), (1, True), (1, False)])
    with pytest.raises(SceneError, match=sentence):
        split(scenes, Split(kind="kfold", group=group, folds=2))


def test_a_split_says_what_it_is() -> None:
    assert described(Split()) == "25% of each label kept unseen, seed 0"
    assert (
        described(Split(kind="grouped", group="task", seed=2))
        == "25% of the scenes kept unseen, groups by task kept whole, seed 2"
    )
    assert described(Split(kind="kfold", fold=2)) == "fold 2 of 5 kept unseen, seed 0"

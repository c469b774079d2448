"""The MONK's problems: 432 robots, the published rules, sizes and noise."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.config import Monks
from experiments.datasets.dataset import load_dataset
from experiments.datasets.monks import RULES
from experiments.metrics import grade
from induce.learn import learn_check

FIRSTS = {
    "head_shape": "round",
    "body_shape": "round",
    "is_smiling": "yes",
    "holding": "sword",
    "jacket_color": "red",
    "has_tie": "yes",
}


def published(rule: str, robot: dict[str, str]) -> bool:
    """The rules as the report words them."""
    if rule == "monks1":
        return robot["head_shape"] == robot["body_shape"] or robot["jacket_color"] == "red"
    if rule == "monks2":
        return sum(robot[name] == first for name, first in FIRSTS.items()) == 2
    green_sword = robot["jacket_color"] == "green" and robot["holding"] == "sword"
    return green_sword or (robot["jacket_color"] != "blue" and robot["body_shape"] != "octagon")


@pytest.mark.parametrize(
    ("rule", "size", "passing", "flipped"),
    [("monks1", 124, 216, 0), ("monks2", 169, 142, 0), ("monks3", 122, 228, 6)],
)
def test_sizes_rules_and_noise_are_the_published_ones(
    rule: str, size: int, passing: int, flipped: int
) -> None:
    dataset = load_dataset(Monks(rule=rule), Path())
    train, test = dataset.train, dataset.test
    assert (len(train), len(test)) == (size, 432 - size)
    assert len({*train.ids, *test.ids}) == 432
    robots = [*zip(train.scenes, train.labels, strict=True), *zip(test.scenes, test.labels, strict=True)]
    assert sum(published(rule, scene["robot"]) for scene, _ in robots) == passing
    assert sum((label == "pass") != published(rule, scene["robot"]) for scene, label in robots) == flipped
    assert len(grade(RULES[rule].check, train).mistakes) == flipped
    assert not grade(RULES[rule].check, test).mistakes


def test_robots_are_drawn_by_the_seed_each_label_by_its_share() -> None:
    one, same, other = (load_dataset(Monks(rule="monks2", train=60, seed=seed), Path()) for seed in (1, 1, 2))
    assert one.train == same.train
    assert set(one.train.ids) != set(other.train.ids)
    assert one.train.counts == other.train.counts == {"pass": 20, "fail": 40}


@pytest.mark.parametrize("train", [2, 430])
def test_both_labels_are_there_at_any_size(train: int) -> None:
    dataset = load_dataset(Monks(rule="monks2", train=train), Path())
    assert len(dataset.train) == train
    assert min(dataset.train.counts["pass"], dataset.train.counts["fail"]) >= 1


def test_noise_is_as_given() -> None:
    dataset = load_dataset(Monks(rule="monks1", train=50, noise=0.2), Path())
    assert len(grade(RULES["monks1"].check, dataset.train).mistakes) == 10
    assert dataset.source.endswith("rule monks1, seed 0, 20% of the training labels flipped")
    assert not grade(
        RULES["monks3"].check, load_dataset(Monks(rule="monks3", noise=0), Path()).train
    ).mistakes


def test_the_first_problem_is_solved() -> None:
    dataset = load_dataset(Monks(), Path())
    result = learn_check(dataset.train.scenes, dataset.train.labels)
    assert not grade(result.check, dataset.test).mistakes

"""The warehouse generator: the same scenes everywhere, labelled by a rule, balanced, and learnable."""

from __future__ import annotations

import pytest

from evaluator import run_check
from experiments.datasets.warehouse import RULES, generate
from experiments.metrics import grade
from induce.learn import learn_check

PINNED = {
    ("train", 0): "ff6e9a0174bf3441",
    ("train", 1): "81cb3d2fd7002daf",
    ("test", 0): "330e1185b7dbb914",
}


@pytest.mark.parametrize("rule", RULES)
def test_labels_are_the_rules_verdicts_and_balanced(rule: str) -> None:
    scenes = generate(rule, "train", 31, seed=4)
    verdicts = tuple(
        "pass" if run_check(scene, RULES[rule].check).passed else "fail" for scene in scenes.scenes
    )
    assert scenes.labels == verdicts
    assert scenes.counts == {"pass": 16, "fail": 15}
    assert len(set(scenes.ids)) == 31


def test_a_seed_means_the_same_scenes_everywhere() -> None:
    for (part, seed), digest in PINNED.items():
        assert generate("within_budget", part, 12, seed=seed).digest().startswith(digest)


def test_noise_flips_exactly_its_share_and_nothing_else() -> None:
    clean, noisy = generate("inspected", "train", 40), generate("inspected", "train", 40, noise=0.1)
    assert noisy.scenes == clean.scenes
    assert sum(a != b for a, b in zip(clean.labels, noisy.labels, strict=True)) == 4


def test_a_larger_set_holds_the_smaller_one() -> None:
    small, large = generate("inspected", "train", 4), generate("inspected", "train", 40)
    assert all(scene in large.scenes for scene in small.scenes)


def test_training_and_unseen_scenes_differ() -> None:
    train, unseen = generate("inspected", "train", 20), generate("inspected", "test", 20)
    assert not any(scene in unseen.scenes for scene in train.scenes)


# Of three terms there is a test of its own: on so few scenes one test with mistakes is cheaper.
@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "cooled_or_heavy_or_small"])
def test_hidden_rules_of_up_to_two_terms_are_learnt(rule: str) -> None:
    train, unseen = generate(rule, "train", 60), generate(rule, "test", 200)
    limits = {"max_terms": 2, "max_literals": 3, "max_where": 2, "max_nesting": 1, "work_limit": 500}
    result = learn_check(train.scenes, train.labels, ids=train.ids, **limits)
    assert grade(result.check, unseen).confusion.accuracy >= 0.9


def test_a_hidden_rule_of_three_terms_is_learnt_from_more_scenes() -> None:
    train, unseen = (generate("cooled_or_heavy_or_small", *part) for part in (("train", 120), ("test", 200)))
    limits = {"max_terms": 3, "max_literals": 2, "max_where": 1, "max_nesting": 1, "work_limit": 5_000}
    result = learn_check(train.scenes, train.labels, ids=train.ids, engine="asp", **limits)
    assert grade(result.check, unseen).confusion.accuracy >= 0.9

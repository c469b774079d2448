"""Generated scenes of every kind: labelled by the rule, balanced, the same everywhere, near misses, noise."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluator import canonical_json, run_check, sentence
from experiments.config import DatasetConfig, Traces, Trains, Warehouse, Zendo, parse_config
from experiments.datasets.dataset import load_dataset, load_pool
from experiments.datasets.generator import Generator
from experiments.datasets.traces import TRACES
from experiments.datasets.trains import TRAINS
from experiments.datasets.warehouse import WAREHOUSE
from experiments.datasets.zendo import ZENDO
from experiments.metrics import compare_with_rule, grade
from induce.learn import learn_check

HERE = Path()
GENERATORS = (WAREHOUSE, TRAINS, ZENDO, TRACES)
RULES = [(generator, rule) for generator in GENERATORS for rule in generator.rules]
NAMES = [f"{generator.name}-{rule}" for generator, rule in RULES]
DIGESTS = {
    "warehouse": "416fee4dd505f061",
    "trains": "9fb7695be390595e",
    "zendo": "2d7c33b3e25f5874",
    "traces": "b737b67ca316e583",
}
DIGEST_ALL = """
import json
from experiments.datasets.dataset import load_dataset
from experiments.config import parse_config
from pathlib import Path
found = {}
for kind in ("warehouse", "trains", "zendo", "traces"):
    scenes = load_dataset(parse_config({"dataset": {"kind": kind, "train": 12}}).dataset, Path())
    found[kind] = scenes.train.digest()
print(json.dumps(found))
"""


@pytest.mark.parametrize(("generator", "rule"), RULES, ids=NAMES)
def test_labels_are_the_rules_verdicts_and_balanced(generator: Generator, rule: str) -> None:
    scenes = generator.scenes(rule, "train", 31, near_misses=0.5, seed=4)
    check = generator.rules[rule].check
    assert scenes.labels == tuple(
        "pass" if run_check(scene, check).passed else "fail" for scene in scenes.scenes
    )
    assert scenes.counts == {"pass": 16, "fail": 15}
    assert len(set(scenes.ids)) == 31
    assert len(set(map(canonical_json, scenes.scenes))) == 31


@pytest.mark.parametrize(("generator", "rule"), RULES, ids=NAMES)
def test_a_rule_says_something_and_can_be_said(generator: Generator, rule: str) -> None:
    hidden = generator.rules[rule]
    assert hidden.says
    assert sentence(hidden.check)
    scenes = generator.scenes(rule, "train", 8)
    assert compare_with_rule(hidden.check, (), scenes, {}).flipped == 0


@pytest.mark.parametrize("generator", GENERATORS, ids=lambda generator: generator.name)
def test_a_larger_set_holds_the_smaller_one(generator: Generator) -> None:
    rule = next(iter(generator.rules))
    small, large = (generator.scenes(rule, "train", size, near_misses=0.5) for size in (12, 40))
    assert {canonical_json(scene) for scene in small.scenes} <= {
        canonical_json(scene) for scene in large.scenes
    }


@pytest.mark.parametrize("generator", GENERATORS, ids=lambda generator: generator.name)
def test_parts_and_seeds_differ(generator: Generator) -> None:
    rule = next(iter(generator.rules))
    sets = [
        {canonical_json(scene) for scene in generator.scenes(rule, part, 20, seed=seed).scenes}
        for part, seed in (("train", 0), ("test", 0), ("pool", 0), ("train", 1))
    ]
    assert all(not one & other for place, one in enumerate(sets) for other in sets[:place])


@pytest.mark.parametrize("generator", GENERATORS, ids=lambda generator: generator.name)
def test_noise_flips_exactly_its_share_and_nothing_else(generator: Generator) -> None:
    rule = next(iter(generator.rules))
    clean, noisy = (generator.scenes(rule, "train", 40, near_misses=0.5, noise=noise) for noise in (0, 0.1))
    assert noisy.scenes == clean.scenes
    assert sum(a != b for a, b in zip(clean.labels, noisy.labels, strict=True)) == 4


@pytest.mark.parametrize("generator", GENERATORS[1:], ids=lambda generator: generator.name)
def test_a_change_makes_a_scene_of_the_same_shape_and_leaves_the_first_as_it_was(
    generator: Generator,
) -> None:
    assert generator.change is not None
    source = random.Random(7)
    for _ in range(50):
        scene = generator.draw(source)
        before = canonical_json(scene)
        changed = generator.change(source, scene)
        assert canonical_json(scene) == before
        assert changed.keys() == scene.keys()


@pytest.mark.parametrize("generator", GENERATORS[1:], ids=lambda generator: generator.name)
def test_near_misses_are_failing_scenes_that_are_made_from_passing_ones(generator: Generator) -> None:
    rule = next(iter(generator.rules))
    without, some, all_ = (
        generator.scenes(rule, "train", 20, near_misses=share) for share in (0.0, 0.5, 1.0)
    )
    failing = [
        {
            canonical_json(scene)
            for label, scene in zip(scenes.labels, scenes.scenes, strict=True)
            if label == "fail"
        }
        for scenes in (without, some, all_)
    ]
    assert len(failing[0] & failing[1]) == 5
    assert len(failing[1] & failing[2]) == 5
    assert not failing[0] & failing[2]


def test_a_seed_means_the_same_scenes_everywhere() -> None:
    own = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2]), "PYTHONHASHSEED": "77"}
    ran = subprocess.run(
        [sys.executable, "-c", DIGEST_ALL], env=own, capture_output=True, text=True, check=True
    )
    found = {kind: digest[:16] for kind, digest in json.loads(ran.stdout).items()}
    assert found == DIGESTS


@pytest.mark.parametrize("config", [Warehouse(), Trains(), Zendo(), Traces()])
def test_a_dataset_has_noise_in_its_training_labels_only(config: Any) -> None:
    config = parse_config({"dataset": {"kind": config.__struct_config__.tag, "noise": 0.2}}).dataset
    dataset = load_dataset(config, HERE)
    assert dataset.hidden_rule is not None
    assert len(grade(dataset.hidden_rule.check, dataset.train).mistakes) == 12
    assert not grade(dataset.hidden_rule.check, dataset.test).mistakes
    assert dataset.source.endswith(f"rule {config.rule}, seed 0, 20% of the training labels flipped")


@pytest.mark.parametrize("config", [Warehouse(), Trains(), Zendo(), Traces()])
def test_a_pool_has_further_scenes_with_the_rules_answers(config: DatasetConfig) -> None:
    dataset, pool = load_dataset(config, HERE), load_pool(config, 30, HERE)
    assert dataset.hidden_rule is not None
    assert len(pool) == 30
    assert not grade(dataset.hidden_rule.check, pool).mistakes
    known = {canonical_json(scene) for scene in (*dataset.train.scenes, *dataset.test.scenes)}
    assert not known & {canonical_json(scene) for scene in pool.scenes}


@pytest.mark.parametrize(
    ("generator", "rule"),
    [
        (TRAINS, "triangle_load"),
        (TRAINS, "short_closed_car"),
        (ZENDO, "two_blue"),
        (ZENDO, "a_large_piece"),
        (TRACES, "one_write"),
        (TRACES, "look_up_before_write"),
        (TRACES, "no_failed_call"),
    ],
)
def test_hidden_rules_are_learnt(generator: Generator, rule: str) -> None:
    dataset = generator.dataset(rule, 60, 200, near_misses=0.5)
    result = learn_check(dataset.train.scenes, dataset.train.labels, work_limit=3000, max_terms=1)
    assert grade(result.check, dataset.test).confusion.accuracy >= 0.97

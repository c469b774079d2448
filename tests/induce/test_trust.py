"""Trust in a check: evidence, coverage by term, margins, and shuffled labels."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from induce import coverage_by_term, learn_check, load_scenes, margins, permutation_test, score_check
from induce.trust import Confusion, Evidence, rule_bits

JSON = Any
CHEAP = {"op": "lte", "path": "total", "value": 500}
URGENT = {"op": "eq", "path": "urgent", "value": True}


def orders(count: int, seed: int = 0) -> tuple[list[JSON], list[str]]:
    """Orders that pass when they cost at most 500, half of them."""
    draw = random.Random(seed)
    scenes = []
    for number in range(count):
        total = draw.randrange(5, 500, 5) if number % 2 else draw.randrange(505, 1000, 5)
        scenes.append({"total": total, "urgent": draw.random() < 0.5, "lane": draw.choice("abc")})
    return scenes, ["pass" if scene["total"] <= 500 else "fail" for scene in scenes]


def test_evidence_is_what_the_verdicts_save() -> None:
    perfect = Evidence.of(Confusion(10, 0, 10, 0), rule=8.0)
    assert (perfect.labels, perfect.errors, perfect.saved, perfect.surplus) == (20.0, 0.0, 20.0, 12.0)
    useless = Evidence.of(Confusion(5, 5, 5, 5), rule=8.0)
    assert (useless.saved, useless.surplus) == (0.0, -8.0)
    inverted = Evidence.of(Confusion(0, 10, 0, 10), rule=None)
    assert (inverted.saved, inverted.surplus) == (0.0, None)
    one_wrong = Evidence.of(Confusion(10, 1, 9, 0), rule=None)
    entropy = -(1 / 11) * math.log2(1 / 11) - (10 / 11) * math.log2(10 / 11)
    assert one_wrong.errors == pytest.approx(11 * entropy)


def test_the_same_confusion_as_scene_by_scene() -> None:
    scenes = [{"total": 100}, {"total": 600}, {"total": 400}, {"total": 900}]
    found = Confusion.of(CHEAP, scenes, ["pass", "pass", "fail", "fail"])
    assert (found.true_pass, found.false_fail, found.false_pass, found.true_fail) == (1, 1, 1, 1)


def test_coverage_tells_what_each_alternative_passes_alone() -> None:
    check = {"op": "or", "of": [CHEAP, {"op": "or", "of": [URGENT]}]}
    scenes = [
        {"total": 100, "urgent": True},
        {"total": 100, "urgent": False},
        {"total": 900, "urgent": True},
        {"total": 900, "urgent": False},
    ]
    cheap, urgent = coverage_by_term(check, scenes, ["pass", "pass", "fail", "fail"], list("abcd"))
    assert (cheap.sentence, cheap.right, cheap.wrong, cheap.alone) == (
        "total is at most 500",
        ("a", "b"),
        (),
        ("b",),
    )
    assert (urgent.right, urgent.wrong, urgent.alone) == (("a",), ("c",), ("c",))


@pytest.mark.parametrize(
    ("check", "scene", "passed", "distance"),
    [
        (CHEAP, {"total": 480}, True, 20.0),
        (CHEAP, {"total": 500}, True, 0.0),
        (CHEAP, {"total": 540}, False, 40.0),
        (CHEAP, {"total": "x"}, False, 1.0),
        ({"op": "not", "of": CHEAP}, {"total": 480}, False, 20.0),
        ({"op": "and", "of": [CHEAP, URGENT]}, {"total": 480, "urgent": True}, True, 1.0),
        ({"op": "and", "of": [CHEAP, URGENT]}, {"total": 540, "urgent": False}, False, 41.0),
        ({"op": "or", "of": [CHEAP, URGENT]}, {"total": 480, "urgent": True}, True, 21.0),
        ({"op": "or", "of": [CHEAP, URGENT]}, {"total": 540, "urgent": False}, False, 1.0),
        ({"op": "count", "collection": "xs", "gte": 2}, {"xs": [1, 2, 3]}, True, 2.0),
        ({"op": "count", "collection": "xs", "lte": 2}, {"xs": [1, 2, 3, 4]}, False, 2.0),
        ({"op": "gte", "path": "n", "value": 2**53 + 1}, {"n": 2**53 + 3}, True, 2.0),
    ],
)
def test_margins(check: JSON, scene: JSON, passed: bool, distance: float) -> None:
    (found,) = margins(check, [scene])
    assert (found.passed, found.distance) == (passed, distance)


def test_the_part_nearest_to_turning_is_named() -> None:
    (found,) = margins({"op": "and", "of": [CHEAP, URGENT]}, [{"total": 499.5, "urgent": True}], ["o1"])
    assert (found.id, found.distance, found.part) == ("o1", 0.5, "total is at most 500")


def test_a_real_rule_beats_shuffled_labels_and_chance_does_not() -> None:
    scenes, labels = orders(24)
    real = permutation_test(scenes, labels, 19, seed=1)
    assert (real.hits, real.p_value, real.rounds) == (0, 0.05, 19)
    drawn = list(labels)
    random.Random(5).shuffle(drawn)
    assert permutation_test(scenes, drawn, 9, seed=1).p_value > 0.1


def test_p_values_of_labels_drawn_by_lot_are_not_small() -> None:
    """The test is exact: among random labels a p-value of at most 0.2 is about as rare as it says."""
    scenes, labels = orders(12)
    small = 0
    for seed in range(12):
        drawn = list(labels)
        random.Random(seed).shuffle(drawn)
        small += permutation_test(scenes, drawn, 4, seed=seed, max_literals=2, work_limit=300).p_value <= 0.2
    assert small <= 7


def test_the_permutation_test_does_not_depend_on_workers_or_the_order_of_lines() -> None:
    scenes, labels = orders(16)
    labels[3] = "pass" if labels[3] == "fail" else "fail"
    alone = permutation_test(scenes, labels, 6, seed=3)
    order = random.Random(0).sample(range(16), 16)
    shuffled = permutation_test([scenes[i] for i in order], [labels[i] for i in order], 6, seed=3)
    assert alone == shuffled == permutation_test(scenes, labels, 6, seed=3, n_jobs=2)
    assert alone.cut_by_clock == 0


def test_a_given_check_is_compared_by_its_own_objective() -> None:
    scenes, labels = orders(16)
    long_one = {
        "op": "or",
        "of": [CHEAP, {"op": "and", "of": [URGENT, {"op": "eq", "path": "lane", "value": "a"}]}],
    }
    short = permutation_test(scenes, labels, 3, check=CHEAP)
    long = permutation_test(scenes, labels, 3, check=long_one)
    objective, _ = rule_bits(CHEAP, scenes, labels)
    assert objective is not None
    assert short.objective == objective.total < long.objective
    with pytest.raises(ValueError, match="the grammar cannot say"):
        permutation_test(scenes, labels, 3, check={"op": "exists", "path": "nowhere"})
    with pytest.raises(ValueError, match="rounds: expected a whole number"):
        permutation_test(scenes, labels, 0)


def test_a_score_holds_it_all_and_agrees_with_the_learner() -> None:
    scenes, labels = orders(20)
    labels[0] = "pass"
    data = load_scenes(
        [{"id": f"o{i}", "label": x, "scene": s} for i, (s, x) in enumerate(zip(scenes, labels, strict=True))]
    )
    result = learn_check(data.scenes, data.require_labels(), ids=data.ids)
    score = score_check(result.check, data)
    assert score.objective is not None
    assert score.objective.total == result.objective
    assert tuple(sorted(wrong.id for wrong in score.misclassified)) == result.misclassified
    assert score.confusion.right == 20 - len(result.misclassified)
    distances = [one.distance for one in score.margins]
    assert distances == sorted(distances)
    outside = score_check({"op": "exists", "path": "nowhere"}, data)
    assert outside.objective is None
    assert "nowhere" in outside.outside
    one_class = score_check(CHEAP, data.subset(i for i, label in enumerate(data.labels) if label == "pass"))
    assert (one_class.objective, one_class.outside) == (None, "all scenes are labelled pass")

"""Repair of checks: the smallest change that fits, told as edits, verified by the evaluator."""

from __future__ import annotations

import random
from typing import Any

import pytest

from evaluator import run_check
from induce import objective_of, repair
from induce.mend import Repair

JSON = Any
CHEAP = {"op": "lte", "path": "total", "value": 500}
EU = {"op": "eq", "path": "zone", "value": "EU"}
ROBOT = {"op": "find", "collection": "items", "where": {"op": "eq", "path": "kind", "value": "robot"}}


def orders(rule: JSON, count: int = 120, seed: int = 2) -> tuple[list[JSON], list[bool]]:
    draw = random.Random(seed)
    scenes = [
        {
            "total": draw.randrange(5, 1000, 5),
            "zone": draw.choice(["EU", "US", "UK"]),
            "items": [
                {"kind": draw.choice(["robot", "rack", "belt"]), "price": draw.randrange(1, 100)}
                for _ in range(draw.randint(1, 3))
            ],
        }
        for _ in range(count)
    ]
    return scenes, [run_check(scene, rule).passed for scene in scenes]


def edits(done: Repair) -> list[tuple[str, str, JSON, JSON]]:
    return [(edit.path, edit.kind, edit.before, edit.after) for edit in done.edits]


def both(*of: JSON) -> JSON:
    return {"op": "and", "of": list(of)}


def either(*of: JSON) -> JSON:
    return {"op": "or", "of": list(of)}


@pytest.mark.parametrize(
    ("given", "wanted", "expected"),
    [
        (
            both({**CHEAP, "value": 700}, EU),
            both(CHEAP, EU),
            ("$.of[0].value", "change", 700, 500),
        ),
        (both(CHEAP, {**EU, "value": "UK"}), both(CHEAP, EU), ("$.of[1].value", "change", "UK", "EU")),
        (both(CHEAP, EU), CHEAP, ("$.of[1]", "drop", EU, None)),
        (CHEAP, both(CHEAP, EU), ("$", "and", None, EU)),
        (both(CHEAP, EU), either(both(CHEAP, EU), ROBOT), ("$", "or", None, ROBOT)),
        ({"op": "not", "of": ROBOT}, ROBOT, ("$", "negate", {"op": "not", "of": ROBOT}, ROBOT)),
        (
            {"op": "count", "collection": "items", "gte": 2},
            {"op": "count", "collection": "items", "gte": 3},
            ("$.gte", "change", 2, 3),
        ),
        (
            ROBOT,
            {**ROBOT, "where": both(ROBOT["where"], {"op": "gte", "path": "price", "value": 50})},
            ("$.where", "and", None, {"op": "gte", "path": "price", "value": 50}),
        ),
    ],
)
def test_one_wrong_part_is_one_edit(given: JSON, wanted: JSON, expected: tuple[str, str, JSON, JSON]) -> None:
    scenes, labels = orders(wanted)
    done = repair(given, scenes, labels)
    assert done.wrong_before
    assert done.wrong_after == ()
    assert all(run_check(s, done.check).passed is x for s, x in zip(scenes, labels, strict=True))
    [(path, kind, before, after)] = edits(done)
    assert (path, kind, before) == expected[:3]
    if "price" not in str(after):  # a bound inside a list: any that tells these scenes apart
        assert after == expected[3]


def test_two_wrong_parts_are_two_edits_though_neither_helps_alone() -> None:
    scenes, labels = orders(both(CHEAP, EU))
    done = repair(both(CHEAP, {**EU, "value": "XX"}, {"op": "exists", "path": "nope"}), scenes, labels)
    assert done.wrong_after == ()
    assert {(path, kind) for path, kind, _, _ in edits(done)} == {
        ("$.of[1].value", "change"),
        ("$.of[2]", "drop"),
    }


def test_a_check_that_fits_stays() -> None:
    scenes, labels = orders(both(CHEAP, EU))
    done = repair(both(CHEAP, EU), scenes, labels)
    assert (done.check, done.edits, done.wrong_before, done.edit_bits) == (both(CHEAP, EU), (), (), 0.0)


def test_a_flipped_label_is_no_reason_to_change_a_check() -> None:
    scenes, labels = orders(both(CHEAP, EU))
    labels[7] = not labels[7]
    done = repair(both(CHEAP, EU), scenes, labels, ids=[f"o{n}" for n in range(120)], max_edits=2)
    assert done.wrong_before == ("o7",)
    assert done.wrong_after in (("o7",), ())
    if done.edits:
        assert done.edit_bits < 28  # the first error of 120 costs 27.9


def test_objectives_are_those_of_the_learner_and_outside_it_none() -> None:
    scenes, labels = orders(both(CHEAP, EU))
    labels_text = ["pass" if label else "fail" for label in labels]
    done = repair(both({**CHEAP, "value": 700}, EU), scenes, labels_text)
    assert done.after is not None
    assert done.after == objective_of(done.check, scenes, labels_text)
    outside = repair({"op": "exists", "path": "nope"}, scenes, labels_text)
    assert outside.before is None


def test_a_defined_check_and_equal_inputs_give_the_same_repair() -> None:
    scenes, labels = orders(both(CHEAP, EU))
    given = both({**CHEAP, "value": 700}, EU)
    order = random.Random(1).sample(range(120), 120)
    one = repair({"id": "x", "expr": given}, scenes, labels)
    other = repair(given, [scenes[i] for i in order], [labels[i] for i in order])
    assert (one.check, one.edits, one.nodes) == (other.check, other.edits, other.nodes)


def test_the_node_limit_holds_and_is_told() -> None:
    scenes, labels = orders(either(both(CHEAP, EU), ROBOT))
    done = repair({"op": "exists", "path": "total"}, scenes, labels, node_limit=50)
    assert (done.nodes, done.stopped) == (50, "nodes")
    for name in ("max_edits", "node_limit", "max_where"):
        with pytest.raises(ValueError, match=f"{name}: expected a whole number"):
            repair(CHEAP, scenes, labels, **{name: 0})

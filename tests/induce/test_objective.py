"""The objective of any check: size in bits plus penalties, as the learner counts it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from evaluator import CheckError
from induce import Grammar, OutsideGrammarError, objective_of
from induce.noise import NoiseModel

JSON = Any
SCENES = [
    {"cabin": cabin, "legs": [{"price": price}, {"price": 40}], "total": price, "note": note}
    for cabin, price, note in (
        ("business", 150, "paid by card"),
        ("economy", 180, "paid by cash"),
        ("business", 90, "not by card"),
        ("first", 60, "free"),
    )
]
LABELS = ["pass", "pass", "fail", "fail"]


def size(check: JSON, **options: Any) -> float:
    return objective_of(check, SCENES, LABELS, **options).size


def test_sizes_are_description_lengths() -> None:
    path = 0.75 * math.log2(3)
    assert size({"op": "eq", "path": "cabin", "value": "business"}) == pytest.approx(
        2 + path + 0.5 + math.log2(3), abs=1 / 16
    )
    assert size({"op": "gte", "path": "total", "value": 100}) == pytest.approx(2 + path + 0.5 + 3, abs=1 / 16)
    one = size({"op": "gte", "path": "total", "value": 100})
    two = size({"op": "or", "of": [{"op": "gte", "path": "total", "value": n} for n in (100, 80)]})
    assert two == 2 * one + 2
    find = {"op": "find", "collection": "legs", "where": {"op": "gte", "path": "price", "value": 100}}
    assert size({"op": "not", "of": find}) == size(find) + 3


def test_misclassified_scenes_are_charged_by_weight() -> None:
    check = {"op": "eq", "path": "cabin", "value": "business"}
    plain = objective_of(check, SCENES, LABELS, penalty=10.0)
    assert plain.penalty == 20
    assert plain.total == plain.size + plain.penalty
    weighted = objective_of(check, SCENES, LABELS, penalty=10.0, sample_weight=[1, 3, 0, 1])
    assert weighted.penalty == 30


@pytest.mark.parametrize(
    ("check", "same"),
    [
        (
            {"op": "not", "of": {"op": "eq", "path": "cabin", "value": "first"}},
            {"op": "neq", "path": "cabin", "value": "first"},
        ),
        (
            {"op": "not", "of": {"op": "missing", "path": "note"}},
            {"op": "exists", "path": "note"},
        ),
        (
            {
                "op": "count",
                "collection": "legs",
                "where": {"op": "gte", "path": "price", "value": 100},
                "gte": 1,
            },
            {"op": "find", "collection": "legs", "where": {"op": "gte", "path": "price", "value": 100}},
        ),
        (
            {
                "id": "named",
                "expr": {"op": "or", "of": [{"op": "or", "of": [{"op": "exists", "path": "note"}]}]},
            },
            {"op": "exists", "path": "note"},
        ),
    ],
)
def test_other_ways_to_say_a_check_cost_the_same(check: JSON, same: JSON) -> None:
    assert objective_of(check, SCENES, LABELS) == objective_of(same, SCENES, LABELS)


def test_distribution_brings_a_check_to_the_learners_form() -> None:
    a, b, c = (
        {"op": "eq", "path": "cabin", "value": "business"},
        {"op": "gte", "path": "total", "value": 100},
        {"op": "exists", "path": "note"},
    )
    nested = {"op": "and", "of": [a, {"op": "or", "of": [b, c]}]}
    flat = {"op": "or", "of": [{"op": "and", "of": [a, b]}, {"op": "and", "of": [a, c]}]}
    assert size(nested) == size(flat)


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        ({"op": "eq", "path": "cabin", "value": "cargo"}, "not observed"),
        ({"op": "eq", "path": "seat", "value": "1A"}, "not one of the paths"),
        ({"op": "contains", "path": "note", "substring": "ard"}, "not a candidate"),
        ({"op": "count", "collection": "legs", "gte": 2, "lte": 1}, "not a candidate range"),
        ({"op": "find", "collection": "cars", "where": {"op": "exists", "path": ""}}, "not a collection"),
        ({"op": "not", "of": {"op": "gte", "path": "total", "value": 9}}, "not gte"),
        ({"op": "and", "of": []}, "constant"),
        ({"op": "gt", "path": "total", "value": 9}, "operator 'gt' is not in the grammar"),
        (
            {"op": "contains", "path": "note", "substring": "CARD", "ci": True},
            "ignoring case is not a candidate",
        ),
        ({"op": "eq", "path": "cabin", "value": "first", "ci": True}, "eq with 'ci'"),
        (
            {"op": "find", "collection": "legs", "values": True, "where": {"op": "exists", "path": "price"}},
            "find with 'values'",
        ),
        ({"op": "count", "collection": "legs", "absent": "empty", "gte": 2}, "count with 'absent'"),
        ({"op": "or", "of": [{"op": "gte", "path": "total", "value": n} for n in range(1, 7)]}, "4 terms"),
    ],
)
def test_checks_outside_the_grammar_are_refused_with_the_reason(check: JSON, reason: str) -> None:
    with pytest.raises(OutsideGrammarError, match=reason):
        objective_of(check, SCENES, LABELS)


def test_malformed_check_is_a_check_error() -> None:
    with pytest.raises(CheckError):
        objective_of({"op": "eq", "path": "cabin"}, SCENES, LABELS)


def test_switched_off_operators_are_outside() -> None:
    grammar = Grammar(operators=("eq", "find"))
    assert size({"op": "eq", "path": "cabin", "value": "first"}, grammar=grammar)
    with pytest.raises(OutsideGrammarError, match="switched off"):
        size({"op": "neq", "path": "cabin", "value": "first"}, grammar=grammar)


def test_first_error_is_dear_and_further_ones_cost_their_names() -> None:
    few, many = NoiseModel(20), NoiseModel(200)
    assert few.bits(0) == many.bits(0) == 0
    assert few.bits(1) == pytest.approx(3 * 20 * 0.28639696, abs=1e-4)
    assert many.bits(20) == pytest.approx(1.02 * 200 * 0.46899559, abs=1e-4)
    steps = [many.bits(e + 1) - many.bits(e) for e in range(100)]
    assert steps == sorted(steps, reverse=True)
    assert all(step >= 0 for step in steps)
    assert many.bits(150) == many.bits(100)


@pytest.mark.parametrize("total", [3, 20, 200, 5e9])
def test_reach_is_where_the_cost_is_met(total: float) -> None:
    noise = NoiseModel(total)
    for bits in (5.0, 21.0, 40.0):
        reached = noise.reach(bits)
        if reached < total / 2:
            assert noise.bits(reached) <= bits <= noise.bits(reached * (1 + 1e-6) + 1e-9)
    assert NoiseModel(total, 10.0).reach(35.0) == 3.5


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        ({"operatorz": ["eq"]}, "did you mean 'operators'"),
        ({"operators": ["eqq"]}, "did you mean 'eq'"),
        ({"operators": ["not"]}, "at least one operator besides"),
        ({"costs": {"pth": 1}}, "did you mean 'path'"),
        ({"costs": {"path": -1}}, "costs.path: expected 0 to 1000"),
        ({"include": []}, "grammar.include"),
        ({"max_count": "3"}, "max_count"),
        ([], "expected a Grammar or a mapping"),
    ],
)
def test_unusable_grammar_is_one_clear_sentence(grammar: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        objective_of({"op": "exists", "path": "note"}, SCENES, LABELS, grammar=grammar)

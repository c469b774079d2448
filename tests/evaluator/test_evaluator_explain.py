"""`explain`: a check as an indented sentence, and which part fails on a scene by how much."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from test_evaluator_properties import checks, json_values

from evaluator import CheckError, SceneError, explain, parse_check, run_check
from evaluator.explanation import explanation

CHECK = {
    "op": "and",
    "of": [
        {"op": "lte", "path": "total", "value": 0.3},
        {
            "op": "find",
            "collection": "items",
            "where": {
                "op": "and",
                "of": [
                    {"op": "eq", "path": "sku", "value": "x"},
                    {"op": "gte", "path": "price", "value": 20},
                ],
            },
        },
        {
            "op": "count",
            "collection": "items",
            "where": {"op": "gte", "path": "price", "value": 15},
            "gte": 2,
        },
        {
            "op": "not",
            "of": {"op": "or", "of": [{"op": "exists", "path": "bad"}, {"op": "count", "collection": "q"}]},
        },
    ],
}
SCENE = {
    "total": 0.1 + 0.2,
    "items": [{"sku": "x", "price": 12}, {"sku": "x", "price": 17.5}, {"sku": "y", "price": 30}],
    "bad": None,
}


def test_without_a_scene_the_check_is_an_indented_sentence() -> None:
    assert explain(CHECK) == explain(parse_check(CHECK)) == explain({"id": "x", "expr": CHECK})
    assert explain(CHECK).splitlines() == [
        "all of these",
        "  total is at most 0.3",
        "  some element of items is such that",
        "    all of these",
        '      sku is "x"',
        "      price is at least 20",
        "  items has at least 2 elements such that",
        "    price is at least 15",
        "  it is not so that",
        "    any of these",
        "      bad is present",
        "      q is a list",
    ]


def test_on_a_scene_each_part_has_its_verdict_what_was_found_and_the_exact_gap() -> None:
    assert explain(CHECK, SCENE).splitlines() == [
        "FAIL all of these (gap 2)",
        "FAIL   total is at most 0.3: found 0.30000000000000004 (gap 5.551115123125783e-17)",
        "FAIL   some element of items is such that: nearest is items[2] (gap 1)",
        "FAIL     all of these (gap 1)",
        'FAIL       sku is "x": found "y" (gap 1)',
        "pass       price is at least 20: found 30",
        "pass   items has at least 2 elements such that: 2 of 3",
        "         price is at least 15",
        "FAIL   it is not so that (gap 1)",
        "pass     any of these",
        "pass       bad is present: found null",
        "FAIL       q is a list: not an array (gap 1)",
    ]


@pytest.mark.parametrize(
    ("check", "scene", "lines"),
    [
        ({"op": "exists", "path": "a"}, {}, ["FAIL a is present: found nothing (gap 1)"]),
        ({"op": "lte", "path": "a", "value": 5}, {"a": None}, ["FAIL a is at most 5: found null (gap 1)"]),
        (
            {"op": "find", "collection": "c", "where": {"op": "exists", "path": ""}},
            {"c": []},
            ["FAIL some element of c is such that: no elements (gap 1)", "       the scene is present"],
        ),
        (
            {"op": "find", "collection": "", "where": {"op": "eq", "path": "", "value": 2}},
            [1, 2],
            ["pass some element of the scene is such that: [1]", "pass   the scene is 2: found 2"],
        ),
        ({"op": "or", "of": []}, 1, ["FAIL any of these (gap Infinity)"]),
        (
            {"op": "count", "collection": "c", "eq": 3},
            {"c": [1]},
            ["FAIL c has exactly 3 elements: 1 (gap 2)"],
        ),
        (
            {
                "op": "not",
                "of": {"op": "find", "collection": "c", "where": {"op": "eq", "path": "", "value": 2}},
            },
            {"c": [2]},
            [
                "FAIL it is not so that (gap 1)",
                "pass   some element of c is such that: c[0]",
                "pass     the scene is 2: found 2",
            ],
        ),
    ],
)
def test_parts_say_what_they_saw(check: Any, scene: Any, lines: list[str]) -> None:
    assert explain(check, scene).splitlines() == lines


@given(checks, json_values)
def test_verdict_and_gap_are_those_of_the_evaluator(check: Any, scene: Any) -> None:
    part, result = explanation(check, scene), run_check(scene, check)
    assert (part.passed, part.gap) == (result.passed, result.gap)
    assert explain(check, scene).startswith("pass " if result.passed else "FAIL ")
    assert explanation(check).passed is None
    assert explain(check, scene) == explain(check, scene)


def test_errors_are_those_of_run_check() -> None:
    with pytest.raises(CheckError, match="unknown operator"):
        explain({"op": "nonsense"})
    with pytest.raises(SceneError, match="a Python set"):
        explain({"op": "exists", "path": "a"}, {"b": {1}})

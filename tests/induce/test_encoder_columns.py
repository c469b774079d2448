"""The columns of `SceneEncoder` against a plain reading of each scene, and what finding them costs."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from induce import SceneEncoder

JSON = Any


def test_a_table_as_it_has_always_been() -> None:
    some: list[JSON] = [
        {
            "id": 7,
            "tags": ["x", "y", "x"],
            "rows": [{"n": 3, "cells": [1, [2]]}, {"n": None}],
            "flag": True,
        },
        {
            "id": 2.5,
            "tags": [],
            "rows": [{"n": -1.5, "cells": [4, "x"]}],
            "flag": False,
            "a.b": {"c": "x"},
        },
        {"id": "7", "tags": ["y", None, 1], "rows": {"n": 1}, "flag": None, "a.b": {"c": "x"}},
        {"id": None, "tags": "x", "rows": [], "flag": True, "a.b": {"c": 10**400}},
        [1, 2, [3]],
    ]
    encoder = SceneEncoder(min_count=2, fill=-1).fit(some)
    names, table = encoder.get_feature_names_out().tolist(), encoder.transform(some)
    assert list(zip(names, table.T.tolist(), strict=True)) == [
        ("length($)", [0, 0, 0, 0, 3]),
        ('["a.b"] present', [0, 1, 1, 1, 0]),
        ('["a.b"].c', [-1, -1, -1, sys.float_info.max, -1]),
        ('["a.b"].c is number', [0, 0, 0, 1, 0]),
        ('["a.b"].c present', [0, 1, 1, 1, 0]),
        ('["a.b"].c = "x"', [0, 1, 1, 0, 0]),
        ("flag present", [1, 1, 1, 1, 0]),
        ("flag = true", [1, 0, 0, 1, 0]),
        ("id", [7, 2.5, -1, -1, -1]),
        ("id is number", [1, 1, 0, 0, 0]),
        ("id present", [1, 1, 1, 1, 0]),
        ("rows present", [1, 1, 1, 1, 0]),
        ("length(rows)", [2, 1, 0, 0, 0]),
        ("rows.n", [-1, -1, 1, -1, -1]),
        ("rows.n present", [0, 0, 1, 0, 0]),
        ("length(rows[].cells)", [2, 2, 0, 0, 0]),
        ("length(rows[].cells[])", [1, 0, 0, 0, 0]),
        ("min(rows[].cells[])", [1, 4, -1, -1, -1]),
        ("max(rows[].cells[])", [1, 4, -1, -1, -1]),
        ("min(rows[].n)", [3, -1.5, -1, -1, -1]),
        ("max(rows[].n)", [3, -1.5, -1, -1, -1]),
        ("tags present", [1, 1, 1, 1, 0]),
        ("length(tags)", [3, 0, 3, 0, 0]),
        ('count(tags[] = "y")', [1, 0, 1, 0, 0]),
        ("min(tags[])", [-1, -1, 1, -1, -1]),
        ("max(tags[])", [-1, -1, 1, -1, -1]),
        ("length($[])", [0, 0, 0, 0, 1]),
        ("min($[])", [-1, -1, -1, -1, 1]),
        ("max($[])", [-1, -1, -1, -1, 2]),
        ("min($[][])", [-1, -1, -1, -1, 3]),
        ("max($[][])", [-1, -1, -1, -1, 3]),
    ]


def values_at(value: JSON, steps: list[str]) -> Iterator[JSON]:
    """The values of one scene at a path of the keys a and b, and `[]` for every element."""
    if not steps:
        yield value
    elif steps[0] == "[]":
        for element in value if isinstance(value, list) else ():
            yield from values_at(element, steps[1:])
    elif isinstance(value, dict) and steps[0] in value:
        yield from values_at(value[steps[0]], steps[1:])


def plain_reading(name: str, scene: JSON) -> float:
    """What the documented columns say of one scene, by their names."""
    told, _, wanted = name.partition(" = ")
    kind = "number"
    for word in ("length", "count", "min", "max"):
        if told.startswith(f"{word}("):
            kind, told = word, told.removeprefix(f"{word}(")
    for word in (" present", " is number"):
        if told.endswith(word):
            kind, told = word.strip(), told.removesuffix(word)
    path = told.removesuffix(")").replace("$", "").replace("[]", ".[]")
    values = list(values_at(scene, [step for step in path.split(".") if step]))
    numbers = [value for value in values if type(value) in (int, float)]
    if wanted:
        category = {"null": None, "true": True, "false": False}.get(wanted.removesuffix(")"), "x")
        return sum(value is category or (category == "x" and value == "x") for value in values)
    if kind == "length":
        return sum(len(value) for value in values if isinstance(value, list))
    if kind == "present":
        return bool(values)
    if kind == "is number":
        return bool(numbers)
    if not numbers:
        return math.nan
    return {"number": numbers[0], "min": min(numbers), "max": max(numbers)}[kind]


SCENES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([0.5, -2.25, "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=12,
)


@given(st.lists(SCENES, min_size=1, max_size=6), st.lists(SCENES, max_size=3))
def test_every_cell_is_what_a_plain_reading_of_its_scene_says(some: list[JSON], later: list[JSON]) -> None:
    encoder = SceneEncoder(min_count=1, max_nesting=3, fill=math.nan).fit(some)
    names, all_scenes = encoder.get_feature_names_out().tolist(), some + later
    expected = [[plain_reading(name, scene) for name in names] for scene in all_scenes]
    found = encoder.transform(all_scenes)
    assert np.array_equal(found, np.array(expected, float).reshape(found.shape), equal_nan=True)


def calls_of(scenes: list[JSON]) -> int:
    """How many Python functions are called to fit and transform the scenes."""
    count = 0

    def counted(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event == "call"

    encoder = SceneEncoder(min_count=1)
    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        encoder.fit(scenes).transform(scenes)
    finally:
        sys.setprofile(before)
    return count


def test_the_work_grows_with_the_values_and_not_with_scenes_times_columns() -> None:
    def own_keys(count: int) -> list[JSON]:
        return [{f"k{number}-{key}": key for key in range(5)} for number in range(count)]

    few, many = calls_of(own_keys(50)), calls_of(own_keys(200))
    assert many <= 5 * few

"""Scenes as columns: what the profile says of a path is what the evaluator resolves."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import MISSING, SceneError, lookup
from induce.examples import Examples
from induce.grammar import Grammar
from induce.profile import Scope, profile, unusable_keys

JSON = Any

keys = st.sampled_from(["a", "b", "id", "length", "0", "constructor", " k "])
scalars = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["x", "y", "red fox"]))
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)


def every_scope(scope: Scope) -> list[Scope]:
    return [scope, *(found for child in scope.children.values() for found in every_scope(child))]


@given(st.lists(trees, min_size=1, max_size=4))
def test_columns_agree_with_the_evaluator(scenes: list[JSON]) -> None:
    for scope in every_scope(profile(scenes, Grammar(), 2)):
        for path, column in scope.columns.items():
            for row, value in zip(scope.rows, column.values, strict=True):
                found = lookup(row, path)
                assert found.present is (value is not MISSING)
                if found.present:
                    assert found.value is value or found.value == value


def test_elements_know_their_owner() -> None:
    root = profile([{"xs": [1, 2]}, {}, {"xs": []}, {"xs": [{"ys": [3]}]}], Grammar(), 2)
    xs = root.children["xs"]
    assert xs.owner.tolist() == [0, 0, 3]
    assert xs.is_array.tolist() == [True, False, True, True]
    assert xs.columns[""].values[:2] == [1, 2]
    assert xs.children["ys"].owner.tolist() == [2]


def test_first_elements_and_keyed_elements_are_paths() -> None:
    scenes = [{"pay": [{"kind": "card", "sum": n}, {"kind": "cash", "sum": n + 1}]} for n in range(4)]
    columns = profile(scenes, Grammar(), 1).columns
    assert columns["pay[0].sum"].values == [0, 1, 2, 3]
    assert columns["pay[kind=cash].sum"].values == [1, 2, 3, 4]
    plain = profile(scenes, Grammar(index_paths=False, keyed_paths=False), 1).columns
    assert not any("[" in path for path in plain)


def test_keys_that_no_path_can_say_are_named_and_not_used() -> None:
    scenes = [{"metrics": {"p95.latency": 12, "app/name[0]": "x", "": 3, " k ": n}} for n in range(3)]
    root = profile(scenes, Grammar(), 2)
    assert unusable_keys(root) == ["metrics.", "metrics.app/name[0]", "metrics.p95.latency"]
    assert set(root.columns) == {"", "metrics", "metrics. k "}


def test_globs_choose_paths() -> None:
    scenes = [{"a": {"b": 1, "c": 2}, "xs": [{"n": 1, "m": 2}]}]
    root = profile(scenes, Grammar(include=("a.*", "xs.n"), exclude=("a.c",)), 2)
    assert set(root.columns) == {"a.b"}
    assert set(root.children["xs"].columns) == {"n"}


@pytest.mark.parametrize(
    ("values", "identifier"),
    [
        (list(range(1001, 1021)), True),
        ([1767225600 + 3600 * i for i in range(20)], True),
        ([f"2026-01-{i + 1:02d}T10:00:00Z" for i in range(20)], True),
        ([f"{i:08x}-0000-4000-8000-{i:012x}" for i in range(20)], True),
        ([f"ab{i:038x}" for i in range(20)], True),
        ([round(17.3 * i, 2) for i in range(20)], False),
        ([120, 480, 500, 510, 900, 130, 77, 310, 45, 205], False),
        (["red", "green", "blue", "amber"] * 5, False),
    ],
)
def test_identifiers_times_and_counters_are_recognised(values: list[JSON], identifier: bool) -> None:
    column = profile([{"v": value} for value in values], Grammar(), 1).columns["v"]
    assert column.identifier_like is identifier


def test_numbers_stay_exact() -> None:
    column = profile([{"n": 2**53}, {"n": 2**53 + 1}, {"n": float(2**53)}], Grammar(), 1).columns["n"]
    assert column.numbers == [2**53, 2**53 + 1]
    assert column.ranks.tolist() == [0, 1, 0]
    mixed = profile([{"n": True}, {"n": 1}, {"n": 1.0}], Grammar(), 1).columns["n"]
    assert mixed.distinct == [True, 1]
    assert mixed.ranks.tolist() == [-1, 0, 0]


@pytest.mark.parametrize(
    ("scene", "message"),
    [
        ({"a": [1, {"b": float("nan")}]}, r"scene 0: \$\.a\[1\]\.b: NaN is not JSON"),
        ({"a": {1, 2}}, r"scene 0: \$\.a: a value of type set is not JSON"),
        ({3: 1}, r"scene 0: \$: the key 3 is not text"),
        ({"a": "\ud83d"}, r"scene 0: \$\.a: .* lone surrogate"),
        ({"a": 10**5000}, r"scene 0: \$\.a: .*digits"),
    ],
)
def test_scenes_that_are_not_json_are_refused_with_their_path(scene: JSON, message: str) -> None:
    with pytest.raises(SceneError, match=message):
        Examples.of([scene, {}], ["pass", "fail"])

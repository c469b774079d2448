"""Equality of JSON values in the rules for traces, and keys that stand for it."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_cases import json_equal, step, trace

from evaluator import SceneError, compile_check
from evaluator.assertions.json_value import at_dot_path, key_of, same_value
from evaluator.values import MISSING

LEAVES = st.sampled_from([None, True, False, 0, 1, 1.0, -0.0, 0.5, inf, 2**60, float(2**60), "", "1", "a"])
JSON = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(["0", "a"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(JSON, JSON)
def test_equality_and_keys_say_the_same(left: Any, right: Any) -> None:
    assert same_value(left, right) == json_equal(left, right) == (key_of(left) == key_of(right))
    assert key_of(left) == key_of(left)
    assert same_value(left, left)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ([1], [True], False),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}, True),
        ([1, 2], [2, 1], False),
        ({}, [], False),
        ({"0": 1}, [1], False),
        (None, False, False),
        ("1", 1, False),
        (2**53 + 1, float(2**53), False),
        ([inf, {"a": True}], [inf, {"a": True}], True),
        ([inf, True], [inf, 1], False),
    ],
)
def test_equality(left: Any, right: Any, same: bool) -> None:
    assert same_value(left, right) is same_value(right, left) is same
    assert (key_of(left) == key_of(right)) is same


def test_deep_values_have_keys() -> None:
    deep: Any = 1
    for _ in range(20_000):
        deep = [deep]
    assert key_of(deep) == key_of([deep[0]])
    assert same_value(deep, [deep[0]])


@pytest.mark.parametrize("value", [nan, [nan], {"a": {1}}, [inf, {1}]])
def test_what_is_not_json_has_no_key(value: Any) -> None:
    with pytest.raises(SceneError):
        key_of(value)


def test_a_dot_path() -> None:
    value = {"a": {"b": None, "c": [1]}, "a.b": 2}
    assert at_dot_path(value, ["a", "b"]) is None
    for path in (["a", "x"], ["a", "c", "0"], ["a", "b", "x"], ["a.b", "x"]):
        assert at_dot_path(value, path) is MISSING


@pytest.mark.parametrize(
    "check",
    [
        {"op": "constraint.cost_under", "max_cost": 1},
        {"op": "trace_tree.aggregate_cost_under", "max_cost": 1},
        {"op": "behaviour.tool_arg_satisfies", "tool": "a", "arg": "x", "operator": "lte", "value": 1},
        {"op": "behaviour.tool_arg_satisfies", "tool": "a", "arg": "x", "operator": "eq", "value": 1},
        {"op": "behaviour.tool_cardinality", "tool": "a", "per": "x", "at_most": 1},
        {"op": "trace.distinct"},
    ],
)
def test_nan_never_passes(check: dict[str, Any]) -> None:
    with pytest.raises(SceneError):
        compile_check(check)(trace(step("a", {"x": nan}), metadata={"cost_usd": nan}))

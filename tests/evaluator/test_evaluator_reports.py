"""Faults reported of neighbouring systems, turned round on the evaluator."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator import MISSING, lookup, run_check, sentence


def test_h1_true_is_not_one_at_any_depth() -> None:
    assert not run_check({"a": True}, {"op": "eq", "path": "a", "value": 1}).passed
    nested = {"op": "eq", "path": "a", "value": [0, {"k": 1}]}
    assert not run_check({"a": [False, {"k": True}]}, nested).passed
    assert run_check({"a": [0.0, {"k": 1.0}]}, nested).passed
    bound = run_check({"a": True}, {"op": "lte", "path": "a", "value": 5})
    assert (bound.passed, bound.gap, bound.why) == (False, 1, "a: expected number ≤ 5, got true")
    assert not run_check(
        [True], {"op": "find", "collection": "", "where": {"op": "eq", "path": "", "value": 1}}
    ).passed
    assert not run_check([{"id": True}], {"op": "exists", "path": "[id=1]"}).passed


@pytest.mark.parametrize(
    "scene", [{"t": None}, {}, {"t": "12"}, {"t": [3]}, {"t": ""}, {"t": {}}, {"t": False}]
)
@pytest.mark.parametrize("op", ["lte", "gte"])
def test_h2_what_is_no_number_keeps_no_bound(scene: Any, op: str) -> None:
    result = run_check(scene, {"op": op, "path": "t", "value": 15 if op == "lte" else -15})
    assert (result.passed, result.gap) == (False, 1)


def test_h3_a_key_with_a_dot_is_not_guessed_at() -> None:
    scene = {"metrics": {"p95.latency": 12, "app/name[0]": "x", "": 3, " k ": 1}}
    assert lookup(scene, "metrics.p95.latency").value is MISSING
    assert lookup(scene, "metrics.app/name[0]").value is MISSING
    assert lookup(scene, "metrics.").value == scene["metrics"]
    assert lookup(scene, "metrics. k ").value == 1
    assert lookup(scene, "metrics.k").value is MISSING
    assert lookup(scene, 'metrics["p95.latency"]').value == 12
    assert lookup(scene, 'metrics["app/name[0]"]').value == "x"
    assert lookup(scene, 'metrics[""]').value == 3


@pytest.mark.parametrize(
    ("low", "high", "bound"),
    [
        (1.4e-6, 1.5e-6, 1.45e-6),
        (4290000000, 4290000001, 4290000000),
        (19.99, 20.0, 19.995),
        (2**53, 2**53 + 1, 2**53),
    ],
)
def test_h9_small_and_large_thresholds_still_separate(low: float, high: float, bound: float) -> None:
    check = {"op": "lte", "path": "rate", "value": bound}
    assert run_check({"rate": low}, check).passed
    above = run_check({"rate": high}, check)
    assert not above.passed
    assert above.gap > 0
    words = sentence(check).removeprefix("rate is at most ")
    assert float(words) == bound
    assert words != sentence({"op": "lte", "path": "rate", "value": high}).removeprefix("rate is at most ")


EQ = {"op": "eq", "path": "a", "value": 1}
OTHER = {"op": "exists", "path": "b"}
FIND = {"op": "find", "collection": "l", "where": EQ}
COUNT = {"op": "count", "collection": "l", "where": EQ, "gte": 2}


@pytest.mark.parametrize(
    ("inner", "scene", "why", "words"),
    [
        (
            {"op": "and", "of": [EQ, OTHER]},
            {"a": 1, "b": 2},
            "negated condition held: all sub-checks pass",
            "a is not 1, or b is missing",
        ),
        (
            {"op": "or", "of": [EQ, OTHER]},
            {"a": 1},
            "negated condition held: a = 1",
            "a is not 1, and b is missing",
        ),
        (FIND, {"l": [{"a": 1}]}, "negated condition held: a = 1", "no l has a equal to 1"),
        (
            COUNT,
            {"l": [{"a": 1}, {"a": 1}]},
            "negated condition held: l: count=2, expected count ≥ 2",
            "fewer than 2 of l have a equal to 1",
        ),
        (
            {"op": "not", "of": EQ},
            {"a": 2},
            "negated condition held: negated condition did not hold",
            "a is 1",
        ),
    ],
)
def test_h11_a_failed_negation_says_what_was_there_and_its_sentence_what_is_wanted(
    inner: Any, scene: Any, why: str, words: str
) -> None:
    check = {"op": "not", "of": inner}
    result = run_check(scene, check)
    assert (result.passed, result.gap, result.why) == (False, 1, why)
    assert sentence(check) == words

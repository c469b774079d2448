"""Faults reported of neighbouring systems, turned round on the evaluator."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator import (
    MISSING,
    CheckError,
    canonical_json,
    check_hash,
    compile_check,
    evaluate_many,
    explain,
    from_cel,
    lookup,
    run_check,
    sentence,
    simplify,
    to_cel,
)

ALIKE = [
    (True, 1), (False, 0), (False, -0.0), ("1", 1), ("true", True), ("", None), (None, False), (None, 0),
    ("", 0), ("0", False), ([True], [1]), ([0], [False]), ({"k": True}, {"k": 1}),
    ([{"k": [False]}], [{"k": [0]}]),
]  # fmt: skip


def verdicts(scene: Any, check: Any) -> set[bool]:
    """The verdicts of everything that judges."""
    found = {
        run_check(scene, check).passed,
        compile_check(check).passes(scene),
        compile_check(check).gap(scene) == 0,
        bool(evaluate_many([check], [scene]).passed[0, 0]),
        run_check(scene, simplify(check)).passed,
    }
    for standard in (True, False):
        try:
            found.add(run_check(scene, from_cel(to_cel(check, standard=standard), standard=standard)).passed)
        except CheckError:
            continue  # CEL has no words for it
    return found


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


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_h1_what_a_host_language_takes_for_equal_differs_everywhere(one: Any, other: Any) -> None:
    for this, that in ((one, other), (other, one)):
        equal = {"op": "eq", "path": "a", "value": that}
        member, element = ({"op": "eq", "path": path, "value": that} for path in ("", "v"))
        inner = {"op": "find", "collection": "m", "where": member}
        for scene, check in (
            ({"a": this}, equal),
            ({"a": this}, {"op": "not", "of": {"op": "neq", "path": "a", "value": that}}),
            ({"a": this}, {"op": "or", "of": [equal, equal]}),
            ({"a": this, "b": that}, {"op": "eq", "path": "a", "value_path": "b"}),
            ({"l": [this]}, {"op": "find", "collection": "l", "where": member}),
            ({"l": [{"v": this}]}, {"op": "count", "collection": "l", "where": element, "gte": 1}),
            ({"l": [{"m": [this]}]}, {"op": "find", "collection": "l", "where": inner}),
        ):
            assert verdicts(scene, check) == {False}
        assert canonical_json(this) != canonical_json(that)
        assert check_hash(equal) != check_hash({**equal, "value": this})


def test_h1_remembered_checks_are_not_taken_for_each_other() -> None:
    for value in (1, True, 1.0, 0, False, -0.0):
        for scene in (1, True, 1.0, 0, False, 0.0):
            same = isinstance(value, bool) == isinstance(scene, bool) and value == scene
            assert run_check({"a": scene}, {"op": "eq", "path": "a", "value": value}).passed is same


@pytest.mark.parametrize("odd", [None, MISSING, "12", "", "0", [3], [], {}, True, False])
@pytest.mark.parametrize(("op", "bound"), [("lte", 15), ("gte", -15), ("lte", 0), ("gte", 0)])
def test_h2_nor_wherever_it_stands(odd: Any, op: str, bound: int) -> None:
    holder = {} if odd is MISSING else {"t": odd}
    test = {"op": op, "path": "t", "value": bound}
    for scene, check in (
        (holder, {"op": "not", "of": {"op": "not", "of": test}}),
        ({**holder, "u": bound}, {"op": op, "path": "t", "value_path": "u"}),
        ({**holder, "u": bound}, {"op": op, "path": "u", "value_path": "t"}),
        ({"l": [holder]}, {"op": "find", "collection": "l", "where": test}),
        ({"l": [holder]}, {"op": "count", "collection": "l", "where": test, "gte": 1}),
        ({"l": [holder]}, {**test, "path": "l[0].t"}),
        ({"l": [{**holder, "k": "x"}]}, {**test, "path": "l[k=x].t"}),
        (
            {"l": [] if odd is MISSING else [odd]},
            {"op": "find", "collection": "l", "where": {**test, "path": ""}},
        ),
    ):
        assert verdicts(scene, check) == {False}


@pytest.mark.parametrize("scene", [{"l": None}, {}, {"l": "abc"}, {"l": {}}, {"l": 5}, {"l": True}])
@pytest.mark.parametrize("bound", [{"lte": 3}, {"eq": 0}, {"gte": 0}])
def test_h2_what_is_no_array_has_no_count(scene: Any, bound: Any) -> None:
    assert verdicts(scene, {"op": "count", "collection": "l", **bound}) == {False}


@pytest.mark.parametrize("scene", [{"t": None}, {}, {"t": 5}, {"t": ["null"]}, {"t": True}, {"t": {}}])
@pytest.mark.parametrize("substring", ["null", "", "5", "true", "undefined", "None"])
def test_h2_what_is_no_text_contains_nothing(scene: Any, substring: str) -> None:
    for ci in (True, False):
        check = {"op": "contains", "path": "t", "substring": substring, "ci": ci}
        assert verdicts(scene, check) == {False}


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


GE = {"op": "gte", "path": "n", "value": 3}
CI = {"op": "contains", "path": "s", "substring": "x", "ci": True}


def negation(of: Any) -> Any:
    return {"op": "not", "of": of}


@pytest.mark.parametrize(
    ("check", "scene", "wanted", "found"),
    [
        (negation(GE), {"n": 5}, "n is not at least 3", "n is at least 3: found 5"),
        (negation(CI), {"s": "aXb"}, 's does not contain "x" (ignoring case)', 'found "aXb"'),
        (negation({"op": "exists", "path": "a"}), {"a": 1}, "a is missing", "a is present: found 1"),
        (negation({"op": "missing", "path": "a"}), {}, "a is present", "a is missing: found nothing"),
        (negation({"op": "neq", "path": "a", "value": 1}), {"a": 2}, "a is 1", "a is not 1: found 2"),
        (negation(negation(EQ)), {"a": 2}, "a is 1", "a is 1: found 2"),
        (negation(negation(negation(EQ))), {"a": 1}, "a is not 1", "a is 1: found 1"),
        (negation(negation(FIND)), {"l": []}, "some l has a equal to 1", "no elements"),
        (
            negation({"op": "count", "collection": "l", "lte": 2}),
            {"l": [1]},
            "l has more than 2 elements",
            "l has at most 2 elements: 1",
        ),
        (
            negation({"op": "count", "collection": "l", "eq": 1}),
            {"l": [1]},
            "l has other than 1 element",
            "l has exactly 1 element: 1",
        ),
        (
            {"op": "find", "collection": "l", "where": negation(EQ)},
            {"l": [{"a": 1}]},
            "some l has a not equal to 1",
            "a is 1: found 1",
        ),
        (
            {"op": "count", "collection": "l", "where": negation(EQ), "lte": 0},
            {"l": [{"a": 2}]},
            "at most 0 of l have a not equal to 1",
            "at most 0 elements such that: 1 of 1",
        ),
        (
            {"op": "or", "of": [negation(EQ), negation(GE)]},
            {"a": 1, "n": 9},
            "a is not 1, or n is not at least 3",
            "n is at least 3: found 9",
        ),
        (negation({"op": "and", "of": []}), {}, "nothing passes", "all of these"),
        (
            negation({"op": "eq", "path": "a", "value_path": "b"}),
            {"a": 1, "b": 1},
            "a is not the value of b",
            "a is the value of b: found 1 and 1",
        ),
    ],
)
def test_h11_every_text_about_a_negation_says_what_is_wanted_and_what_was_there(
    check: Any, scene: Any, wanted: str, found: str
) -> None:
    assert not run_check(scene, check).passed
    assert sentence(check) == wanted
    told = explain(check, scene)
    assert told.startswith("FAIL ")
    assert found in told

"""Malformed checks: the place, what was expected there, and the nearest known name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evaluator import Check, CheckError, compile_check, define_check, run_check, sentence

FINE = {"op": "exists", "path": "a"}


def nested(levels: int) -> dict[str, Any]:
    check: dict[str, Any] = FINE
    for _ in range(levels):
        check = {"op": "not", "of": check}
    return check


def cyclic() -> dict[str, Any]:
    check: dict[str, Any] = {"op": "not"}
    check["of"] = check
    return check


def bushy() -> dict[str, Any]:
    check: dict[str, Any] = FINE
    for _ in range(100):
        check = {"op": "and", "of": [check, check]}
    return check


@pytest.mark.parametrize(
    ("check", "place", "said"),
    [
        ({"op": "exsts", "path": "a"}, "$.op", 'did you mean "exists"?'),
        ({"op": "EQ", "path": "a", "value": 1}, "$.op", 'did you mean "eq"?'),
        ({"op": " find "}, "$.op", 'did you mean "find"?'),
        ({"op": "qqq"}, "$.op", "the operators are eq, neq, gte"),
        ({"op": 5}, "$.op", "got a number"),
        ({"op": None}, "$.op", "got null"),
        ({"Op": "eq"}, "$.op", 'is "Op" a misspelling'),
        ({}, "$.op", 'a check needs a field "op"'),
        (5, "$", "got a number"),
        (None, "$", "got null"),
        ([FINE], "$", "got an array"),
        ("exists a", "$", "got a string"),
        ({"op": "exists"}, "$.path", '"exists" needs a field "path"'),
        ({"op": "exists", "pth": "a"}, "$.path", 'is "pth" a misspelling'),
        ({"op": "exists", "path": 5}, "$.path", "expected a path, which is a string, got a number 5"),
        ({"op": "exists", "path": "a["}, "$.path", "unclosed [ in path: a["),
        ({"op": "eq", "path": "a"}, "$.value", '"eq" needs a field "value"'),
        ({"op": "gte", "path": "a", "value": "5"}, "$.value", 'expected a number, got a string "5"'),
        ({"op": "gte", "path": "a", "value": True}, "$.value", "got a boolean true"),
        ({"op": "lte", "path": "a", "value": None}, "$.value", "got null"),
        ({"op": "lte", "path": "a", "value": float("nan")}, "$.value", "finite"),
        ({"op": "eq", "path": "a", "value": float("inf")}, "$.value", "finite"),
        ({"op": "eq", "path": "a", "value": [{"k v": {1, 2}}]}, '$.value[0]["k v"]', "a Python set"),
        ({"op": "eq", "path": "a", "value": {1: 2}}, "$.value", "keys are strings"),
        ({"op": "eq", "path": "a", "value": b"x"}, "$.value", "a Python bytes"),
        ({"op": "eq", "path": "a", "value": (1,)}, "$.value", "a Python tuple"),
        ({"op": "eq", "path": "a", "value": "\ud800"}, "$.value", "surrogate"),
        ({"op": "contains", "path": "a", "substring": 5}, "$.substring", "expected a string"),
        ({"op": "contains", "path": "a", "substring": "x", "ci": 1}, "$.ci", "expected true or false"),
        ({"op": "find", "collection": "a"}, "$.where", '"find" needs a field "where"'),
        ({"op": "find", "where": FINE, "colection": "a"}, "$.collection", 'is "colection" a misspelling'),
        ({"op": "count", "collection": "a", "gte": "1"}, "$.gte", "expected a number"),
        ({"op": "count", "collection": "a", "eq": None}, "$.eq", "got null"),
        ({"op": "count", "collection": "a", "where": None}, "$.where", "expected a check"),
        ({"op": "and"}, "$.of", "an array of checks"),
        ({"op": "or", "of": FINE}, "$.of", "expected an array of checks, got an object"),
        ({"op": "not", "of": [FINE]}, "$.of", "expected a check"),
        (
            {"op": "or", "of": [FINE, {"op": "find", "collection": "a", "where": {"op": "nt"}}]},
            "$.of[1].where.op",
            'did you mean "not"?',
        ),
        ({"op": "and", "of": [{"id": "x", "expr": FINE}]}, "$.of[0]", "stands at the top only"),
        ({"id": "x", "expr": {"op": "nope"}}, "$.expr.op", "unknown operator"),
        ({"id": "x", "expr": None}, "$.expr", "got null"),
        ({"id": "x", "expr": [FINE]}, "$.expr", "got an array"),
        ({"id": 5, "expr": FINE}, "$.id", "a string, got a number"),
        ({"id": "x", "expr": {"id": "y", "expr": FINE}}, "$.expr", "stands at the top only"),
        ({"id": "x", "expr": FINE, "meta": {"a": [object()]}}, "$.meta.a[0]", "a Python object"),
        (Check("x", {"op": "nope"}), "$.expr.op", "unknown operator"),
        (nested(201), "$", "more than 200 deep"),
        (nested(5_000), "$", "levels deep"),
        (cyclic(), "$", "contains itself"),
        (bushy(), "$", "100,000 values"),
        (object(), "$", "a Python object"),
    ],
)
def test_an_error_names_the_place_and_what_was_expected(check: Any, place: str, said: str) -> None:
    for use in (compile_check, lambda c: run_check({}, c), sentence):
        with pytest.raises(CheckError) as caught:
            use(check)
        assert isinstance(caught.value, ValueError)
        assert caught.value.place == place
        assert said in str(caught.value)
        assert str(caught.value).startswith(place + ": ")


def test_parts_that_no_scene_reaches_are_judged_too() -> None:
    for bad in (
        {"op": "or", "of": [{"op": "and", "of": []}, {"op": "nope"}]},
        {"op": "find", "collection": "nothing.here", "where": {"op": "exists", "path": "["}},
        {"op": "and", "of": [{"op": "or", "of": []}, {"op": "count", "collection": "a", "where": {}}]},
    ):
        with pytest.raises(CheckError):
            run_check({}, bad)


def test_two_hundred_checks_inside_one_another_are_fine() -> None:
    assert not run_check({}, nested(200)).passed
    assert run_check({}, nested(199)).why == "negated condition did not hold"
    assert sentence(nested(200)) == "a is present"
    deep: dict[str, Any] = FINE
    for _ in range(100):
        deep = {"op": "and", "of": [{"op": "find", "collection": "", "where": deep}]}
    assert run_check([], deep).why == ": no element matched"
    assert sentence(deep)


@pytest.mark.parametrize("number", [10**400, -(10**30), 2**53 + 1, 1e308, 5e-324, 0.1])
def test_numbers_of_any_size_are_fine_in_a_check(number: float) -> None:
    for op in ("eq", "neq", "gte", "lte"):
        result = run_check({"a": number}, {"op": op, "path": "a", "value": number})
        assert result.passed is (op != "neq")
    result = run_check([1, 2], {"op": "count", "collection": "", "eq": number, "gte": number, "lte": number})
    assert not result.passed
    assert result.gap > 0


def test_define_check_judges_what_it_is_given() -> None:
    with pytest.raises(CheckError) as caught:
        define_check("x", {"op": "exists"})
    assert caught.value.place == "$.expr.path"
    with pytest.raises(CheckError, match=r"\$\.id"):
        define_check(5, FINE)  # type: ignore[arg-type]
    with pytest.raises(CheckError, match=r"\$\.expr"):
        define_check("x", None)  # type: ignore[arg-type]
    with pytest.raises(CheckError, match=r"\$\.meta\.a"):
        define_check("x", FINE, {"a": {1}})


def test_a_defined_check_carries_its_meta_and_keeps_unknown_keys() -> None:
    expr = {"op": "exists", "path": "a", "note": "kept"}
    check = define_check("has-a", expr, {"severity": "warn"})
    assert check.to_dict() == {"id": "has-a", "expr": expr, "meta": {"severity": "warn"}}
    assert define_check("has-a", expr).to_dict() == {"id": "has-a", "expr": expr}
    assert run_check({}, check).meta == {"severity": "warn"}
    assert run_check({}, check.to_dict()).to_dict()["meta"] == {"severity": "warn"}
    assert compile_check(check)({}).meta == {"severity": "warn"}
    assert compile_check(check.to_dict()).check["expr"]["note"] == "kept"
    assert "meta" not in run_check({}, define_check("has-a", expr)).to_dict()


@pytest.mark.parametrize(
    ("meta", "carried"),
    [
        ({}, True),
        ([], True),
        ("t", True),
        (5, True),
        (True, True),
        (None, False),
        (0, False),
        ("", False),
        (False, False),
    ],
)
def test_meta_is_carried_unless_it_says_nothing(meta: Any, carried: bool) -> None:
    wire = run_check({"a": 1}, {"id": "x", "expr": FINE, "meta": meta}).to_dict()
    assert wire.get("meta") == (meta if carried else None)
    assert ("meta" in wire) is carried
    assert "meta" not in run_check({"a": 1}, FINE | {"meta": meta}).to_dict()


def test_what_a_caller_does_to_a_results_meta_stays_with_it() -> None:
    def check() -> dict[str, Any]:
        return {"id": "x", "expr": FINE, "meta": {"tags": []}}

    run_check({}, check()).meta["tags"].append("mine")
    assert run_check({}, check()).meta == {"tags": []}


def test_swapped_arguments_are_named() -> None:
    check, scene = {"op": "lte", "path": "total", "value": 500}, {"total": 540}
    for given in (check, {"id": "c", "expr": check}, define_check("c", check)):
        with pytest.raises(CheckError, match=r"the order is run_check\(scene, check\)"):
            run_check(given, scene)
    for scene_like, wrong in ((scene, scene), (check, {"op": "nope"}), ({"op": 5}, {})):
        with pytest.raises(CheckError) as raised:
            run_check(scene_like, wrong)
        assert "the order is" not in str(raised.value)


def deeper(frames: int, work: Callable[[], Any]) -> Any:
    """What `work` returns, called that many frames further down."""
    return work() if frames == 0 else deeper(frames - 1, work)


def test_how_deep_the_caller_stands_does_not_matter() -> None:
    check = nested(200)
    whole = run_check({}, check)
    compiled = deeper(850, lambda: compile_check(nested(199)))
    assert deeper(850, lambda: run_check({}, check)).to_dict() == whole.to_dict()
    assert deeper(850, lambda: compiled({})).to_dict() == run_check({}, nested(199)).to_dict()

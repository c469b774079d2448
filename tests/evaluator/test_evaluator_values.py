"""The meaning of values: equality, distance, text forms, and what is no JSON at all."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from evaluator import MISSING, CheckError, SceneError, compile_check, run_check
from evaluator.values import compact, distance, equal, number_text, rounded

BIG = 2**53


def eq(value: Any, found: Any) -> bool:
    return run_check({"a": found}, {"op": "eq", "path": "a", "value": value}).passed


@pytest.mark.parametrize(
    ("found", "value", "same"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (1, True, False),
        (0, False, False),
        ([0, {"k": 1}], [0.0, {"k": 1.0}], True),
        ([False, {"k": True}], [0, {"k": 1}], False),
        ({"a": [True]}, {"a": [1]}, False),
        (None, False, False),
        (BIG + 1, BIG, False),
        (BIG + 1, float(BIG), False),
        (10**400, 10**400, True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({}, [], True),
        ([], {}, False),
        ({"0": 1, "1": {}}, [1, []], True),
        ({"0": 1}, [2], False),
        ({"length": 0}, [0], False),
        ("é", "e\u0301", False),
        ("1", 1, False),
    ],
)
def test_equality_is_json_equality(found: Any, value: Any, same: bool) -> None:
    assert eq(value, found) is same
    assert run_check({"a": found}, {"op": "neq", "path": "a", "value": value}).passed is not same


def test_null_is_not_missing() -> None:
    check = {"op": "eq", "path": "a", "value": None}
    assert run_check({"a": None}, check).passed
    assert not run_check({}, check).passed
    assert run_check({}, {"op": "neq", "path": "a", "value": None}).passed
    assert not MISSING


@pytest.mark.parametrize(
    ("larger", "smaller", "gap"),
    [
        (0.3, 0.1, 0.3 - 0.1),
        (BIG + 1, BIG, 1.0),
        (BIG + 1, float(BIG), 1.0),
        (float(BIG + 2), BIG + 1, 1.0),
        (10**400, 1, float("inf")),
        (10**400, 10**400 - 1, 1.0),
        (10**400, -1.5, float("inf")),
        (1e308, -1e308, float("inf")),
        (2**60, 0.5, float(2**60)),
        (float("inf"), 10**400, float("inf")),
        (5e-324, 0, 5e-324),
    ],
)
def test_a_distance_is_the_exact_difference_as_a_double(larger: float, smaller: float, gap: float) -> None:
    assert distance(larger, smaller) == gap
    if larger != float("inf"):
        result = run_check(smaller, {"op": "gte", "path": "", "value": larger})
        assert (result.passed, result.gap) == (False, gap)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e-6, "0.000001"),
        (1.5e-7, "1.5e-7"),
        (-2.5e-5, "-0.000025"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
        (BIG + 1, "9007199254740993"),
        (10**21, "1e+21"),
        (10**21 + 1, "1000000000000000000001"),
        (-(2**80), "-1208925819614629174706176"),
        (10**400 + 1, "1" + "0" * 399 + "1"),
    ],
)
def test_numbers_are_written_as_in_javascript_and_integers_exactly(number: float, text: str) -> None:
    assert number_text(number) == text


def test_an_integer_longer_than_python_prints_is_written_all_the_same() -> None:
    assert number_text(10**6000 + 7) == "1" + "0" * 5999 + "7"
    assert not run_check({"a": 10**6000}, {"op": "lte", "path": "a", "value": 5}).passed
    assert "over by Infinity" in run_check({"a": 10**6000}, {"op": "lte", "path": "a", "value": 5}).why


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.125, "0.13"),
        (-0.125, "-0.13"),
        (1.005, "1"),
        (2.5, "2.5"),
        (109.375, "109.38"),
        (-0.004, "-0"),
        (0.004, "0"),
        (71.125, "71.13"),
        (1e-9, "0"),
        (BIG + 1, "9007199254740993"),
        (float("inf"), "Infinity"),
    ],
)
def test_rounding_takes_halves_away_from_zero(number: float, text: str) -> None:
    assert rounded(number) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (MISSING, "undefined"),
        ({"b": 1, "10": 2, "2": 3, "01": 4}, '{"2":3,"10":2,"b":1,"01":4}'),
        ('"\\\n\x00\x7f\u2028', '"\\"\\\\\\n\\u0000\x7f\u2028"'),
        ("\ud83d", '"\\ud83d"'),
        ([1.0, float("inf"), None, True], "[1,null,null,true]"),
        ("x" * 58, '"' + "x" * 58 + '"'),
        ("x" * 59, '"' + "x" * 56 + "..."),
        ("x" * 55 + "🙂🙂", '"' + "x" * 55 + "\ud83d..."),
        ("🙂" * 29, '"' + "🙂" * 29 + '"'),
        ([10, 20] * 20, "[" + "10,20," * 9 + "10..."),
        ({"k" * 70: 1}, '{"' + "k" * 55 + "..."),
    ],
)
def test_the_compact_form_is_cut_at_sixty_units(value: Any, text: str) -> None:
    assert compact(value) == text


def test_depth_and_size_of_a_scene_are_no_limit() -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = {"a": [deep]}
    wanted: Any = 1
    for _ in range(150):
        wanted = {"a": [wanted]}
    assert not eq(wanted, deep)
    assert equal(deep, deep)
    assert run_check({"a": deep}, {"op": "eq", "path": "a", "value": wanted}).why.endswith("...")
    assert run_check({"a": deep}, {"op": "contains", "path": "a", "substring": "x"}).why.endswith("...")
    nested: Any = "leaf"
    for _ in range(5_000):
        nested = [nested]
    assert run_check([{"t": nested}], {"op": "exists", "path": "[t=leaf]"}).passed
    assert len(run_check({"s": "é" * 5_000_000}, {"op": "eq", "path": "s", "value": 1}).why) < 100
    assert not run_check(list(range(1_000_000)), {"op": "count", "collection": "", "lte": 10}).passed


def test_an_array_that_contains_itself_is_refused_where_its_text_is_asked_for() -> None:
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    with pytest.raises(SceneError, match="contains itself"):
        run_check([{"t": cyclic}], {"op": "exists", "path": "[t=x]"})
    compiled = compile_check({"op": "eq", "path": "t", "value": 1})
    assert compiled({"t": cyclic}).why.endswith("[[[...")


class Odd:
    """Compares in its own way, as arrays of numeric libraries do."""

    def __eq__(self, other: object) -> Any:
        raise RuntimeError("compared")

    __hash__ = None  # type: ignore[assignment]


class Whole(int):
    """A kind of number that is not JSON's own."""


ATOMS = [
    {"op": "eq", "path": "a", "value": "x"},
    {"op": "eq", "path": "a", "value": 1},
    {"op": "neq", "path": "a", "value": True},
    {"op": "neq", "path": "a", "value": None},
    {"op": "eq", "path": "a", "value": [1]},
    {"op": "gte", "path": "a", "value": 1},
    {"op": "lte", "path": "a", "value": 1},
    {"op": "contains", "path": "a", "substring": "x"},
    {"op": "find", "collection": "a", "where": {"op": "exists", "path": ""}},
    {"op": "count", "collection": "a", "gte": 1},
]


@pytest.mark.parametrize("foreign", [{1}, b"x", (1, 2), Odd(), Whole(1), 1j, [Odd()], {"k": b"x"}])
@pytest.mark.parametrize("check", ATOMS, ids=lambda check: check["op"])
def test_what_is_not_json_is_refused_or_not_met_but_never_a_python_error(foreign: Any, check: Any) -> None:
    compiled = compile_check(check)
    for use in (compiled.gap, lambda scene: compiled(scene).why):
        if isinstance(foreign, (list, dict)):  # the check may not look that deep
            with suppress(SceneError):
                use({"a": foreign})
        else:
            with pytest.raises(SceneError) as caught:
                use({"a": foreign})
            assert caught.value.place == "a"


@pytest.mark.parametrize("op", ["gte", "lte"])
def test_nan_in_a_scene_is_refused(op: str) -> None:
    check = compile_check({"op": op, "path": "a", "value": 1})
    for use in (check, check.gap, check.passes):
        with pytest.raises(SceneError, match="NaN"):
            use({"a": float("nan")})


def test_changing_a_check_after_compiling_changes_nothing() -> None:
    raw: dict[str, Any] = {"op": "eq", "path": "a", "value": [1]}
    compiled = compile_check(raw)
    assert run_check({"a": [1]}, raw).passed
    raw["value"].append(2)
    assert compiled({"a": [1]}).passed
    assert not run_check({"a": [1]}, raw).passed
    raw["op"] = "nope"
    with pytest.raises(CheckError):
        run_check({"a": [1]}, raw)


def test_a_remembered_check_does_not_confuse_one_and_true() -> None:
    for value in (1, True, 1.0, "1"):
        check = {"op": "eq", "path": "a", "value": value}
        assert [run_check({"a": found}, check).passed for found in (1, True, "1")] == [
            value in (1, 1.0) and value is not True,
            value is True,
            value == "1",
        ]
    assert not run_check({}, {"op": "exists", "path": "a"}).passed
    with pytest.raises(CheckError):
        run_check({}, {"op": "eq", "path": "a", "value": (1,)})

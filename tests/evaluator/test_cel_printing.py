"""Checks written as CEL: what comes out, what cannot be said, and that reading it back judges alike."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_evaluator_properties import checks, json_values

from evaluator import CheckError, define_check, from_cel, run_check, to_cel

HIDDEN_RULE = {
    "op": "not",
    "of": {
        "op": "find",
        "collection": "warehouse.placements",
        "where": {
            "op": "and",
            "of": [
                {"op": "eq", "path": "zone", "value": "cold"},
                {"op": "eq", "path": "kind", "value": "forklift"},
            ],
        },
    },
}


def at(path: str, value: Any, op: str = "eq") -> dict[str, Any]:
    return {"op": op, "path": path, "value": value}


WRITTEN: list[tuple[dict[str, Any], str, str | None]] = [
    # check, the autocheck dialect, standard CEL where it is another (None: it has no words for it)
    (at("a.b", 1), "a.b == 1", "a.b == 1"),
    (at("a.b", 1.5, "neq"), "a.b != 1.5", "a.b != 1.5"),
    (at("a.b", True), "a.b", "a.b"),
    (at("a.b", True, "neq"), "!a.b", "!a.b"),
    (at("a.b", False), "a.b == false", "a.b == false"),
    (at("n", -2), 'n >= "-2" && n <= "-2"', "n == -2"),
    (at("n", -2, "neq"), '!(n >= "-2" && n <= "-2")', "n != -2"),
    (at("n", -2.5, "gte"), 'n >= "-2.5"', "n >= -2.5"),
    (at("n", -0.0, "gte"), "n >= 0", "n >= 0"),
    (at("n", 1e-7, "lte"), "n <= 0.0000001", "n <= 1e-07"),
    (at("n", 1e22, "lte"), "n <= 10000000000000000000000", "n <= 1e+22"),
    (at("s", 'a"b\\c\n'), 's == "a\\"b\\\\c\n"', 's == "a\\"b\\\\c\\n"'),
    (at("s", "\x00é🙂"), 's == "\x00é🙂"', 's == "\\u0000é🙂"'),
    (at("rows[007].k", 1), "rows[7].k == 1", "rows[7].k == 1"),
    (at("a.x y.in.true.0", 1), 'a["x y"].in["true"]["0"] == 1', 'a["x y"]["in"]["true"]["0"] == 1'),
    (at("true", 1), '["true"] == 1', None),
    (at("", 1), '[""] == 1', None),
    (at("[0]", 1), "[0] == 1", None),
    ({"op": "contains", "path": "s", "substring": "x"}, 's.contains("x")', 's.contains("x")'),
    ({"op": "contains", "path": "s", "substring": "x", "ci": False}, 's.contains("x")', 's.contains("x")'),
    ({"op": "exists", "path": "a.b"}, "has(a.b)", "has(a.b)"),
    ({"op": "missing", "path": "a.b"}, "!has(a.b)", "!has(a.b)"),
    ({"op": "exists", "path": "a"}, "has(a)", None),
    ({"op": "exists", "path": "a.k v"}, 'has(a["k v"])', None),
    ({"op": "missing", "path": "a[01]"}, "!has(a[1])", "!(a.size() >= 2)"),
    ({"op": "missing", "path": ""}, '!has([""])', "!true"),
    ({"op": "and", "of": []}, 'has([""])', "true"),
    ({"op": "or", "of": []}, '!has([""])', "false"),
    ({"op": "count", "collection": "xs", "eq": 2}, "xs.size() == 2", "xs.size() == 2"),
    ({"op": "count", "collection": "xs", "eq": 2.5}, "xs.size() < 0", "xs.size() < 0"),
    (
        {"op": "count", "collection": "xs", "gte": 0.5, "lte": 3.5},
        "xs.size() >= 1 && xs.size() <= 3",
        "xs.size() >= 1 && xs.size() <= 3",
    ),
    ({"op": "count", "collection": "xs", "lte": -1}, "xs.size() < 0", "xs.size() < 0"),
    ({"op": "count", "collection": "xs", "gte": 10**400}, "xs.size() < 0", "xs.size() < 0"),
    ({"op": "count", "collection": "xs"}, "xs.size() >= 0", "xs.size() >= 0"),
    (
        {"op": "count", "collection": "xs", "where": at("k", 1), "gte": 2},
        "xs.filter(x, x.k == 1).size() >= 2",
        "xs.filter(x, x.k == 1).size() >= 2",
    ),
    (
        {"op": "count", "collection": "xs", "where": {"op": "not", "of": at("k", 1)}, "lte": 0},
        "xs.all(x, x.k == 1)",
        "xs.all(x, x.k == 1)",
    ),
    (
        {"op": "find", "collection": "xs", "where": {"op": "find", "collection": "ys", "where": at("", 1)}},
        "xs.exists(x, x.ys.exists(y, y == 1))",
        "xs.exists(x, x.ys.exists(y, y == 1))",
    ),
    (
        {"op": "find", "collection": "xs", "where": {"op": "and", "of": []}},
        "xs.exists(x, has(x))",
        "xs.exists(x, true)",
    ),
    (
        {"op": "and", "of": [{"op": "or", "of": [at("a", 1), at("b", 1)]}, at("c", 1)]},
        "(a == 1 || b == 1) && c == 1",
        "(a == 1 || b == 1) && c == 1",
    ),
    ({"op": "and", "of": [at("n", 5, "lte"), at("n", 5, "neq")]}, "n < 5", "n < 5"),
    ({"op": "and", "of": [at("n", 5, "lte"), at("n", 6, "neq")]}, "n <= 5 && n != 6", "n <= 5 && n != 6"),
    ({"op": "not", "of": {"op": "not", "of": at("a", 1)}}, "!!(a == 1)", "!!(a == 1)"),
    (
        HIDDEN_RULE,
        '!warehouse.placements.exists(x, x.zone == "cold" && x.kind == "forklift")',
        '!warehouse.placements.exists(x, x.zone == "cold" && x.kind == "forklift")',
    ),
]


@pytest.mark.parametrize(("check", "text", "standard"), WRITTEN)
def test_a_check_is_written_so_and_read_back(check: Any, text: str, standard: str | None) -> None:
    assert to_cel(check) == text
    assert to_cel(from_cel(text)) == text
    if standard is None:
        with pytest.raises(CheckError, match="standard CEL"):
            to_cel(check, standard=True)
    else:
        assert to_cel(check, standard=True) == standard
        assert to_cel(from_cel(standard, standard=True), standard=True) == standard


UNSAYABLE: list[tuple[dict[str, Any], bool, str, str]] = [
    (at("a", None), False, "$.value", "standard CEL has"),
    (at("a", [1]), True, "$.value", "array"),
    (at("a", {}), True, "$.value", "object"),
    (at("a", 2**53 + 1), False, "$.value", "9007199254740993"),
    (at("a", 10**400), True, "$.value", "doubles"),
    (at("users[id=7].name", "x"), False, "$.path", "lookup"),
    ({"op": "exists", "path": "m[tags has X]"}, True, "$.path", "lookup"),
    (at('a["p95.ms"]', 1), False, "$.path", "standard CEL has"),
    (at('a[""]', 1), False, "$.path", "standard CEL has"),
    (at("a[99999999999999999999]", 1), False, "$.path", "too large"),
    ({"op": "contains", "path": "a", "substring": "x", "ci": True}, False, "$.ci", '"ci"'),
    (
        {"op": "and", "of": [at("a", 1), {"op": "find", "collection": "a", "where": at("b", [])}]},
        False,
        "$.of[1].where.value",
        "array",
    ),
    ({"op": "cel.unsupported", "problem": "x"}, False, "$.op", "cel.unsupported"),
    ({"op": "cel.compare", "path": "n", "is": "<"}, True, "$.op", "literal"),
]


@pytest.mark.parametrize(("check", "standard", "place", "said"), UNSAYABLE)
def test_what_cel_cannot_say_is_named_with_its_place(
    check: Any, standard: bool, place: str, said: str
) -> None:
    with pytest.raises(CheckError) as refusal:
        to_cel(check, standard=standard)
    assert refusal.value.place == place
    assert said in refusal.value.problem
    assert "CEL" in refusal.value.problem


def test_standard_cel_has_every_key_below_the_first() -> None:
    check = at('a["p95.ms"][""][0]["]"]', 1)
    text = to_cel(check, standard=True)
    assert text == 'a["p95.ms"][""][0]["]"] == 1'
    assert from_cel(text, standard=True) == check


def test_of_a_defined_check_the_expression_is_written() -> None:
    check = define_check("budget", at("spent", 5, "lte"), {"severity": "error"})
    assert to_cel(check) == to_cel(check.to_dict()) == "spent <= 5"
    with pytest.raises(CheckError) as refusal:
        to_cel({"id": "x", "expr": at("a", None)})
    assert refusal.value.place == "$.expr.value"


@pytest.mark.parametrize("standard", [False, True])
@given(check=checks, scenes=st.lists(json_values, min_size=1, max_size=3))
@example(check=at("0", -1.5), scenes=[[-1.5], [1.5]])
def test_what_is_written_reads_back_with_the_same_verdict(
    standard: bool, check: Any, scenes: list[Any]
) -> None:
    try:
        text = to_cel(check, standard=standard)
    except CheckError as refusal:
        text, refused = "", refusal.problem
    if not text:
        assert "CEL" in refused
        return
    again = from_cel(text, standard=standard)
    for scene in scenes:
        assert run_check(scene, again).passed is run_check(scene, check).passed, text


paths = st.lists(st.sampled_from(["a", "b", "k v", "true", "é🙂"]), min_size=1, max_size=3).map(".".join)
literals = (
    st.sampled_from(["", "a", "q\"'\\", "(", "&&", "-1", "x\ty"]) | st.booleans() | st.integers(-3, 3)
) | st.floats(allow_nan=False, allow_infinity=False)
sayable = st.recursive(
    st.builds(at, paths, literals, st.sampled_from(["eq", "neq"]))
    | st.builds(at, paths, st.floats(-3, 3), st.sampled_from(["gte", "lte"]))
    | st.builds(lambda path: {"op": "exists", "path": path}, paths),
    lambda inner: (
        st.builds(lambda path, where: {"op": "find", "collection": path, "where": where}, paths, inner)
        | st.builds(
            lambda path, where, bound: {"op": "count", "collection": path, "where": where, **bound},
            paths,
            inner,
            st.dictionaries(st.sampled_from(["eq", "gte", "lte"]), st.integers(-1, 3), max_size=2),
        )
        | st.builds(lambda op, of: {"op": op, "of": of}, st.sampled_from(["and", "or"]), st.lists(inner))
        | st.builds(lambda of: {"op": "not", "of": of}, inner)
    ),
    max_leaves=8,
)
scenes = st.recursive(
    literals,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "k v", "true", "é🙂"]), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(sayable, scenes)
def test_every_core_check_of_plain_names_and_values_can_be_said(check: Any, scene: Any) -> None:
    text = to_cel(check)
    assert run_check(scene, from_cel(text)).passed is run_check(scene, check).passed, text

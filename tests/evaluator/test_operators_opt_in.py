"""The operators' opt-in forms: what each means, what a plain check goes on meaning, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import MISSING, CheckError, SceneError, compile_check, run_check, sentence
from evaluator.equality import WAYS, same_as, same_ignoring_case
from evaluator.expression import dump_check, parse_check
from evaluator.values import equal

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "a", "A", "1", "1.0", "$1", "1,000", "2026-01-05", "2026-01-05T10:00Z", "(555) 1"])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
paths = st.sampled_from(["", "a", "b", "c", "a.b", "a[0]", 'a["x.y"]'])
numbers = st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False)
flags = st.booleans()
forms = st.one_of(
    st.fixed_dictionaries(
        {"op": st.sampled_from(["eq", "neq"]), "path": paths, "value": values},
        optional={"ci": flags, "as": st.sampled_from(WAYS)},
    ),
    st.fixed_dictionaries(
        {"op": st.sampled_from(["eq", "neq"]), "path": paths, "value_path": paths},
        optional={"ci": flags, "as": st.sampled_from(WAYS)},
    ),
    st.fixed_dictionaries({"op": st.sampled_from(["gt", "lt"]), "path": paths, "value": numbers}),
    st.fixed_dictionaries(
        {"op": st.sampled_from(["gte", "lte", "gt", "lt"]), "path": paths, "value_path": paths}
    ),
    st.fixed_dictionaries(
        {
            "op": st.just("contains"),
            "path": paths,
            "substring": st.sampled_from(["", "a", "1", "1.0", "000"]),
        },
        optional={"ci": flags, "norm": flags, "word": flags},
    ),
    st.fixed_dictionaries(
        {"op": st.just("matches"), "path": paths, "pattern": st.sampled_from(["", "^a$", "[0-9]"])}
    ),
)
optional = {"values": flags, "absent": st.just("empty")}
checks = st.recursive(
    forms,
    lambda inner: (
        st.fixed_dictionaries({"op": st.just("find"), "collection": paths, "where": inner}, optional=optional)
        | st.fixed_dictionaries(
            {"op": st.just("count"), "collection": paths},
            optional=optional | {"where": inner, "gte": numbers, "lte": numbers, "eq": numbers},
        )
        | st.fixed_dictionaries({"op": st.sampled_from(["and", "or"]), "of": st.lists(inner, max_size=3)})
        | st.fixed_dictionaries({"op": st.just("not"), "of": inner})
    ),
    max_leaves=5,
)


@given(checks, values)
def test_the_contracts_hold_for_the_opt_in_forms_as_well(check: Any, scene: Any) -> None:
    before = repr(scene)
    compiled = compile_check(check)
    result = compiled(scene)
    assert result.gap >= 0
    assert (result.gap == 0) is result.passed
    assert compiled.gap(scene) == result.gap
    assert run_check(scene, {"op": "not", "of": check}).passed is not result.passed
    assert result.why
    assert compiled(scene, anchors=True).why == result.why
    assert sentence(check)
    assert dump_check(parse_check(check)) == check
    assert repr(scene) == before


def holds(scene: Any, **check: Any) -> bool:
    return run_check(scene, check).passed


# Equality in other ways


@given(values, values, st.sampled_from(WAYS))
def test_every_way_to_be_equal_only_adds_to_equality(left: Any, right: Any, way: Any) -> None:
    for same in (same_as(way), same_ignoring_case):
        assert same(left, left)
        assert not equal(left, right) or same(left, right)
        assert not same(MISSING, right)
        assert not same(left, MISSING)
    if not isinstance(left, dict | list):
        assert same_as(way)(left, right) is same_as(way)(right, left)


@pytest.mark.parametrize(
    ("way", "left", "right", "same"),
    [
        ("number", "1,200.00", 1200, True),
        ("number", " $1,200 ", "1200.0", True),
        ("number", "€ 5", 5.0, True),
        ("number", "1e3", 1000, True),
        ("number", "-.5", -0.5, True),
        ("number", "9007199254740993", 2**53 + 1, True),
        ("number", "9007199254740992", 2**53 + 1, False),
        ("number", "1.2.3", 1.2, False),
        ("number", "", 0, False),
        ("number", "nan", "NaN", False),
        ("number", "1e999", float("1e308"), False),
        ("number", "٣", 3, False),
        ("number", True, 1, False),
        ("number", "true", True, False),
        ("number", None, 0, False),
        ("number", "A", "a", False),
        ("cell", "Paid", "PAID", True),
        ("cell", "STRASSE", "straße", False),
        ("cell", "$10", 10, True),
        ("cell", "$10", "10.00", True),
        ("cell", "", "", True),
        ("cell", "2026-01-05", "2026-01-05T00:00", False),
        ("day", "2026-01-05T23:30:00-05:00", "2026-01-05", True),
        ("day", "2026-01-05", "2026-01-06", False),
        ("day", "2026-02-30", "2026-02-30x", False),
        ("day", "2026-01-051", "2026-01-05", False),
        ("instant", "2026-01-05T10:00:00Z", "2026-01-05T12:00:00+02:00", True),
        ("instant", "2026-01-05T10:00", "2026-01-05 10:00:00.000+0000", True),
        ("instant", "2026-01-05", "2026-01-05T00:00Z", True),
        ("instant", "2026-01-01T00:30+01:00", "2025-12-31T23:30Z", True),
        ("instant", "2026-01-05T10:00:00.000000001Z", "2026-01-05T10:00:00Z", False),
        ("instant", "2026-01-05T24:00Z", "2026-01-06T00:00Z", False),
        ("instant", "soon", "soon", True),
        ("instant", "soon", "Soon", False),
        ("digits", "(555) 010-42", "+555 01042", True),
        ("digits", 55501042, "555-01042", True),
        ("digits", "none", "nothing", False),
        ("loose", "1,000", 1000, True),
        ("loose", "2026-01-05T10:00Z", "2026-01-05", True),
        ("loose", "Closed Won", "closed won", True),
        ("loose", "1", True, False),
        ("loose", [1, "a"], [1.0, "a"], True),
    ],
)
def test_a_way_to_be_equal_reads_both_sides_alike(way: str, left: Any, right: Any, same: bool) -> None:
    for found, value in ((left, right), (right, left)):
        assert holds({"v": found}, op="eq", path="v", value=value, **{"as": way}) is same
        assert holds({"v": found}, op="neq", path="v", value=value, **{"as": way}) is not same


def test_ignoring_case_reaches_texts_inside_but_not_keys() -> None:
    assert holds({"v": "PAID"}, op="eq", path="v", value="paid", ci=True)
    assert not holds({"v": "PAID"}, op="eq", path="v", value="paid", ci=False)
    assert not holds({"v": "PAID"}, op="neq", path="v", value="paid", ci=True)
    assert holds({"v": [{"k": "A"}]}, op="eq", path="v", value=[{"k": "a"}], ci=True)
    assert not holds({"v": {"K": "a"}}, op="eq", path="v", value={"k": "a"}, ci=True)
    assert not holds({}, op="eq", path="v", value="paid", ci=True)
    assert holds({}, op="neq", path="v", value="paid", ci=True)
    assert not holds({"v": True}, op="eq", path="v", value=1, ci=True)


# Order and other places


@pytest.mark.parametrize(
    ("op", "found", "gap", "why"),
    [
        ("lt", 4, 0, "v = 4 < 5"),
        ("lt", 5, 1, "v: expected < 5, got 5 (at the bound)"),
        ("lt", 7.5, 2.5, "v: expected < 5, got 7.5 (over by 2.5)"),
        ("gt", 5.001, 0, "v = 5.001 > 5"),
        ("gt", 5.0, 1, "v: expected > 5, got 5 (at the bound)"),
        ("gt", 3, 2, "v: expected > 5, got 3 (short by 2)"),
        ("gt", "9", 1, 'v: expected number > 5, got "9"'),
        ("lt", None, 1, "v: expected number < 5, got null"),
        ("lt", True, 1, "v: expected number < 5, got true"),
    ],
)
def test_strict_order_leaves_the_bound_out(op: str, found: Any, gap: float, why: str) -> None:
    result = run_check({"v": found}, {"op": op, "path": "v", "value": 5})
    assert (result.passed, result.gap, result.why) == (gap == 0, gap, why)


def test_at_a_bound_between_other_numbers_the_gap_is_small() -> None:
    assert run_check({"v": 2.5}, {"op": "lt", "path": "v", "value": 2.5}).gap == 1e-6
    assert run_check({"v": 0.30000000000000004}, {"op": "lt", "path": "v", "value": 0.3}).why == (
        "v: expected < 0.3, got 0.30000000000000004 (over by 5.551115123125783e-17)"
    )
    assert run_check({"v": 2**60}, {"op": "gt", "path": "v", "value": 2.0**60}).gap == 1
    for op in ("lt", "gt"):
        with pytest.raises(SceneError, match="NaN"):
            run_check({"v": float("nan")}, {"op": op, "path": "v", "value": 1})


@pytest.mark.parametrize(
    ("check", "gap", "why"),
    [
        (
            {"op": "lte", "path": "spent", "value_path": "budget"},
            20,
            "spent: expected ≤ budget = 100, got 120 (over by 20)",
        ),
        ({"op": "gte", "path": "spent", "value_path": "budget"}, 0, "spent = 120 ≥ budget = 100"),
        (
            {"op": "gt", "path": "budget", "value_path": "budget"},
            1,
            "budget: expected > budget = 100, got 100 (at the bound)",
        ),
        (
            {"op": "lte", "path": "spent", "value_path": "gone"},
            1,
            "spent: expected ≤ gone = undefined to be a number",
        ),
        (
            {"op": "lte", "path": "gone", "value_path": "spent"},
            1,
            "gone: expected number ≤ spent = 120, got undefined",
        ),
        ({"op": "eq", "path": "head", "value_path": "base"}, 0, 'head = base = "f00"'),
        ({"op": "eq", "path": "head", "value_path": "other"}, 1, 'head: expected other = "F00", got "f00"'),
        (
            {"op": "eq", "path": "head", "value_path": "other", "ci": True},
            0,
            'head = other = "F00" (ignoring case)',
        ),
        ({"op": "neq", "path": "head", "value_path": "base"}, 1, 'head: expected ≠ base = "f00", got "f00"'),
        (
            {"op": "eq", "path": "gone", "value_path": "lost"},
            1,
            "gone: expected lost = undefined, got undefined",
        ),
        ({"op": "neq", "path": "gone", "value_path": "lost"}, 0, "gone ≠ lost = undefined"),
    ],
)
def test_a_value_is_compared_with_another_place_of_the_scene(check: Any, gap: float, why: str) -> None:
    scene = {"spent": 120, "budget": 100, "head": "f00", "base": "f00", "other": "F00"}
    result = run_check(scene, check)
    assert (result.gap, result.why) == (gap, why)


def test_the_other_place_is_looked_for_in_the_element() -> None:
    scene = {"limit": 0, "rows": [{"spent": 3, "limit": 2}, {"spent": 1, "limit": 2}]}
    over = {"op": "gt", "path": "spent", "value_path": "limit"}
    assert holds(scene, op="count", collection="rows", where=over, eq=1)


def test_why_tells_the_numbers_that_decided_although_the_scene_goes_on() -> None:
    scene = {"spent": 120, "budget": 100}
    result = run_check(scene, {"op": "lte", "path": "spent", "value_path": "budget"})
    scene["budget"] = 500
    assert result.why == "spent: expected ≤ budget = 100, got 120 (over by 20)"


# Text


@pytest.mark.parametrize(
    ("text", "substring", "flags", "found"),
    [
        ("a total of 1,200.00 is due", "1200", {"norm": True}, True),
        ("a total of 1200 is due", "1,200.00", {"norm": True}, True),
        ("a total of 1200 is due", "1,200.00", {}, False),
        ("costs 1.50 each", "1.5", {"norm": True, "word": True}, True),
        ("version 1.10.0", "1.10.0", {"norm": True, "word": True}, True),
        ("one, 2", "one 2", {"norm": True}, False),
        ("Reconciled", "reconcil", {"ci": True, "word": True}, True),
        ("Unreconciled", "Reconciled", {"ci": True, "word": True}, False),
        ("Unreconciled, reconciled", "Reconciled", {"ci": True, "word": True}, True),
        ("1550", "155", {"word": True}, False),
        ("155.5", "155", {"word": True}, False),
        ("155.", "155", {"word": True}, True),
        ("155a", "155", {"word": True}, True),
        ("1155 155", "155", {"word": True}, True),
        ("1155", "155", {"word": True}, False),
        ("a-b", "-b", {"word": True}, True),
        ("anything", "", {"word": True}, False),
        ("anything", "", {"norm": True}, True),
        ("PAID 1,000", "paid 1000", {"ci": True, "norm": True, "word": True}, True),
    ],
)
def test_contains_finds_numbers_and_words(text: str, substring: str, flags: Any, found: bool) -> None:
    assert holds({"t": text}, op="contains", path="t", substring=substring, **flags) is found
    assert not holds({"t": 1}, op="contains", path="t", substring=substring, **flags)


def test_long_texts_of_digits_and_words_take_no_long_time() -> None:
    digits = "1." + "0" * 2_000_000 + "1"
    assert not holds({"t": digits}, op="contains", path="t", substring="2", norm=True)
    assert not holds({"t": "a" * 2_000_000}, op="contains", path="t", substring="aaa!", word=True)
    assert not holds({"t": "b" + "a" * 2_000_000}, op="contains", path="t", substring="a" * 1000, word=True)
    assert not holds({"t": digits}, op="eq", path="t", value=1, **{"as": "number"})


@pytest.mark.parametrize(
    ("text", "pattern", "found"),
    [
        ("INV-2041", "^INV-[0-9]+$", True),
        ("see INV-2041.", "INV-[0-9]+", True),
        ("inv-2041", "INV", False),
        ("inv-2041", "(?i)INV", True),
        ("é🙂", "^..$", True),
        ("\ud83d", "^\ufffd$", True),
        (5, "5", False),
        (None, "", False),
    ],
)
def test_matches_searches_for_a_pattern(text: Any, pattern: str, found: bool) -> None:
    assert holds({"t": text}, op="matches", path="t", pattern=pattern) is found


def test_matches_says_what_was_met() -> None:
    check = {"op": "matches", "path": "t", "pattern": "^a+$"}
    assert run_check({"t": "aa"}, check).why == 't = "aa" matches /^a+$/'
    assert run_check({"t": "ab"}, check).why == 't: "ab" does not match /^a+$/'
    assert run_check({}, check).why == "t: expected string matching /^a+$/, got undefined"


def test_a_pattern_that_blows_others_up_takes_linear_time() -> None:
    assert not holds({"t": "a" * 200_000 + "!"}, op="matches", path="t", pattern="^(a+)+$")


@pytest.mark.parametrize("pattern", ["(", "(?=a)", r"(a)\1", "(a{1000}){1000}", "*"])
def test_a_pattern_that_re2_does_not_take_is_refused_where_it_stands(pattern: str) -> None:
    with pytest.raises(CheckError, match="RE2") as caught:
        compile_check({"op": "not", "of": {"op": "matches", "path": "t", "pattern": pattern}})
    assert caught.value.place == "$.of.pattern"


def test_without_its_package_matches_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['re2'] = None\n"
        "from evaluator import run_check\n"
        "assert run_check({'t': 1}, {'op': 'exists', 'path': 't'}).passed\n"
        "run_check({'t': 'x'}, {'op': 'matches', 'path': 't', 'pattern': 'x'})\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 1
    assert 'CheckError: $.op: "matches" needs the package google-re2' in ran.stderr


# Collections


def test_an_objects_values_are_elements_when_asked_for() -> None:
    scene = {"cells": {"Name": "Acme", "Status": "Paid", "n": 3}}
    paid = {"op": "contains", "path": "", "substring": "paid", "ci": True}
    assert not holds(scene, op="find", collection="cells", where=paid)
    assert not holds(scene, op="find", collection="cells", where=paid, values=False)
    assert holds(scene, op="find", collection="cells", where=paid, values=True)
    assert holds(scene, op="count", collection="cells", values=True, eq=3)
    assert holds(scene, op="count", collection="cells", values=True, where=paid, eq=1)
    assert holds({"cells": ["paid"]}, op="find", collection="cells", where=paid, values=True)
    refused = run_check(
        {"cells": "paid"}, {"op": "find", "collection": "cells", "where": paid, "values": True}
    )
    assert (refused.gap, refused.why) == (1, "cells: not an array or object")


def test_a_missing_collection_counts_as_empty_when_asked_for() -> None:
    for scene, empty in (({}, True), ({"a": None}, False), ({"a": 5}, False), ({"a": {}}, False)):
        assert holds(scene, op="count", collection="a", eq=0, absent="empty") is empty
    assert not holds({}, op="count", collection="a", eq=0)
    assert run_check({}, {"op": "count", "collection": "a", "gte": 2, "absent": "empty"}).gap == 2
    find = {"op": "find", "collection": "a", "where": {"op": "exists", "path": ""}}
    assert run_check({}, find).why == "a: not an array"
    assert run_check({}, find | {"absent": "empty"}).why == "a: no element matched"


# What is refused


@pytest.mark.parametrize(
    ("check", "place"),
    [
        ({"op": "eq", "path": "a", "value": 1, "ci": 1}, "$.ci"),
        ({"op": "eq", "path": "a", "value": 1, "as": "date"}, "$.as"),
        ({"op": "neq", "path": "a", "value": 1, "as": None}, "$.as"),
        ({"op": "neq", "path": "a", "value": 1, "as": ["day"]}, "$.as"),
        ({"op": "eq", "path": "a", "value_path": 5}, "$.value_path"),
        ({"op": "eq", "path": "a", "value_path": "b["}, "$.value_path"),
        ({"op": "lte", "path": "a", "value": 1, "value_path": "b"}, "$.value_path"),
        ({"op": "eq", "path": "a", "value": None, "value_path": "b"}, "$.value_path"),
        ({"op": "eq", "path": "a"}, "$.value"),
        ({"op": "gt", "path": "a", "value": "5"}, "$.value"),
        ({"op": "lt", "path": "a"}, "$.value"),
        ({"op": "contains", "path": "a", "substring": "x", "norm": "yes"}, "$.norm"),
        ({"op": "contains", "path": "a", "substring": "x", "word": 0}, "$.word"),
        ({"op": "count", "collection": "a", "values": "true"}, "$.values"),
        ({"op": "count", "collection": "a", "absent": True}, "$.absent"),
        (
            {"op": "find", "collection": "a", "where": {"op": "exists", "path": ""}, "absent": "fail"},
            "$.absent",
        ),
        ({"op": "matches", "path": "a"}, "$.pattern"),
        ({"op": "matches", "path": "a", "pattern": 5}, "$.pattern"),
    ],
)
def test_a_field_of_the_wrong_kind_is_refused_where_it_stands(check: Any, place: str) -> None:
    with pytest.raises(CheckError) as caught:
        compile_check(check)
    assert caught.value.place == place


def test_an_unknown_way_names_those_there_are() -> None:
    with pytest.raises(CheckError, match='one of "cell", "number", "instant", "day", "digits", "loose"'):
        compile_check({"op": "eq", "path": "a", "value": 1, "as": "date"})


# In words


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ({"op": "eq", "path": "a", "value": "x", "ci": True}, 'a is "x" (ignoring case)'),
        ({"op": "eq", "path": "a", "value": "x", "ci": False}, 'a is "x"'),
        (
            {"op": "neq", "path": "a", "value": "2026-01-05", "as": "day"},
            'a is not "2026-01-05" (compared as days)',
        ),
        ({"op": "lte", "path": "spent", "value_path": "budget"}, "spent is at most the value of budget"),
        ({"op": "eq", "path": "a", "value_path": ""}, "a is the value of the scene"),
        ({"op": "gt", "path": "a", "value": 3}, "a is above 3"),
        ({"op": "not", "of": {"op": "lt", "path": "a", "value": 3}}, "a is not below 3"),
        ({"op": "matches", "path": "a", "pattern": "^x"}, 'a matches "^x"'),
        ({"op": "not", "of": {"op": "matches", "path": "a", "pattern": "^x"}}, 'a does not match "^x"'),
        (
            {"op": "contains", "path": "a", "substring": "1,000", "ci": True, "norm": True, "word": True},
            'a contains "1,000" (ignoring case, however numbers are written, not inside a word or number)',
        ),
        (
            {
                "op": "find",
                "collection": "row.cells",
                "values": True,
                "where": {"op": "matches", "path": "", "pattern": "x"},
            },
            'some value in row.cells is text matching "x"',
        ),
        (
            {
                "op": "find",
                "collection": "rows",
                "where": {"op": "gt", "path": "spent", "value_path": "limit"},
            },
            "some rows has spent above the value of limit",
        ),
        (
            {"op": "count", "collection": "a", "lte": 2, "absent": "empty"},
            "a has at most 2 elements (none if missing)",
        ),
        (
            {
                "op": "count",
                "collection": "a",
                "values": True,
                "gte": 2,
                "where": {"op": "eq", "path": "", "value": 1},
            },
            "at least 2 of the values in a are 1",
        ),
        (
            {"op": "count", "collection": "a", "values": True, "absent": "empty"},
            "a is a list or object or missing",
        ),
        ({"op": "eq", "path": 'a["b.c"]', "value": 1}, '`a["b.c"]` is 1'),
        ({"op": "cel.compare", "path": "a", "is": "<", "value": 3}, "a is below 3"),
        ({"op": "cel.compare", "path": "a", "is": "<"}, "nothing passes"),
        ({"op": "cel.size", "collection": "a", "is": "<", "value": 2.5}, "a has fewer than 2.5 elements"),
    ],
)
def test_the_opt_in_forms_read_as_sentences(check: Any, words: str) -> None:
    assert sentence(check) == words


def test_numbers_alike_takes_one_pass_over_long_runs_of_digits() -> None:
    check = {"op": "contains", "path": "a", "substring": "7", "norm": True}
    for text in ("1" * 2_000_000, "1," * 1_000_000, "1." * 1_000_000):  # quadratic time would not end here
        assert not run_check({"a": text}, check).passed
        assert run_check({"a": text + "x1,7.50"}, check | {"substring": "17.5"}).passed

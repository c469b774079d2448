"""Anchors: their text and its parts, and the place a failing result points at."""

from __future__ import annotations

import doctest
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import CheckError, anchor, compile_check, json_text, run_check
from evaluator.anchor import KINDS, AnchorStep, format_anchor, parse_anchor
from evaluator.path import Has, Index, Keyed, Property, format_path, parse_path

# Their text

texts = st.text(max_size=6) | st.sampled_from(
    ["", "3", "07", "1,2", "a]b", 'q"', "id=7", "x has y", "row[3]", "a.b", "é 🙂"]
)
selectors = (
    st.integers(0, 10**15 - 1)
    | st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=3).map(tuple)
    | st.builds(Keyed, texts, texts)
    | st.builds(Has, texts, texts)
    | texts
)
kinds = st.sampled_from([*KINDS, "room", "floor-2", "x_1"])
steps = st.builds(AnchorStep, kinds, selectors)
anchors = st.lists(steps, min_size=1, max_size=4).map(tuple) | st.builds(
    AnchorStep, st.none(), selectors
).map(lambda step: (step,))


@given(anchors)
def test_an_anchor_is_read_back_from_its_text(steps: tuple[AnchorStep, ...]) -> None:
    read = parse_anchor(format_anchor(steps))
    assert read == steps
    assert [type(step.selector) for step in read] == [type(step.selector) for step in steps]


@given(st.text(alphabet='arow[]=".,-3 7\\has\n', max_size=14) | st.text(max_size=8))
def test_a_text_is_an_anchor_with_one_spelling_or_refused(text: str) -> None:
    try:
        steps = parse_anchor(text)
    except CheckError:
        return
    assert parse_anchor(format_anchor(steps)) == steps


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        *((f"{kind}[3]", [(kind, 3)]) for kind in KINDS),
        ("room[kitchen]", [("room", "kitchen")]),
        ("item[id=7]", [("item", Keyed("id", "7"))]),
        ("item[tags has new]", [("item", Has("tags", "new"))]),
        ("point[2.5,-1]", [("point", (2.5, -1.0))]),
        ("point[1e3,0,-0.5]", [("point", (1000.0, 0.0, -0.5))]),
        ("row[007]", [("row", 7)]),
        ("row[-1]", [("row", "-1")]),
        ('row["3"]', [("row", "3")]),
        ('field["a]b\\u002e"]', [("field", "a]b.")]),
        ("metric[p95.latency]", [("metric", "p95.latency")]),
        ("zone[dock].row[3].field[unit price]", [("zone", "dock"), ("row", 3), ("field", "unit price")]),
        ('item[name="a=b]"].field[x]', [("item", Keyed("name", "a=b]")), ("field", "x")]),
        ("3", [(None, 3)]),
        ("total", [(None, "total")]),
        ("p95.latency", [(None, "p95.latency")]),
        ("email=a@b.example", [(None, Keyed("email", "a@b.example"))]),
    ],
)
def test_an_anchor_has_a_kind_and_a_selector(text: str, steps: list[Any]) -> None:
    assert parse_anchor(text) == tuple(AnchorStep(*step) for step in steps)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "row[]",
        "Row[3]",
        "row[3",
        "row[3]]",
        "row[3].",
        "row[3].x",
        "row [3]",
        "row[a",
        "[3]",
        'row["a]',
        'row["\\x"]',
        "row[=3]",
        "row[a=]",
        "a\nb",
        "point[1e999,2]",
        "row[3]." * 3_000,
        5,
        None,
        ["row[3]"],
    ],
)
def test_what_is_no_anchor_is_refused(text: Any) -> None:
    with pytest.raises(CheckError, match="anchor"):
        parse_anchor(text)


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [AnchorStep(None, 3), AnchorStep("row", 3)],
        [AnchorStep("Row", 3)],
        [AnchorStep("", 3)],
        [AnchorStep("row", -1)],
        [AnchorStep("row", True)],
        [AnchorStep("point", (1.0,))],
        [AnchorStep("point", (1.0, float("inf")))],
        [AnchorStep("row", None)],  # type: ignore[arg-type]
    ],
)
def test_what_has_no_text_is_refused(steps: Any) -> None:
    with pytest.raises(CheckError):
        format_anchor(steps)


# Where a result points

SCENE: dict[str, Any] = {
    "budget": 100,
    "meta": {"owner": {"name": "Ada"}, "p95.latency": 9},
    "orders": [
        {"id": 7, "total": 500, "lines": [{"sku": "a", "qty": 0}, {"sku": "b", "qty": 2}]},
        {"id": 8, "total": 120, "lines": []},
        {"id": 9, "total": 40, "lines": []},
    ],
    "cells": {"Name": "Acme", "Paid": "no"},
}


def at_least(path: str, value: float) -> dict[str, Any]:
    return {"op": "gte", "path": path, "value": value}


def no(check: Any) -> dict[str, Any]:
    return {"op": "not", "of": check}


def find(collection: str, where: Any, **flags: Any) -> dict[str, Any]:
    return {"op": "find", "collection": collection, "where": where} | flags


def count(collection: str, where: Any = None, **bounds: Any) -> dict[str, Any]:
    return {"op": "count", "collection": collection} | ({"where": where} if where else {}) | bounds


PASSING, FAR, NEAR = at_least("budget", 1), at_least("orders[0].total", 900), at_least("budget", 101)


@pytest.mark.parametrize(
    ("check", "asset", "place"),
    [
        (at_least("budget", 101), "budget", None),
        (at_least("meta.owner.age", 1), "meta", "age"),
        (at_least('meta["p95.latency"]', 10), "meta", "p95.latency"),
        (at_least("orders[id=7].total", 900), "orders", "total"),
        ({"op": "missing", "path": "orders[id=7]"}, "orders", "id=7"),
        ({"op": "missing", "path": "orders[1]"}, "orders", "1"),
        ({"op": "eq", "path": "orders[tags has x]", "value": 1}, "orders", "tags has x"),
        ({"op": "eq", "path": "[5]", "value": 1}, "5", None),
        ({"op": "eq", "path": "cells.3", "value": 1}, "cells", '"3"'),
        ({"op": "contains", "path": "cells.Name", "substring": "x"}, "cells", "Name"),
        ({"op": "matches", "path": "cells.Name", "pattern": "x"}, "cells", "Name"),
        ({"op": "gt", "path": "budget", "value_path": "orders[0].total"}, "budget", None),
        # find: the nearest element
        (find("orders", {"op": "lte", "path": "total", "value": 30}), "orders", "2"),
        (find("orders", at_least("total", 501)), "orders", "0"),
        (find("orders[0].lines", at_least("qty", 3)), "orders", "1"),
        (find("orders[1].lines", at_least("qty", 3)), "orders", "lines"),
        (find("gone", at_least("qty", 3)), "gone", None),
        (find("cells", {"op": "eq", "path": "", "value": "yes"}, values=True), "cells", "Name"),
        # count: the first element too many, or the nearest that does not count
        (count("orders", lte=1), "orders", "1"),
        (count("orders", at_least("total", 100), eq=1), "orders", "1"),
        (count("orders", at_least("total", 100), gte=3), "orders", "2"),
        (count("orders", gte=5), "orders", None),
        (count("orders[1].lines", gte=1), "orders", "lines"),
        (count("gone", eq=0), "gone", None),
        # and: the first branch that fails; or: the nearest
        ({"op": "and", "of": [PASSING, FAR, NEAR]}, "orders", "total"),
        ({"op": "or", "of": [FAR, NEAR]}, "budget", None),
        (
            {"op": "and", "of": [PASSING, {"op": "or", "of": [FAR, find("orders", at_least("total", 501))]}]},
            "orders",
            "0",
        ),
        # not: what holds
        (no(at_least("meta.owner.name.length", 1)), "meta", "length"),
        (no(find("orders", {"op": "lte", "path": "total", "value": 130})), "orders", "1"),
        (no(no(find("orders", at_least("total", 501)))), "orders", "0"),
        (no({"op": "or", "of": [FAR, PASSING]}), "budget", None),
        (no({"op": "and", "of": [at_least("orders[0].total", 1), PASSING]}), "orders", "total"),
        (no(count("orders", gte=1)), "orders", None),
    ],
)
def test_a_failure_points_at_the_place_that_decides(check: Any, asset: str, place: str | None) -> None:
    wanted = {"asset_id": asset} if place is None else {"asset_id": asset, "anchor": place}
    result = run_check(SCENE, check, anchors=True)
    assert not result.passed
    assert result.anchor == wanted
    assert place is None or parse_anchor(place)
    assert json.loads(json_text(result.to_dict()))["anchor"] == wanted
    assert compile_check(check)(SCENE, anchors=True) == result
    assert pickle.loads(pickle.dumps(result)) == result
    plain = run_check(SCENE, check)
    assert plain.anchor is None
    assert plain.to_dict() == {key: value for key, value in result.to_dict().items() if key != "anchor"}


@pytest.mark.parametrize(
    "check",
    [
        PASSING,
        find("orders", at_least("total", 1)),
        {"op": "eq", "path": "", "value": 1},
        {"op": "or", "of": []},
        no({"op": "and", "of": []}),
    ],
)
def test_a_pass_and_a_failure_of_no_one_place_have_no_anchor(check: Any) -> None:
    result = run_check(SCENE, check, anchors=True)
    assert result.anchor is None
    assert "anchor" not in result.to_dict()


def test_a_defined_check_carries_anchor_and_meta() -> None:
    defined = {"id": "b", "expr": NEAR, "meta": {"severity": "fail"}}
    result = run_check(SCENE, defined, anchors=True)
    assert list(result.to_dict()) == ["pass", "gap", "why", "anchor", "meta"]


# The text of paths, which anchors and quoted keys stand on

keys = st.text(max_size=5) | st.sampled_from(["", "a.b", "a]b", '"', "a=b", "x has y", "0", "\\", "\n", "["])
segments = (
    st.builds(Property, keys)
    | st.integers(0, 99).map(lambda number: Index(str(number)))
    | st.builds(
        Keyed, st.sampled_from(["id", "a b", "é"]), st.sampled_from(["7", "x=y", "a has b", "1.5", ""])
    )
    | st.builds(Has, st.sampled_from(["tags", "é"]), st.sampled_from(["X", "x y", "has", "a=b"]))
)


@given(st.lists(segments, max_size=5).map(tuple))
def test_a_path_is_read_back_from_its_text(segments: Any) -> None:
    try:
        text = format_path(segments)
    except CheckError:
        assert any(isinstance(segment, Keyed | Has) for segment in segments)
        return
    read = parse_path(text)
    assert read == segments
    assert list(map(type, read)) == list(map(type, segments))


@given(st.dictionaries(keys, st.integers(), min_size=1, max_size=4))
def test_every_key_has_a_path(scene: Any) -> None:
    for key, value in scene.items():
        assert run_check(scene, {"op": "eq", "path": format_path([Property(key)]), "value": value}).passed


def test_the_examples_in_the_documentation_of_anchors_run() -> None:
    ran = doctest.testmod(anchor)
    assert (ran.attempted > 0, ran.failed) == (True, 0)

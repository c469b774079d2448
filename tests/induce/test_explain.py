"""Explanations: what was wanted and observed, what forced a part, and the smallest change of a scene."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator import run_check
from induce import CheckInducer, explain_result, explain_scene, learn_check
from induce.parts import parts, place_text, without

JSON = Any
KNIFE = {"op": "find", "collection": "items", "where": {"op": "eq", "path": "kind", "value": "knife"}}
CHEAP = {"op": "lte", "path": "total", "value": 500}


def told(check: JSON, scene: JSON) -> list[tuple[str, str]]:
    return [(reason.wanted, reason.observed) for reason in explain_scene(check, scene).reasons]


@pytest.mark.parametrize(
    ("check", "scene", "expected"),
    [
        (
            {"op": "not", "of": KNIFE},
            {"items": [{"kind": "pen"}, {"kind": "knife"}]},
            [('no items has kind equal to "knife"', '1 of 2 elements is so: items[1] (kind is "knife")')],
        ),
        (
            {"op": "not", "of": {"op": "not", "of": KNIFE}},
            {"items": [{"kind": "pen"}]},
            [
                (
                    'some items has kind equal to "knife"',
                    'none of 1 element is so; nearest is items[0] (kind is "pen")',
                )
            ],
        ),
        (
            {"op": "not", "of": {"op": "and", "of": [CHEAP, {"op": "exists", "path": "id"}]}},
            {"total": 480, "id": 7},
            [("total is not at most 500", "total is 480"), ("id is missing", "id is 7")],
        ),
        (
            {"op": "not", "of": {"op": "or", "of": [CHEAP, {"op": "exists", "path": "id"}]}},
            {"total": 0.1 + 0.2},
            [("total is not at most 500", "total is 0.30000000000000004")],
        ),
        (
            {"op": "not", "of": {"op": "count", "collection": "items", "gte": 2}},
            {"items": [1, 2, 3]},
            [("items has fewer than 2 elements", "items has 3 elements")],
        ),
        (KNIFE, {}, [('some items has kind equal to "knife"', "items is missing, which is no list")]),
        (KNIFE, {"items": []}, [('some items has kind equal to "knife"', "items has no elements")]),
        ({"op": "and", "of": []}, {}, [("anything passes", "it is always so")]),
    ],
)
def test_reasons_name_what_was_observed_and_what_was_wanted(
    check: JSON, scene: JSON, expected: list[tuple[str, str]]
) -> None:
    assert told(check, scene) == expected


@pytest.mark.parametrize(
    ("check", "scene", "edits"),
    [
        (CHEAP, {"total": 540}, ["total: 540 → 500"]),
        (CHEAP, {"total": 480}, ["total: 480 → 501"]),
        ({"op": "lte", "path": "t", "value": 0.3}, {"t": 0.25}, ["t: 0.25 → 0.31"]),
        ({"op": "gte", "path": "t", "value": 2**53 + 1}, {"t": 2**53 + 1}, [f"t: {2**53 + 1} → {2**53}"]),
        (CHEAP, {}, ["total: add 500"]),
        ({"op": "eq", "path": "a.b", "value": 1}, {}, ['a: add {"b":1}']),
        ({"op": "eq", "path": "a", "value": {"b": 1}}, {"a": {"c": 2}}, ['a: {"c":2} → {"b":1}']),
        (
            {
                "op": "and",
                "of": [{"op": "eq", "path": "a.b", "value": 1}, {"op": "eq", "path": "a.c", "value": 2}],
            },
            {},
            ['a: add {"b":1}', 'a: add {"c":2}'],
        ),
        ({"op": "exists", "path": "a"}, {"a": 1}, ["a: remove 1"]),
        ({"op": "missing", "path": "a"}, {"a": 1}, ["a: remove 1"]),
        (
            {"op": "contains", "path": "t", "substring": "red"},
            {"t": "a red fox"},
            ['t: "a red fox" → "a fox"'],
        ),
        ({"op": "not", "of": KNIFE}, {"items": [{"kind": "knife"}]}, ['items[0].kind: "knife" → ""']),
        (KNIFE, {"items": []}, ['items[0]: add {"kind":"knife"}']),
        (
            {"op": "count", "collection": "xs", "lte": 1},
            {"xs": [1, 2, 3]},
            ["xs[0]: remove 1", "xs[1]: remove 2"],
        ),
        (
            {"op": "eq", "path": "xs[id=b].n", "value": 5},
            {"xs": [{"id": "a", "n": 1}, {"id": "b", "n": 2}]},
            ["xs[1].n: 2 → 5"],
        ),
        (
            {"op": "and", "of": [CHEAP, {"op": "eq", "path": "ok", "value": True}]},
            {"total": 540, "ok": False},
            ["ok: false → true", "total: 540 → 500"],
        ),
    ],
)
def test_the_smallest_change(check: JSON, scene: JSON, edits: list[str]) -> None:
    before = copy.deepcopy(scene)
    change = explain_scene(check, scene).change
    assert change is not None
    assert sorted(edit.text for edit in change.edits) == edits
    assert change.smallest
    assert scene == before
    assert run_check(change.scene, check).passed is not run_check(scene, check).passed


def test_one_edit_is_found_where_parts_by_themselves_suggest_two() -> None:
    between = {
        "op": "and",
        "of": [{"op": "gte", "path": "a", "value": 3}, {"op": "eq", "path": "a", "value": 5}],
    }
    change = explain_scene(between, {"a": 1}).change
    assert change is not None
    assert [edit.text for edit in change.edits] == ["a: 1 → 5"]


def test_values_of_other_scenes_are_borrowed() -> None:
    change = explain_scene(
        {"op": "neq", "path": "status", "value": "paid"}, {"status": "paid"}, [{"status": "open"}]
    ).change
    assert change is not None
    assert [edit.text for edit in change.edits] == ['status: "paid" → "open"']


def test_no_change_is_claimed_where_none_helps() -> None:
    told = explain_scene({"op": "or", "of": []}, {"a": 1})
    assert told.change is None
    assert list(told.lines())[-1] == "change: none of those the check suggests makes it pass"


scalars = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["red", "red fox", ""]))
elements = st.one_of(scalars, st.dictionaries(st.sampled_from("kw"), scalars, max_size=2))
scenes = st.dictionaries(
    st.sampled_from(["a", "b", "xs"]), st.one_of(scalars, st.lists(elements, max_size=3)), max_size=3
)
atoms = st.one_of(
    st.builds(lambda p, v: {"op": "eq", "path": p, "value": v}, st.sampled_from(["a", "b", "k"]), scalars),
    st.builds(
        lambda o, p, v: {"op": o, "path": p, "value": v},
        st.sampled_from(["gte", "lte", "gt", "lt"]),
        st.sampled_from(["a", "k", "xs.length"]),
        st.integers(-3, 3),
    ),
    st.builds(
        lambda o, p: {"op": o, "path": p}, st.sampled_from(["exists", "missing"]), st.sampled_from("ak")
    ),
    st.just({"op": "contains", "path": "a", "substring": "red"}),
    st.just({"op": "lte", "path": "a", "value_path": "b"}),
)


def composed(inner: st.SearchStrategy[JSON]) -> st.SearchStrategy[JSON]:
    lists = st.lists(inner, max_size=3)
    return st.one_of(
        st.builds(lambda o, of: {"op": o, "of": of}, st.sampled_from(["and", "or"]), lists),
        st.builds(lambda of: {"op": "not", "of": of}, inner),
        st.builds(lambda w: {"op": "find", "collection": "xs", "where": w}, inner),
        st.builds(
            lambda w, b, n: {"op": "count", "collection": "xs", "where": w, b: n},
            inner,
            st.sampled_from(["eq", "gte", "lte"]),
            st.integers(0, 3),
        ),
    )


checks = st.recursive(atoms, composed, max_leaves=5)


@given(checks, scenes, st.lists(scenes, max_size=3))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_is_explained_is_true(check: JSON, scene: JSON, like: list[JSON]) -> None:
    before = copy.deepcopy(scene)
    explained = explain_scene(check, scene, like)
    result = run_check(scene, check)
    assert (explained.passed, explained.gap) == (result.passed, result.gap)
    assert all(reason.held is result.passed for reason in explained.reasons)
    assert scene == before
    if explained.change is not None:
        assert run_check(explained.change.scene, check).passed is not result.passed
        assert explained.change.edits
    list(explained.lines())
    explained.to_dict()


@given(checks, st.lists(scenes, min_size=1, max_size=5), st.data())
@settings(max_examples=80, deadline=None)
def test_a_part_is_forced_by_the_scenes_that_are_wrong_without_it(
    check: JSON, some: list[JSON], data: st.DataObject
) -> None:
    labels = [data.draw(st.booleans()) for _ in some]
    at = {place_text(place): place for place, _ in parts(check)}
    for part in explain_result(check, some, labels):
        less = without(check, at[part.place])
        for index, (scene, label) in enumerate(zip(some, labels, strict=True)):
            right = run_check(scene, check).passed is label
            still = run_check(scene, less).passed is label
            assert (str(index) in part.forced_by) is (right and not still)


def test_no_part_of_a_learnt_check_is_forced_by_nothing() -> None:
    data = [
        ({"total": t, "lane": lane}, t <= 500 and lane == "a")
        for t in (100, 450, 500, 510, 900)
        for lane in "ab"
    ]
    inputs, labels = [scene for scene, _ in data], [label for _, label in data]
    result = learn_check(inputs, labels)
    explained = result.explain(inputs, labels)
    assert len(explained) == 2
    assert all(part.forced_by for part in explained)
    inducer = CheckInducer().fit(inputs, ["pass" if label else "fail" for label in labels])
    told = inducer.explain({"total": 900, "lane": "a"})
    assert [edit.path for edit in told.change.edits] == ["total"]

"""Invariants of passing scenes: they hold, the telling ones come first, failing scenes alone are refused."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator import run_check
from induce import invariants, learn_check

JSON = Any


def orders(count: int = 40, seed: int = 1) -> list[JSON]:
    draw = random.Random(seed)
    scenes = []
    for number in range(count):
        items = [
            {"qty": draw.randint(1, 5), "kind": draw.choice(["book", "pen"]), "sku": f"s-{draw.random()}"}
            for _ in range(draw.randint(1, 4))
        ]
        total = round(sum(item["qty"] for item in items) * draw.uniform(1, 30), 2)
        city = draw.choice(["Oslo", "Rome", "Bonn", "Lyon"])
        scenes.append(
            {
                "id": f"o{number}",
                "status": draw.choice(["open", "paid", "sent"]),
                "currency": "EUR",
                "total": total,
                "paid": round(total * draw.random(), 2),
                "pieces": len(items),
                "items": items,
                "bill": {"city": city},
                "ship": {"city": city},
                "note": None,
                **({"coupon": "X"} if draw.random() < 0.5 else {}),
            }
        )
    return scenes


def said(scenes: list[JSON], k: int | None = None) -> dict[str, Any]:
    return {one.sentence: one for one in invariants(scenes, k=k)}


def test_what_was_put_into_the_scenes_is_found() -> None:
    found = said(orders())
    for sentence, kind in {
        "bill.city is the value of ship.city": "equality",
        "items.length is the value of pieces": "equality",
        "paid is at most the value of total": "order",
        'currency is "EUR"': "constant",
        'status is one of "open", "paid", "sent"': "values",
        'every element of items: kind is one of "book", "pen"': "values",
        "every element of items: qty is at least 1": "range",
        "every element of items: qty is at most 5": "range",
        "items has at least 1 element": "count",
        "items has at most 4 elements": "count",
        "every element of items: sku is a text": "type",
        "note is present": "presence",
        'coupon is "X", or coupon is missing': "constant",
    }.items():
        assert found[sentence].kind == kind


def test_what_is_telling_comes_before_what_chance_gives() -> None:
    ranked = [one.sentence for one in invariants(orders(), k=None)]
    telling = [
        "bill.city is the value of ship.city",
        'currency is "EUR"',
        "paid is at most the value of total",
    ]
    chance = [s for s in ranked if s.startswith(("total is at", "paid is at least"))]
    assert max(map(ranked.index, telling)) < min(map(ranked.index, chance))
    found = said(orders())
    assert found['currency is "EUR"'].confidence > 0.999
    assert all(found[one].confidence < 0.8 for one in chance)


def test_the_stated_formulas() -> None:
    scenes = [{"mode": "a", "level": level} for level in (1, 1, 2, 3, 3, 3, 3, 3)]
    found = said(scenes)
    assert found['mode is "a"'].bits == 8.0
    assert found["level is at most 3"].bits == pytest.approx(8 * 0.7004397181410922)  # log2(1 + 5/8)
    assert found["level is at least 1"].bits == pytest.approx(8 * 0.32192809488736235)  # log2(1 + 2/8)


def test_unrelated_fields_and_orders_forced_by_ranges_are_not_told() -> None:
    draw = random.Random(4)
    scenes = [{"a": draw.random(), "b": draw.random(), "far": 10 + draw.random()} for _ in range(30)]
    assert not [one for one in invariants(scenes, k=None) if one.kind in ("order", "equality")]


def test_elements_of_one_scene_count_as_one_sample() -> None:
    few = [{"xs": [{"on": 1}] * 50}, {"xs": [{"on": 1}] * 50}]
    (one,) = [found for found in invariants(few, k=None) if "on" in found.sentence]
    assert (one.samples, one.bits) == (2, 2.0)


def test_identifiers_and_times_get_no_bounds() -> None:
    scenes = [{"order_id": 1000 + n, "created_at": 1767225600 + 60 * n} for n in range(12)]
    assert {one.kind for one in invariants(scenes, k=None)} <= {"type", "order"}


def test_k_and_the_grammar_limit_what_is_told() -> None:
    scenes = orders()
    assert len(invariants(scenes, k=3)) == 3
    assert invariants(scenes, k=3) == invariants(scenes, k=None)[:3]
    assert all("items" not in one.sentence for one in invariants(scenes, {"exclude": ["items*"]}, k=None))
    no_counts = invariants(scenes, {"operators": ["eq", "lte", "gte"]}, k=None)
    assert {one.kind for one in no_counts} <= {"equality", "order", "constant", "values", "range", "type"}
    unusable: list[Any] = [0, True, 1.5]
    for k in unusable:
        with pytest.raises(ValueError, match="k: expected a whole number"):
            invariants(scenes, k=k)
    with pytest.raises(ValueError, match="at least 2 are needed, got 1"):
        invariants(scenes[:1])


def test_the_order_of_the_scenes_changes_nothing() -> None:
    scenes = orders(20)
    assert invariants(scenes[::-1], k=None) == invariants(scenes, k=None)


def test_learning_from_one_class_names_the_way_out() -> None:
    with pytest.raises(ValueError, match=r"all scenes are labelled pass.*`induce invariants`"):
        learn_check([{"a": 1}, {"a": 2}], ["pass", "pass"])
    with pytest.raises(ValueError, match=r"all scenes are labelled fail.*add scenes labelled pass$"):
        learn_check([{"a": 1}, {"a": 2}], ["fail", "fail"])


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(2**60, 2**60 + 2),
    st.floats(-2, 2),
    st.sampled_from(["red", ""]),
)
elements = st.one_of(scalars, st.dictionaries(st.sampled_from(["k", "length"]), scalars, max_size=2))
values = st.one_of(scalars, st.lists(st.one_of(elements, st.lists(elements, max_size=2)), max_size=3))
scenes_of = st.lists(
    st.dictionaries(st.sampled_from(["a", "b", "xs", "0", "a.b"]), values, max_size=4), min_size=2, max_size=8
)


@given(scenes_of)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_invariant_holds_on_every_scene(scenes: list[JSON]) -> None:
    for one in invariants(scenes, k=None):
        assert all(run_check(scene, one.check).passed for scene in scenes)
        assert 0 <= one.confidence <= 1
        assert 2 <= one.samples <= len(scenes)
        assert one.sentence

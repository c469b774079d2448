"""World and effect contracts against their definitions, written down a second time and by brute force."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_cases import VALUES, is_unusable, json_equal, judged, trace

from evaluator.assertions.effect import METHODS
from evaluator.assertions.judgement import Judgement

ABSENT = "absent"
KEYS = st.one_of(st.just(ABSENT), st.sampled_from(["k1", "k2", 1, 1.0, True, None]), VALUES)
AMOUNTS = st.one_of(
    st.integers(-2, 9), st.sampled_from([0.5, 2.5]), st.sampled_from([ABSENT, None, True, "3", inf])
)


def record(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value != ABSENT}


ORDERS = st.lists(st.builds(record, id=KEYS, limit=AMOUNTS, owner=VALUES), max_size=4)
REFUNDS = st.lists(
    st.builds(record, id=KEYS, sum=AMOUNTS, owner=KEYS, state=st.sampled_from("ox")), max_size=5
)
WHERES = st.sampled_from([None, {}, {"state": "o"}, {"id": "k1"}, {"id": 1.0}, {"gone": None}, {"id": None}])


def judge(method: str, world: Any, **arguments: Any) -> Judgement:
    given = {name: value for name, value in arguments.items() if value is not None}
    return judged(METHODS, method, {"trace": trace(), "world": world}, **given)


def agrees(found: Judgement, gap: float) -> bool:
    wanted = ("pass", 1.0) if gap == 0 else ("hard_fail", 0.0)
    return (found.status, found.score) == wanted and found.gap == gap and "\n" not in found.text()


def selected(records: list[dict[str, Any]], where: dict[str, Any] | None) -> list[dict[str, Any]]:
    return [
        each
        for each in records
        if all(k in each and json_equal(each[k], v) for k, v in (where or {}).items())
    ]


def is_amount(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) != inf


def same_key(left: dict[str, Any], right: dict[str, Any], on: str) -> bool:
    return left.get(on) is not None and right.get(on) is not None and json_equal(left[on], right[on])


# Counting

BOUNDS = st.one_of(
    st.builds(lambda n: {"equals": n}, st.integers(0, 3)),
    st.builds(lambda n: {"at_most": n}, st.integers(0, 3)),
    st.builds(lambda n: {"at_least": n}, st.integers(0, 3)),
    st.builds(
        lambda a, b: {"at_least": min(a, b), "at_most": max(a, b)}, st.integers(0, 3), st.integers(0, 3)
    ),
)


@given(REFUNDS, WHERES, BOUNDS)
def test_count(refunds: list[Any], where: dict[str, Any] | None, bounds: dict[str, int]) -> None:
    count = len(selected(refunds, where))
    low, high = bounds.get("at_least", 0), bounds.get("at_most", 99)
    if "equals" in bounds:
        low = high = bounds["equals"]
    gap = max(0, low - count, count - high)
    assert agrees(judge("world_count", {"refunds": refunds}, resource="refunds", where=where, **bounds), gap)


# Distinct records


def distinct_gap(records: list[dict[str, Any]], names: list[str]) -> int:
    whole = [each for each in records if all(each.get(name) is not None for name in names)]
    surplus = sum(
        any(all(json_equal(each[name], other[name]) for name in names) for other in whole[:at])
        for at, each in enumerate(whole)
    )
    return len(records) - len(whole) + surplus


@given(REFUNDS, WHERES, st.sampled_from([["id"], ["id", "owner"], ["sum", "id", "sum"]]))
def test_unique(refunds: list[Any], where: dict[str, Any] | None, by: list[str]) -> None:
    gap = distinct_gap(selected(refunds, where), by)
    for form in [by, by[0]] if len(by) == 1 else [by]:
        found = judge("world_unique", {"refunds": refunds}, resource="refunds", by=form, where=where)
        assert agrees(found, gap)


@given(REFUNDS, WHERES)
def test_idempotent_is_unique_by_the_key(refunds: list[Any], where: dict[str, Any] | None) -> None:
    gap = distinct_gap(selected(refunds, where), ["id"])
    assert agrees(judge("world_idempotent", {"r": refunds}, resource="r", key="id", where=where), gap)
    renamed = [{"idempotency_key" if k == "id" else k: v for k, v in each.items()} for each in refunds]
    if where is None:
        assert agrees(judge("world_idempotent", {"r": renamed}, resource="r"), gap)


# Sums and joins


@given(REFUNDS, WHERES, st.integers(-1, 9))
def test_sum_to_a_number(refunds: list[Any], where: dict[str, Any] | None, bound: int) -> None:
    amounts = [each.get("sum") for each in selected(refunds, where)]
    bad = sum(not is_amount(amount) for amount in amounts)
    gap = bad or max(0, sum(amounts) - bound)
    found = judge("world_sum", {"r": refunds}, resource="r", field="sum", at_most=bound, where=where)
    assert agrees(found, gap)


@given(REFUNDS, ORDERS, WHERES)
def test_sum_to_a_related_field(refunds: list[Any], orders: list[Any], where: dict[str, Any] | None) -> None:
    chosen = selected(refunds, where)
    keyed = [each for each in chosen if each.get("id") is not None]
    gap: float = len(chosen) - len(keyed)
    for at, first in enumerate(keyed):
        if any(same_key(first, other, "id") for other in keyed[:at]):
            continue
        group = [each.get("sum") for each in keyed if same_key(first, each, "id")]
        found = [order.get("limit") for order in orders if same_key(first, order, "id")]
        bad = sum(not is_amount(amount) for amount in group)
        if bad:
            gap += bad
        elif len(found) != 1 or not is_amount(found[0]):
            gap += 1
        else:
            gap += max(0, sum(group) - found[0])
    related = {"resource": "orders", "field": "limit", "on": "id"}
    judged_sum = judge(
        "world_sum", {"r": refunds, "orders": orders}, resource="r", field="sum", at_most=related, where=where
    )
    assert agrees(judged_sum, gap)


@given(REFUNDS, ORDERS, WHERES)
def test_matches(refunds: list[Any], orders: list[Any], where: dict[str, Any] | None) -> None:
    gap = 0
    for each in selected(refunds, where):
        found = [order for order in orders if same_key(each, order, "id")]
        gap += not (
            len(found) == 1
            and "owner" in each
            and "owner" in found[0]
            and json_equal(each["owner"], found[0]["owner"])
        )
    rel = {"resource": "orders", "field": "owner", "on": "id"}
    world = {"r": refunds, "orders": orders}
    assert agrees(judge("world_matches", world, resource="r", field="owner", rel=rel, where=where), gap)


def test_the_order_of_records_is_no_matter_to_a_sum() -> None:
    amounts = [0.1, 0.7, 0.2, 1e16, -1e16]
    for turned in (amounts, amounts[::-1], amounts[2:] + amounts[:2]):
        world = {"r": [{"x": amount} for amount in turned]}
        assert judge("world_sum", world, resource="r", field="x", at_most=1).status == "pass"


def test_a_sum_beyond_the_largest_double_is_infinite() -> None:
    world = {"r": [{"x": 1.5e308}, {"x": 1.5e308}]}
    assert judge("world_sum", world, resource="r", field="x", at_most=1).gap == inf
    world = {"r": [{"x": -1.5e308}, {"x": -1.5e308}]}
    assert judge("world_sum", world, resource="r", field="x", at_most=1).gap == 0


# The snapshot


ALL = [
    ("world_count", {"resource": "r", "equals": 0}),
    ("world_unique", {"resource": "r", "by": "id"}),
    ("world_idempotent", {"resource": "r"}),
    ("world_sum", {"resource": "r", "field": "x", "at_most": 5}),
    ("world_sum", {"resource": "r", "field": "x", "at_most": {"resource": "o", "field": "x", "on": "id"}}),
    ("world_matches", {"resource": "r", "field": "x", "rel": {"resource": "o", "field": "x", "on": "id"}}),
]


@pytest.mark.parametrize(("method", "arguments"), ALL)
def test_the_form_of_a_snapshot(method: str, arguments: dict[str, Any]) -> None:
    assert judge(method, {"r": [], "o": []}, **arguments).status == "pass"
    for world in (
        [],
        7,
        "r",
        {},
        {"o": []},
        {"r": None, "o": []},
        {"r": {"a": {}}, "o": []},
        {"r": [1], "o": []},
    ):
        found = judge(method, world, soft=True, **arguments)
        assert (found.status, found.gap, found.score) == ("hard_fail", 1.0, 0.0), world
    unknown = judge(method, None, soft=True, **arguments)
    assert (unknown.status, unknown.gap, unknown.reason) == ("not_evaluated", 1.0, "missing_evidence")
    assert judged(METHODS, method, trace(), **arguments).status == "not_evaluated"


@pytest.mark.parametrize(("method", "arguments"), ALL[4:])
@pytest.mark.parametrize("orders", [None, {}, [7], "o"])
def test_a_related_resource_must_be_there_although_nothing_is_selected(
    method: str, arguments: dict[str, Any], orders: Any
) -> None:
    world = {"r": []} if orders is None else {"r": [], "o": orders}
    assert judge(method, world, **arguments).status == "hard_fail"


def test_the_argument_comes_before_the_world_of_the_scene() -> None:
    scene = {"trace": trace(), "world": {"r": [{}]}}
    assert judged(METHODS, "world_count", scene, resource="r", equals=1).status == "pass"
    assert judged(METHODS, "world_count", scene, resource="r", equals=0, snapshot={"r": []}).status == "pass"
    found = judged(METHODS, "world_count", scene, resource="r", equals=1, snapshot=None)
    assert found.status == "not_evaluated"


def test_soft_is_not_heeded() -> None:
    assert judge("world_count", {"r": []}, resource="r", equals=1, soft=True).status == "hard_fail"


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("world_count", {"resource": "r"}),
        ("world_count", {"resource": "r", "equals": 1, "at_least": 1}),
        ("world_count", {"resource": "r", "equals": "1"}),
        ("world_count", {"resource": "r", "at_most": True}),
        ("world_count", {"equals": 1}),
        ("world_count", {"resource": "r", "equals": 1, "where": [["a", 1]]}),
        ("world_unique", {"resource": "r"}),
        ("world_unique", {"resource": "r", "by": []}),
        ("world_unique", {"resource": "r", "by": ["a", 1]}),
        ("world_sum", {"resource": "r", "field": "x"}),
        ("world_sum", {"resource": "r", "field": "x", "at_most": "5"}),
        ("world_sum", {"resource": "r", "field": "x", "at_most": {"resource": "o", "field": "x"}}),
        ("world_matches", {"resource": "r", "field": "x", "rel": {"resource": "o", "field": 1, "on": "id"}}),
        ("world_matches", {"resource": "r", "field": "x", "rel": "o"}),
    ],
)
def test_unusable_specs_are_refused_when_built(method: str, arguments: dict[str, Any]) -> None:
    assert is_unusable(METHODS, method, **arguments)


# Why

REFUND = {"order_id": "O-7", "idempotency_key": "k1", "amount_cents": 325, "customer_id": "C-9"}
ORDER = {"order_id": "O-7", "amount_cents": 500, "customer_id": "C-1"}
TO_ORDER = {"resource": "orders", "field": "amount_cents", "on": "order_id"}


@pytest.mark.parametrize(
    ("method", "arguments", "refunds", "orders", "why"),
    [
        (
            "world_count",
            {"equals": 1, "where": {"order_id": "O-7"}},
            [REFUND, REFUND],
            [],
            'refunds where {"order_id":"O-7"}: expected = 1, got 2 (over by 1)',
        ),
        (
            "world_count",
            {"at_least": 1, "at_most": 3},
            [],
            [],
            "refunds: expected 1…3, got 0 (short by 1)",
        ),
        (
            "world_unique",
            {"by": "idempotency_key"},
            [REFUND, REFUND],
            [],
            'refunds by idempotency_key: expected distinct, "k1" occurs 2 times',
        ),
        (
            "world_unique",
            {"by": ["order_id", "amount_cents"]},
            [REFUND, REFUND, {"order_id": "O-1"}],
            [],
            (
                'refunds by order_id, amount_cents: expected distinct, ["O-7",325] occurs 2 times; '
                "record 3 has no amount_cents"
            ),
        ),
        (
            "world_idempotent",
            {},
            [REFUND] * 3,
            [],
            'refunds: expected one record per idempotency_key, "k1" has 3',
        ),
        (
            "world_idempotent",
            {},
            [REFUND, {"idempotency_key": None}],
            [],
            "refunds: expected one record per idempotency_key, record 2 has idempotency_key null",
        ),
        (
            "world_sum",
            {"field": "amount_cents", "at_most": 500},
            [REFUND, REFUND],
            [],
            "refunds.amount_cents: expected ≤ 500, got 650 (over by 150)",
        ),
        (
            "world_sum",
            {"field": "amount_cents", "at_most": 500},
            [REFUND, {"amount_cents": "5"}],
            [],
            'refunds.amount_cents: expected numbers, record 2 has "5"',
        ),
        (
            "world_sum",
            {"field": "amount_cents", "at_most": TO_ORDER},
            [REFUND, REFUND],
            [ORDER],
            (
                'refunds.amount_cents for order_id "O-7": expected ≤ 500 (orders.amount_cents), '
                "got 650 (over by 150)"
            ),
        ),
        (
            "world_sum",
            {"field": "amount_cents", "at_most": TO_ORDER},
            [REFUND, {}],
            [],
            'refunds.amount_cents for order_id "O-7": expected one record of orders, got none (and 1 more)',
        ),
        (
            "world_sum",
            {"field": "amount_cents", "at_most": TO_ORDER},
            [REFUND],
            [{"order_id": "O-7", "amount_cents": None}],
            'refunds.amount_cents for order_id "O-7": expected a number in orders.amount_cents, got null',
        ),
        (
            "world_sum",
            {"field": "amount_cents", "at_most": TO_ORDER},
            [{"amount_cents": 1}],
            [],
            "refunds (record 1): expected a value in order_id, got nothing",
        ),
        (
            "world_matches",
            {"field": "customer_id", "rel": TO_ORDER | {"field": "customer_id"}},
            [REFUND | {"customer_id": "C-1"}, REFUND],
            [ORDER],
            'refunds.customer_id (record 2): expected "C-1" (orders.customer_id), got "C-9"',
        ),
        (
            "world_matches",
            {"field": "customer_id", "rel": TO_ORDER | {"field": "customer_id"}},
            [REFUND],
            [ORDER, ORDER],
            'refunds.customer_id (record 1) for order_id "O-7": expected one record of orders, got 2',
        ),
        (
            "world_count",
            {"equals": 1},
            None,
            [],
            "world.refunds: expected an array of records, got null",
        ),
    ],
)
def test_why(method: str, arguments: dict[str, Any], refunds: Any, orders: Any, why: str) -> None:
    world = {"refunds": refunds, "orders": orders}
    assert judge(method, world, resource="refunds", **arguments).text() == why


def test_why_without_a_snapshot() -> None:
    found = judge("world_count", None, resource="refunds", equals=1)
    assert found.text() == "refunds: not evaluated: missing_evidence: snapshot of the world"

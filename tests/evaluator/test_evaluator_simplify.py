"""Simplification: the same verdict and gap on every scene, to the last bit, and never more nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_evaluator_properties import checks, compound, json_values
from wellformedness import can_be_written, well_formed

from evaluator import (
    Check,
    CheckError,
    canonical_json,
    compile_check,
    dump_check,
    explain,
    parse_check,
    run_check,
    simplify,
)

GOLDEN = Path(__file__).parents[1] / "golden" / "autocheck" / "checks.jsonl"
A, B, C = ({"op": "exists", "path": path} for path in "abc")
NEAR = {"op": "lte", "path": "n", "value": 0.1}
ALWAYS: dict[str, Any] = {"op": "and", "of": []}
NEVER: dict[str, Any] = {"op": "or", "of": []}


def both(*parts: Any) -> dict[str, Any]:
    return {"op": "and", "of": list(parts)}


def either(*parts: Any) -> dict[str, Any]:
    return {"op": "or", "of": list(parts)}


def no(part: Any) -> dict[str, Any]:
    return {"op": "not", "of": part}


def find(where: Any) -> dict[str, Any]:
    return {"op": "find", "collection": "c", "where": where}


def count(where: Any, **bounds: float) -> dict[str, Any]:
    return {"op": "count", "collection": "c", "where": where} | bounds


# Few atoms over few fields with fractional numbers: parts repeat, and sums of gaps depend on their order.
amounts = st.sampled_from([0, 0.1, 0.2, 0.3, 0.7, 1, 2.5, 1e16])
few = st.sampled_from([A, B, no(A), ALWAYS, NEVER, no(ALWAYS), {"op": "eq", "path": "a", "value": 1}]) | (
    st.builds(
        lambda op, path, value: {"op": op, "path": path, "value": value},
        st.sampled_from(["gte", "lte"]),
        st.sampled_from(["a", "b", "c"]),
        amounts,
    )
)
repetitive = st.recursive(
    few,
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda of: both(*of))
        | st.lists(inner, max_size=4).map(lambda of: either(*of))
        | inner.map(no)
        | inner.map(find)
        | st.builds(lambda where, bound: count(where, gte=bound), inner, amounts)
    ),
    max_leaves=12,
)
members = st.dictionaries(st.sampled_from(["a", "b", "c"]), amounts, max_size=3)
scenes = members | st.fixed_dictionaries({"c": st.lists(members, max_size=3)}, optional={"a": amounts})


def accepted(check: Any) -> bool:
    try:
        compile_check(check)
    except CheckError:
        return False
    return True


# Opt-in forms and extension operators, where they can stand.
paths = st.sampled_from(["a", "b", "c", "", "c[0]"])
values = amounts | st.sampled_from(["1", "x", None])
ways = st.sampled_from(["number", "day", "digits", "loose", "cell", "instant"])
opt_in = (
    st.fixed_dictionaries(
        {"op": st.sampled_from(["eq", "neq"]), "path": paths, "value": values},
        optional={"ci": st.booleans(), "as": ways},
    )
    | st.fixed_dictionaries(
        {"op": st.sampled_from(["eq", "neq", "lt", "gt", "gte", "lte"]), "path": paths, "value_path": paths}
    )
    | st.fixed_dictionaries({"op": st.sampled_from(["lt", "gt"]), "path": paths, "value": amounts})
    | st.fixed_dictionaries(
        {"op": st.just("cel.compare"), "path": paths, "is": st.sampled_from(["<", ">="])},
        optional={"value": amounts},
    )
    | st.just({"op": "matches", "path": "a", "pattern": "^1"})
)
extended = st.recursive(
    few | opt_in.filter(accepted),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda of: both(*of))
        | st.lists(inner, max_size=3).map(lambda of: either(*of))
        | inner.map(no)
        | st.fixed_dictionaries(
            {"op": st.just("find"), "collection": paths, "where": inner},
            optional={"values": st.booleans(), "absent": st.just("empty")},
        )
        | st.fixed_dictionaries(
            {"op": st.just("count"), "collection": paths, "where": inner, "gte": amounts},
            optional={"values": st.booleans(), "absent": st.just("empty")},
        )
        | st.fixed_dictionaries(
            {
                "op": st.just("cel.size"),
                "collection": paths,
                "where": inner,
                "is": st.just(">"),
                "value": amounts,
            }
        )
    ),
    max_leaves=8,
)


def assert_same(check: Any, scene: Any) -> None:
    simpler = simplify(check)
    before, after = run_check(scene, check), run_check(scene, simpler)
    assert after.passed is before.passed
    assert after.gap == before.gap
    assert nodes(simpler) <= nodes(check)
    assert simplify(simpler) == simpler


def nodes(check: dict[str, Any]) -> int:
    inner = [part for part in (check.get("of"), check.get("where")) if part is not None]
    return 1 + sum(nodes(part) for one in inner for part in (one if isinstance(one, list) else [one]))


@settings(max_examples=400)
@given(repetitive, scenes)
def test_verdict_and_gap_stay_where_parts_repeat(check: Any, scene: Any) -> None:
    assert_same(check, scene)


@given(extended, scenes)
def test_verdict_and_gap_stay_with_the_opt_in_forms(check: Any, scene: Any) -> None:
    assert_same(check, scene)
    assert dump_check(parse_check(check)) == check
    assert explain(check, scene).startswith("pass " if run_check(scene, check).passed else "FAIL ")


@given(st.recursive(checks, compound, max_leaves=8), json_values)
def test_verdict_and_gap_stay_on_any_check(check: Any, scene: Any) -> None:
    assert_same(check, scene)


def test_golden_checks_keep_verdict_and_gap() -> None:
    for line in GOLDEN.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if well_formed(case["check"]) and can_be_written(case["check"]):
            gap = compile_check(simplify(case["check"])).gap
            assert gap(case["scene"]) == compile_check(case["check"]).gap(case["scene"]), case["id"]


@pytest.mark.parametrize(
    ("check", "simpler"),
    [
        (both(both(A, B), C), both(A, B, C)),
        (both(A, both(B, both(C))), both(A, B, C)),
        (either(A, either(B, either(C, A))), either(A, B, C)),
        (either(NEAR, either(NEAR, A)), either(NEAR, A)),
        (both(both(NEAR, A), A), both(NEAR, A, A)),
        (both(A), A),
        (either(both(either(A))), A),
        (both(A, ALWAYS, B), both(A, B)),
        (either(A, NEVER), A),
        (both(A, NEVER, B), NEVER),
        (either(A, B, ALWAYS), ALWAYS),
        (no(NEVER), ALWAYS),
        (no(both(ALWAYS, ALWAYS)), no(ALWAYS)),
        (either(A, no(ALWAYS)), A),
        (no(no(A)), A),
        (no(no(find(A))), find(A)),
        (no(no(no(NEAR))), no(NEAR)),
        (no(both(NEAR, both(A, NEAR))), no(both(NEAR, A))),
        (no(no(both(A, A))), A),
        (count(no(no(NEAR)), gte=2), count(NEAR, gte=2)),
        (count(both(NEAR, NEAR), eq=1), count(NEAR, eq=1)),
        (count(either(A, ALWAYS), lte=3), {"op": "count", "collection": "c", "lte": 3}),
        (find(either(find(no(no(A))), NEVER)), find(find(A))),
    ],
)
def test_what_can_go_goes(check: Any, simpler: Any) -> None:
    assert simplify(check) == simpler


@pytest.mark.parametrize(
    "check",
    [
        both(A, A),  # counts twice
        both(NEAR, both(NEAR, A)),  # 0.1 + (0.2 + 0.3) is not (0.1 + 0.2) + 0.3
        no(no(NEAR)),  # gap 1, not the distance
        no(no(both(A, B))),
        either(NEAR, no(ALWAYS)),  # at most 1
        both(NEAR, no(ALWAYS)),
        find(ALWAYS),
        no(ALWAYS),
        {"op": "and", "of": [A], "note": "kept"},
        {"op": "not", "of": no(A), "note": "kept"},
        either(A, A | {"note": "another"}),
    ],
)
def test_what_would_change_the_gap_or_lose_a_note_stays(check: Any) -> None:
    assert simplify(check) == check


def test_the_kind_given_is_the_kind_returned_and_the_rest_is_kept() -> None:
    wire = {"id": "x", "expr": both(A), "meta": {"tags": ["t"]}, "since": 1}
    assert simplify(wire) == wire | {"expr": A}
    assert simplify(Check("x", both(A), {"tags": ["t"]})) == Check("x", A, {"tags": ["t"]})
    assert simplify(parse_check(both(A))) == parse_check(A)
    assert simplify(parse_check(wire)) == parse_check(wire | {"expr": A})


@given(repetitive)
def test_the_check_given_is_not_changed(check: Any) -> None:
    before = canonical_json(check)
    simplify(check)
    assert canonical_json(check) == before

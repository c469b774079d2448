"""Checks as typed data: the round trip, equality, hashes, errors with places, and the limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_evaluator_properties import checks, json_values
from wellformedness import can_be_written, well_formed

from evaluator import (
    Check,
    CheckError,
    canonical_json,
    check_hash,
    compile_check,
    define_check,
    dump_check,
    parse_check,
    run_check,
    sentence,
)
from evaluator.check import MAX_DEPTH, MAX_NESTING, MAX_NODES
from evaluator.expression import And, Count, Definition, Eq, Exists, Find, Not

GOLDEN = Path(__file__).parents[1] / "golden" / "autocheck" / "checks.jsonl"
FINE = {"op": "exists", "path": "a"}


def test_golden_checks_come_back_as_they_were() -> None:
    seen = 0
    for line in GOLDEN.read_text(encoding="utf-8").splitlines():
        check = json.loads(line)["check"]
        if well_formed(check) and can_be_written(check):
            seen += 1
            assert dump_check(parse_check(check)) == check
    assert seen > 4_000


@given(checks, st.dictionaries(st.sampled_from(["note", "extra", "x y", "id"]), json_values, max_size=2))
def test_unknown_keys_survive_and_the_meaning_stays(check: Any, more: Any) -> None:
    check = check | more
    typed = parse_check(check)
    assert canonical_json(dump_check(typed)) == canonical_json(check) == canonical_json(typed.to_dict())
    assert typed == parse_check(json.dumps(check)) == parse_check(typed)
    assert hash(typed) == hash(parse_check(check))
    assert sentence(typed) == sentence(check)
    assert run_check({"a": 1}, typed) == run_check({"a": 1}, check)


def test_fields_are_attributes_and_classes_can_be_matched() -> None:
    typed = parse_check({"op": "find", "collection": "items", "where": {"op": "not", "of": FINE}, "why": 1})
    match typed:
        case Find(collection="items", where=Not(of=Exists(path=path))):
            assert path == "a"
        case _:
            pytest.fail("no match")
    assert (typed.op, typed.extra) == ("find", {"why": 1})
    assert isinstance(parse_check({"op": "count", "collection": "c"}), Count)


def test_a_check_can_be_built_from_its_parts() -> None:
    built = And((Exists("a"), Eq("b", [1])))
    assert run_check({"a": 0, "b": [1]}, built).passed
    assert dump_check(built) == {"op": "and", "of": [FINE, {"op": "eq", "path": "b", "value": [1]}]}
    with pytest.raises(CheckError) as caught:
        dump_check(And((Exists("a["),)))
    assert caught.value.place == "$.of[0].path"
    with pytest.raises(CheckError, match="a Python set"):
        Eq("b", {1}).to_dict()


def test_a_defined_check_is_typed_with_its_id_meta_and_other_keys() -> None:
    wire = {"id": "x", "expr": FINE, "meta": None, "op": "beside", "since": 3}
    typed = parse_check(wire)
    assert typed == Definition("x", Exists("a"), None, extra={"op": "beside", "since": 3})
    assert dump_check(typed) == wire
    assert dump_check(parse_check({"id": "x", "expr": FINE})) == {"id": "x", "expr": FINE}
    assert parse_check(Check("x", FINE, {"tags": []})) == Definition("x", Exists("a"), {"tags": []})


def test_equality_and_hash_know_that_true_is_no_number() -> None:
    def eq(value: Any) -> Any:
        return parse_check({"op": "eq", "path": "a", "value": value})

    assert eq(1) == eq(1.0)
    assert eq(1) != eq(True)
    assert eq([0]) != eq([False])
    assert len({eq(1), eq(1.0), eq(True), eq(0), eq(False)}) == 4
    assert eq(1) != {"op": "eq", "path": "a", "value": 1}


def test_what_is_given_can_be_changed_afterwards() -> None:
    value = [1]
    check = {"op": "eq", "path": "a", "value": value}
    typed = parse_check(check)
    value.append(2)
    dumped = dump_check(typed)
    dumped["value"].append(3)
    assert dump_check(typed) == {"op": "eq", "path": "a", "value": [1]}


@pytest.mark.parametrize(
    ("source", "place", "said"),
    [
        ({"op": "and", "of": [FINE, {"op": "exsts", "path": "a"}]}, "$.of[1].op", 'did you mean "exists"'),
        ({"id": "x", "expr": {"op": "lte", "path": "a", "value": "5"}}, "$.expr.value", "a number"),
        ('{"op": "exists"', "$", "the text of a check is not JSON"),
        (b'{"op": "exists", "path": "a", "path": "b"}', "$", "stands twice"),
        ('{"op": "eq", "path": "a", "value": "\ud83d"}', "$", "not UTF-8"),
        (None, "$", "expected a check"),
    ],
)
def test_errors_name_the_place(source: Any, place: str, said: str) -> None:
    for parse in (parse_check, dump_check, check_hash):
        with pytest.raises(CheckError) as caught:
            parse(source)
        assert caught.value.place == place
        assert said in str(caught.value)


def nested(depth: int) -> dict[str, Any]:
    check: dict[str, Any] = FINE
    for _ in range(depth):
        check = {"op": "not", "of": check}
    return check


def test_checks_nest_to_the_limit_and_no_further() -> None:
    deepest = nested(MAX_NESTING)
    assert dump_check(parse_check(deepest)) == deepest
    assert run_check({"a": 1}, deepest).passed is (MAX_NESTING % 2 == 0)
    with pytest.raises(CheckError, match="nested more than 200 deep"):
        parse_check(nested(MAX_NESTING + 1))


def test_a_check_has_at_most_so_many_values() -> None:
    def wide(number: int) -> dict[str, Any]:
        return {"op": "eq", "path": "a", "value": [0] * number}

    most = MAX_NODES - 3
    assert len(compile_check(wide(most)).check["value"]) == most
    with pytest.raises(CheckError, match="at most 100,000 values"):
        compile_check(wide(most + 1))


def test_the_json_of_a_check_is_only_so_deep() -> None:
    def deep(levels: int) -> Any:
        value: Any = 1
        for _ in range(levels):
            value = [value]
        return {"op": "eq", "path": "a", "value": value}

    assert compile_check(deep(MAX_DEPTH - 1))
    with pytest.raises(CheckError, match="at most 500 levels deep"):
        compile_check(deep(MAX_DEPTH))


def test_the_hash_is_of_the_meaning_not_of_the_spelling() -> None:
    one = {"op": "gte", "path": "a", "value": 1, "n": {"x": 1, "y": 2}}
    other = {"n": {"y": 2.0, "x": 1}, "value": 1.0, "path": "a", "op": "gte"}
    assert check_hash(one) == check_hash(other) == check_hash(parse_check(one)) == check_hash(json.dumps(one))
    assert check_hash(one) != check_hash(one | {"value": 2})
    assert check_hash(define_check("x", one)) == check_hash({"id": "x", "expr": one})
    assert check_hash(FINE) == "333024529ebb1824f0cf1338f817b9edcc5e45cd9435cf6110b6be6b0a5ba5a4"

"""The JSON Schema of checks: it accepts what `compile_check` accepts, path syntax and limits aside."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_evaluator_properties import checks, json_values

from evaluator import CheckError, check_json_schema, compile_check
from evaluator.assertions.operators import EXTENSIONS
from evaluator.expression import declared, fields_of
from evaluator.fields import Fields
from evaluator.operators import OPERATORS

GOLDEN = Path(__file__).parents[1] / "golden" / "autocheck"
SCHEMA = jsonschema.Draft202012Validator(check_json_schema())


def compiles(check: Any) -> bool:
    try:
        compile_check(check)
    except CheckError:
        return False
    return True


def golden_checks() -> Iterator[tuple[str, Any, Any]]:
    for name in ("checks.jsonl", "meta.jsonl"):
        for line in (GOLDEN / name).read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            yield case["id"], case["check"], case["expect"]


def test_it_is_a_schema_of_the_draft() -> None:
    schema = check_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    schema["$defs"].clear()
    assert check_json_schema()["$defs"]


def test_golden_checks_are_accepted_exactly_when_they_compile() -> None:
    seen, different = 0, []
    for name, check, expect in golden_checks():
        if "path" in str(expect.get("throws", "")):
            continue  # the syntax of paths is beyond a schema
        try:
            compile_check(check)
            wanted = True
        except CheckError as error:
            if "surrogate" in error.problem or "finite" in error.problem or "path" in error.problem:
                continue
            wanted = False
        seen += 1
        if SCHEMA.is_valid(check) is not wanted:
            different.append((name, wanted, check))
    assert different == []
    assert seen > 5_000


@pytest.mark.parametrize(
    ("check", "accepted"),
    [
        ({"op": "lte", "path": "a", "value": True}, False),
        ({"op": "lte", "path": "a", "value": float("inf")}, False),
        ({"op": "lte", "path": "a", "value": 2**100}, True),
        ({"op": "eq", "path": "a", "value": "\ud83d"}, True),
        ({"op": "eq", "path": "a", "value": None, "note": [1]}, True),
        ({"op": "eq", "path": "a"}, False),
        ({"op": "eq", "path": None, "value": 1}, False),
        ({"op": "count", "collection": "a", "eq": None}, False),
        ({"op": "count", "collection": "a", "where": []}, False),
        ({"op": "and", "of": [{"op": "exists", "path": "a"}, {"op": "exists"}]}, False),
        ({"op": "not", "of": [{"op": "exists", "path": "a"}]}, False),
        ({"id": "x", "expr": {"op": "exists", "path": "a"}, "meta": 5}, True),
        ({"id": "x", "expr": {"op": "exists"}}, False),
        ({"id": "x", "expr": None}, False),
        ({"id": "x", "expr": 5, "op": "exists", "path": "a"}, True),
        ({"id": "x", "expr": {"op": "exists", "path": "a"}, "op": "nonsense"}, True),
        ({"id": 5, "expr": {"op": "exists", "path": "a"}}, False),
        ({"op": "and", "of": [{"id": "x", "expr": {"op": "exists", "path": "a"}}]}, False),
        ({"op": "tostring", "path": "a"}, False),
        ([], False),
        (None, False),
    ],
)
def test_fields_are_there_and_of_the_right_type(check: Any, accepted: bool) -> None:
    assert SCHEMA.is_valid(check) is accepted


@given(checks, st.data())
def test_a_check_with_one_field_changed_is_accepted_exactly_when_it_compiles(
    check: Any, data: st.DataObject
) -> None:
    check = copy.deepcopy(check)
    name = data.draw(st.sampled_from(sorted(check)))
    if data.draw(st.booleans()):
        del check[name]
    else:
        check[name] = data.draw(json_values.filter(lambda value: not isinstance(value, str)) | checks)
    assert SCHEMA.is_valid(check) is compiles(check)


def test_the_cost_of_validation_does_not_explode_with_depth() -> None:
    check: Any = {"op": "exists", "path": "a"}
    for _ in range(20):  # trying every operator at every level would take 4**20 steps
        check = {"op": "or", "of": [{"op": "not", "of": {"op": "find", "collection": "c", "where": check}}]}
    assert SCHEMA.is_valid(check)


# Every operator declares the fields it asks for: the one list that schema and typed checks are made from


class Asked(dict[str, Any]):
    """The fields of a check, which remembers the names that were asked for."""

    def __init__(self, members: dict[str, Any]) -> None:
        super().__init__(members)
        self.names: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().get(name, default)


def test_every_operator_is_declared_and_nothing_else() -> None:
    assert set(declared()) == {*OPERATORS, *EXTENSIONS}


def fine_value(schema: dict[str, Any]) -> Any:
    """Some value that the schema of a field accepts."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "array":
        return []
    for reference, value in (("path", "a"), ("number", 1), ("check", {"op": "exists", "path": "a"})):
        if schema.get("$ref") == f"#/$defs/{reference}":
            return value
    return {"boolean": True, "string": "a", "integer": 1, "object": {}}.get(schema.get("type", ""), 1)


@pytest.mark.parametrize("op", OPERATORS)
def test_an_operator_asks_only_for_fields_it_declares_and_for_all_of_them(op: str) -> None:
    described = check_json_schema()["$defs"][op]["properties"]
    asked: set[str] = set()
    plain = {field.name: fine_value(described[field.name]) for field in fields_of(op)}
    variants = [plain]
    for name in plain:  # without each in turn: fields that exclude one another are all met
        variants.append({key: value for key, value in plain.items() if key != name})
        variants.append({key: plain[key] for key in plain if key == name} | required(op, plain))
    for fields in variants:
        members = Asked({"op": op} | fields)
        with suppress(CheckError):
            OPERATORS[op](Fields(members, op, "$", 0, compile_part))
        asked |= members.names
    assert asked - {"op"} == set(plain)


def required(op: str, plain: dict[str, Any]) -> dict[str, Any]:
    return {field.name: plain[field.name] for field in fields_of(op) if field.required}


def compile_part(check: Any, place: str, depth: int) -> Any:
    return OPERATORS[check["op"]](Fields(check, check["op"], place, depth, compile_part))

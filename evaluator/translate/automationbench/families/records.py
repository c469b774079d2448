"""Records: one of a collection has these values, this tag, this note or this field; or there are so many.

Which parameter is compared with which field, and how, is data: a table of `Field`s for each kind of record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from evaluator.errors import CheckError, kind_of
from evaluator.translate.automationbench.clauses import (
    Clause,
    alike,
    at,
    at_one_of,
    either,
    equal_as,
    every,
    how_many,
    member,
    same,
    some,
    within,
)
from evaluator.translate.automationbench.parameters import (
    MissingParameterError,
    Parameters,
    is_number,
    scalar_of,
    texts_of,
)
from evaluator.values import compact

Family = Callable[[Parameters], Clause]
Compare = Callable[[str, Any, str], Clause]
_CONTAINS: Final = "_contains"


class Field(NamedTuple):
    """How a parameter is compared: with what stands at one of the paths, in which way."""

    paths: tuple[str, ...]
    compare: Compare

    def clause(self, value: Any, place: str) -> Clause:
        """The comparison with a value that the assertion gives at a place."""
        return at_one_of(self.paths, lambda path: self.compare(path, value, place))


Fields = Mapping[str, Field]


def is_(*paths: str) -> Field:
    """Equal as text."""
    return Field(paths, lambda path, value, place: same(path, scalar_of(value, place)))


def is_like(*paths: str) -> Field:
    """Equal as text, without case."""
    return Field(paths, lambda path, value, place: alike(path, scalar_of(value, place)))


def is_as(way: str, *paths: str) -> Field:
    """Equal in a way of `eq`."""
    return Field(paths, lambda path, value, place: equal_as(way, path, scalar_of(value, place)))


def holds(*paths: str) -> Field:
    """Every text is in it."""
    return Field(paths, lambda path, value, place: every(within(path, t) for t in texts_of(value, place)))


def lists(*paths: str) -> Field:
    """The list holds every one of the values."""
    return Field(paths, lambda path, value, place: every(member(path, t) for t in texts_of(value, place)))


def invites(*paths: str) -> Field:
    """The list holds every address, bare or as the `email` of an object."""

    def all_invited(path: str, value: Any, place: str) -> Clause:
        texts = texts_of(value, place)
        return every(some(path, either([alike("", text), alike("email", text)])) for text in texts)

    return Field(paths, all_invited)


def says_something(*paths: str) -> Field:
    """There is a text that is not empty; or, where false is asked for, there is none."""

    def has_text(path: str, value: Any, place: str) -> Clause:
        if type(value) is not bool:
            raise CheckError(f"expected true or false, got {kind_of(value)} {compact(value)}", place)
        clause = every([{"op": "contains", "path": path, "substring": ""}, _not_empty(path)])
        return clause if value else {"op": "not", "of": clause}

    return Field(paths, has_text)


def _not_empty(path: str) -> Clause:
    return {"op": "neq", "path": path, "value": ""}


# Some record is such


def record(collection: str, fields: Fields, *conditions: Clause, needs: tuple[str, ...] = ()) -> Family:
    """Some record has every value that is asked for, and keeps the conditions.

    `needs` are the parameters without which the verdict is false; `a|b` asks for one of the two.
    """

    def family(parameters: Parameters) -> Clause:
        _require(parameters, needs)
        return some(collection, every([*_values(parameters, fields), *conditions]))

    return family


def one_of(*families: Family) -> Family:
    """What one family or another says."""
    return lambda parameters: either(family(parameters) for family in families)


def tagged(collection: str, selectors: Fields, tags: str = "tags") -> Family:
    """The selected record has the whole tag."""

    def family(parameters: Parameters) -> Clause:
        _require(parameters, ("|".join(selectors), "tag"))
        tag = member(tags, parameters.scalar("tag"))
        return some(collection, every([*_values(parameters, selectors), tag]))

    return family


def part(collection: str, selectors: Fields, parts: str, fields: Fields, *conditions: Clause) -> Family:
    """The selected record has a note, comment, message or event with these values."""

    def family(parameters: Parameters) -> Clause:
        _require(parameters, ("|".join(selectors),))
        selected = list(_values(parameters, selectors))
        wanted = every([*_values(parameters, fields), *conditions])
        return some(collection, every([*selected, some(parts, wanted)]))

    return family


def _require(parameters: Parameters, needs: tuple[str, ...]) -> None:
    for names in needs:
        parameters.require(*names.split("|"))


def _values(parameters: Parameters, fields: Fields) -> Iterator[Clause]:
    for name, field in fields.items():
        if parameters.has(name):
            yield field.clause(parameters.value(name), f"$.{name}")


# A field that the assertion names


def field_like(collection: str, selectors: Fields, name: str | None = None) -> Family:
    """The field of the selected record equals the value, without case; `name` where the type fixes it."""

    def family(parameters: Parameters) -> Clause:
        path = at(_field_name(parameters, selectors, name))
        parameters_value = _given_value(parameters, "value", "expected_value")
        return some(collection, every([*_values(parameters, selectors), _valued(path, parameters_value)]))

    return family


def field_holds(collection: str, selectors: Fields, name: str | None = None) -> Family:
    """The field of the selected record has the text in it; `name` where the type fixes it."""

    def family(parameters: Parameters) -> Clause:
        path = at(_field_name(parameters, selectors, name))
        parameters.require("value_contains", "text", "value")
        texts = parameters.texts("value_contains", "text", "value")
        clauses = every(within(path, text) for text in texts)
        return some(collection, every([*_values(parameters, selectors), clauses]))

    return family


def property_like(collection: str, selectors: Fields) -> Family:
    """The property of the selected record, on it or among its `properties`, equals the value without case."""

    def family(parameters: Parameters) -> Clause:
        _require(parameters, ("|".join(selectors), "property|field"))
        name = parameters.text("property", "field") or ""
        value = _given_value(parameters, "value", "expected_value")
        places = either([_valued(at(name), value), _valued(at("properties", name), value)])
        return some(collection, every([*_values(parameters, selectors), places]))

    return family


def with_field(collection: str, compare: Callable[[str, Any, str], Clause], extra: Fields) -> Family:
    """Some record whose named field equals the value, or holds the text, and keeps every additional check.

    `compare` makes the clause that a field equals a value; a name that ends in `_contains` asks for a text
    in the field instead. `extra` are further parameters, as in `record`.
    """

    def clause(name: str, value: Any, place: str) -> Clause:
        if name.endswith(_CONTAINS) and len(name) > len(_CONTAINS):
            field = name.removesuffix(_CONTAINS)
            return every(within(at(field), text) for text in texts_of(value, place))
        return compare(name, value, place)

    def family(parameters: Parameters) -> Clause:
        parameters.require("field")
        field = parameters.text("field") or ""
        if not parameters.has("value", "value_contains"):
            raise MissingParameterError(("value", "value_contains"))
        clauses: list[Clause] = []
        if parameters.has("value"):
            clauses.append(clause(field, parameters.value("value"), "$.value"))
        for text in parameters.texts("value_contains"):
            clauses.append(within(at(field.removesuffix(_CONTAINS)), text))
        for name, value in parameters.object("additional_checks").items():
            clauses.append(clause(name, value, f"$.additional_checks.{name}"))
        return some(collection, every([*clauses, *_values(parameters, extra)]))

    return family


def valued(name: str, value: Any, place: str) -> Clause:
    """A field equals a value: a list holds all of them, a moment is the same one, else without case."""
    if type(value) is list:
        return invites(at(name)).clause(value, place)
    return _valued(at(name), scalar_of(value, place))


def _valued(path: str, value: Any) -> Clause:
    """Equal without case, or as numbers; moments and days as such."""
    if type(value) is str and len(value) > len("2026-01-05") and value[:4].isdecimal() and value[4:5] == "-":
        return either([equal_as("instant", path, value), equal_as("cell", path, value)])
    if type(value) is str and value.lower() not in ("true", "false"):
        return equal_as("cell", path, value)
    return equal_as("number", path, value) if is_number(value) else alike(path, value)


def _given_value(parameters: Parameters, *names: str) -> Any:
    if not parameters.has(*names):
        raise MissingParameterError(names)
    return parameters.scalar(*names)


def _field_name(parameters: Parameters, selectors: Fields, name: str | None) -> str:
    _require(parameters, ("|".join(selectors),) if selectors else ())
    if name is None:
        parameters.require("field")
        name = parameters.text("field") or ""
    return name


# How many


def counted(collection: str, fields: Fields, *conditions: Clause) -> Family:
    """The number of records with these values is `count`, or between `min_count` and `max_count`."""

    def family(parameters: Parameters) -> Clause:
        where = every([*_values(parameters, fields), *conditions])
        return how_many(collection, where, **bounds(parameters))

    return family


def bounds(parameters: Parameters) -> dict[str, float]:
    """The bounds of a count. Raises `MissingParameterError` when there is none."""
    exactly = parameters.number("count")
    at_least, at_most = parameters.number("min_count"), parameters.number("max_count")
    if exactly is not None:
        return {"eq": exactly}
    told = {name: bound for name, bound in (("gte", at_least), ("lte", at_most)) if bound is not None}
    if not told:
        raise MissingParameterError(("count", "min_count", "max_count"))
    return told

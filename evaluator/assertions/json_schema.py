"""JSON Schemas that come with assertions: judged when they are built, then asked what a value violates.

The dialect is draft 2020-12 unless `$schema` names another. `format` is not enforced, `1.0` is an integer,
and no document but the metaschemas is known: a reference to another is refused. Patterns are ECMA's
(`schema_pattern.py`). `multipleOf` is exact in decimals. Uses the package jsonschema, which is loaded when
the first schema is built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evaluator.assertions.schema_pattern import SchemaPattern, SchemaPatternError
from evaluator.values import compact, isfinite_number, number_text

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_LITERAL: Final = ("const", "enum", "default", "examples")
_BY_NAME: Final = ("properties", "$defs", "definitions", "dependentSchemas", "dependencies")


class SchemaError(ValueError):
    """The schema cannot be used; the text says why."""


class Violation(NamedTuple):
    """A violated leaf: where in the value, what was expected there, and what was found."""

    steps: tuple[str | int, ...]
    expected: str
    found: str


Violations = Callable[[Any], list[Violation]]


def violations_of(schema: Any) -> Violations:
    """The function from a value to what it violates, empty when it conforms.

    Raises `SchemaError` when the schema breaks its metaschema, or refers to what is not in it.
    """
    from jsonschema.exceptions import SchemaError as Broken
    from jsonschema_specifications import REGISTRY

    validator_class = _validator_class(schema)
    try:
        validator_class.check_schema(schema, format_checker=None)  # patterns are judged below
    except Broken as error:
        place = "".join(f"[{compact(step)}]" for step in error.absolute_path)
        at = f"{place}: " if place else ""
        raise SchemaError(f"not a JSON Schema: {at}{error.message[:300]}") from None
    prepared = _prepared(schema)
    _require_references(prepared, validator_class, REGISTRY)
    validator = validator_class(prepared, registry=REGISTRY)

    def violations(value: Any) -> list[Violation]:
        try:
            return [_violation(leaf) for error in validator.iter_errors(value) for leaf in _leaves(error)]
        except RecursionError:  # the value is too deep, or the schema refers to itself without end
            return [Violation((), "a value that the schema judges in finitely many steps", compact(value))]

    return violations


def _validator_class(schema: Any) -> Any:
    from jsonschema.validators import validator_for

    dialect = schema.get("$schema") if type(schema) is dict else None
    if dialect is None:
        return _exact("https://json-schema.org/draft/2020-12/schema")
    found = validator_for(schema, default=None) if type(dialect) is str else None
    if found is None:
        raise SchemaError(f"$schema: {compact(dialect)} is not a dialect of JSON Schema that is known")
    return _exact(dialect)


@cache
def _exact(dialect: str) -> Any:
    """The validator of a dialect, with `multipleOf` exact in decimals."""
    from jsonschema import validators

    return validators.extend(validators.validator_for({"$schema": dialect}), {"multipleOf": _multiple_of})


def _multiple_of(validator: Any, factor: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if not validator.is_type(instance, "number"):
        return
    if isfinite_number(instance) and _exactly(instance) % _exactly(factor) == 0:
        return
    yield ValidationError(f"{instance!r} is not a multiple of {factor}")


def _exactly(number: Any) -> Fraction:
    """The number that the digits of a double say."""
    return Fraction(number) if type(number) is int else Fraction(repr(number))


def _prepared(root: Any, *, of_names: bool = False) -> Any:
    """A copy of a schema, or of an object from names to schemas, with its patterns as Python reads them."""
    if type(root) is list:
        return [_prepared(member) for member in root]
    if type(root) is not dict:
        return root
    copy = {}
    for key, member in root.items():
        if of_names:
            copy[key] = _prepared(member)
        elif key == "pattern" and type(member) is str:
            copy[key] = _python_pattern(member)
        elif key == "patternProperties" and type(member) is dict:
            copy[key] = {_python_pattern(name): _prepared(inner) for name, inner in member.items()}
        elif key in _LITERAL:
            copy[key] = member
        else:
            copy[key] = _prepared(member, of_names=key in _BY_NAME)
    return copy


def _python_pattern(pattern: str) -> SchemaPattern:
    try:
        return SchemaPattern(pattern)
    except SchemaPatternError as error:
        raise SchemaError(f"pattern {compact(pattern)}: {error}") from None


def _require_references(schema: Any, validator_class: Any, registry: Any) -> None:
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import specification_with

    specification = specification_with(validator_class.META_SCHEMA["$schema"])
    root = specification.create_resource(schema)
    known = registry.with_resource("", root).crawl()
    pending = [(root, known.resolver_with_root(root))]
    while pending:
        resource, resolver = pending.pop()
        contents = resource.contents
        if type(contents) is dict:
            for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
                reference = contents.get(keyword)
                if type(reference) is not str:
                    continue
                try:
                    resolver.lookup(reference)
                except Unresolvable:
                    problem = "leads nowhere in the schema; other documents are not fetched"
                    raise SchemaError(f"{keyword} {compact(reference)} {problem}") from None
        pending.extend((inner, resolver.in_subresource(inner)) for inner in resource.subresources())


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    pending = [error]
    while pending:
        inner = pending.pop()
        if inner.context:
            pending.extend(reversed(inner.context))
        else:
            yield inner


def _violation(error: ValidationError) -> Violation:
    steps = tuple(error.absolute_path)
    keyword, asked, value = str(error.validator), error.validator_value, error.instance
    if keyword == "required" and type(value) is dict and type(asked) is list:
        absent = next((name for name in asked if name not in value and repr(name) in error.message), None)
        if absent is not None:
            return Violation((*steps, absent), "a value", "none")
    return Violation(steps, _expected(keyword, asked), compact(value))


def _expected(keyword: str, asked: Any) -> str:
    """What a keyword asks for, in words."""
    signs = {"minimum": "≥", "maximum": "≤", "exclusiveMinimum": ">", "exclusiveMaximum": "<"}
    if keyword in signs and type(asked) is not bool:
        return f"{signs[keyword]} {number_text(asked)}"
    if keyword == "type":
        return " or ".join(asked) if type(asked) is list else str(asked)
    if keyword == "enum":
        return f"one of {', '.join(map(compact, asked))}"
    if keyword == "const":
        return compact(asked)
    if keyword == "pattern":
        return f"match of /{asked.written}/"
    lengths = {
        "minLength": "at least {} characters",
        "maxLength": "at most {} characters",
        "minItems": "at least {} items",
        "maxItems": "at most {} items",
        "minProperties": "at least {} properties",
        "maxProperties": "at most {} properties",
        "multipleOf": "a multiple of {}",
    }
    if keyword in lengths:
        return lengths[keyword].format(number_text(asked))
    words = {
        "additionalProperties": "no other properties",
        "unevaluatedProperties": "no other properties",
        "unevaluatedItems": "no other items",
        "uniqueItems": "distinct items",
        "not": "what the schema of not refuses",
        "None": "nothing",
    }
    return words.get(keyword, f"{keyword} {compact(asked)}")

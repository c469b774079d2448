"""The JSON Schema of checks (draft 2020-12), made from the declarations in `expression.py`.

It says what `compile_check` accepts, but for what no schema can say: the syntax of paths and patterns, and
the limits on depth and size. Whether a check is a defined one and which operator it has are asked with
`if`/`then`, never tried out with `anyOf`: a validator then walks every part of a check once.
"""

from __future__ import annotations

from functools import cache
from inspect import cleandoc
from sys import float_info
from typing import Annotated, Any, Final, Literal, get_args, get_origin

from msgspec import Meta

from evaluator.check import snapshot
from evaluator.expression import Expression, Path, declared, fields_of

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_CHECK: Final = {"$ref": "#/$defs/check"}


def check_json_schema() -> dict[str, Any]:
    """The JSON Schema of a check, bare or defined; a copy of your own.

    Keys that no operator knows are allowed everywhere. A number is finite: within the range of a double.
    """
    copy: dict[str, Any] = snapshot(_schema())
    return copy


@cache
def _schema() -> dict[str, Any]:
    defined = {
        "required": ["id", "expr"],
        "properties": {"id": {"type": "string"}, "expr": {"type": ["object", "array", "null"]}},
    }
    families: dict[str, list[str]] = {}
    for op in declared():
        if "." in op:
            families.setdefault(f"{op.partition('.')[0]}.", []).append(op)
    return {
        "$schema": _DIALECT,
        "title": "Check",
        "description": "A predicate over JSON scenes: an expression, or a defined check with an id and meta.",
        "type": "object",
        "if": defined,
        "then": {"properties": {"expr": _CHECK}},
        "else": _CHECK,
        "$defs": {
            "check": {
                "description": "A check expression; its op says which fields it has.",
                "type": "object",
                "required": ["op"],
                "properties": {"op": {"enum": list(declared())}},
                "allOf": [
                    *(_of_operator(op) for op in declared() if "." not in op),
                    {"if": _named("[.]"), "then": {"allOf": [_of_family(family) for family in families]}},
                ],
            },
            **{family: {"allOf": [_of_operator(op) for op in ops]} for family, ops in families.items()},
            "path": {
                "description": 'Where to look: a.b, a[0], a[id=7], a[tags has X], a["x.y"]; empty is all.',
                "type": "string",
            },
            "number": {"type": "number", "minimum": -float_info.max, "maximum": float_info.max},
            **{op: _fields(kind) for op, kind in declared().items()},
        },
    }


def _of_operator(op: str) -> dict[str, Any]:
    asked = {"required": ["op"], "properties": {"op": {"const": op}}}
    return {"if": asked, "then": {"$ref": f"#/$defs/{op}"}}


def _of_family(family: str) -> dict[str, Any]:
    """All operators of a family behind one question, so that a check is not asked for each of them."""
    return {"if": _named(f"^{family[:-1]}[.]"), "then": {"$ref": f"#/$defs/{family}"}}


def _named(pattern: str) -> dict[str, Any]:
    return {"required": ["op"], "properties": {"op": {"type": "string", "pattern": pattern}}}


def _fields(kind: type[Expression]) -> dict[str, Any]:
    declared_fields = fields_of(str(kind.__struct_config__.tag))
    schema: dict[str, Any] = {
        "description": cleandoc(kind.__doc__ or ""),
        "required": [field.name for field in declared_fields if field.required],
        "properties": {field.name: _holds(field.holds) for field in declared_fields},
    }
    schema |= kind.ASKS
    if kind.ONE_OF:
        schema["oneOf"] = [{"required": [name]} for name in kind.ONE_OF]
    return schema


def _holds(annotation: Any) -> dict[str, Any]:
    """The schema of what a field may hold, by its annotation."""
    plain: dict[Any, dict[str, Any]] = {
        Any: {},
        Path: {"$ref": "#/$defs/path"},
        Expression: _CHECK,
        str: {"type": "string"},
        bool: {"type": "boolean"},
        float: {"$ref": "#/$defs/number"},
        int: {"type": "integer"},
    }
    if annotation in plain:
        return plain[annotation]
    origin, members = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return {"enum": list(members)}
    if origin is Annotated:
        return _holds(members[0]) | _limits(members)
    if origin is tuple and members[-1] is not Ellipsis:
        size = len(members)
        return {"type": "array", "prefixItems": [*map(_holds, members)], "minItems": size, "maxItems": size}
    if origin is tuple:
        return {"type": "array", "items": _holds(members[0])}
    if origin is dict:
        return {"type": "object"}
    return {"anyOf": [_holds(member) for member in members]}


def _limits(annotated: tuple[Any, ...]) -> dict[str, Any]:
    """What the limits of an annotation are in JSON Schema."""
    length = "minLength" if annotated[0] is str else "minItems"
    names = {
        "min_length": length,
        "ge": "minimum",
        "le": "maximum",
        "gt": "exclusiveMinimum",
        "pattern": "pattern",
    }
    limits: dict[str, Any] = {}
    for meta in annotated[1:]:
        if isinstance(meta, Meta):
            given = {name: getattr(meta, attribute) for attribute, name in names.items()}
            limits |= {name: limit for name, limit in given.items() if limit is not None}
    return limits

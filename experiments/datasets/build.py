"""Building blocks of hidden rules: checks of the core language, written as they are read."""

from __future__ import annotations

from typing import Any

Check = dict[str, Any]


def eq(path: str, value: Any) -> Check:
    return {"op": "eq", "path": path, "value": value}


def neq(path: str, value: Any) -> Check:
    return {"op": "neq", "path": path, "value": value}


def gte(path: str, value: float) -> Check:
    return {"op": "gte", "path": path, "value": value}


def lte(path: str, value: float) -> Check:
    return {"op": "lte", "path": path, "value": value}


def contains(path: str, substring: str) -> Check:
    return {"op": "contains", "path": path, "substring": substring}


def both(*parts: Check) -> Check:
    """All of two or more parts."""
    return {"op": "and", "of": list(parts)}


def either(*parts: Check) -> Check:
    """At least one of two or more parts."""
    return {"op": "or", "of": list(parts)}


def negated(part: Check) -> Check:
    return {"op": "not", "of": part}


def some(collection: str, *where: Check) -> Check:
    """Some element for which all of ``where`` holds."""
    return {"op": "find", "collection": collection, "where": where[0] if len(where) == 1 else both(*where)}


def none(collection: str, *where: Check) -> Check:
    """No element for which all of ``where`` holds."""
    return negated(some(collection, *where))


def at_least(number: int, collection: str, *where: Check) -> Check:
    return _counted(collection, where) | {"gte": number}


def at_most(number: int, collection: str, *where: Check) -> Check:
    return _counted(collection, where) | {"lte": number}


def _counted(collection: str, where: tuple[Check, ...]) -> Check:
    inner = {"where": where[0] if len(where) == 1 else both(*where)} if where else {}
    return {"op": "count", "collection": collection, **inner}

"""The clauses that translated checks are made of, with the comparisons of the AutomationBench graders.

A clause is a check on the wire. Paths are those of a normalised world, or of one of its records.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from evaluator.path import Property, format_path
from evaluator.translate.automationbench.parameters import is_number
from evaluator.values import number_text

Clause = dict[str, Any]

ALWAYS: Final[Clause] = {"op": "exists", "path": ""}
NEVER: Final[Clause] = {"op": "missing", "path": ""}


def every(clauses: Iterable[Clause]) -> Clause:
    """All of the clauses hold; with none, always."""
    parts = [clause for clause in clauses if clause != ALWAYS]
    return parts[0] if len(parts) == 1 else {"op": "and", "of": parts} if parts else dict(ALWAYS)


def either(clauses: Iterable[Clause]) -> Clause:
    """One of the clauses holds, each told once; with none, never."""
    parts: list[Clause] = []
    for clause in clauses:
        for part in clause["of"] if clause["op"] == "or" else [clause]:
            if part not in parts:
                parts.append(part)
    return parts[0] if len(parts) == 1 else {"op": "or", "of": parts} if parts else dict(NEVER)


def no(clause: Clause) -> Clause:
    """The clause does not hold."""
    return {"op": "not", "of": clause}


def some(collection: str, where: Clause, *, values: bool = False) -> Clause:
    """Some record of a collection is such."""
    check: Clause = {"op": "find", "collection": collection, "where": where}
    return {**check, "values": True} if values else check


def how_many(collection: str, where: Clause, **bounds: float) -> Clause:
    """So many records of a collection are such; an absent collection has none."""
    told = {} if where == ALWAYS else {"where": where}
    return {"op": "count", "collection": collection, **told, **bounds, "absent": "empty"}


def at(*keys: str) -> str:
    """The path through the keys, whatever stands in them."""
    return format_path(map(Property, keys))


def same(path: str, value: Any) -> Clause:
    """Equal as text: `7` is `"7"` and true is `"true"`."""
    return either({"op": "eq", "path": path, "value": twin} for twin in _twins(value))


def alike(path: str, value: Any) -> Clause:
    """Equal as text, without case."""
    return either(
        {"op": "eq", "path": path, "value": twin, "ci": True}
        if _has_case(twin)
        else {"op": "eq", "path": path, "value": twin}
        for twin in _twins(value)
    )


def equal_as(way: str, path: str, value: Any) -> Clause:
    """Equal in one of the ways of `eq` (cell, number, day, instant, digits, loose)."""
    return {"op": "eq", "path": path, "value": value, "as": way}


def loosely(path: str, value: Any) -> Clause:
    """Equal, or as numbers, as days or as texts without case; true is `"true"`."""
    return either(equal_as("loose", path, twin) for twin in _twins(value) if not _is_number_twin(value, twin))


def within(path: str, text: str) -> Clause:
    """The text is in it, without case, numbers written alike."""
    return {"op": "contains", "path": path, "substring": text, "ci": True, "norm": True}


def at_one_of(paths: tuple[str, ...], holds: Any) -> Clause:
    """A clause, given as a function of the path, holds at one of the paths."""
    return either(holds(path) for path in paths)


def member(path: str, value: Any) -> Clause:
    """The list at the path holds the value, without case."""
    return some(path, alike("", value))


def _twins(value: Any) -> list[Any]:
    """The value, and the one of another kind that reads the same, if there is one."""
    if type(value) is bool:
        return [value, "true" if value else "false"]
    if is_number(value):
        return [value, number_text(value)]
    if type(value) is str:
        if value.lower() in ("true", "false"):
            return [value, value.lower() == "true"]
        if value.lstrip("-").isdecimal() and value.isascii() and len(value) <= 15:
            number = int(value)
            return [value, number] if number_text(number) == value else [value]
    return [value]


def _is_number_twin(value: Any, twin: Any) -> bool:
    """Whether the twin says no more than the value where numbers and their texts are equal anyway."""
    return twin is not value and (is_number(value) or is_number(twin))


def _has_case(value: Any) -> bool:
    if type(value) is list or type(value) is dict:
        return True
    return type(value) is str and value.lower() != value.upper()

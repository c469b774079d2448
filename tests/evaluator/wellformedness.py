"""Which checks are well formed, decided apart from the package: a table of fields, a pattern for paths."""

from __future__ import annotations

import json
import math
import re
from typing import Any

SPACE = r"[\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
NO_SPACE = SPACE.replace("[", r"[^\]", 1)
LINE = r"[^\]\n\r\u2028\u2029]+"
BRACKET = rf"\[(?:{NO_SPACE}+{SPACE}+has{SPACE}+{LINE}|[^\]=]+={LINE}|[0-9]+)\]"
STRING = re.compile(r'\[("(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")\]')
PIECE = re.compile(rf"[^\[\]]|{BRACKET}")


def is_path(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    at = 0
    while at < len(value):
        piece = quoted_key(value, at) or PIECE.match(value, at)
        if piece is None:
            return False
        at = piece.end()
    return True


def quoted_key(path: str, at: int) -> re.Match[str] | None:
    """The bracket at a place of a path, if it holds a key that cannot stand bare."""
    written = STRING.match(path, at)
    key = json.loads(written[1]) if written else "bare"
    return written if not key or set(key) & set(".[]") else None


def is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def is_anything(_: Any) -> bool:
    return True


def is_way(value: Any) -> bool:
    return value in ("cell", "number", "instant", "day", "digits", "loose")


def is_empty(value: Any) -> bool:
    return isinstance(value, str) and value == "empty"


COMPARISONS = ("eq", "neq", "gte", "lte", "gt", "lt")


def is_check(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("op"), str) or value["op"] not in FIELDS:
        return False
    required, optional = FIELDS[value["op"]]
    if value["op"] in COMPARISONS and ("value" in value) == ("value_path" in value):
        return False
    return all(name in value and fits(value[name]) for name, fits in required.items()) and all(
        fits(value[name]) for name, fits in optional.items() if name in value
    )


def is_checks(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_check, value))


FIELDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "eq": ({"path": is_path}, {"value": is_anything, "ci": is_flag, "as": is_way, "value_path": is_path}),
    "neq": ({"path": is_path}, {"value": is_anything, "ci": is_flag, "as": is_way, "value_path": is_path}),
    "gte": ({"path": is_path}, {"value": is_number, "value_path": is_path}),
    "lte": ({"path": is_path}, {"value": is_number, "value_path": is_path}),
    "gt": ({"path": is_path}, {"value": is_number, "value_path": is_path}),
    "lt": ({"path": is_path}, {"value": is_number, "value_path": is_path}),
    "contains": ({"path": is_path, "substring": is_text}, {"ci": is_flag, "norm": is_flag, "word": is_flag}),
    "exists": ({"path": is_path}, {}),
    "missing": ({"path": is_path}, {}),
    "find": ({"collection": is_path, "where": is_check}, {"values": is_flag, "absent": is_empty}),
    "count": (
        {"collection": is_path},
        {
            "where": is_check,
            "eq": is_number,
            "gte": is_number,
            "lte": is_number,
            "values": is_flag,
            "absent": is_empty,
        },
    ),
    "and": ({"of": is_checks}, {}),
    "or": ({"of": is_checks}, {}),
    "not": ({"of": is_check}, {}),
}


def well_formed(check: Any) -> bool:
    """Of a check as it comes: a bare expression, or a defined check, whose `expr` alone counts."""
    if isinstance(check, dict) and isinstance(check.get("id"), str) and "expr" in check:
        expression = check["expr"]
        if expression is None or isinstance(expression, (dict, list)):
            return is_check(expression)
    return is_check(check)


def can_be_written(value: Any) -> bool:
    """Whether no number in a JSON value is infinite or NaN and no text holds half a surrogate pair."""
    if isinstance(value, dict):
        return all(can_be_written(part) for pair in value.items() for part in pair)
    if isinstance(value, list):
        return all(map(can_be_written, value))
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8") == value
    return not isinstance(value, float) or math.isfinite(value)

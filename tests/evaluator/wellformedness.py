"""Which checks are well formed, decided apart from the package: a table of fields, a pattern for paths."""

from __future__ import annotations

import math
import re
from typing import Any

SPACE = r"[\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
NO_SPACE = SPACE.replace("[", r"[^\]", 1)
LINE = r"[^\]\n\r\u2028\u2029]+"
BRACKET = rf"\[(?:{NO_SPACE}+{SPACE}+has{SPACE}+{LINE}|[^\]=]+={LINE}|[0-9]+)\]"
PATH = re.compile(rf"(?:[^\[\]]|{BRACKET})*")


def is_path(value: Any) -> bool:
    return isinstance(value, str) and PATH.fullmatch(value) is not None


def is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def is_anything(_: Any) -> bool:
    return True


def is_check(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("op"), str) or value["op"] not in FIELDS:
        return False
    required, optional = FIELDS[value["op"]]
    return all(name in value and fits(value[name]) for name, fits in required.items()) and all(
        fits(value[name]) for name, fits in optional.items() if name in value
    )


def is_checks(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_check, value))


FIELDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "eq": ({"path": is_path, "value": is_anything}, {}),
    "neq": ({"path": is_path, "value": is_anything}, {}),
    "gte": ({"path": is_path, "value": is_number}, {}),
    "lte": ({"path": is_path, "value": is_number}, {}),
    "contains": ({"path": is_path, "substring": is_text}, {"ci": is_flag}),
    "exists": ({"path": is_path}, {}),
    "missing": ({"path": is_path}, {}),
    "find": ({"collection": is_path, "where": is_check}, {}),
    "count": (
        {"collection": is_path},
        {"where": is_check, "eq": is_number, "gte": is_number, "lte": is_number},
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

"""JSON values in the rules for traces: numbers, equality, dot paths.

`1` equals `1.0`, `true` is not `1`, and the order of an object's keys is no matter. The core operators keep
one more habit of the original evaluator (an object with the keys "0", "1", … equals an array); this does not.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import isnan
from typing import Any, TypeGuard

from evaluator.errors import SceneError
from evaluator.json_write import canonical_json
from evaluator.values import MISSING, require_json


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number; a boolean is none. Raises `SceneError` for NaN, which is not JSON."""
    if type(value) is float:
        if isnan(value):
            raise SceneError("a scene is plain JSON, found NaN")
        return True
    return type(value) is int


def at_dot_path(value: Any, keys: Sequence[str]) -> Any:
    """What stands at a dot path, split at its dots: through objects only; `MISSING` where nothing is."""
    for key in keys:
        if type(value) is not dict or key not in value:
            return MISSING
        value = value[key]
    return value


def same_value(left: Any, right: Any) -> bool:
    """Deep equality of two values."""
    pending = [(left, right)]
    while pending:
        left, right = pending.pop()
        kind, other = type(left), type(right)
        if kind is dict:
            if other is not dict or left.keys() != right.keys():
                return False
            pending.extend((member, right[key]) for key, member in left.items())
        elif kind is list:
            if other is not list or len(left) != len(right):
                return False
            pending.extend(zip(left, right, strict=True))
        elif left != right or (kind is not other and not (is_number(left) and is_number(right))):
            return False
    return True


def key_of(value: Any) -> Hashable:
    """A key for grouping: two values have equal keys exactly when they are equal.

    Raises `SceneError` for what is not JSON.
    """
    kind = type(value)
    if kind is bool:
        return (value,)
    if kind is dict or kind is list:
        try:
            return kind, canonical_json(value)
        except ValueError:  # a number in it is infinite, or it is not JSON
            return _key_by_members(value)
    if kind is float:
        is_number(value)
    else:
        require_json(value)
    key: Hashable = value
    return key


def _key_by_members(value: Any) -> Hashable:
    kind = type(value)
    if kind is dict:
        return kind, frozenset((name, _key_by_members(member)) for name, member in value.items())
    if kind is list:
        return kind, tuple(map(_key_by_members, value))
    require_json(value)
    return key_of(value)

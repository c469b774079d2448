"""JSON values in the rules for traces: numbers, equality, dot paths.

`1` equals `1.0`, `true` is not `1`, and the order of an object's keys is no matter. The core operators keep
one more habit of the original evaluator (an object with the keys "0", "1", … equals an array); this does not.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeGuard

from evaluator.errors import SceneError
from evaluator.json_write import canonical_json
from evaluator.values import MISSING


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number; a boolean is none."""
    return type(value) is int or type(value) is float


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

    Raises `SceneError` for an array or object with a number in it that is not finite.
    """
    kind = type(value)
    if kind is bool:
        return (value,)
    if kind is dict or kind is list:
        try:
            return kind, canonical_json(value)
        except ValueError as error:
            raise SceneError(f"a value to group by is not JSON: {error}") from None
    key: Hashable = value
    return key

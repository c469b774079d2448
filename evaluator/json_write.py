"""JSON text that leaves the program, in two forms: for reading by others, and canonical for comparing."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any, Final

from evaluator.errors import kind_of
from evaluator.values import integer_digits, number_text, quoted


def json_text(value: object, *, compact: bool = False) -> str:
    """The JSON text of a value: on one line, keys in the order they have; without any spaces if `compact`.

    An infinite number, which JSON cannot hold, is the text "Infinity" ("-Infinity", "NaN"). Whole doubles
    are written without a fraction (`1`), lone surrogates as their escapes, so that UTF-8 can hold the text.

    Raises `ValueError` when the value is not JSON or contains itself.
    """
    return "".join(_parts(value, canonical=False, compact=compact))


def canonical_json(value: object) -> str:
    """The one text of a JSON value: keys sorted by code point, no spaces, equal numbers written equally.

    `1` and `1.0` are the same text, `true` is another; integers keep all their digits. Two values have the
    same text exactly when JSON's equality holds between them.

    Raises `ValueError` when the value is not JSON (infinite numbers and NaN are not) or contains itself.
    """
    return "".join(_parts(value, canonical=True, compact=True))


def _parts(root: Any, *, canonical: bool, compact: bool) -> Iterator[str]:
    """The text in pieces; with a stack of its own, so that depth is no limit."""
    comma, colon = (",", ":") if compact else (", ", ": ")
    scalar_text = _canonical_scalar if canonical else _scalar
    pending: list[tuple[str, Any]] = [("", root)]
    opened: list[int] = []
    inside: set[int] = set()
    while pending:
        text, value = pending.pop()
        yield text
        kind = type(value)
        if value is _CLOSED:
            inside.remove(opened.pop())
        elif kind is dict or kind is list or kind is tuple:
            if id(value) in inside:
                raise ValueError("a JSON value cannot contain itself")
            opened.append(id(value))
            inside.add(id(value))
            if kind is dict:
                _require_keys(value)
                keys = sorted(value) if canonical else value
                members = [
                    (f"{comma if at else ''}{quoted(key)}{colon}", value[key]) for at, key in enumerate(keys)
                ]
                yield "{"
                pending.append(("}", _CLOSED))
            else:
                members = [(comma if at else "", member) for at, member in enumerate(value)]
                yield "["
                pending.append(("]", _CLOSED))
            pending.extend(reversed(members))
        else:
            yield scalar_text(value)


_CLOSED: Final = object()


def _require_keys(value: dict[Any, Any]) -> None:
    for key in value:
        if type(key) is not str:
            raise ValueError(f"an object's keys are strings, got {kind_of(key)}")


def _scalar(value: Any) -> str:
    kind = type(value)
    if kind is str:
        return quoted(value)
    if kind is float:
        if not isfinite(value):
            return f'"{number_text(value)}"'
        # beyond 2**53 a double keeps its exponent, so that it is read back as a double
        return number_text(value) if abs(value) <= 2**53 or not value.is_integer() else repr(value)
    if kind is int:
        return integer_digits(value)
    return _word(value)


def _canonical_scalar(value: Any) -> str:
    kind = type(value)
    if kind is str:
        return quoted(value)
    if kind is float:
        if not isfinite(value):
            raise ValueError(f"{value} is not a JSON number")
        return integer_digits(int(value)) if value.is_integer() else number_text(value)
    if kind is int:
        return integer_digits(value)
    return _word(value)


def _word(value: Any) -> str:
    if value is True:
        return "true"
    if value is False:
        return "false"
    if value is None:
        return "null"
    raise ValueError(f"not a JSON value: {kind_of(value)}")

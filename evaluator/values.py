"""The language's meaning of values: missing, type, equality, distance, and their text forms.

Every operator asks this module, so that a rule of the language has one home. The rules are those of the
original evaluator, which is written in JavaScript; where Python knows more (integers of any size) the
meaning stays exact:

* A value's type is its exact Python type: a `bool` is no number although Python counts it as an `int`, and
  whatever is not one of JSON's types is refused with `SceneError` when it is met.
* `1` equals `1.0`. An integer and a double are compared exactly, also beyond 2**53. An infinite number is
  beyond all others; NaN is refused where a bound meets it.
* Distances are doubles; one too large for a double is infinite.
* Three text forms, named as in the conformance corpus: J (`compact`: JSON cut at 60 UTF-16 units),
  N (`rounded`: a number to two decimals) and S (`string_form`: JavaScript's `String(x)`).
"""

from __future__ import annotations

import re
from json.encoder import encode_basestring
from math import inf, isfinite
from typing import Any, Final

from evaluator.errors import SceneError


class Missing:
    """The type of `MISSING`: what a path leads to when nothing is there. `null` is not missing."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()

_JSON_TYPES = frozenset({dict, list, str, int, float, bool, type(None)})
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_EXACT_DOUBLE = 2**53
_CUT_ABOVE, _CUT_TO = 60, 57
_DEEPEST_ARRAY = 100_000
_END = object()


def require_json(value: object, place: str = "") -> None:
    """Raise `SceneError` unless `value` is of one of JSON's types (its members are not looked at)."""
    if type(value) not in _JSON_TYPES and value is not MISSING:
        raise SceneError(f"a scene is plain JSON, found a Python {type(value).__name__}", place)


# Equality and order


def equal(left: Any, right: Any, *, ignore_case: bool = False) -> bool:
    """Deep equality of a scene's value (left) with a check's value (right), with JSON's types.

    Not symmetric, as in the original: an object on the left equals an array on the right when it has the
    keys "0", "1", ... with equal values, so `{}` equals `[]` but `[]` does not equal `{}`. With
    `ignore_case` texts are lower-cased first; an object's keys never are.
    """
    pending = [(left, right)]
    while pending:
        left, right = pending.pop()
        kind = type(left)
        if kind is dict:
            if type(right) is list:
                right = {str(index): member for index, member in enumerate(right)}
            if type(right) is not dict or left.keys() != right.keys():
                return False
            pending.extend((member, right[key]) for key, member in left.items())
        elif kind is list:
            if type(right) is not list or len(left) != len(right):
                return False
            pending.extend(zip(left, right, strict=True))
        elif kind is int or kind is float:
            if (type(right) is not int and type(right) is not float) or left != right:
                return False
        else:
            require_json(left)
            if kind is not type(right):
                return False
            if left != right and not (ignore_case and kind is str and left.lower() == right.lower()):
                return False
    return True


def distance(larger: float, smaller: float) -> float:
    """`larger - smaller` as a double, for two numbers in that order: positive unless they are equal.

    Two doubles are subtracted as doubles. Integers beyond 2**53 are not doubles: there the difference is
    taken exactly and then rounded; infinite when no double is large enough.
    """
    if type(larger) is float and type(smaller) is float:
        return larger - smaller
    if -_EXACT_DOUBLE <= larger <= _EXACT_DOUBLE and -_EXACT_DOUBLE <= smaller <= _EXACT_DOUBLE:
        return float(larger - smaller)
    if not (isfinite_number(larger) and isfinite_number(smaller)):
        return inf
    from fractions import Fraction

    try:
        return float(Fraction(larger) - Fraction(smaller))
    except OverflowError:
        return inf


def isfinite_number(number: float) -> bool:
    """Whether a number is finite; an integer of any size is."""
    return type(number) is int or isfinite(number)


# Text forms


def number_text(number: float) -> str:
    """S of a number: the shortest digits that read back as the same double, laid out as in JavaScript.

    Plain decimals for 1e-6 <= |x| < 1e21, else `1e+21`, `1.5e-7`. An integer is written with all its
    digits unless JavaScript's short form says exactly that integer (10**21 is `1e+21`).
    """
    if type(number) is int:
        return _integer_text(number)
    text = repr(number)
    if text.endswith(".0"):
        return text[:-2] if text != "-0.0" else "0"
    if "e" not in text:
        return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(text, text)
    mantissa, _, power = text.partition("e")
    exponent = int(power)
    sign = "-" if mantissa.startswith("-") else ""
    digits = mantissa.lstrip("-").replace(".", "")
    if 0 <= exponent < 21:
        return sign + digits.ljust(exponent + 1, "0")
    if -7 < exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    return f"{mantissa}e{exponent:+d}"


def _integer_text(number: int) -> str:
    if -(10**21) < number < 10**21:
        return str(number)
    from decimal import Decimal

    try:
        short = number_text(float(number))
    except OverflowError:
        return integer_digits(number)
    return short if int(Decimal(short)) == number else integer_digits(number)


def integer_digits(number: int) -> str:
    """All decimal digits of an integer, also beyond the length at which Python's `str` refuses."""
    if number.bit_length() < 14_000:
        return str(number)
    from decimal import Decimal

    return format(Decimal(number), "f")


def rounded(number: float) -> str:
    """N of a number: two decimals, halves away from zero on the exact binary value, no trailing zeros."""
    if type(number) is int or number.is_integer() or not isfinite(number):
        return number_text(number)
    eighths = abs(number) * 8
    if eighths.is_integer() and eighths % 2:  # the only ties between two decimals: odd multiples of 1/8
        hundredths = (25 * int(eighths) + 1) // 2
        text = f"{'-' if number < 0 else ''}{hundredths // 100}.{hundredths % 100:02d}"
    else:
        text = format(number, ".2f")
    return text.rstrip("0").rstrip(".")


def string_form(value: Any) -> str:
    """S of a scalar; an object is `[object Object]`. Arrays are compared by `has_string_form` only."""
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is int or kind is float:
        return number_text(value)
    if value is None:
        return "null"
    if value is MISSING:
        return "undefined"
    require_json(value)
    return "[object Object]"


def has_string_form(value: Any, text: str) -> bool:
    """Whether S of the value is `text`. An array's is its leaves' joined by commas, null being empty."""
    kind = type(value)
    if kind is str:
        return bool(value == text)
    if kind is not list:
        return string_form(value) == text
    at, first = 0, True
    pending = [iter(value or [None])]
    while pending:
        member = next(pending[-1], _END)
        if member is _END:
            pending.pop()
        elif type(member) is list and member:
            if len(pending) > _DEEPEST_ARRAY:
                raise SceneError("an array is nested too deeply, or contains itself")
            pending.append(iter(member))
        else:
            leaf = "" if member is None or type(member) is list else string_form(member)
            if not first:
                leaf = "," + leaf
            if not text.startswith(leaf, at):
                return False
            at, first = at + len(leaf), False
    return at == len(text)


def quoted(text: str) -> str:
    """A string as JSON text: non-ASCII stays, control characters and lone surrogates are escaped."""
    json_text = encode_basestring(text)
    return json_text if json_text.isascii() else escape_lone_surrogates(json_text)


def escape_lone_surrogates(text: str) -> str:
    """The text with each lone surrogate written as its JSON escape, so that UTF-8 can hold it."""
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def replace_lone_surrogates(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, so that UTF-8 can hold it."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def has_lone_surrogate(text: str) -> bool:
    """Whether a string holds half of a UTF-16 pair, which no UTF-8 text can."""
    return not text.isascii() and _LONE_SURROGATE.search(text) is not None


def utf16_length(text: str) -> int:
    """Length in UTF-16 units, as JavaScript counts."""
    if text.isascii():
        return len(text)
    return len(text) + sum(character > "\uffff" for character in text)


def utf16_unit(text: str, index: int) -> str | None:
    """The UTF-16 unit at an index, half of a pair standing alone; None beyond the end."""
    if text.isascii():
        return text[index] if index < len(text) else None
    units = text.encode("utf-16-le", "surrogatepass")
    return units[2 * index : 2 * index + 2].decode("utf-16-le", "surrogatepass") or None


def compact(value: Any) -> str:
    """J of a value: JSON without spaces, cut to 57 UTF-16 units and `...` when it has more than 60."""
    kind = type(value)
    if kind is str:
        text = quoted(value if len(value) <= _CUT_ABOVE else value[: _CUT_ABOVE + 1])
    elif kind is bool:
        return "true" if value else "false"
    elif kind is int or kind is float:
        text = number_text(value) if isfinite_number(value) else "null"
    elif value is None:
        return "null"
    elif value is MISSING:
        return "undefined"
    else:
        parts: list[str] = []
        _write(value, parts, _CUT_ABOVE)
        text = "".join(parts)
    if text.isascii():
        return text if len(text) <= _CUT_ABOVE else text[:_CUT_TO] + "..."
    if utf16_length(text) <= _CUT_ABOVE:
        return text
    return (
        text.encode("utf-16-le", "surrogatepass")[: 2 * _CUT_TO].decode("utf-16-le", "surrogatepass") + "..."
    )


def _write(value: Any, parts: list[str], room: int) -> int:
    """Append the JSON text of a value to `parts`; stop early once `room` characters are used up.

    Returns the room left, negative when the text is longer. Each level of nesting takes a character, so
    the recursion is shallow however deep the value.
    """
    if room < 0:
        return room
    kind = type(value)
    if kind is list:
        parts.append("[")
        room -= 1
        for index, member in enumerate(value):
            if index:
                parts.append(",")
                room -= 1
            room = _write(member, parts, room)
            if room < 0:
                return room
        parts.append("]")
        return room - 1
    if kind is dict:
        parts.append("{")
        room -= 1
        for index, key in enumerate(ordered_keys(value)):
            name = ("," if index else "") + quoted(key[: _CUT_ABOVE + 1]) + ":"
            parts.append(name)
            room = _write(value[key], parts, room - len(name))
            if room < 0:
                return room
        parts.append("}")
        return room - 1
    require_json(value)
    text = compact_scalar(value)
    parts.append(text)
    return room - len(text)


def compact_scalar(value: Any) -> str:
    """JSON text of a scalar inside a container; a long string is shortened to what a cut can show."""
    if type(value) is str:
        return quoted(value[: _CUT_ABOVE + 1])
    if type(value) is float and not isfinite(value):
        return "null"
    return string_form(value)


def ordered_keys(members: dict[Any, Any]) -> list[str]:
    """An object's keys as JavaScript orders them: array-index-like ones ascending, then the others."""
    indexes: list[str] = []
    for key in members:
        if type(key) is not str:
            raise SceneError(f"an object's keys are strings, found a Python {type(key).__name__}")
        if key.isdigit() and is_index_text(key) and int(key) < 2**32 - 1:
            indexes.append(key)
    if not indexes:
        return list(members)
    seen = set(indexes)
    return sorted(indexes, key=int) + [key for key in members if key not in seen]


def is_index_text(key: str) -> bool:
    """Whether a key is the canonical decimal text of an array index ("0", "12", not "01")."""
    return key.isdigit() and key.isascii() and len(key) <= 10 and (key[0] != "0" or key == "0")

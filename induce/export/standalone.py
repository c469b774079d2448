"""What exported Python checks are made of: plain functions over a scene, without the evaluator.

`induce.export.python` copies the source of those a check needs into the exported text. So nothing here may
use more than its neighbours, builtins and the standard library, and each function means exactly what the
evaluator means by the operator; the tests hold the two against each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

MISSING = object()


def at(value: Any, *names: str) -> Any:
    """What stands below these names, or MISSING."""
    for name in names:
        value = value.get(name, MISSING) if type(value) is dict else MISSING
    return value


def follow(value: Any, *steps: Any) -> Any:
    """What a path leads to, or MISSING: names, numbers of elements, and looked-up elements."""
    for step in steps:
        if type(step) is str:
            value = member(value, step)
        elif type(step) is int:
            value = value[step] if type(value) is list and step < len(value) else MISSING
        else:
            value = looked_up(value, *step)
    return value


def member(value: Any, name: str) -> Any:
    """A member by name; an array and a string have a length and members by number, too."""
    if type(value) is dict:
        return value.get(name, MISSING)
    if type(value) not in (list, str):
        return MISSING
    if type(value) is str:  # as UTF-16, in which JavaScript counts
        units = value.encode("utf-16-le", "surrogatepass")
        value = [units[i : i + 2] for i in range(0, len(units), 2)]
    if name == "length":
        return len(value)
    if re.fullmatch("0|[1-9][0-9]{0,9}", name) and int(name) < len(value):
        found = value[int(name)]
        return found.decode("utf-16-le", "surrogatepass") if type(found) is bytes else found
    return MISSING


def looked_up(value: Any, field: str, how: str, text: str) -> Any:
    """The first element whose field reads as the text (`=`), or has a member that does (`has`)."""
    for element in value if type(value) is list else ():
        if element is not None:
            found = member(element, field)
            if how == "=":
                if text_of(found) == text:
                    return element
            elif type(found) is list and any(text_of(one) == text for one in found):
                return element
    return MISSING


def text_of(value: Any) -> str:
    """A value as JavaScript writes it in a text."""
    if type(value) is list:
        leaves, pending = [], [value]
        while pending:
            one = pending.pop()
            if type(one) is list and one:
                pending.extend(reversed(one))
            else:
                leaves.append("" if one is None or type(one) is list else text_of(one))
        return ",".join(leaves)
    if type(value) is str:
        return value
    if type(value) is dict:
        return "[object Object]"
    if value is None or type(value) is bool:
        return {None: "null", True: "true", False: "false"}[value]
    return "undefined" if value is MISSING else number_text(value)


def number_text(number: float) -> str:
    """A number as JavaScript writes it; of an integer that no double is, all digits."""
    if type(number) is int:
        try:
            text = number_text(float(number)) if abs(number) >= 10**21 else str(number)
            return text if int(Decimal(text)) == number else format(Decimal(number), "f")
        except OverflowError:
            return format(Decimal(number), "f")
    text = repr(number).removesuffix(".0")
    mantissa, _, power = text.partition("e")
    if not power:
        return {"-0": "0", "inf": "Infinity", "-inf": "-Infinity"}.get(text, text)
    exponent, sign = int(power), "-" if number < 0 else ""
    digits = mantissa.lstrip("-").replace(".", "")
    if 0 <= exponent < 21:
        return sign + digits.ljust(exponent + 1, "0")
    return f"{sign}0.{'0' * (-exponent - 1)}{digits}" if -7 < exponent < 0 else f"{mantissa}e{exponent:+d}"


def same(left: Any, right: Any, fold: bool = False) -> bool:
    """Equality of JSON values: 1 equals 1.0 and not true. With `fold` texts are lower-cased first."""
    pending = [(left, right)]
    while pending:
        left, right = pending.pop()
        if type(left) is dict:
            if type(right) is list:  # an object with the keys "0", "1", ... equals an array
                right = {str(i): one for i, one in enumerate(right)}
            if type(right) is not dict or left.keys() != right.keys():
                return False
            pending.extend((one, right[name]) for name, one in left.items())
        elif type(left) is list:
            if type(right) is not list or len(left) != len(right):
                return False
            pending.extend(zip(left, right, strict=True))
        elif is_number(left):
            if not is_number(right) or left != right:
                return False
        elif (
            type(left) is not type(right)
            or left is MISSING
            or (left != right and not (fold and type(left) is str and left.lower() == right.lower()))
        ):
            return False
    return True


def is_number(value: Any) -> bool:
    return type(value) is int or type(value) is float


def at_least(value: Any, bound: Any) -> bool:
    return is_number(value) and is_number(bound) and value >= bound


def at_most(value: Any, bound: Any) -> bool:
    return is_number(value) and is_number(bound) and value <= bound


def above(value: Any, bound: Any) -> bool:
    return is_number(value) and is_number(bound) and value > bound


def below(value: Any, bound: Any) -> bool:
    return is_number(value) and is_number(bound) and value < bound


def contains(value: Any, substring: str, fold: bool = False) -> bool:
    """Whether a value is a text with another in it; with `fold` both are lower-cased first."""
    if type(value) is not str:
        return False
    return substring.lower() in value.lower() if fold else substring in value


def contains_word(value: Any, substring: str, fold: bool, alike: bool, word: bool) -> bool:
    """As `contains`; with numbers written alike first, or at the start of a word and the end of a number."""
    if type(value) is not str:
        return False
    if fold:
        value, substring = value.lower(), substring.lower()
    if alike:
        value, substring = numbers_alike(value), numbers_alike(substring)
    if not word:
        return substring in value
    start = value.find(substring) if substring else -1
    while start >= 0:
        end = start + len(substring)
        inside = substring[0].isalnum() and start > 0 and value[start - 1].isalnum()
        goes_on = "0" <= substring[-1] <= "9" and re.match("[.]?[0-9]", value[end : end + 2])
        if not inside and not goes_on:
            return True
        start = value.find(substring, start + 1)
    return False


def numbers_alike(text: str) -> str:
    """The text without commas between digits and zeros at the end of decimals."""

    def shorter(written: re.Match[str]) -> str:
        return written[0].rstrip("0").rstrip(".") if written[0].count(".") == 1 else written[0]

    return re.sub("[0-9]+(?:[.][0-9]+)+", shorter, re.sub("(?<=[0-9]),(?=[0-9])", "", text))


def some(elements: Any, where: Callable[[Any], bool]) -> bool:
    """Whether it is an array with an element that passes."""
    return type(elements) is list and any(map(where, elements))


def counted(
    elements: Any,
    where: Callable[[Any], bool] | None = None,
    eq: float | None = None,
    gte: float | None = None,
    lte: float | None = None,
) -> bool:
    """Whether it is an array of which so many elements pass."""
    if type(elements) is not list:
        return False
    number = len(elements) if where is None else sum(map(where, elements))
    return (eq is None or number == eq) and (gte is None or number >= gte) and (lte is None or number <= lte)


def values_of(found: Any) -> Any:
    """An object's values; anything else as it is."""
    return list(found.values()) if type(found) is dict else found


def or_empty(found: Any) -> Any:
    """Nothing as an empty array; anything else as it is."""
    return [] if found is MISSING else found

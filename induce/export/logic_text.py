"""What logic programs can hold of JSON: names, strings and numbers that survive the trip.

clingo's integers are 32 bits wide and wrap without a word, its strings end at NUL, and its comments at the
end of the line. So numbers are never integer terms here, and texts are written in printable ASCII.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final

from evaluator import json_text
from evaluator.values import integer_digits

_LEAST_EXPONENT: Final = -400
_COMPLEMENT: Final = str.maketrans("0123456789" + "abcdefghij", "9876543210" + "jihgfedcba")
_NOT_PRINTABLE_ASCII: Final = re.compile(r"[^ -~]")


def ascii_json(value: Any) -> str:
    """The JSON text of a value in printable ASCII, on one line."""
    return _NOT_PRINTABLE_ASCII.sub(_escaped, json_text(value))


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


def asp_string(text: str) -> str:
    """A string term whose content is the text as JSON has it between its quotes: no two texts are alike."""
    inner = ascii_json(text)[1:-1].replace('\\"', '"')
    return '"' + inner.replace("\\", "\\\\").replace('"', '\\"') + '"'


def asp_number(number: float) -> str:
    """A string term for a number; the terms' order, clingo's for strings, is that of the numbers.

    ``n`` (below zero), ``o`` or ``p``, then the exponent and the digits; of a negative number each digit is
    its complement. Equal numbers have equal terms, 1 and 1.0 too. The number is finite, of any size.

    >>> asp_number(500), asp_number(-0.25), asp_number(0)
    ('"pc403.5"', '"nh599.74~"', '"o"')
    """
    if number == 0:
        return '"o"'
    whole = type(number) is int or float(number).is_integer()
    exact = Decimal(integer_digits(int(number))) if whole else Decimal(repr(number))
    _, digits, exponent = exact.as_tuple()
    assert isinstance(exponent, int)  # neither infinite nor NaN
    power = str(len(digits) + exponent - _LEAST_EXPONENT)
    written = "".join(map(str, digits)).rstrip("0")
    magnitude = f"{chr(ord('a') + len(power) - 1)}{power}.{written}"
    return f'"p{magnitude}"' if number > 0 else f'"n{magnitude.translate(_COMPLEMENT)}~"'


def name_of(text: str) -> str:
    """What of a text can stand in the name of a predicate, for the reader; not unique."""
    words = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return words[:30].strip("_")

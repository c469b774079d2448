"""Reading JSON strictly: what JSON cannot say, or says twice, is refused with its place in the text."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any

from evaluator.file_kind import compression, not_utf8
from evaluator.place import Place, below, place_text
from evaluator.values import has_lone_surrogate, quoted


class JsonTextError(ValueError):
    """A text is not usable JSON. `line` and `column` count from 1; 0 where the place is not known."""

    def __init__(self, problem: str, line: int = 0, column: int = 0) -> None:
        super().__init__(problem, line, column)
        self.problem = problem
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return self.problem


def read_json(data: bytes) -> Any:
    """The value of a JSON text in UTF-8, with or without a byte order mark.

    Raises `JsonTextError` for what is not JSON, and for what would be read differently by different readers:
    NaN and Infinity, numbers beyond the range of doubles, a key twice in one object, half surrogate pairs.
    """
    packed = compression(data)
    if packed:
        raise JsonTextError(packed)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, problem = not_utf8(data, error.start)
        raise JsonTextError(problem, line) from None
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        problem = f"not JSON: {error.msg[0].lower()}{error.msg[1:]}"
        raise JsonTextError(problem, error.lineno, error.colno) from None
    except JsonTextError:
        raise
    except ValueError:  # Python's limit on the digits of an integer
        raise JsonTextError("a whole number has too many digits to be read") from None
    except RecursionError:
        raise JsonTextError("nested too deeply to be read") from None
    if _SUSPICIOUS.search(text):
        _refuse_what_json_cannot_hold(value)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise JsonTextError(f"the key {quoted(key)} stands twice in one object")
            seen.add(key)
    return members


def _refuse_what_json_cannot_hold(root: Any) -> None:
    pending: list[tuple[Any, Place | None]] = [(root, None)]
    while pending:
        value, place = pending.pop()
        kind = type(value)
        if kind is dict:
            pending.extend((member, below(place, key)) for key, member in reversed(value.items()))
            pending.extend((key, below(place, key)) for key in value)
        elif kind is list:
            pending.extend((value[index], below(place, index)) for index in reversed(range(len(value))))
        elif kind is str and has_lone_surrogate(value):
            problem = f"the text {quoted(value[:20])} holds half of a surrogate pair, which is no character"
            raise JsonTextError(f"{place_text(place)}: {problem}")
        elif kind is float and not isfinite(value):
            infinite = "a number is Infinity, or too large for a double"
            problem = infinite if value == value else "NaN is no JSON number"
            raise JsonTextError(f"{place_text(place)}: {problem}")


# What may stand for NaN, an infinite number or half a surrogate pair, and is then looked into.
_SUSPICIOUS = re.compile(r"NaN|Infinity|[eE]\+?0*\d{3}|\d{200}|\\u[dD]")
_DECODER = json.JSONDecoder(object_pairs_hook=_object)

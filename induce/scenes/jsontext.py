"""Strict JSON for scenes: one fast parse, and a judge that names the place when something is wrong.

A scene must mean the same to every reader, so this is narrower than Python's own parser: NaN and
Infinity, numbers beyond a double's range, lone surrogates, a key given twice in one object and nesting
beyond :data:`MAX_NESTING` are faults. Whole numbers stay exact up to Python's limit on digits.

:func:`parse_json` decodes with the C scanner of the standard library, watched by cheap hooks. Only a text
that fails is read again, by :func:`find_fault`, which walks it without recursion and knows its JSON path.
:func:`find_foreign` judges values that are Python objects already.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A JSON tree as Python has it: dict with text keys, list, str, int, float, bool or None."""

MAX_NESTING = 200
"""Levels of objects and arrays, the outermost counted."""

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_SPACE = re.compile(r"[ \t\n\r]*")
_WORD = re.compile(r"[-+]?[\w.]+")
_PLAIN_KEY = re.compile(r"[^\W\d]\w*")
TOO_LONG = 10**4300  # Python reads and writes whole numbers below this as text
_CONSTANTS = {"true", "false", "null"}
_HINTS = {
    "NaN": "NaN is not JSON; leave the key out or write null",
    "nan": "NaN is not JSON; leave the key out or write null",
    "Infinity": "Infinity is not JSON; write a number or leave the key out",
    "-Infinity": "-Infinity is not JSON; write a number or leave the key out",
    "inf": "Infinity is not JSON; write a number or leave the key out",
    "True": "True is Python, JSON writes true",
    "False": "False is Python, JSON writes false",
    "None": "None is Python, JSON writes null",
}


class JsonError(ValueError):
    """What is wrong: ``message``, the JSON ``path`` (``$.items[2]``) and, in a text, the ``offset``."""

    def __init__(self, path: str, offset: int | None, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.offset = offset
        self.message = message


class _SuspectError(ValueError):
    """Raised by the hooks of the fast parse; the judge says what and where."""


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise _SuspectError
    return mapping


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _SuspectError
    return number


def _constant(name: str) -> Json:
    raise _SuspectError(name)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_finite, parse_constant=_constant)
_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False)


def parse_json(text: str) -> Json:
    """Parse one strict JSON text; raises :class:`JsonError` with path, offset and reason."""
    try:
        value = _DECODER.decode(text)
        if text.count("{") + text.count("[") > MAX_NESTING and _is_deep(value):
            raise _SuspectError
        if _SURROGATE_ESCAPE.search(text) is not None:
            _ENCODER.encode(value).encode("utf-8")
    except (ValueError, RecursionError) as error:
        fault = find_fault(text)
        if fault is None:
            raise AssertionError(
                f"the judge of JSON texts overlooked a fault, which is a bug: {error}"
            ) from error
        raise fault from None
    return value


def _is_deep(value: Json) -> bool:
    level = [value]
    for _ in range(MAX_NESTING):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


def find_fault(text: str) -> JsonError | None:
    """The first fault of a JSON text, or None; linear in the text, without recursion."""
    return _Judge(text).fault()


class _Judge:
    """Walks a JSON text token by token; ``opened`` holds a frame for each open object or array.

    A frame is ``[None or set of keys, current key or index]``: arrays have no set.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.opened: list[tuple[set[str] | None, list[str | int]]] = []

    def fault(self) -> JsonError | None:
        try:
            self._document()
        except JsonError as fault:
            return fault
        return None

    def _document(self) -> None:
        while True:
            if self._value():
                continue
            while self.opened and self._closes():
                self.opened.pop()
            if not self.opened:
                break
        self._skip()
        if self.at < len(self.text):
            raise self._broken(f"expected nothing after the value but found {self._found()}")

    def _value(self) -> bool:
        """Read a value; True when it opened an object or array that has a member, which is read next."""
        self._skip()
        first = self.text[self.at : self.at + 1]
        if first in ("{", "["):
            self._open(first)
            return not self._is_empty()
        if first == '"':
            self._string("the text")
        else:
            self._scalar()
        return False

    def _open(self, bracket: str) -> None:
        if len(self.opened) == MAX_NESTING:
            raise self._fault(f"nested deeper than {MAX_NESTING} levels")
        self.at += 1
        self.opened.append((set() if bracket == "{" else None, [0]))

    def _is_empty(self) -> bool:
        """Close an empty object or array at once; otherwise stand before its first value."""
        keys, _ = self.opened[-1]
        self._skip()
        if self.text.startswith("]" if keys is None else "}", self.at):
            self.at += 1
            self.opened.pop()
            return True
        if keys is not None:
            self._key(keys, "a key in double quotes or }")
        return False

    def _closes(self) -> bool:
        """After a value: True when its object or array ends, else stand before the next value."""
        keys, position = self.opened[-1]
        end = "]" if keys is None else "}"
        self._skip()
        if self.text.startswith(end, self.at):
            self.at += 1
            return True
        if not self.text.startswith(",", self.at):
            raise self._broken(f"expected a comma or {end} but found {self._found()}")
        self.at += 1
        if keys is None:
            position[0] = int(position[0]) + 1
        else:
            self._key(keys, "a key in double quotes")
        return False

    def _key(self, keys: set[str], expected: str) -> None:
        position = self.opened[-1][1]
        frame = self.opened.pop()  # a fault of the key itself is placed at its object
        self._skip()
        if not self.text.startswith('"', self.at):
            raise self._broken(f"expected {expected} but found {self._found()}")
        start = self.at
        key = self._string("the key")
        if key in keys:
            self.at = start
            raise self._fault(f"the key {quoted(key)} is given twice in one object")
        keys.add(key)
        self._skip()
        if not self.text.startswith(":", self.at):
            raise self._broken(f"expected a colon after the key {quoted(key)} but found {self._found()}")
        self.at += 1
        position[0] = key
        self.opened.append(frame)

    def _string(self, what: str) -> str:
        start = self.at
        match = _STRING.match(self.text, start)
        assert match is not None
        self.at = match.end()
        found = self.text[self.at : self.at + 1]
        if found != '"':
            if not found:
                self.at = start
                raise self._broken(f"{what} that starts here has no closing double quote")
            if found == "\\":
                raise self._broken(
                    f"{what} has an escape that JSON does not know; write \\\\ for a backslash"
                )
            raise self._broken(f"{what} has a raw control character; write {quoted(found)[1:-1]}")
        self.at += 1
        value: str = json.loads(self.text[start : self.at])
        if holds_surrogate(value):
            self.at = start
            raise self._fault(f"{what} {quoted(value)} holds a lone surrogate, which is no character")
        return value

    def _scalar(self) -> None:
        number = _NUMBER.match(self.text, self.at)
        word = _WORD.match(self.text, self.at)
        token = word.group() if word is not None else ""
        if number is not None and number.end() >= (word.end() if word is not None else 0):
            self._judge_number(number)
            self.at = number.end()
        elif token in _CONSTANTS:
            self.at += len(token)
        elif token in _HINTS:
            raise self._fault(_HINTS[token])
        else:
            raise self._broken(f"expected a value but found {self._found()}")

    def _judge_number(self, number: re.Match[str]) -> None:
        if number.group(1) is None and number.group(2) is None:
            try:
                int(number.group())
            except ValueError:
                raise self._fault(
                    f"a whole number of {len(number.group().lstrip('-')):,} digits is too long to read"
                ) from None
        elif math.isinf(float(number.group())):
            raise self._fault(f"the number {_cut(number.group())} is beyond the range of a double")

    def _skip(self) -> None:
        space = _SPACE.match(self.text, self.at)
        assert space is not None
        self.at = space.end()

    def _found(self) -> str:
        if self.at >= len(self.text):
            return "the end of the text"
        word = _WORD.match(self.text, self.at)
        return quoted(word.group() if word is not None else self.text[self.at])

    def _broken(self, message: str) -> JsonError:
        return self._fault(f"not JSON, {message}")

    def _fault(self, message: str) -> JsonError:
        return JsonError(json_path(tuple(position[0] for _, position in self.opened)), self.at, message)


def json_path(segments: tuple[str | int, ...], root: str = "$") -> str:
    """``$.items[2]["p95.latency"]``: the readable place of a value; a long path is cut in the middle."""
    parts = []
    for segment in segments:
        if isinstance(segment, int):
            parts.append(f"[{segment}]")
        elif _PLAIN_KEY.fullmatch(segment):
            parts.append(f".{segment}")
        else:
            parts.append(f"[{quoted(segment)}]")
    if len(parts) > 16:
        parts[8:-4] = ["…"]
    return root + "".join(parts)


def quoted(text: str) -> str:
    """The text in double quotes for a message: at most 60 characters, nothing unprintable raw."""
    return json.dumps(_cut(text), ensure_ascii=not text.isprintable())


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:40]}…{text[-16:]}"


def holds_surrogate(text: str) -> bool:
    """Whether the text has half a surrogate pair, which no UTF-8 file can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def find_foreign(value: object, segments: tuple[str | int, ...] = ()) -> JsonError | None:
    """The first part of a Python value that is no plain JSON, or None.

    Plain are exactly dict with text keys, list, str, int, float, bool and None. A tuple, a NumPy number,
    a date or a set has no single JSON meaning and is a fault, as are NaN and infinities.
    """
    kind = type(value)
    message = None
    if isinstance(value, str) and kind is str:
        if holds_surrogate(value):
            message = f"the text {quoted(value)} holds a lone surrogate, which is no character"
    elif isinstance(value, float) and kind is float:
        if not math.isfinite(value):
            found = "NaN" if math.isnan(value) else "an infinite number"
            message = f"{found} is not JSON; leave the key out or write null"
    elif isinstance(value, (dict, list)) and kind in (dict, list):
        if len(segments) == MAX_NESTING:
            message = f"nested deeper than {MAX_NESTING} levels"
        elif isinstance(value, dict):
            return _find_foreign_member(value, segments)
        else:
            for index, inner in enumerate(value):
                fault = find_foreign(inner, (*segments, index))
                if fault is not None:
                    return fault
    elif isinstance(value, int) and kind is int:
        if abs(value) >= TOO_LONG:
            message = "a whole number of more than 4,300 digits is too long"
    elif kind not in (bool, type(None)):
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        message = f"a value of type {name} is not JSON; convert it first"
    return None if message is None else JsonError(json_path(segments), None, message)


def _find_foreign_member(value: dict[Any, object], segments: tuple[str | int, ...]) -> JsonError | None:
    for key, inner in value.items():
        if type(key) is not str:
            return JsonError(
                json_path(segments),
                None,
                f"the key {_cut(repr(key))} is not text, as keys of JSON objects are",
            )
        if holds_surrogate(key):
            return JsonError(
                json_path(segments),
                None,
                f"the key {quoted(key)} holds a lone surrogate, which is no character",
            )
        fault = find_foreign(inner, (*segments, key))
        if fault is not None:
            return fault
    return None

"""Paths into a scene: `order.items[0].sku`, `users[id=7].name`, `messages[labels has SENT]`.

A key that cannot stand bare, being empty or having a dot or a bracket in it, is quoted as a JSON string in
brackets: `metrics["p95.latency"]`. Quotes that are not needed are refused, as the original refuses all, so
that a path has one spelling.

A path is parsed once into segments and compiled once into a resolver; both are remembered by the path's
text. Resolving never raises for what is not there: it answers `MISSING`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from json import loads
from typing import Any, NamedTuple, NewType

from evaluator.errors import CheckError, SceneError, kind_of
from evaluator.values import (
    MISSING,
    has_string_form,
    is_index_text,
    quoted,
    require_json,
    utf16_length,
    utf16_unit,
)

Resolver = Callable[[Any], Any]
Path = NewType("Path", str)
"""A path into a scene, as text."""

# JavaScript's white space and line breaks. Python's `str.isspace` differs: U+FEFF, U+001C to U+001F, U+0085.
_SPACE = (
    "\t\n\v\f\r \u00a0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_REMEMBERED_LENGTH = 1_000
_LINE_BREAKS = "\n\r\u2028\u2029"
_QUOTED_KEY = re.compile(r'\[("(?:[^"\\\x00-\x1f]|\\.)*+")\]')
_BARE_KEY = re.compile(r"[^.\[\]]+")


class Property(NamedTuple):
    """`.key` or `["key"]`: an object's own key; also `length` and index texts of arrays and strings."""

    key: str


class Index(NamedTuple):
    """`[3]`: an element of an array, and of nothing else."""

    digits: str


class Keyed(NamedTuple):
    """`[field=text]`: the first element whose field reads as the text."""

    field: str
    text: str


class Has(NamedTuple):
    """`[field has text]`: the first element whose field is an array with a member that reads as the text."""

    field: str
    text: str


Segment = Property | Index | Keyed | Has


class Lookup(NamedTuple):
    """What a path leads to: whether something is there, and what (`MISSING` if nothing)."""

    present: bool
    value: Any


def resolve(scene: object, path: str) -> Any:
    """The value a path leads to in a scene, or `MISSING`.

    Raises `CheckError` when the path is not well formed, `SceneError` when it leads through something that
    is not JSON.
    """
    return resolver(path)(scene)


def lookup(scene: object, path: str) -> Lookup:
    """Presence and value at a path. A key that holds null is present; so is the whole scene, path ""."""
    value = resolve(scene, path)
    return Lookup(value is not MISSING, value)


def parse_path(path: str) -> tuple[Segment, ...]:
    """The segments of a path. Raises `CheckError` when it does not parse."""
    if type(path) is not str:
        raise CheckError(f"a path is a string, got {kind_of(path)}")
    segments: list[Segment] = []
    start, end = 0, len(path)
    while start < end:
        character = path[start]
        if character == ".":
            start += 1
        elif character == "[" and (quotation := _quotation(path, start)) is not None:
            key, start = quotation
            segments.append(Property(key))
        elif character == "[":
            close = path.find("]", start)
            if close < 0:
                raise CheckError(f"unclosed [ in path: {_shown(path)}")
            segments.append(_bracket(path[start + 1 : close]))
            start = close + 1
        elif character == "]":
            at = utf16_length(path[:start])
            raise CheckError(f"unparseable path segment at {at}: {_shown(path)}")
        else:
            stop = start
            while stop < end and path[stop] not in ".[]":
                stop += 1
            segments.append(Property(path[start:stop]))
            start = stop
    return tuple(segments)


def format_path(segments: Iterable[Segment]) -> str:
    """The path made of segments: `parse_path` gives them back.

    A key is quoted where it must be. Raises `CheckError` for a look-up that no path can say, such as
    `[id=]`, or one whose text has a bracket or a line break in it.
    """
    path = ""
    for segment in segments:
        if isinstance(segment, Property) and _BARE_KEY.fullmatch(segment.key):
            path += f".{segment.key}" if path else segment.key
        elif isinstance(segment, Property):
            path += f"[{quoted(segment.key)}]"
        else:
            bracket = f"[{selector_text(segment)}]"
            read = parse_path(bracket)
            if read != (segment,) or type(read[0]) is not type(segment):
                raise CheckError(f"no path can look {bracket} up")
            path += bracket
    return path


def selector_text(segment: Segment) -> str:
    """What a segment asks for, as text: a key, the digits of an index, `id=7`, `tags has X`."""
    match segment:
        case Property(key):
            return key
        case Index(digits):
            return digits
        case Keyed(field, text):
            return f"{field}={text}"
        case Has(field, text):
            return f"{field} has {text}"


def _quotation(path: str, start: int) -> tuple[str, int] | None:
    """The key of a bracket that holds a JSON string with a key in need of quotes, and where it ends."""
    written = _QUOTED_KEY.match(path, start)
    if written is None:
        return None
    try:
        key: str = loads(written[1])
    except ValueError:  # an escape that JSON has not
        return None
    return None if _BARE_KEY.fullmatch(key) else (key, written.end())


def _bracket(content: str) -> Segment:
    return _has(content) or _keyed(content) or _index(content)


def _has(content: str) -> Has | None:
    """`field has text`: a run without spaces at the very start, `has` between spaces, and something more."""
    end = next((at for at, character in enumerate(content) if character in _SPACE), 0)
    field = content[:end]
    rest = content[len(field) :].lstrip(_SPACE)
    if not field or not rest.startswith("has"):
        return None
    after = rest[len("has") :]
    text = after.lstrip(_SPACE)
    if text:
        matches = text != after and not _breaks_line(text)
    else:  # only white space: its last character is the text
        matches = len(after) >= 2 and not _breaks_line(after[-1])
    return Has(field, text.strip(_SPACE)) if matches else None


def _keyed(content: str) -> Keyed | None:
    field, _, text = content.partition("=")
    if not field or not text or _breaks_line(text):
        return None
    return Keyed(field.strip(_SPACE), text.strip(_SPACE))


def _index(content: str) -> Index:
    if content.isascii() and content.isdigit():
        return Index(content)
    advice = 'a bracket holds an index, field=value, field has value, or a key as a JSON string: ["a.b"]'
    if content[:1] in ("'", '"') and _BARE_KEY.fullmatch(content[1:-1]) and content[0] == content[-1]:
        advice = f"a key that can stand bare is not quoted: .{_shown(content[1:-1])}"
    raise CheckError(f"invalid bracket segment in path: [{_shown(content)}] ({advice})")


def _shown(path: str) -> str:
    return path if len(path) <= 120 else path[:117] + "..."


def _breaks_line(text: str) -> bool:
    return any(character in text for character in _LINE_BREAKS)


def resolver(path: str) -> Resolver:
    """The function from a scene to the value at `path`. Raises `CheckError` when it does not parse."""
    if type(path) is str and len(path) <= _REMEMBERED_LENGTH:
        return _remembered(path)
    return _resolver(path)


def _resolver(path: str) -> Resolver:
    segments = parse_path(path)
    keys = [segment.key for segment in segments if isinstance(segment, Property)]
    if len(keys) == len(segments):
        return _properties(keys, path)
    steps = [_step(segment) for segment in segments]

    def walk(scene: Any) -> Any:
        value = scene
        try:
            for step in steps:
                value = step(value)
        except SceneError as error:
            raise SceneError(error.problem, path) from None
        return value

    return walk


_remembered = lru_cache(maxsize=4096)(_resolver)


def _properties(keys: list[str], path: str) -> Resolver:
    """A path of names only, the commonest kind: straight through objects, else the general step."""

    def walk(scene: Any) -> Any:
        value = scene
        try:
            for key in keys:
                value = property_of(value, key)
        except SceneError as error:
            raise SceneError(error.problem, path) from None
        return value

    if not keys:
        return lambda scene: scene
    if len(keys) == 1:
        (only,) = keys

        def one(scene: Any) -> Any:
            if type(scene) is dict:
                return scene.get(only, MISSING)
            return walk(scene)

        return one
    if len(keys) == 2:
        first, second = keys

        def two(scene: Any) -> Any:
            if type(scene) is dict:
                value = scene.get(first)
                if type(value) is dict:
                    return value.get(second, MISSING)
            return walk(scene)

        return two
    first, second, *others = keys
    *middle, last = others

    def more(scene: Any) -> Any:
        if type(scene) is dict:
            value = scene.get(first)
            if type(value) is dict:
                value = value.get(second)
                for key in middle:
                    if type(value) is not dict:
                        break
                    value = value.get(key)
                if type(value) is dict:
                    return value.get(last, MISSING)
        return walk(scene)

    return more


def property_of(value: Any, key: str) -> Any:
    """A property by name: own keys only, so that `constructor` and its like are ordinary keys."""
    kind = type(value)
    if kind is dict:
        return value.get(key, MISSING)
    if kind is list:
        if key == "length":
            return len(value)
        if is_index_text(key):
            index = int(key)
            return value[index] if index < len(value) else MISSING
        return MISSING
    if kind is str:
        if key == "length":
            return utf16_length(value)
        if is_index_text(key):
            unit = utf16_unit(value, int(key))
            return MISSING if unit is None else unit
        return MISSING
    require_json(value)
    return MISSING


def _step(segment: Segment) -> Resolver:
    match segment:
        case Property(key):
            return lambda value: value.get(key, MISSING) if type(value) is dict else property_of(value, key)
        case Index(digits):
            return _element(digits)
        case Keyed(field, text):
            return _keyed_element(field, text)
        case Has(field, text):
            return _having_element(field, text)


def _element(digits: str) -> Resolver:
    significant = digits.lstrip("0") or "0"
    index = int(significant) if len(significant) < 19 else sys.maxsize

    def element(value: Any) -> Any:
        if type(value) is list:
            return value[index] if index < len(value) else MISSING
        require_json(value)
        return MISSING

    return element


def _keyed_element(field: str, text: str) -> Resolver:
    def element(value: Any) -> Any:
        if type(value) is not list:
            require_json(value)
            return MISSING
        for candidate in value:
            if type(candidate) is dict:
                found = candidate.get(field, MISSING)
                if found == text if type(found) is str else has_string_form(found, text):
                    return candidate
            elif candidate is not None and has_string_form(property_of(candidate, field), text):
                return candidate
        return MISSING

    return element


def _having_element(field: str, text: str) -> Resolver:
    def element(value: Any) -> Any:
        if type(value) is not list:
            require_json(value)
            return MISSING
        for candidate in value:
            if candidate is None:
                continue
            members = property_of(candidate, field)
            if type(members) is list:
                for member in members:
                    if has_string_form(member, text):
                        return candidate
            else:
                require_json(members)
        return MISSING

    return element

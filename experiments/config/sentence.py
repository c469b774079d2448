"""What msgspec finds wrong with a configuration, said in one sentence with the nearest known name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec


class ConfigError(ValueError):
    """A configuration can't be used; the message is one sentence that names the key and what was expected."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like ``name``, if any is alike."""
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return close[0] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` for the nearest known name, else the known names."""
    names = sorted(known)
    close = nearest(name, names)
    return f"; did you mean {close!r}?" if close else f"; known are {', '.join(names)}"


def keys_of(struct: type[msgspec.Struct], prefix: str = "") -> Iterator[str]:
    """Every dotted key that some valid value of ``struct`` may have, those of tagged unions included."""
    for name, hint in get_type_hints(struct).items():
        yield f"{prefix}{name}"
        for option in _options(hint):
            if _is_struct(option):
                if option.__struct_config__.tag_field:
                    yield f"{prefix}{name}.{option.__struct_config__.tag_field}"
                yield from keys_of(option, f"{prefix}{name}.")


def sentence_of_finding(message: str, tree: Mapping[str, Any], schema: type[msgspec.Struct]) -> str:
    """One sentence for msgspec's ``message`` (text with a path) about ``tree``, to be a ``schema``."""
    unknown = _UNKNOWN.match(message)
    if unknown:
        place, name = unknown["place"] or "", unknown["name"]
        return (
            f"{_join(place, name)}: unknown key{_known_keys(_join(place, name), name, place, tree, schema)}"
        )
    placed = _PLACED.match(message)
    place, what = (placed["place"], placed["what"]) if placed else ("", message)
    missing = _MISSING.match(what)
    if missing:
        key = _join(place, missing["name"])
        types = _types_at(key, tree, schema)
        choices = _texts(types) or _tags(types)
        return f"{key} is missing{'; give one of ' + ', '.join(choices) if choices else ''}"
    place = _named(place, tree, schema)
    value, types = _value_at(tree, place), _types_at(place, tree, schema)
    choices = _texts(types)
    if choices:
        if any(option in (int, float) for option in types):
            choices = (*choices, "a number above 0")
        hint = _hint(value, choices) if isinstance(value, str) else ""
        return f"{place}: expected {_one_of(choices)}, got {_shown(value)}{hint}"
    expected = _EXPECTED.match(what)
    if not expected:
        return f"{place or 'configuration'}: {what[:1].lower()}{what[1:]}"
    words = re.sub(r"`([^`]*)`", lambda types: _one_of(types[1].split(" | ")), expected["what"])
    words = words.replace("text of length >= 1", "some text")
    keys = _fields(types, value) if isinstance(value, str) else ()
    hint = f"; give its keys, such as {place}.{keys[0]}" if keys else ""
    return f"{place}: expected {words}, got {_shown(value)}{hint}"


_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*?)`(?: - at `\$\.?(?P<place>.*)`)?$", re.S)
_MISSING = re.compile(r"Object missing required field `(?P<name>.*?)`")
_PLACED = re.compile(r"(?P<what>.*) - at `\$\.?(?P<place>.*)`$", re.S)
_EXPECTED = re.compile(r"Expected (?P<what>.*?)(?:, got .*)?$", re.S)
_STEP = re.compile(r"\[(\.\.\.|\d+)\]|([^.\[\]]+)")
_TYPE_NAMES = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "null": "null",
    "object": "a mapping",
    "array": "a list, such as [a,b]",
}


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _one_of(choices: Iterable[str]) -> str:
    *first, last = (_TYPE_NAMES.get(choice, choice) for choice in choices)
    return f"{', '.join(first)} or {last}" if first else last


def _hint(value: str, choices: Iterable[str]) -> str:
    close = nearest(value, choices)
    return f"; did you mean {close!r}?" if close else ""


def _shown(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)


def _known_keys(
    key: str, name: str, place: str, tree: Mapping[str, Any], schema: type[msgspec.Struct]
) -> str:
    """The nearest key in the same mapping, else of the same name elsewhere, else all in the same mapping."""
    here = _fields(_types_at(place, tree, schema), _value_at(tree, place))
    if nearest(name, here) is None:
        elsewhere = [known for known in keys_of(schema) if known.rpartition(".")[2] == name]
        close = nearest(key, elsewhere) or next(iter(elsewhere), None)
        if close:
            return f"; did you mean {close!r}?"
    close = nearest(name, here)
    return f"; did you mean {_join(place, close)!r}?" if close else did_you_mean(name, here)


def _options(hint: Any) -> tuple[Any, ...]:
    """The members of a union, or the type alone."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _is_struct(option: Any) -> bool:
    return isinstance(option, type) and issubclass(option, msgspec.Struct)


def _chosen(types: Iterable[Any], value: Any) -> type[msgspec.Struct] | None:
    """The struct that ``value`` should be: of several the one whose tag it has."""
    structs = [option for option in types if _is_struct(option)]
    if len(structs) > 1:
        tagged = {option.__struct_config__.tag: option for option in structs}
        field = structs[0].__struct_config__.tag_field
        return tagged.get(value.get(field)) if isinstance(value, Mapping) else None
    return structs[0] if structs else None


def _fields(types: Iterable[Any], value: Any) -> tuple[str, ...]:
    struct = _chosen(types, value)
    return (*_tag_field(struct), *struct.__struct_fields__) if struct else ()


def _tag_field(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    field = struct.__struct_config__.tag_field
    return (field,) if field else ()


def _steps(place: str) -> list[str | int]:
    return [int(index) if index.isdigit() else index or name for index, name in _STEP.findall(place)]


def _types_at(place: str, tree: Mapping[str, Any], schema: type[msgspec.Struct]) -> tuple[Any, ...]:
    """The types that may stand at a place of the configuration, none where the schema knows no such place."""
    types: tuple[Any, ...] = (schema,)
    value: Any = tree
    for step in _steps(place):
        struct = _chosen(types, value)
        inner: list[Any] = []
        if isinstance(step, int):
            inner = [get_args(option)[0] for option in types if get_origin(option) in (tuple, list)]
        elif struct is not None:
            inner = [get_type_hints(struct)[step]] if step in struct.__struct_fields__ else []
        elif any(_is_struct(option) for option in types):
            inner = [Literal[_tags(types)]]
        else:
            inner = [get_args(option)[1] for option in types if get_origin(option) is dict]
        if struct is not None and step == struct.__struct_config__.tag_field:
            inner = [Literal[_tags(types)]]
        types = tuple(option for hint in inner for option in _options(hint))
        value = _child(value, step)
    return types


def _tags(types: Iterable[Any]) -> tuple[str, ...]:
    return tuple(str(option.__struct_config__.tag) for option in types if _is_struct(option))


def _texts(types: Iterable[Any]) -> tuple[str, ...]:
    """The texts allowed where the types list them, ``null`` where that may stand there as well."""
    listed = tuple(
        str(text) for option in types if get_origin(option) is Literal for text in get_args(option)
    )
    return (*listed, "null") if listed and NoneType in types else listed


def _child(value: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return value[step] if isinstance(value, (list, tuple)) and step < len(value) else None
    return value.get(step) if isinstance(value, Mapping) else None


def _value_at(tree: Any, place: str) -> Any:
    for step in _steps(place):
        tree = _child(tree, step)
    return tree


def _named(place: str, tree: Mapping[str, Any], schema: type[msgspec.Struct]) -> str:
    """The place with the key of a mapping that msgspec writes as ``[...]``."""
    before, dots, after = place.partition("[...]")
    if not dots:
        return place
    allowed = next(
        get_args(option)[1] for option in _types_at(before, tree, schema) if get_origin(option) is dict
    )
    for key, value in _value_at(tree, before).items():
        try:
            msgspec.convert(value, allowed)
        except msgspec.ValidationError:
            return f"{before}.{key}{after}"
    return before

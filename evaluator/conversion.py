"""Turning Python objects into scenes: what has one obvious meaning in JSON is converted, the rest refused."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from math import isfinite
from os import PathLike, fspath
from typing import Any
from uuid import UUID

from msgspec import UNSET, Struct
from msgspec.structs import fields

from evaluator.errors import SceneError, kind_of
from evaluator.place import Place, below, place_text
from evaluator.scene import CONTAINS_ITSELF, SCALARS, bad_key, not_finite, noun


def to_scene(obj: object) -> Any:
    """The scene that an object means: a new tree of plain JSON.

    ==============================================  =========================================================
    tuple, deque, range, other sequences            array
    mappings with text keys                         object
    dataclass, attrs class, pydantic model          object of its fields (pydantic: what `model_dump` gives)
    msgspec Struct                                  object, as msgspec encodes it (renamed fields, tag)
    datetime, date, time                            text, ISO 8601
    UUID, path                                      text
    Enum member                                     its value, converted
    numpy scalar, numpy array                       number, boolean, text or ISO text; nested arrays
    subclasses of str, int, float, list, dict       the plain value
    ==============================================  =========================================================

    Everything else has no one obvious meaning and is refused: NaN and infinite numbers, sets (no order),
    bytes, Decimal, Fraction, complex numbers, timedelta, named tuples, iterators, keys that are not text,
    objects that contain themselves.

    Raises `SceneError` with the JSON path of what is refused, and what to do about it.
    """
    root: list[Any] = [None]
    inside: set[int] = set()
    converted: dict[int, tuple[Any, Any]] = {}
    pending: list[tuple[Any, Any, Any, Place | None, int]] = [(obj, root, 0, None, 0)]
    while pending:
        value, owner, key, place, left = pending.pop()
        if left:
            inside.discard(left)
            continue
        if id(value) in inside:
            raise SceneError(f"this {noun(value)} {CONTAINS_ITSELF}", place_text(place))
        if id(value) in converted:
            owner[key] = converted[id(value)][1]
            continue
        try:
            plain = _plain(value)
        except _NoMeaningError as error:
            raise SceneError(str(error), place_text(place)) from None
        if type(plain) is not dict and type(plain) is not list:
            owner[key] = plain
            continue
        copied: dict[str, Any] | list[Any]
        if type(plain) is dict:
            copied, members = dict.fromkeys(plain), list(plain.items())
        else:
            copied, members = [None] * len(plain), list(enumerate(plain))
        owner[key] = copied
        converted[id(value)] = value, copied
        inside.add(id(value))
        pending.append((None, None, None, None, id(value)))
        pending.extend((member, copied, step, below(place, step), 0) for step, member in reversed(members))
    return root[0]


class _NoMeaningError(Exception):
    """A value has no one obvious meaning in JSON; the message says why and what to do."""


def _plain(value: Any) -> Any:
    """The value as one of JSON's types; members of arrays and objects are left as they are."""
    while isinstance(value, Enum):
        value = value.value
    kind = type(value)
    if kind in SCALARS:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic | numpy.ndarray):
        return _plain_numpy(value, numpy)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return _finite(float.__float__(value))
    if isinstance(value, datetime | date | time):
        if value != value:
            raise _NoMeaningError(f"{kind_of(value)} that is no time at all; use None, or leave it out")
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, PathLike):
        return _path_text(value)
    if callable(getattr(kind, "model_dump", None)) and hasattr(kind, "__pydantic_fields__"):
        return _plain(_dumped(value))
    members = _members(value)
    if members is not None:
        return _with_text_keys(members)
    if isinstance(value, Sequence) and not (
        isinstance(value, bytes | bytearray | memoryview) or _is_named_tuple(value)
    ):
        return list(value)
    raise _NoMeaningError(f"{kind_of(value)} has no one meaning in JSON; {instead(value)}")


def _dumped(model: Any) -> Any:
    try:
        return model.model_dump()
    except ValueError as error:  # pydantic's own, for a model that contains itself among others
        raise _NoMeaningError(f"{kind_of(model)} cannot be dumped: {error}") from None


def _members(value: Any) -> Mapping[Any, Any] | None:
    """The members of what is an object in JSON; None for everything else."""
    kind = type(value)
    if isinstance(value, Mapping):
        return value
    if isinstance(value, Struct):
        config = value.__struct_config__
        tag = {config.tag_field: config.tag} if config.tag_field and config.tag is not None else {}
        named = {field.encode_name: getattr(value, field.name) for field in fields(value)}
        return tag | {name: member for name, member in named.items() if member is not UNSET}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(kind, "__attrs_attrs__"):
        return {field.name: getattr(value, field.name) for field in kind.__attrs_attrs__}
    return None


def _with_text_keys(members: Mapping[Any, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for key, member in members.items():
        name = key.value if isinstance(key, Enum) else key
        if not isinstance(name, str):
            raise _NoMeaningError(bad_key(key))
        text = str.__str__(name)
        if text in plain:
            raise _NoMeaningError(f"two keys of this object have the text {text!r}")
        plain[text] = member
    return plain


def _plain_numpy(value: Any, numpy: Any) -> Any:
    if type(value) is numpy.ndarray:
        return list(value) if value.ndim else _plain(value[()])
    kind = value.dtype.kind
    if isinstance(value, numpy.generic):
        if kind == "b":
            return bool(value)
        if kind in "iu":
            return int(value)
        if kind == "f":
            return _finite(float(value))
        if kind == "M" and not numpy.isnat(value):
            return str(value)
    raise _NoMeaningError(f"a numpy {type(value).__name__} has no one meaning in JSON; {instead(value)}")


def _finite(number: float) -> float:
    if not isfinite(number):
        raise _NoMeaningError(f"JSON has no number for {not_finite(number)}")
    return number


def _path_text(path: PathLike[Any]) -> str:
    text = fspath(path)
    if not isinstance(text, str):
        raise _NoMeaningError("a path of bytes has no one meaning in JSON; decode it to text first")
    return text


# What to say


def is_convertible(value: Any) -> bool:
    """Whether the value itself, whatever its members are, has one meaning in JSON."""
    try:
        _plain(value)
    except _NoMeaningError:
        return False
    return True


def instead(value: Any) -> str:
    """What to use in place of an object that `to_scene` cannot convert either."""
    if isinstance(value, set | frozenset):
        return "a set has no order: make a list of it, such as sorted(...)"
    if isinstance(value, bytes | bytearray | memoryview):
        return "decode it to text first"
    if _is_named_tuple(value):
        return "use its ._asdict() for an object, or list(...) for an array"
    if isinstance(value, timedelta):
        return "use its .total_seconds(), or text"
    if isinstance(value, Decimal | Fraction):
        return "use float(...) for a number, or str(...) for text"
    return "use None, a boolean, a number, text, a list or a dict instead"


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(type(value), "_fields")

"""The arguments of assertions: the kinds there are, and reading them as an operator's fields declare them.

A factory's signature is the declaration: `tools: Names` must be there, `per: Text | None = None` may be. From
it come the reading of arguments here, the JSON Schema of the operator and its typed form (`declaration.py`).
"""

from __future__ import annotations

import re
from math import isfinite
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import Meta

from evaluator.assertions.judgement import SpecError
from evaluator.errors import kind_of
from evaluator.path import Path
from evaluator.values import compact

Text = Annotated[str, Meta(min_length=1)]
"""A text that is not empty."""
Names = Annotated[tuple[Text, ...], Meta(min_length=1)]
"""One name or more."""
Natural = Annotated[int, Meta(ge=0)]
"""A whole number from 0; `2.0` is one."""
Positive = Annotated[int, Meta(ge=1)]
"""A whole number from 1."""
PositiveNumber = Annotated[float, Meta(gt=0)]
"""A number above 0."""
Pair = tuple[str, str]
"""Two texts."""


def read_argument(name: str, value: Any, holds: Any) -> Any:
    """An argument as the factory takes it: arrays as tuples, whole numbers as integers.

    Raises `SpecError` when it is not of the kind declared.
    """
    if holds is Any:
        return value
    origin, members = get_origin(holds), get_args(holds)
    if origin is Annotated:
        read = read_argument(name, value, members[0])
        _require(name, read, members[1:])
        return read
    if origin is Union or origin is UnionType:
        return _read_one_of(name, value, members)
    if origin is Literal:
        if type(value) is not str or value not in members:
            allowed = ", ".join(f'"{member}"' for member in members)
            raise SpecError(f"{name}: expected one of {allowed}, got {shown(value)}", name)
        return value
    if origin is tuple:
        return _read_array(name, value, members)
    return _read_plain(name, value, str if holds is Path else origin or holds)


def shown(value: Any) -> str:
    """A value that is not what was wanted: what it is and how it looks."""
    return kind_of(value) if value is None else f"{kind_of(value)} {compact(value)}"


def _read_one_of(name: str, value: Any, members: tuple[Any, ...]) -> Any:
    refusal: SpecError | None = None
    for member in members:
        try:
            return read_argument(name, value, member)
        except SpecError as error:
            refusal = refusal or error
    raise refusal or SpecError(f"{name}: nothing can stand there", name)


def _read_array(name: str, value: Any, members: tuple[Any, ...]) -> tuple[Any, ...]:
    if type(value) is not list and type(value) is not tuple:
        raise SpecError(f"{name}: expected an array, got {shown(value)}", name)
    if members[-1] is Ellipsis:
        return tuple(read_argument(f"{name}[{at}]", member, members[0]) for at, member in enumerate(value))
    if len(value) != len(members):
        raise SpecError(f"{name}: expected {len(members)} members, got {len(value)}", name)
    pairs = enumerate(zip(value, members, strict=True))
    return tuple(read_argument(f"{name}[{at}]", member, holds) for at, (member, holds) in pairs)


def _read_plain(name: str, value: Any, kind: Any) -> Any:
    if kind is float:
        if type(value) is int or (type(value) is float and isfinite(value)):
            return value
    elif kind is int:
        if type(value) is int:
            return value
        if type(value) is float and value.is_integer():
            return int(value)
    elif type(value) is kind:
        return value
    words = {
        str: "a string",
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        dict: "an object",
        list: "an array",
        NoneType: "null",
    }
    raise SpecError(f"{name}: expected {words[kind]}, got {shown(value)}", name)


def _require(name: str, value: Any, asked: tuple[Any, ...]) -> None:
    for meta in asked:
        if not isinstance(meta, Meta):
            continue
        if meta.min_length is not None and len(value) < meta.min_length:
            least = f"at least {meta.min_length}" if meta.min_length > 1 else "it not to be empty"
            raise SpecError(f"{name}: expected {least}, got {len(value)}", name)
        if meta.pattern is not None and re.search(meta.pattern, value) is None:
            raise SpecError(f"{name}: {compact(value)} cannot be addressed", name)
        if meta.ge is not None and value < meta.ge:
            raise SpecError(f"{name}: expected at least {meta.ge}, got {value}", name)
        if meta.le is not None and value > meta.le:
            raise SpecError(f"{name}: expected at most {meta.le}, got {value}", name)
        if meta.gt is not None and value <= meta.gt:
            raise SpecError(f"{name}: expected a number above {meta.gt}, got {value}", name)

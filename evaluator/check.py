"""Checks as data: the snapshot an evaluator works on, and defined checks, which carry an id and meta."""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

from msgspec import Struct

from evaluator.errors import CheckError, kind_of
from evaluator.place import Place, below, place_text
from evaluator.values import has_lone_surrogate

MAX_NESTING: Final = 200
"""How many checks may stand inside one another."""
MAX_DEPTH: Final = 500
"""How deep the JSON of a check may be in all, values included."""
MAX_NODES: Final = 100_000
"""How many values the JSON of a check may have in all."""


class CheckData(Struct, frozen=True):
    """A check as a Python object; what it means is its form on the wire."""

    def to_dict(self) -> dict[str, Any]:
        """The check on the wire, as plain JSON; a copy."""
        raise NotImplementedError


class Check(CheckData, frozen=True):
    """A defined check: an expression with a name and, if any, meta that its results carry.

    `expr` and `meta` are plain JSON; keys the language does not know are kept. Made by `define_check`.
    """

    id: str
    expr: dict[str, Any]
    meta: Any = None

    def to_dict(self) -> dict[str, Any]:
        """The check on the wire: `id`, `expr` and, when there is any, `meta`; a copy."""
        wire = {"id": self.id, "expr": self.expr}
        if self.meta is not None:
            wire["meta"] = self.meta
        copy: dict[str, Any] = snapshot(wire)
        return copy


def is_defined(check: Any) -> bool:
    """Whether a check on the wire is a defined one; then its `expr` counts, whatever stands beside it."""
    if type(check) is not dict or type(check.get("id")) is not str:
        return False
    return "expr" in check and (check["expr"] is None or type(check["expr"]) in (dict, list))


def carried(meta: Any) -> Any:
    """The meta that results carry; None for null, false, 0 and the empty string, which are not carried."""
    return meta if meta or type(meta) in (dict, list) else None


def snapshot(check: Any) -> Any:
    """A deep copy of a check that is plain JSON; raises `CheckError` at the place of anything else."""
    root: list[Any] = [None]
    pending: list[tuple[Any, Any, Any, Place | None]] = [(check, root, 0, None)]
    taken = 0
    while pending:
        value, owner, key, place = pending.pop()
        kind = type(value)
        copied: Any = value
        if kind is dict or kind is list:
            taken += len(value)
            if taken > MAX_NODES:
                raise CheckError(f"a check has at most {MAX_NODES:,} values in all", "$")
            if place is not None and place.depth >= MAX_DEPTH:
                problem = f"the JSON of a check is at most {MAX_DEPTH} levels deep"
                raise CheckError(f"{problem}; this one is deeper or contains itself", "$")
            if kind is dict:
                for name in value:
                    _require_key(name, place)
                copied = dict.fromkeys(value)
                members = list(value.items())
            else:
                copied = [None] * len(value)
                members = list(enumerate(value))
            pending.extend((member, copied, step, below(place, step)) for step, member in reversed(members))
        else:
            _require_scalar(value, place)
        owner[key] = copied
    return root[0]


def _require_key(name: Any, place: Place | None) -> None:
    if type(name) is not str:
        raise CheckError(f"an object's keys are strings, got {kind_of(name)}", place_text(place))
    _require_scalar(name, place)


def _require_scalar(value: Any, place: Place | None) -> None:
    kind = type(value)
    if kind is str:
        if has_lone_surrogate(value):
            raise CheckError("half of a surrogate pair is not text: UTF-8 cannot hold it", place_text(place))
    elif kind is float:
        if not isfinite(value):
            raise CheckError(f"a number in a check is finite, got {value}", place_text(place))
    elif kind is not int and kind is not bool and value is not None:
        raise CheckError(f"a check is plain JSON, got {kind_of(value)}", place_text(place))

"""The parts of a check on the wire and their places, and checks with parts changed or taken out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from evaluator import compile_check

JSON = Any
Check = dict[str, JSON]
Place = tuple[str | int, ...]
"""Where a part stands in its check: ``("of", 1, "where")``."""

EVERY: Check = {"op": "and", "of": []}


def expression_of(check: object) -> Check:
    """The bare expression of a check, which may be defined (``{"id", "expr"}``).

    Raises
    ------
    CheckError
        When it is not well formed.
    """
    wire = compile_check(check).check
    expression: Check = wire if "op" in wire else wire["expr"]
    return expression


def children(check: Check) -> list[tuple[Place, Check]]:
    """The checks that one is made of, with their places in it."""
    if check["op"] in ("and", "or"):
        return [(("of", index), part) for index, part in enumerate(check["of"])]
    name = "of" if check["op"] == "not" else "where"
    return [((name,), check[name])] if isinstance(check.get(name), dict) else []


def parts(check: Check, place: Place = ()) -> Iterator[tuple[Place, Check]]:
    """The check and all it is made of, outermost first."""
    yield place, check
    for inner, part in children(check):
        yield from parts(part, place + inner)


def place_text(place: Place) -> str:
    """The JSON path of a place: ``$.of[1].where``."""
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)


def rebuild(check: Check, change: Callable[[Place, Check], Check | None], place: Place = ()) -> Check | None:
    """The check with each part changed, innermost first; None takes a part out.

    What is left stays well formed: an and, or or not without parts goes as well, one of a single part is
    that part, a count without `where` counts all and a find without it becomes ``count gte 1``.
    """
    inner = [(at, rebuild(part, change, place + at)) for at, part in children(check)]
    if not inner:
        return change(place, check)
    kept = [part for _, part in inner if part is not None]
    if check["op"] in ("and", "or"):
        if not kept:
            return None
        alone = len(kept) == 1 < len(inner)
        return change(place, kept[0] if alone else {**check, "of": kept})
    if kept:
        return change(place, {**check, "of" if check["op"] == "not" else "where": kept[0]})
    if check["op"] == "not":
        return None
    rest = {key: value for key, value in check.items() if key != "where"}
    return change(place, {**rest, "op": "count", "gte": 1} if check["op"] == "find" else rest)


def without(check: Check, place: Place) -> Check:
    """The check without the part at a place; one that passes always when nothing is left."""
    left = rebuild(check, lambda at, part: None if at == place else part)
    return EVERY if left is None else left


def terms(check: Check) -> list[tuple[Place, Check]]:
    """The alternatives of a check: the parts of an or at its top, else the check itself."""
    if check["op"] != "or" or not check["of"]:
        return [((), check)]
    return [(at + place, term) for at, part in children(check) for place, term in terms(part)]

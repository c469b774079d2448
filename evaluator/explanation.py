"""Explaining a check: as an indented sentence and, for a scene, which part fails and by how much.

Every part stands on a line of its own, what it is made of below it. Numbers are written exactly, not rounded
as in `why`, so that what a line says is true to the last digit. Of `find` the nearest element is looked into;
what `count` counts is said, not shown. A part under `not` is marked by its own verdict.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from evaluator.check import is_defined
from evaluator.compile import compile_check
from evaluator.errors import CheckError
from evaluator.path import resolve
from evaluator.scene import validate_scene
from evaluator.values import MISSING, compact, number_text, quoted
from evaluator.words import sentence

_NO_SCENE: Final = object()
_JOINED: Final = {"and": "all of these", "or": "any of these", "not": "it is not so that"}
_BOUNDS: Final = ("eq", "gte", "lte")


class Part(Struct, frozen=True):
    """One part of a check, put in words.

    Attributes:
        text: what it asks for.
        parts: what it is made of.
        passed: the verdict on the scene; None when there is no scene to look at.
        gap: the distance on the scene; 0.0 without one.
        found: what was seen there, in words; empty when nothing is to be said.
        evaluated: False where evidence is missing; it does not pass then.
    """

    text: str
    parts: tuple[Part, ...] = ()
    passed: bool | None = None
    gap: float = 0.0
    found: str = ""
    evaluated: bool = True


def explain(check: object, scene: object = _NO_SCENE) -> str:
    """The check as an indented sentence; with a scene, each part marked by its verdict there.

    Takes what `run_check` takes. Raises `CheckError` and `SceneError` as it does.

    >>> cheap = {"op": "lte", "path": "total", "value": 500}
    >>> print(explain({"op": "and", "of": [cheap, {"op": "exists", "path": "id"}]}, {"total": 540, "id": 7}))
    FAIL all of these (gap 40)
    FAIL   total is at most 500: found 540 (gap 40)
    pass   id is present: found 7
    """
    return "\n".join(_lines(explanation(check, scene), 0, "" if scene is _NO_SCENE else "     "))


def explanation(check: object, scene: object = _NO_SCENE) -> Part:
    """What `explain` says, as data."""
    wire = compile_check(check).check
    if scene is not _NO_SCENE:
        validate_scene(scene, infinite=True)
    try:
        return _part(wire["expr"] if is_defined(wire) else wire, scene)
    except RecursionError:
        raise CheckError("the check is nested too deeply to be explained", "$") from None


def _lines(part: Part, level: int, no_mark: str) -> Iterator[str]:
    mark = {None: no_mark, True: "pass ", False: "FAIL "}[part.passed] if part.evaluated else "?    "
    found = f": {part.found}" if part.found else ""
    gap = f" (gap {number_text(part.gap)})" if part.passed is False and part.evaluated else ""
    yield f"{mark}{'  ' * level}{part.text}{found}{gap}"
    for inner in part.parts:
        yield from _lines(inner, level + 1, no_mark)


def _part(check: dict[str, Any], scene: Any) -> Part:
    part = _look(check, scene)
    if scene is _NO_SCENE or compile_check(check).decide(scene) is not None:
        return part
    return Part(part.text, part.parts, part.passed, part.gap, part.found, evaluated=False)


def _look(check: dict[str, Any], scene: Any) -> Part:
    passed, gap = None, 0.0
    if scene is not _NO_SCENE:
        gap = compile_check(check).gap(scene)
        passed = gap == 0.0
    op = check["op"]
    if op in _JOINED:
        parts = [check["of"]] if op == "not" else check["of"]
        return Part(_JOINED[op], tuple(_part(part, scene) for part in parts), passed, gap)
    if op == "find":
        return _find(check, scene, passed, gap)
    if op == "count":
        return _count(check, scene, passed, gap)
    return Part(sentence(check), (), passed, gap, "" if passed is None else _found(check, scene))


def _find(check: dict[str, Any], scene: Any, passed: bool | None, gap: float) -> Part:
    text = f"some element of {_name(check)} is such that"
    found, looked_at = "", _NO_SCENE
    if passed is not None:
        elements = _elements(check, scene)
        if elements:
            gap_of = compile_check(check["where"]).gap
            step, looked_at = min(elements, key=lambda element: gap_of(element[1]))
            place = f"{check['collection']}[{step if type(step) is int else quoted(step)}]"
            found = place if passed else f"nearest is {place}"
        else:
            found = "not an array" if elements is None else "no elements"
    return Part(text, (_part(check["where"], looked_at),), passed, gap, found)


def _count(check: dict[str, Any], scene: Any, passed: bool | None, gap: float) -> Part:
    text, found = sentence(check), ""
    parts: tuple[Part, ...] = ()
    if "where" in check and any(bound in check for bound in _BOUNDS):
        text = f"{sentence({key: value for key, value in check.items() if key != 'where'})} such that"
        parts = (_part(check["where"], _NO_SCENE),)
    if passed is not None:
        elements = _elements(check, scene)
        if elements is None:
            found = "not an array"
        elif parts:
            gap_of = compile_check(check["where"]).gap
            number = sum(gap_of(element) == 0.0 for _, element in elements)
            found = f"{number} of {len(elements)}"
        else:
            found = f"{len(elements)}"
    return Part(text, parts, passed, gap, found)


def _elements(check: dict[str, Any], scene: Any) -> list[tuple[Any, Any]] | None:
    """The elements that `find` and `count` look at, with their indexes or keys; None without a collection."""
    collection = resolve(scene, check["collection"])
    if type(collection) is list:
        return list(enumerate(collection))
    if type(collection) is dict and check.get("values") is True:
        return list(collection.items())
    return [] if collection is MISSING and check.get("absent") == "empty" else None


def _found(check: dict[str, Any], scene: Any) -> str:
    """What a check without parts saw: the values at its paths, or else its `why`."""
    seen = [resolve(scene, check[name]) for name in ("path", "value_path") if name in check]
    if not seen:
        return compile_check(check)(scene).why
    told = ["nothing" if value is MISSING else compact(value) for value in seen]
    return "found " + " and ".join(told)


def _name(check: dict[str, Any]) -> str:
    path: str = check["collection"]
    return (path if path.isprintable() else quoted(path)) or "the scene"

"""Margins: how far a scene is from the other verdict.

For a bound the margin is the distance to it, in the unit of the field; for a count the elements to change;
for all else 1. Of parts that must all hold, a passing scene has the least margin; of parts of which one must
hold, the sum of those that do. A failing scene is measured the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

from evaluator import CompiledCheck, compile_check, resolve, sentence
from evaluator.values import distance
from induce.parts import Check, children, expression_of, parts

JSON = Any


@dataclass(frozen=True)
class Margin:
    """The distance of one scene to the other verdict, and the part of the check nearest to turning."""

    id: str
    passed: bool
    distance: float
    part: str


def margins(check: object, scenes: Sequence[JSON], ids: Sequence[str] | None = None) -> tuple[Margin, ...]:
    """The margin of each scene, in the scenes' order; `ids` are their positions by default."""
    expression = expression_of(check)
    names = [str(index) for index in range(len(scenes))] if ids is None else ids
    compiled = {id(part): compile_check(part) for _, part in parts(expression)}
    found = [_margin(expression, scene, compiled) for scene in scenes]
    return tuple(
        Margin(name, one.passed, one.distance, sentence(one.part))
        for name, one in zip(names, found, strict=True)
    )


Compiled = dict[int, CompiledCheck]
"""The parts of one check, compiled, by their identity."""


class _Found(NamedTuple):
    passed: bool
    distance: float
    part: Check


def _margin(check: Check, scene: JSON, compiled: Compiled) -> _Found:
    op = check["op"]
    if op == "not":
        inner = _margin(check["of"], scene, compiled)
        part = check if inner.part is check["of"] else inner.part
        return _Found(not inner.passed, inner.distance, part)
    if op in ("and", "or"):
        found = [_margin(part, scene, compiled) for _, part in children(check)]
        passed = all(one.passed for one in found) if op == "and" else any(one.passed for one in found)
        deciding = [one for one in found if one.passed is passed]
        if not deciding:
            return _Found(passed, inf, check)
        nearest = min(deciding, key=lambda one: one.distance)
        alone = (op == "and") is passed
        return _Found(
            passed, nearest.distance if alone else sum(one.distance for one in deciding), nearest.part
        )
    passed = compiled[id(check)].passes(scene)
    if op == "find":
        return _Found(passed, _of_find(check, scene, passed, compiled), check)
    if op == "count":
        return _Found(passed, _of_count(check, scene, passed, compiled), check)
    return _Found(passed, _of_value(check, scene), check)


def _of_value(check: Check, scene: JSON) -> float:
    if check["op"] not in ("gte", "lte", "gt", "lt"):
        return 1.0
    found = resolve(scene, check["path"])
    bound = resolve(scene, check["value_path"]) if "value_path" in check else check["value"]
    if not {type(found), type(bound)} <= {int, float}:
        return 1.0
    return distance(max(found, bound), min(found, bound))


def _of_find(check: Check, scene: JSON, passed: bool, compiled: Compiled) -> float:
    elements = resolve(scene, check["collection"])
    if type(elements) is not list:
        return 1.0
    found = [_margin(check["where"], element, compiled) for element in elements]
    near = [one.distance for one in found if one.passed is passed]
    return sum(near) if passed else min(near, default=1.0)


def _of_count(check: Check, scene: JSON, passed: bool, compiled: Compiled) -> float:
    if not passed:
        return compiled[id(check)].gap(scene)
    elements = resolve(scene, check["collection"])
    if type(elements) is not list:
        return 1.0
    counts = compiled[id(check["where"])].passes if "where" in check else lambda _element: True
    number = sum(counts(element) for element in elements)
    ways = [1.0 if "eq" in check else inf]
    ways += [number - check["gte"] + 1.0] if "gte" in check else []
    ways += [check["lte"] - number + 1.0] if "lte" in check else []
    return min(ways)

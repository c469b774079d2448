"""Comparison: a value equals another, or a number reaches a bound (`eq`, `neq`, `gte`, `lte`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evaluator.errors import SceneError
from evaluator.fields import Fields
from evaluator.node import Node, atom
from evaluator.result import CheckResult
from evaluator.values import compact, distance, equal, number_text, require_json, rounded


def eq(fields: Fields) -> Node:
    """The value at `path` deep-equals `value`."""
    path, get = fields.path("path")
    value = fields.value("value")
    wanted = compact(value)
    return atom(
        get,
        _equals(value, path),
        passing=lambda found: f"{path} = {compact(found)}",
        failing=lambda found: f"{path}: expected {wanted}, got {compact(found)}",
    )


def neq(fields: Fields) -> Node:
    """The value at `path` does not deep-equal `value`; passes where nothing is there."""
    path, get = fields.path("path")
    value = fields.value("value")
    unwanted = compact(value)
    equals = _equals(value, path)
    return atom(
        get,
        lambda found: not equals(found),
        passing=f"{path} ≠ {unwanted}",
        failing=lambda found: f"{path}: expected ≠ {unwanted}, got {compact(found)}",
    )


def _equals(value: Any, path: str) -> Callable[[Any], bool]:
    """Equality with a constant, made for its type."""
    kind = type(value)
    if kind is str or kind is bool:

        def equals(found: Any) -> bool:
            if type(found) is kind:
                return bool(found == value)
            require_json(found, path)
            return False

    elif kind is int or kind is float:

        def equals(found: Any) -> bool:
            if type(found) is int or type(found) is float:
                return bool(found == value)
            require_json(found, path)
            return False

    else:

        def equals(found: Any) -> bool:
            try:
                return equal(found, value)
            except SceneError as error:
                raise SceneError(error.problem, path) from None

    return equals


def gte(fields: Fields) -> Node:
    """The value at `path` is a number of at least `value`; the gap is what it falls short by."""
    path, get = fields.path("path")
    bound = fields.number("value")
    shown, rounded_bound = number_text(bound), rounded(bound)

    def gap(scene: Any) -> float:
        found = get(scene)
        if type(found) is float or type(found) is int:
            return 0.0 if found >= bound else _shortfall(bound, found, path)
        require_json(found, path)
        return 1.0

    def passing(found: float) -> str:
        return f"{path} = {rounded(found)} ≥ {rounded_bound}"

    def failing(found: float) -> str:
        short = rounded(distance(bound, found))
        return f"{path}: expected ≥ {rounded_bound}, got {rounded(found)} (short by {short})"

    def no_number(found: Any) -> str:
        return f"{path}: expected number ≥ {shown}, got {compact(found)}"

    def judge(scene: Any) -> CheckResult:
        found = get(scene)
        if type(found) is float or type(found) is int:
            if found >= bound:
                return CheckResult(True, 0.0, passing, found)
            return CheckResult(False, _shortfall(bound, found, path), failing, found)
        require_json(found, path)
        return CheckResult(False, 1.0, no_number, found)

    return Node(gap, judge)


def lte(fields: Fields) -> Node:
    """The value at `path` is a number of at most `value`; the gap is what it is over by."""
    path, get = fields.path("path")
    bound = fields.number("value")
    shown, rounded_bound = number_text(bound), rounded(bound)

    def gap(scene: Any) -> float:
        found = get(scene)
        if type(found) is float or type(found) is int:
            return 0.0 if found <= bound else _shortfall(found, bound, path)
        require_json(found, path)
        return 1.0

    def passing(found: float) -> str:
        return f"{path} = {rounded(found)} ≤ {rounded_bound}"

    def failing(found: float) -> str:
        over = rounded(distance(found, bound))
        return f"{path}: expected ≤ {rounded_bound}, got {rounded(found)} (over by {over})"

    def no_number(found: Any) -> str:
        return f"{path}: expected number ≤ {shown}, got {compact(found)}"

    def judge(scene: Any) -> CheckResult:
        found = get(scene)
        if type(found) is float or type(found) is int:
            if found <= bound:
                return CheckResult(True, 0.0, passing, found)
            return CheckResult(False, _shortfall(found, bound, path), failing, found)
        require_json(found, path)
        return CheckResult(False, 1.0, no_number, found)

    return Node(gap, judge)


def _shortfall(larger: float, smaller: float, path: str) -> float:
    """The positive distance between a bound and a number that misses it; NaN misses every bound."""
    if larger != larger or smaller != smaller:
        raise SceneError("a scene is plain JSON, found NaN", path)
    return distance(larger, smaller)

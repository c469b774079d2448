"""What CEL texts mean beyond the core operators (`cel.compare`, `cel.size`, `cel.unsupported`).

`from_cel` makes them only where no core operator has the original CEL evaluator's verdict and gap. Two of the
core's promises do not hold for them, because they do not there: a gap may be NaN (a number cannot be ordered
against a text), and a result of `cel.size` that passes may keep a gap.
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Any, Final

from evaluator.errors import CheckError, nearest
from evaluator.fields import Fields
from evaluator.node import Node, at_path
from evaluator.result import CheckResult
from evaluator.values import compact, distance, number_text, require_json

_LEAST_GAP: Final = 5e-324
_ORDERS: Final = ("<", "<=", ">", ">=")


def cel_compare(fields: Fields) -> Node:
    """The number at `path` stands to `value` as `is` says: `<`, `<=`, `>` or `>=`.

    The gap is the distance; right at a strict bound it is the least positive double, which vanishes in a sum
    with any other gap. Without `value`, where a literal is no number, nothing compares, and the gap of a
    number is NaN.
    """
    path, get = fields.path("path")
    sign, bound = _relation(fields, _ORDERS)
    below, strict = sign[0] == "<", len(sign) == 1
    shown = _shown(bound)

    def gap(scene: Any) -> float:
        found = get(scene)
        if type(found) is not int and type(found) is not float:
            require_json(found, path)
            return 1.0
        if bound is None:
            return nan
        larger, smaller = (found, bound) if below else (bound, found)
        if larger > smaller:
            return distance(larger, smaller)
        return _LEAST_GAP if strict and larger == smaller else 0.0

    def passing(found: float) -> str:
        return f"{path} = {number_text(found)} {sign} {shown}"

    def failing(found: Any) -> str:
        if type(found) is int or type(found) is float:
            return f"{path}: expected {sign} {shown}, got {number_text(found)}"
        return f"{path}: expected number {sign} {shown}, got {compact(found)}"

    def judge(scene: Any) -> CheckResult:
        found, distance_left = get(scene), gap(scene)
        if distance_left == 0.0:
            return CheckResult(True, 0.0, passing, found)
        return CheckResult(False, distance_left, failing, found)

    return Node(gap, judge, at_path(path))


def cel_size(fields: Fields) -> Node:
    """The number of elements of the array at `collection` (that pass `where`) stands to `value` as `is` says.

    As `count` does, but with `<` and `>` as the original computes them: the gap of `> t` is what is missing
    to t + 1, that of `< t` what is too much for t - 1. Where t is no whole number a size in between passes
    although that is not 0: there the result shows the original's gap; the gap asked for alone is 0. Without
    `value`, where a literal is no number, every array fails with gap NaN.
    """
    path, get = fields.path("collection")
    gap_of = fields.node("where").gap if "where" in fields else None
    sign, bound = _relation(fields, ("==", *_ORDERS))
    expected = f"expected {sign} {_shown(bound)}"
    gap_to = _no_gap if bound is None else _GAP_TO[sign](bound)
    holds = _never if bound is None else _HOLDS[sign](bound)

    def number_of(scene: Any) -> int:
        """How many elements count; -1 when there is no array."""
        elements = get(scene)
        if type(elements) is not list:
            require_json(elements, path)
            return -1
        if gap_of is None:
            return len(elements)
        return sum([gap_of(element) == 0.0 for element in elements])

    def gap(scene: Any) -> float:
        number = number_of(scene)
        if number < 0:
            return 1.0
        return 0.0 if holds(number) else gap_to(number)

    def explain(number: int) -> str:
        return f"{path}: count={number}, {expected}"

    def judge(scene: Any) -> CheckResult:
        number = number_of(scene)
        if number < 0:
            return CheckResult(False, 1.0, f"{path}: not an array")
        return CheckResult(holds(number), gap_to(number), explain, number)

    return Node(gap, judge, at_path(path))


def cel_unsupported(fields: Fields) -> Node:
    """A body that means nothing, met: raises `CheckError` with the text in `problem` when it is evaluated."""
    problem = fields.text("problem")

    def gap(_: Any) -> float:
        raise CheckError(problem)

    def judge(_: Any) -> CheckResult:
        raise CheckError(problem)

    return Node(gap, judge)


def _relation(fields: Fields, signs: tuple[str, ...]) -> tuple[str, float | None]:
    """The fields `is` and `value`: a sign, and a number or nothing."""
    sign = fields.text("is")
    if sign not in signs:
        meant = nearest(sign, signs)
        advice = f'did you mean "{meant}"?' if meant else f"expected one of {' '.join(signs)}"
        raise CheckError(f"unknown relation {compact(sign)}; {advice}", f"{fields.place}.is")
    return sign, fields.number("value") if "value" in fields else None


def _shown(bound: float | None) -> str:
    return "a number (there is none to compare with)" if bound is None else number_text(bound)


def _no_gap(_: int) -> float:
    return nan


def _never(_: int) -> bool:
    return False


def _at_least(bound: float) -> Callable[[int], float]:
    return lambda number: distance(bound, number) if number < bound else 0.0


def _at_most(bound: float) -> Callable[[int], float]:
    return lambda number: distance(number, bound) if number > bound else 0.0


_GAP_TO: Final[dict[str, Callable[[float], Callable[[int], float]]]] = {
    "==": lambda bound: lambda number: distance(max(number, bound), min(number, bound)),
    ">=": _at_least,
    "<=": _at_most,
    ">": lambda bound: _at_least(bound + 1),
    "<": lambda bound: _at_most(bound - 1),
}
_HOLDS: Final[dict[str, Callable[[float], Callable[[int], bool]]]] = {
    "==": lambda bound: lambda number: number == bound,
    ">=": lambda bound: lambda number: number >= bound,
    "<=": lambda bound: lambda number: number <= bound,
    ">": lambda bound: lambda number: number > bound,
    "<": lambda bound: lambda number: number < bound,
}

"""Collections: some element passes, or so many do (`find`, `count`). The element is the scene of `where`."""

from __future__ import annotations

from math import inf
from typing import Any

from evaluator.fields import Fields
from evaluator.node import Node
from evaluator.result import CheckResult
from evaluator.values import distance, number_text, require_json


def find(fields: Fields) -> Node:
    """Some element of the array at `collection` passes `where`.

    The gap is the nearest element's, but at least 1: nothing was found. The first element that passes
    explains a pass, the first of the nearest ones a failure.
    """
    path, get = fields.path("collection")
    where = fields.node("where")
    gap_of, judge_of = where
    no_array, nothing = f"{path}: not an array", f"{path}: no element matched"

    def gap(scene: Any) -> float:
        elements = get(scene)
        if type(elements) is not list:
            require_json(elements, path)
            return 1.0
        least = inf
        for element in elements:
            distance_left = gap_of(element)
            if distance_left < least:
                if distance_left == 0.0:
                    return 0.0
                least = distance_left
        return least if elements and least > 1.0 else 1.0

    def failing(closest: CheckResult) -> str:
        return f"{nothing} (closest: {closest.why})"

    def judge(scene: Any) -> CheckResult:
        elements = get(scene)
        if type(elements) is not list:
            require_json(elements, path)
            return CheckResult(False, 1.0, no_array)
        if not elements:
            return CheckResult(False, 1.0, nothing)
        least, nearest = inf, elements[0]
        for element in elements:
            distance_left = gap_of(element)
            if distance_left < least:
                least, nearest = distance_left, element
                if distance_left == 0.0:
                    return judge_of(element)
        return CheckResult(False, least if least > 1.0 else 1.0, failing, judge_of(nearest))

    return Node(gap, judge)


def count(fields: Fields) -> Node:
    """The number of elements of the array at `collection` (that pass `where`) keeps every bound given.

    The gap is the sum of the distances to the bounds `eq`, `gte` and `lte`; without any it passes on every
    array.
    """
    path, get = fields.path("collection")
    gap_of = fields.node("where").gap if "where" in fields else None
    exactly = fields.number("eq") if "eq" in fields else None
    at_least = fields.number("gte") if "gte" in fields else None
    at_most = fields.number("lte") if "lte" in fields else None
    no_array = f"{path}: not an array"

    bounds = ((exactly, "="), (at_least, "≥"), (at_most, "≤"))
    expected = " & ".join(f"count {sign} {number_text(bound)}" for bound, sign in bounds if bound is not None)

    def explain(number: int) -> str:
        return f"{path}: count={number}, expected {expected}" if expected else f"{path}: {number} elements"

    def number_of(scene: Any) -> int:
        """How many elements count; -1 when there is no array."""
        elements = get(scene)
        if type(elements) is not list:
            require_json(elements, path)
            return -1
        if gap_of is None:
            return len(elements)
        number = 0
        for element in elements:
            if gap_of(element) == 0.0:
                number += 1
        return number

    def gap_to_bounds(number: int) -> float:
        total = 0.0
        if exactly is not None and number != exactly:
            total += distance(exactly, number) if number < exactly else distance(number, exactly)
        if at_least is not None and number < at_least:
            total += distance(at_least, number)
        if at_most is not None and number > at_most:
            total += distance(number, at_most)
        return total

    def gap(scene: Any) -> float:
        number = number_of(scene)
        return 1.0 if number < 0 else gap_to_bounds(number)

    def judge(scene: Any) -> CheckResult:
        number = number_of(scene)
        if number < 0:
            return CheckResult(False, 1.0, no_array)
        distance_left = gap_to_bounds(number)
        return CheckResult(distance_left == 0.0, distance_left, explain, number)

    return Node(gap, judge)

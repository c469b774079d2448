"""Collections: some element passes, or so many do (`find`, `count`). The element is the scene of `where`."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from evaluator.fields import Fields
from evaluator.node import Node
from evaluator.operators.three_valued import any_undecided, counted, some_of
from evaluator.path import Index, Property, Resolver, Segment, parse_path
from evaluator.result import CheckResult
from evaluator.values import MISSING, distance, number_text, require_json


def find(fields: Fields) -> Node:
    """Some element of the array at `collection` passes `where`.

    The gap is the nearest element's, but at least 1: nothing was found. The first element that passes
    explains a pass, the first of the nearest ones a failure.

    With `values` an object is a collection too, of its values; with `absent: "empty"` a missing collection
    counts as an empty one.
    """
    collection = _Collection(fields)
    path, get = collection.path, collection.get
    where = fields.node("where")
    gap_of, judge_of, *_ = where
    no_array, nothing = collection.refusal, f"{path}: no element matched"

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

    def locate(scene: Any, _held: bool) -> tuple[Segment, ...]:
        """The element that passes, or the first of the nearest ones; without elements the collection."""
        return collection.place(scene, _nearest(gap_of, get(scene)))

    core = Node(gap, judge, locate)
    return some_of(path, get, where, core) if any_undecided([where]) else core


def count(fields: Fields) -> Node:
    """The number of elements of the array at `collection` (that pass `where`) keeps every bound given.

    The gap is the sum of the distances to the bounds `eq`, `gte` and `lte`; without any it passes on every
    array. `values` and `absent` are as in `find`.
    """
    collection = _Collection(fields)
    path, get = collection.path, collection.get
    where = fields.node("where") if "where" in fields else None
    gap_of = where.gap if where is not None else None
    exactly = fields.number("eq") if "eq" in fields else None
    at_least = fields.number("gte") if "gte" in fields else None
    at_most = fields.number("lte") if "lte" in fields else None
    no_array = collection.refusal

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

    def locate(scene: Any, held: bool) -> tuple[Segment, ...]:
        """The first element beyond what is allowed, or the nearest of those that do not count."""
        elements = get(scene)
        if held or type(elements) is not list:
            return collection.place(scene, None)
        gaps = [gap_of(element) if gap_of is not None else 0.0 for element in elements]
        counted = [index for index, gap_left in enumerate(gaps) if gap_left == 0.0]
        allowed = min(bound for bound in (exactly, at_most, inf) if bound is not None)
        if counted and len(counted) > allowed:
            return collection.place(scene, counted[max(0, int(allowed))])
        others = [index for index, gap_left in enumerate(gaps) if gap_left != 0.0]
        return collection.place(scene, min(others, key=gaps.__getitem__, default=None))

    core = Node(gap, judge, locate)
    if where is None or where.decide is None:
        return core
    return counted(path, get, where, (exactly, at_least, at_most), gap_to_bounds, core)


class _Collection:
    """Where a collection is, and what counts as one."""

    __slots__ = ("_resolve", "get", "path", "refusal")

    def __init__(self, fields: Fields) -> None:
        self.path, self._resolve = fields.path("collection")
        values, absent = fields.flag("values"), fields.choice("absent", ("empty",))
        self.refusal = f"{self.path}: not an array or object" if values else f"{self.path}: not an array"
        self.get = _elements(self._resolve, values, absent is not None) if values or absent else self._resolve

    def place(self, scene: Any, index: int | None) -> tuple[Segment, ...]:
        """The path to an element by its number; to the collection itself when it is None."""
        path = parse_path(self.path)
        if index is None:
            return path
        found = self._resolve(scene)
        return *path, Property(list(found)[index]) if type(found) is dict else Index(str(index))


def _elements(get: Resolver, values: bool, absent_is_empty: bool) -> Resolver:
    """The elements as a list, whatever else is a collection here."""

    def elements(scene: Any) -> Any:
        found = get(scene)
        if values and type(found) is dict:
            return list(found.values())
        return [] if absent_is_empty and found is MISSING else found

    return elements


def _nearest(gap_of: Callable[[Any], float], elements: Any) -> int | None:
    """The number of the first of the elements with the smallest gap; None when there is none."""
    if type(elements) is not list or not elements:
        return None
    return min(range(len(elements)), key=lambda index: gap_of(elements[index]))

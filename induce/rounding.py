"""Round the constants of a finished hypothesis while every training verdict holds.

The search knows a threshold by the gap between two values that its literal needs. In the
whole check the other literals decide some scenes too, so the gap is often wider; the number
that is printed is the roundest one of the widened gap.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from evaluator import compile_check
from induce.constants import Number
from induce.literals import Bound, Collect, Hypothesis, Literal, PathTest, hypothesis_check
from induce.profile import Scope

JSON = Any
Place = tuple[int, ...]


def round_constants(hypothesis: Hypothesis, root: Scope, scenes: Sequence[JSON]) -> Hypothesis:
    """The same verdicts on `scenes` with rounder numbers, one threshold after another.

    `root` is the profile of these scenes. A bound that no number meets stays as it is.
    """
    for place, test, scope in thresholds(hypothesis, root):
        numbers = scope.columns[test.path].numbers
        admitted = _shut_out(numbers, test)
        if admitted == len(numbers):
            continue
        at = partial(_with_bound, hypothesis, place, test, numbers)
        loose, strict = verdicts(at(0), scenes), verdicts(at(len(numbers) - 1), scenes)
        open_scenes = [s for s, a, b in zip(scenes, loose, strict, strict=True) if a is not b]
        wanted = verdicts(hypothesis, open_scenes)
        holds = partial(_holds, at, open_scenes, wanted)
        low = _last_that_holds(admitted, -1, holds)
        high = _last_that_holds(admitted, len(numbers), holds)
        hypothesis = _replace(hypothesis, place, test._replace(value=_bound(numbers, test.op, low, high)))
    return hypothesis


def _with_bound(
    hypothesis: Hypothesis, place: Place, test: PathTest, numbers: list[Number], first: int
) -> Hypothesis:
    """The hypothesis with a bound that admits the numbers from position `first` on."""
    number = numbers[first] if test.op == "gte" else numbers[len(numbers) - 1 - first]
    return _replace(hypothesis, place, test._replace(value=Bound.exactly(number)))


def _holds(
    at: Callable[[int], Hypothesis], open_scenes: Sequence[JSON], wanted: list[bool], first: int
) -> bool:
    """Whether no verdict changes; only scenes whose verdict differs between both ends can."""
    return verdicts(at(first), open_scenes) == wanted


def verdicts(hypothesis: Hypothesis, scenes: Sequence[JSON]) -> list[bool]:
    compiled = compile_check(hypothesis_check(hypothesis))
    return [compiled.passes(scene) for scene in scenes]


def thresholds(hypothesis: Hypothesis, root: Scope) -> list[tuple[Place, PathTest, Scope]]:
    """The numeric bounds in which verdicts are monotone: where each stands, and the scope it speaks of.

    Below a count that must be met exactly, or within a range, they are not: those bounds stay as they are.
    """
    found: list[tuple[Place, PathTest, Scope]] = []

    def visit(literals: Sequence[Literal], place: Place, scope: Scope) -> None:
        for index, literal in enumerate(literals):
            atom = literal.atom
            if isinstance(atom, Collect):
                if atom.most is not None or (atom.bound is not None and atom.bound[0] == "eq"):
                    continue
                visit(atom.where, (*place, index), scope.children[atom.collection])
            elif isinstance(atom, PathTest) and isinstance(atom.value, Bound):
                found.append(((*place, index), atom, scope))

    for number, term in enumerate(hypothesis):
        visit(term, (number,), root)
    return found


def _shut_out(numbers: list[Number], test: PathTest) -> int:
    """How many of the numbers the bound shuts out, by the constant that is printed for it."""
    constant = test.value.value
    if test.op == "gte":
        return bisect_left(numbers, constant)
    return len(numbers) - bisect_right(numbers, constant)


def _last_that_holds(start: int, end: int, holds: Callable[[int], bool]) -> int:
    """The position nearest `end` (exclusive) to which the bound can move; verdicts are monotone in it."""
    step = 1 if end > start else -1
    good, bad = start, end
    while abs(bad - good) > 1:
        middle = good + step * max(1, abs(bad - good) // 2)
        if holds(middle):
            good = middle
        else:
            bad = middle
    return good


def _bound(numbers: list[Number], op: str, low: int, high: int) -> Bound:
    """The gap that shuts out position `low` - 1 and admits position `high`."""
    if op == "gte":
        return Bound(numbers[low - 1] if low else None, numbers[high], "high")
    top = len(numbers) - 1
    return Bound(numbers[top - high], numbers[top - low + 1] if low else None, "low")


def _replace(hypothesis: Hypothesis, place: Place, test: PathTest) -> Hypothesis:
    term = _replaced(hypothesis[place[0]], place[1:], test)
    return (*hypothesis[: place[0]], term, *hypothesis[place[0] + 1 :])


def _replaced(literals: tuple[Literal, ...], place: Place, test: PathTest) -> tuple[Literal, ...]:
    index, literal = place[0], literals[place[0]]
    if len(place) == 1:
        changed = literal._replace(atom=test)
    else:
        assert isinstance(literal.atom, Collect)
        inner = _replaced(literal.atom.where, place[1:], test)
        changed = literal._replace(atom=literal.atom._replace(where=inner))
    return (*literals[:index], changed, *literals[index + 1 :])

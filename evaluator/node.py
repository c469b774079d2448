"""A compiled check: what an operator turns its fields into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from evaluator.path import Resolver, Segment, parse_path
from evaluator.result import CheckResult

Locate = Callable[[Any, bool], tuple[Segment, ...] | None]


def nowhere(_scene: Any, _held: bool) -> None:
    """The place of a check that points at nothing in the scene."""


def at_path(path: str) -> Locate:
    """The place of a check that looks at one path."""
    return lambda _scene, _held: parse_path(path)


class Node(NamedTuple):
    """Functions of the scene; none changes it.

    `gap` gives the distance alone, 0.0 exactly when the check passes; `judge` gives a result whose `why`
    can be asked for. An operator that scans elements or branches asks for gaps and judges only what decides.
    `locate` is asked only when anchors are wanted, on a scene whose verdict is known and given: it tells the
    path to what decided that verdict, or None when it is no one place.

    `decide` is there only for a check that may be *not evaluated* (an assertion over a trace that lacks the
    evidence, and what is made of one): it gives the gap, or None where the check is not evaluated. `gap` is
    then 1.0, and the meta of what `judge` gives has the `status` and, where there is one, the `reason`.
    """

    gap: Callable[[Any], float]
    judge: Callable[[Any], CheckResult]
    locate: Locate = nowhere
    decide: Callable[[Any], float | None] | None = None


Explain = str | Callable[[Any], str]


def atom(path: str, get: Resolver, holds: Callable[[Any], bool], passing: Explain, failing: Explain) -> Node:
    """A check that holds or not of the value `get` finds at `path`: gap 0 or 1.

    `passing` and `failing` are the texts of `why`, or functions from the value found to them.
    """

    def gap(scene: Any) -> float:
        return 0.0 if holds(get(scene)) else 1.0

    def judge(scene: Any) -> CheckResult:
        found = get(scene)
        if holds(found):
            return CheckResult(True, 0.0, passing, found)
        return CheckResult(False, 1.0, failing, found)

    return Node(gap, judge, at_path(path))

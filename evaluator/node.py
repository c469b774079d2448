"""A compiled check: what an operator turns its fields into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from evaluator.path import Resolver
from evaluator.result import CheckResult


class Node(NamedTuple):
    """Two functions of the scene; neither changes it.

    `gap` gives the distance alone, 0.0 exactly when the check passes; `judge` gives a result whose `why`
    can be asked for. An operator that scans elements or branches asks for gaps and judges only what decides.
    """

    gap: Callable[[Any], float]
    judge: Callable[[Any], CheckResult]


Explain = str | Callable[[Any], str]


def atom(get: Resolver, holds: Callable[[Any], bool], passing: Explain, failing: Explain) -> Node:
    """A check that holds or not of the value `get` finds: gap 0 or 1.

    `passing` and `failing` are the texts of `why`, or functions from the value found to them.
    """

    def gap(scene: Any) -> float:
        return 0.0 if holds(get(scene)) else 1.0

    def judge(scene: Any) -> CheckResult:
        found = get(scene)
        if holds(found):
            return CheckResult(True, 0.0, passing, found)
        return CheckResult(False, 1.0, failing, found)

    return Node(gap, judge)

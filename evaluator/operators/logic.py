"""Logic over sub-checks (`and`, `or`, `not`)."""

from __future__ import annotations

from math import inf
from typing import Any

from evaluator.fields import Fields
from evaluator.node import Node
from evaluator.operators.three_valued import all_of, any_of, any_undecided, negation
from evaluator.path import Segment
from evaluator.result import CheckResult


def and_(fields: Fields) -> Node:
    """Every check of `of` passes (also when there is none). The gap is the sum of theirs."""
    branches = fields.nodes("of")
    gaps = [branch.gap for branch in branches]
    judges = [(branch.gap, branch.judge) for branch in branches]

    def gap(scene: Any) -> float:
        total = 0.0
        for gap_of in gaps:
            total += gap_of(scene)
        return total

    def judge(scene: Any) -> CheckResult:
        total, first = 0.0, None
        for gap_of, judge_of in judges:
            distance_left = gap_of(scene)
            if distance_left != 0.0 and first is None:
                first = judge_of(scene)
            total += distance_left
        if first is None:
            return CheckResult(True, 0.0, "all sub-checks pass")
        first.gap = total
        return first

    def locate(scene: Any, held: bool) -> tuple[Segment, ...] | None:
        """The first failing branch's place; of a pass, the first branch's."""
        for branch in branches:
            if held or branch.gap(scene) != 0.0:
                return branch.locate(scene, held)
        return None

    core = Node(gap, judge, locate)
    return all_of(branches, core) if any_undecided(branches) else core


def or_(fields: Fields) -> Node:
    """Some check of `of` passes. The gap is the smallest of theirs, infinite when there is none."""
    branches = fields.nodes("of")
    gaps = [branch.gap for branch in branches]
    judges = [(branch.gap, branch.judge) for branch in branches]
    none = f"none of {len(branches)} branches satisfied"

    def gap(scene: Any) -> float:
        least = inf
        for gap_of in gaps:
            distance_left = gap_of(scene)
            if distance_left < least:
                if distance_left == 0.0:
                    return 0.0
                least = distance_left
        return least

    def judge(scene: Any) -> CheckResult:
        least = inf
        for gap_of, judge_of in judges:
            distance_left = gap_of(scene)
            if distance_left == 0.0:
                return judge_of(scene)
            if distance_left < least:
                least = distance_left
        return CheckResult(False, least, none)

    def locate(scene: Any, held: bool) -> tuple[Segment, ...] | None:
        """The place of the first of the nearest branches, which on a pass is the first that holds."""
        nearest = min(branches, key=lambda branch: branch.gap(scene), default=None)
        return nearest.locate(scene, held) if nearest is not None else None

    core = Node(gap, judge, locate)
    return any_of(branches, core) if any_undecided(branches) else core


def not_(fields: Fields) -> Node:
    """The check `of` fails. The gap is 0 or 1, whatever the inner gap."""
    inner = fields.node("of")
    gap_of, judge_of, locate_of, _ = inner

    def gap(scene: Any) -> float:
        return 0.0 if gap_of(scene) != 0.0 else 1.0

    def failing(inner: CheckResult) -> str:
        return f"negated condition held: {inner.why}"

    def judge(scene: Any) -> CheckResult:
        if gap_of(scene) != 0.0:
            return CheckResult(True, 0.0, "negated condition did not hold")
        return CheckResult(False, 1.0, failing, judge_of(scene))

    core = Node(gap, judge, lambda scene, held: locate_of(scene, not held))
    return negation(inner, core) if any_undecided([inner]) else core

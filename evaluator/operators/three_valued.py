"""Logic and collections where a part may be *not evaluated*: Kleene's three values.

Missing evidence never becomes a pass, whatever stands around it:

* `and` fails when a part fails; else it is not evaluated when a part is not. What fails says the gap.
* `or` passes when a part passes; else it is not evaluated when a part is not.
* `not` of what is not evaluated is not evaluated.
* `find` is an `or` over the elements. `count` knows a range, from the elements that pass to those that may:
  it passes when every number in the range keeps the bounds, fails when none does, and is not evaluated
  between.

What is not evaluated has gap 1 and does not pass. A soft failure is a failure, better than a hard one: an
`and` fails as its worst part does, softly when all that fails in it does; an `or` fails as its best part
does, softly when some part does. Checks without such parts are compiled without any of this (`logic.py`,
`collection.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import ceil, floor, inf
from typing import Any

from evaluator.node import Node
from evaluator.result import CheckResult
from evaluator.values import require_json

Decide = Callable[[Any], float | None]


def any_undecided(nodes: Iterable[Node]) -> bool:
    """Whether some node may be not evaluated."""
    return any(node.decide is not None for node in nodes)


def decision(node: Node) -> Decide:
    """The gap where the check is evaluated, None where it is not."""
    return node.decide or node.gap


def undecided_node(decide: Decide, judge: Callable[[Any], CheckResult], core: Node) -> Node:
    """The node of a check that may be not evaluated; it points where the two-valued one does."""

    def gap(scene: Any) -> float:
        decided = decide(scene)
        return 1.0 if decided is None else decided

    return Node(gap, judge, core.locate, decide)


def with_status(result: CheckResult, status: str | None = None, reason: str | None = None) -> CheckResult:
    """The result with its status in its meta; what has one already keeps it unless another is given."""
    if status is not None:
        result.meta = {"status": status} if reason is None else {"status": status, "reason": reason}
    elif result.meta is None:
        result.meta = {"status": "pass" if result.passed else "hard_fail"}
    return result


def status_of(result: CheckResult) -> str:
    """The status in a result's meta, or the one its verdict says."""
    with_status(result)
    return str(result.meta["status"])


def all_of(branches: Sequence[Node], core: Node) -> Node:
    """`and` over branches of which some may be not evaluated."""
    decides = [decision(branch) for branch in branches]

    def decide(scene: Any) -> float | None:
        total, undecided = 0.0, False
        for decide_one in decides:
            decided = decide_one(scene)
            if decided is None:
                undecided = True
            else:
                total += decided
        return None if undecided and total == 0.0 else total

    def judge(scene: Any) -> CheckResult:
        total, failing, undecided = 0.0, [], None
        for decide_one, branch in zip(decides, branches, strict=True):
            decided = decide_one(scene)
            if decided is None:
                undecided = undecided or branch
            elif decided != 0.0:
                failing.append(branch)
                total += decided
        if failing:
            results = [branch.judge(scene) for branch in failing]
            soft = all(status_of(result) == "soft_fail" for result in results)
            results[0].gap = total
            return with_status(results[0], "soft_fail" if soft else "hard_fail")
        if undecided:
            return undecided.judge(scene)
        return with_status(CheckResult(True, 0.0, "all sub-checks pass"))

    return undecided_node(decide, judge, core)


def any_of(branches: Sequence[Node], core: Node) -> Node:
    """`or` over branches of which some may be not evaluated."""
    decides = [decision(branch) for branch in branches]

    def decide(scene: Any) -> float | None:
        least, undecided = inf, False
        for decide_one in decides:
            decided = decide_one(scene)
            if decided is None:
                undecided = True
            elif decided == 0.0:
                return 0.0
            elif decided < least:
                least = decided
        return None if undecided else least

    def judge(scene: Any) -> CheckResult:
        undecided = None
        for decide_one, branch in zip(decides, branches, strict=True):
            decided = decide_one(scene)
            if decided == 0.0:
                return with_status(branch.judge(scene))
            if decided is None:
                undecided = undecided or branch
        if undecided:
            return undecided.judge(scene)
        return _failure_of_all(core.judge(scene), ((branch, scene) for branch in branches))

    return undecided_node(decide, judge, core)


def negation(inner: Node, core: Node) -> Node:
    """`not` of what may be not evaluated."""
    decide_inner = decision(inner)

    def decide(scene: Any) -> float | None:
        decided = decide_inner(scene)
        return None if decided is None else 0.0 if decided != 0.0 else 1.0

    def judge(scene: Any) -> CheckResult:
        result = core.judge if decide_inner(scene) is not None else inner.judge
        return with_status(result(scene))

    return undecided_node(decide, judge, core)


def some_of(path: str, get: Callable[[Any], Any], where: Node, core: Node) -> Node:
    """`find` whose `where` may be not evaluated."""
    decide_element = decision(where)

    def decide(scene: Any) -> float | None:
        elements = get(scene)
        if type(elements) is not list:
            require_json(elements, path)
            return 1.0
        least, undecided = inf, False
        for element in elements:
            decided = decide_element(element)
            if decided is None:
                undecided = True
            elif decided == 0.0:
                return 0.0
            elif decided < least:
                least = decided
        if undecided:
            return None
        return least if elements and least > 1.0 else 1.0

    def judge(scene: Any) -> CheckResult:
        decided = decide(scene)
        if decided is None:
            return _not_evaluated(path, get(scene), decide_element, where)
        result = core.judge(scene)
        elements = get(scene)
        if decided == 0.0 or type(elements) is not list:
            return with_status(result)
        return _failure_of_all(result, ((where, element) for element in elements))

    return undecided_node(decide, judge, core)


def _failure_of_all(result: CheckResult, parts: Iterable[tuple[Node, Any]]) -> CheckResult:
    """The failure of checks of which one would have done, each on its scene: soft when one failed softly."""
    soft = any(status_of(node.judge(scene)) == "soft_fail" for node, scene in parts)
    return with_status(result, "soft_fail" if soft else "hard_fail")


def counted(
    path: str,
    get: Callable[[Any], Any],
    where: Node,
    bounds: tuple[float | None, float | None, float | None],
    gap_to_bounds: Callable[[int], float],
    core: Node,
) -> Node:
    """`count` whose `where` may be not evaluated; `bounds` are `eq`, `gte` and `lte`."""
    decide_element = decision(where)
    given = [bound for bound in bounds if bound is not None]

    def decide(scene: Any) -> float | None:
        elements = get(scene)
        if type(elements) is not list:
            require_json(elements, path)
            return 1.0
        least = undecided = 0
        for element in elements:
            decided = decide_element(element)
            if decided is None:
                undecided += 1
            elif decided == 0.0:
                least += 1
        most = least + undecided
        if gap_to_bounds(least) == 0.0 == gap_to_bounds(most):
            return 0.0
        near = {whole for bound in given for whole in (floor(bound), ceil(bound)) if least < whole < most}
        nearest = min(map(gap_to_bounds, (least, most, *sorted(near))))
        return nearest if nearest else None

    def judge(scene: Any) -> CheckResult:
        decided = decide(scene)
        if decided is None:
            return _not_evaluated(path, get(scene), decide_element, where)
        result = with_status(core.judge(scene))
        result.passed, result.gap = decided == 0.0, decided
        return with_status(result, "pass" if result.passed else "hard_fail")

    return undecided_node(decide, judge, core)


def _not_evaluated(path: str, elements: list[Any], decide: Decide, where: Node) -> CheckResult:
    undecided = [(number, element) for number, element in enumerate(elements) if decide(element) is None]
    number, element = undecided[0]
    result = where.judge(element)
    reason = result.meta.get("reason")
    more = f" and {len(undecided) - 1} more" if len(undecided) > 1 else ""
    why = f"{path}: not evaluated: {reason}: [{number}]{more} ({result.why})"
    return with_status(CheckResult(False, 1.0, why), "not_evaluated", reason)

"""Order in a collection: what must come before what (`trace.before`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from evaluator.assertions.json_value import key_of
from evaluator.errors import CheckError, kind_of
from evaluator.fields import Fields
from evaluator.node import Node
from evaluator.operators.three_valued import decision, undecided_node, with_status
from evaluator.path import Index, Resolver, Segment, parse_path, resolver
from evaluator.result import CheckResult
from evaluator.values import MISSING, require_json

KeyOf = Callable[[Any], Hashable | None]


def before(fields: Fields) -> Node:
    """Every element that passes `then` has an earlier one that passes `first`.

    With `same`, a path or several, the two have equal values there; what is missing equals nothing. An
    element is not earlier than itself. No element that passes `then`: passes. The gap is the number of
    elements that pass `then` and have no such earlier one, 1 where there is no array.
    """
    path, get = fields.path("collection")
    first, then = fields.node("first"), fields.node("then")
    same = _paths(fields)
    key_at = _key(same)
    is_first, is_then = decision(first), decision(then)
    shared = f" with an equal {', '.join(text for text, _ in same)}" if same else ""

    def look(elements: list[Any]) -> tuple[list[int], list[int]]:
        """The numbers of the elements that have no earlier one, and of those of which that is not known."""
        lacking: list[int] = []
        open_: list[int] = []
        certain: set[Hashable] = set()
        possible: set[Hashable] = set()
        for number, element in enumerate(elements):
            follows = is_then(element)
            key: Hashable | None = None
            if follows is None or follows == 0.0:
                key = key_at(element)
                if key is None or key not in certain:
                    (open_ if follows is None or (key is not None and key in possible) else lacking).append(
                        number
                    )
            leads = is_first(element)
            if leads is None or leads == 0.0:
                key = key_at(element) if key is None else key
                if key is not None:
                    (possible if leads is None else certain).add(key)
        return lacking, open_

    def elements_of(scene: Any) -> list[Any] | None:
        elements = get(scene)
        if type(elements) is list:
            return elements
        require_json(elements, path)
        return None

    def decide(scene: Any) -> float | None:
        elements = elements_of(scene)
        if elements is None:
            return 1.0
        lacking, open_ = look(elements)
        return float(len(lacking)) if lacking or not open_ else None

    def gap(scene: Any) -> float:
        elements = elements_of(scene)
        return 1.0 if elements is None else float(len(look(elements)[0]))

    def judge(scene: Any) -> CheckResult:
        elements = elements_of(scene)
        if elements is None:
            return CheckResult(False, 1.0, f"{path}: not an array")
        lacking, open_ = look(elements)
        if lacking:
            more = f" (and {len(lacking) - 1} more)" if len(lacking) > 1 else ""
            why = (
                f"{path}[{lacking[0]}]: expected an earlier element that passes first{shared}, got none{more}"
            )
            return CheckResult(False, float(len(lacking)), why)
        if open_:
            result = CheckResult(False, 1.0, f"{path}: not evaluated: missing_evidence: [{open_[0]}]")
            return with_status(result, "not_evaluated", "missing_evidence")
        return CheckResult(True, 0.0, f"{path}: every element that passes then has an earlier first{shared}")

    def locate(scene: Any, held: bool) -> tuple[Segment, ...]:
        elements = elements_of(scene)
        if held or elements is None:
            return parse_path(path)
        lacking, _ = look(elements)
        return (*parse_path(path), *(Index(str(number)) for number in lacking[:1]))

    core = Node(gap, judge, locate)
    if first.decide is None and then.decide is None:
        return core
    return undecided_node(decide, lambda scene: with_status(judge(scene)), core)


def _paths(fields: Fields) -> list[tuple[str, Resolver]]:
    """The paths of `same`, as written and compiled; none when it is not there."""
    if "same" not in fields:
        return []
    given = fields.value("same")
    if type(given) is str:
        return [fields.path("same")]
    if type(given) is not list or not given or not all(type(path) is str for path in given):
        raise fields.refusal("same", f"expected a path, or an array of at least one, got {kind_of(given)}")
    compiled = []
    for index, path in enumerate(given):
        try:
            compiled.append((path, resolver(path)))
        except CheckError as error:
            raise CheckError(error.problem, f"{fields.place}.same[{index}]") from None
    return compiled


def _key(same: list[tuple[str, Resolver]]) -> KeyOf:
    """What an element has at the paths, as a key; None where something is missing."""

    def key(element: Any) -> Hashable | None:
        found = [get(element) for _, get in same]
        if any(value is MISSING for value in found):
            return None
        for value, (path, _) in zip(found, same, strict=True):
            require_json(value, path)
        return tuple(map(key_of, found))

    return key

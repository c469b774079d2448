"""Asserting a check in a test: the failure says why, how far off the scene is, and which part is to blame."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from evaluator.check import is_defined
from evaluator.compile import CompiledCheck, compile_check, run_check
from evaluator.explanation import explain
from evaluator.result import CheckResult
from evaluator.values import number_text, quoted

_MOST_PARTS: Final = 10
_MOST_LINES: Final = 40


class CheckAssertionError(AssertionError):
    """A scene does not pass a check; the text tells all of it.

    Attributes:
        result: the result, with its anchor.
        parts: the sub-checks that are to blame, as plain JSON; of an `and` the failing ones, else the check.
    """

    def __init__(self, text: str, result: CheckResult, parts: tuple[dict[str, Any], ...]) -> None:
        super().__init__(text)
        self.result = result
        self.parts = parts


def assert_check(scene: object, check: object) -> None:
    """Do nothing when the scene passes the check; else raise `CheckAssertionError`, an `AssertionError`.

    Takes what `run_check` takes. Raises `CheckError` and `SceneError` as it does.

    >>> cheap = {"op": "lte", "path": "total", "value": 500}
    >>> assert_check({"total": 540, "id": 7}, {"op": "and", "of": [{"op": "exists", "path": "id"}, cheap]})
    Traceback (most recent call last):
    evaluator.assertion.CheckAssertionError: the check fails: total: expected ≤ 500, got 540 (over by 40)
    gap: 40
    place: total
    part to blame:
      FAIL total is at most 500: found 540 (gap 40)
    """
    __tracebackhide__ = True
    compiled = compile_check(check)
    result = run_check(scene, compiled, anchors=True)
    if not result.passed:
        parts = failing_parts(compiled, scene)
        raise CheckAssertionError(_text(compiled, scene, result, parts), result, parts)


def failing_parts(check: CompiledCheck, scene: object) -> tuple[dict[str, Any], ...]:
    """The sub-checks to blame for a failure: through `and`s, those that fail; in the order of the check."""
    wire = check.check
    pending = [wire["expr"] if is_defined(wire) else wire]
    parts = []
    while pending:
        part = pending.pop()
        if part["op"] == "and":
            failing = [branch for branch in part["of"] if compile_check(branch).gap(scene) != 0.0]
            pending.extend(reversed(failing))
        else:
            parts.append(part)
    return tuple(parts)


def _text(check: CompiledCheck, scene: object, result: CheckResult, parts: tuple[dict[str, Any], ...]) -> str:
    name = f"the check {quoted(check.check['id'])}" if is_defined(check.check) else "the check"
    lines = [f"{name} fails: {result.why}", f"gap: {number_text(result.gap)}"]
    if result.anchor is not None:
        lines.append(f"place: {', '.join(result.anchor.values())}")
    lines.append("part to blame:" if len(parts) == 1 else f"{len(parts)} parts to blame:")
    told = [line for part in islice(parts, _MOST_PARTS) for line in explain(part, scene).split("\n")]
    lines += [f"  {line}" for line in told[:_MOST_LINES]]
    if len(told) > _MOST_LINES or len(parts) > _MOST_PARTS:
        lines.append("  ...")
    return "\n".join(lines)

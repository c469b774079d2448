"""Vacuity: whether a scene passes a check only because nothing happened that the check speaks of.

"Every refund follows a look-up" holds in a run without refunds, which bears nothing out. That is vacuous
satisfaction (Beer, Ben-David, Eisner and Rodeh 1997), here judged by what a rule is about:

* ``trace.before``: there is no element that satisfies ``then``;
* a rule about the calls of a tool, or all calls: there is no such call;
* a rule about records of the world: none is selected;
* ``not`` of ``find``, or a ``count`` of none: no element meets the tests of ``name`` in its ``where``, if it
  has others beside them; else there is no element at all;
* a ``count`` of at most one, or more: nothing is counted;
* ``and``: all its parts are; ``or``: all the parts that pass are.

What asks for something to be there is never vacuous.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluator import compile_check, resolve
from evaluator.assertions.view import TraceView, view_of
from induce.parts import EVERY, Check

JSON = Any
_OPPOSITE = {"and": "or", "or": "and"}
_OF_A_TOOL = ("behaviour.tool_cardinality", "behaviour.tool_arg_satisfies", "trace.grounded")
_OF_CALLS = ("trace.distinct", "behaviour.no_tool_cycles", "behaviour.max_tool_failure_streak")
_OF_RECORDS = ("effect.world_unique", "effect.world_idempotent", "effect.world_sum", "effect.world_matches")


def vacuous_share(check: Check, scenes: Sequence[JSON]) -> float:
    """Share of the scenes that pass for which that is vacuous; 0 where none passes.

    `check` is a bare expression.
    """
    compiled = compile_check(check)
    passing = [scene for scene in scenes if compiled.passes(scene)]
    return sum(vacuous(check, scene) for scene in passing) / len(passing) if passing else 0.0


def vacuous(check: Check, scene: JSON) -> bool:
    """Whether a scene that passes a bare expression does so because nothing happened that it speaks of."""
    return _vacuous(check, True, scene)


def _vacuous(check: Check, affirmed: bool, scene: JSON) -> bool:
    op = check["op"]
    if op == "not":
        return _vacuous(check["of"], not affirmed, scene)
    if op in ("and", "or"):
        parts = check["of"]
        if (op if affirmed else _OPPOSITE[op]) == "or":
            parts = [part for part in parts if _holds(part, affirmed, scene)]
        return bool(parts) and all(_vacuous(part, affirmed, scene) for part in parts)
    if op == "find":
        return not affirmed and not _spoken_of(check, scene)
    if op == "count":
        return _vacuous_count(check, affirmed, scene)
    return affirmed and "." in op and _nothing_to_judge(check, view_of(scene))


def _holds(check: Check, affirmed: bool, scene: JSON) -> bool:
    wanted = check if affirmed else {"op": "not", "of": check}
    return compile_check(wanted).passes(scene)


def _vacuous_count(check: Check, affirmed: bool, scene: JSON) -> bool:
    least = check["eq"] if "eq" in check else check.get("gte", 0)
    if affirmed is (least >= 1):  # something must be there
        return False
    most = check.get("lte", 0) if affirmed else least - 1
    if most < 1:
        return not _spoken_of(check, scene)
    passes = compile_check(check.get("where", EVERY)).passes
    return not any(map(passes, _elements(check, scene)))


def _spoken_of(check: Check, scene: JSON) -> bool:
    """Whether there is an element that a find or count speaks of: one it could have matched."""
    where = check.get("where", EVERY)
    parts = where["of"] if where["op"] == "and" else [where]
    names = [part for part in parts if _tests_name(part)]
    elements = _elements(check, scene)
    if not names or len(names) == len(parts):
        return bool(elements)
    passes = compile_check({"op": "and", "of": names}).passes
    return any(map(passes, elements))


def _tests_name(check: Check) -> bool:
    if check["op"] in ("or", "and", "not"):
        parts = check["of"] if check["op"] != "not" else [check["of"]]
        return bool(parts) and all(map(_tests_name, parts))
    return check.get("path") == "name"


def _elements(check: Check, scene: JSON) -> list[JSON]:
    found = resolve(scene, check["collection"])
    return found if type(found) is list else []


def _nothing_to_judge(check: Check, view: TraceView) -> bool:
    """Whether an operator over traces or worlds, which passes, had nothing to judge."""
    op = check["op"]
    if op == "trace.before":
        then = compile_check(check["then"])
        return not any(map(then.passes, _elements(check, view.scene)))
    if op in _OF_A_TOOL or (op in _OF_CALLS and "tool" in check):
        return check["tool"] not in view.calls_by_name
    if op in _OF_CALLS:
        return not view.calls
    if op == "trace.no_duplicate_tools":
        return not view.steps
    if op in _OF_RECORDS:
        world = check.get("snapshot", view.world)
        wanted = [
            {"op": "eq", "path": name, "value": value} for name, value in check.get("where", {}).items()
        ]
        selects = compile_check({"op": "and", "of": wanted}).passes
        return not any(map(selects, world[check["resource"]]))
    return False

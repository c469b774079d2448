"""Repetition: no call twice with the same arguments."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from evaluator.assertions.arguments import Text
from evaluator.assertions.json_value import key_of
from evaluator.assertions.judgement import Judge, Judgement, MissingEvidenceError, SpecError, failed, passed
from evaluator.assertions.view import TraceView
from evaluator.errors import CheckError
from evaluator.path import Path, Resolver, resolver
from evaluator.values import MISSING


def distinct(*, tool: Text | None = None, collection: Path | None = None) -> Judge:
    """No tool is called twice with equal arguments; with `tool`, only its calls are looked at.

    The calls are the `tool_call` steps of the root trace, or of the array at the path `collection` of the
    scene (elements that say no type are calls too). Calls without arguments are equal to each other, and not
    to calls with null. The gap is the number of calls beyond the first of each.
    """
    get = None if collection is None else _resolver(collection)
    what = "calls" if collection is None else collection
    whose = f" of {tool}" if tool else ""

    def judge(view: TraceView) -> Judgement:
        seen: dict[tuple[str, Hashable], int] = {}
        surplus, first = 0, ""
        for number, (name, step) in enumerate(_calls(view, get, what), 1):
            if tool is not None and name != tool:
                continue
            key = name, key_of(step["args"]) if "args" in step else MISSING
            earlier = seen.setdefault(key, number)
            if earlier != number:
                surplus += 1
                first = first or f"{name} (call {number}) repeats call {earlier}"
        if not surplus:
            return passed(f"{what}: every call{whose} has arguments of its own")
        more = f" (and {surplus - 1} more)" if surplus > 1 else ""
        return failed(surplus, f"{what}: expected no call{whose} twice, {first}{more}")

    return judge


def _calls(view: TraceView, get: Resolver | None, what: str) -> list[tuple[str, dict[str, Any]]]:
    if get is None:
        return [(call.name, call.step) for call in view.calls]
    elements = get(view.scene)
    if type(elements) is not list:
        raise MissingEvidenceError(what)
    steps = [step for step in elements if type(step) is dict and step.get("type", "tool_call") == "tool_call"]
    return [(name if type(name := step.get("name")) is str else "", step) for step in steps]


def _resolver(path: str) -> Resolver:
    try:
        return resolver(path)
    except CheckError as error:
        raise SpecError(f"collection: {error.problem}", "collection") from None

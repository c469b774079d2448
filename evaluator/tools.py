"""Checks as tools of an agent: three functions from a wire dict to a wire dict, and what to tell the agent.

`check_scene` gives the whole result, `gap` the distance alone (the cheapest: no text is built), `diagnose`
the verdict and, on a failure, why. A call never raises for what an agent can get wrong: it answers
`{"error": sentence, "fault": "check" | "scene" | "arguments", "place"?}`. Answers are plain JSON, so an
infinite gap is the text "Infinity".

>>> gap({"check": {"op": "lte", "path": "total", "value": 500}, "scene": {"total": 540}})
{'gap': 40.0}
>>> gap({"check": {"op": "ltee", "path": "total", "value": 500}, "scene": {}})["error"]
'$.op: unknown operator "ltee"; did you mean "lte"?'
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any, Final, NamedTuple

from evaluator.compile import remembered, run_check
from evaluator.errors import CheckError, SceneError, kind_of, nearest
from evaluator.json_write import json_text
from evaluator.result import CheckResult
from evaluator.values import MISSING, compact, number_text, quoted

SHORTEST_CAP: Final = 100
"""The least `max_chars`: what a verdict, a gap and some words of text need."""

_TEXTS = ("why", "diagnostic", "error")
_FEWEST_CHARACTERS_OF_TEXT = 24
_ELLIPSIS = "..."


def check_scene(args: dict[str, Any]) -> dict[str, Any]:
    """Evaluate a check: `{"pass", "gap", "why"}`, with `meta` where the check carries some.

    Parameters:
        args: `{"check", "scene"?, "anchors"?, "max_chars"?}`. Without `scene` nothing is there at any path,
            not even at the empty one (`null` is a scene). `anchors` asks for the place of a failure.
            `max_chars` is the most characters the answer may have as JSON text: first `meta` is left out,
            then the text is cut and ends in "..."; either way `"truncated": true` is added.
    """
    return _answer(args, lambda call: _wire(call.result()))


def gap(args: dict[str, Any]) -> dict[str, Any]:
    """The distance to passing alone, `{"gap"}`: 0 exactly when the check passes.

    Takes what `check_scene` takes.
    """
    return _answer(args, lambda call: {"gap": _wire_number(remembered(call.check).gap(call.scene))})


def diagnose(args: dict[str, Any]) -> dict[str, Any]:
    """The verdict: `{"pass": true}`, or `{"pass": false, "diagnostic"}` with the reason as its diagnostic.

    Takes what `check_scene` takes; with `anchors` a failure also says where it is.
    """
    return _answer(args, _diagnosis)


HANDLERS: Final[dict[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "check_scene": check_scene,
    "gap": gap,
    "diagnose": diagnose,
}
"""The functions by the names the descriptors give them."""


class _Call(NamedTuple):
    """The arguments of one call, judged."""

    check: Any
    scene: Any
    anchors: bool

    def result(self) -> CheckResult:
        return (
            run_check(self.scene, self.check, anchors=True)
            if self.anchors
            else run_check(self.scene, self.check)
        )


class _ArgumentsError(ValueError):
    """The arguments are not usable; the message is for the agent."""


def _answer(args: Any, evaluate: Callable[[_Call], dict[str, Any]]) -> dict[str, Any]:
    cap: int | None = None
    try:
        cap = _cap(args)
        answer = evaluate(_call(args))
    except (CheckError, SceneError) as error:
        fault = "check" if isinstance(error, CheckError) else "scene"
        answer = {"error": str(error), "fault": fault}
        if error.place:
            answer["place"] = error.place
    except _ArgumentsError as error:
        answer = {"error": str(error), "fault": "arguments"}
    except RecursionError:
        answer = {
            "error": "the check is nested too deeply for what is left of the call stack",
            "fault": "check",
        }
    return answer if cap is None else _capped(answer, cap)


def _cap(args: Any) -> int | None:
    if type(args) is not dict:
        raise _ArgumentsError(f'the arguments are an object with "check" and "scene", got {kind_of(args)}')
    cap = args.get("max_chars")
    if cap is None:
        return None
    if type(cap) is float and cap.is_integer():
        cap = int(cap)
    if type(cap) is not int or cap < SHORTEST_CAP:
        shown = compact(cap) if type(cap) in (int, float) else kind_of(cap)
        raise _ArgumentsError(f'"max_chars" is a whole number of at least {SHORTEST_CAP}, got {shown}')
    return cap


def _call(args: dict[str, Any]) -> _Call:
    for name in args:
        if name not in _PROPERTIES:
            meant = nearest(name, _PROPERTIES) if type(name) is str else None
            advice = f'did you mean "{meant}"?' if meant else f"the arguments are {', '.join(_PROPERTIES)}"
            raise _ArgumentsError(f"unknown argument {compact(name)}; {advice}")
    if "check" not in args:
        raise _ArgumentsError(
            'the argument "check" is missing: the check to evaluate, an object with an "op"'
        )
    anchors = args.get("anchors", False)
    if type(anchors) is not bool:
        raise _ArgumentsError(f'"anchors" is true or false, got {kind_of(anchors)}')
    return _Call(args["check"], args.get("scene", MISSING), anchors)


def _wire(result: CheckResult) -> dict[str, Any]:
    wire = result.to_dict()
    wire["gap"] = _wire_number(result.gap)
    return wire


def _wire_number(number: float) -> float | str:
    return number if isfinite(number) else number_text(number)


def _diagnosis(call: _Call) -> dict[str, Any]:
    result = call.result()
    if result.passed:
        return {"pass": True}
    wire = {"pass": False, "diagnostic": result.why}
    anchor = result.to_dict().get("anchor")
    return wire if anchor is None else wire | {"anchor": anchor}


# Answers of limited length


def _capped(answer: dict[str, Any], cap: int) -> dict[str, Any]:
    """The answer, or what of it fits into `cap` characters of JSON: the verdict and the gap always do."""
    if len(json_text(answer)) <= cap:
        return answer
    answer = {name: part for name, part in answer.items() if name not in ("meta", "place")}
    answer["truncated"] = True
    name = next(name for name in _TEXTS if name in answer)
    text = answer[name]
    room = cap - len(json_text(answer | {name: ""}))
    if room < _FEWEST_CHARACTERS_OF_TEXT and answer.pop("anchor", None) is not None:
        room = cap - len(json_text(answer | {name: ""}))
    if _escaped_length(text) > room:
        answer[name] = _cut(text, room - len(_ELLIPSIS)) + _ELLIPSIS
    return answer


def _cut(text: str, room: int) -> str:
    """The longest beginning that takes at most `room` characters inside a JSON string, or nearly so."""
    text = text[:room]
    while (over := _escaped_length(text) - room) > 0:
        text = text[: -max(1, over // 6)]  # a character is escaped as six at most
    return text


def _escaped_length(text: str) -> int:
    return len(quoted(text)) - 2


# What an agent is told

_CHECK = """\
The check, a predicate over the scene, as JSON with an "op":
{"op":"eq"|"neq","path","value"}: deep equality; true is not 1, null is not missing.
{"op":"gte"|"lte"|"gt"|"lt","path","value"}: a number at or above, at or below, above, below the value.
In these, "value_path" in place of "value" compares with another path of the same scene.
{"op":"contains","path","substring","ci"?}: text holds the substring; ci ignores case.
{"op":"matches","path","pattern"}: text in which the regular expression (RE2) is found.
{"op":"exists"|"missing","path"}: something, or nothing, is there.
{"op":"find","collection","where"}: some element of the array passes the check `where`.
{"op":"count","collection","where"?,"eq"?,"gte"?,"lte"?}: how many elements (pass `where`) keeps the bounds.
{"op":"and"|"or","of":[checks]} and {"op":"not","of":check}.
Paths: a.b, a["key with . or ["], a[0], a[id=7], a[tags has X]; inside `where` they start at the element, and
"" is the element itself.
May be named: {"id","expr":check,"meta"?}."""

_PROPERTIES: Final[dict[str, Any]] = {
    "check": {"type": "object", "description": _CHECK},
    "scene": {
        "description": "The scene to evaluate it on: any JSON value. Left out, nothing is there.",
    },
    "anchors": {"type": "boolean", "description": "Say where in the scene a failure is. Default false."},
    "max_chars": {
        "type": "integer",
        "minimum": SHORTEST_CAP,
        "description": "The most characters the answer may have; a longer one is cut and marked truncated.",
    },
}

_DESCRIPTIONS: Final = {
    "check_scene": (
        "Evaluate a check on a scene. Answers pass, gap (distance to passing, 0 exactly when it passes; may "
        'be "Infinity") and why, one sentence. A malformed check answers {"error"}, with its place and what '
        "to change."
    ),
    "gap": (
        "How far a scene is from passing a check, as one number: 0 exactly when it passes. The cheapest of "
        "the three: use it to compare many scenes or to see whether an action brought the scene nearer."
    ),
    "diagnose": (
        "Why a scene fails a check: pass, and on a failure a diagnostic that names what was observed and "
        "what was wanted. Use it after a failure to decide what to change."
    ),
}


def _schema() -> dict[str, Any]:
    properties = {name: dict(schema) for name, schema in _PROPERTIES.items()}
    return {"type": "object", "properties": properties, "required": ["check"], "additionalProperties": False}


TOOL_DESCRIPTORS: Final[dict[str, list[dict[str, Any]]]] = {
    "anthropic": [
        {"name": name, "description": description, "input_schema": _schema()}
        for name, description in _DESCRIPTIONS.items()
    ],
    "openai": [
        {"type": "function", "function": {"name": name, "description": description, "parameters": _schema()}}
        for name, description in _DESCRIPTIONS.items()
    ],
}
"""The three tools as a model is told of them: `anthropic` (Messages) and `openai` (function tools)."""

"""Whether a JSON value is a trace: its fields, and the limits beyond which an engine refuses it whole."""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

from evaluator.errors import SceneError, kind_of, nearest
from evaluator.json_write import json_text
from evaluator.place import Place, below, place_text
from evaluator.scene import validate_scene
from evaluator.values import compact

STEP_TYPES: Final = ("llm_call", "tool_call", "retrieval", "agent_call")
NEWEST_VERSION: Final = 2
"""Version 2 adds `status` and `error` to steps: evidence whether a call failed."""
LARGEST_TRACE: Final = 10 * 2**20
LARGEST_STEP: Final = 2**20
MOST_STEPS: Final = 10_000
DEEPEST_TRACE: Final = 4

_TEXTS: Final = ("agent_id", "agent_role")
_TIMES: Final = ("started_at_ms", "ended_at_ms")
_METRICS: Final = {"total_tokens": True, "cost_usd": False, "latency_ms": True}  # whether a whole number
_METADATA_TEXTS: Final = ("model", "timestamp")


def validate_trace(trace: object) -> None:
    """Raise `SceneError` unless a value is a trace, with all traces it delegates to.

    Looked at are the fields of the trace format (`trace_json_schema` describes them; keys it does not know
    are free), that trace ids are unique in the tree and `parent_trace_id` names the parent, that an
    `agent_call` has its `sub_trace` (on other steps it is ignored), and the limits: 10 MiB of JSON, 10,000
    steps a trace, 1 MiB a step (without its sub-trace), sub-traces at most 4 below the root. JSON is counted
    as UTF-8 without spaces.

    The error's `place` is the JSON path of the first fault, `$.steps[3].name`.
    """
    validate_scene(trace)
    if _size(trace) > LARGEST_TRACE:
        raise SceneError(f"a trace is at most 10 MiB of JSON, this is {_size(trace):,} bytes", "$")
    pending: list[tuple[Any, Place | None, str | None, int]] = [(trace, None, None, 0)]
    seen: dict[str, str] = {}
    while pending:
        value, place, parent, depth = pending.pop()
        if depth > DEEPEST_TRACE:
            problem = (
                f"sub-traces stand at most {DEEPEST_TRACE} below the root, this one stands {depth} below"
            )
            raise SceneError(problem, place_text(place))
        subs = _judge(value, place, parent, seen)
        pending.extend((sub, where, value["trace_id"].strip(), depth + 1) for sub, where in reversed(subs))


def _judge(
    trace: Any, place: Place | None, parent: str | None, seen: dict[str, str]
) -> list[tuple[Any, Place]]:
    """Judge one trace without its sub-traces, which are returned."""
    if type(trace) is not dict:
        _refuse("a trace, an object", trace, place)
    version = trace.get("schema_version", 1)
    if not _is_whole(version) or not 0 <= version <= NEWEST_VERSION:
        _refuse(f"a schema version from 0 to {NEWEST_VERSION}", version, below(place, "schema_version"))
    _judge_id(trace, place, parent, seen)
    if "agent_id" in trace and type(trace["agent_id"]) is not str:
        _refuse("a text", trace["agent_id"], below(place, "agent_id"))
    _judge_output(trace, place)
    _judge_metadata(trace.get("metadata", {}), below(place, "metadata"))
    steps = trace.get("steps", [])
    where = below(place, "steps")
    if type(steps) is not list:
        _refuse("an array of steps", steps, where)
    if len(steps) > MOST_STEPS:
        raise SceneError(f"a trace has at most {MOST_STEPS:,} steps, got {len(steps):,}", place_text(where))
    subs = []
    for index, step in enumerate(steps):
        at = below(where, index)
        _judge_step(step, at)
        if step["type"] == "agent_call":
            subs.append((step["sub_trace"], below(at, "sub_trace")))
    return subs


def _judge_id(trace: dict[str, Any], place: Place | None, parent: str | None, seen: dict[str, str]) -> None:
    where = below(place, "trace_id")
    if "trace_id" not in trace:
        _missing(trace, "trace_id", "a text that names this run", place)
    name = trace["trace_id"]
    if type(name) is not str or not name.strip():
        _refuse("a text that is not blank", name, where)
    if name.strip() in seen:
        problem = f"trace ids are unique in a tree, {compact(name.strip())} is also at {seen[name.strip()]}"
        raise SceneError(problem, place_text(where))
    seen[name.strip()] = place_text(where)
    said = trace.get("parent_trace_id")
    where = below(place, "parent_trace_id")
    if said is not None and type(said) is not str:
        _refuse("a text or null", said, where)
    if said is not None and parent is not None and said.strip() != parent:
        problem = f"expected the id of the trace above, {compact(parent)}, got {compact(said)}"
        raise SceneError(problem, place_text(where))


def _judge_output(trace: dict[str, Any], place: Place | None) -> None:
    if "output" not in trace:
        _missing(trace, "output", 'an object, such as {"message": "Done."}', place)
    output = trace["output"]
    where = below(place, "output")
    if type(output) is not dict:
        _refuse('an object, such as {"message": "Done."}', output, where)
    if not output:
        raise SceneError('expected an object with at least one key, such as "message", got {}', str(where))


def _judge_metadata(metadata: Any, place: Place) -> None:
    if type(metadata) is not dict:
        _refuse("an object", metadata, place)
    for name, whole in _METRICS.items():
        value = metadata.get(name)
        if value is not None and not (_is_whole(value) if whole else type(value) in (int, float)):
            _refuse("a whole number" if whole else "a number", value, below(place, name))
    for name in _METADATA_TEXTS:
        if metadata.get(name) is not None and type(metadata[name]) is not str:
            _refuse("a text", metadata[name], below(place, name))


def _judge_step(step: Any, place: Place) -> None:
    if type(step) is not dict:
        _refuse("a step, an object", step, place)
    for name, what in (("type", f"one of {', '.join(STEP_TYPES)}"), ("name", "a text that is not blank")):
        if name not in step:
            _missing(step, name, what, place)
    if step["type"] not in STEP_TYPES:
        meant = nearest(step["type"], STEP_TYPES) if type(step["type"]) is str else None
        hint = f'; is "{meant}" meant?' if meant else ""
        problem = f"expected one of {', '.join(STEP_TYPES)}, got {compact(step['type'])}{hint}"
        raise SceneError(problem, f"{place}.type")
    if type(step["name"]) is not str or not step["name"].strip():
        _refuse("a text that is not blank", step["name"], below(place, "name"))
    for name in _TEXTS:
        if name in step and type(step[name]) is not str:
            _refuse("a text", step[name], below(place, name))
    for name in _TIMES:
        if name in step and not _is_whole(step[name]):
            _refuse("a whole number of milliseconds", step[name], below(place, name))
    if step["type"] == "agent_call" and "sub_trace" not in step:
        _missing(step, "sub_trace", "the trace of the run that was delegated", place)
    own = step
    if "sub_trace" in step:
        own = {name: value for name, value in step.items() if name != "sub_trace"}
    if _size(own) > LARGEST_STEP:
        raise SceneError(f"a step is at most 1 MiB of JSON, this is {_size(own):,} bytes", str(place))


def _is_whole(value: Any) -> bool:
    return type(value) is int or (type(value) is float and value.is_integer())


def _size(value: Any) -> int:
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), check_circular=False)
    except (RecursionError, ValueError):  # nested too deeply, or with an integer of too many digits
        text = json_text(value, compact=True)
    return len(text.encode("utf-8", "surrogatepass"))


def _refuse(expected: str, value: Any, place: Place | None) -> NoReturn:
    shown = "" if value is None else f" {compact(value)}"
    raise SceneError(f"expected {expected}, got {kind_of(value)}{shown}", place_text(place))


def _missing(fields: dict[str, Any], name: str, what: str, place: Place | None) -> NoReturn:
    meant = nearest(name, fields)
    hint = f'; is "{meant}" a misspelling of it?' if meant else ""
    raise SceneError(f'no "{name}"; expected {what}{hint}', place_text(place))

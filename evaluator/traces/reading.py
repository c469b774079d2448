"""Recorded runs of any known form as scenes, `{"id", "scene": {"trace": …}}`, ready to be labelled."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Final, Literal, get_args

from evaluator.errors import SceneError, kind_of
from evaluator.json_write import json_text
from evaluator.traces.conversation import read_conversation
from evaluator.traces.messages import is_item
from evaluator.traces.mlflow_traces import is_mlflow, mlflow_traces
from evaluator.traces.notes import Notes, OnWarning
from evaluator.traces.otlp import is_otlp, otlp_traces
from evaluator.traces.records import Placed, read_records, spread
from evaluator.traces.validation import validate_trace

Form = Literal["otlp", "openai", "anthropic", "mlflow", "trace"]
FORMS: Final[tuple[Form, ...]] = get_args(Form)

_KEPT: Final = ("label", "labels", "weight")
_CONVERSATIONS: Final = ("messages", "choices", "input", "output")


def read_trace_scenes(
    path: str | os.PathLike[str],
    form: Form | None = None,
    *,
    model_calls: bool = True,
    on_warning: OnWarning | None = None,
) -> list[dict[str, Any]]:
    """The recorded runs in a file, each as `{"id", "label"?, "scene": {"trace": …, "world"?: …}}`.

    The id is that of the record, or else of the trace; one that comes again gets `~2`. A record's `label`,
    `labels`, `weight` and `world` are kept.

    Parameters:
        path: JSON, an array, or JSON Lines; `-` is standard input; `.gz` and `.zst` are unpacked.
        form: by default told by the keys of the first value. "trace" is for traces that are traces already.
        model_calls: whether calls of models are steps, or only those of tools, look-ups and agents.
        on_warning: is told what was odd; by default a `TraceImportWarning` is issued for each.

    Raises:
        SceneError: the file cannot be read, or is not of the form; names the file, line and JSON path.
    """
    notes = Notes(on_warning)
    records = read_records(path)
    form = form or _form_of(records)
    scenes = list(_scenes(records, form, notes))
    if not scenes:
        raise SceneError("no run of an agent in it", records[0][1])
    taken: set[str] = set()
    for scene in scenes:
        wanted = name = scene["id"]
        turn = 1
        while name in taken:
            turn += 1
            name = f"{wanted}~{turn}"
        if turn > 1:
            notes(wanted, f"several runs have this id; this one is {name}")
        taken.add(name)
        scene["id"] = name
        trace = scene["scene"]["trace"]
        if not model_calls:
            _drop_model_calls(trace)
        try:
            validate_trace(trace)
        except SceneError as error:
            if form == "trace":
                raise
            notes(name, f"beyond what an engine accepts: {error}")
    return scenes


def form_of(value: object) -> Form | None:
    """Which form a value has, as far as its keys tell; None when it looks like none of them."""
    if type(value) is not dict:
        return None
    if trace_in(value) is not None:
        return "trace"
    if is_mlflow(value):
        return "mlflow"
    if is_otlp(value):
        return "otlp"
    if _is_message(value) or any(type(value.get(key)) is list for key in _CONVERSATIONS):
        return "anthropic" if _is_anthropic(value) else "openai"
    return None


def trace_in(value: object) -> dict[str, Any] | None:
    """The trace that a value is, or holds under "trace" or within "scene"; None when there is none."""
    for _ in range(3):
        if type(value) is not dict:
            return None
        if type(value.get("steps")) is list and ("trace_id" in value or "output" in value):
            return value
        value = value.get("scene", value.get("trace"))
    return None


def _form_of(records: list[Placed]) -> Form:
    """Which form the values have, told by the first that has a known one; raises `SceneError`."""
    for value, place in spread(records):
        if type(value) is dict and _is_scene_otel(value):
            advice = "evaluator replay and induce learn read it as it is"
            raise SceneError(f"a scene-otel trace, which holds states of a world; {advice}", place)
        form = form_of(value)
        if form == "openai" and any(_is_anthropic(record) for record, _ in records):
            return "anthropic"
        if form is not None:
            return form
    forms = "OTLP spans, chat messages, MLflow traces or traces"
    raise SceneError(
        f"cannot tell what this is; expected {forms}, or name the form with --from", records[0][1]
    )


def _scenes(records: list[Placed], form: Form, notes: Notes) -> Iterator[dict[str, Any]]:
    if form == "otlp" or form == "mlflow":
        read = otlp_traces if form == "otlp" else mlflow_traces
        for trace in read(records, notes):
            yield {"id": trace["trace_id"], "scene": {"trace": trace}}
    elif form == "trace":
        for value, place in spread(records):
            found = trace_in(value)
            if found is None:
                raise SceneError(f'expected a trace, an object with "steps", got {kind_of(value)}', place)
            try:
                validate_trace(found)
            except SceneError as error:
                raise SceneError(error.problem, place + error.place.removeprefix("$")) from None
            yield _scene({} if found is value else value, found)
    else:
        for value, place in _conversations(records):
            record = value if type(value) is dict else {}
            trace = read_conversation(
                value,
                notes,
                place,
                trace_id=_name(record),
                silence_is_success=form == "anthropic",
            )
            yield _scene(record, trace)


def _scene(record: dict[str, Any], trace: dict[str, Any]) -> dict[str, Any]:
    inner = record.get("scene")
    world = (inner if type(inner) is dict else record).get("world")
    return (
        {"id": _name(record) or trace["trace_id"]}
        | {key: record[key] for key in _KEPT if key in record}
        | {"scene": {"trace": trace} | ({} if world is None else {"world": world})}
    )


def _name(record: dict[str, Any]) -> str | None:
    name = record.get("id")
    if type(name) is str and name.strip():
        return name
    return json_text(name) if type(name) is int else None


def _conversations(records: list[Placed]) -> Iterator[Placed]:
    """The conversations: a file of messages is one, and so is an array of messages within a file."""
    if len(records) > 1 and all(_is_message(value) for value, _ in records):
        file = records[0][1].removesuffix(f":{records[0][1].rsplit(':', 2)[-2]}: $")
        yield [value for value, _ in records], f"{file}: $"
        return
    pending = list(reversed(records))
    while pending:
        value, place = pending.pop()
        if type(value) is list and not any(_is_message(member) for member in value):
            pending.extend((value[index], f"{place}[{index}]") for index in reversed(range(len(value))))
        else:
            yield value, place


def _is_message(value: Any) -> bool:
    if type(value) is not dict or any(key in value for key in ("messages", "choices")):
        return False
    return type(value.get("role")) is str or is_item(value)


def _is_anthropic(record: Any) -> bool:
    """Whether a value holds one of Anthropic's content blocks, or instructions beside the messages."""
    pending = [record]
    while pending:
        value = pending.pop()
        if type(value) is list:
            pending.extend(value)
        elif type(value) is dict:
            kind = value.get("type")
            if type(kind) is str and kind.endswith(("tool_use", "tool_result")):
                return True
            if "messages" in value and "system" in value:
                return True
            pending.extend(value[key] for key in ("messages", "content") if key in value)
    return False


def _is_scene_otel(value: dict[str, Any]) -> bool:
    events = value.get("events")
    return type(events) is list and any(
        type(event) is dict and event.get("name") == "scene.set" for event in events
    )


def _drop_model_calls(trace: dict[str, Any]) -> None:
    pending = [trace]
    while pending:
        part = pending.pop()
        part["steps"] = [step for step in part["steps"] if step["type"] != "llm_call"]
        pending.extend(step["sub_trace"] for step in part["steps"] if "sub_trace" in step)

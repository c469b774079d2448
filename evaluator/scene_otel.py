"""Reading scene-otel traces: what an agent's world looked like at each commit, and the calls between.

One line is one span of OpenTelemetry as JSON. An event named `scene.set` writes one key of the scene, as
`actual` (the state of the world) or `intent` (a tool call, no part of the state). The scene after a commit is
the object of the latest actual value of every key so far in its trace.

Events with one commit hash that follow one another are a commit. Where the hash is empty, a commit is a run
of events of one span at one time that sets no key twice and has no intent after an actual value, which is how
a step looks that writes its tool call, then the world. A commit of intents alone changes nothing: its calls
belong to the next step.

A value that was cut or is not JSON is never guessed at. It stands in the scene as a `BrokenValue`, which is
no JSON, so that a check which looks at it is refused and every other check is judged.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from msgspec import Struct

from evaluator.errors import SceneError, kind_of
from evaluator.json_read import JsonTextError, read_json
from evaluator.values import compact

_BOM = b"\xef\xbb\xbf"


class BrokenValue(Struct, frozen=True):
    """Stands for a value that cannot be known: where it is in the trace, and what is wrong with it."""

    place: str
    problem: str

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


class ToolCall(Struct, frozen=True):
    """An intent: a call of a tool as an agent planned or made it.

    Attributes:
        name: the tool's name; None when the value does not say it in one of the two known shapes,
            `{"tool": {"name", "args"}}` and `{"tool": name, ...arguments}`.
        args: the arguments, None with the name.
        key: the key the intent was written under.
        value: the whole value.
        time_ns: nanoseconds since 1970.
    """

    name: str | None
    args: Any
    key: str
    value: Any
    time_ns: int


class SceneStep(Struct, frozen=True):
    """A commit: the scene after it, and the calls since the commit before.

    Attributes:
        scene: the object of the latest actual values. Its values are shared with other steps: do not change.
        calls: in the order of their events.
        changed: the keys this commit wrote, in the order of their events; empty for calls after the last
            commit, which make a step of their own with the scene as it was.
        commit: the commit's hash, "" where the trace has none. time_ns: of its last event.
        trace_id: of the trace it belongs to.
    """

    scene: dict[str, Any]
    calls: tuple[ToolCall, ...]
    changed: tuple[str, ...]
    commit: str
    time_ns: int
    trace_id: str

    @property
    def broken(self) -> dict[str, BrokenValue]:
        """The keys whose value is not known, and why."""
        return {key: value for key, value in self.scene.items() if isinstance(value, BrokenValue)}


class Span(Struct, frozen=True):
    """One line of the file: the span's name, its attributes, where it stands, and how often it sets a key."""

    name: str
    attributes: dict[str, Any]
    place: str
    events: int


class SceneTrace(Struct, frozen=True):
    """All spans of one trace: its steps in order of time, its spans in order of the file."""

    trace_id: str
    steps: tuple[SceneStep, ...]
    spans: tuple[Span, ...]

    @property
    def name(self) -> str:
        """The name of the span that says how the run went, else of the one that sets most keys."""
        return max(self.spans, key=lambda span: ("bench.success" in span.attributes, span.events)).name

    @property
    def success(self) -> bool | None:
        """What `bench.success` says, None where no span has it. Raises `SceneError` when it is no boolean."""
        found: bool | None = None
        for span in self.spans:
            said = span.attributes.get("bench.success")
            if said is None:
                continue
            place = f'{span.place}: $.attributes["bench.success"]'
            if type(said) is not bool:
                raise SceneError(f"expected true or false, got {kind_of(said)}", place)
            if found is not None and said is not found:
                raise SceneError("spans of one trace say both true and false", place)
            found = said
        return found


def read_scene_otel(path: str | os.PathLike[str]) -> Iterator[SceneStep]:
    """The scene after every commit of a scene-otel file, and the tool calls between.

    Traces come one after another, in the order in which they begin in the file; spans of one trace are merged
    by time. The whole file is read, and judged, before the first step is given.

    Raises:
        SceneError: the file cannot be read, or a line is not a span of this format; `place` names file, line
            and JSON path. A value that is cut or broken is no error: `SceneStep.broken` names it.
    """
    traces = read_traces(path)
    return (step for trace in traces for step in trace.steps)


def read_traces(path: str | os.PathLike[str]) -> tuple[SceneTrace, ...]:
    """The traces of a scene-otel file; `read_scene_otel` with the spans' names and attributes.

    Raises `SceneError` as that does.
    """
    file = os.fsdecode(path)
    try:
        with open(file, "rb") as lines:
            return traces_of(lines, file)
    except IsADirectoryError:
        raise SceneError("is a folder, a file is expected", file) from None
    except (OSError, ValueError) as error:
        if isinstance(error, SceneError):
            raise
        problem = (getattr(error, "strerror", None) or str(error)).lower()
        raise SceneError(f"cannot be read: {problem}", file) from None


def traces_of(lines: Iterable[bytes], file: str) -> tuple[SceneTrace, ...]:
    """The traces in the lines of a file, which is named in errors."""
    spans: dict[str, list[tuple[Span, list[_Event]]]] = {}
    for number, line in enumerate(lines, start=1):
        line = line.removeprefix(_BOM) if number == 1 else line
        if line.strip():
            place = f"{file}:{number}"
            record = _record(line.rstrip(b"\r\n"), place)
            spans.setdefault(record["trace_id"], []).append(_span(record, place))
    return tuple(
        SceneTrace(
            trace_id, tuple(_steps(trace_id, [events for _, events in found])), tuple(s for s, _ in found)
        )
        for trace_id, found in spans.items()
    )


def is_span(record: object) -> bool:
    """Whether a JSON value looks like a line of this format."""
    return type(record) is dict and "trace_id" in record and "span_id" in record


# From a line to events


class _Event(NamedTuple):
    time_ns: int
    span: str
    commit: str
    actual: bool
    key: str
    value: Any


def _record(line: bytes, place: str) -> dict[str, Any]:
    try:
        record = read_json(line)
    except JsonTextError as error:
        column = f":{error.column}" if error.column else ""
        hint = "; every line is one whole span" if error.column else ""
        raise SceneError(f"{error.problem}{hint}", f"{place}{column}") from None
    if not is_span(record) or type(record["trace_id"]) is not str:
        shape = 'an object with "trace_id", "span_id" and "events"'
        raise SceneError(f"expected a span, {shape}, got {_shape(record)}", place)
    fields: dict[str, Any] = record
    return fields


def _shape(record: Any) -> str:
    if type(record) is not dict:
        return kind_of(record)
    return f"one with {', '.join(map(compact, list(record)[:4])) or 'no keys'}"


def _span(record: dict[str, Any], place: str) -> tuple[Span, list[_Event]]:
    name = _field(record, "name", str, "", place, "$")
    attributes = _field(record, "attributes", dict, {}, place, "$")
    events: list[_Event] = []
    for index, event in enumerate(_field(record, "events", list, [], place, "$")):
        where = f"$.events[{index}]"
        if type(event) is not dict:
            raise SceneError(f"expected an event, an object, got {kind_of(event)}", f"{place}: {where}")
        if event.get("name") == "scene.set":
            read = _event(event, place, where)
            if events and read.time_ns < events[-1].time_ns:
                problem = "is earlier than the event before; the events of a span are in order of time"
                raise SceneError(problem, f"{place}: {where}.time_ns")
            events.append(read)
    return Span(name, attributes, place, len(events)), events


def _event(event: dict[str, Any], place: str, where: str) -> _Event:
    attributes = _field(event, "attributes", dict, None, place, where)
    within = f"{where}.attributes"
    key = _field(attributes, "scene.key", str, None, place, within)
    kind = _field(attributes, "scene.kind", str, None, place, within)
    if kind not in ("actual", "intent"):
        problem = f'expected "actual" or "intent", got {compact(kind)}'
        raise SceneError(problem, f'{place}: {within}["scene.kind"]')
    return _Event(
        time_ns=_field(event, "time_ns", int, None, place, where),
        span=place,
        commit=_field(attributes, "scene.commit_hash", str, "", place, within),
        actual=kind == "actual",
        key=key,
        value=_value(attributes.get("scene.value"), f'{place}: {within}["scene.value"]'),
    )


def _field(record: dict[str, Any], key: str, kind: type, default: Any, place: str, where: str) -> Any:
    """A field of the right type. One that is absent or null is the default, an error when there is none."""
    value = record.get(key)
    if value is None and default is not None:
        return default
    if type(value) is not kind:
        expected = "a whole number" if kind is int else kind_of(kind())
        path = f'{where}["{key}"]' if "." in key else f"{where}.{key}"
        raise SceneError(
            f"expected {expected}, got {kind_of(value) if key in record else 'nothing'}", f"{place}: {path}"
        )
    return value


def _value(text: Any, place: str) -> Any:
    if type(text) is not str:
        return BrokenValue(place, f"the value is JSON as text, got {kind_of(text)}")
    data = text.encode("utf-8", "surrogatepass")
    try:
        return read_json(data)
    except JsonTextError as error:
        if text.endswith("…"):
            return BrokenValue(place, f"the value was cut after {len(data) - len('…'.encode()):,} bytes")
        column = f" (column {error.column})" if error.column else ""
        return BrokenValue(place, f"the value is {error.problem}{column}")


# From events to steps


def _steps(trace_id: str, spans: list[list[_Event]]) -> Iterator[SceneStep]:
    scene: dict[str, Any] = {}
    calls: list[ToolCall] = []
    for commit in _commits(merge(*spans, key=attrgetter("time_ns"))):
        calls.extend(_call(event) for event in commit if not event.actual)
        written = {event.key: event.value for event in commit if event.actual}
        if written:
            scene = scene | written
            yield SceneStep(
                scene, tuple(calls), tuple(written), commit[0].commit, commit[-1].time_ns, trace_id
            )
            calls = []
    if calls:
        yield SceneStep(scene, tuple(calls), (), "", calls[-1].time_ns, trace_id)


def _commits(events: Iterator[_Event]) -> Iterator[list[_Event]]:
    def together(event: _Event) -> tuple[str, str, int]:
        return event.span, event.commit, 0 if event.commit else event.time_ns

    for _, run in groupby(events, key=together):
        commit: list[_Event] = []
        written: set[tuple[bool, str]] = set()
        for event in run:
            next_step = not (event.commit or event.actual) and any(actual for actual, _ in written)
            if next_step or (event.actual, event.key) in written:
                yield commit
                commit, written = [], set()
            commit.append(event)
            written.add((event.actual, event.key))
        yield commit


def _call(event: _Event) -> ToolCall:
    name, args = None, None
    tool = event.value.get("tool") if type(event.value) is dict else None
    if type(tool) is dict and type(tool.get("name")) is str:
        name, args = tool["name"], tool.get("args")
    elif type(tool) is str:
        name, args = tool, {key: value for key, value in event.value.items() if key != "tool"}
    return ToolCall(name, args, event.key, event.value, event.time_ns)

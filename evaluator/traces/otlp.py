"""Spans of OpenTelemetry as JSON: OTLP files and requests, and spans as its SDKs print them.

One value is an OTLP request (`resourceSpans`, with `scopeSpans` or the older `instrumentationLibrarySpans`;
also `resourceLogs`, whose records count as events of their spans), one span of it, or one span as the SDKs'
`to_json` gives it (`context`, `parent_id`, ISO times). Field names may be in camel case or with underscores.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from evaluator.errors import SceneError, kind_of
from evaluator.json_write import json_text
from evaluator.traces.assembly import traces_of_spans
from evaluator.traces.attributes import Span, SpanEvent
from evaluator.traces.notes import Notes, OnWarning
from evaluator.traces.records import Placed, records_of, spread
from evaluator.values import quoted

_SCOPES: Final = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans")
_STATUS: Final = {"0": "unset", "1": "ok", "2": "error", "OK": "ok", "ERROR": "error", "UNSET": "unset"}


def traces_from_otlp(source: object, *, on_warning: OnWarning | None = None) -> list[dict[str, Any]]:
    """The traces of agents in OpenTelemetry's spans, one for each trace id.

    The spans' conventions are those of `attributes.py`: GenAI with its older names, OpenInference and others.
    How spans become steps says `assembly.py`. A tool's span that ended without an error succeeded (so
    OpenTelemetry has it); hence the traces are of version 2 where a tool has a span of its own.

    Parameters:
        source: a path (JSON, an array, or JSON Lines; `-` is standard input; `.gz` and `.zst` are unpacked),
            or the values as Python objects.
        on_warning: is told what was odd, one sentence that names the span; by default a
            `TraceImportWarning` is issued for each.

    Raises:
        SceneError: the source is not of this format; names the file, line and JSON path.
    """
    return otlp_traces(records_of(source), Notes(on_warning))


def otlp_traces(records: list[Placed], notes: Notes) -> list[dict[str, Any]]:
    """The traces in values of this format."""
    spans: list[Span] = []
    logs: list[tuple[dict[str, Any], str]] = []
    for value, place in spread(records):
        if not is_otlp(value):
            raise SceneError(
                f'expected OTLP JSON, an object with "resourceSpans", or a span, got {kind_of(value)}', place
            )
        if _any(value, "resourceSpans", "resource_spans", "resourceLogs", "resource_logs") is None:
            spans.append(span_of(value, place, notes))
        for found, where in _requested(
            value, place, ("resourceSpans", "resource_spans"), _SCOPES, ("spans",)
        ):
            spans.append(span_of(found, where, notes))
        for found, where in _requested(
            value,
            place,
            ("resourceLogs", "resource_logs"),
            ("scopeLogs", "scope_logs"),
            ("logRecords", "log_records"),
        ):
            logs.append((found, where))
    by_id = {(span.trace_id, span.id): span for span in spans}
    for log, where in logs:
        span = by_id.get((_id(_any(log, "traceId", "trace_id")), _id(_any(log, "spanId", "span_id"))))
        event = _event(log, ("eventName", "event_name"))
        if span is not None:
            _add_event(span, event)
        elif event.name.startswith("gen_ai."):
            notes(where, f"the event {quoted(event.name)} belongs to no span here; passed over")
    return traces_of_spans(spans, notes)


def is_otlp(value: Any) -> bool:
    """Whether a value is of this format, as far as can be told by its keys."""
    if type(value) is not dict:
        return False
    if _any(value, "resourceSpans", "resource_spans", "resourceLogs", "resource_logs") is not None:
        return True
    context = value.get("context")
    named = context if type(context) is dict else value
    return _any(named, "spanId", "span_id") is not None and _any(named, "traceId", "trace_id") is not None


def _requested(
    value: dict[str, Any],
    place: str,
    resources: tuple[str, ...],
    scopes: tuple[str, ...],
    leaves: tuple[str, ...],
) -> Iterator[tuple[dict[str, Any], str]]:
    """The spans or records of a request, which has them by resource and scope."""
    level: list[Placed] = [(value, place)]
    for keys in (resources, scopes, leaves):
        below: list[Placed] = []
        for node, at in level:
            for key in keys:
                members = node.get(key)
                if members is not None and type(members) is not list:
                    raise SceneError(f"expected an array, got {kind_of(members)}", f"{at}.{key}")
                for index, member in enumerate(members or ()):
                    if type(member) is not dict:
                        raise SceneError(f"expected an object, got {kind_of(member)}", f"{at}.{key}[{index}]")
                    below.append((member, f"{at}.{key}[{index}]"))
        level = below
    return iter(level)


def span_of(fields: dict[str, Any], place: str, notes: Notes) -> Span:
    """The span that an object of this format is."""
    context = fields.get("context")
    named = context if type(context) is dict else fields
    name = fields.get("name")
    status = fields.get("status")
    code = (
        status.get("code", status.get("status_code")) if type(status) is dict else fields.get("status_code")
    )
    message = status.get("message", status.get("description")) if type(status) is dict else None
    message = message if message is not None else fields.get("status_message")
    span_id = _id(_any(named, "spanId", "span_id"))
    title = f" {quoted(name)}" if type(name) is str and name else ""
    span = Span(
        id=span_id,
        parent=_id(_any(fields, "parentSpanId", "parent_span_id", "parent_id")),
        trace_id=_id(_any(named, "traceId", "trace_id")),
        name=name if type(name) is str else "",
        start_ns=_time(
            _any(fields, "startTimeUnixNano", "start_time_unix_nano", "start_time_ns", "start_time")
        ),
        end_ns=_time(_any(fields, "endTimeUnixNano", "end_time_unix_nano", "end_time_ns", "end_time")),
        attributes=_attributes(fields.get("attributes")),
        place=f"{place} (span{title or f' {quoted(span_id)}'})",
        status=_STATUS.get(
            str(code).upper().removeprefix("STATUS_CODE_").removeprefix("STATUSCODE."), "unset"
        ),
        status_message=message if type(message) is str else "",
    )
    if not span.trace_id:
        notes(span.place, "has no trace id; taken as one trace with all others that have none")
    events = fields.get("events")
    for event in events if type(events) is list else ():
        if type(event) is dict:
            _add_event(span, _event(event, ("name",)))
    return span


def _event(fields: dict[str, Any], names: tuple[str, ...]) -> SpanEvent:
    attributes = _attributes(fields.get("attributes"))
    name = _any(fields, *names) or attributes.get("event.name")
    return SpanEvent(name if type(name) is str else "", attributes, _any_value(fields.get("body")))


def _add_event(span: Span, event: SpanEvent) -> None:
    """Add an event; whole messages that it has as attributes count as the span's own."""
    span.events.append(event)
    body = event.body if type(event.body) is dict else {}
    for name, value in (body | event.attributes).items():
        if name.startswith(("gen_ai.input.", "gen_ai.output.", "gen_ai.prompt", "gen_ai.completion")):
            span.attributes.setdefault(name, value)


def _attributes(pairs: Any) -> dict[str, Any]:
    """Attributes as an object: OTLP has them as pairs of key and typed value, the SDKs as an object."""
    if type(pairs) is dict:
        return dict(pairs)
    found: dict[str, Any] = {}
    for pair in pairs if type(pairs) is list else ():
        if type(pair) is dict and type(pair.get("key")) is str:
            found.setdefault(pair["key"], _any_value(pair.get("value")))
    return found


def _any_value(value: Any, depth: int = 0) -> Any:
    """The value that OTLP's typed value holds; what is not typed is taken as it is."""
    if type(value) is not dict or len(value) != 1 or depth > 100:
        return value
    kind, held = next(iter(value.items()))
    match kind.replace("_", "").lower():
        case "stringvalue" | "boolvalue" | "bytesvalue":
            return held
        case "intvalue":
            return int(held) if type(held) is str and _is_number(held) else held
        case "doublevalue":
            return held
        case "arrayvalue":
            members = held.get("values") if type(held) is dict else held
            return [_any_value(member, depth + 1) for member in members] if type(members) is list else []
        case "kvlistvalue":
            pairs = held.get("values") if type(held) is dict else held
            named = [pair for pair in pairs if type(pair) is dict] if type(pairs) is list else []
            return {str(pair.get("key")): _any_value(pair.get("value"), depth + 1) for pair in named}
        case _:
            return value


def _time(value: Any) -> int | None:
    """Nanoseconds since 1970, from a number, its digits or ISO 8601 text; None for all else, and for 0."""
    if type(value) is str:
        if _is_number(value):
            return int(value) or None
        try:
            moment = datetime.fromisoformat(value)
            return int(moment.timestamp() * 10**6) * 1000
        except (ValueError, OverflowError, OSError):
            return None
    if type(value) is int or (type(value) is float and abs(value) < 2**63):
        return int(value) or None
    return None


def _is_number(text: str) -> bool:
    return len(text) < 30 and text.removeprefix("-").isascii() and text.removeprefix("-").isdigit()


def _id(value: Any) -> str:
    """An id as text; "" for none, also where it is all zeros."""
    if value is None:
        return ""
    text = value if type(value) is str else json_text(value, compact=True)
    return text if text.strip("0") else ""


def _any(fields: dict[str, Any], *names: str) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)

"""MLflow's traces: `trace.to_dict()`, `trace.to_json()`, and what `search_traces` exports.

The attributes of its spans (`mlflow.spanType`, `mlflow.spanInputs`, `mlflow.spanOutputs`) are JSON texts.
MLflow itself is not imported: its objects are asked for their `to_dict`.
"""

from __future__ import annotations

import os
from typing import Any

from evaluator.errors import SceneError, kind_of
from evaluator.json_write import json_text
from evaluator.traces.assembly import traces_of_spans
from evaluator.traces.attributes import Span
from evaluator.traces.messages import result_value
from evaluator.traces.notes import Notes, OnWarning
from evaluator.traces.otlp import span_of
from evaluator.traces.records import Placed, records_of, spread


def traces_from_mlflow(source: object, *, on_warning: OnWarning | None = None) -> list[dict[str, Any]]:
    """The traces in MLflow's records.

    Spans of the types TOOL, LLM, CHAT_MODEL, RETRIEVER and AGENT become steps, as `assembly.py` says; inputs
    are arguments, outputs results, and the status says which calls failed.

    Parameters:
        source: a path (JSON, an array, or JSON Lines; `-` is standard input; `.gz` and `.zst` are unpacked),
            MLflow's `Trace` objects, one or several, the data frame or list that `mlflow.search_traces`
            returns, or such values as Python objects.
        on_warning: as for `traces_from_otlp`.

    Raises:
        SceneError: the source is not of this format; names the file, line and JSON path.
    """
    columns: Any = getattr(source, "columns", None)
    if columns is not None and "trace" in columns:
        frame: Any = source
        source = list(frame["trace"])
    if not isinstance(source, (str, os.PathLike, list, tuple, dict)):
        source = [source]
    if isinstance(source, (list, tuple)):
        source = [_as_json(member) for member in source]
    return mlflow_traces(records_of(source), Notes(on_warning))


def mlflow_traces(records: list[Placed], notes: Notes) -> list[dict[str, Any]]:
    """The traces in values of this format."""
    found: list[dict[str, Any]] = []
    for value, place in spread(records):
        found += traces_of_spans(_spans(value, place, notes), notes)
    return found


def is_mlflow(value: Any) -> bool:
    """Whether a value is of this format, as far as can be told by its keys."""
    return _span_list(value) is not None


def _as_json(trace: object) -> object:
    to_dict = getattr(trace, "to_dict", None)
    if callable(to_dict):
        return to_dict()
    return result_value(trace) if type(trace) is str else trace


def _spans(record: Any, place: str, notes: Notes) -> list[Span]:
    trace = result_value(record["trace"]) if type(record) is dict and "trace" in record else record
    found = _span_list(record)
    if found is None:
        expected = 'a trace of MLflow, an object with "info" and "data"'
        raise SceneError(f"expected {expected}, got {kind_of(record)}", place)
    spans, where = found
    info = trace.get("info") if type(trace) is dict else None
    names = info if type(info) is dict else record
    name = names.get("trace_id", names.get("request_id"))
    read = []
    for index, fields in enumerate(spans):
        at = f"{place}{where}[{index}]"
        if type(fields) is not dict:
            raise SceneError(f"expected a span, an object, got {kind_of(fields)}", at)
        span = span_of(fields, at, notes)
        span.attributes = {key: _decoded(value) for key, value in span.attributes.items()}
        if name is not None:
            span.trace_id = name if type(name) is str else json_text(name, compact=True)
        _add_fields(span, fields)
        read.append(span)
    return read


def _span_list(record: Any) -> tuple[list[Any], str] | None:
    """The spans of a record, and where they stand in it."""
    if type(record) is not dict:
        return None
    if "trace" in record:
        found = _span_list(result_value(record["trace"]))
        if found is not None:
            return found[0], f".trace{found[1]}"
    data = record.get("data")
    if type(data) is dict and type(data.get("spans")) is list:
        return data["spans"], ".data.spans"
    spans = result_value(record.get("spans"))
    return (spans, ".spans") if type(spans) is list else None


def _decoded(value: Any) -> Any:
    """The value of an attribute, which MLflow keeps as JSON text; a text that is none stays as it is."""
    if type(value) is str and value[:1] == '"' and value[-1:] == '"':
        inner = result_value(f"[{value}]")
        return inner[0] if type(inner) is list and len(inner) == 1 else value
    return result_value(value)


def _add_fields(span: Span, fields: dict[str, Any]) -> None:
    """Take what exports have as fields of a span rather than as attributes."""
    for key, name in (("span_type", "spanType"), ("inputs", "spanInputs"), ("outputs", "spanOutputs")):
        if fields.get(key) is not None:
            span.attributes.setdefault(f"mlflow.{name}", fields[key])

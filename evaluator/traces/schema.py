"""The JSON Schema of traces (draft 2020-12)."""

from __future__ import annotations

from typing import Any, Final

from evaluator.check import snapshot
from evaluator.traces.validation import MOST_STEPS, NEWEST_VERSION, STEP_TYPES

_NOT_BLANK: Final = {"type": "string", "pattern": r"\S"}
_ANY: Final[dict[str, Any]] = {}


def trace_json_schema() -> dict[str, Any]:
    """The JSON Schema of a trace with its sub-traces; a copy of your own.

    It says what `validate_trace` accepts, but for what no schema can say: the sizes in bytes, the depth of
    the tree, that trace ids are unique and that `parent_trace_id` names the parent. Keys it does not know are
    allowed everywhere.
    """
    copy: dict[str, Any] = snapshot(_SCHEMA)
    return copy


_STEP: Final[dict[str, Any]] = {
    "description": "One thing the agent did.",
    "type": "object",
    "required": ["type", "name"],
    "properties": {
        "type": {"enum": list(STEP_TYPES)},
        "name": _NOT_BLANK | {"description": "The tool, the model or its role, the index, or the agent."},
        "args": _ANY | {"description": "The arguments, by custom an object."},
        "result": _ANY,
        "metadata": _ANY,
        "started_at_ms": {"type": "integer", "description": "One time base for the whole tree."},
        "ended_at_ms": {"type": "integer"},
        "agent_id": {"type": "string", "description": "Who did this step."},
        "agent_role": {"type": "string"},
        "error": _ANY | {"description": "From version 2 on: null when the call succeeded."},
        "status": _ANY | {"description": 'From version 2 on: "ok" when the call succeeded.'},
    },
    "if": {"properties": {"type": {"const": "agent_call"}}},
    "then": {"required": ["sub_trace"], "properties": {"sub_trace": {"$ref": "#/$defs/trace"}}},
}

_TRACE: Final[dict[str, Any]] = {
    "description": "One run of one agent.",
    "type": "object",
    "required": ["trace_id", "output"],
    "properties": {
        "schema_version": {"type": "integer", "minimum": 0, "maximum": NEWEST_VERSION, "default": 1},
        "trace_id": _NOT_BLANK | {"description": "Unique in the tree."},
        "agent_id": {"type": "string", "description": "Whose run it is."},
        "input": _ANY | {"description": "What the run was asked, by custom an object."},
        "steps": {"type": "array", "items": {"$ref": "#/$defs/step"}, "maxItems": MOST_STEPS},
        "output": {
            "description": "What the run answered.",
            "type": "object",
            "minProperties": 1,
            "properties": {"message": _ANY | {"description": "By custom a text."}, "structured": _ANY},
        },
        "metadata": {
            "type": "object",
            "properties": {
                "total_tokens": {"type": ["integer", "null"]},
                "cost_usd": {"type": ["number", "null"]},
                "latency_ms": {"type": ["integer", "null"]},
                "model": {"type": ["string", "null"]},
                "timestamp": {"type": ["string", "null"], "description": "ISO 8601."},
            },
        },
        "parent_trace_id": {"type": ["string", "null"]},
    },
}

_SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Trace",
    "$ref": "#/$defs/trace",
    "$defs": {"trace": _TRACE, "step": _STEP},
}

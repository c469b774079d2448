"""Traces: what one run of one agent did, as JSON.

Building them (`TraceBuilder`), walking them and the runs they delegate to (`TraceTree`), judging their form
(`validate_trace`, `trace_json_schema`), and reading them from what others record: OTLP spans, OpenAI-style
and Anthropic-style messages, MLflow traces.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluator.traces.builder import TraceBuilder
    from evaluator.traces.conversation import trace_from_anthropic, trace_from_openai
    from evaluator.traces.mlflow_traces import traces_from_mlflow
    from evaluator.traces.notes import TraceImportWarning
    from evaluator.traces.otlp import traces_from_otlp
    from evaluator.traces.reading import read_trace_scenes
    from evaluator.traces.schema import trace_json_schema
    from evaluator.traces.tree import FlatStep, TraceNode, TraceTree
    from evaluator.traces.validation import validate_trace

# Imported when first asked for: a program that needs one of these seldom needs the others.
_LATER = {
    "FlatStep": "evaluator.traces.tree",
    "TraceBuilder": "evaluator.traces.builder",
    "TraceImportWarning": "evaluator.traces.notes",
    "TraceNode": "evaluator.traces.tree",
    "TraceTree": "evaluator.traces.tree",
    "read_trace_scenes": "evaluator.traces.reading",
    "trace_from_anthropic": "evaluator.traces.conversation",
    "trace_from_openai": "evaluator.traces.conversation",
    "trace_json_schema": "evaluator.traces.schema",
    "traces_from_mlflow": "evaluator.traces.mlflow_traces",
    "traces_from_otlp": "evaluator.traces.otlp",
    "validate_trace": "evaluator.traces.validation",
}

__all__ = [
    "FlatStep",
    "TraceBuilder",
    "TraceImportWarning",
    "TraceNode",
    "TraceTree",
    "read_trace_scenes",
    "trace_from_anthropic",
    "trace_from_openai",
    "trace_json_schema",
    "traces_from_mlflow",
    "traces_from_otlp",
    "validate_trace",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(_LATER[name]), name)
    return found

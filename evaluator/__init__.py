"""The standard evaluator: checks over JSON scenes, with a verdict, a gap and a reason.

>>> result = run_check({"total": 540}, {"op": "lte", "path": "total", "value": 500})
>>> result.passed, result.gap, result.why
(False, 40.0, 'total: expected ≤ 500, got 540 (over by 40)')
"""

from typing import TYPE_CHECKING, Any

from evaluator.attach import Subscription, attach_check
from evaluator.check import Check
from evaluator.compile import CompiledCheck, compile_check, define_check, run_check
from evaluator.errors import CheckError, SceneError
from evaluator.json_write import canonical_json, json_text
from evaluator.path import Lookup, lookup, resolve
from evaluator.result import CheckResult
from evaluator.tools import TOOL_DESCRIPTORS, check_scene, diagnose, gap
from evaluator.values import MISSING
from evaluator.words import sentence

if TYPE_CHECKING:
    from evaluator.cel import from_cel, to_cel
    from evaluator.expression import dump_check, parse_check
    from evaluator.recorder import SceneRecorder
    from evaluator.replay import replay_trace
    from evaluator.scene_otel import read_scene_otel, read_traces
    from evaluator.schema import check_json_schema
    from evaluator.table import EvaluationTable as EvaluationTable
    from evaluator.table import SceneTable as SceneTable
    from evaluator.table import evaluate_many as evaluate_many

# Names whose modules are imported when they are first asked for: they cost start-up, and few need them.
_LATER = {
    "EvaluationTable": "evaluator.table",
    "SceneRecorder": "evaluator.recorder",
    "SceneTable": "evaluator.table",
    "check_json_schema": "evaluator.schema",
    "dump_check": "evaluator.expression",
    "from_cel": "evaluator.cel",
    "evaluate_many": "evaluator.table",
    "parse_check": "evaluator.expression",
    "read_scene_otel": "evaluator.scene_otel",
    "read_traces": "evaluator.scene_otel",
    "replay_trace": "evaluator.replay",
    "to_cel": "evaluator.cel",
}

__all__ = [
    "MISSING",
    "TOOL_DESCRIPTORS",
    "Check",
    "CheckError",
    "CheckResult",
    "CompiledCheck",
    "Lookup",
    "SceneError",
    "SceneRecorder",
    "Subscription",
    "attach_check",
    "canonical_json",
    "check_json_schema",
    "check_scene",
    "compile_check",
    "define_check",
    "diagnose",
    "dump_check",
    "from_cel",
    "gap",
    "json_text",
    "lookup",
    "parse_check",
    "read_scene_otel",
    "read_traces",
    "replay_trace",
    "resolve",
    "run_check",
    "sentence",
    "to_cel",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(_LATER[name]), name)
    return found

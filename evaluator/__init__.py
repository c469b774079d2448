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
from evaluator.scene import validate_scene
from evaluator.tools import TOOL_DESCRIPTORS, check_scene, diagnose, gap
from evaluator.values import MISSING
from evaluator.words import sentence

if TYPE_CHECKING:
    from evaluator.anchor import AnchorStep, format_anchor, parse_anchor
    from evaluator.assertion import CheckAssertionError, assert_check
    from evaluator.assertions.outcome import Outcome, aggregate_outcome
    from evaluator.assertions.plugin import register_plugin
    from evaluator.assertions.run import AssertionResult, evaluate_assertion, providing
    from evaluator.cel import from_cel, to_cel
    from evaluator.conversion import to_scene
    from evaluator.expecting import (
        AgentResult,
        Expectation,
        ExpectationError,
        JudgedAssertion,
        NotEvaluatedError,
        NotEvaluatedWarning,
        TrialsResult,
        World,
        enforce,
        expect,
        related,
        set_session_providers,
        trials,
    )
    from evaluator.explanation import explain
    from evaluator.expression import check_hash, dump_check, parse_check
    from evaluator.lowering import lower
    from evaluator.meta import Meta, parse_meta
    from evaluator.pack import CheckPack, PackReport, load_pack, parse_pack, run_pack
    from evaluator.planning import RankedAction, rank_actions
    from evaluator.providers import Providers
    from evaluator.providers.anthropic import AnthropicJudge
    from evaluator.providers.budget import Budget, Price, Spending
    from evaluator.providers.environment import default_providers
    from evaluator.providers.errors import BudgetExceededError, HistoryError, ProviderError
    from evaluator.providers.history import ScoreHistory
    from evaluator.providers.local import LocalEmbeddings
    from evaluator.providers.openai import OpenAIEmbeddings, OpenAIJudge
    from evaluator.providers.prompt import JudgeRequest, register_rubric
    from evaluator.providers.retries import Retries
    from evaluator.recorder import SceneRecorder
    from evaluator.replay import replay_trace
    from evaluator.scene_otel import read_scene_otel, read_traces
    from evaluator.schema import check_json_schema
    from evaluator.simplification import simplify
    from evaluator.table import EvaluationTable, SceneTable, evaluate_many
    from evaluator.traces.builder import TraceBuilder
    from evaluator.traces.conversation import trace_from_anthropic, trace_from_openai
    from evaluator.traces.mlflow_traces import traces_from_mlflow
    from evaluator.traces.notes import TraceImportWarning
    from evaluator.traces.otlp import traces_from_otlp
    from evaluator.traces.reading import read_trace_scenes
    from evaluator.traces.schema import trace_json_schema
    from evaluator.traces.tree import TraceTree
    from evaluator.traces.validation import validate_trace
    from evaluator.translate.automationbench.descent import Descent, descend
    from evaluator.translate.automationbench.grading import Grading, grade
    from evaluator.translate.automationbench.translation import Translation, translate_automationbench
    from evaluator.translate.automationbench.worlds import normalise_world
    from evaluator.world_model import ImpossibleActionError, predict, register_world_model

# Names whose modules are imported when they are first asked for: they cost start-up, and few need them.
_LATER = {
    "AgentResult": "evaluator.expecting",
    "AnchorStep": "evaluator.anchor",
    "AnthropicJudge": "evaluator.providers.anthropic",
    "AssertionResult": "evaluator.assertions.run",
    "Budget": "evaluator.providers.budget",
    "BudgetExceededError": "evaluator.providers.errors",
    "CheckAssertionError": "evaluator.assertion",
    "CheckPack": "evaluator.pack",
    "Descent": "evaluator.translate.automationbench.descent",
    "EvaluationTable": "evaluator.table",
    "Expectation": "evaluator.expecting",
    "ExpectationError": "evaluator.expecting",
    "Grading": "evaluator.translate.automationbench.grading",
    "HistoryError": "evaluator.providers.errors",
    "ImpossibleActionError": "evaluator.world_model",
    "JudgeRequest": "evaluator.providers.prompt",
    "JudgedAssertion": "evaluator.expecting",
    "LocalEmbeddings": "evaluator.providers.local",
    "Meta": "evaluator.meta",
    "NotEvaluatedError": "evaluator.expecting",
    "NotEvaluatedWarning": "evaluator.expecting",
    "OpenAIEmbeddings": "evaluator.providers.openai",
    "OpenAIJudge": "evaluator.providers.openai",
    "Outcome": "evaluator.assertions.outcome",
    "PackReport": "evaluator.pack",
    "Price": "evaluator.providers.budget",
    "ProviderError": "evaluator.providers.errors",
    "Providers": "evaluator.providers",
    "RankedAction": "evaluator.planning",
    "Retries": "evaluator.providers.retries",
    "SceneRecorder": "evaluator.recorder",
    "SceneTable": "evaluator.table",
    "ScoreHistory": "evaluator.providers.history",
    "Spending": "evaluator.providers.budget",
    "TraceBuilder": "evaluator.traces.builder",
    "TraceImportWarning": "evaluator.traces.notes",
    "TraceTree": "evaluator.traces.tree",
    "Translation": "evaluator.translate.automationbench.translation",
    "TrialsResult": "evaluator.expecting",
    "World": "evaluator.expecting",
    "aggregate_outcome": "evaluator.assertions.outcome",
    "assert_check": "evaluator.assertion",
    "check_hash": "evaluator.expression",
    "check_json_schema": "evaluator.schema",
    "default_providers": "evaluator.providers.environment",
    "descend": "evaluator.translate.automationbench.descent",
    "dump_check": "evaluator.expression",
    "enforce": "evaluator.expecting",
    "evaluate_assertion": "evaluator.assertions.run",
    "evaluate_many": "evaluator.table",
    "expect": "evaluator.expecting",
    "explain": "evaluator.explanation",
    "format_anchor": "evaluator.anchor",
    "from_cel": "evaluator.cel",
    "grade": "evaluator.translate.automationbench.grading",
    "load_pack": "evaluator.pack",
    "lower": "evaluator.lowering",
    "normalise_world": "evaluator.translate.automationbench.worlds",
    "parse_anchor": "evaluator.anchor",
    "parse_check": "evaluator.expression",
    "parse_meta": "evaluator.meta",
    "parse_pack": "evaluator.pack",
    "predict": "evaluator.world_model",
    "providing": "evaluator.assertions.run",
    "rank_actions": "evaluator.planning",
    "read_scene_otel": "evaluator.scene_otel",
    "read_trace_scenes": "evaluator.traces.reading",
    "read_traces": "evaluator.scene_otel",
    "register_plugin": "evaluator.assertions.plugin",
    "register_rubric": "evaluator.providers.prompt",
    "register_world_model": "evaluator.world_model",
    "related": "evaluator.expecting",
    "replay_trace": "evaluator.replay",
    "run_pack": "evaluator.pack",
    "set_session_providers": "evaluator.expecting",
    "simplify": "evaluator.simplification",
    "to_cel": "evaluator.cel",
    "to_scene": "evaluator.conversion",
    "trace_from_anthropic": "evaluator.traces.conversation",
    "trace_from_openai": "evaluator.traces.conversation",
    "trace_json_schema": "evaluator.traces.schema",
    "traces_from_mlflow": "evaluator.traces.mlflow_traces",
    "traces_from_otlp": "evaluator.traces.otlp",
    "translate_automationbench": "evaluator.translate.automationbench.translation",
    "trials": "evaluator.expecting",
    "validate_trace": "evaluator.traces.validation",
}

__all__ = [
    "MISSING",
    "TOOL_DESCRIPTORS",
    "AgentResult",
    "AnchorStep",
    "AnthropicJudge",
    "AssertionResult",
    "Budget",
    "BudgetExceededError",
    "Check",
    "CheckAssertionError",
    "CheckError",
    "CheckPack",
    "CheckResult",
    "CompiledCheck",
    "Descent",
    "EvaluationTable",
    "Expectation",
    "ExpectationError",
    "Grading",
    "HistoryError",
    "ImpossibleActionError",
    "JudgeRequest",
    "JudgedAssertion",
    "LocalEmbeddings",
    "Lookup",
    "Meta",
    "NotEvaluatedError",
    "NotEvaluatedWarning",
    "OpenAIEmbeddings",
    "OpenAIJudge",
    "Outcome",
    "PackReport",
    "Price",
    "ProviderError",
    "Providers",
    "RankedAction",
    "Retries",
    "SceneError",
    "SceneRecorder",
    "SceneTable",
    "ScoreHistory",
    "Spending",
    "Subscription",
    "TraceBuilder",
    "TraceImportWarning",
    "TraceTree",
    "Translation",
    "TrialsResult",
    "World",
    "aggregate_outcome",
    "assert_check",
    "attach_check",
    "canonical_json",
    "check_hash",
    "check_json_schema",
    "check_scene",
    "compile_check",
    "default_providers",
    "define_check",
    "descend",
    "diagnose",
    "dump_check",
    "enforce",
    "evaluate_assertion",
    "evaluate_many",
    "expect",
    "explain",
    "format_anchor",
    "from_cel",
    "gap",
    "grade",
    "json_text",
    "load_pack",
    "lookup",
    "lower",
    "normalise_world",
    "parse_anchor",
    "parse_check",
    "parse_meta",
    "parse_pack",
    "predict",
    "providing",
    "rank_actions",
    "read_scene_otel",
    "read_trace_scenes",
    "read_traces",
    "register_plugin",
    "register_rubric",
    "register_world_model",
    "related",
    "replay_trace",
    "resolve",
    "run_check",
    "run_pack",
    "sentence",
    "set_session_providers",
    "simplify",
    "to_cel",
    "to_scene",
    "trace_from_anthropic",
    "trace_from_openai",
    "trace_json_schema",
    "traces_from_mlflow",
    "traces_from_otlp",
    "translate_automationbench",
    "trials",
    "validate_scene",
    "validate_trace",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(_LATER[name]), name)
    return found

"""The standard evaluator: checks over JSON scenes, with a verdict, a gap and a reason.

>>> result = run_check({"total": 540}, {"op": "lte", "path": "total", "value": 500})
>>> result.passed, result.gap, result.why
(False, 40.0, 'total: expected ≤ 500, got 540 (over by 40)')
"""

from evaluator.check import Check
from evaluator.compile import CompiledCheck, compile_check, define_check, run_check
from evaluator.errors import CheckError, SceneError
from evaluator.json_write import canonical_json, json_text
from evaluator.path import Lookup, lookup, resolve
from evaluator.result import CheckResult
from evaluator.tools import TOOL_DESCRIPTORS, check_scene, diagnose, gap
from evaluator.values import MISSING
from evaluator.words import sentence

__all__ = [
    "MISSING",
    "TOOL_DESCRIPTORS",
    "Check",
    "CheckError",
    "CheckResult",
    "CompiledCheck",
    "Lookup",
    "SceneError",
    "canonical_json",
    "check_scene",
    "compile_check",
    "define_check",
    "diagnose",
    "gap",
    "json_text",
    "lookup",
    "resolve",
    "run_check",
    "sentence",
]

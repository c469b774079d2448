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
from evaluator.values import MISSING
from evaluator.words import sentence

__all__ = [
    "MISSING",
    "Check",
    "CheckError",
    "CheckResult",
    "CompiledCheck",
    "Lookup",
    "SceneError",
    "canonical_json",
    "compile_check",
    "define_check",
    "json_text",
    "lookup",
    "resolve",
    "run_check",
    "sentence",
]

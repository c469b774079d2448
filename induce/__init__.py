"""Learn checks from labelled scenes: an ILASP-style learner over the check language."""

from typing import TYPE_CHECKING, Any

from induce.costs import OutsideGrammarError
from induce.export import export_check, write_atomically
from induce.grammar import Costs, Grammar
from induce.learn import learn_check
from induce.objective import Objective, objective_of
from induce.progress import Progress
from induce.result import InductionResult
from induce.scenes import LabelledScenes, load_scenes
from induce.version import __version__

if TYPE_CHECKING:
    from induce.committee import Rival, near_best
    from induce.differences import alternatives
    from induce.encoder import SceneEncoder
    from induce.estimator import CheckInducer
    from induce.explain import explain_result, explain_scene
    from induce.export.task import export_task
    from induce.invariance import invariants
    from induce.margin import margins
    from induce.mend import repair
    from induce.query import ask_loop, next_scenes
    from induce.rules import LearntRules, learn_rules
    from induce.score import score_check
    from induce.trust import coverage_by_term, permutation_test

# Names whose modules are imported when they are first asked for: scikit-learn takes over a second.
_LATER = {
    "CheckInducer": "induce.estimator",
    "SceneEncoder": "induce.encoder",
    "LearntRules": "induce.rules",
    "Rival": "induce.committee",
    "alternatives": "induce.differences",
    "ask_loop": "induce.query",
    "coverage_by_term": "induce.trust",
    "explain_result": "induce.explain",
    "explain_scene": "induce.explain",
    "export_task": "induce.export.task",
    "invariants": "induce.invariance",
    "learn_rules": "induce.rules",
    "margins": "induce.margin",
    "near_best": "induce.committee",
    "next_scenes": "induce.query",
    "permutation_test": "induce.trust",
    "repair": "induce.mend",
    "score_check": "induce.score",
}

__all__ = [
    "CheckInducer",
    "Costs",
    "Grammar",
    "InductionResult",
    "LabelledScenes",
    "LearntRules",
    "Objective",
    "OutsideGrammarError",
    "Progress",
    "Rival",
    "SceneEncoder",
    "__version__",
    "alternatives",
    "ask_loop",
    "coverage_by_term",
    "explain_result",
    "explain_scene",
    "export_check",
    "export_task",
    "invariants",
    "learn_check",
    "learn_rules",
    "load_scenes",
    "margins",
    "near_best",
    "next_scenes",
    "objective_of",
    "permutation_test",
    "repair",
    "score_check",
    "write_atomically",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(_LATER[name]), name)
    return found

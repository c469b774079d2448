"""Learn checks from labelled scenes: an ILASP-style learner over the check language."""

from typing import TYPE_CHECKING, Any

from induce.costs import OutsideGrammarError
from induce.export import export_check, write_atomically
from induce.grammar import Costs, Grammar
from induce.learn import learn_check
from induce.objective import Objective, objective_of
from induce.result import InductionResult
from induce.scenes import LabelledScenes, load_scenes
from induce.version import __version__

if TYPE_CHECKING:
    from induce.estimator import CheckInducer
    from induce.export.task import export_task

# Names whose modules are imported when they are first asked for: scikit-learn takes over a second.
_LATER = {
    "CheckInducer": "induce.estimator",
    "export_task": "induce.export.task",
}

__all__ = [
    "CheckInducer",
    "Costs",
    "Grammar",
    "InductionResult",
    "LabelledScenes",
    "Objective",
    "OutsideGrammarError",
    "__version__",
    "export_check",
    "export_task",
    "learn_check",
    "load_scenes",
    "objective_of",
    "write_atomically",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(_LATER[name]), name)
    return found

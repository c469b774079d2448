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
    "learn_check",
    "load_scenes",
    "objective_of",
    "write_atomically",
]


def __getattr__(name: str) -> Any:
    """Import the estimator only when it is asked for: scikit-learn takes over a second."""
    if name == "CheckInducer":
        from induce.estimator import CheckInducer

        return CheckInducer
    raise AttributeError(f"module 'induce' has no attribute {name!r}")

"""Other learners on an experiment's scenes, for comparison: trees, rule sets and lists, logic programs."""

from experiments.baselines.baseline import Baseline
from experiments.baselines.fit import BASELINES, fit_baselines

__all__ = ["BASELINES", "Baseline", "fit_baselines"]

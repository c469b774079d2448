"""Experiments: learn checks as a configuration says, grade them on unseen scenes, track the runs.

From Python, `scorer(check)` makes a check a scorer of `mlflow.genai.evaluate`, and `log_check(check)` logs it
as a model that MLflow loads and serves.

Where things are: `cli` is the command line, `run` one experiment from scenes to results. `config` says what
a configuration may be, `datasets` makes or reads scenes, `baselines` are the other learners, `sweeps` run
many configurations and go on with them, on `launchers`, and `tracking` records in MLflow. `compare`,
`report`, `paper` and `benchmark` tell what came out.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.check_scorer import scorer
    from experiments.model import log_check

# Imported when first asked for: MLflow alone takes more than a second.
_LATER = {"log_check": "experiments.model", "scorer": "experiments.check_scorer"}

__all__ = ["log_check", "scorer"]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(_LATER[name]), name)
    return found

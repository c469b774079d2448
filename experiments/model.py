"""A check as an MLflow model: a file of code that loads anywhere, and the check beside it as JSON."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import evaluator
from evaluator import Check, compile_check, json_text
from induce.version import __version__

if TYPE_CHECKING:
    from mlflow.models.model import ModelInfo
    from mlflow.tracking import MlflowClient

CODE = Path(__file__).with_name("model_code.py")


def log_check(
    check: Mapping[str, Any] | Check,
    name: str = "check",
    *,
    registered_model_name: str | None = None,
    self_contained: bool = False,
) -> ModelInfo:
    """Log a check as a model of MLflow's flavour ``pyfunc``, in the active run where there is one.

    ``predict`` of the loaded model takes a list of scenes, or a data frame with scenes (or their JSON texts)
    in its one column, and gives ``{"pass", "gap", "why"}`` for each.

    Parameters:
        check: on the wire, with or without an id.
        name: of the model in the run.
        registered_model_name: registers the model under this name as well.
        self_contained: carry the evaluator inside the model, so that it also loads where this library is not
            installed. Otherwise the model requires this library in the version that logged it.

    Raises :class:`evaluator.CheckError` for a check that is not well formed.
    """
    import mlflow

    with tempfile.TemporaryDirectory() as folder, _quiet():
        logged: ModelInfo = mlflow.pyfunc.log_model(
            name=name,
            registered_model_name=registered_model_name,
            **_parts(check, Path(folder), self_contained),
        )
    return logged


def log_model_of_run(client: MlflowClient, experiment_id: str, run_id: str, check: Mapping[str, Any]) -> str:
    """Log a check as the model "check" of a run, and return the model's id.

    Other than :func:`log_check` it leaves MLflow's active run and address alone.
    """
    from mlflow.entities import LoggedModelOutput, LoggedModelStatus
    from mlflow.models import Model
    from mlflow.pyfunc import save_model

    model = client.create_logged_model(experiment_id, name="check", source_run_id=run_id)
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder, "model")
        described = Model(
            artifact_path=model.artifact_location,
            model_uuid=model.model_id,
            run_id=run_id,
            model_id=model.model_id,
        )
        with _quiet():
            save_model(saved, mlflow_model=described, **_parts(check, Path(folder), self_contained=False))
        client.log_model_artifacts(model.model_id, str(saved))
    client.finalize_logged_model(model.model_id, LoggedModelStatus.READY)
    client.log_outputs(run_id, [LoggedModelOutput(model.model_id, step=0)])
    return str(model.model_id)


def _quiet() -> warnings.catch_warnings[Any]:
    """MLflow warns, past every filter, that a scene may be anything."""
    return warnings.catch_warnings(record=True)


def _parts(check: Mapping[str, Any] | Check, folder: Path, self_contained: bool) -> dict[str, Any]:
    """What a model of the check is made of; the check itself is written into ``folder``."""
    wire = check.to_dict() if isinstance(check, Check) else dict(check)
    compile_check(wire)
    written = folder / "check.json"
    written.write_text(f"{json_text(wire)}\n", encoding="utf-8")
    pinned = "" if "unknown" in __version__ else f"=={__version__}"  # a source tree has no version
    own = f"msgspec=={version('msgspec')}" if self_contained else f"check-induction{pinned}"
    return {
        "python_model": str(CODE),
        "artifacts": {"check": str(written)},
        "code_paths": [str(Path(evaluator.__file__).parent)] if self_contained else None,
        "pip_requirements": [f"mlflow=={version('mlflow')}", own],
    }

"""The run of a whole sweep: begun before its jobs, whose runs are nested in it, and ended after them."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.config import Tracking
from experiments.tracking.address import local, look, masked
from experiments.tracking.failure import one_sentence
from experiments.tracking.record import RunRecord, Status, TrackedRun
from experiments.tracking.runs import PARENT, log_metrics, log_params
from experiments.tracking.store import experiment, open_store

if TYPE_CHECKING:
    from mlflow.entities import Run

JOB = "sweep_job"
"""The tag of a nested run that names its job within the sweep."""


def begin_sweep(
    config: Tracking, folder: Path, name: str, params: Mapping[str, Any], run_id: str | None = None
) -> str | None:
    """Begin the run of a sweep and return its id, or go on with ``run_id`` where the store has that run.

    The store and the experiment exist afterwards, so that the jobs of the sweep need not create them. Returns
    None where ``config`` records nothing. Raises :class:`TrackingError`.
    """
    if not config.record:
        return None
    client = open_store(config, folder)
    with one_sentence(config.uri):
        experiment_id = experiment(client, config, folder)
        if run_id is not None and _resumed(client, experiment_id, run_id):
            return run_id
        run = client.create_run(experiment_id, int(time.time() * 1000), {"sweep": name}, name)
        log_params(client, run.info.run_id, params)
        return str(run.info.run_id)


def end_sweep(
    config: Tracking,
    folder: Path,
    run_id: str | None,
    status: Status,
    figures: Mapping[str, float],
    files: Sequence[Path],
) -> TrackedRun | None:
    """Add the figures and files of a sweep to its run and end it. Raises :class:`TrackingError`."""
    if not config.record or run_id is None:
        return None
    client = open_store(config, folder)
    with one_sentence(config.uri):
        log_metrics(client, run_id, RunRecord("", {}, figures, (), (), time.time()))
        for file in files:
            client.log_artifact(run_id, str(file))
        client.set_terminated(run_id, status)
        info = client.get_run(run_id).info
    return TrackedRun(
        store=masked(config.uri),
        experiment=config.experiment,
        run_id=run_id,
        artifacts=local(str(info.artifact_uri)),
        look=look(config.uri, info.experiment_id, run_id),
    )


def settle(config: Tracking, folder: Path, parent: str, job: str, config_hash: str) -> str | None:
    """The finished run of a job of a sweep, None when there is none of this configuration.

    Other runs of the job are deleted: those of an earlier call that did not end well, or used other files.
    Raises :class:`TrackingError`.
    """
    client = open_store(config, folder)
    with one_sentence(config.uri):
        experiment_id = experiment(client, config, folder)
        found = client.search_runs(
            [experiment_id], f"tags.`{PARENT}` = '{parent}' AND tags.{JOB} = '{job_tag(job)}'"
        )
        same = [run.info.run_id for run in found if _is_finished(run, config_hash)]
        for run in found:
            if run.info.run_id not in same[:1]:
                client.delete_run(run.info.run_id)
    return str(same[0]) if same else None


def job_tag(job: str) -> str:
    """The name of a job in characters that a search of MLflow takes."""
    return re.sub(r"[^\w\-./=,]", "_", job)


def _is_finished(run: Run, config_hash: str) -> bool:
    return run.info.status == "FINISHED" and run.data.tags.get("config_hash") == config_hash


def _resumed(client: Any, experiment_id: str, run_id: str) -> bool:
    from mlflow.exceptions import MlflowException

    try:
        info = client.get_run(run_id).info
    except MlflowException:
        return False
    if info.lifecycle_stage != "active" or info.experiment_id != experiment_id:
        return False
    client.update_run(run_id, status="RUNNING")
    return True

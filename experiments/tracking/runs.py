"""Records one finished run."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.config import Tracking
from experiments.model import log_model_of_run
from experiments.tracking.address import local, look, masked
from experiments.tracking.failure import one_sentence
from experiments.tracking.record import DatasetRecord, RunRecord, Status, TrackedRun
from experiments.tracking.store import experiment, open_store

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput, Metric
    from mlflow.tracking import MlflowClient

PARENT = "mlflow.parentRunId"
_LONGEST_VALUE = 500
_LONGEST_TAG = 5000
_LONGEST_DIGEST = 36
_AT_ONCE = 100


def track(
    config: Tracking,
    record: RunRecord,
    folder: Path,
    parent: str | None = None,
    status: Status = "FINISHED",
) -> TrackedRun | None:
    """Record one run that has ended; paths in ``config`` are relative to ``folder``.

    ``parent`` is the run of the sweep it belongs to. Returns None where ``config`` records nothing.
    Raises :class:`TrackingError`; a run that was begun is then marked as failed where that is still possible.
    """
    if not config.record:
        return None
    client = open_store(config, folder)
    tags = dict(record.tags) if parent is None else {**record.tags, PARENT: parent}
    with one_sentence(config.uri):
        experiment_id = experiment(client, config, folder)
        run = client.create_run(experiment_id, int(record.started * 1000), _tags(tags), record.name)
    run_id: str = run.info.run_id
    try:
        with one_sentence(config.uri):
            _log(client, run_id, record)
            if config.model and record.check is not None:
                log_model_of_run(client, experiment_id, run_id, record.check)
            client.set_terminated(run_id, status)
    except BaseException:
        mark_failed(client, run_id)
        raise
    return TrackedRun(
        store=masked(config.uri),
        experiment=config.experiment,
        run_id=run_id,
        artifacts=local(str(run.info.artifact_uri)),
        look=look(config.uri, experiment_id, run_id),
    )


def mark_failed(client: MlflowClient, run_id: str) -> None:
    try:
        client.set_terminated(run_id, "FAILED")
    except Exception:  # the store that refused the run may refuse this as well; the first reason counts
        return


def log_params(client: MlflowClient, run_id: str, params: Mapping[str, Any]) -> None:
    from mlflow.entities import Param

    named = [Param(_key(name), _text(value)) for name, value in params.items()]
    for first in range(0, len(named), _AT_ONCE):
        client.log_batch(run_id, params=named[first : first + _AT_ONCE])


def log_metrics(client: MlflowClient, run_id: str, record: RunRecord) -> None:
    points = list(_points(record))
    for first in range(0, len(points), _AT_ONCE):
        client.log_batch(run_id, metrics=points[first : first + _AT_ONCE])


def _log(client: MlflowClient, run_id: str, record: RunRecord) -> None:
    log_params(client, run_id, record.params)
    log_metrics(client, run_id, record)
    client.log_inputs(run_id, [_input(dataset) for dataset in record.datasets])
    for file in record.files:
        client.log_artifact(run_id, str(file))


def _points(record: RunRecord) -> Iterator[Metric]:
    """Every figure that is a number; MLflow's step of a series is its second, rounded down."""
    from mlflow.entities import Metric

    begin = int(record.started * 1000)
    for name, value in record.metrics.items():
        if math.isfinite(value):
            yield Metric(_key(name), float(value), begin, 0)
    for name, series in record.series.items():
        for second, value in series:
            if math.isfinite(value):
                yield Metric(_key(name), float(value), begin + int(second * 1000), int(second))


def _input(dataset: DatasetRecord) -> DatasetInput:
    from mlflow.entities import Dataset, DatasetInput, InputTag

    if dataset.file is None:
        kind, source = "code", json.dumps({"tags": {"mlflow.source.name": dataset.source}})
    else:
        kind, source = "local", json.dumps({"uri": str(dataset.file)})
    return DatasetInput(
        Dataset(
            name=dataset.name,
            digest=dataset.digest[:_LONGEST_DIGEST],
            source_type=kind,
            source=source,
            profile=json.dumps(dict(dataset.counts)),
        ),
        [InputTag("mlflow.data.context", dataset.context)],
    )


def _tags(tags: Mapping[str, str]) -> dict[str, str]:
    return {_key(name): value[:_LONGEST_TAG] for name, value in tags.items()}


def _key(name: str) -> str:
    """A name in the characters that MLflow allows."""
    return re.sub(r"[^\w\-. :/]", "_", name)[:250]


def _text(value: Any) -> str:
    """A parameter's value; one too long for the table of runs is cut (config.yaml has all of it)."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"

"""Records runs in an MLflow store: parameters, metrics, dataset inputs with digests, and files.

The store is an SQLite file (created here when it is missing) or whatever other address MLflow takes. MLflow
is imported when a run is recorded and not before, since that alone takes more than a second.
"""

from __future__ import annotations

import json
import math
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from experiments.config import Tracking

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput
    from mlflow.tracking import MlflowClient

_SQLITE = "sqlite:///"
_ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_LOGGING_LEVEL": "WARNING",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    # With MLflow's own settings a server that is down would be asked for minutes.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
}
_LONGEST_VALUE = 500
_LONGEST_DIGEST = 36
_PARAMS_AT_ONCE = 100


class TrackingError(Exception):
    """A run could not be recorded; the message is one sentence that names the address and the reason."""


@dataclass(frozen=True, slots=True)
class DatasetRecord:
    """A dataset a run used: ``context`` is "training" or "testing", ``file`` is None for generated scenes."""

    name: str
    context: str
    digest: str
    source: str
    counts: Mapping[str, int]
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What is recorded of one run. ``started`` is in seconds since the epoch."""

    name: str
    params: Mapping[str, Any]
    metrics: Mapping[str, float]
    datasets: tuple[DatasetRecord, ...]
    files: tuple[Path, ...]
    started: float


@dataclass(frozen=True, slots=True)
class TrackedRun:
    """Where a run was recorded. ``look`` is a command or an address that shows it."""

    store: str
    experiment: str
    run_id: str
    artifacts: str
    look: str


def track(config: Tracking, record: RunRecord, folder: Path) -> TrackedRun:
    """Record one finished run; paths in ``config`` are relative to ``folder``.

    Raises :class:`TrackingError`; a run that was begun is then marked as failed where that is still possible.
    """
    client = open_store(config, folder)
    with _one_sentence(config):
        experiment_id = _experiment(client, config, folder)
        run = client.create_run(experiment_id, int(record.started * 1000), run_name=record.name)
    run_id: str = run.info.run_id
    try:
        with _one_sentence(config):
            _log(client, run_id, record)
            client.set_terminated(run_id, "FINISHED")
    except BaseException:
        _mark_failed(client, run_id)
        raise
    return TrackedRun(
        store=masked(config.uri),
        experiment=config.experiment,
        run_id=run_id,
        artifacts=_local(str(run.info.artifact_uri)),
        look=_look(config.uri, experiment_id, run_id),
    )


def open_store(config: Tracking, folder: Path) -> MlflowClient:
    """A client of the store, which is created when it is a missing SQLite file.

    Raises :class:`TrackingError` when the address is of no use.
    """
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    scheme, colon, _ = config.uri.partition(":")
    if scheme == "file" or (len(scheme) < 2 if colon else scheme != "databricks"):
        raise TrackingError(
            f"tracking.uri: {config.uri!r} is MLflow's retired file store; "
            "use an SQLite file (sqlite:///mlflow.db) or the http address of a server"
        )
    with _one_sentence(config):
        from mlflow.tracking import MlflowClient

        uri = config.uri
        if scheme == "sqlite":
            path = _database(uri, folder)
            uri = f"{_SQLITE}{path.as_posix()}"
            _prepare_database(path, folder / config.artifacts)
        return MlflowClient(tracking_uri=uri, registry_uri=uri)


def masked(uri: str) -> str:
    """The address without the name and password it may carry."""
    return re.sub(r"(?<=://)[^/]*@", "", uri)


def _database(uri: str, folder: Path) -> Path:
    path = uri.removeprefix(_SQLITE)
    if path == uri or path in ("", ":memory:") or "?" in path:
        raise TrackingError(
            f"tracking.uri: {uri!r} names no SQLite file; write sqlite:///mlflow.db for a file in the "
            "working folder, or four slashes for a path from the root"
        )
    return folder / path


def _prepare_database(path: Path, artifacts: Path) -> None:
    """See that the database exists and can be written.

    MLflow's own set-up fails when several processes open a missing database at once, and may leave it
    unusable. So it is set up under another name and then linked to its own, which the file system lets one
    process do. MLflow also tries an unusable file again and again for minutes; that is found out here.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            fresh.touch(exist_ok=False)
            _set_up(f"{_SQLITE}{fresh.as_posix()}", artifacts.as_uri())
            _publish(fresh, path)
        finally:
            fresh.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("SELECT count(*) FROM sqlite_master")
        connection.rollback()
    finally:
        connection.close()


def _set_up(uri: str, artifacts: str) -> None:
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    new_store: Callable[[str, str], SqlAlchemyStore] = SqlAlchemyStore
    new_store(uri, artifacts).engine.dispose()


def _publish(fresh: Path, path: Path) -> None:
    try:
        os.link(fresh, path)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        if not path.exists():
            os.replace(fresh, path)


def _experiment(client: MlflowClient, config: Tracking, folder: Path) -> str:
    found = client.get_experiment_by_name(config.experiment)
    if found is None:
        location = None
        if config.uri.startswith(_SQLITE):
            location = (folder / config.artifacts / _file_name(config.experiment)).as_uri()
        try:
            return str(client.create_experiment(config.experiment, artifact_location=location))
        except Exception:
            found = client.get_experiment_by_name(config.experiment)  # another process was first
            if found is None:
                raise
    if found.lifecycle_stage != "active":
        raise TrackingError(
            f"tracking.experiment: {config.experiment!r} is deleted in {masked(config.uri)}; restore it with "
            f"mlflow experiments restore --experiment-id {found.experiment_id}, or choose another name"
        )
    return str(found.experiment_id)


def _log(client: MlflowClient, run_id: str, record: RunRecord) -> None:
    from mlflow.entities import Metric, Param

    now = int(time.time() * 1000)
    params = [Param(_key(name), _text(value)) for name, value in record.params.items()]
    finite = [(name, float(value)) for name, value in record.metrics.items() if math.isfinite(value)]
    for first in range(0, len(params), _PARAMS_AT_ONCE):
        client.log_batch(run_id, params=params[first : first + _PARAMS_AT_ONCE])
    client.log_batch(run_id, metrics=[Metric(name, value, now, 0) for name, value in finite])
    client.log_inputs(run_id, [_input(dataset) for dataset in record.datasets])
    for file in record.files:
        client.log_artifact(run_id, str(file))


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


def _mark_failed(client: MlflowClient, run_id: str) -> None:
    try:
        client.set_terminated(run_id, "FAILED")
    except Exception:  # the store that refused the run may refuse this as well; the first reason counts
        return


@contextmanager
def _one_sentence(config: Tracking) -> Iterator[None]:
    """Whatever MLflow, its database driver or the network raises, as a :class:`TrackingError`."""
    try:
        yield
    except TrackingError:
        raise
    except Exception as error:
        address = masked(config.uri)
        reason = _reason(error).replace(config.uri, address)
        raise TrackingError(f"tracking: {address!r} can't be used: {reason}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}{f': {error.filename}' if error.filename else ''}"
    text = str(error).strip() or type(error).__name__
    if "Max retries exceeded" in text:
        return "nothing answers at this address"
    first = re.split(r"(?<=\.) |\n", text, maxsplit=1)[0].rstrip(".")
    return first if len(first) <= 200 else f"{first[:200]}…"


def _look(uri: str, experiment_id: str, run_id: str) -> str:
    if uri.startswith(("http://", "https://")):
        return f"{masked(uri).rstrip('/')}/#/experiments/{experiment_id}/runs/{run_id}"
    return f"mlflow ui --backend-store-uri {masked(uri)}"


def _local(uri: str) -> str:
    """A file's address as a path, any other address as it is."""
    return url2pathname(urlsplit(uri).path) if uri.startswith("file:") else uri


def _key(name: str) -> str:
    """A parameter's name in the characters that MLflow allows."""
    return re.sub(r"[^\w\-. :/]", "_", name)[:250]


def _text(value: Any) -> str:
    """A parameter's value; one too long for the table of runs is cut (config.yaml has all of it)."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _file_name(name: str) -> str:
    return re.sub(r"[^\w\-.]", "_", name).strip(".") or "experiment"

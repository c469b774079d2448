"""Opens the store at an address; of all processes only one ever sets up a missing SQLite file."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote
from uuid import uuid4

from experiments.config import Tracking
from experiments.tracking.address import SQLITE, masked
from experiments.tracking.failure import NO_SERVER, TrackingError, one_sentence

if TYPE_CHECKING:
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
    from mlflow.tracking import MlflowClient

_ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_LOGGING_LEVEL": "CRITICAL",  # it logs an error with its traceback, and raises it as well
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    # With MLflow's own settings a server that is down would be asked for minutes.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
}
_PATIENCE = 10.0  # seconds to wait for a database that another process is writing


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
    with one_sentence(config.uri):
        from mlflow.tracking import MlflowClient

        uri = config.uri
        if scheme == "sqlite":
            path = _database(uri, folder)
            uri = f"{SQLITE}{path.as_posix()}"
            _prepare_database(path, folder / config.artifacts)
        return MlflowClient(tracking_uri=uri, registry_uri=uri)


def experiment(client: MlflowClient, config: Tracking, folder: Path) -> str:
    """The id of the experiment that is named, created when it is missing."""
    found = client.get_experiment_by_name(config.experiment)
    if found is None:
        location = None
        if config.uri.startswith(SQLITE):
            location = (folder / config.artifacts / _file_name(config.experiment)).as_uri()
        try:
            return str(client.create_experiment(config.experiment, artifact_location=location))
        except Exception:
            found = client.get_experiment_by_name(config.experiment)  # another process was first
            if found is None:
                raise
    if not found.experiment_id:
        raise ValueError(NO_SERVER)
    if found.lifecycle_stage != "active":
        raise TrackingError(
            f"tracking.experiment: {config.experiment!r} is deleted in {masked(config.uri)}; restore it with "
            f"mlflow experiments restore --experiment-id {found.experiment_id}, or choose another name"
        )
    return str(found.experiment_id)


def _database(uri: str, folder: Path) -> Path:
    path = uri.removeprefix(SQLITE)
    if path == uri or path in ("", ":memory:") or "?" in path:
        raise TrackingError(
            f"tracking.uri: {uri!r} names no SQLite file; write sqlite:///mlflow.db for a file in the "
            "working folder, or four slashes for a path from the root"
        )
    whole = folder / path
    if "?" in str(whole) or unquote(str(whole)) != str(whole):
        raise TrackingError(
            f"tracking.uri: MLflow mistakes a part of {str(whole)!r} for a sign of its address; name a file "
            "in a folder without ? and % in its name"
        )
    return whole


def _prepare_database(path: Path, artifacts: Path) -> None:
    """See that the database exists and can be written.

    MLflow's own set-up fails when several processes open a missing database at once, and may leave it
    unusable. So it is set up under another name and then linked to its own, which the file system lets one
    process do. MLflow also tries an unusable file again and again for minutes; that is found out here.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.{uuid4().hex}")
        try:
            _touch(fresh, path)
            _set_up(f"{SQLITE}{fresh.as_posix()}", artifacts.as_uri())
            _publish(fresh, path)
        finally:
            for left in (fresh, fresh.with_name(f"{fresh.name}-journal")):
                left.unlink(missing_ok=True)
    connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if "alembic_version" not in tables:
            what = "something else than an MLflow store" if tables else "nothing at all"
            raise ValueError(f"the file holds {what}; choose another, or the name of a new one")
        connection.execute("UPDATE alembic_version SET version_num = version_num")
        connection.execute("ROLLBACK")
    finally:
        connection.close()


def _touch(fresh: Path, wanted: Path) -> None:
    try:
        fresh.touch(exist_ok=False)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(wanted)) from None


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


def _file_name(name: str) -> str:
    return re.sub(r"[^\w\-.]", "_", name).strip(".") or "experiment"

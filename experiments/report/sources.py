"""What the words of a command line name: a run or a sweep, in a folder or in an MLflow store.

A word is a folder where there is one of that name, else the id of an MLflow run. The files of an MLflow run
are fetched into a folder for as long as they are read, so that both kinds are read alike.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from experiments.report.files import FILES, RESULT, ReportError, read_table
from experiments.report.shapes import SweepTable

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient

DEFAULT_STORE = "sqlite:///mlflow.db"
_SQLITE = "sqlite:///"
_PARENT = "mlflow.parentRunId"
_UNFINISHED = "unfinished.json"
_AT_ONCE = 500
T = TypeVar("T")
Read = Callable[[Path, "str | None", bool], T]
"""Reads a run's folder, given the name it was recorded under, if any, and whether it stands alone."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A run of a sweep without results, and why as far as it is known."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """What a word names: the runs that were read (one alone where it is no sweep), and a sweep's tables."""

    word: str
    name: str
    is_sweep: bool
    runs: tuple[T, ...]
    tables: tuple[SweepTable, ...] = ()
    unfinished: tuple[Unfinished, ...] = ()


def find(word: str, read: Read[T], uri: str | None = None) -> Found[T]:
    """Read the run or the sweep that ``word`` names, each run by ``read``.

    ``uri`` is the MLflow store, by default that of the environment, else ``mlflow.db`` in this folder. Raises
    :class:`ReportError` where there is nothing of that name, or nothing finished, and
    :class:`experiments.tracking.TrackingError` where the store is of no use.
    """
    folder = Path(word)
    if folder.is_dir():
        return _in_folder(word, folder, read)
    if folder.exists():
        raise ReportError(f"{word}: a file, not the folder of a run or a sweep")
    if re.fullmatch(r"[0-9a-f]{32}", word):
        return _in_store(word, read, uri or os.environ.get("MLFLOW_TRACKING_URI") or DEFAULT_STORE)
    raise ReportError(f"{word}: no such folder, and no id of an MLflow run (32 hexadecimal digits)")


def _in_folder(word: str, folder: Path, read: Read[T]) -> Found[T]:
    if (folder / RESULT).is_file():
        return Found(word, folder.resolve().name, False, (read(folder, _recorded_name(folder), True),))
    finished = sorted((path.parent for path in folder.rglob(RESULT)), key=lambda path: order(path, folder))
    missing = [path.parent for path in folder.rglob(_UNFINISHED) if not (path.parent / RESULT).is_file()]
    unfinished = tuple(
        Unfinished(path.relative_to(folder).as_posix(), _reason(path))
        for path in sorted(missing, key=lambda path: order(path, folder))
    )
    if not finished:
        if (folder / _UNFINISHED).is_file():
            raise ReportError(f"{word}: the run has not finished; {_reason(folder)}")
        raise ReportError(f"{word}: neither a run nor a sweep, there is no {RESULT} in it or in its folders")
    return Found(
        word=word,
        name=folder.resolve().name,
        is_sweep=True,
        runs=tuple(read(path, _recorded_name(path), False) for path in finished),
        tables=tuple(read_table(path) for path in sorted(folder.rglob("table*.json"))),
        unfinished=unfinished,
    )


def order(path: Path, folder: Path) -> tuple[tuple[bool, int, str], ...]:
    """Folders by the numbers that they are named by."""
    parts = path.relative_to(folder).parts
    return tuple((not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts)


def _recorded_name(folder: Path) -> str | None:
    """The name under which a run was recorded, where its folder keeps that."""
    try:
        name = json.loads((folder / "record.json").read_text(encoding="utf-8"))["record"]["name"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return name if isinstance(name, str) and name else None


def _reason(folder: Path) -> str:
    try:
        found = json.loads((folder / _UNFINISHED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = {}
    said = found.get("sentence") or found.get("status") if isinstance(found, dict) else None
    return "it was cut off" if said in (None, "running") else str(said)


def _in_store(word: str, read: Read[T], uri: str) -> Found[T]:
    from experiments.config import Tracking
    from experiments.tracking import TrackingError, open_store
    from experiments.tracking.failure import one_sentence

    if uri.startswith(_SQLITE) and not Path(uri.removeprefix(_SQLITE)).exists():
        raise ReportError(f"{word}: no such folder, and no MLflow store at {uri}; --uri names another store")
    client = open_store(Tracking(uri=uri), Path.cwd())
    try:
        with one_sentence(uri):
            return _of_run(client, _run(client, word, uri), word, read)
    except TrackingError as error:
        if isinstance(error.__cause__, ReportError):  # what was found is at fault, and not the store
            raise error.__cause__ from None
        raise


def _of_run(client: MlflowClient, run: Run, word: str, read: Read[T]) -> Found[T]:
    if RESULT in _artifacts(client, word):
        return Found(word, _name(run), False, (_fetched(client, run, read, alone=True),))
    children = list(_children(client, run))
    finished = [child for child in children if RESULT in _artifacts(client, child.info.run_id)]
    if not finished:
        raise ReportError(f"{word}: this MLflow run has no {RESULT}, nor has any run inside it")
    done = {child.info.run_id for child in finished}
    return Found(
        word=word,
        name=_name(run),
        is_sweep=True,
        runs=tuple(_fetched(client, child, read, alone=False) for child in finished),
        tables=tuple(_tables(client, word)),
        unfinished=tuple(
            Unfinished(_name(child), _why(child)) for child in children if child.info.run_id not in done
        ),
    )


def _run(client: MlflowClient, word: str, uri: str) -> Run:
    from mlflow.exceptions import MlflowException

    try:
        return client.get_run(word)
    except MlflowException as error:
        if error.error_code != "RESOURCE_DOES_NOT_EXIST":
            raise
        from experiments.tracking import masked

        raise ReportError(f"{word}: no such folder, and no run of this id in {masked(uri)}") from None


def _name(run: Run) -> str:
    return run.info.run_name or str(run.info.run_id)


def _why(run: Run) -> str:
    return str(run.data.tags.get("failure") or run.info.status.lower())


def _artifacts(client: MlflowClient, run_id: str) -> Sequence[str]:
    return [file.path for file in client.list_artifacts(run_id) if not file.is_dir]


def _children(client: MlflowClient, run: Run) -> Iterator[Run]:
    """The runs nested in a run, the first begun first."""
    token: Any = None
    while True:
        found = client.search_runs(
            [run.info.experiment_id],
            f"tags.`{_PARENT}` = '{run.info.run_id}'",
            max_results=_AT_ONCE,
            order_by=["attributes.start_time ASC", "attributes.run_id ASC"],
            page_token=token,
        )
        yield from found
        token = found.token
        if not token:
            return


def _fetched(client: MlflowClient, run: Run, read: Read[T], *, alone: bool) -> T:
    there = _artifacts(client, run.info.run_id)
    with tempfile.TemporaryDirectory(prefix="experiments-") as folder:
        for name in FILES:
            if name in there:
                client.download_artifacts(run.info.run_id, name, folder)
        try:
            return read(Path(folder), _name(run), alone)
        except ReportError as error:
            here = f"MLflow run {run.info.run_id}"
            raise ReportError(str(error).replace(str(folder), here)) from None


def _tables(client: MlflowClient, run_id: str) -> Iterator[SweepTable]:
    names = [name for name in _artifacts(client, run_id) if re.fullmatch(r"table[^/]*\.json", name)]
    with tempfile.TemporaryDirectory(prefix="experiments-") as folder:
        for name in sorted(names):
            client.download_artifacts(run_id, name, folder)
            yield read_table(Path(folder) / name)

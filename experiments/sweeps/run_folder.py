"""What a run leaves in its folder about itself, so that a later call knows how far it came.

``unfinished.json`` is there from its start until it has ended well, ``record.json`` (what MLflow is told)
once its results are written, and ``run.json`` once it has been recorded: a folder with it is finished.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from filelock import FileLock, Timeout

from evaluator import json_text
from experiments.tracking import RunRecord
from induce.export import write_atomically

RUN, RECORD, UNFINISHED = "run.json", "record.json", "unfinished.json"
LOCKS = ".locks"
_LEFT = (RUN, RECORD, "result.json", "evaluation.json", "report.html")


class BusyError(Exception):
    """Another process has the lock."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    def begin(self, config_hash: str, title: str, record: RunRecord) -> None:
        """Take the folder for a configuration: what an earlier one left is no longer called finished.

        ``record`` is what there is to say of the run should it not end well.
        """
        self.clear()
        begun = {"config_hash": config_hash, "title": title, "status": "running", "record": _plain(record)}
        self._write(UNFINISHED, begun)

    def clear(self) -> None:
        """Take away what an earlier run left and another would not write again, such as its evaluation."""
        for name in _LEFT:
            (self.path / name).unlink(missing_ok=True)

    def fail(self, status: str, sentence: str) -> None:
        """Say why the run has not ended well."""
        self._write(UNFINISHED, {**self._read(UNFINISHED), "status": status, "sentence": sentence})

    def learnt(self, config_hash: str, record: RunRecord) -> None:
        """Keep what is to be recorded; the results are written."""
        named = dataclasses.replace(record, files=tuple(Path(file.name) for file in record.files))
        self._write(RECORD, {"config_hash": config_hash, "record": _plain(named)})
        (self.path / UNFINISHED).unlink(missing_ok=True)

    def finish(self, config_hash: str, store: str | None, run_id: str | None, sweep: str | None) -> None:
        """Call the run finished: recorded as ``run_id`` in ``store``, in the run ``sweep`` of its sweep."""
        self._write(RUN, {"config_hash": config_hash, "store": store, "run_id": run_id, "sweep": sweep})

    @property
    def run(self) -> Mapping[str, Any]:
        """``run.json``, empty when the run isn't finished."""
        return self._read(RUN)

    @property
    def unfinished(self) -> Mapping[str, Any]:
        """``unfinished.json``, empty when the run has ended well or hasn't begun."""
        return self._read(UNFINISHED)

    def holds(self, config_hash: str) -> bool:
        """Whether all results of a configuration are here."""
        return self.config_hash == config_hash and all(file.is_file() for file in self.record().files)

    @property
    def config_hash(self) -> str | None:
        """The hash of the configuration whose results are here, None without results."""
        value = self._read(RECORD).get("config_hash")
        return value if isinstance(value, str) else None

    def record(self) -> RunRecord:
        """What MLflow is to be told of the results that are here."""
        record = _record(self._read(RECORD)["record"])
        return dataclasses.replace(record, files=tuple(self.path / file for file in record.files))

    def last_words(self) -> RunRecord:
        """What MLflow is to be told of a run that hasn't ended well."""
        record = _record(self.unfinished["record"])
        reason = self.unfinished.get("sentence")
        return (
            record if reason is None else dataclasses.replace(record, tags={**record.tags, "failure": reason})
        )

    def _read(self, name: str) -> dict[str, Any]:
        try:
            found = json.loads((self.path / name).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, name: str, value: Mapping[str, Any]) -> None:
        write_atomically(self.path / name, f"{json_text(value)}\n")


def run_folders(sweep: Path) -> tuple[RunFolder, ...]:
    """The folders of the runs of a sweep that have begun, in the order of their numbers."""
    paths = {path.parent for name in (RUN, RECORD, UNFINISHED) for path in sweep.rglob(name)}
    return tuple(RunFolder(path) for path in sorted(paths, key=lambda path: _order(path.relative_to(sweep))))


@contextmanager
def locked(sweep: Path, name: str, *, wait: bool) -> Iterator[None]:
    """Hold a lock of a sweep; it ends with its process, however that ends.

    Raises :class:`BusyError` when another process has it and ``wait`` is off.
    """
    folder = sweep / LOCKS
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / f"{name}.lock", timeout=-1 if wait else 0)
    try:
        lock.acquire()
    except Timeout:
        raise BusyError(name) from None
    try:
        yield
    finally:
        lock.release()


def _order(path: Path) -> tuple[tuple[bool, int, str], ...]:
    return tuple((not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in path.parts)


def _plain(record: RunRecord) -> Any:
    finite = {name: value for name, value in record.metrics.items() if math.isfinite(value)}
    series = {
        name: [point for point in points if all(map(math.isfinite, point))]
        for name, points in record.series.items()
    }
    return msgspec.to_builtins(dataclasses.replace(record, metrics=finite, series=series), enc_hook=str)


def _record(plain: Any) -> RunRecord:
    return msgspec.convert(plain, RunRecord, dec_hook=lambda kind, value: kind(value))

"""How the jobs of a sweep are recorded: as runs nested in the sweep's own, one for each configuration."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from evaluator import json_text
from experiments.config import Tracking
from experiments.sweeps.run_folder import RunFolder
from experiments.tracking import RunRecord, Status, TrackingError, settle, track
from experiments.tracking.sweeps import JOB, job_tag
from induce.export import write_atomically

_FILE = "sweep.json"


@dataclass(frozen=True, slots=True)
class Nest:
    """What the jobs of a sweep need to know of it.

    ``swept`` has the values of each key with several, ``jobs`` the number of their combinations. ``run_id``
    is the run in ``store`` that theirs are nested in; without one they are not recorded, because of
    ``problem`` or because nothing is to be recorded. ``parents`` has such runs by store, of all calls.
    """

    name: str
    hash: str
    swept: dict[str, list[str]]
    jobs: int | None
    store: str | None
    run_id: str | None
    problem: str | None = None
    parents: dict[str, str] = field(default_factory=dict)


def read_nest(folder: Path) -> Nest | None:
    """The sweep that a folder holds, None when it holds none."""
    try:
        return msgspec.json.decode((folder / _FILE).read_bytes(), type=Nest)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def write_nest(folder: Path, nest: Nest, state: Mapping[str, Any]) -> Path:
    """Write ``sweep.json``: the sweep, and how it stands."""
    file = folder / _FILE
    write_atomically(file, f"{json_text({**dataclasses.asdict(nest), **state})}\n")
    return file


def job_of(sweep: Path, run: RunFolder) -> str:
    """The name of a job within its sweep, which is that of its folder."""
    return run.path.relative_to(sweep).as_posix()


def lock_of(job: str) -> str:
    """The name of the lock that whoever works at a job holds."""
    return f"run-{job.replace('/', '-')}"


def is_recorded(nest: Nest, run: RunFolder) -> bool:
    """Whether a run is finished and recorded where the sweep now is."""
    return bool(run.run) and (run.run.get("store"), run.run.get("sweep")) == (nest.store, nest.run_id)


def record(config: Tracking, folder: Path, nest: Nest, job: str, run: RunFolder) -> None:
    """Record the results in the folder of a run, once however often a job was cut off, and call it finished.

    Raises :class:`TrackingError`; the results then wait in their folder for the next call.
    """
    found = run.config_hash
    assert found is not None
    if nest.problem is not None:
        raise TrackingError(nest.problem)
    run_id = None
    if nest.run_id is not None:
        run_id = settle(config, folder, nest.run_id, job, found)
        if run_id is None:
            tracked = track(config, _tagged(run.record(), nest, job, found), folder, nest.run_id)
            run_id = tracked.run_id if tracked else None
    run.finish(found, nest.store, run_id, nest.run_id)


def mark(config: Tracking, folder: Path, nest: Nest, job: str, run: RunFolder, status: Status) -> None:
    """Record that a run has not ended well, where there is a store that takes it."""
    if nest.run_id is None:
        return
    found = str(run.unfinished["config_hash"])
    try:
        if settle(config, folder, nest.run_id, job, found) is None:
            track(config, _tagged(run.last_words(), nest, job, found), folder, nest.run_id, status)
    except TrackingError:  # the folder of the run says it as well
        return


def _tagged(record: RunRecord, nest: Nest, job: str, config_hash: str) -> RunRecord:
    tags = {"config_hash": config_hash, "sweep": nest.name, JOB: job_tag(job)}
    return dataclasses.replace(record, tags={**record.tags, **tags})

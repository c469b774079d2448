"""What is recorded of a run, and where it was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Status = Literal["FINISHED", "FAILED", "KILLED"]


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
    """What is recorded of one run.

    Attributes:
        started: in seconds since the epoch.
        tags: what runs are found by: proof, versions, git state, hash of the configuration.
        series: figures over time, pairs of a second since ``started`` and a value, by metric. A metric has
            either one figure in ``metrics`` or its series, not both.
        check: what is logged as a model, where that is asked for.
    """

    name: str
    params: Mapping[str, Any]
    metrics: Mapping[str, float]
    datasets: tuple[DatasetRecord, ...]
    files: tuple[Path, ...]
    started: float
    tags: Mapping[str, str] = field(default_factory=dict)
    series: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    check: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class TrackedRun:
    """Where a run was recorded. ``look`` is a command or an address that shows it."""

    store: str
    experiment: str
    run_id: str
    artifacts: str
    look: str

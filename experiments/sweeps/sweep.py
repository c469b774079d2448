"""A sweep as a whole: its folder, its lock, the run that its jobs are nested in, and how it ended.

The folder is named by the hash of what is swept, so that the same command finds it again and goes on with
what has not finished. ``sweep.json`` in it tells the jobs, which a launcher may run in other processes, where
to record themselves; each run says in its own folder how far it came (:mod:`experiments.sweeps.run_folder`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.commandline import SWEEPS, SweepRequest
from experiments.config import ConfigError, Tracking
from experiments.sweeps.identity import sweep_hash
from experiments.sweeps.nesting import Nest, is_recorded, job_of, lock_of, mark, read_nest, record, write_nest
from experiments.sweeps.run_folder import BusyError, RunFolder, locked, run_folders
from experiments.sweeps.table import SweepTable, read_runs, tabulate, write_table
from experiments.tracking import Status, TrackedRun, TrackingError, begin_sweep, end_sweep, masked
from induce.version import __version__

_LOCK, _NAMED = "sweep", 3


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep that this process has begun; ``finished_before`` are the runs that an earlier call finished."""

    request: SweepRequest
    folder: Path
    output: Path
    nest: Nest
    finished_before: frozenset[Path]


@dataclass(slots=True)
class SweepEnd:
    """How a sweep ended; failures and cut off runs by title, each failure with its sentence."""

    status: Status = "FINISHED"
    finished: int = 0
    reused: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    cut_off: list[str] = field(default_factory=list)
    unrecorded: int = 0
    problem: str | None = None
    table: SweepTable | None = None
    files: tuple[Path, ...] = ()
    tracked: TrackedRun | None = None

    def figures(self) -> dict[str, float]:
        """What the run of the sweep gets as metrics."""
        counts = {"finished": self.finished, "failed": len(self.failed), "cut_off": len(self.cut_off)}
        return counts | dict(self.table.figures() if self.table else ())


@contextmanager
def begun(request: SweepRequest, folder: Path) -> Iterator[Sweep]:
    """Begin a sweep, or go on with it; relative paths start at ``folder``.

    The store is opened here and nowhere before: its jobs may be processes that would get in each other's way.
    Raises :class:`ConfigError` when another process is at this sweep, or its folder holds another one.
    """
    identity = sweep_hash(request.first, request.swept, request.sweeper)
    name = f"{request.preset or 'sweep'}-{identity[:10]}"
    output = _place(request, folder, name, identity)
    try:
        with locked(output, _LOCK, wait=False):
            before = read_nest(output)
            nest = _begin(request, folder, output.name, identity, before)
            write_nest(output, nest, {"status": "RUNNING", "version": __version__})
            finished = frozenset(run.path for run in run_folders(output) if run.run)
            yield Sweep(request, folder, output, nest, finished)
    except BusyError:
        raise ConfigError(
            f"{_shown(output, folder)}: another process is at this sweep; wait for it, "
            "or give sweep.resume=false to run it all anew beside it"
        ) from None


def end(sweep: Sweep, *, stopped: bool) -> SweepEnd:
    """Take stock of a sweep whose jobs have ended or were stopped, tabulate it, and end its run."""
    tracking, ended = sweep.request.first.tracking, SweepEnd()
    for run in run_folders(sweep.output):
        try:
            job = job_of(sweep.output, run)
            with locked(sweep.output, lock_of(job), wait=False):
                _settle(sweep, job, run, ended)
        except BusyError:  # a job that outlived the launcher
            continue
    if stopped:
        ended.status = "KILLED"
    elif ended.failed or ended.cut_off:
        ended.status = "FAILED"
    if not stopped:
        _tabulate(sweep, ended)
    state = {"status": ended.status, "version": __version__, **ended.figures()}
    file = write_nest(sweep.output, sweep.nest, state)
    ended.problem = ended.problem or sweep.nest.problem
    run_id, files = sweep.nest.run_id, (file, *ended.files)
    try:
        ended.tracked = end_sweep(tracking, sweep.folder, run_id, ended.status, ended.figures(), files)
    except TrackingError as error:
        ended.problem = ended.problem or str(error)
    return ended


def summary(sweep: Sweep, ended: SweepEnd) -> Iterator[str]:
    """What came of a sweep: its table, its runs, and where all of it is."""
    if ended.table is not None:
        yield f"\n{ended.table.markdown()}"
    of = "" if sweep.nest.jobs is None else f" of {sweep.nest.jobs}"
    reused = f", {ended.reused} of them by an earlier call" if ended.reused else ""
    yield f"sweep: {ended.finished}{of} runs finished{reused}"
    yield f"files: {_shown(sweep.output, sweep.folder)}"
    tracked = ended.tracked
    if tracked is not None:
        yield f"mlflow: {tracked.store}, experiment {tracked.experiment}, run {tracked.run_id}"
        yield f"look at it: {tracked.look}"


def complaints(sweep: Sweep, ended: SweepEnd, stopped: str | None) -> Iterator[str]:
    """What did not go well, a sentence each; ``stopped`` is why not all jobs have ended."""
    jobs = sweep.nest.jobs
    of = f"of {jobs} " if jobs is not None else ""
    if stopped is not None:
        rest = "has nothing left to run" if ended.finished == jobs else "goes on with the others"
        yield f"{stopped} with {ended.finished} {of}runs finished; the same command {rest}"
    elif ended.cut_off:
        yield (
            f"{len(ended.cut_off)} {of}runs cut off, as their process was stopped: {_some(ended.cut_off)}; "
            "the same command runs them again"
        )
    if ended.failed:
        whys = [f"{title}: {sentence}" for title, sentence in ended.failed.items()]
        yield f"{len(whys)} {of}runs failed: {_some(whys)}"
    if ended.problem is not None:
        later = ", and the same command records them when it can" if ended.unrecorded else ""
        yield f"{ended.problem}; the results are in {_shown(sweep.output, sweep.folder)}{later}"


def _some(texts: Sequence[str]) -> str:
    more = f"; and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    return "; ".join(texts[:_NAMED]) + more


def _settle(sweep: Sweep, job: str, run: RunFolder, ended: SweepEnd) -> None:
    """Count a run; record it where that has failed before, mark it where it was cut off."""
    tracking, title = sweep.request.first.tracking, str(run.unfinished.get("title"))
    if run.config_hash is None:
        if run.unfinished.get("status") == "failed":
            ended.failed[title] = str(run.unfinished.get("sentence"))
        elif run.unfinished:
            ended.cut_off.append(title)
            run.fail("cut off", "its process was stopped")
        if run.unfinished:
            status: Status = "FAILED" if title in ended.failed else "KILLED"
            mark(tracking, sweep.folder, sweep.nest, job, run, status)
        return
    ended.finished += 1
    ended.reused += run.path in sweep.finished_before
    if not is_recorded(sweep.nest, run):
        try:
            record(tracking, sweep.folder, sweep.nest, job, run)
        except TrackingError as error:
            ended.unrecorded += 1
            ended.problem = ended.problem or str(error)


def _tabulate(sweep: Sweep, ended: SweepEnd) -> None:
    config = sweep.request.first.table
    runs = read_runs(sweep.output) if config.rows is not None else ()
    if not runs:
        return
    try:
        ended.table = tabulate(config, runs)
    except ConfigError as error:
        ended.problem = str(error)
        return
    ended.files = write_table(ended.table, sweep.output)


def _begin(request: SweepRequest, folder: Path, name: str, identity: str, before: Nest | None) -> Nest:
    tracking: Tracking = request.first.tracking
    store = masked(tracking.uri) if tracking.record else None
    params: dict[str, Any] = {key: ",".join(values) for key, values in request.swept.items()}
    params |= {"preset": request.preset or "none", "sweep_hash": identity}
    parents = dict(before.parents) if before is not None else {}
    run_id, problem = None, None
    try:
        run_id = begin_sweep(tracking, folder, name, params, parents.get(str(store)))
    except TrackingError as error:
        problem = str(error)
    if run_id is not None:
        parents[str(store)] = run_id
    swept = {key: list(values) for key, values in request.swept.items()}
    return Nest(name, identity, swept, request.jobs, store, run_id, problem, parents)


def _place(request: SweepRequest, folder: Path, name: str, identity: str) -> Path:
    """The folder of a sweep: the latest of its name, or a new one where all is to be run anew."""
    resume = request.first.sweep.resume
    if request.folder != SWEEPS:
        output = Path(os.path.abspath(folder / request.folder))  # without .., as Hydra names its jobs'
        there = read_nest(output)
        if there is not None and there.hash != identity:
            raise ConfigError(f"hydra.sweep.dir: {request.folder} holds another sweep; choose another folder")
        if there is not None and not resume:
            raise ConfigError(
                f"sweep.resume=false: {request.folder} holds this sweep already; choose another folder "
                "with hydra.sweep.dir"
            )
        return output
    base = folder / SWEEPS
    output, number = base / name, 1
    while output.exists():
        number += 1
        following = base / f"{name}-{number}"
        if resume and not following.exists():
            return output
        output = following
    if not resume:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.mkdir()
    return output


def _shown(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)

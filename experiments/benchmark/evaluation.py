"""The evaluator's speed: full results, raw scenes, prepared scenes; and other evaluators beside it."""

from __future__ import annotations

import copy
import platform
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evaluator import (
    CheckError,
    CompiledCheck,
    SceneError,
    SceneTable,
    compile_check,
    evaluate_many,
    json_text,
)
from evaluator.json_read import read_json
from experiments.benchmark.peers import PEERS, Judge
from experiments.benchmark.predicates import PREDICATES
from experiments.benchmark.timing import Figure, Task, measure

PEER_SCENES = 100
"""Scenes on which other evaluators are timed: some of them take a while."""


class BenchmarkError(ValueError):
    """What cannot be measured, and why."""


class Batch(NamedTuple):
    """Scenes and checks; every check is run on every scene."""

    scenes: list[Any]
    checks: list[dict[str, Any]]


class PeerFigure(NamedTuple):
    """Another evaluator: its version and speed, None where its package is absent."""

    package: str
    version: str | None
    figure: Figure | None


class EvaluatorReport(NamedTuple):
    """What the benchmark found; rates are a CPU second, one thread, best of `rounds`."""

    rounds: int
    scenes: int
    checks: int
    full: Figure
    raw: Figure
    prepared: Figure
    preparing: Figure
    compiled: Figure
    peers: tuple[PeerFigure, ...]

    @property
    def together(self) -> Figure:
        """Preparing the scenes and evaluating on them."""
        seconds = self.preparing.seconds + self.prepared.seconds
        return Figure("preparing and evaluating", self.prepared.evaluations, seconds)


def recorded_batch() -> Path:
    """The batch that comes with the source tree."""
    return Path(__file__).resolve().parents[2] / "tests" / "golden" / "autocheck" / "speed_batch.json"


def read_batch(path: Path) -> Batch:
    """A batch from a JSON file, an object with `scenes` and `checks`."""
    try:
        text = path.read_bytes()
    except OSError as error:
        advice = "; name one with --batch" if path == recorded_batch() else ""
        raise BenchmarkError(f"{path}: {(error.strerror or 'unreadable').lower()}{advice}") from None
    try:
        data = read_json(text)
    except ValueError as error:
        raise BenchmarkError(f"{path}: {error}") from None
    scenes, checks = (data.get("scenes"), data.get("checks")) if isinstance(data, dict) else (None, None)
    if not (isinstance(scenes, list) and isinstance(checks, list) and scenes and checks):
        raise BenchmarkError(
            f'{path}: expected an object with "scenes" and "checks", arrays that are not empty'
        )
    return Batch(scenes, checks)


def benchmark_evaluator(batch: Batch, rounds: int) -> EvaluatorReport:
    """Measure the evaluator on a batch, and other evaluators on predicates that mean the same.

    Checks, compiled or not, and scene tables are fresh in every round, so that nothing remembered about them
    can count as speed.

    Raises `BenchmarkError` when two ways of evaluating disagree about a verdict.
    """
    _require_own_agreement(batch)
    evaluations = len(batch.scenes) * len(batch.checks)
    tasks = [
        Task(
            "full results, why text built",
            evaluations,
            lambda: list(map(compile_check, batch.checks)),
            lambda compiled: _full_results(compiled, batch.scenes),
        ),
        Task(
            "verdict and gap, raw scenes",
            evaluations,
            lambda: copy.deepcopy(batch.checks),
            lambda checks: evaluate_many(checks, batch.scenes),
        ),
        Task(
            "verdict and gap, prepared scenes",
            evaluations,
            lambda: (copy.deepcopy(batch.checks), SceneTable(batch.scenes)),
            lambda both: evaluate_many(*both),
        ),
        Task("preparing the scenes", evaluations, lambda: None, lambda _: SceneTable(batch.scenes)),
    ]
    full, raw, prepared, preparing = measure(tasks, rounds)
    compiled, peers = _measure_peers(batch.scenes[:PEER_SCENES], rounds)
    return EvaluatorReport(
        rounds, len(batch.scenes), len(batch.checks), full, raw, prepared, preparing, compiled, peers
    )


def _full_results(checks: Sequence[CompiledCheck], scenes: Sequence[Any]) -> None:
    for check in checks:
        for scene in scenes:
            check(scene).why  # noqa: B018 (asking builds the text)


def _require_own_agreement(batch: Batch) -> None:
    """That the three ways to evaluate the batch give the same gaps."""
    try:
        raw, prepared = (
            evaluate_many(batch.checks, scenes).gap for scenes in (batch.scenes, SceneTable(batch.scenes))
        )
        full = [
            [compiled(scene).gap for scene in batch.scenes] for compiled in map(compile_check, batch.checks)
        ]
    except (CheckError, SceneError) as error:
        raise BenchmarkError(f"the batch cannot be evaluated: {error}") from None
    if not (np.array_equal(raw, full) and np.array_equal(prepared, full)):
        raise BenchmarkError("the ways to evaluate disagree about a gap; this is a fault in the evaluator")


def _measure_peers(scenes: list[Any], rounds: int) -> tuple[Figure, tuple[PeerFigure, ...]]:
    """Verdicts of the predicates that all the evaluators can say."""
    present = [peer for peer in PEERS if peer.version is not None]
    judges = [peer.judge(PREDICATES, scenes) for peer in present]
    checks = [compile_check(predicate.check) for predicate in PREDICATES]

    def own() -> list[list[bool]]:
        return [[check.passes(scene) for scene in scenes] for check in checks]

    verdicts = own()
    for peer, judge in zip(present, judges, strict=True):
        for predicate, ours, theirs in zip(PREDICATES, verdicts, judge(), strict=True):
            if ours != theirs:
                raise BenchmarkError(f"{peer.package} disagrees about {json_text(predicate.check)}")
    evaluations = len(scenes) * len(PREDICATES)
    named = [("this evaluator", own), *((p.package, j) for p, j in zip(present, judges, strict=True))]
    tasks = [Task(name, evaluations, partial(_just, judge), _call) for name, judge in named]
    first, *others = measure(tasks, rounds)
    figures = {figure.name: figure for figure in others}
    return first, tuple(PeerFigure(peer.package, peer.version, figures.get(peer.package)) for peer in PEERS)


def _just(judge: Judge) -> Judge:
    return judge


def _call(judge: Judge) -> object:
    return judge()


def table(report: EvaluatorReport) -> str:
    """The report as text."""
    lines = [
        f"{report.checks} checks on {report.scenes:,} scenes; CPU time, one thread, best of {report.rounds}",
        "",
        *(
            _line(figure.name, figure)
            for figure in (report.full, report.raw, report.prepared, report.together)
        ),
        f"{report.preparing.name:<36}{report.preparing.seconds * 1000:>12,.1f} ms",
        "",
        f"verdicts of {len(PREDICATES)} predicates that each can say, on {_peer_scenes(report)} scenes",
        "",
        _line(report.compiled.name, report.compiled),
    ]
    for peer in report.peers:
        if peer.figure is None:
            lines.append(f"{peer.package:<36}      absent (pip install {peer.package})")
        else:
            ratio = report.compiled.per_second / peer.figure.per_second
            lines.append(
                f"{_line(f'{peer.package} {peer.version}', peer.figure)}   {ratio:,.1f} times slower"
            )
    return "\n".join(lines)


def _peer_scenes(report: EvaluatorReport) -> int:
    return report.compiled.evaluations // len(PREDICATES)


def _line(name: str, figure: Figure) -> str:
    return f"{name:<36}{figure.per_second:>12,.0f} a second"


def as_dict(report: EvaluatorReport) -> dict[str, Any]:
    """The report as JSON: figures by name, ratios to the peers."""
    own = {
        "full": report.full,
        "raw": report.raw,
        "prepared": report.prepared,
        "with_preparing": report.together,
    }
    return {
        "benchmark": "evaluator",
        "python": platform.python_version(),
        "machine": platform.machine(),
        "rounds": report.rounds,
        "scenes": report.scenes,
        "checks": report.checks,
        "evaluations": report.full.evaluations,
        "per_second": {name: round(figure.per_second) for name, figure in own.items()},
        "preparing_seconds": report.preparing.seconds,
        "predicates": len(PREDICATES),
        "predicate_scenes": _peer_scenes(report),
        "predicates_per_second": round(report.compiled.per_second),
        "peers": [_peer_as_dict(report, peer) for peer in report.peers],
    }


def _peer_as_dict(report: EvaluatorReport, peer: PeerFigure) -> dict[str, Any]:
    if peer.figure is None:
        return {"package": peer.package, "absent": True}
    return {
        "package": peer.package,
        "version": peer.version,
        "per_second": round(peer.figure.per_second),
        "times_faster": round(report.compiled.per_second / peer.figure.per_second, 2),
    }

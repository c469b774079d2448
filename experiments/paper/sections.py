"""The sections of a paper: what each tells of its runs, in tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from experiments.paper.figure import Panel, PaperFigure
from experiments.paper.runs import OURS, Figure, Runs, accuracy, by_size, exact, metric, seconds
from experiments.paper.table import Column, Kind, PaperTable, Row

_ALL = "all"


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its title, what was run, tables and figures, and apart from them what a clock measured."""

    title: str
    says: str
    tables: tuple[PaperTable, ...]
    figures: tuple[PaperFigure, ...] = ()
    times: tuple[PaperTable, ...] = ()
    time_figures: tuple[PaperFigure, ...] = field(default=())


def _recovery(runs: Runs) -> Section:
    """Which hidden rules come back, by kind of scenes and by rule."""
    kinds, learners = runs.values("dataset.kind"), runs.learners
    parts = {kind: runs.where(dataset__kind=kind) for kind in kinds}
    rules = [
        (kind, rule, part.where(dataset__rule=rule))
        for kind, part in parts.items()
        for rule in by_size(part, part.values("dataset.rule"))
    ]
    by_rule = PaperTable(
        "By rule: its size in bits (none where the grammar cannot say it as it is written), the share of "
        "runs exact, and accuracy on unseen scenes",
        "rule",
        (
            Column("bits", "bits"),
            Column("exact", "share"),
            *(Column(learner, "accuracy") for learner in learners),
        ),
        tuple(
            Row(
                f"{kind}: {rule}",
                (
                    part.mean(metric("rule_size")),
                    part.mean(exact(OURS)),
                    *(part.mean(accuracy(learner)) for learner in learners),
                ),
            )
            for kind, rule, part in rules
        ),
    )
    return Section(
        "Recovery",
        f"{len(rules)} hidden rules over {len(kinds)} kinds of scenes; {_counted(runs)}.",
        (
            _by_kind("Share of runs exact on unseen scenes", parts, runs, exact),
            _by_kind("Accuracy on unseen scenes", parts, runs, accuracy, "accuracy"),
            by_rule,
        ),
        times=(_by_kind("Seconds to learn", parts, runs, seconds, "seconds"),),
    )


def _sample_efficiency(runs: Runs) -> Section:
    """What comes back from how many scenes."""
    sizes = runs.numbers("dataset.train")
    columns = {f"{size / 2:g}": runs.where(dataset__train=size) for size in sizes}
    halves = [size / 2 for size in sizes]
    panels = _exact_and_right("training scenes of each label", halves, columns, runs.learners, log_x=True)
    return Section(
        "Sample efficiency",
        f"Columns are training scenes of each label; {_counted(runs)}.",
        (
            _learners("Share of runs exact on unseen scenes", columns, runs.learners, exact),
            _learners("Accuracy on unseen scenes", columns, runs.learners, accuracy, "accuracy"),
            _rules("By rule: share of runs exact", runs, columns, exact(OURS), "share"),
            _rules("By rule: accuracy on unseen scenes", runs, columns, accuracy(OURS), "accuracy"),
        ),
        (PaperFigure("sample_efficiency", "Exact and right, by training scenes", panels),),
    )


def _noise(runs: Runs) -> Section:
    """What flipped labels do."""
    shares = runs.numbers("dataset.noise")
    columns = {f"{share:.0%}": runs.where(dataset__noise=share) for share in shares}
    percent = [100 * share for share in shares]
    panels = _exact_and_right("training labels flipped, %", percent, columns, runs.learners)
    counts = PaperTable(
        "Training labels: flipped, called wrong by the learnt check, and both",
        "labels",
        tuple(Column(name, "mean") for name in columns),
        tuple(
            Row(title, tuple(part.mean(metric(name)) for part in columns.values()))
            for name, title in (
                ("flipped", "flipped"),
                ("suspected", "called wrong"),
                ("flipped_suspected", "flipped and called wrong"),
            )
        ),
    )
    return Section(
        "Noise",
        f"Columns are the share of training labels flipped; unseen labels are clean; {_counted(runs)}.",
        (
            _learners("Share of runs exact on unseen scenes", columns, runs.learners, exact),
            _learners("Accuracy on unseen scenes", columns, runs.learners, accuracy, "accuracy"),
            counts,
            _rules("By rule: share of runs exact", runs, columns, exact(OURS), "share"),
        ),
        (PaperFigure("noise", "Exact and right, by noise", panels),),
    )


def _active(runs: Runs) -> Section:
    """How many asked labels it takes until the check is exact."""
    ways = {"telling": "the most telling scene", "random": "a scene at random"}
    hows = runs.values("asking.how")
    parts = {ways[how]: runs.where(asking__how=how) for how in hows}
    most = max(int(run.config["asking.labels"]) for run in runs.runs)
    steps = [step for step in (0, 1, 2, 3, 5, 10, 15, 20, 30, 50) if step <= most]

    def exact_by(labels: int) -> Figure:
        return lambda run: float(run.metrics["recovered"] == 1 and run.metrics["answers"] <= labels)

    rules = by_size(runs, runs.values("dataset.rule"))
    named = [(rule, runs.where(dataset__rule=rule)) for rule in rules]
    asked = PaperTable(
        f"By rule: labels asked until the check is exact, {most} where it is not by then",
        "rule",
        (Column("bits", "bits"), *(Column(f"asking for {way}", "mean") for way in parts)),
        tuple(
            Row(
                name,
                (
                    None if name == _ALL else own.mean(metric("rule_size")),
                    *(own.where(asking__how=how).mean(metric("answers")) for how in hows),
                ),
            )
            for name, own in [*named, (_ALL, runs)]
        ),
    )
    curve = Panel(
        "exact after so many labels",
        "labels asked",
        list(range(most + 1)),
        {way: [part.mean(exact_by(step)) for step in range(most + 1)] for way, part in parts.items()},
    )
    (start,) = runs.values("dataset.train")[:1]
    return Section(
        "Active learning",
        f"From {start} labelled scenes, labels are asked of the hidden rule until the check is exact; "
        f"{_counted(runs)}.",
        (
            PaperTable(
                "Share of runs exact after so many labels",
                "asking for",
                tuple(Column(str(step), "share") for step in steps),
                tuple(
                    Row(way, tuple(part.mean(exact_by(step)) for step in steps))
                    for way, part in parts.items()
                ),
            ),
            asked,
        ),
        (PaperFigure("active", "Exact after so many asked labels", (curve,)),),
    )


def _scaling(runs: Runs) -> Section:
    """What learning and proving take, by scenes and by rule."""
    sizes = runs.numbers("dataset.train")
    columns = {f"{size:g}": runs.where(dataset__train=size) for size in sizes}
    rules = by_size(runs, runs.values("dataset.rule"))

    def lines(figure: Figure) -> dict[str, list[float | None]]:
        return {
            rule: [part.where(dataset__rule=rule).mean(figure) for part in columns.values()] for rule in rules
        }

    beside = [learner for learner in runs.learners if learner != OURS]
    panels = (
        Panel(
            "seconds until the proof",
            "training scenes",
            sizes,
            lines(metric("seconds_to_proof")),
            False,
            True,
            True,
        ),
        Panel("seconds in all", "training scenes", sizes, lines(metric("seconds")), False, True, True),
    )
    return Section(
        "Time to proof and scaling",
        f"Columns are training scenes; {_counted(runs)}.",
        (
            _rules("Share of runs proved minimal", runs, columns, metric("optimal"), "share"),
            _rules("Share of runs exact on unseen scenes", runs, columns, exact(OURS), "share"),
            _learners("Accuracy on unseen scenes", columns, runs.learners, accuracy, "accuracy"),
            _rules("Search nodes", runs, columns, metric("nodes"), "count"),
            _rules("Distinct truth columns of literals", runs, columns, metric("atoms"), "count"),
        ),
        times=(
            _rules("Seconds to the first rule", runs, columns, metric("seconds_to_rule"), "seconds"),
            _rules("Seconds to the rule that stayed", runs, columns, metric("seconds_to_best"), "seconds"),
            _rules(
                "Seconds to the proof, where there is one",
                runs,
                columns,
                metric("seconds_to_proof"),
                "seconds",
            ),
            _rules("CPU seconds in all", runs, columns, metric("cpu_seconds"), "seconds"),
            _learners("Seconds in all, beside other learners", columns, (OURS, *beside), seconds, "seconds"),
        ),
        time_figures=(
            PaperFigure("times", "Seconds by training scenes, for rules of different size", panels),
        ),
    )


SECTIONS: Final[Mapping[str, Callable[[Runs], Section]]] = {
    "recovery": _recovery,
    "sample_efficiency": _sample_efficiency,
    "noise": _noise,
    "active": _active,
    "scaling": _scaling,
}


def _counted(runs: Runs) -> str:
    rules, seeds = len(runs.values("dataset.rule")), len(runs.values("seed"))
    many = "" if seeds == 1 else "s"
    return (
        f"means of {len(runs)} runs, {rules} rule{'' if rules == 1 else 's'} and {seeds} draw{many} of scenes"
    )


def _exact_and_right(
    x_label: str,
    x: Sequence[float],
    columns: Mapping[str, Runs],
    learners: Sequence[str],
    *,
    log_x: bool = False,
) -> tuple[Panel, ...]:
    """How often learners are exact, and how right they are, over columns of runs."""
    return tuple(
        Panel(
            title,
            x_label,
            x,
            {learner: [part.mean(of(learner)) for part in columns.values()] for learner in learners},
            log_x=log_x,
        )
        for title, of in (("exact", exact), ("right on unseen scenes", accuracy))
    )


def _learners(
    title: str,
    columns: Mapping[str, Runs],
    learners: Sequence[str],
    of: Callable[[str], Figure],
    kind: Kind = "share",
) -> PaperTable:
    """Learners against columns of runs."""
    return PaperTable(
        title,
        "learner",
        tuple(Column(name, kind) for name in columns),
        tuple(
            Row(learner, tuple(part.mean(of(learner)) for part in columns.values())) for learner in learners
        ),
    )


def _by_kind(
    title: str,
    parts: Mapping[Any, Runs],
    runs: Runs,
    of: Callable[[str], Figure],
    kind: Kind = "share",
) -> PaperTable:
    """Kinds of scenes, and all runs, against learners."""
    return PaperTable(
        title,
        "scenes",
        tuple(Column(learner, kind) for learner in runs.learners),
        tuple(
            Row(str(name), tuple(part.mean(of(learner)) for learner in runs.learners))
            for name, part in [*parts.items(), (_ALL, runs)]
        ),
    )


def _rules(title: str, runs: Runs, columns: Mapping[str, Runs], figure: Figure, kind: Kind) -> PaperTable:
    """Rules, the smallest first, against columns of runs; then all of them."""
    rules = by_size(runs, runs.values("dataset.rule"))
    rows = [
        Row(
            rule,
            (
                runs.where(dataset__rule=rule).mean(metric("rule_size")),
                *(part.where(dataset__rule=rule).mean(figure) for part in columns.values()),
            ),
        )
        for rule in rules
    ]
    if len(rules) > 1:
        rows.append(Row(_ALL, (None, *(part.mean(figure) for part in columns.values()))))
    return PaperTable(
        title, "rule", (Column("bits", "bits"), *(Column(name, kind) for name in columns)), tuple(rows)
    )

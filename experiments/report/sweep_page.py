"""The page of a sweep: its tables and their plots, the best and the worst run, and each run in a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from evaluator import CheckError
from experiments.report import charts
from experiments.report.differing import differing
from experiments.report.files import ReportError, RunFiles, amount
from experiments.report.page import count, percent, render
from experiments.report.shapes import SweepTable
from experiments.report.sources import Found
from experiments.report.svg import StyleSheet
from experiments.report.tree import Branch, tree_of

MOST_RUNS = 400
"""Runs of which there is a line."""
MOST_CHECKS = 120
"""Runs whose checks are shown below the lines."""
_MOST_LINES = 6


@dataclass(frozen=True, slots=True)
class Line:
    """A run of the sweep: its number in the page, the values that tell it apart, and its figures."""

    number: int
    run: RunFiles
    values: tuple[str, ...]
    accuracy: float | None
    train_accuracy: float | None
    recovered: bool | None

    @property
    def title(self) -> str:
        return self.run.name


@dataclass(frozen=True, slots=True)
class Cell:
    """The text of a figure, and how high a share it is, in tenths; None for what is no share."""

    text: str
    tenths: int | None


@dataclass(frozen=True, slots=True)
class Grid:
    """One metric of a table: its cells by row, and its plot."""

    title: str
    table: SweepTable
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    plot: Markup | None
    unplotted: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A run whose check is shown in full."""

    line: Line
    tree: Branch


def render_sweep(found: Found[RunFiles]) -> str:
    """The sweep as one HTML page. Raises :class:`ReportError` where a check is not well formed."""
    sheet = StyleSheet()
    told = differing([run.config for run in found.runs])
    lines = [
        _line(*numbered, values)
        for numbered, values in zip(enumerate(found.runs, 1), told.values, strict=True)
    ]
    graded = sorted((line for line in lines if line.accuracy is not None), key=_goodness)
    grids = [
        grid
        for index, table in enumerate(found.tables)
        for grid in _grids(index, table, _titles(found), sheet, several=len(found.tables) > 1)
    ]
    view = {
        "title": _title(found),
        "found": found,
        "keys": told.keys,
        "left_out": told.left_out,
        "lines": lines[:MOST_RUNS],
        "all_lines": len(lines),
        "best": _shown(graded[-1]) if graded else None,
        "worst": _shown(graded[0]) if len(graded) > 1 else None,
        "shown": [_shown(line) for line in lines[:MOST_CHECKS]],
        "grids": grids,
        "mean_accuracy": _mean([line.accuracy for line in lines]),
        "recovered": _mean([None if line.recovered is None else float(line.recovered) for line in lines]),
        "proved": _mean([float(line.run.result.induction.optimal) for line in lines]),
        "seconds": sum(line.run.result.induction.seconds for line in lines),
    }
    return render("sweep.html.jinja", view, sheet)


def _line(number: int, run: RunFiles, values: tuple[str, ...]) -> Line:
    result = run.result
    recovered = result.metrics.get("recovered")
    return Line(
        number=number,
        run=run,
        values=values,
        accuracy=result.test.accuracy,
        train_accuracy=result.train.accuracy,
        recovered=None if recovered is None else bool(amount(recovered)),
    )


def _goodness(line: Line) -> tuple[float, float, int]:
    """The order from the worst run to the best: accuracy, then the shorter check, then the earlier run."""
    accuracy = line.accuracy if line.accuracy is not None else -1.0
    return accuracy, -amount(line.run.result.induction.size), -line.number


def _shown(line: Line) -> Shown:
    check = line.run.result.induction.check
    try:
        return Shown(line, tree_of(check))
    except CheckError as error:
        raise ReportError(f"{line.run.name}: {error}") from None


def _title(found: Found[RunFiles]) -> str:
    """The title of the sweep's table, unless it is the default one."""
    given = [table.title for table in found.tables if table.title != "sweep"]
    return given[0] if given else f"A sweep of {count(len(found.runs), 'run')}"


def _titles(found: Found[RunFiles]) -> Mapping[str, Any]:
    """The titles of metrics, as the configuration of the sweep gives them."""
    table = found.runs[0].config.get("table")
    values = table.get("values") if isinstance(table, Mapping) else None
    return values if isinstance(values, Mapping) else {}


def _grids(
    index: int, table: SweepTable, titles: Mapping[str, Any], sheet: StyleSheet, *, several: bool
) -> Iterator[Grid]:
    names = [*table.rows.values, "all"]
    for place, (metric, means) in enumerate(table.means.items()):
        share = metric.startswith("recovered") or metric.endswith("accuracy")
        plotted = dict(list(zip(names, means, strict=False))[:_MOST_LINES])
        title = str(titles.get(metric, metric))
        if several:
            title = f"{table.title}: {title}"
        plot = None
        if any(value is not None for values in plotted.values() for value in values):
            plot = charts.lines_of_table(
                plotted,
                table.columns.values,
                key=table.columns.key,
                share=share,
                name=f"table-{index}-{place}",
                says=f"{title}, a line for each of {len(plotted)} rows of the table.",
                sheet=sheet,
            )
        cells = [tuple(_cell(value, share) for value in values) for values in means]
        yield Grid(
            title=title,
            table=table,
            rows=tuple(zip(names, cells, strict=False)),
            plot=plot,
            unplotted=len(names) - len(plotted),
        )


def _cell(value: float | None, share: bool) -> Cell:
    if value is None:
        return Cell("", None)
    if not share:
        return Cell(f"{value:.1f}", None)
    return Cell(percent(value, 0), round(10 * min(1.0, max(0.0, value))))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None

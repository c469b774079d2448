"""The table of a sweep: two keys of the configuration against the averages of metrics, as Markdown and JSON.

Each run of a sweep leaves its configuration and its figures in a folder of its own, whatever launcher ran
it. When all have ended they are read back, so a table says nothing that the files do not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from evaluator import json_text
from experiments.config import ConfigError, Table, did_you_mean, flatten
from experiments.markdown import markdown_table
from experiments.sweeps.run_folder import UNFINISHED
from induce.export import write_atomically

SIZE = "rule_size"


@dataclass(frozen=True, slots=True)
class SweptRun:
    """A finished run of a sweep: its configuration by dotted key, and its metrics."""

    config: Mapping[str, Any]
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SweepTable:
    """Averages of metrics, ``means[metric][row][column]``, None where no run has both.

    Rows stand in the order of ``sizes``, the mean size of their hidden rule in bits, where the runs of each
    row have one; the last row is the mean of the others in each column.
    """

    config: Table
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    sizes: tuple[float, ...] | None
    runs: int
    means: Mapping[str, tuple[tuple[float | None, ...], ...]]

    def to_dict(self) -> dict[str, Any]:
        return {
            "title": self.config.title,
            "rows": {"key": self.config.rows, "values": self.rows, "rule_size": self.sizes},
            "columns": {"key": self.config.columns, "values": self.columns},
            "runs": self.runs,
            "means": self.means,
        }

    def figures(self) -> Iterator[tuple[str, float]]:
        """Each mean, named by its metric, row and column."""
        for metric, rows in self.means.items():
            for row, cells in zip((*self.rows, "all"), rows, strict=True):
                for column, mean in zip(self.columns, cells, strict=True):
                    if mean is not None:
                        yield f"{metric}/{row}/{column}", mean

    def markdown(self) -> str:
        """The title and a table a metric, columns wide enough to be read as text too."""
        parts = [f"# {self.config.title}", f"Means of {self.runs} runs."]
        for metric, words in self.config.values.items():
            share = metric.startswith("recovered") or metric.endswith("accuracy")
            sizes = () if self.sizes is None else ("bits",)
            head = [str(self.config.rows), *sizes, *self.columns]
            body = []
            for index, (row, cells) in enumerate(zip((*self.rows, "all"), self.means[metric], strict=True)):
                size = [] if self.sizes is None else [f"{self.sizes[index]:.0f}" if row != "all" else ""]
                body.append([row, *size, *(_cell(mean, share) for mean in cells)])
            parts += [f"{words} (columns: {self.config.columns})", markdown_table([head, *body])]
        return "\n\n".join(parts) + "\n"


def read_runs(folder: Path) -> tuple[SweptRun, ...]:
    """The runs of a sweep that have ended well, from the folders that they left in ``folder``."""
    found = []
    for path in sorted(folder.glob("*/result.json"), key=lambda path: _order(path.parent.name)):
        if path.with_name(UNFINISHED).exists():  # cut off before all of its files were written
            continue
        config = OmegaConf.to_container(OmegaConf.load(path.with_name("config.yaml")))
        assert isinstance(config, dict)
        tree = {str(key): value for key, value in config.items()}
        metrics = json.loads(path.read_text(encoding="utf-8"))["metrics"]
        found.append(SweptRun(flatten(tree), metrics))
    return tuple(found)


def tabulate(config: Table, runs: Sequence[SweptRun]) -> SweepTable:
    """The table that ``config`` asks for. Raises :class:`ConfigError` for a metric that no run has."""
    known = {name for run in runs for name in run.metrics}
    for metric in config.values:
        if metric not in known:
            raise ConfigError(
                f"table.values: {metric!r} is no metric of these runs{did_you_mean(metric, known)}"
            )
    assert config.rows is not None
    assert config.columns is not None
    cells: dict[tuple[str, str], list[SweptRun]] = {}
    for run in runs:
        place = _text(run.config.get(config.rows)), _text(run.config.get(config.columns))
        cells.setdefault(place, []).append(run)
    rows = sorted({row for row, _ in cells}, key=_order)
    columns = tuple(sorted({column for _, column in cells}, key=_order))
    sizes = {
        row: _mean([run for place, group in cells.items() if place[0] == row for run in group], SIZE)
        for row in rows
    }
    sized = {row: size for row, size in sizes.items() if size is not None}
    if len(sized) == len(rows):
        rows.sort(key=sized.__getitem__)
    means = {}
    for metric in config.values:
        body = [tuple(_mean(cells.get((row, column), ()), metric) for column in columns) for row in rows]
        means[metric] = (*body, tuple(_average(column) for column in zip(*body, strict=True)))
    return SweepTable(
        config=config,
        rows=tuple(rows),
        columns=columns,
        sizes=tuple(sized[row] for row in rows) if len(sized) == len(rows) else None,
        runs=len(runs),
        means=means,
    )


def write_table(table: SweepTable, folder: Path) -> tuple[Path, ...]:
    """Write table.md and table.json into ``folder``."""
    texts = {"table.md": table.markdown(), "table.json": f"{json_text(table.to_dict())}\n"}
    for name, text in texts.items():
        write_atomically(folder / name, text)
    return tuple(folder / name for name in texts)


def _mean(runs: Sequence[SweptRun], metric: str) -> float | None:
    return _average([run.metrics.get(metric) for run in runs])


def _average(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _cell(mean: float | None, share: bool) -> str:
    return "" if mean is None else f"{mean:.0%}" if share else f"{mean:.1f}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)


def _order(text: str) -> tuple[bool, float, str]:
    """Numbers by size, then texts."""
    try:
        return False, float(text), text
    except ValueError:
        return True, 0.0, text

"""A table of a paper: figures by row and column, as Markdown for a reader and as JSON for a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from experiments.markdown import markdown_table

Kind = Literal["share", "accuracy", "bits", "count", "mean", "seconds"]
"""How a figure is shown: shares and accuracies as percent, bits and counts as whole numbers."""

_FORMATS: Final[dict[Kind, str]] = {
    "share": "{:.0%}",
    "accuracy": "{:.1%}",
    "bits": "{:.0f}",
    "count": "{:.0f}",
    "mean": "{:.1f}",
    "seconds": "{:.2f}",
}


@dataclass(frozen=True, slots=True)
class Column:
    """The heading of a column, and of which kind its figures are."""

    title: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Row:
    """A row by name: one figure for each column, None where there is none."""

    name: str
    figures: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class PaperTable:
    """Figures by row and column; ``corner`` is the heading of the rows' names."""

    title: str
    corner: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "columns": [column.title for column in self.columns],
            "rows": {row.name: list(row.figures) for row in self.rows},
        }

    def markdown(self) -> str:
        """The title and the table, columns wide enough to be read as text too."""
        head = [self.corner, *(column.title for column in self.columns)]
        body = [
            [row.name, *(_shown(*pair) for pair in zip(row.figures, self.columns, strict=True))]
            for row in self.rows
        ]
        return f"{self.title}\n\n{markdown_table([head, *body])}"


def _shown(figure: float | None, column: Column) -> str:
    return "" if figure is None else _FORMATS[column.kind].format(figure)

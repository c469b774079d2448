"""A table as Markdown that can be read as text too: columns as wide as they need, figures to the right."""

from __future__ import annotations

from collections.abc import Sequence

_NARROWEST = 3
"""A column's rule is two dashes and a colon at the least."""


def markdown_table(lines: Sequence[Sequence[str]]) -> str:
    """The lines, a head first, of cells as texts; the first column holds names, the others figures."""
    widths = [max(_NARROWEST, *map(len, column)) for column in zip(*lines, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *others = zip(cells, widths, strict=True)
        return f"| {' | '.join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)])} |"

    marks = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join([line(lines[0]), f"| {' | '.join(marks)} |", *map(line, lines[1:])])

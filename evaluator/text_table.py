"""Tables as plain text, in columns that line up."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from evaluator.safe_text import printable


def text_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[str] = ()
) -> Iterator[str]:
    """The lines of a table. The columns named in `right` (numbers, mostly) are set to the right."""
    shown = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *shown, strict=True)]
    for row in (head, *shown):
        cells = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for cell, width, name in zip(row, widths, head, strict=True)
        ]
        yield "  ".join(cells).rstrip()

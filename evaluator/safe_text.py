"""Text from scenes made safe to be shown, on a terminal or in a chart."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text with everything that is not printable (line ends, control characters) as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def printable_lines(text: str) -> str:
    """The same of a text of several lines: the line ends stay."""
    return "\n".join(map(printable, text.split("\n")))

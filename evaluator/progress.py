"""A line on standard error that says how far a long run has come; only where a person can see it."""

from __future__ import annotations

import sys
from time import monotonic

_SECONDS_BETWEEN = 0.2


class Progress:
    """Shows a text that is written over by the next one; silent unless standard error is a terminal.

    Silent as well where standard output is the same screen and results scroll by on it.
    """

    def __init__(self, *, results_on_screen: bool) -> None:
        stream = sys.stderr
        self._shown = 0
        self._next = monotonic() + _SECONDS_BETWEEN
        self._visible = stream is not None and stream.isatty()
        self._visible &= not (results_on_screen and sys.stdout.isatty())

    def due(self) -> bool:
        """Whether it is time for another text."""
        return self._visible and monotonic() >= self._next

    def show(self, text: str) -> None:
        """Write the text over the last one."""
        sys.stderr.write("\r" + text.ljust(self._shown))
        sys.stderr.flush()
        self._shown = len(text)
        self._next = monotonic() + _SECONDS_BETWEEN

    def clear(self) -> None:
        """Take the last text away."""
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()
            self._shown = 0

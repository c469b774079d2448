"""What an importer has to tell: what it read was odd, and what it made of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable

OnWarning = Callable[[str], None]


class TraceImportWarning(UserWarning):
    """Something in a recorded run was odd; the text names the span or message, and what was made of it."""


class Notes:
    """Tells warnings to a listener, or as Python warnings where there is none."""

    def __init__(self, on_warning: OnWarning | None = None) -> None:
        self._tell = on_warning or _warn

    def __call__(self, place: str, problem: str) -> None:
        """Tell one warning."""
        self._tell(f"{place}: {problem}")


def _warn(text: str) -> None:
    warnings.warn(text, TraceImportWarning, stacklevel=2)

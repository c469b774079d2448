"""Where in the user's code a call was made, for messages that name the line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

_HERE: Final = str(Path(__file__).parent)


def calling_line() -> tuple[str, int]:
    """The file and line of the nearest caller outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno

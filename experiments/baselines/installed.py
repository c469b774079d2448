"""Whether another learner is installed: some need a package, some are programs of their own."""

from __future__ import annotations

import importlib.util
import shutil
from typing import Final

PACKAGES: Final = {"ripper": "wittgenstein", "greedy_list": "imodels"}
"""The learners that need a package which the extra `baselines` brings."""
COMMANDS: Final = {
    "popper": ("popper-ilp", "popper", "popper.py"),
    "fastlas": ("FastLAS", "fastlas"),
    "ilasp": ("ILASP", "ilasp"),
}
"""The names that each program may have on the PATH."""


def command_of(name: str) -> str | None:
    """The path of the program of one of :data:`COMMANDS`, None where it is not on the PATH."""
    return next(filter(None, map(shutil.which, COMMANDS[name])), None)


def why_absent(name: str) -> str | None:
    """Why a learner is not installed, a sentence without its full stop; None where it is."""
    package = PACKAGES.get(name)
    if package is not None and importlib.util.find_spec(package) is None:
        return f"{package} is not installed; pip install 'check-induction[baselines]'"
    if name in COMMANDS and command_of(name) is None:
        *others, last = COMMANDS[name]
        return f"no {', '.join(others)} or {last} on the PATH"
    return None

"""Memory of this process, in MB; None where the platform does not tell."""

from __future__ import annotations

import re
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def resident() -> float | None:
    """What is held in memory now."""
    return _from_status("VmRSS")


def peak() -> float | None:
    """The most that was held at any time since the process began."""
    held = _from_status("VmHWM")
    if held is not None or sys.platform == "win32":
        return held
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


def _from_status(name: str) -> float | None:
    """A line of Linux's account of a process, which begins anew with each program, as getrusage does not."""
    try:
        found = re.search(rf"^{name}:\s+(\d+) kB", _STATUS.read_text(encoding="ascii"), re.M)
    except OSError:
        return None
    return int(found[1]) / 2**10 if found else None

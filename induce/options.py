"""The limits of a learner as options give them, judged in one way wherever they are given."""

from __future__ import annotations

import numpy as np

LIMITS = {
    "max_terms": (1, 64),
    "max_literals": (1, 64),
    "max_where": (1, 16),
    "max_nesting": (0, 16),
    "work_limit": (1, 1 << 62),
    "n_jobs": (-1024, 1024),
    "random_state": (0, 1 << 62),
}
REQUIRED = ("max_literals", "max_where", "max_nesting")
LONGEST = 1e9


def check_limits(**options: object) -> None:
    """Raise ValueError in one sentence for the first limit that is no whole number in its range."""
    for name, value in options.items():
        least, most = LIMITS[name]
        if value is None and name not in REQUIRED:
            continue
        whole = (
            isinstance(value, (int, np.integer)) and not isinstance(value, bool) and least <= value <= most
        )
        if not whole:
            raise ValueError(f"{name}: expected a whole number from {least} to {most}, got {value!r}")


def check_seconds(name: str, seconds: object) -> None:
    """Raise ValueError in one sentence unless this is a time that can be waited for."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= LONGEST:
        raise ValueError(
            f"{name}: expected a positive number of seconds, at most {LONGEST:g}, got {seconds!r}"
        )

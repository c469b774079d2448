"""The version that is installed; a function, because the look-up costs more than a whole evaluation."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def installed_version(distribution: str = "check-induction") -> str | None:
    """The version of an installed distribution; None when it is not installed."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None

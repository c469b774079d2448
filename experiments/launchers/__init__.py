"""Launchers of our own; Hydra takes those in the namespace ``hydra_plugins``, which this folder joins."""

from __future__ import annotations

import sys
from pathlib import Path

DASK = "hydra_plugins.check_induction.DaskLauncher"


def join_hydra_plugins() -> None:
    """Let Hydra find what is in ``hydra_plugins`` here; processes that joblib starts inherit it."""
    here = str(Path(__file__).parent)
    if here not in sys.path:
        sys.path.append(here)

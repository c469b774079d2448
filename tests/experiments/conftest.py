"""The command ``experiments`` as a user runs it: a process of its own, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.config import Tracking
from experiments.tracking import open_store

ROOT = Path(__file__).resolve().parents[2]
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """The environment of the command, which finds the packages of this source tree."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "HYDRA_"))}
    return {**own, "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store as MLflow makes it, which takes a while, to be copied."""
    folder = tmp_path_factory.mktemp("store")
    open_store(Tracking(), folder)
    return folder / "mlflow.db"


@pytest.fixture(scope="session")
def experiments(environment: dict[str, str]) -> Command:
    """``experiments(folder, *words)`` runs the command in ``folder``."""

    def run(
        folder: Path, *words: str, path: Path = ROOT, hash_seed: str = "random"
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "experiments", *words],
            cwd=folder,
            env={**environment, "PYTHONPATH": str(path), "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    return run

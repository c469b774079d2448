"""The MLflow store that commands leave in their folder, read back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlflow.tracking import MlflowClient


@dataclass(frozen=True)
class Store:
    """The store in a folder, and all runs of its experiment."""

    folder: Path

    @property
    def client(self) -> MlflowClient:
        return MlflowClient(f"sqlite:///{(self.folder / 'mlflow.db').as_posix()}")

    def runs(self) -> list[Any]:
        experiment = self.client.get_experiment_by_name("check-induction")
        assert experiment is not None
        return list(self.client.search_runs([experiment.experiment_id]))

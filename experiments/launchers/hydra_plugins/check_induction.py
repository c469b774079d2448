"""Hydra's launcher ``dask``: the jobs of a sweep on a Dask cluster, or on worker processes of this machine.

What it does is in :mod:`experiments.sweeps.dask_jobs`, which is imported with Dask when jobs are launched.
Hydra runs a plugin before it has a name among modules, so annotations are no texts here.
"""

from collections.abc import Sequence

from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


class DaskLauncher(Launcher):
    """Hands the jobs of a sweep to Dask."""

    def __init__(self, address: str | None, workers: int | None, timeout: float) -> None:
        self.address, self.workers, self.timeout = address, workers, timeout

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.hydra_context, self.task_function, self.config = hydra_context, task_function, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        from experiments.sweeps.dask_jobs import Cluster, launch

        cluster = Cluster(self.address, self.workers, self.timeout)
        return launch(
            cluster,
            self.hydra_context,
            self.task_function,
            self.config,
            dict(enumerate(job_overrides, initial_job_idx)),
        )

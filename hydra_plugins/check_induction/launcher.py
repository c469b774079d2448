"""Hydra's launcher ``dask``: the jobs of a sweep on a Dask cluster, or on worker processes of this machine.

Hydra takes its plugins from the packages inside ``hydra_plugins``; what this one does is in
:mod:`experiments.dask_jobs`, which is imported with Dask when jobs are launched. Hydra runs a plugin before
it has a name among modules, so annotations are no texts here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hydra.core.config_store import ConfigStore
from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


@dataclass
class DaskLauncherConf:
    """The settings of the launcher, as Hydra composes them.

    Attributes:
        address: of the scheduler of a running cluster; None for workers on this machine.
        workers: how many workers on this machine; None for one a core.
        timeout: seconds to wait for the scheduler.
    """

    _target_: str = "hydra_plugins.check_induction.launcher.DaskLauncher"
    address: str | None = None
    workers: int | None = None
    timeout: float = 30.0


ConfigStore.instance().store(
    group="hydra/launcher", name="dask", node=DaskLauncherConf, provider="check-induction"
)


class DaskLauncher(Launcher):
    """Hands the jobs of a sweep to Dask."""

    def __init__(self, address: str | None, workers: int | None, timeout: float) -> None:
        self.address, self.workers, self.timeout = address, workers, timeout

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.hydra_context, self.task_function, self.config = hydra_context, task_function, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        from experiments.dask_jobs import Cluster, launch

        cluster = Cluster(self.address, self.workers, self.timeout)
        return launch(
            cluster,
            self.hydra_context,
            self.task_function,
            self.config,
            dict(enumerate(job_overrides, initial_job_idx)),
        )

"""The jobs of a sweep on a Dask cluster; its workers see the same files as the process that asks them.

When a worker is lost Dask hands its job to another; a job that a lost worker had finished is found finished
there, so nothing is run twice.
"""

from __future__ import annotations

import contextlib
import io
import logging
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed import CancelledError, Client, Future, LocalCluster, as_completed
from distributed.comm import CommClosedError
from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins
from hydra.core.singleton import Singleton
from hydra.core.utils import JobReturn, configure_log, filter_overrides, run_job, setup_globals
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, open_dict

from experiments.config import ConfigError

# Hydra's settings and stdout belong to a whole process: a worker with several threads runs one job at a time.
_one_job = threading.Lock()


class LostClusterError(Exception):
    """The cluster has gone while jobs were running on it."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster by the address of its scheduler, or ``workers`` on this machine (None: one a core)."""

    address: str | None
    workers: int | None
    timeout: float

    @contextmanager
    def client(self) -> Iterator[Client]:
        """A connection to the cluster. Raises :class:`ConfigError` when nothing answers at the address."""
        for name in (
            "distributed",
            "distributed.client",
        ):  # what they log with tracebacks is said in a sentence
            logging.getLogger(name).setLevel(logging.CRITICAL)
        if self.address is None:
            if self.workers is not None and not (isinstance(self.workers, int) and self.workers >= 1):
                # without any worker the jobs would wait for ever
                said = f"expected a whole number >= 1, got {self.workers!r}"
                raise ConfigError(f"hydra.launcher.workers: {said}")
            with _keyboard_kept():
                local = LocalCluster(
                    n_workers=self.workers,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )
            with local, Client(local) as client:
                yield client
            return
        try:
            client = Client(self.address, timeout=self.timeout)
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"hydra.launcher.address: no Dask scheduler answers at {self.address!r}; start one with "
                "`dask scheduler`, or leave the address out for workers on this machine"
            ) from error
        with client:
            yield client


@contextmanager
def _keyboard_kept() -> Iterator[None]:
    """Processes that are started here leave an interrupt from the keyboard to this one, which ends them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which they inherit
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def launch(
    cluster: Cluster,
    context: HydraContext,
    task: TaskFunction,
    config: DictConfig,
    jobs: Mapping[int, Sequence[str]],
) -> list[JobReturn]:
    """Run jobs, overrides by number, and print what each prints as soon as it has ended."""
    setup_globals()
    configure_log(config.hydra.hydra_logging, config.hydra.verbose)
    log = logging.getLogger(__name__)
    with open_dict(config):
        config.hydra.sweep.dir = str(Path(str(config.hydra.sweep.dir)).absolute())
    state = Singleton.get_state()
    # Plugins are classes of modules that a worker may not find, and need not.
    state["instances"] = {kind: one for kind, one in state["instances"].items() if kind is not Plugins}
    with cluster.client() as client:
        log.info("Launching %d jobs on Dask, which has %d workers", len(jobs), len(client.nthreads()))
        numbers = {}
        for number, overrides in jobs.items():
            log.info("\t#%d : %s", number, " ".join(filter_overrides(overrides)))
            future = client.submit(
                _run, number, list(overrides), context, task, config, state, pure=False, retries=0
            )
            numbers[future] = number
        returned, errors = _gather(numbers)
    if errors:  # of workers: what is wrong with a job is said in its folder
        raise errors[0]
    return [returned[number] for number in jobs]


def _gather(numbers: Mapping[Future, int]) -> tuple[dict[int, JobReturn], list[BaseException]]:
    """What the jobs return, each printed when it has ended, and the errors of those that did not end."""
    returned, errors = {}, []
    try:
        for future in as_completed(list(numbers)):
            error = future.exception()
            if error is None:
                returned[numbers[future]], text = future.result()
                sys.stdout.write(text)
                sys.stdout.flush()
            else:
                errors.append(error)
            future.release()
    except (CommClosedError, CancelledError) as error:
        raise LostClusterError("the scheduler of Dask does not answer any more") from error
    return returned, errors


def _run(
    number: int,
    overrides: list[str],
    context: HydraContext,
    task: TaskFunction,
    config: DictConfig,
    state: Mapping[Any, Any],
) -> tuple[JobReturn, str]:
    """One job, in a worker; returned with what it has printed."""
    if not Path(config.hydra.sweep.dir).is_dir():
        raise ConfigError(f"this worker can't see {config.hydra.sweep.dir}, the folder of the sweep")
    printed = io.StringIO()
    with _one_job, contextlib.redirect_stdout(printed):
        setup_globals()
        Singleton.set_state(state)
        own = context.config_loader.load_sweep_config(config, overrides)
        with open_dict(own):
            own.hydra.job.id = f"{own.hydra.job.name}_{number}"
            own.hydra.job.num = number
            own.hydra.runtime.cwd = config.hydra.runtime.cwd  # where paths start, wherever the worker is
        HydraConfig.instance().set_config(own)
        returned = run_job(
            task_function=task,
            config=own,
            job_dir_key="hydra.sweep.dir",
            job_subdir_key="hydra.sweep.subdir",
            hydra_context=context,
        )
    return returned, printed.getvalue()

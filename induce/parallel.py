"""Independent pieces of work, in as many workers as are asked for, by joblib.

Whatever backend joblib has been told to use (``joblib.parallel_config``: loky, threading, dask, ray) does the
work. Results come in the order of the work and never depend on the workers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

Result = TypeVar("Result")


def in_parallel(
    work: Callable[..., Result], arguments: Iterable[tuple[Any, ...]], n_jobs: int | None = None
) -> list[Result]:
    """``work(*each)`` for each of the arguments.

    `n_jobs` is joblib's: None for what ``joblib.parallel_config`` says, else 1; -1 for all cores. joblib is
    not imported where nothing could be parallel.
    """
    if _alone(n_jobs):
        return [work(*each) for each in arguments]
    from joblib import Parallel, delayed

    found: list[Result] = Parallel(n_jobs=n_jobs)(delayed(work)(*each) for each in arguments)
    return found


def workers(n_jobs: int | None) -> int:
    """How many pieces of work are done at a time, `n_jobs` as for `in_parallel`."""
    if _alone(n_jobs):
        return 1
    from joblib import effective_n_jobs

    found: int = effective_n_jobs(n_jobs)
    return found


def _alone(n_jobs: int | None) -> bool:
    if n_jobs == 0:
        raise ValueError("n_jobs: expected a number of workers, or -1 for all cores, got 0")
    return n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules)

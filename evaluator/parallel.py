"""Work on a stream in several processes: batches go out as they are read, results come back in order."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_AHEAD = 3


def in_order(
    work: Callable[[list[_Item]], _Result],
    batches: Iterable[list[_Item]],
    *,
    jobs: int,
    prepare: Callable[..., None],
    given: tuple[Any, ...],
) -> Iterator[_Result]:
    """The results of `work` on every batch, in order, from `jobs` processes.

    Each process calls `prepare(*given)` first. At most three batches a process are out at a time, so that an
    endless stream takes no more memory than a short one. An exception of `batches` is raised after the
    results of what was read before it. Raises `BrokenProcessPool` when a process dies.
    """
    pool = ProcessPoolExecutor(jobs, initializer=_start, initargs=(prepare, given))
    out: deque[Future[_Result]] = deque()
    failure: Exception | None = None
    remaining = iter(batches)
    try:
        while True:
            try:
                batch = next(remaining)
            except StopIteration:
                break
            except Exception as error:
                failure = error
                break
            out.append(pool.submit(work, batch))
            if len(out) >= _AHEAD * jobs:
                yield out.popleft().result()
        while out:
            yield out.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    if failure is not None:
        raise failure


def _start(prepare: Callable[..., None], given: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's affair
    prepare(*given)

"""Work on a stream in several processes: batches go out as they are read, results come back in order."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import cycle
from multiprocessing.connection import Connection
from typing import Any, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class LostProcessError(RuntimeError):
    """A process ended before its work was done, as one does that the system kills for want of memory."""


def in_order(
    work: Callable[[list[_Item]], _Result], batches: Iterable[list[_Item]], *, jobs: int
) -> Iterator[_Result]:
    """The results of `work` on every batch, in order, from `jobs` processes.

    `work` is sent to each process once. One batch a process is out at a time and the processes take turns, so
    that an endless stream takes no more memory than a short one. An exception of `batches` is raised after
    the results of what was read before it. When the caller stops asking, the processes are ended.

    Raises `LostProcessError` when a process dies.
    """
    pipes: list[Connection] = []
    processes = []
    failure: Exception | None = None
    remaining = iter(batches)
    out: list[Connection] = []
    try:
        for _ in range(jobs):
            ours, theirs = multiprocessing.Pipe()
            pipes.append(ours)
            process = multiprocessing.Process(target=_serve, args=(theirs, list(pipes)), daemon=True)
            process.start()
            processes.append(process)
            theirs.close()
            _send(ours, work)
        for pipe in cycle(pipes):
            if pipe in out:
                out.remove(pipe)
                yield _received(pipe)
            if failure is None:
                try:
                    batch = next(remaining, None)
                except Exception as error:
                    failure, batch = error, None
                if batch is not None:
                    _send(pipe, batch)
                    out.append(pipe)
            if not out:
                break
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()
        for pipe in pipes:
            pipe.close()
    if failure is not None:
        raise failure


def _send(pipe: Connection, message: object) -> None:
    try:
        pipe.send(message)
    except OSError:
        raise LostProcessError("a process that evaluates has ended unexpectedly") from None


def _received(pipe: Connection) -> Any:
    try:
        return pipe.recv()
    except (EOFError, OSError):
        raise LostProcessError("a process that evaluates has ended unexpectedly") from None


def _serve(pipe: Connection, inherited: list[Connection]) -> None:
    """The life of a process: take the work, then do it on every batch that comes, until none can come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's affair
    for other in inherited:  # else no end would ever be seen when the parent is gone
        other.close()
    with suppress(EOFError, OSError):
        work = pipe.recv()
        while True:
            pipe.send(work(pipe.recv()))

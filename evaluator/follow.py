"""Following a growing file line by line, as a log is followed: rotation and truncation are survived."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from io import FileIO
from typing import Final, NamedTuple

_BLOCK: Final = 262_144
_REMEMBERED: Final = 64


class FollowedLine(NamedTuple):
    """A whole line without its end, and its number in the file as it is now, from 1."""

    number: int
    text: bytes


def follow_lines(
    path: str,
    *,
    wait: bool = True,
    interval: float = 0.2,
    on_restart: Callable[[str], object] | None = None,
    sleep: Callable[[float], object] = time.sleep,
) -> Iterator[FollowedLine]:
    """The lines of a file, and those that are appended to it, for ever.

    A line is given when its end has been written. A file that takes the name (rotation) is read from its
    start, after what was still in the old one, last line included; so is a file that became shorter, or whose
    last bytes read are no longer what they were (truncation and rewriting). While the name is gone, as in the
    midst of a rotation, it is waited for.

    Parameters:
        path: must be there at the start.
        wait: whether to wait for more; otherwise the end of the file is the end, a last line without an end
            included.
        interval: seconds between looks.
        on_restart: hears "replaced" or "truncated" before the first line of the new content.

    Raises:
        OSError: the file cannot be opened or read.
    """
    file = FileIO(path)
    while True:
        with closing(file):
            yield from _lines_of(file, path, wait, interval, on_restart, sleep)
        if not wait:
            return
        file = _reopened(path, interval, sleep)
        if on_restart is not None:
            on_restart("replaced")


def _lines_of(
    file: FileIO,
    path: str,
    wait: bool,
    interval: float,
    on_restart: Callable[[str], object] | None,
    sleep: Callable[[float], object],
) -> Iterator[FollowedLine]:
    """The lines of one file, until another has taken its name or, without waiting, until its end."""
    number, rest, at, tail = 0, b"", 0, b""
    replaced = False
    while True:
        if _was_rewritten(file, at, tail):
            if on_restart is not None:
                on_restart("truncated")
            number, rest, at, tail = 0, b"", 0, b""
            file.seek(0)
        while block := file.read(_BLOCK):
            at += len(block)
            tail = (tail + block)[-_REMEMBERED:]
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                number += 1
                yield FollowedLine(number, line)
        if replaced or not wait:  # nothing more can come
            if rest:
                yield FollowedLine(number + 1, rest)
            return
        replaced = _is_replaced(file, path)  # then once more to its end: it may have grown in between
        if not replaced:
            sleep(interval)


def _was_rewritten(file: FileIO, at: int, tail: bytes) -> bool:
    """Whether the file ends before the place read up to, or holds something else just before it."""
    if not tail or not file.seekable():
        return False
    if os.fstat(file.fileno()).st_size < at:
        return True
    file.seek(at - len(tail))
    same = file.read(len(tail)) == tail
    file.seek(at)
    return not same


def _is_replaced(file: FileIO, path: str) -> bool:
    try:
        named = os.stat(path)
    except OSError:
        return False  # gone for the moment
    return not os.path.samestat(named, os.fstat(file.fileno()))


def _reopened(path: str, interval: float, sleep: Callable[[float], object]) -> FileIO:
    while True:
        try:
            return FileIO(path)
        except FileNotFoundError:
            sleep(interval)

"""Requests to stop: from the keyboard, or by the signal that ends a process."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_received: list[int] = []


@contextmanager
def stoppable() -> Iterator[Sequence[int]]:
    """Both requests raise KeyboardInterrupt; yields the signals that have come."""

    def interrupt(number: int, _frame: FrameType | None) -> NoReturn:
        _received.append(number)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield _received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def stop_if_asked() -> None:
    """Raise KeyboardInterrupt again: libraries may have taken the first for an error of their own."""
    if _received:
        raise KeyboardInterrupt

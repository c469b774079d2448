"""Work that recurses, done on a stack of its own: how deep its caller already stands does not matter."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def on_fresh_stack(work: Callable[[], T]) -> T:
    """What `work` returns or raises, done here or, where that is too deep, in a thread that begins anew.

    Raises `RecursionError` only when a fresh stack is not enough either.
    """
    try:
        return work()
    except RecursionError:
        pass
    returned: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            returned.append(work())
        except BaseException as error:
            raised.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return returned[0]

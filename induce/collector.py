"""The garbage collector, put to rest while many objects without cycles come into being."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Parsed JSON has no cycles; looking for them doubled the time for 100,000 lines (7.2 s, not 3.0)."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

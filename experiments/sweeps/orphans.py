"""Ends the worker processes of a sweep with the command that started them, even when that one is killed.

joblib's workers notice nothing of it: they would wait for more work for good, and hold the ends of pipes that
somebody reads.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import threading
import time

_JOBLIB = "LokyProcess"
_SECONDS = 0.5


@functools.cache
def end_with_parent() -> None:
    """See to it that this process, if joblib started it, ends soon after its parent."""
    if not multiprocessing.current_process().name.startswith(_JOBLIB):
        return
    threading.Thread(target=_watch, args=(os.getppid(),), name="parent watch", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS)
    os._exit(1)

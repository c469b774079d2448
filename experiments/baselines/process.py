"""The child process of `experiments.baselines.child`, from the side of the one who asks."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Final

from experiments.baselines import child
from experiments.baselines.child import Answer, Failed, Request

START: Final = 120.0
"""Seconds that starting Python, or importing a library, may take; no part of a time limit."""
_SETTINGS: Final = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""The same order of sets and of sums on every machine."""


class TimeUpError(Exception):
    """The child was ended because its time was up."""


class Learners:
    """A child process that fits learners over tables; started when it is first asked, and after an end."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: SimpleQueue[Answer | None] = SimpleQueue()
        self.owner = os.getpid()

    @property
    def running(self) -> bool:
        """Whether the child is there, with the scenes last sent to it."""
        return self._process is not None and self._process.poll() is None

    def ask(self, request: Request, time_limit: float) -> Answer:
        """The answer to a request; after `time_limit` seconds the child is ended and TimeUpError raised."""
        if not self.running:
            self._start()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        try:
            child.write(process.stdin, request)
        except BrokenPipeError:
            return self._died()
        except RecursionError:
            return Failed("the scenes are nested too deep")
        except BaseException:
            self.end()
            raise
        return self._wait(time_limit)

    def end(self) -> None:
        """End the child, if there is one."""
        process, self._process = self._process, None
        if process is None or self.owner != os.getpid():
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):  # what could not be sent any more
                    stream.close()

    def _start(self) -> None:
        self.end()
        paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {child.__name__} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | _SETTINGS | {"PYTHONPATH": paths},
            start_new_session=True,
        )
        self._answers = SimpleQueue()
        threading.Thread(target=_collect, args=(self._process, self._answers), daemon=True).start()
        self._wait(START)

    def _wait(self, seconds: float) -> Answer:
        try:
            answer = self._answers.get(timeout=seconds)
        except Empty:
            self.end()
            raise TimeUpError from None
        except BaseException:
            self.end()
            raise
        return self._died() if answer is None else answer

    def _died(self) -> Failed:
        code = self._process.wait() if self._process is not None else None
        self.end()
        return Failed(f"its process ended with exit code {code}")


def learners() -> Learners:
    """The one of this process, whose libraries stay imported from experiment to experiment."""
    global _learners
    if _learners is None or _learners.owner != os.getpid():
        _learners = Learners()
        atexit.register(_learners.end)
    return _learners


_learners: Learners | None = None


def _collect(process: subprocess.Popen[bytes], answers: SimpleQueue[Answer | None]) -> None:
    """Put what the child answers into the queue, None at its end."""
    assert process.stdout is not None
    try:
        while True:
            answers.put(child.read(process.stdout))
    except (EOFError, ValueError, OSError):  # it ended, or was ended and its pipe closed
        answers.put(None)

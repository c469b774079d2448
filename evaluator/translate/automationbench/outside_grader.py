"""An outside grader, a process of the user's, asked for its verdicts over a pipe.

It reads one `{"idx", "assertion", "world"}` a line and answers each with `{"idx", "satisfied"}`, in any order
and as late as it likes, so long as it gets on: one that neither reads nor answers for a while hangs.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import Empty, SimpleQueue
from shlex import split
from threading import Thread
from time import monotonic
from typing import IO, Any

from evaluator.json_read import JsonTextError, read_json
from evaluator.safe_text import printable
from evaluator.values import compact

_LONGEST_ANSWER = 65_536
_SECONDS_TO_END = 2.0
_SECONDS_BETWEEN_LOOKS = 0.05
_STDERR_TAIL = 2_000


class GraderError(ValueError):
    """The outside grader cannot be started, hangs, dies or answers what is no answer."""


def ask_grader(
    command: str,
    questions: Iterable[bytes],
    total: int,
    *,
    patience: float = 60.0,
    progress: Callable[[int], None] | None = None,
) -> list[bool]:
    """The verdict on each question, in the order of the questions.

    Parameters:
        command: the program and its arguments, quoted as in a shell (no shell is run).
        questions: the lines to ask, each with its number from 0 under "idx" and ending in a line feed.
        total: how many there are.
        patience: seconds without a line read or answered after which the grader is taken to hang.
        progress: called now and then with the number of answers so far.

    Raises `GraderError`, whose message is one sentence; the process is ended in any case.
    """
    with _Grader(command) as grader:
        return grader.verdicts(questions, total, patience, progress or (lambda _: None))


class _Grader:
    """The process, with a thread for each of its three pipes, so that none of them can fill up and block."""

    def __init__(self, command: str) -> None:
        try:
            words = split(command)
        except ValueError as error:
            raise GraderError(f"the grader's command cannot be read: {str(error).lower()}") from None
        if not words:
            raise GraderError("the grader's command is empty; a program that answers on a pipe is expected")
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise GraderError(f"the grader {printable(words[0])} cannot be started: {told.lower()}") from None
        self._answers: SimpleQueue[bytes | None] = SimpleQueue()
        self._said = b""
        self._asked = 0
        self._active = monotonic()
        self._closed = False
        self._threads: list[Thread] = []

    def __enter__(self) -> _Grader:
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        self._end()

    def verdicts(
        self, questions: Iterable[bytes], total: int, patience: float, progress: Callable[[int], None]
    ) -> list[bool]:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._threads = [
            Thread(target=self._ask, args=(process.stdin, questions), daemon=True),
            Thread(target=self._listen, args=(process.stdout,), daemon=True),
            Thread(target=self._overhear, args=(process.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        verdicts: dict[int, bool] = {}
        ended_at: float | None = None
        while True:
            try:
                line = self._answers.get(timeout=_SECONDS_BETWEEN_LOOKS)
            except Empty:
                now = monotonic()
                if process.poll() is not None or len(verdicts) == total:
                    ended_at = ended_at or now
                    if now - ended_at > _SECONDS_TO_END:  # one of its children may hold the pipe open
                        break
                elif now - self._active > patience:
                    raise GraderError(self._hangs(len(verdicts), total, patience)) from None
                continue
            if line is None:
                break
            index, satisfied = self._answer(line, verdicts)
            verdicts[index] = satisfied
            progress(len(verdicts))
        if len(verdicts) < total:
            raise GraderError(self._ended(len(verdicts), total))
        return [verdicts[index] for index in range(total)]

    # The pipes

    def _ask(self, pipe: IO[bytes], questions: Iterable[bytes]) -> None:
        with suppress(OSError, ValueError):  # it has gone, or the pipe was closed from the other thread
            for question in questions:
                if self._closed:
                    break
                self._asked += 1
                pipe.write(question)
                pipe.flush()
                self._active = monotonic()
        with suppress(OSError, ValueError):
            pipe.close()

    def _listen(self, pipe: IO[bytes]) -> None:
        with suppress(OSError, ValueError):
            while not self._closed and (line := pipe.readline(_LONGEST_ANSWER)):
                if line.strip():
                    self._active = monotonic()
                    self._answers.put(line)
        self._answers.put(None)

    def _overhear(self, pipe: IO[bytes]) -> None:
        with suppress(OSError, ValueError):
            while heard := os.read(pipe.fileno(), 4_096):
                self._said = (self._said + heard)[-_STDERR_TAIL:]

    # What it answers

    def _answer(self, line: bytes, verdicts: dict[int, bool]) -> tuple[int, bool]:
        try:
            answer: Any = read_json(line)
        except JsonTextError as error:
            shown = compact(line[:200].decode("utf-8", "replace").rstrip("\r\n"))
            raise GraderError(f"the grader answered {shown}, which is {error.problem}") from None
        expected = 'an answer is {"idx": whole number, "satisfied": true or false}'
        if not isinstance(answer, dict) or type(answer.get("idx")) is not int:
            raise GraderError(f"the grader answered {compact(answer)}; {expected}")
        index, satisfied = answer["idx"], answer.get("satisfied")
        if type(satisfied) is not bool:
            reason = f" ({compact(answer['error'])})" if "error" in answer else ""
            raise GraderError(f"the grader gave no verdict on question {index}{reason}; {expected}")
        if not 0 <= index < self._asked:
            raise GraderError(f"the grader answered question {index}, which it was not asked")
        if index in verdicts:
            raise GraderError(f"the grader answered question {index} twice")
        return index, satisfied

    def _hangs(self, answered: int, total: int, patience: float) -> str:
        so_far = f"after {answered:,} of {total:,} answers{self._last_words()}"
        return f"the grader neither read nor answered for {patience:g} seconds, {so_far}"

    def _ended(self, answered: int, total: int) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_SECONDS_TO_END)
            self._threads[-1].join(_SECONDS_TO_END)  # for its last words
        status = self._process.returncode
        how = "closed its output" if status is None else f"ended with exit status {status}"
        if status is not None and status < 0:
            how = f"was ended by signal {-status}"
        return f"the grader {how} after {answered:,} of {total:,} answers{self._last_words()}"

    def _last_words(self) -> str:
        lines = self._said.decode("utf-8", "replace").strip().splitlines()
        return f"; it said: {printable(lines[-1].strip())[:300]}" if lines else ""

    def _end(self) -> None:
        """End the process and what it started, and wait for it."""
        process = self._process
        if process.poll() is None:
            with suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
            process.wait()
        for thread in self._threads:
            thread.join(_SECONDS_TO_END)
        if not any(thread.is_alive() for thread in self._threads):
            for pipe in (process.stdin, process.stdout, process.stderr):
                with suppress(OSError):
                    if pipe is not None:
                        pipe.close()

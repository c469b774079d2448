"""The process in which libraries fit their rules, so that one that takes too long can be ended.

It reads requests from its standard input and answers each on its standard output, both pickled with their
length in front: :class:`Scenes` first, then a :class:`Load` and a :class:`Fit` for each learner. Once it is
ready it says so by itself. It ends when its input does. What a library prints is dropped.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from queue import SimpleQueue
from typing import IO, Any, Final, TypeAlias, cast

from experiments.baselines.features import Features, encode
from experiments.baselines.fitted import Fitted
from induce.scenes import LabelledScenes

LEARNERS: Final = {
    "tree": ("sklearn.tree",),
    "ripper": ("pandas", "wittgenstein"),
    "greedy_list": ("imodels",),
    "optimal_list": (),
}
"""The learners over tables, each a module beside this one with a function `fit`, and what it imports."""
LENGTH: Final = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Scenes:
    """A request to make the tables of these scenes."""

    train: LabelledScenes
    test: LabelledScenes


@dataclass(frozen=True, slots=True)
class Load:
    """A request to import what a learner needs, so that its time limit is left alone."""

    name: str


@dataclass(frozen=True, slots=True)
class Fit:
    """A request to fit a learner to the tables."""

    name: str
    seed: int
    time_limit: float


@dataclass(frozen=True, slots=True)
class Done:
    """What came out, after how many seconds, and the positions of the scenes that are not judged rightly."""

    seconds: float
    fitted: Fitted | None = None
    train_wrong: tuple[int, ...] = ()
    test_wrong: tuple[int, ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """What a library raised."""

    message: str


Request: TypeAlias = Scenes | Load | Fit
Answer: TypeAlias = Done | Failed


def read(stream: IO[bytes]) -> Any:
    """The next object on a stream; EOFError when there is none."""
    return pickle.loads(_exactly(stream, LENGTH.unpack(_exactly(stream, LENGTH.size))[0]))


def write(stream: IO[bytes], value: Any) -> None:
    """Send an object."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(LENGTH.pack(len(data)) + data)
    stream.flush()


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def fit(features: Features, request: Fit) -> Fitted:
    """Fit the learner that a request names."""
    learner = import_module(f"experiments.baselines.{request.name}")
    return cast(Fitted, learner.fit(features, seed=request.seed, time_limit=request.time_limit))


class _Learners:
    """The tables of the scenes last sent, and the learners over them."""

    def __init__(self) -> None:
        self._features: Features | None = None

    def answer(self, request: Request) -> Answer:
        started = time.perf_counter()
        try:
            match request:
                case Scenes():
                    self._features = encode(request.train, request.test)
                case Load():
                    for name in LEARNERS[request.name]:
                        import_module(name)
                case Fit():
                    return self._fit(request)
        except Exception as error:
            return Failed(f"{type(error).__name__}: {' '.join(str(error).split())}")
        return Done(time.perf_counter() - started)

    def _fit(self, request: Fit) -> Done:
        features = self._features
        assert features is not None
        started = time.perf_counter()
        fitted = fit(features, request)
        return Done(
            time.perf_counter() - started,
            fitted,
            _wrong(fitted.train, features.train_passes),
            _wrong(fitted.test, features.test_passes),
            fitted.note or features.note,
        )


def _wrong(verdicts: Any, labels: Any) -> tuple[int, ...]:
    return tuple((verdicts != labels).nonzero()[0].tolist())


def main() -> None:
    """Answer requests until there are no more."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    warnings.simplefilter("ignore")
    waiting: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_receive, args=(requests, waiting.put), daemon=True).start()
    learners = _Learners()
    write(answers, Done(0.0))
    while True:
        write(answers, learners.answer(waiting.get()))


def _receive(stream: IO[bytes], put: Callable[[Any], None]) -> None:
    """Hand on requests as they come; end the process when whoever sent them is gone."""
    while True:
        try:
            put(read(stream))
        except EOFError:
            os._exit(0)

"""What a learner tells of its progress while it works, at most a few times a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from induce.grammar import bits

Stage = Literal["scenes", "candidates", "search", "proof"]
BETWEEN = 0.1


@dataclass(frozen=True)
class Progress:
    """How far a run of the learner has come.

    Attributes
    ----------
    stage : {"scenes", "candidates", "search", "proof"}
        Reading the scenes, listing candidate literals, searching for checks, proving a bound.
    atoms : int
        Distinct truth columns of candidate literals so far.
    best : float or None
        Bits: the objective of the best check so far; None before the first.
    bound : float
        Bits: what no check of the grammar can cost less than, as far as it is proved.
    nodes : int
        Search nodes so far, the unit of ``work_limit``.
    seconds : float
        Since the learner began.
    """

    stage: Stage
    atoms: int
    best: float | None
    bound: float
    nodes: int
    seconds: float


class Reporter:
    """Calls a listener at each new stage, and in between at most every `BETWEEN` seconds."""

    def __init__(self, listener: Callable[[Progress], None] | None, started: float) -> None:
        self.listener = listener
        self.started = started
        self._stage: Stage | None = None
        self._due = 0.0

    def tell(
        self, stage: Stage, *, atoms: int = 0, best: int | None = None, bound: int = 0, nodes: int = 0
    ) -> None:
        """Report, if it is time to; `best` and `bound` are in cost units."""
        if self.listener is None:
            return
        now = time.monotonic()
        if stage == self._stage and now < self._due:
            return
        self._stage, self._due = stage, now + BETWEEN
        shown = None if best is None else bits(best)
        self.listener(Progress(stage, atoms, shown, bits(bound), nodes, now - self.started))

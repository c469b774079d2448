"""Limits of a search: a clock, a work budget, and the best hypotheses seen so far.

The clock is read often and the work is counted exactly, so that a run with a work limit stops at
the same node everywhere, and a run with a deadline stops on time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from induce.search.problem import Hypothesis, Stopped, preference

KEPT_TIES = 64


class LimitReachedError(Exception):
    """Raised inside the search when a limit is reached; ``reason`` is "time" or "work"."""

    def __init__(self, reason: Stopped) -> None:
        super().__init__(f"search stopped: {reason}")
        self.reason: Stopped = reason


class PartEndedError(Exception):
    """Raised inside a part of the search that used up its own share of the work."""


class Limits:
    """Counts nodes and watches the clock; ``spend`` raises :class:`LimitReachedError` at a limit."""

    def __init__(self, deadline: float | None = None, work_limit: int | None = None) -> None:
        self.deadline = deadline
        self.work_limit = work_limit
        self.nodes = 0
        self._part_end: int | None = None

    def spend(self, nodes: int) -> None:
        """Account for ``nodes`` about to be scored."""
        if self.work_limit is not None and self.nodes + nodes > self.work_limit:
            raise LimitReachedError("work")
        if self._part_end is not None and self.nodes + nodes > self._part_end:
            raise PartEndedError
        self.nodes += nodes
        self.check()

    def allowance(self, most: int) -> int:
        """How many nodes, up to ``most``, may be spent before a limit; raises where that is none."""
        ends = [end - self.nodes for end in (self.work_limit, self._part_end) if end is not None]
        left = min([most, *ends])
        if left < 1:
            self.spend(1)
        return left

    @contextmanager
    def part(self, nodes: int | None) -> Iterator[None]:
        """Let the block spend ``nodes`` more; beyond them it is left and the search goes on."""
        self._part_end = None if nodes is None else self.nodes + nodes
        try:
            yield
        finally:
            self._part_end = None

    def check(self) -> None:
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise LimitReachedError("time")

    def remaining(self) -> float | None:
        """Seconds until the deadline, None without one."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())


class Best:
    """The cheapest hypotheses offered so far, ties included, in the order of preference.

    Only costs below ``upper`` are kept. Of equal ones the ``KEPT_TIES`` most preferred stay.
    """

    def __init__(self, upper: int | None = None) -> None:
        self.upper = upper
        self.cost: int | None = None
        self._hypotheses: dict[Hypothesis, tuple[int, int, Hypothesis]] = {}
        self.listener: Callable[[], None] | None = None

    @property
    def ceiling(self) -> int | None:
        """The largest cost still of interest: equal cost while something is held, else below upper."""
        if self.cost is not None:
            return self.cost
        return None if self.upper is None else self.upper - 1

    def offer(self, hypothesis: Hypothesis, cost: int) -> bool:
        """Keep the hypothesis if it is cheapest so far or ties; True when the cost improved."""
        ceiling = self.ceiling
        if ceiling is not None and cost > ceiling:
            return False
        improved = self.cost is None or cost < self.cost
        if improved:
            fresh = {hypothesis: preference(hypothesis)}
            self._hypotheses, self.cost = fresh, cost  # at once: an interrupt may come at any call
        elif hypothesis not in self._hypotheses:
            self._hypotheses[hypothesis] = preference(hypothesis)
            if len(self._hypotheses) > KEPT_TIES:
                del self._hypotheses[max(self._hypotheses, key=self._hypotheses.__getitem__)]
        if improved and self.listener is not None:
            self.listener()
        return improved

    def ranked(self) -> list[Hypothesis]:
        """All hypotheses held, the preferred one first."""
        return sorted(self._hypotheses, key=self._hypotheses.__getitem__)

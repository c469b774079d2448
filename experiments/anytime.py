"""How a learner came to its answer: the best objective and the proved bound, second by second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from induce.progress import Progress
from induce.result import InductionResult


@dataclass(frozen=True, slots=True)
class Moment:
    """What was known at a time: bits of the best check so far (None before the first) and of the bound."""

    seconds: float
    objective: float | None
    lower_bound: float

    def to_dict(self) -> dict[str, Any]:
        return {"seconds": self.seconds, "objective": self.objective, "lower_bound": self.lower_bound}


class Anytime:
    """Keeps every change of the best objective or the bound; ``learn_check`` calls it as its ``progress``.

    >>> anytime = Anytime()
    >>> result = learn_check(scenes, labels, progress=anytime)
    >>> anytime.finish(result)
    >>> anytime.to_list()
    [{'seconds': 0.4, 'objective': 31.5, 'lower_bound': 12.0}, {'seconds': 0.9, ...}]
    """

    def __init__(self) -> None:
        self.moments: list[Moment] = []

    def __call__(self, progress: Progress) -> None:
        self._add(progress.seconds, progress.best, progress.bound)

    def finish(self, result: InductionResult) -> None:
        """Add the end: what the learner handed back, which it may have found since it last reported."""
        self._add(result.seconds, result.objective, result.lower_bound)

    def to_list(self) -> list[dict[str, Any]]:
        """The moments as JSON values, oldest first."""
        return [moment.to_dict() for moment in self.moments]

    def series(self) -> dict[str, list[tuple[float, float]]]:
        """The moments as figures over time, pairs of a second and a value, by metric."""
        return {
            "anytime.objective": [
                (moment.seconds, moment.objective) for moment in self.moments if moment.objective is not None
            ],
            "anytime.lower_bound": [(moment.seconds, moment.lower_bound) for moment in self.moments],
        }

    def _add(self, seconds: float, objective: float | None, bound: float) -> None:
        last = self.moments[-1] if self.moments else None
        if last is None and objective is None and not bound:
            return
        if last is None or (last.objective, last.lower_bound) != (objective, bound):
            self.moments.append(Moment(round(seconds, 3), objective, bound))

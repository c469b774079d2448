"""The finished runs of a paper's sweeps: their configuration, their figures, and the learners beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from experiments.sweeps.table import SweptRun

OURS: Final = "this learner"
LEARNERS: Final[Mapping[str, str]] = {
    "tree": "decision tree",
    "ripper": "RIPPER",
    "greedy_list": "greedy rule list",
    "optimal_list": "optimal rule list",
    "popper": "Popper",
    "fastlas": "FastLAS",
    "ilasp": "ILASP",
}
"""The names of baselines for a reader, in the order in which they are told."""

Figure = Callable[[SweptRun], float | None]


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of one section."""

    runs: tuple[SweptRun, ...]

    def __len__(self) -> int:
        return len(self.runs)

    @property
    def learners(self) -> tuple[str, ...]:
        """Ours, and each baseline that has figures, by its name for a reader."""
        known = {
            name.split(".")[1] for run in self.runs for name in run.metrics if name.startswith("baseline.")
        }
        return (OURS, *(title for name, title in LEARNERS.items() if name in known))

    @property
    def absent(self) -> tuple[str, ...]:
        """The baselines that were asked for and have no figures anywhere."""
        asked = {name for run in self.runs for name in run.config.get("baselines.names") or ()}
        return tuple(
            title for name, title in LEARNERS.items() if name in asked and title not in self.learners
        )

    def values(self, key: str) -> tuple[Any, ...]:
        """The values of a key of the configuration, in the order in which they first occur."""
        return tuple(dict.fromkeys(run.config.get(key) for run in self.runs))

    def numbers(self, key: str) -> tuple[float, ...]:
        """The values of a key that is a number, ascending."""
        return tuple(sorted(self.values(key)))

    def where(self, **wanted: Any) -> Runs:
        """The runs in which keys (``dataset__rule`` for ``dataset.rule``) have these values."""
        keys = {key.replace("__", "."): value for key, value in wanted.items()}
        return Runs(
            tuple(
                run for run in self.runs if all(run.config.get(key) == value for key, value in keys.items())
            )
        )

    def mean(self, figure: Figure) -> float | None:
        """The mean over the runs that have the figure; None when none has."""
        known = [value for value in map(figure, self.runs) if value is not None]
        return sum(known) / len(known) if known else None


def metric(name: str) -> Figure:
    """A metric of a run."""
    return lambda run: run.metrics.get(name)


def accuracy(learner: str) -> Figure:
    """The accuracy of a learner (by its name for a reader) on unseen scenes."""
    return _of(learner, "test_accuracy")


def exact(learner: str) -> Figure:
    """1 where a learner is right on every unseen scene, else 0."""
    known = accuracy(learner)

    def figure(run: SweptRun) -> float | None:
        share = known(run)
        return None if share is None else float(share == 1)

    return figure


def seconds(learner: str) -> Figure:
    """The seconds that a learner took."""
    return _of(learner, "seconds")


def _of(learner: str, name: str) -> Figure:
    if learner == OURS:
        return metric(name)
    (own,) = (own for own, title in LEARNERS.items() if title == learner)
    return metric(f"baseline.{own}.{name}")


def by_size(runs: Runs, rules: Iterable[Any]) -> Sequence[Any]:
    """Rules from the smallest to the largest; those whose size is not known at the end, as they come."""
    sizes = {rule: runs.where(dataset__rule=rule).mean(metric("rule_size")) for rule in rules}
    return sorted(sizes, key=lambda rule: (sizes[rule] is None, sizes[rule] or 0.0))

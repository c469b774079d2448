"""What another learner makes of the same scenes: its rule, how right it is, and what it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from induce.scenes import LabelledScenes

FIGURES = ("train_accuracy", "test_accuracy", "size", "seconds")


class Task(NamedTuple):
    """What every baseline is fitted on, and the seconds that each may take."""

    train: LabelledScenes
    test: LabelledScenes
    time_limit: float
    seed: int


def graded(scenes: LabelledScenes, wrong: Sequence[int]) -> tuple[float | None, tuple[str, ...] | None]:
    """The accuracy and the ids of the scenes at the positions ``wrong``; None of no scenes."""
    if not len(scenes):
        return None, None
    return (len(scenes) - len(wrong)) / len(scenes), tuple(scenes.ids[at] for at in wrong)


@dataclass(frozen=True, slots=True)
class Baseline:
    """One learner other than ours on the scenes of an experiment.

    Attributes
    ----------
    name : str
        One of :data:`experiments.baselines.BASELINES`.
    available : bool
        Whether the learner is installed and could be asked.
    reason : str or None
        Why it is absent or has no rule, or what was done to the scenes to fit it; a sentence without its
        full stop.
    train_accuracy, test_accuracy : float or None
        Shares of scenes, whatever their weights.
    size : int or None
        The conditions that the rule states: tests of a tree, literals of rules and lists.
    seconds : float or None
        From the scenes to the rule; starting a process is left out.
    rule : str or None
        In the words of the scenes' paths; several lines where there are several rules.
    stopped : {"finished", "time"} or None
        None where it did not run. A learner that the clock stopped may still have a rule.
    train_wrong, test_wrong : tuple of str, or None
        Ids of the scenes that the rule grades against their label; None where there is no rule, or no scene.
    """

    name: str
    available: bool
    reason: str | None = None
    train_accuracy: float | None = None
    test_accuracy: float | None = None
    size: int | None = None
    seconds: float | None = None
    rule: str | None = None
    stopped: Literal["finished", "time"] | None = None
    train_wrong: tuple[str, ...] | None = None
    test_wrong: tuple[str, ...] | None = None

    @classmethod
    def timed_out(cls, name: str, task: Task) -> Baseline:
        """One that the clock stopped before it had a rule."""
        reason = f"no rule within {task.time_limit:g} s"
        return cls(name, available=True, reason=reason, seconds=task.time_limit, stopped="time")

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON; those that are None have no key."""
        found = {key: value for key, value in asdict(self).items() if value is not None}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in found.items()}

    def line(self) -> str:
        """It in one line, without its rule and its seconds."""
        if self.rule is None or self.size is None:
            return f"{self.name}: {self.reason}"
        words = f"{self.size} condition{'' if self.size == 1 else 's'}"
        if self.test_accuracy is not None:
            words = f"{self.test_accuracy:.3f} on unseen scenes, {words}"
        return f"{self.name}: {words}" + (f" ({self.reason})" if self.reason else "")

    def metrics(self) -> dict[str, float]:
        """``baseline.<name>.test_accuracy`` and the others of :data:`FIGURES`, as far as there are any."""
        found = {figure: getattr(self, figure) for figure in FIGURES}
        return {
            f"baseline.{self.name}.{figure}": value for figure, value in found.items() if value is not None
        }

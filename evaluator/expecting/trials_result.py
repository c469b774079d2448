"""The aggregate verdict of a test that was repeated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from evaluator.expecting.policy import DEFAULT_POLICY, Policy


class Trial(NamedTuple):
    """One repetition: what became of it and, unless it passed, why."""

    outcome: Literal["pass", "skip", "fail"]
    why: str = ""


@dataclass(frozen=True)
class TrialsResult:
    """The aggregate verdict of trials.

    Attributes:
        trials: what became of each.
        min_pass: the share that must pass.
        policy: what is made of trials that were not evaluated.
    """

    trials: tuple[Trial, ...]
    min_pass: float = 1.0
    policy: Policy = DEFAULT_POLICY

    @property
    def outcome(self) -> Literal["pass", "skip", "fail"]:
        """ "pass" when enough trials passed whatever the others were, "fail" when too many failed to reach
        the share; in between it is the skipped ones that would decide: "skip", and under strict "fail"."""
        passes, skips = self._count("pass"), self._count("skip")
        if self._reaches(passes):
            return "pass"
        return "skip" if self._reaches(passes + skips) and not self.policy.strict else "fail"

    @property
    def passed(self) -> bool:
        """Whether every trial passed."""
        return self._count("pass") == len(self.trials)

    @property
    def share(self) -> float:
        """The share of trials that passed."""
        return self._count("pass") / len(self.trials) if self.trials else 1.0

    def summary(self) -> str:
        """How many passed and how many must, in one line, then why the others did not."""
        skips = self._count("skip")
        skipped = f", {skips} not evaluated" if skips else ""
        wanted = f"{self.min_pass * 100:.6g} % must"
        lines = [f"{self._count('pass')} of {len(self.trials)} trials passed{skipped}; {wanted}"]
        for number, trial in enumerate(self.trials, 1):
            if trial.outcome != "pass":
                word = "failed" if trial.outcome == "fail" else "skipped"
                told = trial.why.strip().replace("\n", "\n    ")
                lines.append(f"  trial {number} {word}: {told}")
        return "\n".join(lines)

    def _count(self, outcome: str) -> int:
        return sum(trial.outcome == outcome for trial in self.trials)

    def _reaches(self, passes: int) -> bool:
        return not self.trials or passes / len(self.trials) >= self.min_pass

    def __bool__(self) -> bool:
        return self.outcome == "pass"

    def __str__(self) -> str:
        return f"{self.outcome}: {self.summary()}"

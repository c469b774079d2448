"""Gradings and verdicts of an outside grader, counted by type, domain and confidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evaluator.translate.automationbench.grading import GradedAssertion, Grading


@dataclass(slots=True)
class AssertionTally:
    """How many assertions there are, how many of them count, and how many of those hold.

    What does not count is `free`, `unscored` or `untranslated` (see `GradedAssertion.standing`).
    """

    assertions: int = 0
    counted: int = 0
    passed: int = 0
    free: int = 0
    unscored: int = 0
    untranslated: int = 0

    def add(self, one: GradedAssertion) -> None:
        """Count one assertion."""
        self.assertions += 1
        self.counted += one.standing == "counted"
        self.passed += one.standing == "counted" and one.passed is True
        self.free += one.standing == "free"
        self.unscored += one.standing == "unscored"
        self.untranslated += one.standing == "untranslated"

    def to_dict(self) -> dict[str, int]:
        """The counts, as JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class RunTally:
    """How many runs there are, how many completed their task, and the sum of their partial credits."""

    runs: int = 0
    completed: int = 0
    credit: float = 0.0
    assertions: AssertionTally = field(default_factory=AssertionTally)

    def add(self, grading: Grading) -> None:
        """Count one run."""
        self.runs += 1
        self.completed += grading.completed
        self.credit += grading.partial_credit
        for one in grading.assertions:
            self.assertions.add(one)

    @property
    def mean_credit(self) -> float:
        """The mean partial credit of the runs; 0 where there are none."""
        return self.credit / self.runs if self.runs else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The counts, as JSON."""
        told = {"runs": self.runs, "completed": self.completed, "mean_credit": self.mean_credit}
        return told | self.assertions.to_dict()


class RollUp:
    """Gradings counted. By type and by confidence, the assertions; by domain, the runs as well.

    The domain of a task is its name up to the first dot. Untranslated assertions have the confidence "none".
    """

    def __init__(self, gradings: Iterable[Grading]) -> None:
        self.all = RunTally()
        self.by_type: dict[str, AssertionTally] = {}
        self.by_confidence: dict[str, AssertionTally] = {}
        self.by_domain: dict[str, RunTally] = {}
        for grading in gradings:
            self.all.add(grading)
            self.by_domain.setdefault(domain_of(grading.task), RunTally()).add(grading)
            for one in grading.assertions:
                self.by_type.setdefault(one.type, AssertionTally()).add(one)
                self.by_confidence.setdefault(one.confidence or "none", AssertionTally()).add(one)

    def to_dict(self) -> dict[str, Any]:
        """All counts, as JSON, by name."""
        return {
            "all": self.all.to_dict(),
            "by_domain": {name: self.by_domain[name].to_dict() for name in sorted(self.by_domain)},
            "by_confidence": {
                name: self.by_confidence[name].to_dict() for name in sorted(self.by_confidence)
            },
            "by_type": {name: self.by_type[name].to_dict() for name in sorted(self.by_type)},
        }


def domain_of(task: str) -> str:
    """The domain of a task: its name up to the first dot."""
    return task.partition(".")[0]


class ComparedVerdict(NamedTuple):
    """An assertion of a run on which an outside grader was asked as well."""

    task: str
    assertion: GradedAssertion
    theirs: bool

    @property
    def agrees(self) -> bool:
        """Whether both verdicts are the same."""
        return self.assertion.passed is self.theirs

    def to_dict(self) -> dict[str, Any]:
        """Both verdicts and what they are about, as JSON."""
        one = self.assertion
        return {
            "task": self.task,
            "i": one.index,
            "assertion": dict(one.assertion),
            "ours": one.passed,
            "theirs": self.theirs,
            "why": one.why,
        }


@dataclass(slots=True)
class AgreementTally:
    """How many verdicts were compared, and how many are the same."""

    total: int = 0
    agree: int = 0

    def add(self, compared: ComparedVerdict) -> None:
        """Count one verdict."""
        self.total += 1
        self.agree += compared.agrees

    @property
    def disagree(self) -> int:
        """How many verdicts differ."""
        return self.total - self.agree

    @property
    def percent(self) -> str:
        """The share that agrees, in per cent, rounded down: 100 is said only of all."""
        hundredths = self.agree * 10_000 // max(self.total, 1)
        return f"{hundredths // 100}.{hundredths % 100:02d}"

    def to_dict(self) -> dict[str, Any]:
        """The counts, as JSON."""
        told = {"total": self.total, "agree": self.agree, "disagree": self.disagree}
        return told | {"equivalence": float(self.percent)}


class Agreement:
    """The verdicts of an outside grader against ours: in all, by type, and those that differ, in order."""

    def __init__(self, compared: Iterable[ComparedVerdict]) -> None:
        self.all = AgreementTally()
        self.by_type: dict[str, AgreementTally] = {}
        self.disagreements: list[ComparedVerdict] = []
        for one in compared:
            self.all.add(one)
            self.by_type.setdefault(one.assertion.type, AgreementTally()).add(one)
            if not one.agrees:
                self.disagreements.append(one)

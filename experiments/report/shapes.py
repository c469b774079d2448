"""The shapes of the files of runs and sweeps, as far as reports and comparisons speak of them.

Fields that are not named here are passed over, so that files may say more. Amounts of bits may be infinite.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Amount = float | Literal["Infinity", "-Infinity", "NaN"]


class SceneCounts(msgspec.Struct, frozen=True):
    digest: str
    passing: int = msgspec.field(name="pass")
    failing: int = msgspec.field(name="fail")


class HiddenRule(msgspec.Struct, frozen=True):
    says: str


class DatasetFacts(msgspec.Struct, frozen=True):
    name: str
    source: str
    train: SceneCounts
    test: SceneCounts
    hidden_rule: HiddenRule | None = None


class Induction(msgspec.Struct, frozen=True):
    """The learnt check with its figures, in bits; see :class:`induce.result.InductionResult`."""

    check: dict[str, Any]
    objective: Amount
    size: Amount
    penalty: Amount
    constant: Amount
    lower_bound: Amount
    optimal: bool
    stopped: str
    engine: str
    seconds: float
    atoms: int
    nodes: int
    contradictions: list[list[str]] = []
    unusable_keys: list[str] = []
    alternatives: list[dict[str, Any]] = []
    vacuous: float | None = None


class Row(msgspec.Struct, frozen=True):
    """The scenes of one label, by verdict."""

    passing: int = msgspec.field(name="pass")
    failing: int = msgspec.field(name="fail")


class Confusion(msgspec.Struct, frozen=True):
    """The scenes by label; each row counts verdicts."""

    passing: Row = msgspec.field(name="pass")
    failing: Row = msgspec.field(name="fail")


class Graded(msgspec.Struct, frozen=True):
    confusion: Confusion

    @property
    def right(self) -> int:
        return self.confusion.passing.passing + self.confusion.failing.failing

    @property
    def total(self) -> int:
        rows = self.confusion.passing, self.confusion.failing
        return sum(row.passing + row.failing for row in rows)

    @property
    def accuracy(self) -> float | None:
        """The share of scenes whose verdict is their label; None where there are no scenes."""
        return self.right / self.total if self.total else None


class BaselineFacts(msgspec.Struct, frozen=True):
    """What another learner made of the same scenes; see :class:`experiments.baselines.Baseline`."""

    name: str
    available: bool
    reason: str | None = None
    train_accuracy: float | None = None
    test_accuracy: float | None = None
    size: float | None = None
    seconds: float | None = None
    rule: str | None = None
    stopped: str | None = None
    train_wrong: list[str] | None = None
    test_wrong: list[str] | None = None


class Moment(msgspec.Struct, frozen=True):
    seconds: float
    objective: Amount | None = None
    lower_bound: Amount | None = None


class TermCount(msgspec.Struct, frozen=True):
    """What a term lets pass: scenes by label, and those that no other term lets pass."""

    passing: int = msgspec.field(name="pass")
    failing: int = msgspec.field(name="fail")
    alone: int


class Term(msgspec.Struct, frozen=True):
    sentence: str
    train: TermCount
    test: TermCount


class Result(msgspec.Struct, frozen=True):
    """``result.json``."""

    dataset: DatasetFacts
    sentence: str
    induction: Induction
    metrics: dict[str, Amount]
    train: Graded
    test: Graded
    versions: dict[str, str] = {}
    coverage: list[Term] = []
    baselines: list[BaselineFacts] = []
    anytime: list[Moment] = []


class FoldRule(msgspec.Struct, frozen=True):
    sentence: str
    folds: int


class CrossValidation(msgspec.Struct, frozen=True):
    instead: str | None = None
    folds: int = 0
    right: int = 0
    total: int = 0
    accuracy: float | None = None
    rules: list[FoldRule] = []


class Permutation(msgspec.Struct, frozen=True):
    instead: str | None = None
    p_value: float | None = None
    objective: Amount | None = None
    rounds: int = 0
    hits: int = 0
    cut_by_clock: int = 0


class CurvePoint(msgspec.Struct, frozen=True):
    scenes: int
    train_accuracy: float
    test_accuracy: float
    size: Amount
    sentence: str
    optimal: bool = False


class Example(msgspec.Struct, frozen=True):
    """A scene on which two checks differ, made from the scene ``source`` by ``edits``."""

    id: str
    scene: Any
    passes: bool = msgspec.field(name="pass")
    source: str | None = None
    edits: list[str] = []


class Alternative(msgspec.Struct, frozen=True):
    sentence: str
    objective: Amount
    distance: float
    differs: int
    of: int
    example: Example


class Verdict(msgspec.Struct, frozen=True):
    sentence: str
    distance: float


class Hanging(msgspec.Struct, frozen=True):
    """The best checks for either answer."""

    passing: Verdict | None = msgspec.field(name="pass", default=None)
    failing: Verdict | None = msgspec.field(name="fail", default=None)


class Question(msgspec.Struct, frozen=True):
    gain: float
    passing: float
    source: str | None = None
    edits: list[str] = []
    hanging: Hanging = msgspec.field(name="if", default=Hanging())


class NextScene(msgspec.Struct, frozen=True):
    id: str
    scene: Any
    question: Question


class Evaluation(msgspec.Struct, frozen=True):
    """``evaluation.json``: each part is None where the run did not measure it."""

    cross_validation: CrossValidation | None = None
    permutation: Permutation | None = None
    learning_curve: list[CurvePoint] | None = None
    alternatives: list[Alternative] | None = None
    next_scenes: list[NextScene] | None = None


class TableKey(msgspec.Struct, frozen=True):
    key: str
    values: list[str]


class SweepTable(msgspec.Struct, frozen=True):
    """``table.json``: ``means[metric][row][column]``; the last row is the mean of the others."""

    title: str
    rows: TableKey
    columns: TableKey
    runs: int
    means: dict[str, list[list[float | None]]]

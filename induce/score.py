"""What can be said of a check on labelled scenes: objective, accuracy, evidence, coverage, margins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from evaluator import json_text, sentence
from induce.explain import Reason, reasons
from induce.grammar import Grammar
from induce.margin import Margin, margins
from induce.objective import Objective
from induce.parts import expression_of
from induce.scenes import LabelledScenes
from induce.trust import Confusion, Evidence, TermCoverage, coverage_by_term, rule_bits

JSON = Any


@dataclass(frozen=True)
class Misclassified:
    """A scene that the check grades against its label, and the parts that decide it."""

    id: str
    label: str
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class Score:
    """A check on labelled scenes.

    Attributes
    ----------
    objective : Objective or None
        None where the grammar cannot say the check; `outside` is the reason.
    confusion : Confusion
    evidence : Evidence
    terms : tuple of TermCoverage
    margins : tuple of Margin
        Of the scenes that are graded as labelled, the nearest to turning first.
    misclassified : tuple of Misclassified
    """

    sentence: str
    objective: Objective | None
    outside: str
    confusion: Confusion
    evidence: Evidence
    terms: tuple[TermCoverage, ...]
    margins: tuple[Margin, ...]
    misclassified: tuple[Misclassified, ...]

    def to_dict(self) -> dict[str, JSON]:
        plain = asdict(self)
        plain["objective"] = None if self.objective is None else self.objective._asdict()
        plain["accuracy"] = self.confusion.right / self.confusion.total
        plain["evidence"] |= {"saved": self.evidence.saved, "surplus": self.evidence.surplus}
        return plain


def score_check(
    check: object, data: LabelledScenes, grammar: Grammar | dict[str, JSON] | None = None
) -> Score:
    """Score a check, bare or defined, on labelled scenes.

    Raises
    ------
    CheckError
        When the check is not well formed.
    SceneError
        When a scene has no label.
    """
    labels = data.require_labels()
    expression = expression_of(check)
    if len(set(labels)) == 2:
        objective, outside = rule_bits(expression, data.scenes, labels, grammar, data.weights)
    else:
        objective, outside = None, f"all scenes are labelled {labels[0]}"
    confusion = Confusion.of(expression, data.scenes, labels)
    found = margins(expression, data.scenes, data.ids)
    wrong = [one.passed != (label == "pass") for one, label in zip(found, labels, strict=True)]
    return Score(
        sentence=sentence(expression),
        objective=objective,
        outside=outside,
        confusion=confusion,
        evidence=Evidence.of(confusion, None if objective is None else objective.size),
        terms=coverage_by_term(expression, data.scenes, labels, data.ids),
        margins=tuple(
            sorted(
                (one for one, error in zip(found, wrong, strict=True) if not error),
                key=lambda one: one.distance,
            )
        ),
        misclassified=tuple(
            Misclassified(data.ids[i], labels[i], tuple(reasons(expression, data.scenes[i])))
            for i, error in enumerate(wrong)
            if error
        ),
    )


def score_lines(score: Score) -> Iterator[str]:
    """The score as text for a reader."""
    table, evidence = score.confusion, score.evidence
    yield f"check: {score.sentence}"
    if score.objective is None:
        yield f"objective: none; {score.outside}"
    else:
        total, size, penalty = map(_bits, score.objective)
        yield f"objective: {total} bits ({size} for the check + {penalty} for errors)"
    yield f"accuracy: {table.right / table.total:.3f} ({table.right} of {table.total} right)"
    yield f"labelled pass: {table.true_pass} pass, {table.false_fail} fail"
    yield f"labelled fail: {table.false_pass} pass, {table.true_fail} fail"
    yield f"evidence: {_evidence(evidence)}"
    for term in score.terms:
        covered = f"passes {len(term.right)} labelled pass and {len(term.wrong)} labelled fail"
        alone = f", {len(term.alone)} of them alone" if len(score.terms) > 1 else ""
        yield f"term: {term.sentence}: {covered}{alone}"
    for passed in (True, False):
        nearest = next((one for one in score.margins if one.passed is passed), None)
        if nearest is not None:
            verb = "passes" if passed else "fails"
            yield f"margin: {_name(nearest.id)} {verb} by {nearest.distance:g} ({nearest.part})"
    for wrong in score.misclassified:
        verb = "fails" if wrong.label == "pass" else "passes"
        yield f"wrong: {_name(wrong.id)} is labelled {wrong.label} and {verb}"
        for reason in wrong.reasons:
            yield f"  wanted: {reason.wanted}"
            yield f"  observed: {reason.observed}"


def _evidence(evidence: Evidence) -> str:
    saved = f"{_bits(evidence.saved)} bits ({_bits(evidence.labels)} name the labels"
    saved += f", {_bits(evidence.errors)} of them still after the verdicts)"
    if evidence.rule is None or evidence.surplus is None:
        return saved
    if evidence.surplus >= 0:
        verdict = f"{_bits(evidence.surplus)} to spare"
    else:
        verdict = f"{_bits(-evidence.surplus)} short; chance finds rules of this length"
    return f"{saved} against {_bits(evidence.rule)} bits of rule: {verdict}"


def _bits(bits: float) -> str:
    return f"{bits:.2f}".rstrip("0").rstrip(".")


def _name(name: str) -> str:
    return name if name.isprintable() else json_text(name)

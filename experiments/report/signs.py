"""How far a check can be trusted, in a figure and a sentence each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from experiments.report.files import RunFiles, amount
from experiments.report.page import bits, count, percent
from experiments.report.shares import wilson
from induce.trust import Confusion, Evidence

Standing = Literal["good", "doubt", "open"]


@dataclass(frozen=True, slots=True)
class Sign:
    """A figure that speaks for the check, against it, or was not measured."""

    name: str
    standing: Standing
    value: str
    says: str


def evidence_of(run: RunFiles) -> Evidence:
    """Bits of rule against bits of evidence on the training scenes."""
    table = run.result.train.confusion
    verdicts = Confusion(
        true_pass=table.passing.passing,
        false_pass=table.failing.passing,
        true_fail=table.failing.failing,
        false_fail=table.passing.failing,
    )
    return Evidence.of(verdicts, amount(run.result.induction.size))


def signs_of(run: RunFiles, evidence: Evidence) -> Iterator[Sign]:
    """What speaks for the check and against it, and what was not measured."""
    yield _unseen(run)
    yield _proof(run)
    yield _worth(evidence)
    yield _constant(run)
    yield _cross_validation(run)
    yield _permutation(run)
    yield from _warnings(run)


def _unseen(run: RunFiles) -> Sign:
    test = run.result.test
    if not test.total:
        return Sign("Unseen scenes", "open", "none", "No scenes were kept back to judge the check on.")
    low, high = wilson(test.right, test.total)
    share = test.right / test.total
    standing: Standing = (
        "good" if low >= 0.9 else "open" if share == 1 else "doubt"
    )  # right, but on few scenes
    return Sign(
        "Unseen scenes",
        standing,
        percent(share),
        f"{test.right:,} of {test.total:,} right; by Wilson's 95 % interval the true share lies between "
        f"{percent(low)} and {percent(high)}.",
    )


def _proof(run: RunFiles) -> Sign:
    found = run.result.induction
    if found.optimal:
        says = "No check of the grammar, given the candidate constants, has a smaller objective."
        return Sign("Proof", "good", "proved minimal", says)
    reason = {
        "time": "the time limit stopped the search",
        "work": "the work limit stopped the search",
        "interrupted": "the search was interrupted",
    }.get(found.stopped, "the search ended at its own limits")
    gap = amount(found.objective) - amount(found.lower_bound)
    says = (
        f"Nothing is below {bits(found.lower_bound)} bits, the check is at {bits(found.objective)}; {reason}."
    )
    return Sign("Proof", "doubt", f"open by {bits(gap)} bits", says)


def _worth(evidence: Evidence) -> Sign:
    surplus = evidence.surplus or 0.0
    says = (
        f"Knowing the check saves {bits(evidence.saved)} of the {bits(evidence.labels)} bits that name the "
        f"training labels; saying it takes {bits(evidence.rule)} bits."
    )
    if surplus >= 0:
        return Sign("Rule against evidence", "good", f"{bits(surplus)} bits to spare", says)
    says = f"{says} Chance finds rules of this length."
    return Sign("Rule against evidence", "doubt", f"{bits(-surplus)} bits short", says)


def _constant(run: RunFiles) -> Sign:
    found = run.result.induction
    saved = amount(found.constant) - amount(found.objective)
    says = f"Always answering the same costs {bits(found.constant)} bits, this check {bits(found.objective)}."
    if saved > 0:
        return Sign("Against a constant answer", "good", f"{bits(saved)} bits better", says)
    says = f"{says} The labels look like noise, or the grammar cannot say the rule."
    return Sign("Against a constant answer", "doubt", "no better", says)


def _cross_validation(run: RunFiles) -> Sign:
    name = "Cross-validation"
    found = None if run.evaluation is None else run.evaluation.cross_validation
    if found is None:
        return Sign(name, "open", "not measured", _how("evaluation.folds=5"))
    if found.accuracy is None:
        return Sign(name, "open", "not possible", _full_stop(found.instead))
    says = f"{found.right:,} of {found.total:,} right in {found.folds} folds"
    if found.rules:
        agreed = found.rules[0].folds
        says += f"; {agreed} of {found.folds} folds learnt one and the same check"
    return Sign(name, "good" if found.accuracy >= 0.9 else "doubt", percent(found.accuracy), f"{says}.")


def _permutation(run: RunFiles) -> Sign:
    name = "Shuffled labels"
    found = None if run.evaluation is None else run.evaluation.permutation
    if found is None:
        return Sign(name, "open", "not measured", _how("evaluation.permutations=20"))
    if found.p_value is None:
        return Sign(name, "open", "not possible", _full_stop(found.instead))
    says = (
        f"A rule this short was found for {found.hits} of {count(found.rounds, 'shuffling')} of the labels; "
        f"the least p that many can give is {1 / (1 + found.rounds):.2g}."
    )
    if found.cut_by_clock:
        says += f" The clock cut {count(found.cut_by_clock, 'search', 'searches')} short."
    standing: Standing = "good" if found.p_value <= 0.05 else "doubt" if found.hits else "open"
    return Sign(name, standing, f"p = {found.p_value:.2g}", says)


def _warnings(run: RunFiles) -> Iterator[Sign]:
    found = run.result.induction
    if found.contradictions:
        number = count(len(found.contradictions), "scene")
        says = "The same scene is labelled both pass and fail; no check is right on both."
        yield Sign("Contradictions", "doubt", number, says)
    if found.vacuous:
        says = "So many of the passing scenes pass only because nothing happened that the check speaks of."
        yield Sign("Vacuous passes", "doubt", percent(found.vacuous), says)
    if found.unusable_keys:
        says = "These keys can't be addressed, so that no check could speak of them."
        yield Sign("Keys left out", "doubt", count(len(found.unusable_keys), "key"), says)


def _how(override: str) -> str:
    return f"Run the experiment again with {override}, or with evaluation=full for everything."


def _full_stop(text: str | None) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""

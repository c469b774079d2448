"""The page of one run: what was learnt, how far to trust it, and what it gets wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from markupsafe import Markup

from evaluator import CheckError, SceneError, canonical_json, json_text, sentence
from experiments.comparison_intervals import wilson
from experiments.report import charts
from experiments.report.files import Mistake, ReportError, RunFiles, Split, amount
from experiments.report.page import bits, count, percent, render
from experiments.report.shapes import Graded
from experiments.report.svg import StyleSheet
from experiments.report.tree import tree_of
from induce.explain import Reason, reasons
from induce.parts import Check, Place, expression_of, rebuild
from induce.trust import Confusion, Evidence

MOST_MISTAKES = 50
"""Misclassified scenes of a split that are shown; fewer where they make a page too large."""
LARGEST = 3_000_000
"""Bytes of a page."""
LONGEST_CHECK = 40_000
"""Characters of the check's JSON that are shown."""
_MOST_TIES = 20
_MOST_REASONS = 8
_LONGEST_TITLE = 280

Standing = Literal["good", "doubt", "open"]


@dataclass(frozen=True, slots=True)
class Sign:
    """A figure that speaks for the check, against it, or was not measured."""

    name: str
    standing: Standing
    value: str
    says: str


@dataclass(frozen=True, slots=True)
class Told:
    """A misclassified scene with the parts of the check that decide it."""

    mistake: Mistake
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """The scenes of one split; ``mistakes`` are those that are shown of ``wrong``, if they were ``kept``."""

    split: Split
    title: str
    graded: Graded
    accuracy: float | None
    interval: tuple[float, float] | None
    histogram: Markup | None
    mistakes: tuple[Told, ...]
    kept: bool
    wrong: int


def render_run(run: RunFiles, sheet: StyleSheet | None = None) -> str:
    """The run as one HTML page, with the styles of its charts in ``sheet`` where that is given.

    Raises :class:`ReportError` where its check is not well formed.
    """
    sheet = sheet or StyleSheet()
    page = _page(run, MOST_MISTAKES, sheet)
    for fewer in (10, 2, 0):
        if len(page.encode()) < LARGEST:
            break
        page = _page(run, fewer, sheet)
    return page


def _page(run: RunFiles, most_mistakes: int, sheet: StyleSheet) -> str:
    result = run.result
    try:
        tree = tree_of(result.induction.check)
        ties = _ties(run)
    except CheckError as error:
        raise ReportError(f"{run.name}: {error}") from None
    sides = [
        _side(run, "train", "Training", sheet, most_mistakes),
        _side(run, "test", "Unseen", sheet, most_mistakes),
    ]
    evidence = _evidence(run)
    curve = None if run.evaluation is None else run.evaluation.learning_curve
    view = {
        "title": run.name,
        "headline": result.sentence if len(result.sentence) <= _LONGEST_TITLE else "A check of several parts",
        "run": run,
        "result": result,
        "induction": result.induction,
        "tree": tree,
        "longest_check": LONGEST_CHECK,
        "sides": sides,
        "signs": list(_signs(run, evidence)),
        "evidence": evidence,
        "learning_curve": charts.learning_curve(curve, "curve", sheet) if curve and len(curve) > 1 else None,
        "anytime": charts.anytime(result.anytime, "anytime", sheet) if len(result.anytime) > 1 else None,
        "ties": ties[:_MOST_TIES],
        "all_ties": len(ties),
        "evaluation": run.evaluation,
        "groups": _groups(run.config),
        "environment": _flat(run.environment or result.versions),
    }
    return render("run.html.jinja", view, sheet)


def _side(run: RunFiles, split: Split, title: str, sheet: StyleSheet, most: int) -> Side:
    graded = run.result.train if split == "train" else run.result.test
    known = [one for one in run.predictions or () if one.split == split]
    wrong = [one for one in run.mistakes if one.prediction.split == split]
    return Side(
        split=split,
        title=title,
        graded=graded,
        accuracy=graded.accuracy,
        interval=wilson(graded.right, graded.total) if graded.total else None,
        histogram=charts.gap_histogram(known, f"gaps-{split}", sheet) if known else None,
        mistakes=tuple(_told(run, mistake) for mistake in wrong[:most]),
        kept=bool(wrong),
        wrong=graded.total - graded.right,
    )


def _told(run: RunFiles, mistake: Mistake) -> Told:
    check = expression_of(run.result.induction.check)
    try:
        return Told(mistake, tuple(islice(reasons(check, mistake.scene), _MOST_REASONS)))
    except (CheckError, SceneError, RuntimeError):  # nothing that can be judged here, or not without others
        return Told(mistake, ())


def _evidence(run: RunFiles) -> Evidence:
    table = run.result.train.confusion
    verdicts = Confusion(
        true_pass=table.passing.passing,
        false_pass=table.failing.passing,
        true_fail=table.failing.failing,
        false_fail=table.passing.failing,
    )
    return Evidence.of(verdicts, amount(run.result.induction.size))


def _signs(run: RunFiles, evidence: Evidence) -> Iterator[Sign]:
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
    return Sign(
        "Unseen scenes",
        "good" if low >= 0.9 else "doubt",
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


def _ties(run: RunFiles) -> list[str]:
    """The other checks of the same objective, in words; one with its parts in another order is no other."""
    known = {_unordered(run.result.induction.check)}
    said: dict[str, None] = {}
    for check in run.result.induction.alternatives:
        text = _unordered(check)
        if text not in known:
            known.add(text)
            said[sentence(check)] = None
    said.pop(run.result.sentence, None)
    return list(said)


def _unordered(check: Check) -> str:
    """A text that two checks share whose ands and ors differ in the order of their parts alone."""

    def sort(_: Place, part: Check) -> Check:
        joins = part["op"] in ("and", "or")
        return {**part, "of": sorted(part["of"], key=canonical_json)} if joins else part

    return canonical_json(rebuild(expression_of(check), sort))


def _groups(config: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The configuration by group, its single values first."""
    single = {key: value for key, value in config.items() if not isinstance(value, Mapping)}
    groups = [("general", _flat(single))] if single else []
    return groups + [(key, _flat(value)) for key, value in config.items() if isinstance(value, Mapping)]


def _flat(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            lines += _flat(value, f"{prefix}{key}.")
        else:
            lines.append((f"{prefix}{key}", value if isinstance(value, str) else _value(value)))
    return lines


def _value(value: Any) -> str:
    if isinstance(value, Sequence) and all(isinstance(one, str) for one in value) and value:
        return ", ".join(value)
    return "none" if value is None or value == [] else json_text(value)

"""The page of one run: what was learnt, how far to trust it, and what it gets wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from markupsafe import Markup

from evaluator import CheckError, SceneError, canonical_json, json_text, sentence
from experiments.report import charts
from experiments.report.files import Mistake, ReportError, RunFiles, Split
from experiments.report.page import render
from experiments.report.shapes import Graded
from experiments.report.shares import wilson
from experiments.report.signs import evidence_of, signs_of
from experiments.report.svg import StyleSheet
from experiments.report.tree import tree_of
from induce.explain import Reason, reasons
from induce.parts import Check, Place, expression_of, rebuild

MOST_MISTAKES = 50
"""Misclassified scenes of a split that are shown; fewer where they make a page too large."""
LARGEST = 3_000_000
"""Bytes of a page."""
LONGEST_CHECK = 40_000
"""Characters of the check's JSON that are shown."""
_MOST_TIES = 20
_MOST_REASONS = 8
_LONGEST_TITLE = 280


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
    evidence = evidence_of(run)
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
        "signs": list(signs_of(run, evidence)),
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

"""The page of a comparison: the differences with their intervals, and the runs that were compared."""

from __future__ import annotations

from experiments.compare.differences import Comparison
from experiments.compare.words import (
    contender_rows,
    difference_words,
    heading,
    interval_words,
    method_words,
    metric_words,
    p_words,
    run_rows,
)
from experiments.report import charts
from experiments.report.page import render
from experiments.report.svg import StyleSheet

MOST_ROWS = 400
"""Runs and differences of which there is a line."""
_MOST_DRAWN = 40


def render_comparison(comparison: Comparison) -> str:
    """The comparison as one HTML page."""
    sheet = StyleSheet()
    unit = "points" if comparison.by_scene else comparison.metric
    scale = 100.0 if comparison.by_scene else 1.0
    intervals = [
        charts.Interval(
            f"{one.first} − {one.second}",  # noqa: RUF001
            scale * one.estimate.value,
            scale * one.estimate.low,
            scale * one.estimate.high,
        )
        for one in comparison.differences[:_MOST_DRAWN]
        if one.estimate.low is not None and one.estimate.high is not None
    ]
    view = {
        "title": f"Comparison: {metric_words(comparison)}",
        "comparison": comparison,
        "heading": heading(comparison),
        "method": method_words(comparison) if comparison.differences else [],
        "plot": charts.differences(intervals, unit, "differences", sheet) if intervals else None,
        "differences": [
            (one, difference_words(comparison, one), interval_words(comparison, one), p_words(one))
            for one in comparison.differences[:MOST_ROWS]
        ],
        "contenders": contender_rows(comparison),
        "runs": run_rows(comparison)[: MOST_ROWS + 1],
        "entrants": comparison.entrants[:MOST_ROWS],
        "words": 2 + len(comparison.keys),
    }
    return render("comparison.html.jinja", view, sheet)

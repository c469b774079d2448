"""What a run leaves to be looked at: its report, and each chart of the report as an SVG file of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from markupsafe import Markup

from experiments.report import charts
from experiments.report.files import RunFiles, read_run
from experiments.report.run_page import render_run
from experiments.report.svg import COLOURS, StyleSheet
from induce.export import write_atomically


def write_pages(folder: Path) -> tuple[Path, ...]:
    """Write report.html and the charts of the finished run in ``folder`` beside its other files."""
    run = read_run(folder)
    texts = {"report.html": render_run(run), **dict(_charts(run))}
    for name, text in texts.items():
        write_atomically(folder / name, text)
    return tuple(folder / name for name in texts)


def _charts(run: RunFiles) -> Iterator[tuple[str, str]]:
    for split in ("train", "test"):
        predictions = [one for one in run.predictions or () if one.split == split]
        if predictions:
            sheet = StyleSheet()
            chart = charts.gap_histogram(predictions, f"gaps-{split}", sheet)
            yield f"gaps-{split}.svg", _standalone(chart, sheet)
    moments, sheet = run.result.anytime, StyleSheet()
    if len(moments) > 1:
        yield "anytime.svg", _standalone(charts.anytime(moments, "anytime", sheet), sheet)
    curve, sheet = None if run.evaluation is None else run.evaluation.learning_curve, StyleSheet()
    if curve and len(curve) > 1:
        yield "learning-curve.svg", _standalone(charts.learning_curve(curve, "curve", sheet), sheet)


def _standalone(chart: Markup, sheet: StyleSheet) -> str:
    """A chart of the page as a file: with its name space, and the page's colours in both schemes."""
    light, dark = _colours()
    style = (
        f":root {{ {light} background: var(--paper); font-family: system-ui, sans-serif; }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{sheet.text()}"
    )
    head, rest = str(chart).split(">", 1)
    head = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return f"{head}>\n<style>\n{style}\n</style>\n{rest}\n"


def _colours() -> tuple[str, str]:
    """Declarations of the page's colours, light and dark, as its style sheet has them."""
    text = resources.files("experiments.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    found = {name: re.findall(rf"--{name}: (#\w+);", text) for name in COLOURS}
    light, dark = (
        " ".join(f"--{name}: {values[scheme]};" for name, values in found.items()) for scheme in (0, 1)
    )
    return light, dark

"""What a run leaves to be looked at: its report, and each chart of the report as an SVG file of its own."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from experiments.report.files import read_run
from experiments.report.run_page import render_run
from experiments.report.svg import COLOURS, StyleSheet
from induce.export import write_atomically


def write_pages(folder: Path) -> tuple[Path, ...]:
    """Write report.html and the charts of the finished run in ``folder`` beside its other files."""
    sheet = StyleSheet()
    texts = {"report.html": render_run(read_run(folder), sheet)}
    texts |= {f"{name}.svg": _standalone(str(chart), sheet) for name, chart in sheet.charts.items()}
    for name, text in texts.items():
        write_atomically(folder / name, text)
    return tuple(folder / name for name in texts)


def _standalone(chart: str, sheet: StyleSheet) -> str:
    """A chart of the page as a file: with its name space, and the page's colours in both schemes."""
    light, dark = _colours()
    used = set(re.findall(r'class="(s\d+)"', chart))
    rules = [rule for rule in sheet.text().splitlines() if rule[1:].partition(" ")[0] in used]
    style = (
        f":root {{ {light} background: var(--paper); font-family: system-ui, sans-serif; }}",
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}",
        *rules,
    )
    head, rest = chart.split(">", 1)
    head = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return "\n".join((f"{head}>", "<style>", *style, "</style>", rest, ""))


def _colours() -> tuple[str, str]:
    """Declarations of the page's colours, light and dark, as its style sheet has them."""
    text = resources.files("experiments.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    found = {name: re.findall(rf"--{name}: (#\w+);", text) for name in COLOURS}
    light, dark = (
        " ".join(f"--{name}: {values[scheme]};" for name, values in found.items()) for scheme in (0, 1)
    )
    return light, dark

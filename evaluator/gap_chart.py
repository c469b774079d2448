"""A chart of the gap over the steps of recorded runs, as one SVG text that needs nothing else to be seen."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

from evaluator.replay import Replay, ReplayedStep
from evaluator.safe_text import printable
from evaluator.values import number_text

_WIDTH: Final = 760
_PANEL: Final = 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 20, 44, 52
_MOST_LABELS = 24
_COLOURS: Final = {"pass": "#0a7d4f", "fail": "#b3261e", "unknown": "#6b6b6b"}


class Panel(NamedTuple):
    """One run to draw: what stands above it, and the run."""

    title: str
    replay: Replay


def gap_chart(panels: Sequence[Panel]) -> str:
    """The runs below one another: a point a step, filled where the check passes, open where it fails.

    An infinite gap is drawn at the top, above all others, a step whose verdict is not known as a grey cross
    on the axis. Pointing at a step shows its tools, its gap and why.
    """
    height = _PANEL * max(len(panels), 1)
    size = f'width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for index, panel in enumerate(panels):
        parts.append(f'<g transform="translate(0 {index * _PANEL})">')
        parts.extend(_panel(panel))
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(panel: Panel) -> list[str]:
    steps = panel.replay.steps
    known = [step.result.gap for step in steps if step.result is not None and isfinite(step.result.gap)]
    most = max(known, default=0.0) or 1.0
    endless = any(step.result is not None and not isfinite(step.result.gap) for step in steps)
    highest = 0.8 if endless else 1.0  # of the largest finite gap, as a share of the height
    base, right = _PANEL - _BOTTOM, _WIDTH - _RIGHT
    top = round(base - highest * (base - _TOP), 1)
    spacing = (right - _LEFT) / max(len(steps) - 1, 1)

    def place(step: ReplayedStep) -> tuple[float, float]:
        gap = 0.0 if step.result is None else step.result.gap
        share = highest * gap / most if isfinite(gap) else 1.0
        return round(_LEFT + spacing * (step.number - 1), 1), round(base - share * (base - _TOP), 1)

    parts = [
        f'<text x="{_LEFT}" y="20" font-weight="bold">{_text(panel.title)}</text>',
        f'<path d="M{_LEFT} {_TOP}V{base}H{right}" fill="none" stroke="#6b6b6b"/>',
        f'<text x="{_LEFT - 8}" y="{top + 4}" text-anchor="end">{_label(most)}</text>',
        f'<text x="{_LEFT - 8}" y="{base + 4}" text-anchor="end">0</text>',
        f'<text x="{_LEFT - 40}" y="{(_TOP + base) // 2}" fill="#6b6b6b">gap</text>',
    ]
    if endless:
        parts.append(f'<text x="{_LEFT - 8}" y="{_TOP + 4}" text-anchor="end">∞</text>')
    line = [place(step) for step in steps if step.result is not None]
    if line:
        points = " ".join(f"{x},{y}" for x, y in line)
        parts.append(f'<polyline points="{points}" fill="none" stroke="#3c5a99" stroke-width="1.5"/>')
    every = -(-len(steps) // _MOST_LABELS)
    for step in steps:
        x, y = place(step)
        parts.append(_point(step, x, y))
        if (step.number - 1) % max(every, 1) == 0:
            parts.append(
                f'<text x="{x}" y="{base + 18}" text-anchor="middle" fill="#6b6b6b">{step.number}</text>'
            )
    return parts


def _point(step: ReplayedStep, x: float, y: float) -> str:
    tools = f" ({', '.join(step.tools)})" if step.tools else ""
    if step.result is None:
        title = f"step {step.number}{tools}: not known, {step.problem}"
        mark = f'<path d="M{x - 4} {y - 4}l8 8m0 -8l-8 8" stroke="{_COLOURS["unknown"]}" stroke-width="2">'
        return f"{mark}<title>{_text(title)}</title></path>"
    verdict = "pass" if step.result.passed else "fail"
    title = f"step {step.number}{tools}: {verdict}, gap {number_text(step.result.gap)}: {step.result.why}"
    colour = _COLOURS[verdict]
    fill = colour if step.result.passed else "#ffffff"
    mark = f'<circle cx="{x}" cy="{y}" r="5" fill="{fill}" stroke="{colour}" stroke-width="2">'
    return f"{mark}<title>{_text(title)}</title></circle>"


def _label(gap: float) -> str:
    text = number_text(gap)
    return text if len(text) <= 8 else f"{gap:.3g}"


def _text(text: str) -> str:
    """The text as XML can hold it."""
    return escape(printable(text))

"""A figure of a paper: lines over a number, one a learner, as SVG that is the same for the same figures."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's, which those who see no difference between red and green tell apart."""
_MARKS: Final = ("o", "s", "^", "D", "v", "P", "X")
_LEGEND_WIDTH: Final = 60
"""Characters under a panel, of which a name's mark takes six."""
_SETTINGS: Final[dict[Any, Any]] = {"svg.hashsalt": "paper", "svg.fonttype": "none", "font.size": 9}


@dataclass(frozen=True, slots=True)
class Panel:
    """Lines by name over ``x``, with a gap where one has no figure; a ``share`` is drawn from 0 to 100 %."""

    title: str
    x_label: str
    x: Sequence[float]
    lines: Mapping[str, Sequence[float | None]]
    share: bool = True
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """Panels beside each other, with one legend."""

    name: str
    says: str
    panels: tuple[Panel, ...]

    def svg(self) -> str:
        """The figure as SVG; without a date or a random id, text as text."""
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

        count = len(self.panels)
        with matplotlib.rc_context(_SETTINGS):
            figure = Figure(figsize=(4.2 * count, 3.4), layout="constrained")
            FigureCanvasSVG(figure)
            for panel, axes in zip(self.panels, figure.subplots(1, count, squeeze=False)[0], strict=True):
                _draw(panel, axes)
            handles, names = figure.axes[0].get_legend_handles_labels()
            if len(names) > 1:
                columns = max(1, _LEGEND_WIDTH * count // (max(map(len, names)) + 6))
                figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False)
            text = io.StringIO()
            figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        return text.getvalue()


def _draw(panel: Panel, axes: Axes) -> None:
    for number, (name, values) in enumerate(panel.lines.items()):
        points = [(x, y) for x, y in zip(panel.x, values, strict=True) if y is not None]
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            label=name,
            color=_COLOURS[number % len(_COLOURS)],
            marker=_MARKS[number % len(_MARKS)],
            markersize=4,
            linewidth=1.6,
        )
    axes.set_title(panel.title, fontsize=9)
    axes.set_xlabel(panel.x_label)
    axes.grid(alpha=0.3)
    if panel.log_x:
        axes.set_xscale("log")
        axes.set_xticks(list(panel.x), [f"{x:g}" for x in panel.x])
        axes.set_xticks([], minor=True)
    else:
        axes.locator_params(axis="x", integer=True)
    if panel.log_y:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
    if panel.share:
        axes.set_ylim(-0.03, 1.03)
        axes.yaxis.set_major_formatter("{x:.0%}")

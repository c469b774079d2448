"""The charts of reports and comparisons, drawn with matplotlib for a column of text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from markupsafe import Markup

from evaluator.safe_text import printable
from experiments.report.files import Prediction, amount
from experiments.report.shapes import CurvePoint, Moment
from experiments.report.svg import COLOURS, StyleSheet, drawing, inline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 380, 232
_SERIES: Final = (
    ("accent", "o", "-"),
    ("second", "s", "--"),
    ("pass", "^", "-."),
    ("third", "D", ":"),
    ("fail", "v", (0, (5, 1, 1, 1, 1, 1))),
    ("muted", "P", (0, (3, 1))),
)
"""Colour, marker and dashes of a line: none is told from the others by its colour alone."""
_MOST_BINS = 7
_SHORT_NAME = 22


class Interval(NamedTuple):
    """A difference with its interval."""

    name: str
    value: float
    low: float
    high: float


def gap_histogram(predictions: Sequence[Prediction], name: str, sheet: StyleSheet) -> Markup:
    """Scenes by gap and label: a bar at 0 passes, whatever its label."""
    from matplotlib.ticker import MaxNLocator

    bins = _bins([one.gap for one in predictions])
    counts = {
        label: [
            sum(one.label == label and low <= one.gap <= high for one in predictions) for low, high in bins
        ]
        for label in ("pass", "fail")
    }
    with drawing():
        figure, axes = _axes()
        for offset, (label, heights) in zip((-0.2, 0.2), counts.items(), strict=True):
            hatch = None if label == "pass" else "///"
            axes.bar(
                [at + offset for at in range(len(bins))],
                heights,
                width=0.38,
                color=COLOURS[label] if hatch is None else COLOURS["paper"],
                edgecolor=COLOURS[label],
                hatch=hatch,
                linewidth=0.8,
                label=f"labelled {label}",
            )
        axes.set_xticks(range(len(bins)), [_bin_name(low, high) for low, high in bins])
        axes.set_xlabel("gap: 0 passes, more is further from passing")
        axes.set_ylabel("scenes")
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
        axes.grid(axis="y")
        _legend_above(axes, 2)
        told = "; ".join(
            f"gap {_bin_name(low, high)}: {counts['pass'][at]} labelled pass, "
            f"{counts['fail'][at]} labelled fail"
            for at, (low, high) in enumerate(bins)
        )
        return inline(figure, name, f"Histogram of gaps. {told}.", sheet)


def learning_curve(points: Sequence[CurvePoint], name: str, sheet: StyleSheet) -> Markup:
    """Accuracy on training and unseen scenes against the number of training scenes."""
    scenes = [point.scenes for point in points]
    lines = {
        "unseen scenes": [point.test_accuracy for point in points],
        "training scenes": [point.train_accuracy for point in points],
    }
    with drawing():
        figure, axes = _axes()
        for (label, values), style in zip(lines.items(), _SERIES, strict=False):
            _line(axes, scenes, values, label, style)
        axes.set_xlabel("training scenes")
        axes.set_xticks(scenes)
        _share_axis(axes, [value for values in lines.values() for value in values])
        _legend_above(axes, 2)
        told = "; ".join(f"{point.scenes} scenes: {point.test_accuracy:.1%}" for point in points)
        return inline(figure, name, f"Accuracy on unseen scenes by training scenes. {told}.", sheet)


def anytime(moments: Sequence[Moment], name: str, sheet: StyleSheet) -> Markup:
    """The best objective and the proved bound, in bits, over seconds."""
    end = 1.06 * moments[-1].seconds  # what was known at the end is seen as a line of its own
    with drawing():
        figure, axes = _axes()
        best = [one for one in moments if one.objective is not None]
        bounds = [one for one in moments if one.lower_bound is not None]
        for label, line, (colour, _, dashes) in (
            ("best check so far", [(one.seconds, amount(one.objective)) for one in best], _SERIES[0]),
            ("proved bound", [(one.seconds, amount(one.lower_bound)) for one in bounds], _SERIES[1]),
        ):
            x = [second for second, _ in line] + [end]
            y = [value for _, value in line] + [line[-1][1]] if line else [math.nan]
            axes.step(x, y, where="post", color=COLOURS[colour], linestyle=dashes, label=label)
        axes.set_xlabel("seconds")
        axes.set_ylabel("bits")
        axes.set_ylim(bottom=0)
        first = min((one.seconds for one in moments if one.seconds > 0), default=0.0)
        if first and end / first > 30:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(_plain)
            axes.xaxis.set_minor_formatter(lambda *_: "")
        axes.grid(axis="y")
        _legend_above(axes, 2)
        last = moments[-1]
        told = f"After {last.seconds:g} seconds the objective is {_bits(last.objective)} bits"
        return inline(figure, name, f"{told} and the proved bound {_bits(last.lower_bound)} bits.", sheet)


def lines_of_table(
    rows: Mapping[str, Sequence[float | None]],
    columns: Sequence[str],
    *,
    key: str,
    share: bool,
    name: str,
    says: str,
    sheet: StyleSheet,
) -> Markup:
    """A line a row of a table over its columns; columns that are numbers stand at their place."""
    numbers = _numbers(columns)
    x = list(range(len(columns))) if numbers is None else numbers
    with drawing():
        columns_of_names = 1 if max(map(len, rows), default=0) > _SHORT_NAME else 2
        figure, axes = _axes(height=_HEIGHT + 16 * math.ceil(len(rows) / columns_of_names))
        for index, (row, values) in enumerate(rows.items()):
            style = _SERIES[index % len(_SERIES)]
            shown = [math.nan if value is None else value for value in values]
            if numbers is None:
                colour, marker, _ = style
                axes.plot(
                    x, shown, marker, color=COLOURS[colour], label=label_text(row, 40), ms=6, clip_on=False
                )
            else:
                _line(axes, x, shown, label_text(row, 40), style)
        axes.set_xticks(x, [label_text(column, 12) for column in columns])
        if numbers is None:
            axes.set_xlim(-0.5, len(columns) - 0.5)
        elif min(numbers) > 0 and max(numbers) / min(numbers) >= 8:
            axes.set_xscale("log")
            axes.set_xticks(x, [label_text(column, 12) for column in columns])
            axes.xaxis.set_minor_locator(_no_ticks())
        axes.set_xlabel(label_text(key, 40))
        known = [value for line in rows.values() for value in line if value is not None]
        if share:
            _share_axis(axes, known)
        else:
            axes.set_ylim(bottom=min([0.0, *known]))
            axes.grid(axis="y")
        _legend_above(axes, columns_of_names)
        return inline(figure, name, says, sheet)


def differences(intervals: Sequence[Interval], unit: str, name: str, sheet: StyleSheet) -> Markup:
    """Differences with their intervals, one below the other, beside the line of no difference."""
    with drawing():
        figure, axes = _axes(height=52 + 36 * len(intervals))
        names = axes.get_yaxis_transform()  # across, a share of the chart; down, a place of the axis
        for at, one in enumerate(intervals):
            axes.plot([one.low, one.high], [at, at], "-", color=COLOURS["accent"], linewidth=2)
            axes.plot([one.value], [at], "o", color=COLOURS["accent"], markersize=6)
            clear = {"facecolor": COLOURS["paper"], "edgecolor": "none", "pad": 1.5}
            name = label_text(one.name, 60)
            axes.text(0.0, at - 0.24, name, transform=names, fontsize=10.5, va="bottom", bbox=clear)
        axes.axvline(0.0, color=COLOURS["muted"], linewidth=1, linestyle="--", zorder=1)
        axes.set_yticks([])
        axes.set_ylim(len(intervals) - 0.6, -0.85)
        axes.spines.left.set_visible(False)
        axes.grid(axis="x")
        axes.set_xlabel(f"difference in {label_text(unit, 30)}")
        told = "; ".join(
            f"{one.name}: {one.value:+.3g} ({one.low:+.3g} to {one.high:+.3g})" for one in intervals
        )
        says = printable(f"Differences in {unit}, with intervals. {told}.")
        return inline(figure, name, says, sheet)


def label_text(text: str, most: int) -> str:
    """A text from elsewhere as a chart can hold it: printable, and cut."""
    shown = printable(text)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def _axes(width: float = _WIDTH, height: float = _HEIGHT) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / 72, height / 72), layout="constrained")
    return figure, figure.subplots()


def _line(
    axes: Axes, x: Sequence[float], y: Sequence[float], label: str, style: tuple[str, str, Any]
) -> None:
    colour, marker, dashes = style
    axes.plot(
        x, y, color=COLOURS[colour], marker=marker, linestyle=dashes, label=label, clip_on=False, zorder=3
    )


def _share_axis(axes: Axes, shares: Sequence[float]) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    lowest = min(shares, default=0.0)
    axes.set_ylim(max(0.0, math.floor(lowest * 10 - 0.5) / 10), 1.0)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
    axes.grid(axis="y")


def _legend_above(axes: Axes, columns: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    axes.figure.legend(handles, labels, loc="outside upper left", ncols=columns, labelcolor=COLOURS["ink"])


def _bins(gaps: Sequence[float]) -> list[tuple[float, float]]:
    """Gap 0, up to seven ranges of finite gaps, and the infinite one; those that are empty at the ends go."""
    finite = sorted({gap for gap in gaps if 0 < gap < math.inf})
    ranges = [(gap, gap) for gap in finite] if len(finite) <= _MOST_BINS else list(_ranges(finite))
    endless = [(math.inf, math.inf)] if math.inf in gaps else []
    return [(0.0, 0.0), *ranges, *endless]


def _ranges(finite: Sequence[float]) -> Iterator[tuple[float, float]]:
    """Ranges of equal width, in their logarithm where gaps differ much; each ends at gaps that occur."""
    low, high = finite[0], finite[-1]
    wide = high / low > 50

    def place(gap: float) -> float:
        share = math.log(gap / low) / math.log(high / low) if wide else (gap - low) / (high - low)
        return min(_MOST_BINS - 1, int(share * _MOST_BINS))

    for index in range(_MOST_BINS):
        inside = [gap for gap in finite if place(gap) == index]
        if inside:
            yield inside[0], inside[-1]


def _bin_name(low: float, high: float) -> str:
    if math.isinf(low):
        return "∞"
    return _short(low) if low == high else f"{_short(low)} to\n{_short(high)}"


def _short(value: float) -> str:
    return f"{value:.3g}"


def _bits(value: Any) -> str:
    return "unknown" if value is None else f"{amount(value):.2f}".rstrip("0").rstrip(".")


def _numbers(texts: Sequence[str]) -> list[float] | None:
    try:
        found = [float(text) for text in texts]
    except ValueError:
        return None
    return found if all(map(math.isfinite, found)) and len(found) > 1 else None


def _plain(value: float, _: object = None) -> str:
    return f"{value:g}"


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()

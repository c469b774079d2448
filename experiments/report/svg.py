"""Figures of matplotlib as SVG that is part of a page: its colours follow the page, its text stays text.

What is drawn in one of the colours of :data:`COLOURS` takes the page's colour of that name, so that a chart
is readable in a dark and in a light scheme. Declarations move from ``style`` attributes into classes of one
style sheet, which lets the page forbid every other style.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS: Final = {
    name: f"#0102{index:02x}"
    for index, name in enumerate(
        ("ink", "muted", "line", "pass", "fail", "accent", "second", "third", "paper"), 1
    )
}
"""Names of the page's colours, and what a figure is drawn in to have them."""

_RC: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a text is shown as it is, dollars too
    "font.size": 11.0,
    "axes.titlesize": 11.0,
    "axes.edgecolor": COLOURS["line"],
    "axes.labelcolor": COLOURS["muted"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": COLOURS["line"],
    "grid.linewidth": 0.75,
    "xtick.color": COLOURS["line"],
    "xtick.labelcolor": COLOURS["muted"],
    "ytick.color": COLOURS["line"],
    "ytick.labelcolor": COLOURS["muted"],
    "xtick.major.size": 3.0,
    "ytick.major.size": 0.0,
    "text.color": COLOURS["ink"],
    "lines.linewidth": 1.75,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.fontsize": 10.5,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}
_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_FONT_FAMILY = re.compile(r"font-family:[^;]*;?\s*")
_FONT = re.compile(r"\bfont: (?:(\d+) )?([\d.]+px)[^;]*")


class StyleSheet:
    """Classes for the declarations of a page's charts, in the order in which they are met; and the charts."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self.charts: dict[str, Markup] = {}

    def name_of(self, declarations: str) -> str:
        return self._names.setdefault(declarations, f"s{len(self._names)}")

    def text(self) -> str:
        return "\n".join(f".{name} {{ {declarations} }}" for declarations, name in self._names.items())


@contextmanager
def drawing() -> Iterator[None]:
    """Figures made inside have the look of the page, whatever the user's own settings are."""
    import matplotlib

    with warnings.catch_warnings(), matplotlib.rc_context():
        warnings.simplefilter("ignore")  # such as for signs that matplotlib's own font lacks
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_RC)
        yield


def inline(figure: Figure, name: str, says: str, sheet: StyleSheet) -> Markup:
    """The figure as an ``svg`` element of a page; made inside :func:`drawing`.

    ``name`` is part of its inner ids and has to be unique in the page, ``says`` is for who doesn't see it.
    """
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": name}):
        written = io.BytesIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(written, format="svg", metadata=nothing)
    root = ElementTree.fromstring(written.getvalue())
    used = _references(root)
    ids = {old: f"{name}-{index}" for index, old in enumerate(used)}
    box = escape(root.get("viewBox", ""))
    head = f'<svg class="chart" role="img" aria-label="{escape(says)}" viewBox="{box}">'
    body = "".join(_element(child, ids, sheet) for child in root)
    chart = sheet.charts[name] = Markup(f"{head}{body}</svg>")
    return chart


def _references(root: ElementTree.Element) -> list[str]:
    found: dict[str, None] = {}
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == f"{_XLINK}href":
                found[value.removeprefix("#")] = None
            for reference in _REFERENCE.findall(value):
                found[reference] = None
    return list(found)


def _element(element: ElementTree.Element, ids: dict[str, str], sheet: StyleSheet) -> str:
    """The element as HTML has it, without what only an SVG file needs."""
    tag = element.tag.removeprefix(_SVG)
    if tag in ("metadata", "style"):
        return ""
    inner = "".join(_element(child, ids, sheet) for child in element)
    if tag in ("g", "defs") and not inner:
        return ""
    attributes = "".join(f' {key}="{escape(value)}"' for key, value in _attributes(element, ids, sheet))
    if tag == "g" and not attributes:
        return inner
    text = str(escape(element.text)) if tag == "text" and element.text else ""
    return f"<{tag}{attributes}>{text}{inner}</{tag}>" if inner or text else f"<{tag}{attributes}/>"


def _attributes(
    element: ElementTree.Element, ids: dict[str, str], sheet: StyleSheet
) -> Iterator[tuple[str, str]]:
    declared = []
    for key, value in element.attrib.items():
        if key == "id":
            if value in ids:
                yield "id", ids[value]
        elif key == f"{_XLINK}href":
            yield "href", f"#{ids[value.removeprefix('#')]}"
        elif key == "style":
            declared.append(value)
        elif key in ("fill", "stroke"):
            declared.append(f"{key}: {value}")
        elif key == "d":
            yield "d", " ".join(value.split())
        elif not value.startswith("rotate(-0 "):
            yield key, _renamed(value, ids)
    if declared:
        yield "class", sheet.name_of(_declarations(_renamed("; ".join(declared), ids)))


def _renamed(value: str, ids: dict[str, str]) -> str:
    return _REFERENCE.sub(lambda found: f"url(#{ids[found[1]]})", value)


def _declarations(style: str) -> str:
    """Declarations in the page's own colours and font."""
    text = _FONT.sub(
        lambda found: f"font-size: {found[2]}" + (f"; font-weight: {found[1]}" if found[1] else ""), style
    )
    text = _FONT_FAMILY.sub("", text).strip("; ")
    for name, colour in COLOURS.items():
        text = text.replace(colour, f"var(--{name})")
    return text

"""Pages that are one file each: templates filled in with strict escaping, and nothing from elsewhere.

Every text that a template shows is escaped for HTML, and signs that are not printable (control characters,
marks that turn the direction of writing, halves of surrogate pairs) are shown as escapes. A page forbids
itself everything but the one style sheet inside it, whose digest it states: scripts, addresses and styles
that a text might smuggle in would not be run or asked for even if they got past the escaping.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from evaluator import json_text
from evaluator.safe_text import printable, printable_lines
from experiments.report.files import amount
from experiments.report.svg import StyleSheet

if TYPE_CHECKING:
    from jinja2 import Environment

_FIRST_WORDS = (
    "a",
    "an",
    "any",
    "at",
    "each",
    "every",
    "exactly",
    "fewer",
    "it",
    "more",
    "no",
    "some",
    "the",
)
TEMPLATES = resources.files("experiments.report") / "templates"
LONGEST_TEXT = 4000
"""Characters of a scene or another long text that are shown."""
_LONGEST_LINE = 1500
_POLICY = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"
_WIDTH, _DEEPEST, _LONG_NAME = 100, 60, 28


def render(template: str, view: Mapping[str, Any], sheet: StyleSheet) -> str:
    """The page of one of the templates. ``view`` holds what it shows, ``sheet`` the classes of its charts."""
    style = f"\n{_style()}\n{sheet.text()}\n"
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    policy = f"{_POLICY}; style-src 'sha256-{digest}'"
    page = _environment().get_template(template)
    return page.render(view, style=Markup(style), policy=policy)


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("experiments.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters |= {
        "bits": bits,
        "capital": capital,
        "heading": lambda text: f"{text[:1].upper()}{text[1:]}" if " " in text else text,
        "sentence": lambda text: f"{text[:1].upper()}{text[1:]}.",
        "percent": lambda share, digits=1: _units(percent(share, digits)),
        "count": count,
        "figure": figure,
        "units": _units,
        "lines": _lines,
        "pretty": _pretty,
        "wrapped": _wrapped,
    }
    return environment


@functools.cache
def _style() -> str:
    return (TEMPLATES / "style.css").read_text(encoding="utf-8")


def bits(value: Any) -> str:
    """An amount of bits, to the hundredth: ``20.38``."""
    if value is None:
        return "unknown"
    text = f"{amount(value):.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text.replace("inf", "∞")


def capital(text: str) -> str:
    """The text of a sentence with a capital, where it begins with a word and not with a name or a path."""
    first = text.split(" ", 1)[0]
    return f"{text[:1].upper()}{text[1:]}" if first in _FIRST_WORDS else text


def percent(share: float, digits: int = 1) -> str:
    """A share as a percentage that says 100 % of all alone and 0 % of none alone: ``99.9 %``."""
    step = 10.0**-digits
    shown = min(max(round(100 * share, digits), step), 100 - step) if 0 < share < 1 else 100 * share
    return f"{shown:.{digits}f}".removesuffix("." + "0" * digits) + " %"


def count(number: float, one: str, many: str | None = None) -> str:
    """A number with its noun: ``1 scene``, ``20,000 scenes``."""
    return f"{figure(number)} {one if number == 1 else many or f'{one}s'}"


def figure(value: Any) -> str:
    """A number of any kind, short."""
    number = amount(value)
    if number != number or number in (float("inf"), float("-inf")):
        return str(number).replace("inf", "∞")
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:.3g}" if abs(number) < 100 else f"{number:,.1f}"


def _shown(value: Any) -> Any:
    if isinstance(value, Markup) or not isinstance(value, str):
        return "" if value is None else value
    return printable(_cut(value, _LONGEST_LINE)).replace(r"\xa0", "\N{NO-BREAK SPACE}")


def _units(text: str) -> str:
    """The text with percentages that no line end takes apart."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def _lines(text: str, most: int = LONGEST_TEXT) -> Markup:
    """A text of several lines, cut where it is too long."""
    return Markup(escape(printable_lines(_cut(text, most))))


def _pretty(value: Any, most: int = LONGEST_TEXT) -> Markup:
    """A JSON value, what is short of it on one line, cut where it is too long; until then it stays JSON."""
    text = _cut("".join(_laid_out(value, 0)), most)
    shown = (sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in text)
    return Markup(escape("".join(shown)))


def _cut(text: str, most: int) -> str:
    more = len(text) - most
    return text if more <= 0 else f"{text[:most]} … {count(more, 'more character')}"


def _laid_out(value: Any, indent: int) -> Iterator[str]:
    text = json_text(value)
    members = value.items() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if not members or len(text) + indent <= _WIDTH or indent >= _DEEPEST:
        yield text
        return
    yield text[0]
    for at, member in enumerate(members):
        key, inner = member if isinstance(value, dict) else (None, member)
        yield f"{',' if at else ''}\n{' ' * (indent + 2)}{'' if key is None else f'{json_text(key)}: '}"
        yield from _laid_out(inner, indent + 2)
    yield f"\n{' ' * indent}{text[-1]}"


def _wrapped(text: str) -> Markup:
    """A name with places where a line may end if it is a long one: after signs such as ``.`` and ``_``."""
    shown = str(escape(printable(_cut(text, _LONGEST_LINE))))
    if len(text) > _LONG_NAME:
        for sign in "._/[=":
            shown = shown.replace(sign, f"{sign}<wbr>")
    return Markup(shown)

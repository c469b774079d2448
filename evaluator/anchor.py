"""Anchors: which place of an asset is meant, as text: `row[3]`, `item[id=7]`, `zone[dock].point[2.5,-1]`.

An anchor is a chain of steps joined by dots. A step has a kind, `widget`, `item`, `row`, `field`, `step`,
`metric`, `zone`, `object`, `surface`, `point` or any other lower-case word, and a selector in brackets. A
selector alone, without a kind, is an anchor too; that is how results point at a failure, for a path does not
tell the kind of what it leads to.

==============  ==================  ==================================================================
selector        example             read as
==============  ==================  ==================================================================
index           `3`                 an int; leading zeros do not matter
coordinates     `2.5,-1`            a tuple of finite floats, at least two
look-up         `id=7`              `Keyed("id", "7")`
membership      `tags has X`        `Has("tags", "X")`
name            `north`             a str: whatever is none of the above
quoted          `"a]b"`, `id="x y"` a name, or a part of a look-up, as a JSON string: always possible
==============  ==================  ==================================================================
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from json import loads
from math import isfinite
from typing import Any, Final, NamedTuple

from evaluator.errors import CheckError, kind_of
from evaluator.path import Has, Index, Keyed, Property, Segment, selector_text
from evaluator.values import compact, number_text, quoted

KINDS: Final = (
    "widget",
    "item",
    "row",
    "field",
    "step",
    "metric",
    "zone",
    "object",
    "surface",
    "point",
)
"""The kinds that are known by name; any other lower-case word is a kind as well."""

Selector = int | tuple[float, ...] | Keyed | Has | str


class AnchorStep(NamedTuple):
    """One step of an anchor: what kind of thing, None when only selected, and which one."""

    kind: str | None
    selector: Selector


_LONGEST = 10_000
_KIND = r"[a-z][a-z0-9_-]*+"
_STRING = r'"(?:[^"\\\x00-\x1f]|\\.)*+"'
_STEP = re.compile(rf'({_KIND})\[((?:[^\]"]|{_STRING})*+)\](\.|\Z)')
_INDEX = re.compile(r"[0-9]{1,15}")
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_COORDINATES = re.compile(rf"{_NUMBER}(?:,{_NUMBER})+")
_WORD = r'[^\s="\[\]]++'
_TEXT = r'[^"\[\]\r\n]++'
_LOOK_UP = re.compile(rf"({_STRING}|{_WORD})(=|[ ]has[ ])({_STRING}|{_TEXT})")
_NAME = re.compile(r'[^"\[\]=\r\n]+')


def parse_anchor(text: str) -> tuple[AnchorStep, ...]:
    """The steps of an anchor. Raises `CheckError` when it is none.

    >>> parse_anchor("row[3].field[total]")
    (AnchorStep(kind='row', selector=3), AnchorStep(kind='field', selector='total'))
    """
    if type(text) is not str:
        raise CheckError(f"an anchor is a string such as row[3], got {kind_of(text)}")
    if len(text) > _LONGEST:
        raise CheckError(f"an anchor has at most {_LONGEST:,} characters")
    steps: list[AnchorStep] = []
    at, goes_on = 0, True
    while goes_on:
        written = _STEP.match(text, at)
        if written is None:
            break
        steps.append(AnchorStep(written[1], _selector(written[2], text)))
        at, goes_on = written.end(), written[3] == "."
    if not goes_on:
        return tuple(steps)
    if steps:
        raise _refusal(text, f"at character {at + 1}")
    return (AnchorStep(None, _selector(text, text)),)


def format_anchor(steps: Sequence[AnchorStep]) -> str:
    """The text of an anchor: `parse_anchor` gives the steps back.

    Raises `CheckError` for what has no text: no step, several without a kind, a kind that is no lower-case
    word, a number that is negative as an index or not finite, fewer than two coordinates.
    """
    if not steps or (len(steps) > 1 and any(step.kind is None for step in steps)):
        raise CheckError("an anchor has a step, and a kind in each when it has several")
    return ".".join(map(_step_text, steps))


def anchor_at(path: Sequence[Segment] | None) -> dict[str, str] | None:
    """Where a path points: its first segment is the asset, its last one, if there are more, the anchor."""
    if not path:
        return None
    asset = {"asset_id": selector_text(path[0])}
    if len(path) > 1:
        asset["anchor"] = format_anchor([AnchorStep(None, _selector_of(path[-1]))])
    return asset


def _selector_of(segment: Segment) -> Selector:
    match segment:
        case Property(key):
            return key
        case Index(digits):
            significant = digits.lstrip("0") or "0"
            return int(significant) if _INDEX.fullmatch(significant) else significant
        case _:
            return segment


def _selector(content: str, text: str) -> Selector:
    if _INDEX.fullmatch(content):
        return int(content)
    if _COORDINATES.fullmatch(content):
        numbers = tuple(map(float, content.split(",")))
        if not all(map(isfinite, numbers)):
            raise CheckError(f"a coordinate of the anchor {compact(text)} is too large")
        return numbers
    if content.startswith('"') and re.fullmatch(_STRING, content):
        return _unquoted(content, text)
    look_up = _LOOK_UP.fullmatch(content)
    if look_up is not None:
        kind = Keyed if look_up[2] == "=" else Has
        return kind(_unquoted(look_up[1], text), _unquoted(look_up[3], text))
    if _NAME.fullmatch(content):
        return content
    raise _refusal(text, f"in {compact(content)}" if content != text else "")


def _unquoted(written: str, text: str) -> str:
    if not written.startswith('"'):
        return written
    try:
        plain: str = loads(written)
    except ValueError:
        raise _refusal(text, f"in {compact(written)}") from None
    return plain


def _refusal(text: str, where: str) -> CheckError:
    problem = f"{compact(text)} is no anchor" + (f" {where}" if where else "")
    return CheckError(f"{problem}; one reads like row[3], item[id=7] or zone[dock].field[total]")


def _step_text(step: AnchorStep) -> str:
    kind, selector = step
    text = _selector_text(selector)
    if kind is None:
        return text if parse_anchor(text) == (step,) else quoted(str(selector))
    if type(kind) is not str or not re.fullmatch(_KIND, kind):
        raise CheckError(f"the kind of an anchor is a lower-case word, got {compact(kind)}")
    return f"{kind}[{text}]"


def _selector_text(selector: Any) -> str:
    if isinstance(selector, str):
        return selector if _reads_as(selector, selector) else quoted(selector)
    if isinstance(selector, Keyed | Has):
        field = selector.field if re.fullmatch(_WORD, selector.field) else quoted(selector.field)
        text = selector.text if re.fullmatch(_TEXT, selector.text) else quoted(selector.text)
        return f"{field}={text}" if isinstance(selector, Keyed) else f"{field} has {text}"
    if type(selector) is int and 0 <= selector < 10**15:
        return str(selector)
    if isinstance(selector, tuple) and len(selector) > 1:
        return ",".join(map(_coordinate, selector))
    raise CheckError(f"no anchor selects by {selector!r:.60}")


def _coordinate(number: Any) -> str:
    if type(number) not in (int, float) or not isfinite(number):
        raise CheckError(f"a coordinate is a finite number, got {number!r:.60}")
    return number_text(float(number))


def _reads_as(content: str, selector: Selector) -> bool:
    try:
        return _selector(content, content) == selector
    except CheckError:
        return False

"""Words that several families use in `why`: lists of names, counts, bounds on a number of things."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evaluator.values import quoted

_MOST_NAMES: Final = 12


def name_text(name: str) -> str:
    """A name as it stands in a line; as JSON text where it could not be read there."""
    return name if name.isprintable() and name.strip() == name != "" else quoted(name)


def one_line(text: str) -> str:
    """A text that others wrote, on one line."""
    return " ".join(text.split())


def listed(names: Sequence[str], joint: str = ", ") -> str:
    """Names in a row, at most a dozen of them: `search → book → … (38 more)`; `nothing` for none."""
    if not names:
        return "nothing"
    shown = [name_text(name) for name in names[:_MOST_NAMES]]
    if len(names) > _MOST_NAMES:
        shown.append(f"… ({len(names) - _MOST_NAMES} more)")
    return joint.join(shown)


def counted(number: float, noun: str) -> str:
    """`1 edit`, `2 edits`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def and_more(others: int) -> str:
    """` (and 2 more)`; nothing when there are no others."""
    return f" (and {others} more)" if others else ""


def range_text(at_least: str | None, at_most: str | None) -> str:
    """`≤ 3`, `≥ 1`, or `1…3` for both bounds, as texts."""
    if at_least is None:
        return f"≤ {at_most}"
    return f"≥ {at_least}" if at_most is None else f"{at_least}…{at_most}"


def beyond_text(over: str | None, short: str | None) -> str:
    """` (over by 2)`, ` (short by 1)` or both; nothing when there is neither distance."""
    sides = [f"{side} by {by}" for side, by in (("over", over), ("short", short)) if by is not None]
    return f" ({', '.join(sides)})" if sides else ""

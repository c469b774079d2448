"""Where a value stands in a JSON tree, as a path from its root: `$.of[1].where.op`."""

from __future__ import annotations

from typing import NamedTuple

from evaluator.values import quoted


class Place(NamedTuple):
    """A chain of steps up to the root; made into text only when an error needs it."""

    parent: Place | None
    step: str | int
    depth: int

    def __str__(self) -> str:
        steps = []
        place: Place | None = self
        while place is not None:
            steps.append(_text(place.step))
            place = place.parent
        return "$" + "".join(reversed(steps))


def below(parent: Place | None, step: str | int) -> Place:
    """The place one step further from the root, which is None."""
    return Place(parent, step, 1 if parent is None else parent.depth + 1)


def place_text(place: Place | None) -> str:
    """The place as text; `$` for the root."""
    return "$" if place is None else str(place)


def _text(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if step.isidentifier() else f"[{quoted(step)}]"

"""What can go wrong, in two kinds: the check is at fault, or the scene is.

Both are `ValueError`s, and no other exception leaves the evaluator. An error is data first (`place` and
`problem`); its text is one rendering of them.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST_PLACE = 400


class _PlacedError(ValueError):
    """A problem and the place where it sits; `place` is "" where there is none to name."""

    def __init__(self, problem: str, place: str = "") -> None:
        super().__init__(problem, place)
        self.problem = problem
        self.place = place

    def __str__(self) -> str:
        place = self.place
        if len(place) > _LONGEST_PLACE:
            place = place[: _LONGEST_PLACE // 2] + "..." + place[-_LONGEST_PLACE // 2 :]
        return f"{place}: {self.problem}" if place else self.problem


class CheckError(_PlacedError):
    """The check is not well formed.

    `place` is where in the check, as a JSON path from its root: `$.of[1].where.op`. `problem` says what
    was expected there and, for a name, which known one is nearest.
    """


class SceneError(_PlacedError):
    """The scene holds something that is not JSON, such as a set, bytes or NaN.

    `place` is the path (in the check's own path language) at which it was met, where that is known.
    """


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like `name`, or None when none comes close."""
    candidates = {candidate.lower(): candidate for candidate in known}
    found = get_close_matches(name.strip().lower()[:100], candidates, n=1, cutoff=0.55)
    return candidates[found[0]] if found else None


def kind_of(value: object) -> str:
    """What a value is in JSON's words, for messages; Python's type name when it is not JSON."""
    if value is None:
        return "null"
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "an array",
        dict: "an object",
    }
    return names.get(type(value)) or f"a Python {type(value).__name__}"

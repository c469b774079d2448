"""The parameters of one AutomationBench assertion: read by name, of the kind asked for, each reading noted.

Null is absent. What no family reads is known at the end (`unread`): the grader does not look at it either.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, Final

from evaluator.errors import CheckError, kind_of
from evaluator.translate.automationbench.worlds import normalise_world
from evaluator.values import compact, isfinite_number, number_text

_WHOLE: Final = re.compile(r"-?[0-9]{1,15}")
_ABOUT_SCORING: Final = frozenset({"type", "scored", "excluded"})


class MissingParameterError(Exception):
    """A parameter that the assertion cannot do without is not there; the grader's verdict is then false."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(names)
        self.names = names


class Parameters:
    """The parameters of an assertion.

    Where several names are given they mean the same, and the first that is there counts. A number stands for
    its text. Raises `CheckError` with the key as its place when a parameter is of a kind that nothing could
    be made of, and `MissingParameterError` where a required one is absent or an empty text or array.
    """

    def __init__(self, assertion: dict[str, Any], initial: Any = None) -> None:
        self._null = {key for key, value in assertion.items() if value is None}
        self._given = {key: value for key, value in assertion.items() if value is not None}
        self._read: set[str] = set()
        self._initial = initial
        self.notes: list[str] = []

    def note(self, why: str) -> None:
        """Say why the check may differ from the grader's verdict."""
        if why not in self.notes:
            self.notes.append(why)

    @cached_property
    def initial(self) -> Any:
        """The starting world, normalised; None when it is not known."""
        return None if self._initial is None else normalise_world(self._initial)

    def unread(self) -> list[str]:
        """The parameters that nothing has asked for."""
        return [key for key in self._given if key not in self._read and key not in _ABOUT_SCORING]

    def has(self, *names: str) -> bool:
        """Whether one of the names is there."""
        return self._key(names) is not None

    def gives_null(self, *names: str) -> bool:
        """Whether one of the names is there with null, and none with a value."""
        return not self.has(*names) and any(name in self._null for name in names)

    def value(self, *names: str) -> Any:
        """Any JSON value; None when absent."""
        key = self._key(names)
        return None if key is None else self._given[key]

    def text(self, *names: str) -> str | None:
        """A text; None when absent."""
        key = self._key(names)
        return None if key is None else _text(self._given[key], f"$.{key}", "a text")

    def texts(self, *names: str) -> list[str]:
        """A text or an array of texts; empty when absent."""
        key = self._key(names)
        return [] if key is None else texts_of(self._given[key], f"$.{key}")

    def number(self, name: str) -> float | None:
        """A number, or a text that reads as a whole one; None when absent."""
        value = self.value(name)
        if value is None or is_number(value):
            number: float | None = value
            return number
        if type(value) is str and _WHOLE.fullmatch(value.strip()):
            return int(value)
        raise CheckError(f"expected a number, got {kind_of(value)} {compact(value)}", f"$.{name}")

    def flag(self, name: str, default: bool) -> bool:
        """True or false; the default when absent."""
        value = self.value(name)
        if value is None or type(value) is bool:
            return default if value is None else value
        raise CheckError(f"expected true or false, got {kind_of(value)} {compact(value)}", f"$.{name}")

    def object(self, name: str) -> dict[str, Any]:
        """An object; empty when absent."""
        value = self.value(name)
        if value is None or type(value) is dict:
            return value or {}
        raise CheckError(f"expected an object, got {kind_of(value)} {compact(value)}", f"$.{name}")

    def scalar(self, *names: str) -> Any:
        """A text, number or boolean; None when absent."""
        key = self._key(names)
        return None if key is None else scalar_of(self._given[key], f"$.{key}")

    def require(self, *names: str) -> None:
        """Raise `MissingParameterError` unless one of the names is there and not empty."""
        key = self._key(names)
        if key is None or self._given[key] in ("", []):
            raise MissingParameterError(names)

    def _key(self, names: tuple[str, ...]) -> str | None:
        """The first of the names that is there; all of them are read by this."""
        found = None
        for name in names:
            if name in self._given and found is None:
                found = name
                self._read.add(name)
        return found


def is_number(value: Any) -> bool:
    """Whether a value is a number of JSON."""
    return type(value) is int or (type(value) is float and isfinite_number(value))


def texts_of(value: Any, place: str) -> list[str]:
    """A text or an array of texts, as a list. Raises `CheckError` with the place when it is neither."""
    if type(value) is not list:
        return [_text(value, place, "a text or an array of texts")]
    return [_text(item, f"{place}[{index}]", "a text") for index, item in enumerate(value)]


def scalar_of(value: Any, place: str) -> Any:
    """A text, number or boolean. Raises `CheckError` with the place when it is none."""
    if type(value) is str or type(value) is bool or is_number(value):
        return value
    raise CheckError(f"expected a text, number or boolean, got {kind_of(value)} {compact(value)}", place)


def _text(value: Any, place: str, expected: str) -> str:
    if type(value) is str:
        return value
    if is_number(value):
        return number_text(value)
    shown = "" if value is None else f" {compact(value)}"
    raise CheckError(f"expected {expected}, got {kind_of(value)}{shown}", place)

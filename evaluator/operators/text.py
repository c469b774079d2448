"""Text: a string contains another, or matches a pattern (`contains`, `matches`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from evaluator.errors import CheckError
from evaluator.fields import Fields
from evaluator.node import Node, atom
from evaluator.pattern import PatternError, searcher
from evaluator.values import compact, require_json

_DECIMAL = re.compile(r"(?<![0-9])[0-9]++(?:\.[0-9]++)+")  # each run of digits is read once
_COMMA_BETWEEN_DIGITS = re.compile(r"(?<=[0-9]),(?=[0-9])")


def contains(fields: Fields) -> Node:
    """The value at `path` is a string with `substring` in it; with `ci` both are lower-cased first.

    Lower-casing is Unicode's, as in JavaScript; there is no case folding and no normalisation.

    With `norm` numbers are written alike on both sides before the search: commas between digits are dropped,
    and zeros at the end of a decimal (`1,000`, `1000.00` and `1000` are one).

    With `word` a substring that starts with a letter or digit must not start inside a word, and one that ends
    in a digit must not end inside a number; it may end inside a longer word (`reconcil` is in `Reconciled`,
    `155` is not in `1550` or `155.5`). The empty substring is then found nowhere.
    """
    path, get = fields.path("path")
    substring = fields.text("substring")
    finds = _search(substring, fields.flag("ci"), fields.flag("norm"), fields.flag("word"))

    def holds(found: Any) -> bool:
        if type(found) is str:
            return finds(found)
        require_json(found, path)
        return False

    def failing(found: Any) -> str:
        if type(found) is str:
            return f'{path}: "{substring}" not in {compact(found)}'
        return f'{path}: expected string containing "{substring}", got {compact(found)}'

    return atom(path, get, holds, passing=f'{path} contains "{substring}"', failing=failing)


def _search(substring: str, ignore_case: bool, normalise: bool, whole: bool) -> Callable[[str], bool]:
    """Whether a text has the substring in it, made for the flags that are set."""
    if ignore_case and not normalise and not whole:
        lowered = substring.lower()
        return lambda text: lowered in text.lower()
    if not normalise and not whole:
        return lambda text: substring in text

    def prepared(text: str) -> str:
        text = text.lower() if ignore_case else text
        return numbers_alike(text) if normalise else text

    wanted = prepared(substring)
    if whole:
        return lambda text: _has_word(prepared(text), wanted)
    return lambda text: wanted in prepared(text)


def numbers_alike(text: str) -> str:
    """The text without commas between digits and without zeros at the end of decimals."""
    return _DECIMAL.sub(_without_last_zeros, _COMMA_BETWEEN_DIGITS.sub("", text))


def _without_last_zeros(written: re.Match[str]) -> str:
    number = written[0]
    return number.rstrip("0").rstrip(".") if number.count(".") == 1 else number  # else a version or address


def _has_word(text: str, wanted: str) -> bool:
    """Whether `wanted` stands in the text where it may start and end."""
    if not wanted:
        return False
    guards_start, guards_end = wanted[0].isalnum(), "0" <= wanted[-1] <= "9"
    at = text.find(wanted)
    while at >= 0:
        if guards_start and at and text[at - 1].isalnum():
            while at < len(text) and text[at].isalnum():  # no other place inside this word will do
                at += 1
        elif not (guards_end and _goes_on_as_number(text, at + len(wanted))):
            return True
        else:
            at += 1
        at = text.find(wanted, at)
    return False


def _goes_on_as_number(text: str, end: int) -> bool:
    after = text[end : end + 2]
    return "0" <= after[:1] <= "9" or (after[:1] == "." and "0" <= after[1:] <= "9")


def matches(fields: Fields) -> Node:
    """The value at `path` is a string in which the regular expression `pattern` is found.

    Patterns are RE2's: no look-around and no back references, and time linear in the text. A pattern is
    searched for anywhere (`^` and `$` tie it to the ends), `(?i)` at its start puts case aside. Half of a
    surrogate pair in the text reads as U+FFFD. Needs the package google-re2.
    """
    path, get = fields.path("path")
    pattern = fields.text("pattern")
    search = _compiled(pattern, fields)

    def holds(found: Any) -> bool:
        if type(found) is str:
            return search(found)
        require_json(found, path)
        return False

    def failing(found: Any) -> str:
        if type(found) is str:
            return f"{path}: {compact(found)} does not match /{pattern}/"
        return f"{path}: expected string matching /{pattern}/, got {compact(found)}"

    return atom(
        path,
        get,
        holds,
        passing=lambda found: f"{path} = {compact(found)} matches /{pattern}/",
        failing=failing,
    )


def _compiled(pattern: str, fields: Fields) -> Callable[[str], bool]:
    try:
        return searcher(pattern)
    except ImportError:
        problem = '"matches" needs the package google-re2: install it, or this package with its extra "re"'
        raise CheckError(problem, f"{fields.place}.op") from None
    except PatternError as error:
        problem = f"not a regular expression that RE2 takes: {error}"
        raise fields.refusal("pattern", problem) from None

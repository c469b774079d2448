"""Patterns in JSON Schemas: regular expressions as ECMA-262 reads them, for Python.

`\\d`, `\\w` and `\\s` are ASCII, `$` is the very end of the text. Classes of Unicode's general categories
(`\\p{L}`, `\\P{Lu}`, `\\pN`) are written out; other properties, such as scripts, are refused. As in RE2 a
pattern may begin with flags, `(?i)`, and say `\\z` for the end.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby
from typing import Final
from unicodedata import category

_OUTSIDE: Final = re.compile(r"\\[pP](?:\{\w+\}|\w)|\\.|\[(?:\\.|[^\]\\])*\]|\$|\(\?<(?![=!])", re.DOTALL)
_INSIDE: Final = re.compile(r"\\[pP](?:\{\w+\}|\w)|\\.|\[|&(?=&)|\|(?=\|)|~(?=~)", re.DOTALL)
_FLAGS: Final = re.compile(r"\(\?([ims]+)\)")
_CATEGORY: Final = re.compile("C[cfosn]?|L[ulmot]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?")
_CODE_POINTS: Final = 0x110000


class SchemaPatternError(ValueError):
    """The pattern cannot be used; the text says why."""


class SchemaPattern(str):
    """A pattern for Python's `re`; `written` is how it stands in the schema."""

    written: str

    def __new__(cls, written: str) -> SchemaPattern:
        """Raises `SchemaPatternError` when the pattern is none."""
        translated = _translated(written)
        try:
            re.compile(translated)
        except re.error as error:
            raise SchemaPatternError(error.msg) from None
        except (OverflowError, RecursionError) as error:
            raise SchemaPatternError(str(error)) from None
        made = super().__new__(cls, translated)
        made.written = written
        return made


def _translated(pattern: str) -> str:
    flags = _FLAGS.match(pattern)
    said, rest = (flags[1], pattern[flags.end() :]) if flags else ("", pattern)
    return f"(?a{''.join(sorted(set(said)))}:{_OUTSIDE.sub(_outside, rest)})"


def _outside(token: re.Match[str]) -> str:
    """A token outside a class, or a whole class."""
    text = token[0]
    if text[0] == "[":
        inner = _INSIDE.sub(_inside, text[1:-1])
        return {"": "(?!)", "^": r"[\s\S]"}.get(inner, f"[{inner}]")
    if text[:2] in (r"\p", r"\P") and len(text) > 2:
        return f"[{_category_ranges(text)}]"
    return {"$": r"\Z", "(?<": "(?P<", r"\z": r"\Z"}.get(text, text)


def _inside(token: re.Match[str]) -> str:
    """A token of a class; Python's own would begin a nested one, or an operation on sets."""
    text = token[0]
    if text[:2] in (r"\p", r"\P") and len(text) > 2:
        return _category_ranges(text)
    return text if text[0] == "\\" else f"\\{text}"


def _category_ranges(text: str) -> str:
    name = text[2:].strip("{}")
    if not _CATEGORY.fullmatch(name):
        known = f"only Unicode's general categories, such as {text[:2]}{{L}}, are known"
        raise SchemaPatternError(f"{text}: {known}")
    return _ranges(name, negated=text[1] == "P")


def _ranges(name: str, *, negated: bool) -> str:
    """The code points of a general category, or all others, as the inside of a class."""
    found = [(first, last) for kind, first, last in _runs() if kind.startswith(name) is not negated]
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in found)


@cache
def _runs() -> tuple[tuple[str, int, int], ...]:
    """All code points as runs of one general category: the category, the first and the last."""
    runs, first = [], 0
    for kind, points in groupby(map(category, map(chr, range(_CODE_POINTS)))):
        last = first + sum(1 for _ in points) - 1
        runs.append((kind, first, last))
        first = last + 1
    return tuple(runs)

"""What is wrong with a CEL text, shown where it is: a sentence, the line, and a caret below the place."""

from __future__ import annotations

from unicodedata import category, east_asian_width

from evaluator.errors import CheckError

_BEFORE, _AFTER = 48, 24
_UNSEEN = ("Cc", "Cs", "Zl", "Zp")
_WIDTHLESS = ("Mn", "Me", "Cf")


def fault(text: str, offset: int, problem: str) -> CheckError:
    """The error for a problem at an offset (in characters, from 0) of a CEL text.

    A long line is cut around the place. The caret stands right below it also after wide characters, which
    fill two columns of a terminal, and combining ones, which fill none.

    >>> print(fault("active && || off", 10, "unexpected token '||'"))
    CEL: unexpected token '||' at line 1, column 11
      active && || off
                ^
    """
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    line, column = text.count("\n", 0, offset) + 1, offset - start + 1
    first, last = max(start, offset - _BEFORE), min(end, offset + _AFTER)
    before = ("..." if first > start else "") + _visible(text[first:offset])
    after = _visible(text[offset:last]) + ("..." if last < end else "")
    caret = " " * sum(map(_columns, before)) + "^"
    return CheckError(f"CEL: {problem} at line {line}, column {column}\n  {before}{after}\n  {caret}")


def _visible(text: str) -> str:
    return "".join(" " if category(character) in _UNSEEN else character for character in text)


def _columns(character: str) -> int:
    if category(character) in _WIDTHLESS:
        return 0
    return 2 if east_asian_width(character) in "WF" else 1

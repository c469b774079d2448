"""Text: a string contains another (`contains`)."""

from __future__ import annotations

from typing import Any

from evaluator.fields import Fields
from evaluator.node import Node, atom
from evaluator.values import compact, require_json


def contains(fields: Fields) -> Node:
    """The value at `path` is a string with `substring` in it; with `ci` both are lower-cased first.

    Lower-casing is Unicode's, as in JavaScript; there is no case folding and no normalisation.
    """
    path, get = fields.path("path")
    substring = fields.text("substring")
    ignore_case = fields.flag("ci")
    lowered = substring.lower()

    def holds(found: Any) -> bool:
        if type(found) is str:
            return lowered in found.lower() if ignore_case else substring in found
        require_json(found, path)
        return False

    def failing(found: Any) -> str:
        if type(found) is str:
            return f'{path}: "{substring}" not in {compact(found)}'
        return f'{path}: expected string containing "{substring}", got {compact(found)}'

    return atom(get, holds, passing=f'{path} contains "{substring}"', failing=failing)

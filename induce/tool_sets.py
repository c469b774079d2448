"""Sets of tools: which tools of a run's steps a rule may speak of together, and what naming them costs.

Tools that belong together are mostly named alike or take the same arguments, so such classes have a short
name here: the tools whose names share a word, those that take an argument, those that act rather than read
(by the verb they begin with), and the acting ones among the former. Any other set is named by its members.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from induce.column import Column
from induce.grammar import Grammar
from induce.profile import Scope, holds_steps
from induce.set_beam import Codes

ARGUMENTS = "args."
_VERBS = """
    ask browse calculate check compare compute count describe estimate fetch find get inspect list load look
    lookup plan preview query read retrieve search see show think validate verify view wait
"""
READING = frozenset(_VERBS.split())
"""Verbs at the beginning of the names of tools that change nothing."""
CLASS = 2.0
"""Bits for saying that a class is meant."""
LARGEST_CLASS = 16
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")


class ToolSets:
    """The classes of the tools that the steps of some traces name.

    Attributes
    ----------
    scope : Scope
        The steps.
    column : Column
        Their names; codes are those of its distinct values.
    codes : tuple of int
        The names that are texts, none of them empty: the tools.
    """

    def __init__(self, scope: Scope, column: Column) -> None:
        self.scope, self.column = scope, column
        self.codes: Codes = tuple(
            code for code, value in enumerate(column.distinct) if isinstance(value, str) and value
        )
        self.code_of = {column.distinct[code]: code for code in self.codes}

    @classmethod
    def of(cls, root: Scope, grammar: Grammar) -> ToolSets | None:
        """The tools of the traces that the scenes hold; None where they hold none."""
        scope = root.children.get("trace.steps") or root.children.get("steps")
        if scope is None or not holds_steps(scope) or not grammar.allows_path(f"{scope.name}.name"):
            return None
        return cls(scope, scope.columns["name"])

    def choice(self, code: int) -> float:
        """Bits to pick one tool."""
        return math.log2(max(1, len(self.codes))) + (2.0 if self.column.occurrences[code] == 1 else 0.0)

    @cached_property
    def acting(self) -> Codes:
        """The tools that do something, by the verbs of their names."""
        words = ((code, _words(self.column.distinct[code])) for code in self.codes)
        return tuple(code for code, said in words if said and said[0] not in READING)

    @cached_property
    def classes(self) -> dict[Codes, None]:
        """Two tools or more, but not all, that are one class; in the order of their codes."""
        found: dict[Codes, None] = {}
        for members in self._classes():
            if 2 <= len(members) <= LARGEST_CLASS and len(members) < len(self.codes):
                found[members] = None
        return found

    def _classes(self) -> Iterator[Codes]:
        names = {code: _words(self.column.distinct[code]) for code in self.codes}
        acting = self.acting
        yield acting
        yield tuple(code for code in self.codes if code not in acting)
        alike: list[Codes] = []
        for word in sorted({word for words in names.values() for word in words}):
            alike.append(tuple(code for code in self.codes if word in names[code]))
        alike.extend(self._taking().values())
        for members in alike:
            yield members
            yield tuple(code for code in members if code in acting)

    def _taking(self) -> dict[str, Codes]:
        """The tools that always take an argument, by its path."""
        found: dict[str, Codes] = {}
        calls = {code: int(n) for code, n in enumerate(self.column.occurrences)}
        for path, column in self.scope.columns.items():
            if column.kind != "plain" or not path.startswith(ARGUMENTS) or path.count(".") != 1:
                continue
            taken = np.bincount(self.column.codes[column.present] + 1, minlength=len(calls) + 1)[1:]
            found[path] = tuple(code for code in self.codes if taken[code] == calls[code])
        return found

    @cached_property
    def class_bits(self) -> float:
        """Bits to pick a class."""
        return CLASS + math.log2(max(1, len(self.classes)))

    def bits(self, members: Codes, member: float) -> float:
        """Bits to pick a set: as a class, or its members one by one with `member` for each further one."""
        listed = sum(map(self.choice, members)) + member * (len(members) - 1)
        return min(listed, self.class_bits) if members in self.classes else listed


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]

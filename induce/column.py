"""One column of a profile: a path with its value in every row, and what can be read off it.

Distinct values and numbers in one fixed order, small arrays, words, whether the values name a row or
a moment rather than describe it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator import MISSING
from evaluator.values import equal, has_lone_surrogate
from induce.constants import Number, gap_half_digits

JSON = Any
Kind = Literal["plain", "index", "keyed", "having", "length"]

MAX_ARRAYS, LONGEST_ARRAY = 12, 4
"""How many different arrays a path may hold, and of how many scalars, for each to be a constant."""
YEAR_2000, YEAR_2100 = 946_684_800, 4_102_444_800
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
_NAMES_A_ROW = re.compile(r"(^|_)(id|ids|no|nr|number|index|seq|row|key|uuid)$")
_ISO_TIME = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?")
_OPAQUE = re.compile(r"(?=.*\d)[0-9a-fA-F]{8,}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def scalar_key(value: JSON) -> tuple[str, JSON] | None:
    """A key under which JSON scalars are equal exactly when the check language says so."""
    if isinstance(value, bool):
        return ("b", value)
    if isinstance(value, (int, float)):
        return ("n", value)
    if isinstance(value, str):
        return ("s", value)
    return ("", None) if value is None else None


def is_number(value: JSON) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def reads_arrays(path: str) -> bool:
    """Whether a path made of object keys also means something on an array or a text (`0`, `length`)."""
    return any(part == "length" or (part.isascii() and part.isdigit()) for part in path.split("."))


class ArrayConstant(NamedTuple):
    """A small array observed at a path: its scalars, and the rows (bool) that equal it."""

    members: tuple[JSON, ...]
    rows: NDArray[np.bool_]


class TextRuns(NamedTuple):
    """Runs of whole words: in how many texts each occurs, and how many texts it is the whole of."""

    support: Counter[str]
    whole: Counter[str]


_KINDS: dict[type, str] = {bool: "b", int: "n", float: "n", str: "s", type(None): ""}
"""Of JSON scalars, so that those are equal in kind and value exactly when the check language says so."""


@dataclass
class Column:
    """One path of a scope: the value in every row, `MISSING` where there is none."""

    path: str
    levels: int
    kind: Kind
    values: list[JSON]

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        return np.fromiter((v is not MISSING for v in self.values), np.bool_, len(self.values))

    @cached_property
    def kinds(self) -> frozenset[type]:
        """The types of the values."""
        return frozenset(map(type, self.values))

    @cached_property
    def _coded(self) -> tuple[list[JSON], NDArray[np.int32], list[int]]:
        row_keys = [(_KINDS[kind], v) if (kind := type(v)) in _KINDS else None for v in self.values]
        if reads_arrays(self.path):  # one unit of a text may be half of a character, which no check can name
            halves = (type(v) is str and has_lone_surrogate(v) for v in self.values)
            row_keys = [None if half else key for half, key in zip(halves, row_keys, strict=True)]
        counts = Counter(row_keys)
        ordered = sorted(key for key in counts if key is not None)
        place: dict[tuple[str, JSON] | None, int] = {None: -1}
        place |= {key: code for code, key in enumerate(ordered)}
        codes = np.fromiter(map(place.__getitem__, row_keys), np.int32, len(row_keys))
        return [key[1] for key in ordered], codes, [counts[key] for key in ordered]

    @property
    def distinct(self) -> list[JSON]:
        """Distinct scalar values, in one fixed order (by type, then value)."""
        return self._coded[0]

    @property
    def codes(self) -> NDArray[np.int32]:
        """Index into `distinct` of each row, -1 where there is no scalar."""
        return self._coded[1]

    @property
    def occurrences(self) -> list[int]:
        """Rows in which each of `distinct` occurs."""
        return self._coded[2]

    @cached_property
    def numbers(self) -> list[Number]:
        """Distinct numbers, ascending; compared exactly, also beyond 2**53."""
        return sorted(v for v in self.distinct if is_number(v))

    @cached_property
    def ranks(self) -> NDArray[np.int32]:
        """Index into `numbers` of each row, -1 where there is no number."""
        rank = {value: r for r, value in enumerate(self.numbers)}
        of_code = np.array([rank[v] if is_number(v) else -1 for v in self.distinct] + [-1], np.int32)
        ranks: NDArray[np.int32] = of_code[self.codes]
        return ranks

    @cached_property
    def gap_digits(self) -> dict[str, NDArray[np.int64]]:
        """Half digits of the roundest bound in each gap, for ``gte`` and for ``lte``."""
        return {
            "gte": np.array(gap_half_digits(self.numbers, closed="high"), np.int64),
            "lte": np.array(gap_half_digits(self.numbers, closed="low"), np.int64),
        }

    @cached_property
    def identifier_like(self) -> bool:
        """Whether the values name or date a row rather than describe it."""
        values = [v for v in self.distinct if v is not None and not isinstance(v, bool)]
        if len(values) < 4:
            return False
        rows = sum(n for v, n in zip(self.distinct, self.occurrences, strict=True) if v is not None)
        if all(isinstance(v, str) for v in values):
            if all(_ISO_TIME.fullmatch(v) or _OPAQUE.fullmatch(v) for v in values):
                return True
            return rows >= 8 and len(values) >= 0.9 * rows and not any(" " in v for v in values)
        if not all(isinstance(v, int) for v in values):
            return False
        if self.epoch:
            return True
        low, high = self.numbers[0], self.numbers[-1]
        named = _NAMES_A_ROW.search(self.path.rpartition(".")[2].lower())
        unique = len(values) >= 0.9 * rows and rows >= 8
        step = math.gcd(*(int(after - before) for before, after in pairwise(self.numbers)))
        return unique and (named is not None or high - low < 1.5 * step * len(values))

    @cached_property
    def epoch(self) -> bool:
        """Whether the numbers are moments of this century, in seconds or milliseconds."""
        if not self.numbers:
            return False
        low, high = self.numbers[0], self.numbers[-1]
        return any(unit * YEAR_2000 <= low and high < unit * YEAR_2100 for unit in (1, 1000))

    @cached_property
    def arrays(self) -> list[ArrayConstant]:
        """Small arrays of scalars, the shortest first; where they are many, the empty one alone."""
        rows_of: dict[tuple[tuple[str, JSON] | None, ...], list[int]] = {}
        for row, value in enumerate(self.values):
            if type(value) is list and len(value) <= LONGEST_ARRAY:
                rows_of.setdefault(tuple(map(scalar_key, value)), []).append(row)
        scalar = [keys for keys in rows_of if None not in keys]
        kept = scalar if len(scalar) <= MAX_ARRAYS else [keys for keys in scalar if not keys]
        objects = [row for row, value in enumerate(self.values) if kept and type(value) is dict]
        found = []
        for keys in sorted(kept, key=lambda keys: (len(keys), keys)):
            members = tuple(key[1] for key in keys if key is not None)
            rows = np.zeros(len(self.values), np.bool_)
            rows[rows_of[keys]] = True
            rows[[row for row in objects if equal(self.values[row], list(members))]] = True
            found.append(ArrayConstant(members, rows))
        return found

    @cached_property
    def _runs(self) -> TextRuns:
        support: Counter[str] = Counter()
        whole: Counter[str] = Counter()
        for text in self.distinct:
            if not isinstance(text, str):
                continue
            spans = [m.span() for m in _WORD.finditer(text[:2000])]
            runs = {
                text[spans[i][0] : spans[j][1]]
                for i in range(len(spans))
                for j in range(i, min(i + 4, len(spans)))
            }
            support.update(runs)
            if text in runs:
                whole[text] += 1
        return TextRuns(support, whole)

    def tokens(self, limit: int) -> list[str]:
        """Runs of whole words in the texts that could be looked for with ``contains``.

        A run has up to four words with the separators between them, occurs in at least two
        distinct texts and is not the whole of every text it occurs in. Of equal support the
        longer run is first.
        """
        support, whole = self._runs
        usable = [t for t, n in support.items() if n >= 2 and n > whole[t] and len(t) > 1]
        usable.sort(key=lambda t: (-support[t], -len(t), t))
        return usable[:limit]

    def caseless_tokens(self, limit: int) -> list[str]:
        """Runs of whole words, in lower case, that occur in several cases; also whole texts."""
        support: Counter[str] = Counter()
        spellings: Counter[str] = Counter()
        for run, texts in self._runs.support.items():
            lowered = run.lower()
            support[lowered] += texts
            spellings[lowered] += 1
        usable = [t for t, n in spellings.items() if n >= 2 and len(t) > 1]
        usable.sort(key=lambda t: (-support[t], -len(t), t))
        return usable[:limit]

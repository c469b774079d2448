"""Pairs of paths that a cross-field rule may compare, suggested by types and values alone.

Texts are compared for equality where they share values (that is where joins live: an identifier here
and there), numbers where their ranges overlap, lengths of arrays among them (``n_items`` and
``items.length``); order is for numbers, moments included.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from induce.column import Column, is_number, scalar_key
from induce.constants import exact
from induce.profile import Scope

Holds = Literal["numbers", "texts"]

LEAST_SHARED = 2
"""Values that two paths share at least, for equality; identifiers one."""
OF_THE_NARROWER, OF_THE_WIDER = Fraction(1, 2), Fraction(1, 10)
"""Shares of the two ranges of numbers that the overlap is at least, for order."""
MOST_COLUMNS = 120


class Pair(NamedTuple):
    """Two columns of one scope that may be compared.

    `equality` and `order` say in which ways, `dear` that the order is one of identifiers. `likeness` is the
    share of values or of ranges that they have in common.
    """

    left: Column
    right: Column
    equality: bool
    order: bool
    dear: bool
    likeness: float

    @property
    def numeric(self) -> bool:
        return bool(self.left.numbers)


Pairs = dict[tuple[str, str], Pair]
"""By their paths, the lesser first."""


def comparable_pairs(scope: Scope, most: int) -> Pairs:
    """The likeliest pairs of a scope, `most` at most."""
    groups: dict[Holds, list[Column]] = {"numbers": [], "texts": []}
    plain = [column for column in scope.columns.values() if column.kind == "plain" and column.path]
    for column in [*plain, *scope.lengths.values()]:
        holds = _holds(column)
        if holds is not None:
            groups[holds].append(column)
    found = [pair for holds, columns in groups.items() for pair in _pairs(columns, holds)]
    found.sort(key=lambda pair: (-pair.likeness, pair.left.path, pair.right.path))
    return {(pair.left.path, pair.right.path): pair for pair in found[:most]}


def _holds(column: Column) -> Holds | None:
    """What a column of comparable values holds beside nulls; None for any other one."""
    if not ((column.codes >= 0) == column.present).all():
        return None
    values = [value for value in column.distinct if value is not None]
    if len(values) < 2:
        return None
    if all(map(is_number, values)):
        return "numbers"
    return "texts" if all(isinstance(value, str) for value in values) else None


def _pairs(columns: list[Column], holds: Holds) -> Iterator[Pair]:
    fullest = sorted(columns, key=lambda column: (-int(column.present.sum()), column.path))[:MOST_COLUMNS]
    keys = {
        column.path: frozenset(scalar_key(v) for v in column.distinct if v is not None) for column in fullest
    }
    for left, right in combinations(sorted(fullest, key=lambda column: column.path), 2):
        if int((left.present & right.present).sum()) < 2:
            continue
        ours, theirs = keys[left.path], keys[right.path]
        shared = len(ours & theirs)
        names = left.identifier_like and right.identifier_like
        equality = shared >= (1 if names else LEAST_SHARED)
        overlap = _overlap(left, right) if holds == "numbers" else 0.0
        if not equality and overlap == 0.0:
            continue
        dear = (left.identifier_like or right.identifier_like) and not (left.epoch and right.epoch)
        likeness = max(overlap, shared / min(len(ours), len(theirs)))
        yield Pair(left, right, equality, overlap > 0.0, dear, likeness)


def _overlap(left: Column, right: Column) -> float:
    """The share of the wider range that both cover; 0 where it is not substantial."""
    low, high = max(left.numbers[0], right.numbers[0]), min(left.numbers[-1], right.numbers[-1])
    widths = sorted(exact(column.numbers[-1]) - exact(column.numbers[0]) for column in (left, right))
    common = exact(high) - exact(low)
    if common <= 0 or common < OF_THE_NARROWER * widths[0] or common < OF_THE_WIDER * widths[1]:
        return 0.0
    return float(common / widths[1])


def equal_rows(pair: Pair) -> NDArray[np.bool_]:
    """Rows in which both are there and equal."""
    codes: dict[object, int] = {}
    left, right = (_recoded(column, codes) for column in (pair.left, pair.right))
    rows: NDArray[np.bool_] = (left == right) & (left >= 0)
    return rows


def _recoded(column: Column, codes: dict[object, int]) -> NDArray[np.int64]:
    of_code = [codes.setdefault(scalar_key(value), len(codes)) for value in column.distinct]
    recoded: NDArray[np.int64] = np.array([*of_code, -1], np.int64)[column.codes]
    return recoded


def ordered_rows(left: Column, right: Column) -> NDArray[np.bool_]:
    """Rows in which both are numbers and the left one is at least the right one; compared exactly."""
    numbers = sorted({*left.numbers, *right.numbers})
    place = {number: rank for rank, number in enumerate(numbers)}
    ranks = []
    for column in (left, right):
        of_rank = np.array([*(place[number] for number in column.numbers), -1], np.int64)
        ranks.append(of_rank[column.ranks])
    rows: NDArray[np.bool_] = (ranks[0] >= ranks[1]) & (ranks[1] >= 0)
    return rows

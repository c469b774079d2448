"""Local changes to a check: a constant moves, a part goes, a literal joins.

Every change names a place in the check as it was given, so that several go together in any order and their
list is what has to be reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator import MISSING, canonical_json, resolve, sentence
from induce.column import is_number, scalar_key
from induce.constants import half_digits, roundest
from induce.costs import DescriptionLength
from induce.grammar import units
from induce.literals import literal_check
from induce.parts import EVERY, Check, Place, place_text, rebuild
from induce.pool import LiteralPool
from induce.profile import Scope
from induce.proposers.collection import PathTests
from induce.proposers.comparison import cuts
from induce.search import unpack

JSON = Any
Kind = Literal["change", "drop", "negate", "and", "or"]
_ORDER = ("drop", "change", "negate", "and", "or")
"""The order in which changes at one place are made."""

DROPPED = units(3)
REPLACED = units(3)
MOVED = units(2)
SWAPPED = units(4)
"""Bits for saying that a part is dropped, gets another constant, another number, the opposite operator."""
MOST_CONSTANTS = 40
MOST_BOUNDS = 1000
MOST_LITERALS = 60
"""Literals about a scene that are tried in one place, the most promising first."""
MOST_TESTS, MOST_CUTS = 400, 40
"""Tests of one path that are tried inside a where, the cheapest first, and bounds of each number there."""
_OPPOSITE = {"eq": "neq", "neq": "eq", "exists": "missing", "missing": "exists", "gte": "lte", "lte": "gte"}


class Change(NamedTuple):
    """One change: a part gets another field, goes, or is joined by a literal.

    `field` and `value` are what is set, or the literal that joins; `cost` is in units of 1/16 bit.
    """

    place: Place
    kind: Kind
    field: str
    value: JSON
    cost: int

    @property
    def key(self) -> str:
        return f"{place_text(self.place)} {self.kind} {self.field} {canonical_json(self.value)}"


Changes = tuple[Change, ...]


def changed(check: Check, changes: Changes) -> Check:
    """The check with all changes made."""
    by_place: dict[Place, list[Change]] = {}
    for change in changes:
        by_place.setdefault(change.place, []).append(change)

    def apply(place: Place, part: Check) -> Check | None:
        for change in sorted(by_place.get(place, ()), key=lambda one: _ORDER.index(one.kind)):
            if change.kind == "drop":
                return None
            if change.kind == "change":
                part = {**part, change.field: change.value}
            elif change.kind == "negate":
                part = _negated(part)
            elif part["op"] == change.kind:
                part = {**part, "of": [*part["of"], change.value]}
            else:
                part = {"op": change.kind, "of": [part, change.value]}
        return part

    made = rebuild(check, apply)
    return EVERY if made is None else made


def _negated(part: Check) -> Check:
    inner: Check = part["of"] if part["op"] == "not" else {"op": "not", "of": part}
    return inner


def together(changes: Changes, change: Change) -> Changes | None:
    """The changes with one more, or None where they do not go together."""
    for other in changes:
        if other.key == change.key:
            return None
        if other.kind == "drop" and change.place[: len(other.place)] == other.place:
            return None
        if change.kind == "drop" and other.place[: len(change.place)] == change.place:
            return None
        if {other.kind, change.kind} == {"change"} and (other.place, other.field) == (
            change.place,
            change.field,
        ):
            return None
    return tuple(sorted((*changes, change), key=lambda one: (len(one.place), one.key)))


class Rows(NamedTuple):
    """What a part of a check speaks of: the scenes, or elements of collections; `scope` where profiled."""

    values: list[JSON]
    scope: Scope | None

    def inside(self, collection: str) -> Rows:
        lists = [resolve(value, collection) for value in self.values]
        elements = [element for one in lists if type(one) is list for element in one]
        child = None if self.scope is None else self.scope.children.get(collection)
        return Rows(elements, child)


class Moves:
    """The changes that could be tried on a check, each part's listed once."""

    def __init__(self, root: Scope, cost: DescriptionLength, pool: LiteralPool, passes: int) -> None:
        self.root, self.cost = root, cost
        self.tests = PathTests(cost)
        table = pool.table(1 << 62)
        self._literals = [choices[0] for choices in table.literals]
        self._costs = table.cost.tolist()
        fails = len(root.rows) - passes
        self._truth: NDArray[np.bool_] = np.concatenate(
            [unpack(table.passing, passes), unpack(table.failing, fails)], axis=1
        )

    def about(self, check: Check) -> list[Change]:
        """Moved bounds, other constants, opposites and dropped parts, and literals that join inside where."""
        return list(self._inside(check, (), Rows(self.root.rows, self.root)))

    def joining(
        self, places: Sequence[Place], kind: Kind, fixes: NDArray[np.bool_], breaks: NDArray[np.bool_]
    ) -> list[Change]:
        """The literals about a scene that, joined by `kind`, put most of `fixes` right and fewest of `breaks`
        wrong; (scenes,) each.
        """
        if not len(self._literals):
            return []
        decides = self._truth if kind == "or" else ~self._truth
        fixed = decides[:, fixes].sum(axis=1)
        broken = decides[:, breaks].sum(axis=1)
        order = np.lexsort((self._costs, broken - fixed))
        best = [int(i) for i in order if fixed[i]][:MOST_LITERALS]
        joined = [(literal_check(self._literals[i]), self._costs[i] + self.cost.join) for i in best]
        return [Change(place, kind, "", check, cost) for place in places for check, cost in joined]

    def _inside(self, check: Check, place: Place, rows: Rows) -> Iterator[Change]:
        op = check["op"]
        if op in ("and", "or"):
            for index, part in enumerate(check["of"]):
                at = (*place, "of", index)
                if len(check["of"]) > 1:
                    yield Change(at, "drop", "", None, DROPPED)
                yield from self._inside(part, at, rows)
        elif op == "not":
            yield Change(place, "negate", "", None, SWAPPED)
            yield from self._inside(check["of"], (*place, "of"), rows)
        elif op in ("find", "count"):
            if op == "find" and (place[-1:] != ("of",)):
                yield Change(place, "negate", "", None, SWAPPED)
            yield from _bounds_of_count(check, place)
            if "where" in check:
                inner = rows.inside(check["collection"])
                yield from self._inside(check["where"], (*place, "where"), inner)
                yield from self._joining_inside((*place, "where"), inner)
        elif "path" in check:
            yield from _constants(check, place, rows.values)

    def _joining_inside(self, place: Place, rows: Rows) -> Iterator[Change]:
        if rows.scope is None:
            return
        for candidate in self.tests.of(rows.scope)[:MOST_TESTS]:
            yield Change(place, "and", "", literal_check(candidate.literal), candidate.cost)
        for direction in self.tests.directions(rows.scope):
            found = cuts(direction.ranks, direction, 1 << 40, None)
            for i in _spread(range(len(found.rank)), MOST_CUTS):
                yield Change(place, "and", "", literal_check(direction.cut(found, i)), int(found.cost[i]))


def _constants(check: Check, place: Place, rows: list[JSON]) -> Iterator[Change]:
    op = check["op"]
    if op in _OPPOSITE:
        yield Change(place, "change", "op", _OPPOSITE[op], SWAPPED)
    if "value_path" in check or op not in ("eq", "neq", "gte", "lte", "gt", "lt"):
        return
    values = [value for row in rows if (value := resolve(row, check["path"])) is not MISSING]
    old = scalar_key(check["value"])
    if op in ("eq", "neq"):
        counts: Counter[tuple[str, JSON]] = Counter()
        counts.update(key for value in values if (key := scalar_key(value)) is not None and key != old)
        usual = sorted(counts, key=lambda key: (-counts[key], key))[:MOST_CONSTANTS]
        choice = units(max(1, len(counts)).bit_length())
        for key in usual:
            yield Change(place, "change", "value", key[1], REPLACED + choice)
        return
    numbers = sorted({value for value in values if is_number(value)})
    ends: list[tuple[float | None, float | None]] = [*zip([None, *numbers], [*numbers, None], strict=True)]
    closed = "high" if op in ("gte", "lt") else "low"
    for low, high in _spread(ends if numbers else [], MOST_BOUNDS):
        number = roundest(low, high, closed=closed)
        if scalar_key(number) != old:
            digits = min(1.5 * half_digits(number), 3 + max(1, len(numbers)).bit_length())
            yield Change(place, "change", "value", number, MOVED + units(digits))


def _bounds_of_count(check: Check, place: Place) -> Iterator[Change]:
    if check["op"] != "count":
        return
    for name in ("eq", "gte", "lte"):
        for step in (1, -1, 2, -2, 3, -3):
            if name in check and check[name] + step >= 0:
                yield Change(place, "change", name, check[name] + step, MOVED + units(abs(step)))


def _spread(items: Sequence[Any], most: int) -> list[Any]:
    """At most so many of the items, evenly spread."""
    if len(items) <= most:
        return list(items)
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]


def told(check: Check, change: Change) -> tuple[str, JSON, JSON, str]:
    """The path of a change in the check, what stood there, what stands there now, and the words for it."""
    part: Any = check
    for step in change.place:
        part = part[step]
    path = place_text(change.place)
    if change.kind == "drop":
        return path, part, None, f"drop: {sentence(part)}"
    if change.kind == "change":
        after = {**part, change.field: change.value}
        return f"{path}.{change.field}", part[change.field], change.value, f"now: {sentence(after)}"
    if change.kind == "negate":
        return path, part, _negated(part), f"now: {sentence(_negated(part))}"
    return path, None, change.value, f"{change.kind}: {sentence(change.value)}"

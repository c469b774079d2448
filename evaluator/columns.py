"""Columns of scenes: what stands at a path in every row, as arrays, and arrays' elements with their owners.

The rows of a table are scenes, or the elements of the arrays at one path of the rows above: a nested
relation kept as flat columns, each array's elements standing together in order (as in Dremel or Arrow lists).
A column is one path of names in such rows. It is sparse, rows where nothing is take no value, and its
numbers, texts and other scalars are made into numpy arrays once. All of it is made when first asked for;
`Rows.prepare` asks for everything that scenes as they usually are can be asked for.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import chain, compress, repeat
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evaluator.path import Has, Index, Keyed, Property, Segment, parse_path, property_of
from evaluator.values import MISSING, Missing, has_string_form, is_index_text, number_text

Mask = NDArray[np.bool_]
Indices = NDArray[np.int64]
Jump = tuple[Indices, Indices]
"""From rows to rows of another table: the rows that lead somewhere, ascending, and where each leads."""

_JSON_TYPES: Final = frozenset({dict, list, str, int, float, bool, type(None)})
_NUMBERS: Final = frozenset({int, float})
_OTHER_SCALARS: Final[frozenset[type]] = frozenset({bool, type(None)})
_UNSAFE_IN_TEXT: Final = frozenset(".[]")
_EXACT_DOUBLE: Final = 2**53
NULL, FALSE, TRUE = 0, 1, 2
_MAX_LEVELS: Final = 16
_MAX_CELLS: Final = 20_000_000
_FEW_KEYS, _MANY_KEYS, _LEAST_FILL = 64, 1_000, 1 / 50


class UncoveredError(Exception):
    """Arrays do not cover this; the check's closure does. Never leaves the package."""


class Column:
    """What stands at one path in the rows of a table.

    Attributes:
        size: number of rows.
        at: the rows in which something is there, ascending; None when it is in all of them.
        found: the values in those rows.
        plain: whether all of them are of JSON's types and were reached through such.
    """

    __slots__ = (
        "_elements",
        "_lowered",
        "_numbers",
        "_others",
        "_texts",
        "at",
        "found",
        "kinds",
        "members",
        "plain",
        "size",
    )

    def __init__(self, size: int, at: Indices | None, found: list[Any], plain: bool = True) -> None:
        self.size = size
        self.at = at
        self.found = found
        self.kinds = frozenset(map(type, found))
        self.plain = plain and self.kinds <= _JSON_TYPES
        self.members: dict[str, Column] = {}
        self._elements: Rows | None = None
        self._numbers: NDArray[np.float64] | None = None
        self._texts: tuple[dict[str, int], NDArray[np.int32]] | None = None
        self._lowered: list[str] | None = None
        self._others: NDArray[np.int8] | None = None

    def present(self) -> Mask:
        """(rows,) whether something, be it null, is there."""
        present: Mask = self._dense(self.at, True, False, np.bool_)
        return present

    def numbers(self) -> NDArray[np.float64]:
        """(rows,) the numbers, NaN where there is none.

        Raises `UncoveredError` when doubles cannot hold them all: an integer beyond 2**53, or NaN itself.
        """
        if self._numbers is None:
            at, found = self.of_kinds(_NUMBERS)
            try:
                numbers = np.array(found, np.float64)
            except OverflowError:
                raise UncoveredError from None
            if np.isnan(numbers).any():
                raise UncoveredError
            if (
                int in self.kinds
                and (np.abs(numbers) >= _EXACT_DOUBLE).any()
                and any(map(_is_inexact, found))
            ):
                raise UncoveredError
            self._numbers = self._dense(at, numbers, np.nan, np.float64)
        return self._numbers

    def texts(self) -> tuple[dict[str, int], NDArray[np.int32]]:
        """The distinct strings, each with its code, and (rows,) the codes, -1 where there is no string."""
        if self._texts is None:
            at, found = self.of_kinds(frozenset({str}))
            distinct = dict.fromkeys(found)
            codes = {text: code for code, text in enumerate(distinct)}
            coded = np.fromiter(map(codes.__getitem__, found), np.int32, len(found))
            self._texts = codes, self._dense(at, coded, -1, np.int32)
        return self._texts

    def lowered(self) -> list[str]:
        """The distinct strings lower-cased, in the order of their codes."""
        if self._lowered is None:
            self._lowered = list(map(str.lower, self.texts()[0]))
        return self._lowered

    def others(self) -> NDArray[np.int8]:
        """(rows,) `NULL`, `FALSE` or `TRUE`, -1 where there is neither null nor a boolean."""
        if self._others is None:
            at, found = self.of_kinds(_OTHER_SCALARS)
            coded = [NULL if value is None else TRUE if value else FALSE for value in found]
            self._others = self._dense(at, np.array(coded, np.int8), -1, np.int8)
        return self._others

    def of_kinds(self, kinds: frozenset[type]) -> tuple[Indices | None, list[Any]]:
        """The values of some types only, with their rows as in `at`."""
        if self.kinds <= kinds:
            return self.at, self.found
        chosen = [type(value) in kinds for value in self.found]
        at = np.flatnonzero(chosen) if self.at is None else self.at[np.array(chosen, np.bool_)]
        return at, list(compress(self.found, chosen))

    def _dense(self, at: Indices | None, values: Any, otherwise: Any, dtype: Any) -> Any:
        if at is None and isinstance(values, np.ndarray):
            return values
        dense = np.full(self.size, values if at is None else otherwise, dtype)
        if at is not None:
            dense[at] = values
        return dense

    def member(self, key: str) -> Column:
        """The column one name further, as `property_of` says: so also the length of arrays and texts."""
        column = self.members.get(key)
        if column is None:
            column = self.members[key] = self._member(key)
        return column

    def _member(self, key: str) -> Column:
        at: Indices | None
        if (key == "length" or is_index_text(key)) and not self.kinds.isdisjoint((list, str)):
            if not self.plain:
                raise UncoveredError
            at, found = self.at, [property_of(value, key) for value in self.found]
        else:
            at, owners = self.of_kinds(frozenset({dict}))
            found = list(map(dict.get, owners, repeat(key), repeat(MISSING)))
        if Missing in set(map(type, found)):
            there = [value is not MISSING for value in found]
            at = np.flatnonzero(there) if at is None else at[np.array(there, np.bool_)]
            found = list(compress(found, there))
        return Column(self.size, at, found, self.plain)

    def elements(self) -> Rows:
        """The elements of the arrays in this column."""
        if self._elements is None:
            self._elements = Rows.of_arrays(self)
        return self._elements

    def with_string_form(self, text: str) -> Mask:
        """(rows,) whether S of the value is `text`, as `has_string_form` says; never where nothing is."""
        if not self.plain:
            raise UncoveredError
        mask = np.zeros(self.size, np.bool_)
        if str in self.kinds:
            codes, coded = self.texts()
            if text in codes:
                mask |= coded == codes[text]
        if not self.kinds.isdisjoint(_NUMBERS):
            numbers = self.numbers()
            number = _number_of(text)
            if number is not None:
                mask |= numbers == number
        if text in ("null", "false", "true"):
            mask |= self.others() == ("null", "false", "true").index(text)
        if dict in self.kinds and text == "[object Object]":
            mask |= self._dense(self.of_kinds(frozenset({dict}))[0], True, False, np.bool_)
        if list in self.kinds:
            at, arrays = self.of_kinds(frozenset({list}))
            equal = np.array([has_string_form(array, text) for array in arrays], np.bool_)
            mask |= self._dense(at, equal, False, np.bool_)
        return mask


def _is_inexact(number: float) -> bool:
    return type(number) is int and not -_EXACT_DOUBLE <= number <= _EXACT_DOUBLE


def _number_of(text: str) -> float | None:
    """The double whose S is `text`."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number_text(number) == text else None


class Rows:
    """A table's rows, one value each: scenes, or elements of arrays.

    Attributes:
        size: number of rows.
        itself: the column of the path "", the rows' own values.
        named: columns by path as written, for paths of names that were looked up or prepared.
        owner: (rows,) for elements, the row of the table above whose array each belongs to, ascending.
        lengths: (rows above,) the arrays' lengths, -1 where there is no array.
    """

    __slots__ = ("_starts", "itself", "lengths", "named", "owner", "size")

    def __init__(self, values: list[Any], owner: Indices, lengths: Indices, plain: bool = True) -> None:
        self.size = len(values)
        self.itself = Column(self.size, None, values, plain)
        self.named: dict[str, Column] = {"": self.itself}
        self.owner = owner
        self.lengths = lengths
        self._starts: tuple[Indices, Indices] | None = None

    @classmethod
    def of_scenes(cls, scenes: list[Any]) -> Rows:
        """The table of whole scenes; they have no owners."""
        none = np.zeros(0, np.int64)
        return cls(scenes, none, none)

    @classmethod
    def of_arrays(cls, column: Column) -> Rows:
        """The table of the elements of a column's arrays."""
        at, arrays = column.of_kinds(frozenset({list}))
        counts = np.fromiter(map(len, arrays), np.int64, len(arrays))
        lengths = np.full(column.size, -1, np.int64)
        owners = np.arange(column.size) if at is None else at
        lengths[owners] = counts
        return cls(list(chain.from_iterable(arrays)), np.repeat(owners, counts), lengths, column.plain)

    def prepare(self) -> None:
        """Make the columns and elements of everything in the rows, level by level.

        Left for when they are asked for: the names of objects that serve as maps (many keys, or each in few
        rows), and what lies deeper or is larger than scenes usually are.
        """
        pending: list[tuple[Rows, Column, str | None]] = [(self, self.itself, "")]
        cells = 0
        for _ in range(_MAX_LEVELS):
            below: list[tuple[Rows, Column, str | None]] = []
            for rows, column, name in pending:
                cells += column.size
                if cells > _MAX_CELLS:
                    return
                below.extend(rows._prepare(column, name))
            pending = below

    def _prepare(self, column: Column, name: str | None) -> list[tuple[Rows, Column, str | None]]:
        """Make the arrays of a column; the columns below it with their tables and names, if they have one."""
        kinds = column.kinds
        below: list[tuple[Rows, Column, str | None]] = []
        if not column.plain:
            return below
        if not kinds.isdisjoint(_NUMBERS):
            with suppress(UncoveredError):
                column.numbers()
        if str in kinds:
            column.lowered()
        if not kinds.isdisjoint(_OTHER_SCALARS):
            column.others()
        if list in kinds and sum(map(len, column.of_kinds(frozenset({list}))[1])) <= _MAX_CELLS:
            elements = column.elements()
            elements.starts()
            below.append((elements, elements.itself, ""))
        if dict in kinds:
            objects = column.of_kinds(frozenset({dict}))[1]
            keys = dict.fromkeys(chain.from_iterable(objects))
            if len(keys) > _MANY_KEYS:
                return below
            if len(keys) > _FEW_KEYS and sum(map(len, objects)) < _LEAST_FILL * len(keys) * len(objects):
                return below
            for key in keys:
                if type(key) is not str:
                    continue
                member = column.member(key)
                path = None
                if name is not None and key and _UNSAFE_IN_TEXT.isdisjoint(key):
                    path = f"{name}.{key}" if name else key
                    self.named[path] = member
                below.append((self, member, path))
        return below

    def starts(self) -> tuple[Indices, Indices]:
        """The rows above that have an element, ascending, and the first element of each."""
        if self._starts is None:
            owners = np.flatnonzero(self.lengths > 0)
            ends = np.cumsum(self.lengths[owners])
            self._starts = owners, ends - self.lengths[owners]
        return self._starts

    def nth(self, index: int) -> Jump:
        """From the rows above to their element at an index."""
        owners, first = self.starts()
        if index == 0:
            return owners, first
        long_enough = self.lengths[owners] > index
        return owners[long_enough], first[long_enough] + index

    def first_in(self, mask: Mask) -> Jump:
        """From the rows above to their first element in `mask` (rows,)."""
        elements = np.flatnonzero(mask)
        owners = self.owner[elements]
        first = np.ones(len(owners), np.bool_)
        first[1:] = owners[1:] != owners[:-1]
        return owners[first], elements[first]

    def any_in(self, mask: Mask) -> Mask:
        """(rows above,) whether an element is in `mask` (rows,)."""
        found = np.zeros(len(self.lengths), np.bool_)
        found[self.owner[mask]] = True
        return found

    def count_in(self, mask: Mask) -> Indices:
        """(rows above,) how many elements are in `mask` (rows,); -1 where there is no array."""
        counts = np.bincount(self.owner[mask], minlength=len(self.lengths))
        counts[self.lengths < 0] = -1
        return counts

    def least(self, values: NDArray[np.float64], otherwise: float) -> NDArray[np.float64]:
        """(rows above,) the smallest of the elements' `values` (rows,), `otherwise` without elements."""
        owners, first = self.starts()
        least = np.full(len(self.lengths), otherwise, np.float64)
        if len(first):
            least[owners] = np.minimum.reduceat(values, first)
        return least

    def locate(self, path: str) -> tuple[Column, Jump | None]:
        """The column a path leads to, and how to get from these rows to its; None when they are the same.

        Raises `UncoveredError` where arrays do not cover the path.
        """
        named = self.named.get(path)
        if named is not None and named.plain:
            return named, None
        column, jump = self.itself, None
        for segment in parse_path(path):
            if type(segment) is Property:
                column = column.member(segment.key)
                continue
            step = _step(column, segment)
            jump = step if jump is None else _chained(jump, step, column.size)
            column = column.elements().itself
        if not column.plain:
            raise UncoveredError
        if jump is None:
            self.named[path] = column
        return column, jump


def _step(column: Column, segment: Segment) -> Jump:
    elements = column.elements()
    if type(segment) is Index:
        digits = segment.digits.lstrip("0") or "0"
        return elements.nth(int(digits) if len(digits) < 19 else elements.size)
    candidates = elements.itself
    if not candidates.plain:
        raise UncoveredError
    if type(segment) is Keyed:
        field = candidates.member(segment.field)
        mask = field.with_string_form(segment.text)
        if segment.text == "undefined":
            mask = mask | (~field.present() & (candidates.others() != NULL))
        return elements.first_in(mask)
    if type(segment) is Has:
        members = candidates.member(segment.field).elements()
        return elements.first_in(members.any_in(members.itself.with_string_form(segment.text)))
    raise UncoveredError


def _chained(jump: Jump, step: Jump, size: int) -> Jump:
    """Two jumps as one; `size` is the number of rows between them."""
    owners, between = jump
    leads = np.full(size, -1, np.int64)
    leads[step[0]] = step[1]
    targets = leads[between]
    there = targets >= 0
    return owners[there], targets[there]

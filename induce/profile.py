"""Path profile: scenes flattened once into columns, arrays into scopes of their own.

A *scope* is a table of rows: the scenes themselves (the root), or the elements of one array
path over all rows of the scope above, each with its owner. A *column* is one path of a scope
with its value in every row. Everything the learner asks of a scene is asked here, so that a
path is resolved once a scene and not once a candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator import MISSING, SceneError, lookup, resolve
from evaluator.values import utf16_length
from induce.column import Column, Kind, reads_arrays
from induce.grammar import Grammar
from induce.scenes.jsontext import find_foreign

JSON = Any

MAX_LEVELS = 12
"""Object nesting below which paths are still candidates."""
MAX_KEY_VALUES = 12
STEP_TYPES = ("llm_call", "tool_call", "retrieval", "agent_call")
CALL_DATA = ("args", "result")
"""Fields of the steps of traces that differ from tool to tool, so that those of the first step say little."""
LEAST_TEXTS, LEAST_LENGTHS = 8, 4
"""Different texts, and lengths among them, from which on a path holds texts that are written freely."""
_UNSAFE_KEY = re.compile(r"[.\[\]]")


@dataclass
class Scope:
    """Rows of one kind: the scenes, or the elements of one collection.

    `owner[r]` is the row of the scope above that element r belongs to; elements of one owner
    stand together, in order.
    """

    collection: str
    rows: list[JSON]
    owner: NDArray[np.int64]
    depth: int
    name: str
    parent_rows: int
    is_array: NDArray[np.bool_]
    """Over the rows above: whether the collection is an array there."""
    columns: dict[str, Column] = field(default_factory=dict)
    lengths: dict[str, Column] = field(default_factory=dict)
    """Lengths of arrays, which may be compared with another path whether they are columns or not."""
    children: dict[str, Scope] = field(default_factory=dict)
    unusable: set[str] = field(default_factory=set)

    @cached_property
    def plain_paths(self) -> int:
        """Paths in scope: plain ones that hold a scalar in some row."""
        return sum(1 for c in self.columns.values() if c.kind == "plain" and c.distinct)

    @cached_property
    def always_array(self) -> bool:
        """Whether the collection is an array in every row above, so that a count never tests for one."""
        return bool(self.is_array.all())

    def telling(self, mask: NDArray[np.bool_]) -> bool:
        """Whether a test with this truth over the rows can matter.

        One that always holds says nothing of a scene, but of an element it says that there is one.
        One that never holds matters only in a count that then tests for an array.
        """
        if self.depth == 0:
            return bool(mask.any()) and not mask.all()
        return bool(mask.any()) or not self.always_array

    @cached_property
    def starts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First element of each owner that has any, and those owners."""
        owners, first = np.unique(self.owner, return_index=True)
        return first.astype(np.int64), owners.astype(np.int64)

    def owners_with(self, mask: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Elements in `mask` (…, rows) per owner: int32 (…, parent_rows)."""
        first, owners = self.starts
        out = np.zeros((*mask.shape[:-1], self.parent_rows), np.int32)
        if len(first):
            out[..., owners] = np.add.reduceat(mask, first, axis=-1, dtype=np.int32)
        return out


def profile(scenes: Sequence[JSON], grammar: Grammar, max_nesting: int) -> Scope:
    """Flatten `scenes`, which are plain JSON, into the root scope and, below it, one scope a collection."""
    nowhere = np.zeros(0, np.int64)
    root = Scope("", list(scenes), nowhere, 0, "", 0, np.zeros(0, np.bool_))
    _fill(root, grammar, max_nesting)
    if grammar.index_paths:
        _add_first_elements(root, grammar)
    _add_lookups(root, grammar)
    if grammar.lengths:
        _add_lengths(root, grammar)
    return root


def holds_steps(scope: Scope) -> bool:
    """Whether the rows of a collection of scenes are the steps of traces, most of them with a name.

    A trace stands under the key `trace`, or is the scene itself if its steps say of what type they are.
    """
    names, types = scope.columns.get("name"), scope.columns.get("type")
    if names is None or 2 * sum(isinstance(name, str) for name in names.values) < len(scope.rows):
        return False
    if scope.name == "trace.steps":
        return len(scope.rows) > 0
    typed = 0 if types is None else sum(kind in STEP_TYPES for kind in types.values if isinstance(kind, str))
    return scope.name == "steps" and typed > 0 and 2 * typed >= len(scope.rows)


def unusable_keys(scope: Scope) -> list[str]:
    """Keys anywhere below `scope` that the path language cannot address."""
    found = {f"{scope.name}.{key}" if scope.name else key for key in scope.unusable}
    for child in scope.children.values():
        found.update(unusable_keys(child))
    return sorted(found)


def refuse_non_json(scene: JSON, name: str) -> None:
    """Raise SceneError with the path of the first value that is not plain, finite JSON."""
    fault = find_foreign(scene)
    if fault is not None:
        raise SceneError(f"{name}: {fault}")


class _Cells(NamedTuple):
    """The values at one path, with the rows they stand in."""

    levels: int
    rows: list[int]
    values: list[JSON]


def _cells(
    rows: list[int], values: list[JSON], prefix: str, levels: int, lost: set[str]
) -> dict[str, _Cells]:
    """Every path of some rows, containers included, arrays not entered; a path at a time, not a row.

    Keys that no path can say, or that lie too deep, go to `lost`.
    """
    found: dict[str, _Cells] = {}
    pending = [(prefix, _Cells(levels, rows, values))]
    while pending:
        path, cells = pending.pop()
        found[path] = cells
        members: dict[str, _Cells] = {}
        for row, node in zip(cells.rows, cells.values, strict=True):
            if type(node) is dict:
                for key, inner in node.items():
                    if key not in members:
                        members[key] = _Cells(cells.levels + 1, [], [])
                    _, inner_rows, inner_values = members[key]
                    inner_rows.append(row)
                    inner_values.append(inner)
        for key, inner_cells in members.items():
            if key == "" or _UNSAFE_KEY.search(key) or cells.levels >= MAX_LEVELS:
                lost.add(f"{path}.{key}" if path else key)
            else:
                pending.append((f"{path}.{key}" if path else key, inner_cells))
    return found


def _fill(scope: Scope, grammar: Grammar, max_nesting: int) -> None:
    cells = _cells(list(range(len(scope.rows))), scope.rows, "", 0, scope.unusable)
    for path in sorted(cells):
        levels, rows, values = cells[path]
        if not grammar.allows_path(f"{scope.name}.{path}".strip(".")):
            continue
        scope.columns[path] = _column(scope, path, levels, "plain", rows, values)
    if scope.depth >= max_nesting:
        return
    for path in sorted(cells):
        name = f"{scope.name}.{path}".strip(".")
        _, rows, values = cells[path]
        if list not in set(map(type, values)):
            continue
        found = [(row, value) for row, value in zip(rows, values, strict=True) if type(value) is list]
        if reads_arrays(path):
            resolved = ((row, resolve(value, path)) for row, value in enumerate(scope.rows))
            found = [(row, value) for row, value in resolved if type(value) is list]
        owners, lists = [row for row, _ in found], [value for _, value in found]
        rows = [element for one in lists for element in one]
        owner = np.repeat(np.array(owners, np.int64), [len(one) for one in lists])
        is_array = np.zeros(len(scope.rows), np.bool_)
        is_array[owners] = True
        child = Scope(path, rows, owner, scope.depth + 1, name, len(scope.rows), is_array)
        _fill(child, grammar, max_nesting)
        if child.columns:
            scope.children[path] = child


def _column(scope: Scope, path: str, levels: int, kind: Kind, rows: list[int], values: list[JSON]) -> Column:
    if reads_arrays(path):
        looked_up = [lookup(row, path) for row in scope.rows]
        return Column(path, levels, kind, [found.value if found.present else MISSING for found in looked_up])
    return Column(path, levels, kind, _spread(rows, values, len(scope.rows)))


def _add_first_elements(root: Scope, grammar: Grammar) -> None:
    for path, child in sorted(root.children.items()):
        shallow = holds_steps(child)
        prefix = f"{path}[0]"
        first, owners = child.starts
        elements = [child.rows[element] for element in first.tolist()]
        cells = _cells(owners.tolist(), elements, prefix, path.count(".") + 1, set())
        for inner in sorted(cells):
            levels, rows, values = cells[inner]
            if shallow and inner.startswith(tuple(f"{prefix}.{key}" for key in CALL_DATA)):
                continue
            if grammar.allows_path(inner):
                root.columns[inner] = _column(root, inner, levels, "index", rows, values)


class _Lookup(NamedTuple):
    """A bracket of a path, the field it reads, and the elements it could lead to."""

    segment: str
    kind: Kind
    field: str
    matched: NDArray[np.intp]


def _add_lookups(root: Scope, grammar: Grammar) -> None:
    for path, child in sorted(root.children.items()):
        if holds_steps(child):  # tools are called again and again: a find says which call
            continue
        for found in _lookups(child, grammar):
            owners, first = np.unique(child.owner[found.matched], return_index=True)
            if len(owners) < 2 or len(found.matched) > 1.5 * len(owners):
                continue
            for inner, column in sorted(child.columns.items()):
                full = f"{path}{found.segment}.{inner}"
                if inner in ("", found.field) or not grammar.allows_path(full):
                    continue
                rows = [int(r) for r in owners]
                values = [column.values[found.matched[i]] for i in first]
                levels = path.count(".") + 1 + inner.count(".") + 1
                root.columns[full] = Column(full, levels, found.kind, _spread(rows, values, len(root.rows)))


def _lookups(scope: Scope, grammar: Grammar) -> Iterator[_Lookup]:
    """Look-ups of an element by a field's text, and by a member of a field's array of texts."""
    for name, column in sorted(scope.columns.items()):
        if name == "" or "." in name or "=" in name or " has " in name or name != name.strip():
            continue
        if grammar.keyed_paths and _is_key(column):
            for code, value in enumerate(column.distinct):
                yield _Lookup(f"[{name}={value}]", "keyed", name, np.flatnonzero(column.codes == code))
        if grammar.having_paths and not any(character.isspace() for character in name):
            for member, elements in _members(column):
                yield _Lookup(f"[{name} has {member}]", "having", name, elements)


def _members(column: Column) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """A few short texts that keep coming back in the arrays of a column, each with the rows that have it."""
    rows_of: dict[str, list[int]] = {}
    if list not in column.kinds:
        return
    for row, value in enumerate(column.values):
        if type(value) is not list:
            continue
        if not all(type(member) is str for member in value):
            return
        for member in dict.fromkeys(value):
            rows_of.setdefault(member, []).append(row)
        if len(rows_of) > MAX_KEY_VALUES:
            return
    for member in sorted(rows_of):
        if _names_a_key(member):
            yield member, np.array(rows_of[member], np.intp)


def _add_lengths(scope: Scope, grammar: Grammar) -> None:
    """Lengths of texts and arrays: of all arrays, and as columns where they say more than a count does."""
    for column in list(scope.columns.values()):
        full = f"{column.path}.length" if column.path else "length"
        if column.kind != "plain" or full in scope.columns:
            continue
        if not grammar.allows_path(f"{scope.name}.{full}".strip(".")):
            continue
        if dict in column.kinds and any(type(v) is dict and "length" in v for v in column.values):
            continue
        holds_arrays = list in column.kinds
        freely_written = is_freely_written(column)
        if not holds_arrays and not freely_written:
            continue
        length = Column(full, column.levels + 1, "length", [_length(value) for value in column.values])
        if len(length.numbers) < 2:
            continue
        if freely_written or _outgrows_counts(scope, column, length, grammar):
            scope.columns[full] = length
        if holds_arrays:
            scope.lengths[full] = length
    for child in scope.children.values():
        _add_lengths(child, grammar)


def _length(value: JSON) -> JSON:
    if type(value) is list:
        return len(value)
    return utf16_length(value) if type(value) is str else MISSING


def is_freely_written(column: Column) -> bool:
    """Whether the texts are hardly ever the same and of many lengths, yet no names of rows."""
    texts = [v for v in column.distinct if isinstance(v, str)]
    if len(texts) < LEAST_TEXTS or column.identifier_like:
        return False
    rows = sum(n for v, n in zip(column.distinct, column.occurrences, strict=True) if isinstance(v, str))
    return 2 * len(texts) >= rows and len({len(text) for text in texts}) >= LEAST_LENGTHS


def _outgrows_counts(scope: Scope, column: Column, length: Column, grammar: Grammar) -> bool:
    """Whether there are arrays whose elements no ``count`` can count, or not that far."""
    countable = column.path in scope.children and grammar.allows("count")
    return not countable or length.numbers[-1] > grammar.max_count


def _spread(rows: list[int], values: list[JSON], length: int) -> list[JSON]:
    if len(rows) == length:
        return values
    full = [MISSING] * length
    for row, value in zip(rows, values, strict=True):
        full[row] = value
    return full


def _is_key(column: Column) -> bool:
    """Whether elements are told apart by this field: a few short texts that keep coming back."""
    values = column.distinct
    return (
        2 <= len(values) <= MAX_KEY_VALUES
        and all(v is MISSING or type(v) is str for v in column.values)
        and all(isinstance(v, str) and _names_a_key(v) for v in values)
        and not column.identifier_like
    )


def _names_a_key(text: str) -> bool:
    """Whether a text can stand in the brackets of a look-up as it is."""
    return (
        0 < len(text) <= 40
        and text == text.strip()
        and "]" not in text
        and text.isprintable()
        and " has " not in text
    )

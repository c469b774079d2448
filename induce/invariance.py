"""Invariants: what passing scenes have in common, ranked by how unlikely it is by chance.

From one class nothing can be separated, but what never varies can be told, as Daikon does for variables of a
program (Ernst et al., 2007). Each invariant has bits of surprise, the logarithm of how unlikely it were
to have held on all samples had it not been a rule:

* a constant, a value set, a bound or a number of elements: n log2(1 + c/n) for n samples, of which c have
  the constant, the rarest value of the set, the value at the bound. Had one more value been as common as
  that one, so unlikely would it be never to have met it;
* an order or equality of two fields: the sum over samples of -log2 of the share of samples whose second field
  would also do, less log2 of the pairs tried. So unlikely is it for fields that have nothing to do with each
  other. An order that their ranges force has no surprise;
* presence and type: log2(n + 1), the rule of succession, after which n of n samples have chance 1/(n + 1).

A sample is a scene. Elements of one scene are no independent samples, so that a statement about every element
has as many as there are scenes with such elements.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator import MISSING, canonical_json, compile_check, json_text, sentence
from induce.column import Column, is_number, scalar_key
from induce.grammar import Grammar
from induce.parts import Check, parts
from induce.profile import Scope, profile

JSON = Any

LARGEST_SET = 6
"""Values that a value set may have."""
MOST_FIELDS = 80
"""Fields of a scope that are compared with each other."""
KINDS = ("equality", "order", "constant", "values", "range", "count", "type", "presence")


@dataclass(frozen=True)
class Invariant:
    """Something that holds on every scene.

    Attributes
    ----------
    check : dict
        The check that says so; it passes on every scene given.
    kind : str
        One of ``KINDS``.
    samples : int
        Scenes that bear it out.
    bits : float
        Surprise; see `induce.invariance`.
    sentence : str
        The check in words.
    """

    check: Check
    kind: str
    samples: int
    bits: float
    sentence: str

    @property
    def confidence(self) -> float:
        """1 less the chance of its holding on all samples without being a rule."""
        return 1.0 - math.exp2(-max(0.0, self.bits))

    def to_dict(self) -> dict[str, JSON]:
        return {**asdict(self), "confidence": self.confidence}


def invariants(
    scenes: Sequence[JSON],
    grammar: Grammar | Mapping[str, JSON] | None = None,
    k: int | None = 20,
    *,
    max_nesting: int = 2,
) -> tuple[Invariant, ...]:
    """What holds on every one of some passing scenes, the most surprising first.

    Types, presence, ranges, value sets, numbers of elements, and order and equality between fields, of
    scenes and of every element of their collections. What a stronger invariant of the same field implies is
    left out.

    Parameters
    ----------
    scenes : sequence of JSON trees, (n,)
        Passing scenes; at least two.
    grammar : Grammar, dict or None
        Which operators and paths may be used.
    k : int or None
        How many at most; None for all.
    max_nesting : int
        Levels of collections that are looked into.

    Raises
    ------
    ValueError
        When there are fewer than two scenes, or `k` is not a positive whole number.
    SceneError
        When a scene is not plain JSON.
    """
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        raise ValueError(f"k: expected a whole number, at least 1, or None for all, got {k!r}")
    if len(scenes) < 2:
        raise ValueError(
            f"invariants are what passing scenes share; at least 2 are needed, got {len(scenes)}"
        )
    language = Grammar.of(grammar)
    root = profile(scenes, language, max_nesting)
    found = [one for one in _of_scope(_Rows.of(root)) if _allowed(one.check, language)]
    for one in found:
        compiled = compile_check(one.check)
        if not all(compiled.passes(scene) for scene in scenes):
            raise RuntimeError(
                f"internal error: the invariant {canonical_json(one.check)} fails on a scene; "
                "please report it"
            )
    found.sort(key=lambda one: (-one.bits, KINDS.index(one.kind), canonical_json(one.check)))
    return tuple(found[:k])


def _allowed(check: Check, grammar: Grammar) -> bool:
    return all(part["op"] in ("and", "or") or grammar.allows(part["op"]) for _, part in parts(check))


class _Rows(NamedTuple):
    """The rows of a scope, the scene of each, and how a row and its fault are spoken of."""

    scope: Scope
    scene: NDArray[np.int64]
    fault_of_scene: Callable[[Check], Check]
    subject: str

    @classmethod
    def of(cls, root: Scope) -> _Rows:
        return cls(root, np.arange(len(root.rows)), lambda fault: fault, "")

    def inside(self, child: Scope) -> _Rows:
        def fault(inner: Check) -> Check:
            return self.fault_of_scene({"op": "find", "collection": child.collection, "where": inner})

        whole = "the list" if self.is_root else "its list"
        subject = f"{self.subject}every element of {child.collection or whole}: "
        return _Rows(child, self.scene[child.owner], fault, subject)

    @property
    def is_root(self) -> bool:
        return not self.scope.depth

    def scenes(self, rows: Iterable[int]) -> int:
        """How many scenes some rows belong to."""
        return len({int(self.scene[row]) for row in rows})

    def invariant(
        self, kind: str, statement: Check, samples: int, bits: float, excuses: Sequence[Check] = ()
    ) -> Invariant:
        """That a statement holds of every row, unless one of the excuses does."""
        unless = "".join(f", or {sentence(excuse)}" for excuse in excuses)
        text = f"{self.subject}{_words(kind, statement)}{unless}"
        if self.is_root:
            check = statement if not excuses else {"op": "or", "of": [*excuses, statement]}
        else:
            fault = _opposite(statement)
            if excuses:
                fault = {"op": "and", "of": [*map(_opposite, excuses), fault]}
            check = {"op": "not", "of": self.fault_of_scene(fault)}
        return Invariant(check, kind, samples, bits, text)


def _words(kind: str, statement: Check) -> str:
    if kind == "type" and statement["op"] == "or":
        first = statement["of"][0]
        path = first["path"] or "the element"
        return f"{path} is a number" if first["op"] == "gte" else f"{path} is true or false"
    if kind == "type" and statement["op"] == "contains":
        return f"{statement['path'] or 'the element'} is a text"
    if kind == "values":
        values = ", ".join(json_text(part["value"]) for part in statement["of"])
        return f"{statement['of'][0]['path'] or 'the element'} is one of {values}"
    return sentence(statement)


def _opposite(check: Check) -> Check:
    names = {"eq": "neq", "neq": "eq", "exists": "missing", "missing": "exists"}
    if check["op"] in names:
        return {**check, "op": names[check["op"]]}
    if check["op"] == "or":
        return {"op": "and", "of": [_opposite(part) for part in check["of"]]}
    return {"op": "not", "of": check}


def _of_scope(rows: _Rows) -> Iterator[Invariant]:
    columns = [column for column in rows.scope.columns.values() if column.kind == "plain"]
    told = {column.path: list(_of_column(rows, column)) for column in columns}
    present = [column.path for column in columns if len(column.values) and bool(column.present.all())]
    for column in columns:
        yield from told[column.path]
        inside = f"{column.path}." if column.path else ""
        implied = told[column.path] or any(
            path != column.path and path.startswith(inside) for path in present
        )
        samples = rows.scenes(range(len(column.values)))
        if column.path in present and column.path and samples >= 2 and not implied:
            statement = {"op": "exists", "path": column.path}
            yield rows.invariant("presence", statement, samples, math.log2(samples + 1))
    yield from _of_pairs(rows, columns)
    for child in rows.scope.children.values():
        if len(child.rows):
            yield from _of_scope(rows.inside(child))


# One field


def _of_column(rows: _Rows, column: Column) -> Iterator[Invariant]:
    """What holds of one path, presence apart; nothing where fewer than two scenes have it."""
    held = [row for row, value in enumerate(column.values) if value is not MISSING and value is not None]
    samples = rows.scenes(held)
    if samples < 2:
        return
    excuses: list[Check] = []
    if not bool(column.present.all()):
        excuses.append({"op": "missing", "path": column.path})
    if any(value is None for value in column.values):
        excuses.append({"op": "eq", "path": column.path, "value": None})
    values = [column.values[row] for row in held]
    for kind, statement, witnesses in _statements(column, held, values):
        if witnesses is None:
            bits = math.log2(samples + 1)
        else:
            bits = samples * math.log2(1 + rows.scenes(witnesses) / samples)
        yield rows.invariant(kind, statement, samples, bits, excuses)


Statement = tuple[str, Check, list[int] | None]
"""A kind, a statement about a row, and the rows that bear it out; None for a mere type."""


def _statements(column: Column, held: list[int], values: list[JSON]) -> Iterator[Statement]:
    path = column.path
    kinds = {type(value) for value in values}
    if kinds == {list}:
        yield from _lengths(path, held, [len(value) for value in values])
        return
    if kinds & {list, dict}:
        return
    groups: dict[tuple[str, JSON], list[int]] = {}
    for row, value in zip(held, values, strict=True):
        key = scalar_key(value)
        assert key is not None
        groups.setdefault(key, []).append(row)
    ordered = sorted(groups)
    numeric = kinds <= {int, float}
    if len(groups) == 1:
        yield "constant", {"op": "eq", "path": path, "value": values[0]}, held
    elif kinds == {bool}:
        yield "type", _one_of(path, [False, True]), None
    elif column.identifier_like:
        yield from _type(path, kinds)
    elif numeric:
        low, high = ordered[0], ordered[-1]
        yield "range", {"op": "gte", "path": path, "value": low[1]}, groups[low]
        yield "range", {"op": "lte", "path": path, "value": high[1]}, groups[high]
    elif len(groups) <= LARGEST_SET and 2 * len(groups) <= len(held):
        rarest = min(ordered, key=lambda key: (len(groups[key]), key))
        yield "values", _one_of(path, [key[1] for key in ordered]), groups[rarest]
    else:
        yield from _type(path, kinds)


def _one_of(path: str, values: list[JSON]) -> Check:
    return {"op": "or", "of": [{"op": "eq", "path": path, "value": value} for value in values]}


def _type(path: str, kinds: set[type]) -> Iterator[Statement]:
    """Being a text or a number, as the core language can say it."""
    if kinds == {str}:
        yield "type", {"op": "contains", "path": path, "substring": ""}, None
    elif kinds <= {int, float}:
        either = [{"op": op, "path": path, "value": 0} for op in ("gte", "lte")]
        yield "type", {"op": "or", "of": either}, None


def _lengths(path: str, held: list[int], lengths: list[int]) -> Iterator[Statement]:
    least, most = min(lengths), max(lengths)
    at_least = [row for row, length in zip(held, lengths, strict=True) if length == least]
    at_most = [row for row, length in zip(held, lengths, strict=True) if length == most]
    whole: Check = {"op": "count", "collection": path}
    if least == most:
        yield "count", {**whole, "eq": least}, held
        return
    if least > 0:
        yield "count", {**whole, "gte": least}, at_least
    else:
        yield "type", whole, None
    yield "count", {**whole, "lte": most}, at_most


# Two fields


class _Field(NamedTuple):
    path: str
    values: list[JSON]


def _of_pairs(rows: _Rows, columns: list[Column]) -> Iterator[Invariant]:
    """Equalities and orders between fields, without those that others imply."""
    fields = list(_fields(columns))[:MOST_FIELDS]
    selection = math.log2(max(1, 3 * len(fields) * (len(fields) - 1) // 2))
    equal: list[tuple[str, str]] = []
    orders: dict[tuple[str, str], Invariant] = {}
    for one, other in combinations(fields, 2):
        pair = _Pair(rows, one, other, selection)
        if not pair.comparable:
            continue
        left, right = pair.values
        if all(scalar_key(a) == scalar_key(b) for a, b in zip(left, right, strict=True)):
            found = pair.invariant("eq", one, other, _equal_bits(right))
            if found.bits > 0 and not _joined(equal, one.path, other.path):
                equal.append((one.path, other.path))
                yield found
        elif not is_number(left[0]):
            continue
        elif all(a <= b for a, b in zip(left, right, strict=True)):
            orders[one.path, other.path] = pair.invariant("lte", one, other, _order_bits(left, right))
        elif all(a >= b for a, b in zip(left, right, strict=True)):
            orders[other.path, one.path] = pair.invariant("lte", other, one, _order_bits(right, left))
    kept = {pair for pair, found in orders.items() if found.bits > 0}
    for low, high in sorted(kept):
        between = {middle for first, middle in kept if first == low} & {m for m, last in kept if last == high}
        if not between:
            yield orders[low, high]


class _Pair:
    """Two fields over the rows in which both are there."""

    def __init__(self, rows: _Rows, one: _Field, other: _Field, selection: float) -> None:
        self.rows, self.selection = rows, selection
        pairs = list(zip(one.values, other.values, strict=True))
        both = [row for row, (a, b) in enumerate(pairs) if a is not MISSING and b is not MISSING]
        self.values = [pairs[row][0] for row in both], [pairs[row][1] for row in both]
        self.samples = rows.scenes(both)
        self.scale = self.samples / max(1, len(both))
        self.comparable = self.samples >= 2 and all(_comparable(*pairs[row]) for row in both)

    def invariant(self, op: str, first: _Field, second: _Field, bits: float) -> Invariant:
        """That two fields stand in a relation; `bits` as if each row were a sample."""
        excuses = [
            {"op": "missing", "path": field.path}
            for field in (first, second)
            if any(value is MISSING for value in field.values)
        ]
        statement = {"op": op, "path": first.path, "value_path": second.path}
        kind = "equality" if op == "eq" else "order"
        return self.rows.invariant(kind, statement, self.samples, bits * self.scale - self.selection, excuses)


def _fields(columns: list[Column]) -> Iterator[_Field]:
    for column in columns:
        kinds = {type(value) for value in column.values if value is not MISSING}
        if kinds == {list}:
            lengths = [MISSING if value is MISSING else len(value) for value in column.values]
            yield _Field(f"{column.path}.length" if column.path else "length", lengths)
        elif kinds and (kinds <= {int, float} or kinds == {str} or kinds == {bool}):
            yield _Field(column.path, column.values)


def _comparable(one: JSON, other: JSON) -> bool:
    return type(one) is type(other) if type(one) in (str, bool) else is_number(one) and is_number(other)


def _equal_bits(values: list[JSON]) -> float:
    counts = Counter(scalar_key(value) for value in values)
    return -math.fsum(count * math.log2(count / len(values)) for count in counts.values())


def _order_bits(low: list[float], high: list[float]) -> float:
    """Surprise at each of `low` being at most its partner, against partners drawn at random."""
    ordered = sorted(high)
    fitting = [len(ordered) - bisect_left(ordered, value) for value in low]
    return -math.fsum(math.log2(number / len(ordered)) for number in fitting)


def _joined(pairs: list[tuple[str, str]], one: str, other: str) -> bool:
    """Whether equalities lead from one path to another."""
    reached, pending = {one}, [one]
    while pending:
        at = pending.pop()
        for pair in pairs:
            for here, there in (pair, pair[::-1]):
                if here == at and there not in reached:
                    reached.add(there)
                    pending.append(there)
    return other in reached

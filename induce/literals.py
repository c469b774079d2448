"""Literals: atoms of the check language as the learner handles them, and their JSON form."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from evaluator import canonical_json
from induce.constants import Number, half_digits, roundest

JSON = Any


class Bound(NamedTuple):
    """The constant of a threshold, known up to the interval it lies in.

    Every number of the interval gives the same verdicts; `value` is the one to print.
    """

    low: Number | None
    high: Number | None
    closed: str

    @property
    def value(self) -> Number:
        if self.low is not None and self.low == self.high:
            return self.low
        return roundest(self.low, self.high, closed=self.closed)

    @classmethod
    def exactly(cls, number: Number) -> Bound:
        return cls(number, number, "high")


class Members(NamedTuple):
    """The constant of an equality with an array: its scalars, in order."""

    values: tuple[JSON, ...]


class OtherPath(NamedTuple):
    """In the place of a constant: whatever stands at another path of the same scope."""

    path: str


class Alternatives(NamedTuple):
    """The constants of a test that any one of them meets: a value set, or several substrings."""

    values: tuple[JSON, ...]


class PathTest(NamedTuple):
    """A test of one path: ``eq``, ``gte``, ``lte``, ``contains``, ``exists`` or ``missing``.

    `value` is the JSON scalar, the substring, `Alternatives` to either, a `Bound`, `Members` or an
    `OtherPath`; None where there is none. `ignore_case` is for ``contains``, whose substring is then in
    lower case.
    """

    op: str
    path: str
    value: JSON = None
    ignore_case: bool = False


class Collect(NamedTuple):
    """A ``find`` or ``count`` over a collection.

    `bound` is (field, k) for a count; of one with a range it is the lower end, and `most` the upper one.
    """

    op: str
    collection: str
    where: tuple[Literal, ...]
    bound: tuple[str, int] | None = None
    most: int | None = None


class Operation(NamedTuple):
    """An operator over a trace or a world; `text` is its fields as JSON, in the order they are said."""

    op: str
    text: str

    @classmethod
    def of(cls, op: str, fields: dict[str, JSON]) -> Operation:
        return cls(op, json.dumps(fields, ensure_ascii=False))

    @property
    def fields(self) -> dict[str, JSON]:
        found: dict[str, JSON] = json.loads(self.text)
        return found


class Either(NamedTuple):
    """Of one element: at least one of several tests, of different paths, holds."""

    parts: tuple[Literal, ...]


class Literal(NamedTuple):
    atom: PathTest | Collect | Operation | Either
    negated: bool = False


Hypothesis = tuple[tuple[Literal, ...], ...]
"""A disjunction of conjunctions of literals."""


def literal_check(literal: Literal) -> dict[str, JSON]:
    """The literal on the wire."""
    atom = literal.atom
    if isinstance(atom, Collect):
        check: dict[str, JSON] = {"op": atom.op, "collection": atom.collection}
        if atom.where:
            check["where"] = conjunction(atom.where)
        if atom.bound is not None:
            check[atom.bound[0]] = atom.bound[1]
        if atom.most is not None:
            check["lte"] = atom.most
    elif isinstance(atom, Operation):
        check = {"op": atom.op, **atom.fields}
    elif isinstance(atom, Either):
        check = {"op": "or", "of": [literal_check(part) for part in atom.parts]}
    elif isinstance(atom.value, Alternatives):
        members = [Literal(atom._replace(value=value)) for value in atom.value.values]
        check = {"op": "or", "of": [literal_check(member) for member in members]}
    elif atom.op in ("exists", "missing"):
        check = {"op": atom.op, "path": atom.path}
    elif atom.op == "contains":
        check = {"op": "contains", "path": atom.path, "substring": atom.value}
        check |= {"ci": True} if atom.ignore_case else {}
    elif atom.op == "eq" and literal.negated:
        return {"op": "neq", "path": atom.path, **_compared(atom.value)}
    else:
        check = {"op": atom.op, "path": atom.path, **_compared(atom.value)}
    return {"op": "not", "of": check} if literal.negated else check


def _compared(value: JSON) -> dict[str, JSON]:
    """What a comparison compares with, on the wire."""
    if isinstance(value, OtherPath):
        return {"value_path": value.path}
    if isinstance(value, Members):
        return {"value": list(value.values)}
    return {"value": value.value if isinstance(value, Bound) else value}


def conjunction(literals: tuple[Literal, ...]) -> dict[str, JSON]:
    parts = [literal_check(literal) for literal in literals]
    return parts[0] if len(parts) == 1 else {"op": "and", "of": parts}


def hypothesis_check(hypothesis: Hypothesis) -> dict[str, JSON]:
    """The check that a hypothesis says."""
    parts = [conjunction(term) for term in hypothesis]
    return parts[0] if len(parts) == 1 else {"op": "or", "of": parts}


def preference(literal: Literal) -> tuple[int, int, str]:
    """The order between literals of equal cost and equal verdicts: the first is said.

    Rounder numbers first, then longer words (the whole word rather than a part that happens
    to do), then the JSON text.
    """
    digits, letters = _constants(literal)
    return digits, -letters, canonical_json(literal_check(literal))


def _constants(literal: Literal) -> tuple[int, int]:
    atom = literal.atom
    if isinstance(atom, (Collect, Either)):
        parts = [_constants(inner) for inner in (atom.where if isinstance(atom, Collect) else atom.parts)]
        return sum(p[0] for p in parts), sum(p[1] for p in parts)
    if isinstance(atom, Operation):
        return 0, 0
    if isinstance(atom.value, Bound):
        return half_digits(atom.value.value), 0
    if isinstance(atom.value, Alternatives):
        parts = [_constants(Literal(atom._replace(value=value))) for value in atom.value.values]
        return sum(p[0] for p in parts), sum(p[1] for p in parts)
    return 0, len(atom.value) if atom.op == "contains" else 0

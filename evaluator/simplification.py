"""Simplifying a check without changing what it says: the same verdict and the same gap on every scene.

The gap makes this stricter than logic. Where only the verdict of a part is asked for, inside `not` and in the
`where` of `count`, plain logic holds. Elsewhere each rewrite has a reason why the gap stays, to the last bit:

* A part of an `and` that always passes adds 0 and goes; one that can never be satisfied (`or` of nothing, gap
  infinite) makes the whole infinite, so that the whole is that part. In an `or` it is the other way round.
* An `and` or `or` of one part has that part's gap.
* `or` takes the least: nested ones flatten, and a part that stands twice may stand once.
* `and` adds up: a part that stands twice counts twice, so duplicates stay. Sums of doubles depend on where
  the brackets are: a nested `and` flattens when it comes first, or when it and all before it have gaps that
  are whole numbers (equality, presence, text, counts with whole bounds, and what is made of them).
* `not` has gap 0 or 1: a double negation goes where the inner gap is never anything else.
* `not` of what always passes has gap 1, and is left out of an `or` whose other gaps never exceed 1.
* A `where` that always passes counts every element, and goes.

What may change is `why`: it speaks of the parts that are left. A node that carries keys the language does not
know (a note, say) is kept, as are duplicates with different notes; what cannot matter goes with its notes.
"""

from __future__ import annotations

from typing import Any, Final, overload

from evaluator.check import Check, CheckData, is_defined, snapshot
from evaluator.compile import compile_check
from evaluator.expression import Definition, Expression, fields_of, parse_check
from evaluator.json_write import canonical_json

JSON = dict[str, Any]

_PASSES: Final[JSON] = {"op": "and", "of": []}
_NEVER: Final[JSON] = {"op": "or", "of": []}
_FAILS_BY_ONE: Final[JSON] = {"op": "not", "of": _PASSES}
_ZERO_OR_ONE: Final = frozenset({"eq", "neq", "contains", "exists", "missing", "matches", "not"})
_LARGEST_BOUND: Final = 2**31


@overload
def simplify(check: Check) -> Check: ...
@overload
def simplify(check: Expression) -> Expression: ...
@overload
def simplify(check: Definition) -> Definition: ...
@overload
def simplify(check: JSON) -> JSON: ...


def simplify(check: JSON | CheckData) -> JSON | CheckData:
    """A check with the same verdict and gap on every scene, and never more nodes; of the kind it is given.

    Takes a check on the wire, a `Check`, or a typed one. An id, meta and unknown keys are kept. Raises
    `CheckError` when it is not well formed.

    >>> PRESENT = {"op": "exists", "path": "a"}
    >>> simplify({"op": "or", "of": [{"op": "and", "of": [PRESENT]}, {"op": "or", "of": []}]})
    {'op': 'exists', 'path': 'a'}
    """
    wire = compile_check(check).check
    if is_defined(wire):
        simpler: JSON = snapshot(wire | {"expr": _simplest(wire["expr"], gap=True)})
    else:
        simpler = snapshot(_simplest(wire, gap=True))
    if isinstance(check, Check):
        return Check(check.id, simpler["expr"], simpler.get("meta"))
    if isinstance(check, Expression | Definition):
        return parse_check(simpler)
    return simpler


def _simplest(check: JSON, *, gap: bool) -> JSON:
    """The check simplified; with `gap` false only its verdict is kept."""
    op = check["op"]
    if op == "not":
        return _negation(check, gap=gap)
    if op == "and" or op == "or":
        return _joint(check, gap=gap)
    simpler = dict(check)
    for field in fields_of(op):
        if field.name in check and field.holds_check:
            verdict_only = op == "count"
            simpler[field.name] = _simplest(check[field.name], gap=not verdict_only)
        elif field.name in check and field.holds_checks:
            simpler[field.name] = [_simplest(part, gap=True) for part in check[field.name]]
    if op == "count" and simpler.get("where") == _PASSES:
        del simpler["where"]
    return simpler


def _negation(check: JSON, *, gap: bool) -> JSON:
    inner = _simplest(check["of"], gap=False)
    if not _is_bare(check):
        return check | {"of": inner}
    if inner in (_NEVER, _FAILS_BY_ONE):
        return _PASSES
    if inner == _PASSES:
        return _FAILS_BY_ONE if gap else _NEVER
    if inner["op"] == "not" and _is_bare(inner) and (not gap or _is_zero_or_one(inner["of"])):
        innermost: JSON = inner["of"]
        return innermost
    return check | {"of": inner}


def _joint(check: JSON, *, gap: bool) -> JSON:
    """An `and` or `or` with its parts simplified, flattened and thinned out."""
    op = check["op"]
    neutral, absorbing = (_PASSES, _NEVER) if op == "and" else (_NEVER, _PASSES)
    parts: list[JSON] = []
    anywhere = op == "or" or not gap  # whether a nested one may flatten wherever it stands
    whole = True
    for part in check["of"]:
        simpler = _simplest(part, gap=gap)
        if simpler == neutral:
            continue
        if simpler == absorbing:
            parts = [absorbing]
            break
        flattens = simpler["op"] == op and _is_bare(simpler)
        if flattens and not anywhere:
            flattens = not parts or (whole and _is_whole(simpler))
        added = simpler["of"] if flattens else [simpler]
        parts += added
        whole = whole and (anywhere or all(map(_is_whole, added)))
    if op == "or" or not gap:
        parts = _without_duplicates(parts)
    if op == "or" and _FAILS_BY_ONE in parts:
        others = [part for part in parts if part != _FAILS_BY_ONE]
        if others and all(map(_is_zero_or_one, others)):
            parts = others
    if len(parts) == 1 and _is_bare(check):
        return parts[0]
    return check | {"of": parts}


def _without_duplicates(parts: list[JSON]) -> list[JSON]:
    kept: dict[str, JSON] = {}
    for part in parts:
        kept.setdefault(canonical_json(part), part)
    return list(kept.values())


def _is_bare(check: JSON) -> bool:
    """Whether an and, or or not carries nothing but its parts."""
    return check.keys() == {"op", "of"}


def _is_zero_or_one(check: JSON) -> bool:
    """Whether the gap is 0 or 1 on every scene."""
    op = check["op"]
    if op == "or":
        return bool(check["of"]) and all(map(_is_zero_or_one, check["of"]))
    if op == "and":
        return len(check["of"]) == 1 and _is_zero_or_one(check["of"][0])
    if op == "find":
        return _is_zero_or_one(check["where"])
    return op in _ZERO_OR_ONE


def _is_whole(check: JSON) -> bool:
    """Whether the gap is a whole number on every scene, or infinite, and small enough for sums to be exact.

    A sum of such gaps stays below 2**53: a check has at most 100,000 parts, each adds at most three distances
    between a number of elements and a bound below 2**31.
    """
    op = check["op"]
    if op == "and" or op == "or":
        return all(map(_is_whole, check["of"]))
    if op == "find":
        return _is_whole(check["where"])
    if op == "count":
        bounds = [check[name] for name in ("eq", "gte", "lte") if name in check]
        return all(bound == int(bound) and abs(bound) < _LARGEST_BOUND for bound in bounds)
    return op in _ZERO_OR_ONE

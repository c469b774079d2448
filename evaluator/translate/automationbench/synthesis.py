"""Worlds made from a check: one that satisfies it, by few edits; others that each break one clause of it.

Every clause knows edits that make it hold or fail: a value is set or changed, a text is added to another or
taken out of it, a record is edited, added or removed. What joins clauses chooses among the edits of its
parts: `or` and `find` take the cheapest, `and` makes one part hold after another and prefers edits that
leave the others as they are. This is greedy: it finds small edits, not provably the smallest, and may find
none where there is one. Every edit is judged by the check itself before it is given out, so that no world
made here is wrong.

The operators of the check language are known; of the extensions (assertions over traces, CEL's) none is.
The same check and world give the same worlds. Made worlds share the parts that did not change with the one
given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

from evaluator.check import is_defined
from evaluator.compile import compile_check
from evaluator.expression import sub_checks
from evaluator.json_write import canonical_json
from evaluator.path import Has, Index, Keyed, Property, Segment, parse_path, resolve
from evaluator.values import MISSING, is_index_text

_MOST_OPTIONS: Final = 4
_NEAREST_RECORDS: Final = 3
_MOST_ADDED: Final = 1_000
_OTHER: Final = "other"


class UnsatisfiableError(ValueError):
    """No world was found in which the check holds. The message names the operator that stood in the way."""


class _NoWayError(Exception):
    """A path cannot be made to lead where it should: it goes through a value that has no members."""


class Edit(NamedTuple):
    """An edited scene, and how many places were changed to get there."""

    cost: int
    scene: Any


def satisfy(check: Any, world: Any) -> Any:
    """A world in which the check holds: the one given with few changes, itself where it holds already.

    Takes what `compile_check` takes. Raises `UnsatisfiableError` when no such world was found, and
    `CheckError` when the check is not well formed.

    >>> satisfy({"op": "find", "collection": "tags", "where": {"op": "eq", "path": "", "value": "vip"}}, {})
    {'tags': ['vip']}
    """
    root = _root(check)
    found = root.edits(world, True)
    if not found:
        raise UnsatisfiableError(f"no world was found that satisfies the check: {_stuck(root, world)}")
    return found[0].scene


def break_each(check: Any, world: Any) -> tuple[Any, ...]:
    """Worlds in which the check fails, each made from one in which it holds by breaking one clause of it.

    Of a `find`, each clause of `where` is broken in every record that passes, and at last those records are
    taken away. No two of the worlds are the same. Clauses that cannot be broken, or whose breaking leaves the
    check satisfied, give none. Raises `ValueError` when the check does not hold in the world given, and
    `CheckError` when it is not well formed.
    """
    root = _root(check)
    if not root.holds(world):
        raise ValueError("the check does not hold in the world given: make it hold first, with satisfy")
    broken: list[Any] = []
    for scene in root.breaks(world):
        if not root.holds(scene) and scene not in broken:
            broken.append(scene)
    return tuple(broken)


def _root(check: Any) -> _Clause:
    return _remembered(canonical_json(compile_check(check).check))


@lru_cache(maxsize=64)
def _remembered(text: str) -> _Clause:
    """The clause of a check; one is often satisfied and broken in turn."""
    wire = json.loads(text)
    return _Clause(wire["expr"] if is_defined(wire) else wire)


def _stuck(clause: _Clause, world: Any) -> str:
    """Which operators have no edit."""
    operators = dict.fromkeys(
        part.op for part in clause.walk() if not part.edits(world, not part.holds(world))
    )
    return f"no edit is known for {', '.join(operators)}" if operators else "its clauses are at odds"


class _Clause:
    """A clause of a check with its edits."""

    def __init__(self, check: dict[str, Any]) -> None:
        self.check = check
        self.op: str = check["op"]
        self.parts = [_Clause(part) for _, part in sub_checks(check)]
        compiled = compile_check(check)
        self.gap = compiled.gap
        self._edit, self._break = _WAYS.get(self.op, (_no_edits, _breaks_of_edit))

    def holds(self, scene: Any) -> bool:
        return self.gap(scene) == 0.0

    def walk(self) -> Iterator[_Clause]:
        yield self
        for part in self.parts:
            yield from part.walk()

    def edits(self, scene: Any, wanted: bool) -> list[Edit]:
        """The cheapest edits after which the clause holds, or fails, cheapest first."""
        if self.holds(scene) is wanted:
            return [Edit(0, scene)]
        fitting = (edit for edit in self._edit(self, scene, wanted) if self.holds(edit.scene) is wanted)
        return sorted(islice(fitting, _MOST_OPTIONS), key=lambda edit: edit.cost)

    def breaks(self, scene: Any) -> Iterator[Any]:
        """Scenes in which the clause, which holds, fails: each by one clause inside it."""
        return self._break(self, scene)


_Edits = Callable[[_Clause, Any, bool], Iterable[Edit]]
_Breaks = Callable[[_Clause, Any], Iterator[Any]]


def _no_edits(_clause: _Clause, _scene: Any, _wanted: bool) -> Iterator[Edit]:
    return iter(())


def _breaks_of_edit(clause: _Clause, scene: Any) -> Iterator[Any]:
    for edit in clause.edits(scene, False)[:1]:
        yield edit.scene


# Clauses that look at one place


def _settings(clause: _Clause, scene: Any, values: Iterable[Any]) -> Iterator[Edit]:
    """The scene with each of the values at the clause's path; `MISSING` takes away what is there."""
    segments = parse_path(clause.check["path"])
    for value in values:
        try:
            yield Edit(1, _taken(scene, segments) if value is MISSING else _put(scene, segments, value))
        except _NoWayError:
            continue


def _equality(clause: _Clause, scene: Any, wanted: bool) -> Iterator[Edit]:
    equal = wanted is (clause.op == "eq")
    found, other = resolve(scene, clause.check["path"]), _compared(clause, scene)
    if other is MISSING and equal:
        return _settings(
            clause, _with_other(clause, scene, found), [found if found is not MISSING else _OTHER]
        )
    return _settings(clause, scene, [other] if equal else [*_changed(found), MISSING])


def _order(clause: _Clause, scene: Any, wanted: bool) -> Iterator[Edit]:
    bound = _compared(clause, scene)
    if type(bound) is not int and type(bound) is not float:
        bound, scene = 0, _with_other(clause, scene, 0)
    step = 1 if clause.op in ("gte", "gt") else -1
    return _settings(clause, scene, [bound, bound + step] if wanted else [bound - step, bound])


def _containing(clause: _Clause, scene: Any, wanted: bool) -> Iterator[Edit]:
    found, text = resolve(scene, clause.check["path"]), clause.check["substring"]
    if wanted:
        whole = [f"{found} {text}"] if type(found) is str and found else []
        return _settings(clause, scene, [*whole, text])
    without = re.sub(re.escape(text), "", found, flags=re.IGNORECASE).strip() if text else ""
    return _settings(clause, scene, [without, _OTHER, "", MISSING])


def _matching(clause: _Clause, scene: Any, wanted: bool) -> Iterator[Edit]:
    plain = clause.check["pattern"].removeprefix("^").removesuffix("$").replace("\\", "")
    return _settings(clause, scene, [plain] if wanted else ["", _OTHER, MISSING])


def _presence(clause: _Clause, scene: Any, wanted: bool) -> Iterator[Edit]:
    return _settings(clause, scene, [_OTHER] if wanted is (clause.op == "exists") else [MISSING])


def _compared(clause: _Clause, scene: Any) -> Any:
    """What the clause compares with; `MISSING` where nothing stands at its other path."""
    if "value_path" in clause.check:
        return resolve(scene, clause.check["value_path"])
    return clause.check["value"]


def _with_other(clause: _Clause, scene: Any, value: Any) -> Any:
    """The scene with a value at the clause's other path; as it is where that cannot be."""
    try:
        return _put(scene, parse_path(clause.check["value_path"]), _OTHER if value is MISSING else value)
    except _NoWayError:
        return scene


def _changed(value: Any) -> Iterator[Any]:
    """Values that are near to one and differ from it."""
    if type(value) is bool:
        yield not value
    elif type(value) is int or type(value) is float:
        yield value + 1
    elif type(value) is str:
        yield f"{value} {_OTHER}" if value else _OTHER
        if any(character.isdigit() for character in value):
            yield re.sub(r"[0-9](?=[^0-9]*$)", lambda digit: str((int(digit[0]) + 1) % 10), value)
    elif type(value) is list:
        yield [*value, _OTHER]
    elif type(value) is dict:
        for key, inside in value.items():
            yield {**value, key: next(_changed(inside))}
            break
        yield {**value, _OTHER: True}
    yield _OTHER


# Clauses made of clauses


def _all_of(parts: list[_Clause], scene: Any, wanted: bool) -> Iterator[Edit]:
    """One part after another is made to hold (or to fail), those first that settle a value."""
    cost = 0
    parts = sorted(parts, key=lambda part: _FIRST.get(part.op, 1))
    for _ in range(len(parts) + 2):
        kept = [part for part in parts if part.holds(scene) is wanted]
        if len(kept) == len(parts):
            yield Edit(cost, scene)
            return
        options = next(part for part in parts if part not in kept).edits(scene, wanted)
        if not options:
            return
        harmless = (edit for edit in options if all(part.holds(edit.scene) is wanted for part in kept))
        best = next(harmless, options[0])
        cost, scene = cost + best.cost, best.scene


_FIRST: Final = {"eq": 0, "gte": 0, "lte": 0, "gt": 0, "lt": 0, "not": 2}


def _one_of(parts: list[_Clause], scene: Any, wanted: bool) -> Iterator[Edit]:
    """The cheapest edits of each part."""
    options = [edit for part in parts for edit in part.edits(scene, wanted)]
    return iter(sorted(options, key=lambda edit: edit.cost))


def _conjunction(clause: _Clause, scene: Any, wanted: bool) -> Iterator[Edit]:
    return (_all_of if wanted else _one_of)(clause.parts, scene, wanted)


def _disjunction(clause: _Clause, scene: Any, wanted: bool) -> Iterator[Edit]:
    return (_one_of if wanted else _all_of)(clause.parts, scene, wanted)


def _negation(clause: _Clause, scene: Any, wanted: bool) -> Iterable[Edit]:
    return clause.parts[0].edits(scene, not wanted)


def _breaks_of_parts(clause: _Clause, scene: Any) -> Iterator[Any]:
    for part in clause.parts:
        yield from part.breaks(scene)


def _breaks_of_branches(clause: _Clause, scene: Any) -> Iterator[Any]:
    """Each clause of the first branch that holds is broken, and with it every other branch that holds."""
    first, *others = [part for part in clause.parts if part.holds(scene)]
    for broken in first.breaks(scene):
        for edit in _all_of([*others, first], broken, False):
            yield edit.scene


# Collections


class _Records:
    """The records of a collection, in a list or as the values of an object."""

    def __init__(self, clause: _Clause, scene: Any) -> None:
        self._scene, self._path = scene, parse_path(clause.check["collection"])
        found = resolve(scene, clause.check["collection"])
        if found is MISSING or found is None:
            found = {} if clause.check.get("values") else []
        by_key = type(found) is dict and clause.check.get("values")
        if type(found) is not list and not by_key:
            raise _NoWayError
        self._keys: list[str] | None = list(found) if by_key else None
        self.all: list[Any] = list(found.values()) if by_key else list(found)
        self.where = clause.parts[0] if clause.parts else None

    def passing(self) -> list[int]:
        """The places of the records that pass, in order."""
        where = self.where
        return [at for at, one in enumerate(self.all) if where is None or where.holds(one)]

    def made(self) -> list[Edit]:
        """New records that pass."""
        if self.where is None:
            return [Edit(1, {})]
        blank: Any = (
            {}
            if any(part.check.get("path") or part.check.get("collection") for part in self._atoms())
            else None
        )
        return self.where.edits(blank, True)

    def _atoms(self) -> Iterator[_Clause]:
        pending = [self.where] if self.where is not None else []
        while pending:
            part = pending.pop()
            inside = part.op in ("and", "or", "not")
            pending += part.parts if inside else []
            if not inside:
                yield part

    def replaced(self, changes: dict[int, Any]) -> Any:
        """The scene with some records replaced; `MISSING` takes one away, a place past the end adds one."""
        keys = self._keys
        kept = [changes.get(at, one) for at, one in enumerate(self.all)]
        added = [record for at, record in sorted(changes.items()) if at >= len(self.all)]
        if keys is None:
            return _put(self._scene, self._path, [one for one in [*kept, *added] if one is not MISSING])
        members = {key: one for key, one in zip(keys, kept, strict=True) if one is not MISSING}
        for record in added:
            name = next(
                name for number in range(len(members) + 1) if (name := f"{_OTHER} {number}") not in members
            )
            members[name] = record
        return _put(self._scene, self._path, members)


def _finding(clause: _Clause, scene: Any, wanted: bool) -> Iterator[Edit]:
    try:
        records = _Records(clause, scene)
        if wanted:
            yield from sorted(_with_found(records), key=lambda edit: edit.cost)
            return
        passing, where = records.passing(), clause.parts[0]
        edits = [next(iter(where.edits(records.all[at], False)), None) for at in passing]
        if None not in edits:
            changed = [edit for edit in edits if edit is not None]
            scenes = {at: edit.scene for at, edit in zip(passing, changed, strict=True)}
            yield Edit(sum(edit.cost for edit in changed), records.replaced(scenes))
        yield Edit(len(passing), records.replaced(dict.fromkeys(passing, MISSING)))
    except _NoWayError:
        return


def _with_found(records: _Records) -> Iterator[Edit]:
    """One of the nearest records is edited, or a new one is added."""
    where = records.where
    if where is None:
        return
    nearest = sorted(range(len(records.all)), key=lambda at: where.gap(records.all[at]))
    for at in nearest[:_NEAREST_RECORDS]:
        for edit in where.edits(records.all[at], True)[:1]:
            yield Edit(edit.cost, records.replaced({at: edit.scene}))
    for edit in records.made()[:1]:
        yield Edit(edit.cost + 1, records.replaced({len(records.all): edit.scene}))


def _breaks_of_found(clause: _Clause, scene: Any) -> Iterator[Any]:
    try:
        records = _Records(clause, scene)
        passing, where = records.passing(), clause.parts[0]
        ways = [list(where.breaks(records.all[at])) for at in passing]
        for way in range(max(map(len, ways), default=0)):
            if all(ways):
                broken = {
                    at: of_one[min(way, len(of_one) - 1)] for at, of_one in zip(passing, ways, strict=True)
                }
                yield records.replaced(broken)
        yield records.replaced(dict.fromkeys(passing, MISSING))
    except _NoWayError:
        return


def _counting(clause: _Clause, scene: Any, wanted: bool) -> Iterator[Edit]:
    """Records are added or taken away until there are as many as should be, or one more or less."""
    try:
        records = _Records(clause, scene)
        passing = records.passing()
        for number in _numbers(clause.check, len(passing), wanted):
            more = number - len(passing)
            if more <= 0:
                taken = passing[number:]
                yield Edit(len(taken), records.replaced(dict.fromkeys(taken, MISSING)))
                continue
            for made in records.made()[:1] if more <= _MOST_ADDED else ():
                added = {len(records.all) + index: made.scene for index in range(more)}
                yield Edit(more * (made.cost + 1), records.replaced(added))
    except _NoWayError:
        return


def _numbers(check: dict[str, Any], now: int, wanted: bool) -> list[int]:
    """The numbers of records that come into question, the nearest first."""
    bounds = [int(check[name]) for name in ("eq", "gte", "lte") if name in check]
    numbers = {bound + step for bound in bounds for step in (-1, 0, 1)} | ({now} if wanted else set())
    return sorted(
        (number for number in numbers if number >= 0), key=lambda number: (abs(number - now), number)
    )


def _breaks_of_count(clause: _Clause, scene: Any) -> Iterator[Any]:
    for edit in clause.edits(scene, False):
        yield edit.scene


_WAYS: Final[dict[str, tuple[_Edits, _Breaks]]] = {
    **dict.fromkeys(("eq", "neq"), (_equality, _breaks_of_edit)),
    **dict.fromkeys(("gte", "lte", "gt", "lt"), (_order, _breaks_of_edit)),
    **dict.fromkeys(("exists", "missing"), (_presence, _breaks_of_edit)),
    "contains": (_containing, _breaks_of_edit),
    "matches": (_matching, _breaks_of_edit),
    "and": (_conjunction, _breaks_of_parts),
    "or": (_disjunction, _breaks_of_branches),
    "not": (_negation, _breaks_of_edit),
    "find": (_finding, _breaks_of_found),
    "count": (_counting, _breaks_of_count),
}


# Editing without changing what is given


def _put(value: Any, path: tuple[Segment, ...], new: Any) -> Any:
    """The value with something new at a path; what lacks on the way there is made."""
    if not path:
        return new
    first, rest = path[0], path[1:]
    if isinstance(first, Property) and not (type(value) is list and is_index_text(first.key)):
        if value is MISSING or value is None:
            value = {}
        if type(value) is not dict:
            raise _NoWayError
        return {**value, first.key: _put(value.get(first.key, MISSING), rest, new)}
    members = [] if value is MISSING or value is None else value
    if type(members) is not list:
        raise _NoWayError
    at = _place(members, first)
    if at > len(members):
        raise _NoWayError
    inside = members[at] if at < len(members) else _asked_for(first)
    return [*members[:at], _put(inside, rest, new), *members[at + 1 :]]


def _taken(value: Any, path: tuple[Segment, ...]) -> Any:
    """The value without what stands at a path."""
    if not path:
        raise _NoWayError
    first, rest = path[0], path[1:]
    if type(value) is dict and isinstance(first, Property):
        if not rest:
            return {key: inside for key, inside in value.items() if key != first.key}
        return {**value, first.key: _taken(value.get(first.key), rest)}
    if type(value) is not list:
        raise _NoWayError
    at = _place(value, first)
    if at >= len(value):
        raise _NoWayError
    return [*value[:at], *([_taken(value[at], rest)] if rest else []), *value[at + 1 :]]


def _place(members: list[Any], segment: Segment) -> int:
    """The place of the member that a segment asks for; the end where there is none."""
    match segment:
        case Index(digits):
            return int(digits)
        case Property(key):
            return int(key) if is_index_text(key) else len(members) + 1
        case Keyed(field, text):
            asked = f"[{field}={text}]"
        case Has(field, text):
            asked = f"[{field} has {text}]"
    return next((at for at, one in enumerate(members) if resolve([one], asked) is not MISSING), len(members))


def _asked_for(segment: Segment) -> Any:
    """The least member that a segment finds."""
    match segment:
        case Keyed(field, text):
            return {field: text}
        case Has(field, text):
            return {field: [text]}
    return MISSING

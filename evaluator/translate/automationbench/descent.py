"""Greedy descent on the gap: from the starting world of a task to one that completes it, edit by edit.

The gap of a task is the sum of the gaps of its assertions, those that count and those that are to stay true.
Edits are few and plain: a record is added, a value is set, values are removed. Which ones come into question
is read off a failing check, as a planner grounds its actions by its goal; which one is taken, the gap alone
says (`rank_actions` with a depth of one), and only one that makes it smaller.

Where none does, the descent stands on a plateau. It comes of empty collections: to a search in one, the first
record is as far as it may be, and once a record is there, every search that it does not satisfy tells how far
off it is. There the edit is taken that meets an assertion and breaks none, though the gap grows; `gaps` shows
it. A task that is completed here can be completed; one that is not may have assertions at odds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from evaluator.compile import CompiledCheck, compile_check, remembered
from evaluator.json_write import canonical_json
from evaluator.path import Property, parse_path, resolve
from evaluator.planning import RankedAction, rank_actions
from evaluator.translate.automationbench.grading import Grading, TaskGrader
from evaluator.translate.automationbench.synthesis import UnsatisfiableError, satisfy
from evaluator.translate.automationbench.worlds import normalise_world
from evaluator.values import MISSING
from evaluator.world_model import ImpossibleActionError

Steps = tuple[str | int, ...]
"""Where a value stands in a world: the keys and list positions that lead there."""

_NEAREST_RECORDS = 3
_MOST_EDITS = 24
_IDENTITY = ("id", "row_id")  # a record keeps what it is known by
_ANYTHING = {"op": "exists", "path": ""}


class Edit(NamedTuple):
    """One change of a world: `add` a value to the list at a place, `set` one there, `remove` what is there.

    A removal may name several places of one list; it is one edit all the same, as "delete these" is.
    """

    do: str
    at: tuple[Steps, ...]
    value: Any = None

    def to_dict(self) -> dict[str, Any]:
        """The edit as JSON."""
        places = [list(steps) for steps in self.at]
        return {"do": self.do, "at": places} | ({} if self.do == "remove" else {"value": self.value})


@dataclass(frozen=True, slots=True)
class Descent:
    """The way from a starting world to a smaller gap.

    Attributes:
        task: the name of the task.
        edits: what was done, in order.
        gaps: the gap at the start and after each edit.
        world: the world at the end, normalised.
        grading: the score of that world.
    """

    task: str
    edits: tuple[Edit, ...]
    gaps: tuple[float, ...]
    world: Any
    grading: Grading

    def to_dict(self) -> dict[str, Any]:
        """The way and where it ends, as JSON, without the world."""
        return {
            "task": self.task,
            "completed": self.grading.completed,
            "partial_credit": self.grading.partial_credit,
            "gaps": list(self.gaps),
            "edits": [edit.to_dict() for edit in self.edits],
        }


def descend(task: Mapping[str, Any], *, most_edits: int = 200) -> Descent:
    """Edit the starting world of a task so long as that makes its gap smaller.

    Raises `SceneError` and `CheckError` as `grade` does.
    """
    grader = TaskGrader(task)
    wanted = [
        one.check
        for one in grader.checks
        if one.check is not None and one.assertion.get("scored") is not False
    ]
    whole = compile_check({"op": "and", "of": [check.check for check in wanted]})
    world = grader.start
    gaps = [whole.gap(world)]
    edits: list[Edit] = []
    while gaps[-1] > 0.0 and len(edits) < most_edits:
        best = _downhill(wanted, world, whole, gaps[-1]) or _off_a_plateau(wanted, world, whole)
        if best is None:
            break
        edits.append(best.action)
        gaps.append(best.gap)
        world = best.scene
    return Descent(grader.name, tuple(edits), tuple(gaps), world, grader.grade(world))


def _downhill(
    wanted: list[CompiledCheck], world: Any, whole: CompiledCheck, gap: float
) -> RankedAction | None:
    """The best edit for the first failing check that has one making the gap of the task smaller."""
    ranked = (_ranked(check, world, whole) for check in wanted)
    return next((best for best, *_ in filter(None, ranked) if best.gap < gap), None)


def _off_a_plateau(wanted: list[CompiledCheck], world: Any, whole: CompiledCheck) -> RankedAction | None:
    """The edit with the smallest gap among those that meet a failing check and break none."""
    met = [check for check in wanted if check.passes(world)]
    found = [
        ranked
        for check in wanted
        for ranked in _ranked(check, world, whole)
        if ranked.impossible is None
        and check.passes(ranked.scene)
        and all(other.passes(ranked.scene) for other in met)
    ]
    return min(found, key=lambda ranked: ranked.gap, default=None)


def _ranked(check: CompiledCheck, world: Any, whole: CompiledCheck) -> tuple[RankedAction, ...]:
    """The edits that a failing check proposes, best first by the gap of the task; none of one that holds."""
    proposed = {canonical_json(edit.to_dict()): edit for edit in _edits(check.check, world, (), True)}
    edits = list(proposed.values())[:_MOST_EDITS]
    return rank_actions(world, edits, whole, edit_world, depth=1, node_limit=max(1, len(edits)))


# The world model


def edit_world(world: Any, edit: Edit) -> Any:
    """The world after an edit, normalised anew: what is derived from other records follows them.

    What lacks on the way to a place is made. Raises `ImpossibleActionError` when the way leads through a
    value that has no members, or when there is nothing to remove.
    """
    places = sorted(edit.at, key=lambda steps: str(steps[-1]).rjust(12), reverse=True)
    for steps in places:  # of one list the last member first, so that the others keep their places
        if edit.do == "add":
            _list_at(world, steps).append(edit.value)
        elif edit.do == "set":
            _set(_at(world, steps[:-1]), steps[-1], edit.value)
        else:
            _remove(_at(world, steps[:-1]), steps[-1])
    return normalise_world(world)


def _at(world: Any, steps: Steps) -> Any:
    for step in steps:
        if isinstance(world, dict) and isinstance(step, str):
            world = world.setdefault(step, {})
        elif isinstance(world, list) and isinstance(step, int) and step < len(world):
            world = world[step]
        else:
            raise ImpossibleActionError(f"there is no member {step!r} to edit")
    return world


def _list_at(world: Any, steps: Steps) -> list[Any]:
    parent = _at(world, steps[:-1])
    found = parent.setdefault(steps[-1], []) if isinstance(parent, dict) else _at(parent, steps[-1:])
    if not isinstance(found, list):
        raise ImpossibleActionError(f"there is no list {steps[-1]!r} to add to")
    return found


def _set(parent: Any, step: str | int, value: Any) -> None:
    members = parent if isinstance(parent, list) else ()
    if isinstance(parent, dict) or (isinstance(step, int) and step < len(members)):
        parent[step] = value
    else:
        raise ImpossibleActionError(f"there is no member {step!r} to set")


def _remove(parent: Any, step: str | int) -> None:
    try:
        del parent[step]
    except (KeyError, IndexError, TypeError):
        raise ImpossibleActionError(f"there is no member {step!r} to remove") from None


# Which edits come into question


def _edits(check: dict[str, Any], scene: Any, at: Steps, wanted: bool) -> Iterator[Edit]:
    """Edits that bring a check nearer to holding, or to failing, in the part of the world at a place."""
    if remembered(check).passes(scene) is wanted:
        return
    match check["op"]:
        case "not":
            yield from _edits(check["of"], scene, at, not wanted)
        case "and" | "or":
            for part in check["of"]:
                yield from _edits(part, scene, at, wanted)
        case "find" | "count":
            yield from _record_edits(check, scene, at, wanted)
        case _:
            yield from _value_edits(check, scene, at, wanted)


def _value_edits(check: dict[str, Any], scene: Any, at: Steps, wanted: bool) -> Iterator[Edit]:
    steps = _steps(check["path"])
    if steps is None or not at + steps or (at + steps)[-1] in _IDENTITY or not (steps or wanted):
        return  # a member of a list that should not be there is removed, not changed
    try:
        after = satisfy(check if wanted else {"op": "not", "of": check}, scene)
    except UnsatisfiableError:
        return
    value = resolve(after, check["path"])
    yield Edit("remove", (at + steps,)) if value is MISSING else Edit("set", (at + steps,), value)


def _record_edits(check: dict[str, Any], scene: Any, at: Steps, wanted: bool) -> Iterator[Edit]:
    steps = _steps(check["collection"])
    if steps is None:
        return
    there = at + steps
    found = resolve(scene, check["collection"])
    records: dict[str | int, Any] = {}
    if isinstance(found, list):
        records = dict(enumerate(found))
    elif isinstance(found, dict) and check.get("values"):
        records = dict(found)
    where = check.get("where", _ANYTHING)
    gap = remembered(where).gap
    passing = [key for key, record in records.items() if gap(record) == 0.0]
    if check["op"] == "count":
        fewer = any(len(passing) > check.get(bound, len(passing)) for bound in ("eq", "lte"))
        more = any(len(passing) < check.get(bound, 0) for bound in ("eq", "gte"))
        if fewer or not wanted:
            yield from (Edit("remove", ((*there, key),)) for key in passing[-1:])
        if more or not wanted:
            yield from _additions(where, found, there)
        return
    if wanted:
        named = [key for key, record in records.items() if _is_named(where, record)]
        if not named:
            yield from _additions(where, found, there)
        nearest = sorted(named or records, key=lambda key: gap(records[key]))
        for key in nearest[:_NEAREST_RECORDS]:
            yield from _edits(where, records[key], (*there, key), True)
        return
    if len(passing) == 1:
        yield from _edits(where, records[passing[0]], (*there, passing[0]), False)
    yield Edit("remove", tuple((*there, key) for key in passing))


def _is_named(where: dict[str, Any], record: Any) -> bool:
    """Whether a search names the record that it wants, and this is the one."""
    parts = where["of"] if where["op"] == "and" else [where]
    names = [part for part in parts if part["op"] == "eq" and part["path"] in _IDENTITY]
    return bool(names) and all(remembered(name).passes(record) for name in names)


def _additions(where: dict[str, Any], found: Any, there: Steps) -> Iterator[Edit]:
    """A new record that passes, where there is a list to add it to or nothing yet."""
    if found is not MISSING and not isinstance(found, list):
        return
    try:
        made = satisfy({"op": "find", "collection": "made", "where": where}, {})
    except UnsatisfiableError:
        return
    yield Edit("add", (there,), made["made"][0])


def _steps(path: str) -> Steps | None:
    """The keys of a path that has nothing but keys; else None."""
    segments = parse_path(path)
    keys = tuple(segment.key for segment in segments if isinstance(segment, Property))
    return keys if len(keys) == len(segments) else None

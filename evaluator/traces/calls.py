"""From calls and results to steps: which result belongs to which call, when neither may be lost.

A result belongs to the call with its id. Where ids are missing, or the same id is used by several calls, the
nearest call before it that has no result yet is taken. A call without a result stays; a result without a call
is evidence of a call that was not recorded, and becomes one.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct, field

from evaluator.traces.messages import Call, Result
from evaluator.traces.notes import Notes
from evaluator.values import MISSING, quoted

UNNAMED: Final = "unknown"
"""The name of a step whose tool is not said."""


class Turn(Struct, eq=False):
    """A call, and the number of the message it stands in."""

    call: Call
    number: int
    more: list[Any] = field(default_factory=list)


def match_results(turns: list[Turn], results: list[tuple[int, Result]], notes: Notes) -> None:
    """Give each result to its call; for one without, `turns` gains a call at the result's place."""
    by_id: dict[str, list[Turn]] = {}
    for turn in turns:
        if turn.call.id is not None:
            by_id.setdefault(turn.call.id, []).append(turn)
    for name, same in by_id.items():
        if len(same) > 1:
            places = ", ".join(turn.call.place for turn in same[1:4]) + (", …" if len(same) > 4 else "")
            notes(
                same[0].call.place,
                f"{len(same)} calls have the id {quoted(name)} (also {places}); all are kept",
            )
    waiting = {id(turn): turn for turn in turns if turn.call.result is MISSING}
    for number, result in results:
        owner = _owner(result, number, by_id, waiting, notes)
        if owner is None:
            orphan = Call(result.id, result.name, MISSING, result.place)
            owner = Turn(orphan, number)
            turns.append(owner)
            if result.id is not None:
                by_id.setdefault(result.id, []).append(owner)
        if owner.call.result is MISSING:
            owner.call.result = result.value
            owner.call.failed = result.failed
            waiting.pop(id(owner), None)
        else:
            owner.more.append(result.value)
    turns.sort(key=lambda turn: turn.number)


def _owner(
    result: Result, number: int, by_id: dict[str, list[Turn]], waiting: dict[int, Turn], notes: Notes
) -> Turn | None:
    if result.id is not None and result.id in by_id:
        same = by_id[result.id]
        found = _nearest([turn for turn in same if turn.call.result is MISSING], number)
        if found is None:
            notes(
                result.place, f"another result of the call {quoted(result.id)}; kept in the step's metadata"
            )
            found = ([turn for turn in same if turn.number <= number] or same)[-1]
        return found
    candidates = [turn for turn in waiting.values() if turn.call.id is None or result.id is None]
    if result.name is not None:
        candidates = [turn for turn in candidates if turn.call.name in (result.name, None)]
    found = _nearest([turn for turn in candidates if turn.number <= number], number)
    if result.id is None and result.name is not None and found is not None:
        return found
    said = "has no id" if result.id is None else f"answers {quoted(result.id)}, which no call has as its id"
    if found is None:
        notes(result.place, f"a result that {said}; kept as a call that was not recorded")
    else:
        notes(result.place, f"a result that {said}; given to the call {found.call.place}")
    return found


def _nearest(turns: list[Turn], number: int) -> Turn | None:
    """The first call of the latest message before, or else the first after."""
    before = [turn for turn in turns if turn.number <= number]
    if before:
        latest = max(turn.number for turn in before)
        return next(turn for turn in before if turn.number == latest)
    return turns[0] if turns else None


def call_step(turn: Turn, notes: Notes, *, ended: bool = False) -> dict[str, Any]:
    """The step of a call: `error` and `status` only where it is known whether it failed.

    A call that is known to have `ended` may have given nothing back.
    """
    call = turn.call
    step: dict[str, Any] = {"type": "tool_call", "name": call.name or UNNAMED}
    if call.name is None:
        notes(call.place, f'a call without a name; kept as "{UNNAMED}"')
    if call.args is not MISSING:
        step["args"] = call.args
        if type(call.args) is str and call.args.lstrip().startswith(("{", "[")):
            notes(call.place, "the arguments are no JSON object; kept as text")
    if call.result is not MISSING:
        step["result"] = call.result
    elif not ended:
        notes(call.place, f"the call of {quoted(step['name'])} has no result; kept without one")
    if call.failed is not None:
        step["status"] = "error" if call.failed else "ok"
        if call.failed:
            step["error"] = call.result if call.error is None and call.result is not MISSING else call.error
            if step["error"] is None:
                step["error"] = {}
    metadata = ({} if call.id is None else {"call_id": call.id}) | (
        {"more_results": turn.more} if turn.more else {}
    )
    return step | ({"metadata": metadata} if metadata else {})

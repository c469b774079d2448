"""Trajectories: the sequence of a run's calls as a whole, by the names of the tools."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final, Literal

from evaluator.assertions.arguments import Pair, Text
from evaluator.assertions.edit_distance import edit_distance
from evaluator.assertions.judgement import Judge, Judgement, failed, passed
from evaluator.assertions.view import Call, TraceView
from evaluator.assertions.wording import and_more, counted, listed, name_text

Mode = Literal["strict", "unordered", "subset", "superset"]


def trajectory(*, tools: tuple[Text, ...], mode: Mode = "strict") -> Judge:
    """The calls are these, one by one (`strict`), in any order (`unordered`), none but these (`subset`), at
    least these (`superset`). Except for `strict` the lists are taken as multisets, since a retry is a call.
    """
    if mode == "strict":
        return _strict_trajectory(tools)
    listed_calls = Counter(tools)

    def judge(view: TraceView) -> Judgement:
        called = view.call_counts
        missing = 0 if mode == "subset" else _excess(listed_calls, called)
        extra = 0 if mode == "superset" else _excess(called, listed_calls)
        if not missing and not extra:
            return passed(lambda: f"calls: {_MODES[mode][0]}")
        return failed(missing + extra, lambda: _trajectory_why(mode, tools, view.call_names))

    return judge


def _strict_trajectory(tools: tuple[str, ...]) -> Judge:
    expected, wanted = list(tools), listed(tools, " → ")

    def judge(view: TraceView) -> Judgement:
        names = view.call_names
        if names == expected:
            return passed(f"calls: exactly {wanted}")
        edits = edit_distance(names, tools)
        return failed(
            edits,
            lambda: (
                f"calls: expected exactly {wanted}, got {listed(names, ' → ')} ({counted(edits, 'edit')})"
            ),
        )

    return judge


_MODES: Final = {
    "unordered": ("exactly the listed ones in any order", "exactly the listed calls in any order"),
    "subset": ("none outside the list", "no call outside the list"),
    "superset": ("every listed one occurs", "every listed call"),
}


def _trajectory_why(mode: Mode, tools: Sequence[str], names: Sequence[str]) -> str:
    missing, extra = _surplus(tools, names), _surplus(names, tools)
    expected = f"calls: expected {_MODES[mode][1]}"
    if mode == "subset":
        return f"{expected}, got {len(extra)}: {listed(extra)}"
    if mode == "superset":
        return f"{expected}, missing {len(missing)}: {listed(missing)}"
    sides = [f"{side} {len(of)}: {listed(of)}" for side, of in (("missing", missing), ("extra", extra)) if of]
    return f"{expected}, {'; '.join(sides)}"


def _excess(left: Counter[str], right: Counter[str]) -> int:
    """How many elements of one multiset the other lacks."""
    return sum(count - right[name] for name, count in left.items() if count > right[name])


def _surplus(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """The elements of one multiset that the other lacks, the later ones of a name first left over."""
    room, found = Counter(right), []
    for name in left:
        room[name] -= 1
        if room[name] < 0:
            found.append(name)
    return found


# A partial order


def trajectory_partial_order(*, order: tuple[Pair, ...], tools: tuple[Text, ...] | None = None) -> Judge:
    """Every tool named is called and, for each pair, each call of the second follows one of the first.

    A cycle cannot be satisfied and fails.
    """
    named = dict.fromkeys(name for pair in order for name in pair)
    named.update(dict.fromkeys(tools or ()))

    def judge(view: TraceView) -> Judgement:
        calls = view.calls_by_name
        missing = [name for name in named if name not in calls]
        early = sum(calls_without_earlier(view, before, after) for before, after in order)
        if not missing and not early:
            return passed("calls: every tool called, every pair in order")
        return failed(len(missing) + early, lambda: _order_why(view, order, named, missing, early))

    return judge


def _order_why(
    view: TraceView,
    order: Sequence[tuple[str, str]],
    named: Collection[str],
    missing: list[str],
    early: int,
) -> str:
    if not early:
        names = counted(len(named), "tool")
        return f"calls: expected every one of {names} to be called, missing: {listed(missing)}"
    before, after = next(pair for pair in order if calls_without_earlier(view, *pair))
    call = view.calls_by_name[after][0]
    also = f"; missing: {listed(missing)}" if missing else ""
    return (
        f"calls: expected {name_text(before)} before {name_text(after)}, {name_text(after)} "
        f"(call {call.number + 1}) has no earlier {name_text(before)}{and_more(early - 1)}{also}"
    )


def calls_without_earlier(view: TraceView, before: str, after: str) -> int:
    """How many calls of `after` have no earlier call of `before`."""
    later = view.calls_by_name.get(after)
    if later is None:
        return 0
    first = view.calls_by_name.get(before)
    if first is None:
        return len(later)
    if before == after:
        return 1
    return bisect_left(later, first[0].number, key=_number)


def _number(call: Call) -> int:
    return call.number

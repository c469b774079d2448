"""Trace checks: which names the steps of a run bear, in which order, how often.

They read the names of all steps of the root trace, whatever their type; names compare exactly. Steps are
numbered from 1 in what `why` says.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from evaluator.assertions.arguments import Names, Positive, Text
from evaluator.assertions.grounding import grounded
from evaluator.assertions.judgement import Judge, Judgement, bounded, failed, passed
from evaluator.assertions.method import Method
from evaluator.assertions.repetition import distinct
from evaluator.assertions.view import TraceView

_ARROW: Final = " → "


def tools_called_in_order(*, tools: Names) -> Judge:
    """The names `tools` occur among the steps in this order, others between them or not.

    A name listed twice needs two steps. The gap is the number of names beyond the longest common subsequence.
    """
    listed = set(tools)

    def judge(view: TraceView) -> Judgement:
        wanted = iter(tools)
        name = next(wanted)
        for step_name in view.names:
            if step_name == name:
                following = next(wanted, None)
                if following is None:
                    return passed(f"steps: {_ARROW.join(tools)} in order")
                name = following
        seen = [name for name in view.names if name in listed]
        missing = _not_in_order(tools, seen)
        return failed(
            len(missing),
            lambda: (
                f"steps: expected {_ARROW.join(tools)} in order, got {_ARROW.join(seen) or 'none of them'} "
                f"(missing {len(missing)}: {', '.join(missing)})"
            ),
        )

    return judge


def _not_in_order(wanted: tuple[str, ...], seen: list[str]) -> list[str]:
    """The names of `wanted` that are outside a longest common subsequence with `seen`."""
    rows = [[0] * (len(seen) + 1)]
    for name in reversed(wanted):
        below = rows[-1]
        row = [0] * (len(seen) + 1)
        for at in range(len(seen) - 1, -1, -1):
            row[at] = below[at + 1] + 1 if seen[at] == name else max(below[at], row[at + 1])
        rows.append(row)
    rows.reverse()
    missing, at, number = [], 0, 0
    while number < len(wanted):
        if at < len(seen) and wanted[number] == seen[at]:
            number, at = number + 1, at + 1
        elif at < len(seen) and rows[number][at + 1] == rows[number][at]:
            at += 1
        else:
            missing.append(wanted[number])
            number += 1
    return missing


def tools_called_exactly(*, tools: Names) -> Judge:
    """The names `tools` are borne by steps next to each other, in this order.

    The gap is the number of names beyond the best alignment, which may hang over either end of the steps.
    """
    positions: dict[str, list[int]] = {}
    for position, name in enumerate(tools):
        positions.setdefault(name, []).append(position)

    def judge(view: TraceView) -> Judgement:
        equal: Counter[int] = Counter()
        for at, name in enumerate(view.names):
            for position in positions.get(name, ()):
                equal[at - position] += 1
        best = max(equal.values(), default=0)
        if best == len(tools):
            return passed(f"steps: {', '.join(tools)} next to each other")
        return failed(
            len(tools) - best,
            lambda: (
                f"steps: expected {', '.join(tools)} next to each other, best run has {best} of {len(tools)}"
            ),
        )

    return judge


def required_tools(*, tools: Names) -> Judge:
    """Each of the names `tools` is borne by some step. The gap is the number of distinct names missing."""
    wanted = frozenset(tools)
    holds = passed(f"steps: every one of {', '.join(tools)} occurs")

    def judge(view: TraceView) -> Judgement:
        missing = wanted.difference(view.names)
        if not missing:
            return holds
        return failed(
            len(missing),
            lambda: (
                f"steps: expected every one of {len(tools)} names, "
                f"missing: {', '.join(name for name in dict.fromkeys(tools) if name in missing)}"
            ),
        )

    return judge


def forbidden_tools(*, tools: Names) -> Judge:
    """No step bears one of the names `tools`. The gap is the number of steps that do."""
    unwanted = frozenset(tools)
    holds = passed(f"steps: none of {', '.join(tools)} occurs")

    def judge(view: TraceView) -> Judgement:
        if unwanted.isdisjoint(view.names):
            return holds
        found = [number for number, name in enumerate(view.names, 1) if name in unwanted]
        return failed(
            len(found),
            lambda: (
                f"steps: expected none of {', '.join(tools)}, got {len(found)} "
                f"({'steps' if len(found) > 1 else 'step'} {', '.join(map(str, found))})"
            ),
        )

    return judge


def no_tool_loops(*, tool: Text, max_repetitions: Positive = 1) -> Judge:
    """At most `max_repetitions` steps bear the name `tool`, next to each other or not."""
    what = f"steps[name={tool}]"
    return lambda view: bounded(what, view.names.count(tool), "lte", max_repetitions)


def no_duplicate_tools() -> Judge:
    """No two steps bear the same name. The gap is the number of steps beyond the first of each name."""
    holds = passed("steps: distinct names")

    def judge(view: TraceView) -> Judgement:
        names = [name for name in view.names if name]
        surplus = len(names) - len(set(names))
        if not surplus:
            return holds

        def why() -> str:
            several = [(name, number) for name, number in Counter(names).items() if number > 1]
            (name, number), *others = several
            told = "".join(f", {name} {number} times" for name, number in others)
            return f"steps: expected distinct names, {name} occurs {number} times{told}"

        return failed(surplus, why)

    return judge


METHODS: Final = (
    Method("tools_called_in_order", "trace", tools_called_in_order),
    Method("tools_called_exactly", "trace", tools_called_exactly),
    Method("required_tools", "trace", required_tools),
    Method("forbidden_tools", "trace", forbidden_tools),
    Method("no_tool_loops", "trace", no_tool_loops),
    Method("no_duplicate_tools", "trace", no_duplicate_tools),
    Method("distinct", "trace", distinct),
    Method("grounded", "trace", grounded),
)

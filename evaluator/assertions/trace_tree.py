"""Trace trees: which agents ran, how they delegated, what flowed between them, what the whole tree cost.

The tree is walked from the root, then each `agent_call` step's sub-trace in step order, depth first. An agent
is known by the `agent_id` of its *traces*; the checks on times look at the `agent_id` of the *steps* instead.
Soft is heeded by unusable specs here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import reduce
from itertools import pairwise
from math import inf
from operator import add
from typing import Annotated, Any, Final

from msgspec import Meta

from evaluator.assertions.arguments import Names, Natural, Pair, PositiveNumber, Text
from evaluator.assertions.content import lower
from evaluator.assertions.json_value import is_number, same_value
from evaluator.assertions.judgement import (
    Judge,
    Judgement,
    MissingEvidenceError,
    between,
    bounded,
    failed,
    passed,
)
from evaluator.assertions.method import Method
from evaluator.assertions.view import Step, TraceView
from evaluator.json_write import json_text
from evaluator.values import MISSING, compact, distance, number_text, quoted

Transitions = Annotated[tuple[Pair, ...], Meta(min_length=1)]
Groups = Annotated[tuple[Names, ...], Meta(min_length=2)]


def agent_called(*, agent_id: Text) -> Judge:
    """Some trace of the tree, the root included, is a run of the agent."""

    def judge(view: TraceView) -> Judgement:
        agents = [run.view.agent_id for run in view.tree]
        if agent_id in agents:
            return passed(f"agents: {agent_id} was called")
        return failed(1, lambda: f"agents: expected {agent_id} to be called, got {_distinct(agents)}")

    return judge


def delegation_depth(*, max_depth: Natural) -> Judge:
    """The deepest trace lies at most `max_depth` below the root; 0 asks for no delegation."""
    return lambda view: bounded("delegation depth", max(run.depth for run in view.tree), "lte", max_depth)


def agent_output_contains(*, agent_id: Text, value: Text, case_sensitive: bool = False) -> Judge:
    """The JSON text of the whole output of a run of the agent, keys included, contains `value`."""
    prepared: Callable[[str], str] = str if case_sensitive else lower
    wanted = prepared(value)

    def judge(view: TraceView) -> Judgement:
        runs = _runs_of(agent_id, view)
        if not runs:
            why = f"{agent_id}.output: expected text containing {quoted(value)}, the agent is absent"
            return failed(1, why)
        for run in runs:
            if run.output is not MISSING and wanted in prepared(json_text(run.output, compact=True)):
                return passed(f"{agent_id}.output contains {quoted(value)}")
        return failed(
            1,
            lambda: (
                f"{agent_id}.output: expected text containing {quoted(value)}, "
                f"got {'nothing' if runs[-1].output is MISSING else compact(runs[-1].output)}"
            ),
        )

    return judge


def cross_agent_data_flow(*, from_agent: Text, to_agent: Text, field: Text) -> Judge:
    """What a run of `from_agent` put into `field` of its output reached the input of a run of `to_agent`.

    `field` is a top-level key. The value is looked for as its JSON text, a string's without quotes, in the
    JSON text of the input, and as an equal value anywhere in it. Any pair of runs will do.
    """
    what = f"{to_agent}.input: expected {from_agent}.output.{field}"

    def judge(view: TraceView) -> Judgement:
        sent = [
            run.output[field]
            for run in _runs_of(from_agent, view)
            if type(run.output) is dict and field in run.output
        ]
        inputs = [run.root["input"] for run in _runs_of(to_agent, view) if "input" in run.root]
        for value in sent:
            text = json_text(value, compact=True)
            if type(value) is str:
                text = text[1:-1]
            for given in inputs:
                if text in json_text(given, compact=True) or _holds_value(given, value):
                    return passed(f"{to_agent}.input has {from_agent}.output.{field} {compact(value)}")
        if not sent:
            return failed(1, f"{what}, which is absent")
        if not inputs:
            return failed(1, f"{what} {compact(sent[0])}, the input is absent")
        return failed(1, lambda: f"{what} {compact(sent[0])}, not found")

    return judge


def follows_transitions(*, transitions: Transitions) -> Judge:
    """Each delegation of the tree, from agent to agent, is one of the pairs `transitions`.

    The gap is the number of delegations that are not.
    """
    listed = frozenset(transitions)

    def judge(view: TraceView) -> Judgement:
        others = Counter(
            pair
            for run in view.tree
            if run.parent is not None
            and (pair := (run.parent.view.agent_id, run.view.agent_id)) not in listed
        )
        if not others:
            return passed("delegations: only listed ones")
        told = ", ".join(f"{parent} → {child} ({number})" for (parent, child), number in others.items())
        return failed(others.total(), f"delegations: expected only listed ones, got {told}")

    return judge


def aggregate_cost_under(*, max_cost: float) -> Judge:
    """All runs of the tree together cost at most `max_cost` dollars."""
    return _aggregate("cost_usd", max_cost)


def aggregate_tokens_under(*, max_tokens: float) -> Judge:
    """All runs of the tree together used at most `max_tokens` tokens."""
    return _aggregate("total_tokens", max_tokens)


def aggregate_latency_under(*, max_ms: float) -> Judge:
    """The latencies of all runs of the tree add up to at most `max_ms`, although a parent's may include its
    children's."""
    return _aggregate("latency_ms", max_ms)


def _aggregate(metric: str, bound: float) -> Judge:
    def judge(view: TraceView) -> Judgement:
        measured = [number for run in view.tree if is_number(number := run.view.metadata.get(metric))]
        if not measured:
            raise MissingEvidenceError(f"metadata.{metric} in the whole tree")
        return bounded(f"tree {metric}", _added(measured), "lte", bound)

    return judge


def agent_ordered_before(*, agent_a: Text, agent_b: Text) -> Judge:
    """The last step of `agent_a` ended before the first of `agent_b` started."""

    def judge(view: TraceView) -> Judgement:
        what = f"{agent_a} → {agent_b}"
        absent = _absent((agent_a, agent_b), view)
        if absent:
            return _without_steps(what, absent)
        end = max(_times(_steps_of(agent_a, view), "ended_at_ms"))
        start = min(_times(_steps_of(agent_b, view), "started_at_ms"))
        if end < start:
            return passed(f"{what}: end {number_text(end)} ms before start {number_text(start)} ms")
        over = between(end, start) + 1
        shown = f"expected end before {number_text(start)} ms, got {number_text(end)} ms"
        return failed(over, f"{what}: {shown} (over by {number_text(over)})")

    return judge


def agents_overlap(*, agent_a: Text, agent_b: Text) -> Judge:
    """The times from first start to last end of the two agents have more than an instant in common."""

    def judge(view: TraceView) -> Judgement:
        absent = _absent((agent_a, agent_b), view)
        if absent:
            return _without_steps(f"{agent_a}, {agent_b}", absent)
        start_a, end_a = _interval(_steps_of(agent_a, view))
        start_b, end_b = _interval(_steps_of(agent_b, view))
        what = f"{agent_a} [{_span(start_a, end_a)}], {agent_b} [{_span(start_b, end_b)}]"
        if start_a < end_b and start_b < end_a:
            return passed(f"{what}: overlap")
        pairs = ((start_b, end_a), (start_a, end_b))
        apart = max(distance(start, end) for start, end in pairs if start >= end)
        return failed(apart + 1, f"{what}: expected overlap, apart by {number_text(apart)} ms")

    return judge


def agent_wall_time_under(*, agent_id: Text, max_ms: PositiveNumber) -> Judge:
    """The steps of the agent took less than `max_ms` together, added up where they ran side by side."""
    what = f"{agent_id} wall time"

    def judge(view: TraceView) -> Judgement:
        steps = _steps_of(agent_id, view)
        if not steps:
            return _without_steps(what, [agent_id])
        starts, ends = _times(steps, "started_at_ms"), _times(steps, "ended_at_ms")
        total = _added(end - start for start, end in zip(starts, ends, strict=True))
        judgement = bounded(what, total, "lt", max_ms)
        if judgement.status == "pass":
            return judgement
        return judgement._replace(
            why=f"{what}: expected < {number_text(max_ms)} ms, got {number_text(total)} ms"
        )

    return judge


def ordered_agents(*, groups: Groups) -> Judge:
    """Every agent of a group ended before any of the next group started; within a group no order."""
    agents = tuple(dict.fromkeys(agent for group in groups for agent in group))

    def judge(view: TraceView) -> Judgement:
        absent = _absent(agents, view)
        if absent:
            return _without_steps("groups", absent)._replace(gap=float(len(absent)))
        over, why = 0.0, ""
        for number, (group, following) in enumerate(pairwise(groups), 2):
            end = max(time for agent in group for time in _times(_steps_of(agent, view), "ended_at_ms"))
            start = min(
                time for agent in following for time in _times(_steps_of(agent, view), "started_at_ms")
            )
            if end >= start:
                late = between(end, start) + 1
                over += late
                why = why or (
                    f"group {number}: expected to start after {number_text(end)} ms, "
                    f"started at {number_text(start)} ms (over by {number_text(late)})"
                )
        return failed(over, why) if over else passed(f"groups: {len(groups)} one after another")

    return judge


def all_tools_called(*, tool_names: Names) -> Judge:
    """Each of `tool_names` is the name of a `tool_call` step somewhere in the tree."""

    def judge(view: TraceView) -> Judgement:
        called = {name for run in view.tree for name in run.view.call_names}
        missing = [name for name in dict.fromkeys(tool_names) if name not in called]
        if not missing:
            return passed(f"tools in tree: all of {len(tool_names)} names")
        why = f"tools in tree: expected {len(tool_names)} names, missing: {', '.join(missing)}"
        return failed(len(missing), why)

    return judge


# Runs, steps and times


def _runs_of(agent_id: str, view: TraceView) -> list[TraceView]:
    return [run.view for run in view.tree if run.view.agent_id == agent_id]


def _steps_of(agent_id: str, view: TraceView) -> list[Step]:
    """The steps of the whole tree that say they are the agent's."""
    return view.steps_by_agent.get(agent_id, [])


def _absent(agents: tuple[str, ...], view: TraceView) -> list[str]:
    """The agents that have no step."""
    return [agent for agent in agents if agent not in view.steps_by_agent]


def _times(steps: list[Step], field: str) -> list[float]:
    times: list[Any] = [step.get(field) for step in steps]
    if not all(map(is_number, times)):
        raise MissingEvidenceError(f"{field} of every step of {steps[0]['agent_id']}")
    return times


def _interval(steps: list[Step]) -> tuple[float, float]:
    return min(_times(steps, "started_at_ms")), max(_times(steps, "ended_at_ms"))


def _added(numbers: Iterable[float]) -> float:
    """The sum, added one by one: what `sum` rounds depends on the version of Python.

    Infinite where a double meets an integer that is beyond all of them, or infinities cancel.
    """
    try:
        total = reduce(add, numbers)
    except OverflowError:
        return inf
    return inf if total != total else total


def _span(start: float, end: float) -> str:
    return f"{number_text(start)}, {number_text(end)}"


def _without_steps(what: str, absent: list[str]) -> Judgement:
    return failed(1, f"{what}: expected steps of {', '.join(absent)}, got none")


def _holds_value(root: Any, wanted: Any) -> bool:
    """Whether an equal value stands anywhere in a value."""
    pending = [root]
    while pending:
        value = pending.pop()
        if same_value(value, wanted):
            return True
        if type(value) is dict:
            pending.extend(value.values())
        elif type(value) is list:
            pending.extend(value)
    return False


def _distinct(names: list[str]) -> str:
    return ", ".join(dict.fromkeys(name for name in names if name)) or "none"


METHODS: Final = tuple(
    Method(factory.__name__, "trace_tree", factory, soft_spec=True)
    for factory in (
        agent_called,
        delegation_depth,
        agent_output_contains,
        cross_agent_data_flow,
        follows_transitions,
        aggregate_cost_under,
        aggregate_tokens_under,
        aggregate_latency_under,
        agent_ordered_before,
        agents_overlap,
        agent_wall_time_under,
        ordered_agents,
        all_tools_called,
    )
)

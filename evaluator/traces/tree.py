"""A run and the runs it delegates to, as a tree: who called whom, how deep, and what it came to in all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec import Struct

from evaluator.errors import SceneError, kind_of


class TraceNode(Struct, frozen=True, eq=False):
    """One trace of a tree.

    Attributes:
        trace: the trace itself, not a copy.
        depth: 0 for the root.
        parent: the node that delegates to this one; None for the root.
        step: the index of the parent's step that does; -1 for the root.
        place: the JSON path from the root, `$.steps[2].sub_trace`.
        children: the traces it delegates to, in step order.
    """

    trace: dict[str, Any]
    depth: int
    parent: TraceNode | None
    step: int
    place: str
    children: list[TraceNode]

    @property
    def trace_id(self) -> str | None:
        """The id of the trace; None where it has none."""
        return _text(self.trace.get("trace_id"))

    @property
    def agent_id(self) -> str | None:
        """Whose run it is; None where that is not said."""
        return _text(self.trace.get("agent_id"))

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The steps of this trace alone; whatever is no object is passed over."""
        return [step for step in _steps(self.trace) if type(step) is dict]

    def __repr__(self) -> str:
        return f"<TraceNode {self.agent_id or self.trace_id or 'trace'} at {self.place}>"


class FlatStep(NamedTuple):
    """A step of a tree: what it is, the trace it belongs to, and its JSON path from the root."""

    step: dict[str, Any]
    node: TraceNode
    place: str


class TraceTree:
    """The tree of a trace and its sub-traces. It only reads: a trace that is not well formed is walked as far
    as it goes, and `validate_trace` says what is wrong with it.

    Parameters:
        trace: a trace, or a scene with one under "trace".

    Raises:
        SceneError: it is no object.

    >>> rent = {"type": "tool_call", "name": "rent"}
    >>> cars = {"agent_id": "cars", "metadata": {"cost_usd": 0.02}, "steps": [rent]}
    >>> desk = {"agent_id": "desk", "steps": [{"type": "agent_call", "name": "cars", "sub_trace": cars}]}
    >>> tree = TraceTree(desk)
    >>> tree.agents, tree.depth, tree.tools, tree.aggregate_cost_usd, tree.aggregate_tokens
    (('desk', 'cars'), 1, ('rent',), 0.02, None)
    """

    def __init__(self, trace: object) -> None:
        if type(trace) is dict and type(trace.get("trace")) is dict:
            trace = trace["trace"]
        if type(trace) is not dict:
            raise SceneError(f"expected a trace, an object, got {kind_of(trace)}", "$")
        self.root = TraceNode(trace, 0, None, -1, "$", [])
        self._nodes: list[TraceNode] = []
        pending = [self.root]
        while pending:
            node = pending.pop()
            self._nodes.append(node)
            for index, step in enumerate(_steps(node.trace)):
                if type(step) is dict and step.get("type") == "agent_call":
                    sub = step.get("sub_trace")
                    if type(sub) is dict:
                        place = f"{node.place}.steps[{index}].sub_trace"
                        node.children.append(TraceNode(sub, node.depth + 1, node, index, place, []))
            pending.extend(reversed(node.children))

    def walk(self) -> Iterator[TraceNode]:
        """The traces depth first: the root, then each sub-trace in step order with those below it."""
        return iter(self._nodes)

    def __iter__(self) -> Iterator[TraceNode]:
        return self.walk()

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def depth(self) -> int:
        """How deep the deepest trace lies; 0 where nothing is delegated."""
        return max(node.depth for node in self._nodes)

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents that ran, each once, in the order of the walk."""
        return tuple(dict.fromkeys(node.agent_id for node in self._nodes if node.agent_id is not None))

    def find(self, agent_id: str) -> tuple[TraceNode, ...]:
        """The runs of an agent, in the order of the walk; empty when it did not run."""
        return tuple(node for node in self._nodes if node.agent_id == agent_id)

    @property
    def delegations(self) -> tuple[tuple[str, str], ...]:
        """Who called whom, once for each call, in the order of the walk; an agent without id is ""."""
        return tuple(
            (node.parent.agent_id or "", node.agent_id or "")
            for node in self._nodes
            if node.parent is not None
        )

    def flatten(self) -> tuple[FlatStep, ...]:
        """All steps in the order of the run: those of a sub-trace follow the step that calls it."""
        flat: list[FlatStep] = []
        pending: list[tuple[TraceNode, int]] = [(self.root, 0)]
        while pending:
            node, start = pending.pop()
            steps = _steps(node.trace)
            children = {child.step: child for child in node.children}
            for index in range(start, len(steps)):
                if type(steps[index]) is dict:
                    flat.append(FlatStep(steps[index], node, f"{node.place}.steps[{index}]"))
                if index in children:
                    pending += [(node, index + 1), (children[index], 0)]
                    break
        return tuple(flat)

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools called anywhere in the tree, each once, in the order of the run."""
        steps = (step for step, _, _ in self.flatten() if step.get("type") == "tool_call")
        return tuple(dict.fromkeys(step["name"] for step in steps if type(step.get("name")) is str))

    @property
    def aggregate_tokens(self) -> float | None:
        """The sum of the traces' own `total_tokens`; None where none has it: that is no measured zero."""
        return self._sum("total_tokens")

    @property
    def aggregate_cost_usd(self) -> float | None:
        """The sum of the traces' own `cost_usd`; None where no trace has it."""
        return self._sum("cost_usd")

    @property
    def aggregate_latency_ms(self) -> float | None:
        """The sum of the traces' own `latency_ms`, although a parent's may include its children's."""
        return self._sum("latency_ms")

    def _sum(self, metric: str) -> float | None:
        metadata = (node.trace.get("metadata") for node in self._nodes)
        values = [fields.get(metric) for fields in metadata if type(fields) is dict]
        numbers = [value for value in values if type(value) is int or type(value) is float]
        return sum(numbers) if numbers else None


def _steps(trace: dict[str, Any]) -> list[Any]:
    steps = trace.get("steps")
    return steps if type(steps) is list else []


def _text(value: Any) -> str | None:
    return value if type(value) is str else None

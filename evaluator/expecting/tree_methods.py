"""Assertions over the whole tree of a run with its delegated runs; and plugins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from evaluator.expecting.collecting import Collecting, listed


class TreeMethods(Collecting):
    """The root trace and the sub-traces of its `agent_call` steps, depth first."""

    def agent_called(self, agent_id: str, *, soft: bool = False) -> Self:
        """Some trace of the tree, the root included, is this agent's."""
        return self._add("agent_called", {"agent_id": agent_id}, soft=soft)

    def delegation_depth(self, max_depth: int, *, soft: bool = False) -> Self:
        """The deepest trace lies at most so deep; the root is at 0."""
        return self._add("delegation_depth", {"max_depth": max_depth}, soft=soft)

    def agent_output_contains(
        self, agent_id: str, value: str, *, case_sensitive: bool = False, soft: bool = False
    ) -> Self:
        """The JSON text of the agent's output contains the text."""
        arguments = {"agent_id": agent_id, "value": value, "case_sensitive": case_sensitive}
        return self._add("agent_output_contains", arguments, soft=soft)

    def cross_agent_data_flow(
        self, from_agent: str, to_agent: str, field: str, *, soft: bool = False
    ) -> Self:
        """The value of a field of one agent's output reaches the other's input."""
        arguments = {"from_agent": from_agent, "to_agent": to_agent, "field": field}
        return self._add("cross_agent_data_flow", arguments, soft=soft)

    def follows_transitions(self, transitions: Sequence[Sequence[str]], *, soft: bool = False) -> Self:
        """Each delegation (from, to) is one of the pairs listed."""
        arguments = {"transitions": [listed(pair) for pair in transitions]}
        return self._add("follows_transitions", arguments, soft=soft)

    def aggregate_cost_under(self, max_cost: float, *, soft: bool = False) -> Self:
        """The cost summed over the tree is at most this."""
        return self._add("aggregate_cost_under", {"max_cost": max_cost}, soft=soft)

    def aggregate_tokens_under(self, max_tokens: float, *, soft: bool = False) -> Self:
        """The tokens summed over the tree are at most this."""
        return self._add("aggregate_tokens_under", {"max_tokens": max_tokens}, soft=soft)

    def aggregate_latency_under(self, max_ms: float, *, soft: bool = False) -> Self:
        """The latencies summed over the tree, parents' and children's alike, are at most this."""
        return self._add("aggregate_latency_under", {"max_ms": max_ms}, soft=soft)

    def agent_ordered_before(self, agent_a: str, agent_b: str, *, soft: bool = False) -> Self:
        """The last step of one agent ends before the first of the other starts."""
        return self._add("agent_ordered_before", {"agent_a": agent_a, "agent_b": agent_b}, soft=soft)

    def agents_overlap(self, agent_a: str, agent_b: str, *, soft: bool = False) -> Self:
        """The times from first start to last end of the two agents overlap."""
        return self._add("agents_overlap", {"agent_a": agent_a, "agent_b": agent_b}, soft=soft)

    def agent_wall_time_under(self, agent_id: str, max_ms: float, *, soft: bool = False) -> Self:
        """The times of the agent's steps add up to less than this."""
        return self._add("agent_wall_time_under", {"agent_id": agent_id, "max_ms": max_ms}, soft=soft)

    def ordered_agents(self, groups: Sequence[Sequence[str]], *, soft: bool = False) -> Self:
        """Every group of agents ends before the next starts; within a group there is no order."""
        arguments = {"groups": [listed(group) for group in groups]}
        return self._add("ordered_agents", arguments, soft=soft)

    def all_tools_called(self, tool_names: Sequence[str], *, soft: bool = False) -> Self:
        """Each tool is called in some trace of the tree."""
        return self._add("all_tools_called", {"tool_names": listed(tool_names)}, soft=soft)


class PluginMethods(Collecting):
    """Assertions of the user's own."""

    def plugin(self, plugin_id: str, config: Mapping[str, Any] | None = None, *, soft: bool = False) -> Self:
        """What the plugin of this id says of the trace."""
        return self._add("plugin", {"plugin_id": plugin_id}, {"config": config}, soft=soft)

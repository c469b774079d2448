"""The assertions in words: what each says of a run, as a clause that can stand in a sentence.

`{tools}` stands for an argument. Arguments that a phrase does not use are told after it when they are given.
"""

from __future__ import annotations

from string import Formatter
from typing import Any, Final

from evaluator.expression import fields_of
from evaluator.json_write import json_text

PHRASES: Final[dict[str, str]] = {
    "schema.output_matches_schema": "the structured output conforms to the schema {schema}",
    "schema.output_field_matches_schema": "the output's {field} conforms to the schema {schema}",
    "schema.tool_args_match_schema": "the arguments of every {tool_name} conform to the schema {schema}",
    "schema.tool_result_matches_schema": "the result of every {tool_name} conforms to the schema {schema}",
    "constraint.cost_under": "the run costs at most {max_cost} dollars",
    "constraint.latency_under": "the run takes at most {max_ms} ms",
    "constraint.tokens_under": "the run uses at most {max_tokens} tokens",
    "constraint.tokens_between": "the run uses {min_tokens} to {max_tokens} tokens",
    "constraint.step_count": "the number of steps is {operator} {value}",
    "constraint.tool_call_count": "the number of tool calls is {operator} {value}",
    "constraint.constraint": "the run's {field} is {operator}",
    "trace.tools_called_in_order": "the steps have {tools} in this order",
    "trace.tools_called_exactly": "the steps have {tools} next to each other",
    "trace.required_tools": "the steps have every one of {tools}",
    "trace.forbidden_tools": "the steps have none of {tools}",
    "trace.no_tool_loops": "{tool} is not called again and again",
    "trace.no_duplicate_tools": "no two steps have the same name",
    "trace.distinct": "no call is made twice with the same arguments",
    "trace.grounded": "the {arg} of every {tool} call occurred before it",
    "behaviour.tool_cardinality": "{tool} is called the right number of times",
    "behaviour.trajectory": "the calls are {tools}",
    "behaviour.trajectory_partial_order": "the calls keep the order {order}",
    "behaviour.tool_called_before": "every {after} call follows a {before} call",
    "behaviour.no_tool_cycles": "no block of {period} calls is repeated back to back",
    "behaviour.max_tool_failure_streak": "at most {max_streak} calls fail in a row",
    "behaviour.tool_arg_satisfies": "the {arg} of every {tool} call is {operator} {value}",
    "effect.world_count": "the world has the right number of {resource}",
    "effect.world_unique": "the {resource} of the world are distinct by {by}",
    "effect.world_idempotent": "the {resource} of the world are not doubled",
    "effect.world_sum": "the sum of {field} over the {resource} of the world is at most {at_most}",
    "effect.world_matches": "the {field} of every one of the {resource} of the world is that of {rel}",
    "content.output_contains": "the message contains {value}",
    "content.output_not_contains": "the message does not contain {value}",
    "content.output_matches_regex": "the message matches {pattern}",
    "content.output_has_all_keywords": "the message contains all of {keywords}",
    "content.output_has_any_keyword": "the message contains any of {keywords}",
    "content.output_forbids": "the message contains none of {terms}",
    "content.content_contains": "the text of {target} contains {value}",
    "semantic.output_similar_to": "the message is similar to {reference}",
    "semantic.passes_judge": "a judge finds that the message satisfies {criteria}",
    "trace_tree.agent_called": "the agent {agent_id} is called",
    "trace_tree.delegation_depth": "delegations are at most {max_depth} deep",
    "trace_tree.agent_output_contains": "the output of {agent_id} contains {value}",
    "trace_tree.cross_agent_data_flow": "the {field} of {from_agent} reaches {to_agent}",
    "trace_tree.follows_transitions": "every delegation is one of {transitions}",
    "trace_tree.aggregate_cost_under": "the tree of runs costs at most {max_cost} dollars",
    "trace_tree.aggregate_tokens_under": "the tree of runs uses at most {max_tokens} tokens",
    "trace_tree.aggregate_latency_under": "the tree of runs takes at most {max_ms} ms",
    "trace_tree.agent_ordered_before": "{agent_a} ends before {agent_b} starts",
    "trace_tree.agents_overlap": "{agent_a} and {agent_b} overlap in time",
    "trace_tree.agent_wall_time_under": "{agent_id} takes less than {max_ms} ms",
    "trace_tree.ordered_agents": "the agents {groups} run group after group",
    "trace_tree.all_tools_called": "the tree of runs has calls of every one of {tool_names}",
    "plugin.plugin": "the plugin {plugin_id} is satisfied",
}
_WORDS: Final = {
    "eq": "equal to",
    "ne": "other than",
    "lt": "below",
    "lte": "at most",
    "gt": "above",
    "gte": "at least",
    "in": "one of",
    "not_in": "none of",
}


def phrase(check: dict[str, Any]) -> str:
    """What a well-formed assertion on the wire says: its phrase, then the arguments that are not in it."""
    template = PHRASES[check["op"]]
    used = {name for _, name, _, _ in Formatter().parse(template) if name}
    told = template.format_map({name: _told(name, check[name]) for name in used})
    declared = [field.name for field in fields_of(check["op"])]
    others = [f"{name} {json_text(check[name])}" for name in declared if name in check and name not in used]
    return f"{told} ({', '.join(others)})" if others else told


def _told(name: str, value: Any) -> str:
    return _WORDS.get(value, value) if name == "operator" else json_text(value)

"""The assertions in words: what each says of a run, as a clause that can stand in a sentence.

`{tools}` stands for an argument. What some assertions say depends on which arguments are given; these are put
together (`BY_ARGUMENTS`). Arguments that a phrase does not use are told after it when they are given.
"""

from __future__ import annotations

from collections.abc import Callable
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
    "trace.tools_called_in_order": "the steps have {tools} in this order",
    "trace.tools_called_exactly": "the steps have {tools} next to each other",
    "trace.required_tools": "the steps have every one of {tools}",
    "trace.forbidden_tools": "the steps have none of {tools}",
    "trace.no_duplicate_tools": "no two steps have the same name",
    "trace.grounded": "the {arg} of every {tool} call occurred before it",
    "behaviour.tool_called_before": "every {after} call follows a {before} call",
    "behaviour.max_tool_failure_streak": "at most {max_streak} calls fail in a row",
    "behaviour.tool_arg_satisfies": "the {arg} of every {tool} call is {operator} {value}",
    "effect.world_unique": "the {resource} of the world are distinct by {by}",
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


Fields = dict[str, Any]
Said = tuple[str, tuple[str, ...]]
"""A phrase, and the arguments that it tells."""


def phrase(check: Fields) -> str:
    """What a well-formed assertion on the wire says: its phrase, then the arguments that are not in it."""
    said = BY_ARGUMENTS.get(check["op"])
    if said is None:
        template = PHRASES[check["op"]]
        used = tuple(name for _, name, _, _ in Formatter().parse(template) if name)
        told = template.format_map({name: _told(name, check[name]) for name in used})
    else:
        told, used = said(check)
    declared = [field.name for field in fields_of(check["op"])]
    others = [_other(name, check[name]) for name in declared if name in check and name not in used]
    return f"{told} ({', '.join(others)})" if others else told


def _told(name: str, value: Any) -> str:
    if name == "operator":
        return str(_WORDS.get(value, value))
    if type(value) is list and value and all(type(member) is str for member in value):
        return ", ".join(map(json_text, value))
    return json_text(value)


def _other(name: str, value: Any) -> str:
    words = name.replace("_", " ")
    return words if value is True else f"{words} {json_text(value)}"


# What depends on the arguments


def _range(check: Fields) -> str:
    """`at most 2`, `3 to 5`, `exactly 1`."""
    if "equals" in check:
        return f"exactly {json_text(check['equals'])}"
    least, most = check.get("at_least"), check.get("at_most")
    if least is None or most is None:
        return f"at most {json_text(most)}" if least is None else f"at least {json_text(least)}"
    return f"exactly {json_text(most)}" if least == most else f"{json_text(least)} to {json_text(most)}"


def _times(number: str) -> str:
    return f"{number} time" if number.endswith(" 1") else f"{number} times"


def _cardinality(check: Fields) -> Said:
    each = f" for each value of its {json_text(check['per'])}" if "per" in check else ""
    tool = json_text(check["tool"])
    return f"{tool} is called {_times(_range(check))}{each}", ("tool", "per", "at_most", "at_least")


def _constraint(check: Fields) -> Said:
    if check["operator"] == "between":
        ends = f"{json_text(check['min'])} to {json_text(check['max'])}"
        return f"the run's {check['field']} is {ends}", ("field", "operator", "min", "max")
    value = json_text(check["value"])
    return f"the run's {check['field']} is {_WORDS[check['operator']]} {value}", (
        "field",
        "operator",
        "value",
    )


def _loops(check: Fields) -> Said:
    most = _times(f"at most {json_text(check.get('max_repetitions', 1))}")
    return f"{json_text(check['tool'])} occurs among the steps {most}", ("tool", "max_repetitions")


def _distinct(check: Fields) -> Said:
    tool = f" of {json_text(check['tool'])}" if "tool" in check else ""
    among = f" in {check['collection']}" if "collection" in check else ""
    return f"no call{tool}{among} is made twice with the same arguments", ("tool", "collection")


def _trajectory(check: Fields) -> Said:
    tools, mode = _told("tools", check["tools"]), check.get("mode", "strict")
    if not check["tools"]:
        told = "no tool has to be called" if mode == "superset" else "no tool is called"
    else:
        told = {
            "strict": f"the calls are exactly {tools}, in this order",
            "unordered": f"the calls are exactly {tools}, in any order",
            "subset": f"there are no calls but {tools}",
            "superset": f"the calls have {tools} among them",
        }[mode]
    return told, ("tools", "mode")


def _partial_order(check: Fields) -> Said:
    pairs = [
        f"every {json_text(after)} call follows a {json_text(before)} call"
        for before, after in check["order"]
    ]
    named = dict.fromkeys([name for pair in check["order"] for name in pair] + check.get("tools", []))
    called = f"every one of {_told('tools', list(named))} is called" if named else "no tool has to be called"
    return " and ".join([called, *pairs]), ("order", "tools")


def _cycles(check: Fields) -> Said:
    period, repeats = json_text(check["period"]), json_text(check.get("min_repeats", 2))
    block = "call" if check["period"] == 1 else f"block of {period} calls"
    return f"no {block} stands {repeats} times in a row", ("period", "min_repeats")


def _count(check: Fields) -> Said:
    where = f" where {_fields_text(check['where'])}" if check.get("where") else ""
    told = f"the world has {_range(check)} of {json_text(check['resource'])}{where}"
    return told, ("resource", "equals", "at_most", "at_least", "where")


def _idempotent(check: Fields) -> Said:
    key = json_text(check.get("key", "idempotency_key"))
    return f"the {json_text(check['resource'])} of the world have one record per {key}", ("resource", "key")


def _sum(check: Fields) -> Said:
    bound = check["at_most"]
    most = _related_text(bound) if type(bound) is dict else json_text(bound)
    of = f"of {json_text(check['field'])} over the {json_text(check['resource'])} of the world"
    return f"the sum {of} is at most {most}", ("field", "resource", "at_most")


def _matches(check: Fields) -> Said:
    of = f"the {json_text(check['field'])} of every one of the {json_text(check['resource'])} of the world"
    return f"{of} is {_related_text(check['rel'])}", ("field", "resource", "rel")


def _related_text(related: Fields) -> str:
    field, resource, on = (json_text(related[name]) for name in ("field", "resource", "on"))
    return f"the {field} of the {resource} with the same {on}"


def _fields_text(fields: Fields) -> str:
    return " and ".join(f"{json_text(name)} is {json_text(value)}" for name, value in fields.items())


BY_ARGUMENTS: Final[dict[str, Callable[[Fields], Said]]] = {
    "constraint.constraint": _constraint,
    "trace.no_tool_loops": _loops,
    "trace.distinct": _distinct,
    "behaviour.tool_cardinality": _cardinality,
    "behaviour.trajectory": _trajectory,
    "behaviour.trajectory_partial_order": _partial_order,
    "behaviour.no_tool_cycles": _cycles,
    "effect.world_count": _count,
    "effect.world_idempotent": _idempotent,
    "effect.world_sum": _sum,
    "effect.world_matches": _matches,
}

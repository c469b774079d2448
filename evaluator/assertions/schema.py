"""Schema: the structured output, a field of it, or a step's arguments and result conform to a JSON Schema.

Which schemas there are is in `json_schema.py`. An absent target fails, whatever the schema; null is a value.
There is no soft option. The gap is the number of violated leaves, 1 for a value that is absent.
"""

from __future__ import annotations

from typing import Any, Final

from evaluator.assertions.arguments import Text
from evaluator.assertions.json_schema import SchemaError, Violation, Violations, violations_of
from evaluator.assertions.json_value import at_dot_path
from evaluator.assertions.judgement import Judge, Judgement, SpecError, failed, passed
from evaluator.assertions.method import Method
from evaluator.assertions.view import TraceView
from evaluator.values import MISSING

Schema = dict[str, Any] | bool
"""A JSON Schema; `true` allows everything, `false` nothing."""


def output_matches_schema(*, schema: Schema) -> Judge:
    """`output.structured` conforms to `schema`."""
    return output_field_matches_schema(field="structured", schema=schema)


def output_field_matches_schema(*, field: Text, schema: Schema) -> Judge:
    """What stands at the dot path `field` of the output conforms to `schema`."""
    violations = _built(schema)
    keys = tuple(field.split("."))
    what = f"output.{field}"

    def judge(view: TraceView) -> Judgement:
        value = at_dot_path(view.output, keys)
        return _judged(what, [(what, value)], violations)

    return judge


def tool_args_match_schema(*, tool_name: Text, schema: Schema) -> Judge:
    """The arguments of every step named `tool_name`, of whatever type, conform to `schema`.

    It fails when there is no such step.
    """
    return _of_steps(tool_name, "args", schema)


def tool_result_matches_schema(*, tool_name: Text, schema: Schema) -> Judge:
    """The result of every step named `tool_name`, of whatever type, conforms to `schema`.

    It fails when there is no such step.
    """
    return _of_steps(tool_name, "result", schema)


def _of_steps(name: str, field: str, schema: Any) -> Judge:
    violations = _built(schema)
    absent = failed(1, f"{name}: expected a step, got none")

    def judge(view: TraceView) -> Judgement:
        found = [
            (f"{name}.{field} (step {number})", step.get(field, MISSING))
            for number, (step_name, step) in enumerate(zip(view.names, view.steps, strict=True), 1)
            if step_name == name
        ]
        return _judged(f"{name}.{field}", found, violations) if found else absent

    return judge


def _judged(what: str, targets: list[tuple[str, Any]], violations: Violations) -> Judgement:
    found: list[str] = []
    for name, value in targets:
        if value is MISSING:
            found.append(f"{name}: expected a value, got none")
        else:
            found.extend(_line(name, violation) for violation in violations(value))
    if not found:
        return passed(f"{what} conforms to the schema")
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return failed(len(found), f"{found[0]}{more}")


def _line(name: str, violation: Violation) -> str:
    steps = "".join(f"[{step}]" if type(step) is int else f".{step}" for step in violation.steps)
    return f"{name}{steps}: expected {violation.expected}, got {violation.found}"


def _built(schema: Any) -> Violations:
    try:
        return violations_of(schema)
    except SchemaError as error:
        raise SpecError(f"schema: {error}", "schema") from None


METHODS: Final = (
    Method("output_matches_schema", "schema", output_matches_schema, soft=False),
    Method("output_field_matches_schema", "schema", output_field_matches_schema, soft=False),
    Method("tool_args_match_schema", "schema", tool_args_match_schema, soft=False),
    Method("tool_result_matches_schema", "schema", tool_result_matches_schema, soft=False),
)

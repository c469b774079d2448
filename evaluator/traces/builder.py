"""Writing a trace step by step, in a program or a test."""

from __future__ import annotations

import hashlib
from typing import Any, Self

from evaluator.conversion import to_scene
from evaluator.errors import SceneError
from evaluator.json_write import canonical_json
from evaluator.traces.validation import validate_trace
from evaluator.values import MISSING


class TraceBuilder:
    """Builds a trace; every method but `build` returns the builder.

    Values are taken as they are when they are given, converted as `to_scene` does. A step with `error` or
    `status` makes the trace one of version 2, which carries evidence whether calls failed.

    Parameters:
        agent_id: whose run it is.
        trace_id: by default made from the content, and for a sub-trace from the id above and the step's
            number, so that building the same trace again gives the same ids.

    >>> trace = (
    ...     TraceBuilder("desk")
    ...     .set_input(message="Where is order 7?")
    ...     .add_tool_call("find_order", {"id": 7}, result={"status": "sent"})
    ...     .set_output(message="It was sent.")
    ...     .build()
    ... )
    >>> [step["name"] for step in trace["steps"]], trace["output"]
    (['find_order'], {'message': 'It was sent.'})
    """

    def __init__(self, agent_id: str | None = None, *, trace_id: str | None = None) -> None:
        self._agent_id = agent_id
        self._trace_id = trace_id
        self._fields: dict[str, Any] = {}
        self._steps: list[dict[str, Any]] = []
        self._subs: dict[int, TraceBuilder] = {}
        self._version = 1

    def set_input(self, value: object = MISSING, **fields: object) -> Self:
        """What the run was asked: any value, or the fields of an object."""
        self._fields["input"] = _value_or_fields("set_input", value, fields)
        return self

    def set_output(self, value: object = MISSING, **fields: object) -> Self:
        """What the run answered, an object: `message` is its text, `structured` any JSON, others are free."""
        self._fields["output"] = _value_or_fields("set_output", value, fields)
        return self

    def set_metadata(
        self,
        *,
        total_tokens: int | None = None,
        cost_usd: float | None = None,
        latency_ms: int | None = None,
        model: str | None = None,
        timestamp: object = None,
        **more: object,
    ) -> Self:
        """What the run cost and when it was; what is None is left as it was. Sub-traces count for themselves.

        Parameters:
            timestamp: ISO 8601 text, or a datetime.
        """
        named = {
            "total_tokens": total_tokens,
            "cost_usd": cost_usd,
            "latency_ms": latency_ms,
            "model": model,
            "timestamp": timestamp,
        }
        said = {name: value for name, value in (named | more).items() if value is not None}
        self._fields["metadata"] = self._fields.get("metadata", {}) | _converted(said, "metadata")
        return self

    def add_llm_call(
        self, name: str, args: object = MISSING, *, result: object = MISSING, **fields: object
    ) -> Self:
        """A call of a model; `name` says which one, or its role. `fields` as in `add_tool_call`."""
        return self._add("llm_call", name, args, result, fields)

    def add_tool_call(
        self, name: str, args: object = MISSING, *, result: object = MISSING, **fields: object
    ) -> Self:
        """A call of a tool.

        Parameters:
            args: the arguments, by custom an object.
            result: what it gave back.
            fields: other fields of the step: `error` (null when it succeeded), `status` ("ok" when it did),
                `started_at_ms`, `ended_at_ms`, `agent_id`, `agent_role`, `metadata`.
        """
        return self._add("tool_call", name, args, result, fields)

    def add_retrieval(
        self, name: str, args: object = MISSING, *, result: object = MISSING, **fields: object
    ) -> Self:
        """A look-up in an index of that name. `fields` as in `add_tool_call`."""
        return self._add("retrieval", name, args, result, fields)

    def add_agent_call(
        self,
        name: str,
        sub_trace: TraceBuilder | dict[str, Any],
        args: object = MISSING,
        *,
        result: object = MISSING,
        **fields: object,
    ) -> Self:
        """A run delegated to another agent.

        Parameters:
            sub_trace: that run, a trace or a builder, which is built when this one is. Its
                `parent_trace_id` is set.
        """
        if isinstance(sub_trace, TraceBuilder):
            self._subs[len(self._steps)] = sub_trace
        else:
            fields = fields | {"sub_trace": sub_trace}
        return self._add("agent_call", name, args, result, fields)

    def build(self) -> dict[str, Any]:
        """The trace, a new object each time.

        Raises `SceneError` with the JSON path of what is missing or wrong, as `validate_trace` does.
        """
        trace = self._built(None, [])
        validate_trace(trace)
        return trace

    def _built(self, default_id: str | None, above: list[TraceBuilder]) -> dict[str, Any]:
        if any(builder is self for builder in above):
            raise SceneError("a trace cannot delegate to itself; use a builder of its own for each run", "$")
        steps: list[dict[str, Any]] = to_scene(self._steps)
        rest: dict[str, Any] = to_scene(self._fields)
        trace: dict[str, Any] = {"schema_version": self._version, "trace_id": self._trace_id}
        if self._agent_id is not None:
            trace["agent_id"] = self._agent_id
        trace |= {name: rest[name] for name in ("input",) if name in rest} | {"steps": steps}
        trace |= {name: rest[name] for name in ("output", "metadata") if name in rest}
        if self._trace_id is None:
            trace["trace_id"] = content_id(trace) if default_id is None else default_id
        name = trace["trace_id"]
        for index, step in enumerate(steps):
            if index in self._subs:
                step["sub_trace"] = self._subs[index]._built(f"{name}/{index + 1}", [*above, self])
            if step["type"] == "agent_call" and type(step.get("sub_trace")) is dict:
                step["sub_trace"]["parent_trace_id"] = name
        return trace

    def _add(self, kind: str, name: str, args: object, result: object, fields: dict[str, object]) -> Self:
        given = {"args": args, "result": result} | fields
        said = {key: value for key, value in given.items() if value is not MISSING}
        step = {"type": kind, "name": name} | _converted(said, f"steps[{len(self._steps)}]")
        if "error" in step or "status" in step:
            self._version = 2
        self._steps.append(step)
        return self


def content_id(value: object) -> str:
    """An id made from a JSON value, the same for equal values."""
    return f"trace-{hashlib.sha256(canonical_json(value).encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _value_or_fields(method: str, value: object, fields: dict[str, object]) -> Any:
    if value is MISSING:
        return _converted(fields, method.removeprefix("set_"))
    if fields:
        raise TypeError(f"{method} takes a value or fields, not both")
    return _converted(value, method.removeprefix("set_"))


def _converted(value: object, name: str) -> Any:
    try:
        return to_scene(value)
    except SceneError as error:
        raise SceneError(error.problem, f"$.{name}{error.place.removeprefix('$')}") from None

"""What the attributes of a span say, in whichever convention it was recorded.

Known are the GenAI conventions of OpenTelemetry with their older names (`gen_ai.*`), OpenInference
(`openinference.span.kind`, `llm.*`, `tool.*`, `input.value`), MLflow (`mlflow.*`), OpenLLMetry
(`traceloop.*`, `gen_ai.prompt.0.*`), Langfuse (`langfuse.observation.*`) and Vercel's AI SDK (`ai.*`). Each
question is a table of names, newest first; the first attribute that a span has answers it.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import Struct, field

from evaluator.traces.messages import Call, Item, Said, arguments, read_message, result_value
from evaluator.values import MISSING

Kind = Literal["model", "tool", "retrieval", "agent", ""]


class SpanEvent(Struct):
    """Something noted within a span; `body` is what a log record holds besides attributes."""

    name: str
    attributes: dict[str, Any]
    body: Any = None


class Span(Struct, eq=False):
    """One recorded operation.

    Attributes:
        start_ns, end_ns: nanoseconds since 1970; None where not recorded.
        status: "ok", "error", or "unset", which a span that ended without an error has.
        place: names it in warnings.
    """

    id: str
    parent: str
    trace_id: str
    name: str
    start_ns: int | None
    end_ns: int | None
    attributes: dict[str, Any]
    place: str
    status: str = "unset"
    status_message: str = ""
    events: list[SpanEvent] = field(default_factory=list)


_KINDS: Final[dict[str, dict[str, Kind]]] = {
    "openinference.span.kind": {"llm": "model", "tool": "tool", "retriever": "retrieval", "agent": "agent"},
    "mlflow.spanType": {
        "llm": "model",
        "chat_model": "model",
        "tool": "tool",
        "retriever": "retrieval",
        "agent": "agent",
    },
    "gen_ai.operation.name": {
        "chat": "model",
        "text_completion": "model",
        "completion": "model",
        "generate_content": "model",
        "execute_tool": "tool",
        "invoke_agent": "agent",
        "retrieval": "retrieval",
    },
    "traceloop.span.kind": {"tool": "tool", "agent": "agent"},
    "langfuse.observation.type": {
        "generation": "model",
        "tool": "tool",
        "retriever": "retrieval",
        "agent": "agent",
    },
    "llm.request.type": {"chat": "model", "completion": "model"},
    "mcp.method.name": {"tools/call": "tool"},
}
_TELLING: Final[dict[str, Kind]] = {
    "gen_ai.tool.name": "tool",
    "gen_ai.tool.call.id": "tool",
    "ai.toolCall.name": "tool",
    "tool.name": "tool",
    "gen_ai.request.model": "model",
    "gen_ai.response.model": "model",
    "llm.model_name": "model",
}
_OTHER_OPERATIONS: Final = ("embeddings", "create_agent", "invoke_workflow")
_TOOL_NAME: Final = (
    "gen_ai.tool.name",
    "tool.name",
    "tool_call.function.name",
    "ai.toolCall.name",
    "mcp.tool.name",
    "traceloop.entity.name",
)
_TOOL_ARGS: Final = (
    "gen_ai.tool.call.arguments",
    "tool_call.function.arguments",
    "ai.toolCall.args",
    "mlflow.spanInputs",
    "input.value",
    "traceloop.entity.input",
    "langfuse.observation.input",
    "tool.arguments",
    "tool.parameters",
)
_TOOL_RESULT: Final = ("gen_ai.tool.call.result", "gen_ai.tool.message", "ai.toolCall.result", "tool.result")
_CALL_ID: Final = ("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id")
_AGENT_NAME: Final = ("gen_ai.agent.name", "agent.name", "traceloop.entity.name", "gen_ai.agent.id")
_MODEL: Final = (
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "mlflow.llm.model",
    "langfuse.observation.model.name",
    "ai.model.id",
)
_INPUT: Final = (
    "mlflow.spanInputs",
    "input.value",
    "traceloop.entity.input",
    "langfuse.observation.input",
    "ai.prompt",
)
_OUTPUT: Final = (
    "mlflow.spanOutputs",
    "output.value",
    "traceloop.entity.output",
    "langfuse.observation.output",
    "ai.response.text",
)
_QUERY: Final = ("gen_ai.retrieval.query.text", *_INPUT)
_DOCUMENTS: Final = ("gen_ai.retrieval.documents", *_OUTPUT)
_TOKENS_IN: Final = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "llm.usage.prompt_tokens",
    "ai.usage.promptTokens",
)
_TOKENS_OUT: Final = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "llm.usage.completion_tokens",
    "ai.usage.completionTokens",
)
_TOKENS: Final = ("gen_ai.usage.total_tokens", "llm.token_count.total", "llm.usage.total_tokens")
_COST: Final = ("gen_ai.usage.cost", "llm.cost.total", "gen_ai.usage.total_cost")
_ASKED: Final = ("gen_ai.input.messages", "gen_ai.prompt", "ai.prompt.messages")
_ANSWERED: Final = ("gen_ai.output.messages", "gen_ai.completion")
_ASKED_INDEXED: Final = ("llm.input_messages.", "gen_ai.prompt.")
_ANSWERED_INDEXED: Final = ("llm.output_messages.", "gen_ai.completion.")
_DEEPEST_NAME: Final = 20
_EVENT_ROLES: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


def kind_of_span(span: Span) -> Kind:
    """What a span is: a model's call, a tool's, a look-up, the run of an agent, or "", a mere container."""
    attributes = span.attributes
    for name, kinds in _KINDS.items():
        said = attributes.get(name)
        if type(said) is str and said.lower() in kinds:
            return kinds[said.lower()]
    if attributes.get("gen_ai.operation.name") in _OTHER_OPERATIONS:
        return ""
    if type(attributes.get("openinference.span.kind")) is str:
        return ""
    for name, kind in _TELLING.items():
        if name in attributes:
            return kind
    return "tool" if span.name.startswith("execute_tool ") else ""


def tool_call(span: Span) -> Call:
    """The call that a tool's span is."""
    name = _text(span, _TOOL_NAME) or span.name.removeprefix("execute_tool ").strip() or None
    args, result = _first(span, _TOOL_ARGS), _first(span, _TOOL_RESULT)
    if result is MISSING:
        result = _first(span, _OUTPUT)
    call = Call(
        _text(span, _CALL_ID),
        name,
        arguments(args),
        span.place,
        result if result is MISSING else result_value(result),
    )
    call.failed = failed(span)
    call.error = error_of(span) if call.failed else None
    return call


def is_protocol_span(span: Span) -> bool:
    """Whether a span is the transport of a tool call (Model Context Protocol), within the call's own span."""
    return "mcp.method.name" in span.attributes


def failed(span: Span) -> bool | None:
    """Whether the operation failed; None for one that was never seen to end."""
    if span.status == "error" or type(span.attributes.get("error.type")) is str:
        return True
    return False if span.end_ns is not None or span.status == "ok" else None


def error_of(span: Span) -> dict[str, Any]:
    """What is known of the error of a span: `type` and `message`."""
    thrown = next((event.attributes for event in span.events if event.name == "exception"), {})
    kind = span.attributes.get("error.type", thrown.get("exception.type"))
    message = span.status_message or thrown.get("exception.message")
    return {name: value for name, value in (("type", kind), ("message", message)) if value}


def model_name(span: Span) -> str | None:
    """The model that answered, or else the one that was asked."""
    return _text(span, _MODEL)


def agent_name(span: Span) -> str:
    """The name of the agent whose run a span is."""
    return _text(span, _AGENT_NAME) or span.name.removeprefix("invoke_agent ").strip() or "agent"


def query_of(span: Span) -> Any:
    """What a look-up asks for; MISSING when not recorded."""
    return arguments(_first(span, _QUERY))


def documents_of(span: Span) -> Any:
    """What a look-up found; MISSING when not recorded."""
    found = [_unwrapped(entry, "document") for entry in indexed(span.attributes, "retrieval.documents.")]
    if found:
        return found
    value = _first(span, _DOCUMENTS)
    return value if value is MISSING else result_value(value)


def input_of(span: Span) -> Any:
    """What a span was given; MISSING when not recorded."""
    value = _first(span, _INPUT)
    return value if value is MISSING else result_value(value)


def output_value(span: Span) -> Any:
    """What a span gave; MISSING when not recorded."""
    value = _first(span, _OUTPUT)
    return value if value is MISSING else result_value(value)


def tokens(span: Span) -> int | None:
    """The tokens that a model's call used; None when not recorded."""
    usage = _value(span.attributes.get("mlflow.chat.tokenUsage"))
    if type(usage) is dict and type(usage.get("total_tokens")) is int:
        return int(usage["total_tokens"])
    total = _number(span, _TOKENS)
    parts = [_number(span, names) for names in (_TOKENS_IN, _TOKENS_OUT)]
    known = [part for part in parts if part is not None]
    amount = total if total is not None else sum(known) if known else None
    return None if amount is None else int(amount)


def cost(span: Span) -> float | None:
    """What a model's call cost in US dollars; None when not recorded."""
    said = _value(span.attributes.get("mlflow.llm.cost"))
    if type(said) is dict and type(said.get("total_cost")) in (int, float):
        return float(said["total_cost"])
    return _number(span, _COST)


def asked(span: Span) -> list[Item]:
    """The messages a model or an agent was given, with those of earlier turns."""
    messages = [*_messages(span, _ASKED, _ASKED_INDEXED), *_event_messages(span)]
    return _items(messages or _chat(_first(span, _INPUT), ("messages", "input")), span, "input")


def answered(span: Span) -> list[Item]:
    """The messages a model or an agent gave back, with the tool that a model's own attributes name."""
    messages = [*_messages(span, _ANSWERED, _ANSWERED_INDEXED), *_choices(span)]
    if not messages:
        messages = _chat(_first(span, _OUTPUT), ("choices", "messages", "output", "generations"))
    items = _items(messages, span, "output")
    calls = result_value(span.attributes.get("ai.response.toolCalls"))
    if type(calls) is list and not any(type(item) is Call for item in items):
        items += _items(
            [{"role": "assistant", "tool_calls": [_camel(call) for call in calls]}], span, "output"
        )
    named = _text(span, ("gen_ai.tool.name",))
    if named is not None and not any(type(item) is Call for item in items):
        args = arguments(_first(span, ("gen_ai.tool.call.arguments",)))
        items.append(Call(_text(span, _CALL_ID), named, args, span.place))
    return items


def indexed(attributes: dict[str, Any], prefix: str) -> list[Any]:
    """The list that flattened attributes mean: `prefix` + `0.a.b` is `[{"a": {"b": …}}]`, by index."""
    root: dict[str, Any] = {}
    for name, value in attributes.items():
        if name.startswith(prefix):
            *path, last = name.removeprefix(prefix).split(".", _DEEPEST_NAME)
            node = root
            for step in path:
                child = node.get(step)
                if type(child) is not _Branch:
                    child = node[step] = _Branch()
                node = child
            if type(node.get(last)) is not _Branch:
                node[last] = value
    return _members(root)


class _Branch(dict[str, Any]):
    """A level of flattened attributes, as opposed to an object that is a value."""


def _listed(node: Any) -> Any:
    """A level as a list, where all its names are numbers, or else as an object."""
    if type(node) is not _Branch:
        return node
    if node and all(key.isdecimal() for key in node):
        return _members(node)
    return {key: _listed(value) for key, value in node.items()}


def _members(node: dict[str, Any]) -> list[Any]:
    numbers = sorted((key for key in node if key.isdecimal()), key=lambda key: (len(key.lstrip("0")), key))
    return [_listed(node[key]) for key in numbers]


# Messages


def _messages(span: Span, names: tuple[str, ...], prefixes: tuple[str, ...]) -> list[Any]:
    value = result_value(_first(span, names))
    if type(value) is list:
        return value
    if type(value) is dict:
        return _chat(value, ("choices", "messages")) or [value]
    for prefix in prefixes:
        found = [_message(entry) for entry in indexed(span.attributes, prefix)]
        if found:
            return found
    if type(value) is str:
        return [{"role": "user" if names is _ASKED else "assistant", "content": value}]
    return []


def _message(entry: Any) -> Any:
    """A message of flattened attributes in the shape of a chat message."""
    message = _unwrapped(entry, "message")
    if type(message) is not dict:
        return message
    if "contents" in message and "content" not in message:
        contents = message["contents"] if type(message["contents"]) is list else []
        message["content"] = [_unwrapped(content, "message_content") for content in contents]
    if type(message.get("tool_calls")) is list:
        message["tool_calls"] = [_unwrapped(call, "tool_call") for call in message["tool_calls"]]
    older = message.get("function_call_name")
    if older is not None:
        given = message.get("function_call_arguments_json")
        message["function_call"] = {"name": older} | ({} if given is None else {"arguments": given})
    return message


def _unwrapped(entry: Any, name: str) -> Any:
    return entry[name] if type(entry) is dict and type(entry.get(name)) is dict else entry


def _event_messages(span: Span) -> list[Any]:
    return [
        {"role": _EVENT_ROLES[event.name], "tool_call_id": fields.get("id")} | fields
        for event in span.events
        if event.name in _EVENT_ROLES
        for fields in [_event_fields(event)]
    ]


def _choices(span: Span) -> list[Any]:
    found = []
    for event in span.events:
        if event.name == "gen_ai.choice":
            fields = _event_fields(event)
            message = result_value(fields.get("message", fields))
            found.append({"role": "assistant"} | (message if type(message) is dict else {"content": message}))
            if type(message) is dict and "tool_calls" not in message and "tool_calls" in fields:
                found[-1]["tool_calls"] = fields["tool_calls"]
    return found


def _event_fields(event: SpanEvent) -> dict[str, Any]:
    """What an event says: its body (in some records an attribute) over its attributes."""
    body = result_value(event.attributes.get("gen_ai.event.content", event.body))
    fields = {name: result_value(value) for name, value in event.attributes.items()}
    return fields | (body if type(body) is dict else {} if body is None else {"content": body})


def _chat(value: Any, keys: tuple[str, ...]) -> list[Any]:
    """The messages in a value that looks like what a chat model is given or gives back."""
    value = _value(value)
    if type(value) is dict:
        if _is_message(value):
            return [value]
        found = [value[key] for key in keys if type(value.get(key)) is list]
        return next((messages for messages in map(_message_list, found) if messages), [])
    return _message_list(value)


def _message_list(value: Any) -> list[Any]:
    if type(value) is list and value and type(value[0]) is list:
        value = value[0]  # one list for each prompt
    if type(value) is not list or not all(type(entry) is dict for entry in value):
        return []
    messages = [_unwrapped(entry, "message") for entry in value]
    return messages if any(_is_message(message) for message in messages) else []


def _is_message(entry: dict[str, Any]) -> bool:
    return "role" in entry or "tool_calls" in entry or ("type" in entry and type(entry["type"]) is str)


def _items(messages: list[Any], span: Span, side: str) -> list[Item]:
    items: list[Item] = []
    for number, message in enumerate(messages):
        items += read_message(message, f"{span.place}, {side} message {number + 1}")
    return items


def _camel(call: Any) -> Any:
    if type(call) is not dict:
        return call
    named = {"id": call.get("toolCallId"), "name": call.get("toolName")}
    given = next((call[key] for key in ("input", "args") if key in call), MISSING)
    return named if given is MISSING else named | {"args": given}


# Values


def _first(span: Span, names: tuple[str, ...]) -> Any:
    for name in names:
        if span.attributes.get(name) is not None:
            return span.attributes[name]
    return MISSING


def _text(span: Span, names: tuple[str, ...]) -> str | None:
    for name in names:
        value = span.attributes.get(name)
        if type(value) is str and value.strip():
            return value
    return None


def _number(span: Span, names: tuple[str, ...]) -> float | None:
    for name in names:
        value = span.attributes.get(name)
        if type(value) is int or type(value) is float:
            return value
    return None


def _value(value: Any) -> Any:
    return MISSING if value is None or value is MISSING else result_value(value)


def last_text(items: list[Item], role: str) -> str | None:
    """The last text said in a role; None where there is none."""
    return next((item.text for item in reversed(items) if type(item) is Said and item.role == role), None)


def calls_in(items: list[Item]) -> list[Call]:
    """The calls among the items of messages."""
    return [item for item in items if type(item) is Call]

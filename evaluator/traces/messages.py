"""Chat messages as they are recorded: the calls in them, the results, and what was said.

One reader serves all shapes, since records mix them: OpenAI chat completions (`tool_calls`, the older
`function_call`, roles `tool` and `function`), items of OpenAI's Responses (`function_call`,
`function_call_output`, built-in tools `*_call`), Anthropic's content blocks (`tool_use`, `tool_result`), the
parts of OpenTelemetry's GenAI conventions (`tool_call`, `tool_call_response`), and LangChain's messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from evaluator.json_read import JsonTextError, read_json
from evaluator.json_write import json_text
from evaluator.values import MISSING


class Call(Struct):
    """A call of a tool as a message or a span has it.

    Attributes:
        name: None where it is not said. args: MISSING where there are none.
        result, failed: where the same item holds them, as built-in tools do; failed is None when not known.
    """

    id: str | None
    name: str | None
    args: Any
    place: str
    result: Any = MISSING
    failed: bool | None = None
    error: Any = None


class Result(Struct):
    """What a call gave back: the call's id or, in older records, only its name."""

    id: str | None
    name: str | None
    value: Any
    failed: bool | None
    place: str


class Said(Struct):
    """Text that was said, in the role of `system`, `user` or `assistant`."""

    role: str
    text: str
    place: str


Item = Call | Result | Said

_ROLES: Final = {
    "ai": "assistant",
    "model": "assistant",
    "human": "user",
    "developer": "system",
    "AIMessage": "assistant",
    "HumanMessage": "user",
}
_ASSISTANT: Final = "assistant"
_ANSWERS: Final = ("tool", "function")
_TEXT_BLOCKS: Final = ("text", "input_text", "output_text", "refusal")
_OWN_RESULT: Final = ("output", "results", "outputs", "result", "error")
_NOT_ARGUMENTS: Final = frozenset(
    {"type", "id", "call_id", "status", "role", "name", "arguments", *_OWN_RESULT}
)
_NO_CALLS: Final = frozenset({"function_call", "tool_call"})


def role_of(message: Any) -> str:
    """Whose message it is: `system`, `user`, `assistant`, `tool`, `function` or another; "" if not said."""
    if type(message) is not dict:
        return "user" if type(message) is str else ""
    role = message.get("role")
    if type(role) is not str:
        role = message.get("type")
        if type(role) is not str:
            return ""
        if is_item(message):
            return _ASSISTANT if not role.endswith("_output") else "tool"
    return _ROLES.get(role, role)


def is_item(message: Any) -> bool:
    """Whether it is an item of OpenAI's Responses that is no message: a call, its output, a thought."""
    if type(message) is not dict or "role" in message or type(message.get("type")) is not str:
        return False
    kind: str = message["type"]
    return kind.endswith(("_call", "_call_output")) or kind == "reasoning"


def is_part(message: Any) -> bool:
    """Whether a message is one item of several that make up an answer, as Responses has them."""
    return is_item(message) or (type(message) is dict and message.get("type") == "message")


def read_message(message: Any, place: str) -> list[Item]:
    """The calls, results and texts of one message, in their order; `place` names it in warnings."""
    if type(message) is str:
        return [Said("user", message, place)]
    if type(message) is not dict:
        return []
    if is_item(message):
        return _item(message, place)
    role = role_of(message)
    listed = _listed_calls(message, place)
    key = "parts" if "content" not in message and type(message.get("parts")) is list else "content"
    content = message.get(key)
    blocks = list(_blocks(content, role, f"{place}.{key}"))
    if role in _ANSWERS and not any(type(item) is Result for item in blocks):
        return [_answer(message, content, place), *(item for item in blocks if type(item) is Call), *listed]
    named = {call.id for call in listed if call.id is not None}
    blocks = [item for item in blocks if not (type(item) is Call and item.id in named)]
    if not blocks and type(message.get("refusal")) is str:
        blocks = [Said(role, message["refusal"], f"{place}.refusal")]
    return blocks + listed


def arguments(value: Any) -> Any:
    """Arguments as a value: text that is a JSON object is that object, everything else stays as it is."""
    read = _read(value) if type(value) is str else value
    return read if type(read) is dict else value


def result_value(value: Any) -> Any:
    """A result as a value: text blocks are their text, text that is a JSON object or array is that."""
    if type(value) is list and value and all(_block_text(block) is not None for block in value):
        value = "\n".join(_block_text(block) or "" for block in value)
    if type(value) is str:
        read = _read(value)
        return read if type(read) is dict or type(read) is list else value
    return value


def text_of(message: Any) -> str | None:
    """What a message says, its texts joined by line ends; None where it says nothing."""
    texts = [item.text for item in read_message(message, "") if type(item) is Said]
    return "\n".join(texts) if texts else None


def _read(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return read_json(text.encode("utf-8", "surrogatepass"))
    except JsonTextError:
        return text


# The shapes


def _item(item: dict[str, Any], place: str) -> list[Item]:
    kind: str = item["type"]
    name = _text(item.get("call_id"))
    if kind == "reasoning":
        return []
    if kind.endswith("_call_output"):
        failed = True if item.get("status") in ("failed", "incomplete") else None
        return [Result(name or _text(item.get("id")), None, result_value(item.get("output")), failed, place)]
    name = name or _text(item.get("id"))
    if kind == "function_call":
        return [Call(name, _text(item.get("name")), arguments(item.get("arguments", MISSING)), place)]
    if kind == "custom_tool_call":
        return [Call(name, _text(item.get("name")), item.get("input", MISSING), place)]
    called = _text(item.get("name")) or kind.removesuffix("_call")
    args = {key: value for key, value in item.items() if key not in _NOT_ARGUMENTS}
    given = arguments(item["arguments"]) if "arguments" in item else args or MISSING
    error = item.get("error")
    found = next((item[key] for key in _OWN_RESULT[:-1] if item.get(key) is not None), MISSING)
    result = MISSING if found is MISSING else result_value(found)
    failed = True if error is not None or item.get("status") == "failed" else None
    if failed is None and (result is not MISSING or item.get("status") == "completed"):
        failed = False
    return [Call(name, called, given, place, result, failed, error)]


def _listed_calls(message: dict[str, Any], place: str) -> list[Call]:
    """The calls in `tool_calls` and in the older `function_call`."""
    listed = message.get("tool_calls")
    entries = listed if type(listed) is list else [listed] if listed else []
    where = f"{place}.tool_calls"
    calls = [_listed_call(entry, f"{where}[{index}]") for index, entry in enumerate(entries)]
    older = message.get("function_call")
    if older:
        calls.append(_listed_call({"function": older}, f"{place}.function_call"))
    return calls


def _listed_call(entry: Any, place: str) -> Call:
    if type(entry) is not dict:
        return Call(None, None, entry, place)
    inner = next((entry[key] for key in ("function", "custom") if key in entry), entry)
    if type(inner) is not dict:
        return Call(_text(entry.get("id")), _text(inner), MISSING, place)
    args = next((inner[key] for key in ("arguments", "args", "input") if key in inner), MISSING)
    given = args if "custom" in entry and "function" not in entry else arguments(args)
    return Call(_text(entry.get("id")), _text(inner.get("name")), given, place)


def _answer(message: dict[str, Any], content: Any, place: str) -> Result:
    """A message of the role `tool` or `function`."""
    name = next((message[key] for key in ("tool_call_id", "call_id", "id") if message.get(key)), None)
    failed = {"error": True, "success": False}.get(str(message.get("status")))
    failed = True if message.get("is_error") is True else failed
    return Result(_text(name), _text(message.get("name")), result_value(content), failed, place)


def _blocks(content: Any, role: str, place: str) -> Iterator[Item]:
    """The items of a message's content: a text, or a list of texts and blocks."""
    if type(content) is str:
        if content and role not in _ANSWERS:
            yield Said(role, content, place)
        return
    if type(content) is dict:
        content = [content]
    if type(content) is not list:
        return
    for index, block in enumerate(content):
        where = f"{place}[{index}]"
        text = _block_text(block)
        if text is not None:
            if text and role not in _ANSWERS:
                yield Said(role, text, where)
        elif type(block) is dict:
            yield from _block(block, where)


def _block(block: dict[str, Any], place: str) -> Iterator[Item]:
    kind: str = block["type"] if type(block.get("type")) is str else ""
    if kind.endswith("tool_use"):
        yield Call(
            _text(block.get("id")), _text(block.get("name")), arguments(block.get("input", MISSING)), place
        )
    elif kind.endswith("tool_result"):
        failed = block.get("is_error") is True
        given = block.get("content")
        if type(given) is dict and type(given.get("type")) is str and given["type"].endswith("_error"):
            failed = True
        yield Result(_text(block.get("tool_use_id")), None, result_value(given), failed, place)
    elif kind in _NO_CALLS:
        args = next((block[key] for key in ("arguments", "args", "input") if key in block), MISSING)
        name = next((block[key] for key in ("id", "call_id") if block.get(key)), None)
        yield Call(_text(name), _text(block.get("name")), arguments(args), place)
    elif kind == "tool_call_response":
        given = next((block[key] for key in ("response", "result", "content") if key in block), None)
        yield Result(_text(block.get("id")), _text(block.get("name")), result_value(given), None, place)


def _block_text(block: Any) -> str | None:
    """The text of a content block that is text; None of another."""
    if type(block) is str:
        return block
    if type(block) is not dict or block.get("type", "text") not in _TEXT_BLOCKS:
        return None
    for key in ("text", "content", "refusal"):
        if type(block.get(key)) is str:
            return str(block[key])
    return None


def _text(value: Any) -> str | None:
    """An id or a name as text: one that is not blank, or the JSON text of another value; None for nothing."""
    if value is None or value is MISSING:
        return None
    text = value if type(value) is str else json_text(value, compact=True)
    return text if text.strip() else None

"""The agent tools over the Model Context Protocol, on standard input and output. Needs the package `mcp`.

The protocol is the SDK's; only the transport is written here, because what comes in is limited and read
strictly: a message has a greatest length, and numbers, keys and texts that readers of JSON take differently
are refused. A message that is refused is answered under its own id, so that no client waits in vain.
"""

from __future__ import annotations

import json
import re
import sys
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any, BinaryIO, Final, NamedTuple

import anyio
import mcp_types as types
from anyio import to_thread
from anyio.from_thread import BlockingPortal
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from evaluator.errors import nearest
from evaluator.json_read import JsonTextError, read_json
from evaluator.json_write import json_text
from evaluator.tools import HANDLERS, TOOL_DESCRIPTORS
from evaluator.values import has_lone_surrogate

INSTRUCTIONS: Final = (
    "Checks are predicates over JSON scenes. check_scene gives verdict, gap and reason, gap only the "
    "distance to passing, diagnose the reason of a failure. Nothing is stored and nothing is changed."
)

_KEPT = 4_096
_CHUNK = 65_536
_SECONDS_FOR_THE_LAST = 10
_ID = rb'(-?\d{1,18}|"(?:[^"\\]|\\.){0,200}")'
_PLAIN_MEMBER = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*'
_ID_FIRST = re.compile(rb"\s*\{\s*(?:" + _PLAIN_MEMBER + rb',\s*)*"id"\s*:\s*' + _ID + rb"\s*[,}]")
_ID_LAST = re.compile(rb'"id"\s*:\s*' + _ID + rb"\s*(?:,\s*" + _PLAIN_MEMBER + rb")*\}\s*\Z")


class Limits(NamedTuple):
    """How long, in bytes, a message may be, and how long, in characters, an answer."""

    message_bytes: int
    answer_characters: int


def serve(limits: Limits, version: str) -> None:
    """Serve until standard input ends and what came in is answered, or until nobody reads the answers."""
    anyio.run(_serve, limits, version)


def make_server(limits: Limits, version: str) -> Server[Any]:
    """The server, on no transport yet."""
    return Server(
        "evaluator",
        version=version,
        instructions=INSTRUCTIONS,
        on_list_tools=_list_tools,
        on_call_tool=partial(_call_tool, limits.answer_characters),
    )


async def _list_tools(
    context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    del context, params
    harmless = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    return types.ListToolsResult(
        tools=[types.Tool(**descriptor, annotations=harmless) for descriptor in TOOL_DESCRIPTORS["anthropic"]]
    )


async def _call_tool(
    answer_characters: int, context: ServerRequestContext[Any], params: types.CallToolRequestParams
) -> types.CallToolResult:
    del context
    handler = HANDLERS.get(params.name)
    if handler is None:
        meant = nearest(params.name, HANDLERS)
        advice = f'did you mean "{meant}"?' if meant else f"the tools are {', '.join(HANDLERS)}"
        raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:60]!r}; {advice}")
    arguments = dict(params.arguments or {})
    asked = arguments.get("max_chars")
    if asked is None or (type(asked) is int and asked > answer_characters):
        arguments["max_chars"] = answer_characters
    answer = await to_thread.run_sync(handler, arguments)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=json_text(answer))],
        structured_content=None if _holds_half_pairs(answer) else answer,
        is_error="error" in answer,
    )


def _holds_half_pairs(answer: dict[str, Any]) -> bool:
    """Whether a text was cut inside a surrogate pair; only JSON text, where it is escaped, can hold that."""
    return any(type(part) is str and has_lone_surrogate(part) for part in answer.values())


# The transport: one JSON-RPC message a line


class _Line(NamedTuple):
    """A line that came in: its length, its ends and, where it is not too long, the whole."""

    size: int
    head: bytes
    tail: bytes
    whole: bytes | None

    def request_id(self) -> int | str | None:
        """The id of the message, which clients write first or last; None when it is at neither end."""
        found = _ID_FIRST.match(self.head) or _ID_LAST.search(self.tail)
        if found is None:
            return None
        number_or_text: int | str = json.loads(found[1])
        return number_or_text


class _Refusal(NamedTuple):
    """A message that does not reach the server, and why."""

    request_id: int | str | None
    code: int
    problem: str

    def answer(self) -> SessionMessage:
        error = types.ErrorData(code=self.code, message=self.problem)
        return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=self.request_id, error=error))


class _Unanswered:
    """The requests that the server has taken and not yet answered."""

    def __init__(self) -> None:
        self._ids: set[int | str] = set()
        self._none_left = anyio.Event()

    def taken(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest):
            self._ids.add(message.id)

    def answered(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and message.id is not None:
            self._ids.discard(message.id)
            self._none_left.set()

    async def wait(self) -> None:
        """Wait until all are answered, but not for long: a cancelled request never is."""
        with anyio.move_on_after(_SECONDS_FOR_THE_LAST):
            while self._ids:
                self._none_left = anyio.Event()
                await self._none_left.wait()


async def _serve(limits: Limits, version: str) -> None:
    server = make_server(limits, version)
    unanswered = _Unanswered()
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_client, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    to_reader, lines = anyio.create_memory_object_stream[_Line](0)
    async with BlockingPortal() as portal, anyio.create_task_group() as tasks:
        Thread(target=_read, args=(limits.message_bytes, portal, to_reader), daemon=True).start()
        tasks.start_soon(_write, outgoing, unanswered, tasks.cancel_scope)
        tasks.start_soon(_understand, lines, limits.message_bytes, to_server, to_client.clone(), unanswered)
        await server.run(incoming, to_client, server.create_initialization_options())


def _read(limit: int, portal: BlockingPortal, to_reader: MemoryObjectSendStream[_Line]) -> None:
    """Hand over the lines of standard input, in a thread that nobody waits for: a read may never return."""
    # Not with sys.stdin's own buffer: that is shut at exit, when this thread may still be reading.
    server_has_ended = suppress(RuntimeError, anyio.BrokenResourceError)
    with open(sys.stdin.fileno(), "rb", closefd=False) as stream, server_has_ended:
        while line := _next_line(stream, limit):
            portal.call(to_reader.send, line)
        portal.call(to_reader.aclose)


async def _understand(
    lines: MemoryObjectReceiveStream[_Line],
    limit: int,
    to_server: MemoryObjectSendStream[SessionMessage | Exception],
    to_client: MemoryObjectSendStream[SessionMessage],
    unanswered: _Unanswered,
) -> None:
    async with to_server, to_client:
        async for line in lines:
            understood = _understood(line, limit)
            if isinstance(understood, _Refusal):
                await to_client.send(understood.answer())
            elif understood is not None:
                unanswered.taken(understood.message)
                await to_server.send(understood)
        await unanswered.wait()


def _next_line(stream: BinaryIO, limit: int) -> _Line | None:
    """The next line, or None at the end; of one that is too long, the middle is let go as it comes."""
    line = stream.readline(limit + 1)
    if not line:
        return None
    if len(line) <= limit or line.endswith(b"\n"):
        return _Line(len(line), line, line, line)
    size, tail = len(line), line[-_KEPT:]
    while not tail.endswith(b"\n") and (chunk := stream.readline(_CHUNK)):
        size += len(chunk)
        tail = (tail + chunk)[-_KEPT:]
    return _Line(size, line[:_KEPT], tail, None)


def _understood(line: _Line, limit: int) -> SessionMessage | _Refusal | None:
    """The message on a line; None for a blank line."""
    if line.whole is None:
        problem = (
            f"the message has {line.size:,} bytes; send a smaller scene or check, at most {limit:,} are read"
        )
        return _Refusal(line.request_id(), types.INVALID_REQUEST, problem)
    if not line.whole.strip():
        return None
    try:
        message = types.jsonrpc_message_adapter.validate_python(read_json(line.whole), by_name=False)
        return SessionMessage(message)
    except JsonTextError as error:
        place = f"column {error.column}: " if error.column else ""
        return _Refusal(line.request_id(), types.PARSE_ERROR, f"{place}{error.problem}")
    except ValidationError:
        return _Refusal(line.request_id(), types.INVALID_REQUEST, "this is no message of JSON-RPC 2.0")


async def _write(
    outgoing: MemoryObjectReceiveStream[SessionMessage],
    unanswered: _Unanswered,
    everything: anyio.CancelScope,
) -> None:
    async with outgoing:
        async for message in outgoing:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                await to_thread.run_sync(_put, text.encode() + b"\n")
            except OSError:  # the client has gone
                everything.cancel()
            unanswered.answered(message.message)


def _put(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()

"""`evaluator mcp` in a real process, spoken to by the SDK's client and, where that is too polite, by hand."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

anyio = pytest.importorskip("anyio")
mcp = pytest.importorskip("mcp")

from evaluator import TOOL_DESCRIPTORS, json_text, run_check  # noqa: E402 (after the packages it needs)
from evaluator.cli import main  # noqa: E402

ROOT = Path(__file__).parents[2]
CHEAP = {"op": "lte", "path": "total", "value": 500}
Session = Callable[[Any], Awaitable[None]]


def talk(session: Session, *options: str, mode: str = "auto") -> None:
    """Run a conversation of the SDK's client with a server of its own."""

    async def run() -> None:
        server = mcp.StdioServerParameters(
            command=sys.executable,
            args=["-m", "evaluator", "mcp", *options],
            env={"PYTHONPATH": str(ROOT)},
        )
        with anyio.fail_after(60):
            async with mcp.Client(mcp.stdio_client(server), mode=mode) as client:
                await session(client)

    anyio.run(run)


def answer_of(result: Any) -> Any:
    (content,) = result.content
    answer = json.loads(content.text)
    assert result.is_error is ("error" in answer)
    return answer


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_tools_are_listed_and_answer(mode: str) -> None:
    async def session(client: Any) -> None:
        tools = (await client.list_tools()).tools
        ours = TOOL_DESCRIPTORS["anthropic"]
        assert [(tool.name, tool.description, tool.input_schema) for tool in tools] == [
            (tool["name"], tool["description"], tool["input_schema"]) for tool in ours
        ]
        assert all(tool.annotations.read_only_hint for tool in tools)
        scene = {"total": 540, "é🙂": None}
        result = await client.call_tool("check_scene", {"check": CHEAP, "scene": scene})
        assert answer_of(result) == result.structured_content == run_check(scene, CHEAP).to_dict()
        assert answer_of(await client.call_tool("gap", {"check": CHEAP, "scene": scene})) == {"gap": 40}
        assert answer_of(await client.call_tool("diagnose", {"check": CHEAP})) == {
            "pass": False,
            "diagnostic": "total: expected number ≤ 500, got undefined",
        }
        impossible = {"check": {"op": "or", "of": []}, "scene": None}
        assert answer_of(await client.call_tool("gap", impossible)) == {"gap": "Infinity"}

    talk(session, mode=mode)


def test_mistakes_are_answers_that_say_what_to_change() -> None:
    async def session(client: Any) -> None:
        misspelt = {"op": "and", "of": [{"op": "ltee", "path": "total", "value": 1}]}
        answer = answer_of(await client.call_tool("gap", {"check": misspelt, "scene": {}}))
        assert (answer["fault"], answer["place"]) == ("check", "$.of[0].op")
        assert 'did you mean "lte"?' in answer["error"]
        answer = answer_of(await client.call_tool("gap", {"scene": {}}))
        assert answer["fault"] == "arguments"
        with pytest.raises(mcp.MCPError, match=r"there is no tool 'gaps'; did you mean \"gap\""):
            await client.call_tool("gaps", {})
        assert answer_of(await client.call_tool("gap", {"check": CHEAP, "scene": {"total": 1}})) == {"gap": 0}

    talk(session)


def test_messages_and_answers_are_limited_and_the_conversation_goes_on() -> None:
    async def session(client: Any) -> None:
        for size in (30_000, 500_000, 5_000_000):
            with pytest.raises(mcp.MCPError, match="bytes; send a smaller scene or check, at most 20,000"):
                await client.call_tool("gap", {"check": CHEAP, "scene": "x" * size})
        long = {"op": "eq", "path": "p" * 5_000, "value": 1}
        answer = answer_of(await client.call_tool("check_scene", {"check": long, "scene": {}}))
        assert len(json_text(answer)) <= 300
        assert answer["truncated"] is True
        own = {"check": long, "scene": {}, "max_chars": 150}
        assert len(json_text(answer_of(await client.call_tool("check_scene", own)))) <= 150
        more = own | {"max_chars": 4_000}
        assert len(json_text(answer_of(await client.call_tool("check_scene", more)))) <= 300

    talk(session, "--max-bytes", "20000", "--max-chars", "300")


def test_a_cut_inside_a_surrogate_pair_reaches_the_client() -> None:
    async def session(client: Any) -> None:
        scene = {"a": "x" * 55 + "🙂🙂"}
        check = {"op": "eq", "path": "a", "value": 1}
        result = await client.call_tool("check_scene", {"check": check, "scene": scene})
        assert answer_of(result)["why"] == run_check(scene, check).why
        assert result.structured_content is None

    talk(session)


def by_hand(*lines: bytes, options: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Send lines as they are, then close; the messages that came back, in their order."""
    hello = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    sent = b"".join(line + b"\n" for line in (json.dumps(hello).encode(), json.dumps(ready).encode(), *lines))
    ran = subprocess.run(
        [sys.executable, "-m", "evaluator", "mcp", *options],
        input=sent,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert b"Traceback" not in ran.stderr
    messages = [json.loads(line) for line in ran.stdout.splitlines()]
    assert messages[0]["result"]["serverInfo"]["name"] == "evaluator"
    return messages[1:]


def call(number: int | str, scene: str, *, id_last: bool = False) -> bytes:
    params = f'{{"name": "gap", "arguments": {{"check": {json.dumps(CHEAP)}, "scene": {scene}}}}}'
    name = f'"id": {json.dumps(number)}'
    members = ['"jsonrpc": "2.0"', name, '"method": "tools/call"', f'"params": {params}']
    if id_last:
        members = [members[2], members[3], members[0], members[1]]
    return ("{" + ", ".join(members) + "}").encode()


REFUSED = [
    ('{"total": NaN}', "$.params.arguments.scene.total: NaN is no JSON number"),
    ('{"total": 1, "total": 2}', 'the key "total" stands twice'),
    ('{"total": "\\ud83d"}', "half of a surrogate pair"),
    ('{"total": 1e400}', "too large for a double"),
    ("[" * 5_000 + "]" * 5_000, "nested too deeply"),
    ('{"total": ', "not JSON"),
    ('"' + "x" * 30_000 + '"', "at most 20,000 are read"),
    ('[{"id": 99}, {"id": 98}]' + " " * 30_000, "at most 20,000 are read"),
]


def test_a_message_that_is_refused_is_answered_under_its_own_id() -> None:
    lines = [b""]
    for index, (scene, _) in enumerate(REFUSED):
        lines.append(call(f"first-{index}", scene))
        lines.append(call(100 + index, scene, id_last=True))
    lines += [call(8, '{"total": 540}'), call(9, '{"total": 500}', id_last=True)]
    messages = {message["id"]: message for message in by_hand(*lines, options=("--max-bytes", "20000"))}
    for index, (_, said) in enumerate(REFUSED):
        for name in (f"first-{index}", 100 + index):
            assert said in messages[name]["error"]["message"]
    assert [json.loads(messages[name]["result"]["content"][0]["text"])["gap"] for name in (8, 9)] == [40, 0]
    assert len(messages) == 2 * len(REFUSED) + 2


def test_what_is_no_message_is_answered_without_an_id() -> None:
    wrong = (b"{", b"\xff\xfe", b"5", b'"id"', b"[1]", b'{"a": 1}')
    messages = by_hand(*wrong)
    assert len(messages) == len(wrong)
    for message in messages:
        assert message["id"] is None
        assert message["error"]["code"] in (-32700, -32600)


def test_wrong_options_are_refused() -> None:
    for options in (["--max-bytes", "5"], ["--max-chars", "5"]):
        assert main(["mcp", *options]) == 2
    with pytest.raises(SystemExit, match="2"):
        main(["mcp", "--max-bytes", "x"])


@pytest.mark.skipif(os.name != "posix", reason="interrupts are sent as POSIX signals")
def test_an_interrupt_ends_it_quietly() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "evaluator", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"{\n")
        process.stdin.flush()
        assert b"error" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert process.stderr.read() == b""

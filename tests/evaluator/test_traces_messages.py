"""Traces from chat messages: OpenAI's two forms and Anthropic's."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import SceneError, TraceImportWarning, trace_from_anthropic, trace_from_openai, validate_trace


def read(messages: object, **options: Any) -> tuple[dict[str, Any], list[str]]:
    warned: list[str] = []
    trace = trace_from_openai(messages, on_warning=warned.append, **options)
    validate_trace(trace)
    return trace, warned


def tools(trace: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for step in trace["steps"] if step["type"] == "tool_call"]


def call(name: str, arguments: object, call_id: object = None) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where are orders 7 and 8?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [call("find", '{"id": 7}', "a"), call("find", '{"id": 8}', "b")],
    },
    {"role": "tool", "tool_call_id": "b", "content": '{"status": "sent"}'},
    {"role": "tool", "tool_call_id": "a", "content": "not found"},
    {"role": "assistant", "content": "Shall I cancel 7?"},
    {"role": "user", "content": [{"type": "text", "text": "Yes"}]},
    {"role": "assistant", "content": "", "tool_calls": [call("cancel", '{"id": 7}', "c")]},
    {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "[1, 2]"}]},
    {"role": "assistant", "content": "Done."},
]


def test_parallel_calls_get_their_results_by_id() -> None:
    trace, warned = read(CHAT, trace_id="run-1", agent_id="desk")
    assert warned == []
    assert trace["schema_version"] == 1, "no word on failures, no evidence"
    assert trace["input"] == {"message": "Where are orders 7 and 8?", "system": "Be brief."}
    assert trace["output"] == {"message": "Done."}
    assert [(step["name"], step["args"], step["result"]) for step in tools(trace)] == [
        ("find", {"id": 7}, "not found"),
        ("find", {"id": 8}, {"status": "sent"}),
        ("cancel", {"id": 7}, [1, 2]),
    ]
    assert [step["user_said"] for step in tools(trace)] == ["Where are orders 7 and 8?"] * 2 + ["Yes"]
    kinds = [step["type"] for step in trace["steps"]]
    assert kinds == ["llm_call", "tool_call", "tool_call", "llm_call", "llm_call", "tool_call", "llm_call"]
    assert [step["name"] for step in read(CHAT, model_calls=False)[0]["steps"]] == ["find", "find", "cancel"]


def test_the_older_function_call_is_read() -> None:
    trace, warned = read(
        [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "3"},
        ]
    )
    assert [(step["name"], step["args"], step["result"]) for step in tools(trace)] == [("f", {}, "3")]
    assert warned == ["$: the assistant never says anything; the output counts as not recorded"]
    assert trace["output"] == {"recorded": False}, "no message, so that no check of the text passes"


def test_items_of_responses_are_read() -> None:
    body = {
        "model": "gpt-5",
        "usage": {"input_tokens": 3, "output_tokens": 4},
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "Find it"}]}],
        "output": [
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "id": "fc", "call_id": "c1", "name": "find", "arguments": '{"id":7}'},
            {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"query": "x"}},
            {"type": "custom_tool_call", "call_id": "c2", "name": "run", "input": "{raw"},
            {"type": "function_call_output", "call_id": "c1", "output": '{"ok":true}'},
            {"type": "custom_tool_call_output", "call_id": "c2", "output": "fine"},
            {
                "type": "mcp_call",
                "id": "m",
                "name": "fetch",
                "arguments": "{}",
                "output": None,
                "error": "no route",
            },
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Found."}]},
        ],
    }
    trace, _ = read(body)
    assert [(step["name"], step.get("args"), step.get("result")) for step in tools(trace)] == [
        ("find", {"id": 7}, {"ok": True}),
        ("web_search", {"action": {"query": "x"}}, None),
        ("run", "{raw", "fine"),
        ("fetch", {}, None),
    ]
    assert [(step.get("status"), step.get("error")) for step in tools(trace)] == [
        (None, None),
        ("ok", None),
        (None, None),
        ("error", "no route"),
    ]
    assert [step["type"] for step in trace["steps"]].count("llm_call") == 2, (
        "items that follow are one answer"
    )
    assert trace["metadata"] == {"total_tokens": 7, "model": "gpt-5"}
    assert trace["input"] == {"message": "Find it", "system": "Be brief."}
    assert trace["output"] == {"message": "Found."}


def test_a_response_to_a_request_is_read() -> None:
    answer = {"role": "assistant", "content": '{"n": 1}', "tool_calls": [call("f", "{}", "a")]}
    trace, _ = read({"choices": [{"index": 0, "message": answer}], "usage": {"total_tokens": 9}})
    assert trace["output"] == {"message": '{"n": 1}', "structured": {"n": 1}}
    assert trace["metadata"] == {"total_tokens": 9}
    assert [step["name"] for step in tools(trace)] == ["f"]


ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": "Pay"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Paying."},
            {"type": "tool_use", "id": "u1", "name": "pay", "input": {"amount": 5}},
            {"type": "tool_use", "id": "u2", "name": "mail", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "u2", "content": [{"type": "text", "text": "sent"}]},
            {"type": "tool_result", "tool_use_id": "u1", "is_error": True, "content": "card declined"},
            {"type": "text", "text": "And?"},
        ],
    },
    {"role": "assistant", "content": "It failed."},
]


def test_anthropics_results_say_which_calls_failed() -> None:
    trace = trace_from_anthropic(ANTHROPIC, system=[{"type": "text", "text": "Be kind."}])
    validate_trace(trace)
    assert trace["schema_version"] == 2
    assert [(s["name"], s["status"], s.get("error"), s["result"]) for s in tools(trace)] == [
        ("pay", "error", "card declined", "card declined"),
        ("mail", "ok", None, "sent"),
    ]
    assert trace["input"] == {"message": "Pay", "system": "Be kind."}
    assert trace["steps"][-1] == {
        "type": "llm_call",
        "name": "assistant",
        "result": {"message": "It failed."},
        "user_said": "And?",
    }
    same = trace_from_anthropic({"system": "Be kind.", "messages": ANTHROPIC})
    assert same == trace


def test_a_call_without_an_answer_has_no_evidence() -> None:
    with pytest.warns(TraceImportWarning, match="has no result; kept without one"):
        trace = trace_from_anthropic(ANTHROPIC[:2])
    assert trace["schema_version"] == 1
    assert all("status" not in step and "result" not in step for step in tools(trace))


def test_what_is_odd_is_kept_and_told_with_its_place() -> None:
    trace, warned = read(
        [
            {
                "role": "assistant",
                "content": "hm",
                "tool_calls": [
                    call("f", "{x", "a"),
                    call("g", 5, "a"),
                    {"function": {"arguments": ""}},
                    "odd",
                ],
            },
            {"role": "tool", "tool_call_id": "zz", "content": "one"},
            {"role": "tool", "tool_call_id": "a", "content": "two"},
            {"role": "tool", "tool_call_id": "a", "content": "three"},
            {"role": "tool", "tool_call_id": "a", "content": "four"},
            {"role": "tool", "content": "five"},
            {"role": "tool", "tool_call_id": "yy", "name": "late", "content": "six"},
            7,
        ]
    )
    assert [(s["name"], s.get("args"), s.get("result")) for s in tools(trace)] == [
        ("f", "{x", "two"),
        ("g", 5, "three"),
        ("unknown", "", "one"),
        ("unknown", "odd", "five"),
        ("late", None, "six"),
    ]
    assert tools(trace)[1]["metadata"]["more_results"] == ["four"]
    for told in (
        '$[0].tool_calls[0]: 2 calls have the id "a" (also $[0].tool_calls[1]); all are kept',
        '$[1]: a result that answers "zz", which no call has as its id; given to the call $[0].tool_calls[2]',
        '$[4]: another result of the call "a"; kept in the step\'s metadata',
        "$[5]: a result that has no id; given to the call $[0].tool_calls[3]",
        '$[6]: a result that answers "yy", which no call has as its id; kept as a call that was not recorded',
        "$[0].tool_calls[0]: the arguments are no JSON object; kept as text",
        '$[0].tool_calls[2]: a call without a name; kept as "unknown"',
        "$[7]: expected a message, an object with a role, got a number; passed over",
    ):
        assert told in warned


def test_ids_that_come_again_in_each_turn_are_told_apart() -> None:
    turns = []
    for number in range(3):
        turns.append({"role": "assistant", "tool_calls": [call("f", f'{{"n": {number}}}', "call_0")]})
        if number != 1:
            turns.append({"role": "tool", "tool_call_id": "call_0", "content": f"r{number}"})
    trace, _ = read([*turns, {"role": "assistant", "content": "end"}])
    assert [step.get("result") for step in tools(trace)] == ["r0", None, "r2"]


def test_messages_of_langchain_and_of_opentelemetry_are_read() -> None:
    chain = [
        {"type": "human", "content": "hi"},
        {
            "type": "ai",
            "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}],
            "tool_calls": [{"name": "f", "args": {"x": 1}, "id": "a", "type": "tool_call"}],
        },
        {"type": "tool", "tool_call_id": "a", "content": "r", "status": "error"},
        {"type": "ai", "content": "bye"},
    ]
    trace, _ = read(chain)
    assert [(s["args"], s["result"], s["status"]) for s in tools(trace)] == [({"x": 1}, "r", "error")]
    parts = [
        {"role": "user", "parts": [{"type": "text", "content": "hi"}]},
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "a", "name": "f", "arguments": {"x": 1}}],
        },
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "a", "result": "r"}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "bye"}]},
    ]
    trace, _ = read(parts)
    assert [(s["args"], s["result"]) for s in tools(trace)] == [({"x": 1}, "r")]
    assert trace["output"] == {"message": "bye"}


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ([], r"\$: no messages"),
        ({"a": 1}, r"\$: expected a list of messages, or an object with"),
        (5, "got a number"),
        ([{"role": "user", "content": {1, 2}}], r"\$\[0\]\.content: "),
    ],
)
def test_what_holds_no_messages_is_refused(source: object, told: str) -> None:
    with pytest.raises(SceneError, match=told):
        trace_from_openai(source)


# No call is lost

ids = st.sampled_from(["a", "b", "call_0", "", None, 7])
given_args = st.sampled_from(['{"x": 1}', "{}", "", "{broken", "text", "[1, 2]", None, 5]) | st.dictionaries(
    st.sampled_from("xy"), st.integers(0, 2), max_size=2
)
named = st.sampled_from(["f", "g", "h"])


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[Any], list[tuple[str, Any]]]:
    """Messages in mixed styles, and the calls in them. Every id that a result has is one of a call."""
    messages: list[Any] = []
    calls: list[tuple[str, Any]] = []
    used: list[Any] = []
    for _ in range(draw(st.integers(1, 5))):
        batch = draw(st.lists(st.tuples(named, given_args, ids), min_size=1, max_size=3))
        calls += [(name, args) for name, args, _ in batch]
        used += [call_id for _, _, call_id in batch if call_id not in (None, "")]
        style = draw(st.sampled_from(["chat", "blocks", "parts", "items", "legacy"]))
        if style == "chat":
            listed = [call(name, args, call_id) for name, args, call_id in batch]
            messages.append(
                {"role": "assistant", "content": draw(st.none() | st.text(max_size=3)), "tool_calls": listed}
            )
        elif style in ("blocks", "parts"):
            kind, key = ("tool_use", "input") if style == "blocks" else ("tool_call", "arguments")
            blocks = [{"type": kind, "id": i, "name": name, key: args} for name, args, i in batch]
            messages.append({"role": "assistant", ("content" if style == "blocks" else "parts"): blocks})
        elif style == "items":
            messages += [
                {"type": "function_call", "call_id": i, "name": name, "arguments": args}
                for name, args, i in batch
            ]
        else:
            messages += [
                {"role": "assistant", "function_call": {"name": name, "arguments": args}}
                for name, args, _ in batch
            ]
            used = [call_id for call_id in used if call_id not in {i for _, _, i in batch}]
        for call_id in draw(st.lists(st.sampled_from(used), max_size=2)) if used else []:
            shape = draw(st.sampled_from(["tool", "block", "item"]))
            if shape == "tool":
                messages.append({"role": "tool", "tool_call_id": call_id, "content": "r"})
            elif shape == "block":
                block = {"type": "tool_result", "tool_use_id": call_id, "content": "r"}
                messages.append({"role": "user", "content": [block]})
            else:
                messages.append({"type": "function_call_output", "call_id": call_id, "output": "r"})
        if draw(st.booleans()):
            messages.append(
                draw(st.sampled_from([{"role": "user", "content": "ok"}, None, 3, {}, {"role": 1}]))
            )
    return messages, calls


@given(conversations())
def test_every_call_comes_out_with_its_arguments(drawn: tuple[list[Any], list[tuple[str, Any]]]) -> None:
    messages, calls = drawn
    for reader in (trace_from_openai, trace_from_anthropic):
        trace = reader(messages, on_warning=lambda _: None)
        validate_trace(trace)
        found = [(step["name"], shown(step.get("args"))) for step in tools(trace)]
        assert Counter(found) == Counter((name, shown(args)) for name, args in calls)


def shown(args: Any) -> str:
    """Arguments as one text, whether they are an object or its JSON text."""
    if type(args) is str:
        try:
            read = json.loads(args)
        except ValueError:
            return args
        return json.dumps(read) if type(read) is dict else args
    return json.dumps(args)


KEYS = """role content tool_calls function_call type id name arguments input output parts text system messages
choices message usage model call_id tool_use_id is_error refusal function custom status error"""
hostile = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=3)
    | st.sampled_from(["{}", "[]", "tool_use", "ai"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS.split()), inner, max_size=5)
    ),
    max_leaves=25,
)


@given(hostile)
def test_hostile_messages_give_a_trace_or_one_sentence(value: Any) -> None:
    for reader in (trace_from_openai, trace_from_anthropic):
        refused = ""
        try:
            validate_trace(reader(value, on_warning=lambda _: None))
        except SceneError as error:
            refused = str(error)
        assert "\n" not in refused

"""Traces from spans: OTLP in its conventions, the SDK's own JSON, and MLflow."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import (
    SceneError,
    TraceImportWarning,
    TraceTree,
    traces_from_mlflow,
    traces_from_otlp,
    validate_trace,
)

SECOND = 10**9


def typed(value: Any) -> dict[str, Any]:
    """A value as OTLP writes it."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(member) for member in value]}}
    if isinstance(value, dict):
        return {
            "kvlistValue": {"values": [{"key": key, "value": typed(held)} for key, held in value.items()]}
        }
    return {"stringValue": value}


def span(
    span_id: str,
    name: str,
    parent: str = "",
    at: tuple[float, float] | None = (0, 1),
    status: Any = None,
    events: list[dict[str, Any]] | None = None,
    trace_id: str = "t1",
    **attributes: Any,
) -> dict[str, Any]:
    """A span of OTLP; in the names of attributes, `__` stands for a dot."""
    pairs = [{"key": key.replace("__", "."), "value": typed(value)} for key, value in attributes.items()]
    times = {}
    if at is not None:
        start, end = (str(1_700_000_000 * SECOND + int(second * SECOND)) for second in at)
        times = {"startTimeUnixNano": start, "endTimeUnixNano": end}
    return {
        "traceId": trace_id,
        "spanId": span_id,
        "parentSpanId": parent,
        "name": name,
        "attributes": pairs,
        "status": status or {},
        "events": events or [],
        **times,
    }


def request(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def read(*spans: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    warned: list[str] = []
    (trace,) = traces_from_otlp(request(*spans), on_warning=warned.append)
    validate_trace(trace)
    return trace, warned


def tools(trace: dict[str, Any]) -> list[dict[str, Any]]:
    return [flat.step for flat in TraceTree(trace).flatten() if flat.step["type"] == "tool_call"]


def said(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "content": content}


def asks(name: str, arguments: Any, call_id: str | None = None) -> dict[str, Any]:
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def answers(call_id: str | None, response: Any) -> dict[str, Any]:
    return {"type": "tool_call_response", "id": call_id, "response": response}


def test_genai_spans_become_steps_and_a_nested_agent_a_sub_trace() -> None:
    history = [said("user", text("Book a car")), said("assistant", asks("find", {"city": "Rome"}, "c1"))]
    trace, warned = read(
        span(
            "a",
            "invoke_agent desk",
            at=(0, 9),
            gen_ai__operation__name="invoke_agent",
            gen_ai__agent__name="desk",
        ),
        span(
            "m2",
            "chat gpt",
            "a",
            (5, 6),
            gen_ai__operation__name="chat",
            gen_ai__request__model="gpt",
            gen_ai__usage__prompt_tokens=7,
            gen_ai__input__messages=json.dumps([*history, said("tool", answers("c1", {"cars": 2}))]),
            gen_ai__output__messages=json.dumps([said("assistant", text("Two cars."))]),
        ),
        span(
            "m1",
            "chat gpt",
            "a",
            (1, 2),
            gen_ai__operation__name="chat",
            gen_ai__request__model="gpt",
            gen_ai__usage__input_tokens=3,
            gen_ai__usage__output_tokens=2,
            gen_ai__input__messages=history[:1],
            gen_ai__output__messages=json.dumps(history[1:]),
        ),
        span(
            "t",
            "execute_tool find",
            "a",
            (2, 3),
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name="find",
            gen_ai__tool__call__id="c1",
            gen_ai__tool__call__arguments='{"city": "Rome"}',
            gen_ai__tool__call__result='{"cars": 2}',
        ),
        span(
            "s",
            "invoke_agent cars",
            "a",
            (3, 5),
            gen_ai__operation__name="invoke_agent",
            gen_ai__agent__name="cars",
        ),
        span(
            "b",
            "execute_tool rent",
            "s",
            (4, 5),
            {"code": 2, "message": "no car"},
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name="rent",
            error__type="SoldOut",
        ),
    )
    assert [(step["type"], step["name"]) for step in trace["steps"]] == [
        ("llm_call", "gpt"),
        ("tool_call", "find"),
        ("agent_call", "cars"),
        ("llm_call", "gpt"),
    ]
    assert (trace["trace_id"], trace["agent_id"], trace["schema_version"]) == ("t1", "desk", 2)
    assert trace["steps"][1] == {
        "type": "tool_call",
        "name": "find",
        "args": {"city": "Rome"},
        "result": {"cars": 2},
        "status": "ok",
        "agent_id": "desk",
        "started_at_ms": 1_700_000_002_000,
        "ended_at_ms": 1_700_000_003_000,
        "metadata": {"span_id": "t", "call_id": "c1"},
        "user_said": "Book a car",
    }
    sub = trace["steps"][2]["sub_trace"]
    assert (sub["trace_id"], sub["parent_trace_id"], sub["agent_id"]) == ("t1/s", "t1", "cars")
    assert sub["steps"][0]["error"] == {"type": "SoldOut", "message": "no car"}
    assert sub["output"] == {"recorded": False}
    assert trace["input"] == {"message": "Book a car"}
    assert trace["output"] == {"message": "Two cars."}
    assert trace["metadata"] == {
        "total_tokens": 12,
        "latency_ms": 9000,
        "model": "gpt",
        "timestamp": "2023-11-14T22:13:20.000Z",
    }
    assert warned == [
        '$.resourceSpans[0].scopeSpans[0].spans[4] (span "invoke_agent cars"): no output is recorded'
    ]


def test_openinference_spans_are_read() -> None:
    calls = "llm.output_messages.0.message.tool_calls"
    trace, warned = read(
        span("c", "AgentExecutor", openinference__span__kind="CHAIN"),
        span(
            "a",
            "agent",
            "c",
            openinference__span__kind="AGENT",
            agent__name="desk",
            input__value="Where is 7?",
            output__value='{"output": "Sent."}',
        ),
        span(
            "m",
            "ChatOpenAI",
            "a",
            (1, 2),
            **{
                "openinference.span.kind": "LLM",
                "llm.model_name": "gpt",
                "llm.token_count.total": 11,
                "llm.cost.total": 0.25,
                f"{calls}.0.tool_call.function.name": "find",
                f"{calls}.0.tool_call.function.arguments": '{"id": 7}',
                f"{calls}.1.tool_call.function.name": "log",
                f"{calls}.1.tool_call.id": "c2",
                f"{calls}.10.tool_call.function.name": "last",
            },
        ),
        span(
            "t",
            "find",
            "a",
            (2, 3),
            openinference__span__kind="TOOL",
            tool__name="find",
            input__value="{'id': 7}",
        ),
        span(
            "r",
            "shelf",
            "a",
            (3, 4),
            **{
                "openinference.span.kind": "RETRIEVER",
                "input.value": "order 7",
                "retrieval.documents.1.document.content": "second",
                "retrieval.documents.0.document.content": "first",
                "retrieval.documents.0.document.score": 0.5,
            },
        ),
    )
    assert trace["agent_id"] == "desk", "the container around the one agent is left out"
    assert [step["name"] for step in trace["steps"]] == ["gpt", "log", "last", "find", "shelf"]
    assert trace["steps"][3]["args"] == {"id": 7}, "a text that is no JSON gives way to what the model said"
    assert trace["steps"][4]["args"] == "order 7"
    assert trace["steps"][4]["result"] == [{"content": "first", "score": 0.5}, {"content": "second"}]
    assert trace["input"] == {"message": "Where is 7?"}
    assert trace["output"]["structured"] == {"output": "Sent."}
    assert (trace["metadata"]["total_tokens"], trace["metadata"]["cost_usd"]) == (11, 0.25)
    place = '$.resourceSpans[0].scopeSpans[0].spans[2] (span "ChatOpenAI"), output message 1.tool_calls'
    assert warned == [
        f'{place}[1]: the call of "log" has no result; kept without one',
        f'{place}[2]: the call of "last" has no result; kept without one',
    ]


def test_events_of_spans_and_logs_are_read() -> None:
    choice = {
        "name": "gen_ai.choice",
        "attributes": [
            {
                "key": "gen_ai.event.content",
                "value": typed(
                    json.dumps(
                        {
                            "message": {
                                "tool_calls": [
                                    {"id": "c1", "function": {"name": "f", "arguments": '{"x": 1}'}}
                                ]
                            }
                        }
                    )
                ),
            }
        ],
    }
    log = {
        "traceId": "t1",
        "spanId": "m2",
        "eventName": "gen_ai.tool.message",
        "body": typed({"id": "c1", "content": "four"}),
    }
    warned: list[str] = []
    (trace,) = traces_from_otlp(
        [
            request(
                span("m1", "chat", at=(0, 1), events=[choice], gen_ai__operation__name="chat"),
                span("m2", "chat", at=(2, 3), gen_ai__operation__name="chat"),
            ),
            {"resourceLogs": [{"scopeLogs": [{"logRecords": [log]}]}]},
        ],
        on_warning=warned.append,
    )
    assert [(step["args"], step["result"]) for step in tools(trace)] == [({"x": 1}, "four")]


def test_older_and_other_names_are_read() -> None:
    trace, _ = read(
        span("w", "run", at=(0, 9), traceloop__span__kind="workflow", traceloop__entity__name="run"),
        span(
            "m",
            "openai.chat",
            "w",
            (1, 2),
            **{
                "llm.request.type": "chat",
                "gen_ai.request.model": "gpt",
                "llm.usage.total_tokens": 5,
                "gen_ai.prompt.0.role": "user",
                "gen_ai.prompt.0.content": "hi",
                "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.content": "bye",
                "gen_ai.completion.0.tool_calls.0.id": "c1",
                "gen_ai.completion.0.tool_calls.0.name": "f",
                "gen_ai.completion.0.tool_calls.0.arguments": "{}",
            },
        ),
        span("t", "g.tool", "w", (3, 4), traceloop__span__kind="tool", traceloop__entity__name="g"),
        span("v", "ai.toolCall", "w", (5, 6), ai__toolCall__name="h", ai__toolCall__args='{"y": 2}'),
        span(
            "l", "i", "w", (6, 7), langfuse__observation__type="tool", langfuse__observation__input='{"z": 3}'
        ),
        span(
            "n",
            "chat",
            "w",
            (7, 8),
            gen_ai__operation__name="chat",
            gen_ai__tool__name="j",
            gen_ai__tool__call__arguments='{"z": 4}',
        ),
    )
    assert [(step["name"], step.get("args")) for step in tools(trace)] == [
        ("f", {}),
        ("g", None),
        ("h", {"y": 2}),
        ("i", {"z": 3}),
        ("j", {"z": 4}),
    ]
    assert (trace["input"], trace["output"]) == ({"message": "hi"}, {"message": "bye"})


def test_one_call_seen_by_several_layers_is_one_call() -> None:
    trace, _ = read(
        span("o", "frame", at=(0, 9), gen_ai__operation__name="chat", gen_ai__usage__input_tokens=9),
        span("i", "inner", "o", (1, 2), gen_ai__operation__name="chat", gen_ai__usage__input_tokens=9),
        span(
            "t", "execute_tool f", "o", (3, 6), gen_ai__tool__name="f", gen_ai__operation__name="execute_tool"
        ),
        span(
            "p",
            "tools/call f",
            "t",
            (4, 5),
            mcp__method__name="tools/call",
            gen_ai__tool__name="f",
            gen_ai__tool__call__arguments="{}",
        ),
    )
    assert [step["name"] for step in trace["steps"]] == ["inner", "f"]
    assert tools(trace)[0]["args"] == {}
    assert trace["metadata"]["total_tokens"] == 9


def test_what_is_only_history_is_kept_once_and_told() -> None:
    history = [
        said("user", text("go")),
        said("assistant", asks("old", {"n": 1}, "h1")),
        said("tool", answers("h1", "r1")),
        said("tool", answers("h2", "r2")),
    ]
    spans = [
        span(
            f"m{number}",
            "chat",
            at=(number, number + 1),
            gen_ai__operation__name="chat",
            gen_ai__input__messages=json.dumps(history),
            gen_ai__output__messages=json.dumps([said("assistant", text("ok"))]),
        )
        for number in range(3)
    ]
    trace, warned = read(*spans)
    assert [(step["name"], step.get("result")) for step in trace["steps"]] == [
        ("old", "r1"),
        ("unknown", "r2"),
        ("chat", {"message": "ok"}),
        ("chat", {"message": "ok"}),
        ("chat", {"message": "ok"}),
    ]
    assert [told.partition(": ")[2] for told in warned] == [
        'the call of "old" stands only in messages; kept before the steps of the span',
        'the call of "unknown" stands only in messages; kept before the steps of the span',
        'a call without a name; kept as "unknown"',
    ]
    assert all('(span "chat"), input message' in told for told in warned)


def test_broken_trees_of_spans_keep_every_call() -> None:
    tool = {"gen_ai__operation__name": "execute_tool"}
    trace, warned = read(
        span("x", "execute_tool a", "gone", gen_ai__tool__name="a", **tool),
        span("y", "execute_tool b", "z", gen_ai__tool__name="b", **tool),
        span("z", "execute_tool c", "y", gen_ai__tool__name="c", **tool),
        span("x", "execute_tool d", at=None, gen_ai__tool__name="d", **tool),
        span("x", "execute_tool a", "gone", gen_ai__tool__name="a", **tool),
    )
    assert Counter(step["name"] for step in tools(trace)) == Counter("abcd")
    assert any('its span id "x" is also that of' in told and "both are kept" in told for told in warned)
    assert any("sent twice; counted once" in told for told in warned)
    assert any('its parent "gone" is not recorded' in told for told in warned)
    assert any("its parents form a circle" in told for told in warned)
    assert any('(span "execute_tool d"): the call of "d" has no result' in told for told in warned)
    assert "status" not in next(step for step in tools(trace) if step["name"] == "d"), (
        "it was not seen to end"
    )


def test_agents_nested_too_deeply_are_kept_in_the_deepest_that_is_allowed() -> None:
    agent, tool = {"gen_ai__operation__name": "invoke_agent"}, {"gen_ai__operation__name": "execute_tool"}
    spans = [
        span(f"a{n}", f"invoke_agent a{n}", f"a{n - 1}" if n else "", (n, 20), **agent) for n in range(8)
    ]
    spans += [span(f"t{n}", f"execute_tool f{n}", f"a{n}", (n + 0.5, n + 0.6), **tool) for n in range(8)]
    trace, warned = read(*spans)
    assert TraceTree(trace).depth == 4
    assert [step["name"] for step in tools(trace)] == [f"f{n}" for n in range(8)]
    assert [step["agent_id"] for step in tools(trace)][-1] == "a7", "whose step it was is still said"
    assert sum("lies more than 4 agents deep" in told for told in warned) == 3


def test_traces_of_other_programs_are_passed_over() -> None:
    warned: list[str] = []
    web = span("w", "GET /", trace_id="t0", http__method="GET")
    tool = span("x", "f", trace_id="t2", openinference__span__kind="TOOL")
    found = traces_from_otlp(request(web, tool), on_warning=warned.append)
    assert [trace["trace_id"] for trace in found] == ["t2"]
    assert 'trace "t0" holds no span of a model, tool or agent; passed over' in warned[0]


def test_json_lines_and_arrays_and_underscores_are_read(tmp_path: Path) -> None:
    one = request(span("x", "f", openinference__span__kind="TOOL"))
    two = request(span("y", "g", at=(2, 3), openinference__span__kind="TOOL"))
    older = {
        "resourceSpans": [
            {"instrumentationLibrarySpans": [{"spans": one["resourceSpans"][0]["scopeSpans"][0]["spans"]}]}
        ]
    }
    for number, content in enumerate(
        [
            f"{json.dumps(one)}\n\n{json.dumps(two)}\n",
            json.dumps([one, two], indent=2),
            f"{json.dumps(older)}\n{json.dumps([two])}",
        ]
    ):
        path = tmp_path / f"{number}.json"
        path.write_text(content, encoding="utf-8")
        with pytest.warns(TraceImportWarning, match="no output is recorded"):
            (trace,) = traces_from_otlp(path)
        assert [step["name"] for step in trace["steps"]] == ["f", "g"]


def test_the_sdks_own_json_is_read() -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    with tracer.start_as_current_span(
        "invoke_agent desk", attributes={"gen_ai.operation.name": "invoke_agent"}
    ):
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}
        with (
            pytest.raises(ValueError, match="no"),
            tracer.start_as_current_span("execute_tool f", attributes=attributes),
        ):
            raise ValueError("no")
    spans = [json.loads(found.to_json()) for found in exporter.get_finished_spans()]
    (trace,) = traces_from_otlp(spans, on_warning=lambda _: None)
    (step,) = tools(trace)
    assert (trace["agent_id"], step["name"], step["status"]) == ("desk", "f", "error")
    assert step["error"] == {"type": "ValueError", "message": "ValueError: no"}
    assert step["ended_at_ms"] >= step["started_at_ms"] > 1_600_000_000_000


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ([7], r"\$\[0\]: expected OTLP JSON"),
        ({"resourceSpans": {}}, r"\$\.resourceSpans: expected an array, got an object"),
        (
            {"resourceSpans": [{"scopeSpans": [{"spans": [3]}]}]},
            r"spans\[0\]: expected an object, got a number",
        ),
    ],
)
def test_what_is_no_otlp_is_refused(source: object, told: str) -> None:
    with pytest.raises(SceneError, match=told):
        traces_from_otlp(source)


# MLflow


def mlflow_span(name: str, kind: str, parent: str | None, start: int, **more: Any) -> dict[str, Any]:
    attributes = {"mlflow.spanType": json.dumps(kind)}
    attributes |= {f"mlflow.span{key}": json.dumps(more[key]) for key in ("Inputs", "Outputs") if key in more}
    return {
        "trace_id": "Uk2o",
        "span_id": f"{name}==",
        "parent_span_id": None if parent is None else f"{parent}==",
        "name": name,
        "start_time_unix_nano": start * SECOND,
        "end_time_unix_nano": (start + 1) * SECOND,
        "status": {"code": more.get("code", "STATUS_CODE_OK"), "message": more.get("told", "")},
        "attributes": attributes,
        "events": [],
    }


MLFLOW = {
    "info": {"trace_id": "tr-1", "state": "OK"},
    "data": {
        "spans": [
            mlflow_span("desk", "AGENT", None, 1, Inputs={"question": "Where?"}, Outputs="Here."),
            mlflow_span(
                "gpt",
                "CHAT_MODEL",
                "desk",
                1,
                Inputs={"messages": [{"role": "user", "content": "Where?"}]},
                Outputs={
                    "choices": [
                        {
                            "message": {
                                "role": "assistant",
                                "content": "hm",
                                "tool_calls": [
                                    {"id": "c1", "function": {"name": "find", "arguments": '{"id": 7}'}}
                                ],
                            }
                        }
                    ]
                },
            ),
            mlflow_span("find", "TOOL", "desk", 2, Inputs={"id": 7}, Outputs={"at": "dock"}),
            mlflow_span("shelf", "RETRIEVER", "desk", 3, Inputs={"q": "x"}, Outputs=[{"page_content": "p"}]),
            mlflow_span(
                "post", "TOOL", "desk", 4, Inputs="7", code="STATUS_CODE_ERROR", told="ValueError: no"
            ),
            mlflow_span("tidy", "CHAIN", "desk", 5),
        ]
    },
}


class Recorded:
    """Stands for MLflow's `Trace`."""

    def to_dict(self) -> dict[str, Any]:
        return MLFLOW


def test_mlflows_spans_become_steps() -> None:
    (trace,) = traces_from_mlflow(MLFLOW)
    validate_trace(trace)
    assert [(step["type"], step["name"]) for step in trace["steps"]] == [
        ("llm_call", "gpt"),
        ("tool_call", "find"),
        ("retrieval", "shelf"),
        ("tool_call", "post"),
    ]
    find, post = tools(trace)
    assert (find["args"], find["result"], find["status"]) == ({"id": 7}, {"at": "dock"}, "ok")
    assert find["metadata"] == {"span_id": "find==", "call_id": "c1"}
    assert (post["args"], post["status"], post["error"]) == ("7", "error", {"message": "ValueError: no"})
    assert (trace["trace_id"], trace["agent_id"]) == ("tr-1", "desk")
    assert (trace["input"], trace["output"]) == ({"question": "Where?"}, {"message": "Here."})


def test_all_that_mlflow_exports_is_read(tmp_path: Path) -> None:
    expected = traces_from_mlflow(MLFLOW)
    assert traces_from_mlflow(Recorded()) == traces_from_mlflow([Recorded()]) == expected
    assert traces_from_mlflow(json.loads(json.dumps([MLFLOW, MLFLOW]))) == expected * 2
    row = {"trace_id": "tr-1", "trace": json.dumps(MLFLOW), "spans": MLFLOW["data"]["spans"]}
    assert (
        traces_from_mlflow([row])
        == traces_from_mlflow({"trace_id": "tr-1", "spans": row["spans"]})
        == expected
    )
    path = tmp_path / "traces.jsonl"
    path.write_text("\n".join([json.dumps(row)] * 2), encoding="utf-8")
    assert traces_from_mlflow(path) == expected * 2
    import pandas as pd

    assert traces_from_mlflow(pd.DataFrame([row])) == expected
    with pytest.raises(
        SceneError, match=r'\$\[0\]: expected a trace of MLflow, an object with "info" and "data"'
    ):
        traces_from_mlflow([{"a": 1}])


def test_mlflow_2s_spans_are_read() -> None:
    old = {
        "name": "find",
        "context": {"trace_id": "0x1", "span_id": "0x2"},
        "parent_id": None,
        "start_time": 5 * SECOND,
        "end_time": 6 * SECOND,
        "status_code": "ERROR",
        "status_message": "no",
        "attributes": {"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": '{"id": 7}'},
        "events": [],
    }
    (trace,) = traces_from_mlflow(
        {"info": {"request_id": "r1"}, "data": {"spans": [old]}}, on_warning=lambda _: None
    )
    (step,) = tools(trace)
    assert (trace["trace_id"], step["args"], step["error"]) == ("r1", {"id": 7}, {"message": "no"})


# No call is lost


@st.composite
def forests(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Spans in any order, with missing, shared and circular parents, no two of them the same."""
    spans = []
    for number in range(draw(st.integers(1, 12))):
        kind = draw(
            st.sampled_from(["execute_tool", "execute_tool", "chat", "invoke_agent", "retrieval", "other"])
        )
        at = draw(st.none() | st.tuples(st.integers(0, 5), st.integers(0, 5)))
        attributes: dict[str, Any] = {"gen_ai.operation.name": kind}
        if kind == "execute_tool":
            attributes["gen_ai.tool.name"] = draw(st.sampled_from("fgh"))
            attributes["gen_ai.tool.call.arguments"] = json.dumps({"number": number})
        parent = draw(st.sampled_from(["", "s0", "s1", "s2", "s3", "s4", "gone"]))
        spans.append(span(f"s{draw(st.integers(0, 9))}", f"{kind} {number}", parent, at, **attributes))
    return spans


@given(forests())
def test_every_tool_span_comes_out(spans: list[dict[str, Any]]) -> None:
    expected = Counter()
    for fields in spans:
        attributes = {pair["key"]: pair["value"]["stringValue"] for pair in fields["attributes"]}
        if attributes["gen_ai.operation.name"] == "execute_tool":
            expected[attributes["gen_ai.tool.name"], attributes["gen_ai.tool.call.arguments"]] += 1
    found: Counter[tuple[str, str]] = Counter()
    for trace in traces_from_otlp(request(*spans), on_warning=lambda _: None):
        validate_trace(trace)
        found.update((step["name"], json.dumps(step["args"])) for step in tools(trace))
    assert found == expected


@given(st.data())
def test_calls_in_messages_and_spans_are_counted_once(data: st.DataObject) -> None:
    """Some calls have a span, some have ids, and every model is told the whole history again."""
    with_ids = data.draw(st.booleans())
    history: list[dict[str, Any]] = [said("user", text("go"))]
    spans: list[dict[str, Any]] = []
    expected: Counter[tuple[str, str]] = Counter()
    for turn in range(data.draw(st.integers(1, 4))):
        calls = data.draw(st.lists(st.tuples(st.sampled_from("fg"), st.integers(0, 1)), max_size=3))
        parts = [
            asks(name, {"n": n}, f"c{turn}{at}" if with_ids else None) for at, (name, n) in enumerate(calls)
        ]
        answer = said("assistant", text("hm"), *parts)
        spans.append(
            span(
                f"m{turn}",
                "chat",
                at=(10 * turn, 10 * turn + 1),
                gen_ai__operation__name="chat",
                gen_ai__input__messages=json.dumps(history),
                gen_ai__output__messages=json.dumps([answer]),
            )
        )
        for at, part in enumerate(parts):
            expected[part["name"], json.dumps(part["arguments"])] += 1
            if data.draw(st.booleans()):
                extra = (
                    {"gen_ai__tool__call__id": part["id"]} if with_ids and data.draw(st.booleans()) else {}
                )
                spans.append(
                    span(
                        f"t{turn}{at}",
                        f"execute_tool {part['name']}",
                        at=(10 * turn + 2 + at, 10 * turn + 3 + at),
                        gen_ai__operation__name="execute_tool",
                        gen_ai__tool__call__arguments=json.dumps(part["arguments"]),
                        **extra,
                    )
                )
        history += [answer, *(said("tool", answers(part["id"], f"r{turn}")) for part in parts)]
    trace, _ = read(*data.draw(st.permutations(spans)))
    assert Counter((step["name"], json.dumps(step["args"])) for step in tools(trace)) == expected


NAMES = """traceId spanId parentSpanId name startTimeUnixNano endTimeUnixNano status code message events
attributes key value stringValue arrayValue kvlistValue values resourceSpans scopeSpans spans
context trace_id span_id info data trace gen_ai.operation.name gen_ai.tool.name
gen_ai.input.messages gen_ai.output.messages openinference.span.kind input.value output.value
mlflow.spanType mlflow.spanOutputs llm.output_messages.0.message.role gen_ai.prompt.0.content
llm.output_messages.0.message.tool_calls.0.tool_call.function.name mlflow.chat.tokenUsage error.type"""
leaves = st.sampled_from(
    [
        "a",
        "b",
        "",
        "chat",
        "execute_tool",
        "AGENT",
        "TOOL",
        "LLM",
        '"TOOL"',
        "{}",
        "[]",
        '[{"role": "ai"}]',
        "17",
        "2",
    ]
)
hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=2) | leaves,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES.split()), inner, max_size=7)
    ),
    max_leaves=30,
)


@given(hostile, st.lists(st.dictionaries(st.sampled_from(NAMES.split()), hostile), max_size=3))
def test_hostile_spans_give_traces_or_one_sentence(value: Any, spans: list[dict[str, Any]]) -> None:
    named = [{"traceId": "t", "spanId": str(at)} | fields for at, fields in enumerate(spans)]
    for source in ([value], named, [{"data": {"spans": named}}]):
        for reader in (traces_from_otlp, traces_from_mlflow):
            refused = ""
            try:
                for trace in reader(source, on_warning=lambda _: None):
                    validate_trace(trace)
            except SceneError as error:
                refused = str(error)
            assert "\n" not in refused

"""Scene-otel traces: which steps, scenes and calls are read, and what is said of broken values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from otel_fixtures import REAL, call, event, span, ticket_run, write_spans

from evaluator import SceneError, compile_check, read_scene_otel, read_traces


def seen(path: Path) -> list[tuple[list[str | None], list[str], dict[str, Any]]]:
    return [([c.name for c in step.calls], list(step.changed), step.scene) for step in read_scene_otel(path)]


def test_a_step_is_a_commit_with_the_calls_before_it(tmp_path: Path) -> None:
    trace = write_spans(
        tmp_path / "t.jsonl",
        span(
            [
                event("a", 1, 1, commit="c1"),
                event("b", [2], 2, commit="c1"),
                event("plan", {"tool": "mail", "to": "x"}, 3, kind="intent", commit="c2"),
                event("a", 3, 3, kind="intent", commit="c3"),
                event("b", None, 4, commit="c4"),
                event("b", 5, 4, commit="c5"),
                event("b", 5, 5, commit="c5"),
                call("last", None, 6),
            ]
        ),
    )
    assert seen(trace) == [
        ([], ["a", "b"], {"a": 1, "b": [2]}),
        (["mail", None], ["b"], {"a": 1, "b": None}),
        ([], ["b"], {"a": 1, "b": 5}),
        ([], ["b"], {"a": 1, "b": 5}),
        (["last"], [], {"a": 1, "b": 5}),
    ]
    steps = list(read_scene_otel(trace))
    assert [(step.commit, step.time_ns) for step in steps] == [
        ("c1", 2),
        ("c4", 4),
        ("c5", 4),
        ("c5", 5),
        ("", 6),
    ]
    assert [(c.name, c.args, c.key, c.value) for c in steps[1].calls] == [
        ("mail", {"to": "x"}, "plan", {"tool": "mail", "to": "x"}),
        (None, None, "a", 3),
    ]


def test_without_hashes_a_step_is_what_is_written_at_one_time(tmp_path: Path) -> None:
    """Two steps at the very same time are told apart by the key, or the call, that begins again."""
    trace = write_spans(
        tmp_path / "t.jsonl",
        span([call("one", {}, 1), event("d", 1, 1), event("s", 1, 1), call("two", {}, 1), event("d", 2, 1)]),
    )
    assert seen(trace) == [(["one"], ["d", "s"], {"d": 1, "s": 1}), (["two"], ["d"], {"d": 2, "s": 1})]


def test_spans_of_a_trace_are_merged_by_time_and_traces_kept_apart(tmp_path: Path) -> None:
    trace = write_spans(
        tmp_path / "t.jsonl",
        span([event("a", 1, 1), event("a", 3, 30)], name="short"),
        span([event("a", 9, 2)], trace="t2", name="other", bench_success=False),
        span(
            [event("b", 2, 20), {"name": "exception", "time_ns": 3}, event("b", 4, 40), event("b", 5, 50)],
            name="long",
        ),
        span([], name="silent"),
    )
    first, second = read_traces(trace)
    assert [step.scene for step in first.steps] == [
        {"a": 1},
        {"a": 1, "b": 2},
        {"a": 3, "b": 2},
        {"a": 3, "b": 4},
        {"a": 3, "b": 5},
    ]
    assert [step.scene for step in second.steps] == [{"a": 9}]
    assert (first.trace_id, first.name, first.success) == ("t1", "long", None)
    assert (second.trace_id, second.name, second.success) == ("t2", "other", False)
    assert [step.trace_id for step in read_scene_otel(trace)] == ["t1"] * 5 + ["t2"]


BROKEN = [
    ('[{"id": 1}, {"id": …'.encode(), "the value was cut after 19 bytes"),
    (b'{"a": 1', "the value is not JSON"),
    (b"NaN", "NaN is no JSON number"),
    (b'{"a": 1, "a": 2}', 'the key "a" stands twice'),
    (b"", "the value is not JSON"),
]


@pytest.mark.parametrize(("text", "said"), BROKEN)
def test_a_cut_or_broken_value_is_named_and_never_guessed(tmp_path: Path, text: bytes, said: str) -> None:
    trace = write_spans(
        tmp_path / "t.jsonl",
        span([event("a", 1, 1), event("list", [7], 1), event("list", text, 2), event("list", [8], 3)]),
    )
    before, broken, after = read_scene_otel(trace)
    assert before.broken == {} == after.broken
    assert after.scene["list"] == [8]
    (key,) = broken.broken
    assert key == "list"
    assert said in broken.broken["list"].problem
    assert broken.broken["list"].place == f'{trace}:1: $.events[2].attributes["scene.value"]'
    assert compile_check({"op": "eq", "path": "a", "value": 1})(broken.scene).passed
    for check in (
        {"op": "exists", "path": "list[0]"},
        {"op": "missing", "path": "list.x"},
        {"op": "find", "collection": "list", "where": {"op": "eq", "path": "", "value": 7}},
        {"op": "neq", "path": "list", "value": []},
    ):
        with pytest.raises(SceneError):
            compile_check(check)(broken.scene)


GOOD = event("a", 1, 1)


def changed(**attributes: Any) -> dict[str, Any]:
    kept = {key.replace("__", "."): value for key, value in attributes.items()}
    return {**GOOD, "attributes": {**GOOD["attributes"], **kept}}


BAD = [
    (b"{", "t.jsonl:1:2: not JSON"),
    (b"\xff", "t.jsonl:1: not UTF-8"),
    (b"[1]", 't.jsonl:1: expected a span, an object with "trace_id", "span_id" and "events", got an array'),
    (b'{"scene": 1, "id": 2}', 'got one with "scene", "id"'),
    (span([]) | {"trace_id": 5}, "t.jsonl:1: expected a span"),
    (span([]) | {"events": {}}, "t.jsonl:1: $.events: expected an array, got an object"),
    (span([]) | {"attributes": []}, "t.jsonl:1: $.attributes: expected an object, got an array"),
    (span([]) | {"events": [3]}, "t.jsonl:1: $.events[0]: expected an event, an object, got a number"),
    (span([{"name": "scene.set", "time_ns": 1}]), "$.events[0].attributes: expected an object, got nothing"),
    (span([{**GOOD, "time_ns": 1.5}]), "$.events[0].time_ns: expected a whole number, got a number"),
    (span([{**GOOD, "time_ns": "1"}]), "$.events[0].time_ns: expected a whole number, got a string"),
    (span([{**GOOD, "time_ns": True}]), "$.events[0].time_ns: expected a whole number, got a boolean"),
    (span([changed(scene__key=None)]), '$.events[0].attributes["scene.key"]: expected a string, got null'),
    (span([changed(scene__kind="real")]), 'expected "actual" or "intent", got "real"'),
    (span([event("a", 1, 5), event("a", 2, 4)]), "$.events[1].time_ns: is earlier than the event before"),
]


@pytest.mark.parametrize(("line", "said"), BAD)
def test_what_is_no_span_is_named_by_file_line_and_place(tmp_path: Path, line: Any, said: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(line if isinstance(line, bytes) else json.dumps(line).encode())
    with pytest.raises(SceneError) as caught:
        read_scene_otel(path)
    assert str(caught.value).startswith(str(tmp_path))
    assert said in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, said in ((tmp_path / "no.jsonl", "no such file"), (tmp_path, "is a folder")):
        with pytest.raises(SceneError, match=said):
            read_scene_otel(path)
    (tmp_path / "empty.jsonl").write_text("\n")
    assert list(read_scene_otel(tmp_path / "empty.jsonl")) == []


def test_what_a_run_says_of_itself_is_judged(tmp_path: Path) -> None:
    odd = read_traces(write_spans(tmp_path / "t.jsonl", span([], bench_success="yes")))[0]
    with pytest.raises(
        SceneError, match=r't\.jsonl:1: \$\.attributes\["bench\.success"\]: expected true or false'
    ):
        _ = odd.success
    both = read_traces(
        write_spans(tmp_path / "t.jsonl", span([], bench_success=True), span([], bench_success=False))
    )[0]
    with pytest.raises(SceneError, match="say both true and false"):
        _ = both.success
    assert read_traces(write_spans(tmp_path / "t.jsonl", ticket_run()))[0].success is True


def real_files() -> list[Path]:
    return sorted(REAL.glob("*.jsonl"))


@pytest.mark.skipif(not real_files(), reason="the recorded traces of others are not at hand")
def test_real_traces_are_read_whole() -> None:
    found = {path.stem: read_traces(path) for path in real_files()}
    assert all(len(traces) == 1 for traces in found.values())
    steps = {name: traces[0].steps for name, traces in found.items()}
    assert not any(step.broken for run in steps.values() for step in run)
    scenegrad = {name: traces[0] for name, traces in found.items() if name.startswith("scenegrad-")}
    assert len(scenegrad) >= 4
    for name, trace in scenegrad.items():
        told = [span.attributes["bench.steps"] for span in trace.spans]
        assert [len(trace.steps)] == told, name
        last = trace.steps[-1].scene["distance"]["d_after"]
        assert [span.attributes["bench.d_final"] for span in trace.spans] == [last], name
    routing = steps["sales-routing"]
    assert [[c.name for c in step.calls] for step in routing if step.calls] == [
        ["google_sheets_get_many_rows"],
        ["salesforce_query"],
        ["gmail_send_email"],
    ]
    assert routing[-1].scene["opportunity"] != routing[0].scene["opportunity"]
    assert found["gmail-triage"][0].name == "simple.gmail_triage"
    assert steps["gmail-triage"][-1].scene["unread_count"] == 1

"""Recording scenes: what is written is what is read, also beside OpenTelemetry, crashes and threads."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from otel_fixtures import REAL

from evaluator import SceneError, SceneRecorder, canonical_json, read_scene_otel, read_traces

ROOT = Path(__file__).parents[2]


def test_what_is_recorded_is_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with SceneRecorder(path, name="triage") as recorder:
        tickets = [{"id": 7, "open": True}]
        recorder.set("note", "Grüße")
        recorder.set("tickets", tickets, description="as they came")
        tickets.clear()  # what was set is what it was
        first = recorder.commit()
        assert recorder.commit() == ""
        recorder.set("tickets", [])
        recorder.call("close", {"id": 7})
        recorder.set("mood", 0)
        recorder.set("mood", 1.5)
        recorder.finish(success=True, attributes={"bench.steps": 2})
    (trace,) = read_traces(path)
    assert (trace.trace_id, trace.name, trace.success) == (recorder.trace_id, "triage", True)
    assert [([c.name for c in step.calls], step.changed, step.scene) for step in trace.steps] == [
        ([], ("note", "tickets"), {"note": "Grüße", "tickets": [{"id": 7, "open": True}]}),
        ([], ("tickets",), {"note": "Grüße", "tickets": []}),
        (["close"], ("mood",), {"note": "Grüße", "tickets": [], "mood": 1.5}),
    ]
    assert trace.steps[2].calls[0].args == {"id": 7}
    batch = '[{"key":"note","value":"Grüße"},{"key":"tickets","value":[{"id":7,"open":true}]}]'
    assert first == trace.steps[0].commit == hashlib.sha256(batch.encode()).hexdigest()[:16]
    written = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert {
        key: value for key, value in written["events"][1]["attributes"].items() if key != "scene.commit_hash"
    } == {
        "scene.key": "tickets",
        "scene.kind": "actual",
        "scene.value": '[{"id":7,"open":true}]',
        "scene.value.type": "table",
        "scene.value.size": 22,
        "scene.description": "as they came",
    }


@pytest.mark.skipif(
    not (REAL / "gmail-triage.jsonl").exists(), reason="the recorded traces of others are not at hand"
)
def test_hashes_are_those_of_the_original(tmp_path: Path) -> None:
    steps = list(read_scene_otel(REAL / "gmail-triage.jsonl"))
    with SceneRecorder(tmp_path / "again.jsonl") as recorder:
        for step in steps:
            for key in step.changed:
                recorder.set(key, step.scene[key])
            assert recorder.commit() == step.commit


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "1", "é"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), json_values, max_size=4)
)
def test_every_scene_survives(tmp_path_factory: pytest.TempPathFactory, scene: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("recorded") / "run.jsonl"
    with SceneRecorder(path) as recorder:
        for key, value in scene.items():
            recorder.set(key, value)
    read = [step.scene for step in read_scene_otel(path)]
    assert list(map(canonical_json, read)) == ([canonical_json(scene)] if scene else [])


def test_what_is_no_scene_is_refused_with_its_place(tmp_path: Path) -> None:
    with SceneRecorder(tmp_path / "run.jsonl") as recorder:
        for value, said in (
            ({"a": [1, {2}]}, r"^world\.a\[1\]: a scene is plain JSON, found a Python set"),
            ([float("nan")], r"^world\[0\]: "),
            ({"a": "\ud83d"}, "^world: .*surrogate"),
        ):
            with pytest.raises(SceneError, match=said):
                recorder.set("world", value)
        recorder.set("fine", "\\ud83d is text here")
        with pytest.raises(SceneError, match='expected the kind "actual" or "intent"'):
            recorder.set("world", 1, kind="Actual")
        with pytest.raises(SceneError, match="the key of a scene is text"):
            recorder.set(3, 1)  # type: ignore[arg-type]
    with pytest.raises(SceneError, match="closed"):
        recorder.set("world", 1)
    with pytest.raises(SceneError, match="closed"):
        recorder.finish(success=True)
    recorder.close()
    assert [step.scene for step in read_scene_otel(tmp_path / "run.jsonl")] == [
        {"fine": "\\ud83d is text here"}
    ]


def test_an_error_in_the_block_drops_half_a_commit_only(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"

    def fail() -> None:
        with SceneRecorder(path) as recorder:
            recorder.set("a", 1)
            recorder.commit()
            recorder.set("a", 2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [step.scene for step in read_scene_otel(path)] == [{"a": 1}]


def test_a_file_is_appended_to_and_a_line_cut_by_a_crash_stands_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with SceneRecorder(path, trace_id="one") as recorder:
        recorder.set("a", 1)
    path.write_bytes(path.read_bytes() + b'{"trace_id": "cut')
    with SceneRecorder(path, trace_id="two") as recorder:
        recorder.set("a", 2)
    lines = path.read_bytes().split(b"\n")
    assert [json.loads(line)["trace_id"] for line in (lines[0], lines[2])] == ["one", "two"]
    with pytest.raises(SceneError, match=r"run\.jsonl:2:"):
        read_scene_otel(path)


def test_threads_record_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    recorder = SceneRecorder(path)

    def run(name: str) -> None:
        for number in range(100):
            recorder.set(name, number)
            recorder.commit()

    threads = [threading.Thread(target=run, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorder.close()
    assert list(read_scene_otel(path))[-1].scene == dict.fromkeys("abcd", 99)


def test_events_join_the_current_span_of_opentelemetry() -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    export = pytest.importorskip("opentelemetry.sdk.trace.export")
    memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    exporter = memory.InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    recorder = SceneRecorder()
    with provider.get_tracer("test").start_as_current_span("agent"):
        recorder.set("a", {"b": 1})
        digest = recorder.commit()
    recorder.set("a", 2)
    recorder.commit()  # no span is current
    (span,) = exporter.get_finished_spans()
    assert [(event.name, event.attributes["scene.value"]) for event in span.events] == [
        ("scene.set", '{"b":1}')
    ]
    assert span.events[0].attributes["scene.commit_hash"] == digest


def test_opentelemetry_is_not_imported_for_it(tmp_path: Path) -> None:
    script = (
        "import sys; from evaluator import SceneRecorder; r = SceneRecorder('r.jsonl'); r.set('a', 1); "
        "r.commit(); "
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (ran.stdout, ran.stderr) == ("[]\n", "")

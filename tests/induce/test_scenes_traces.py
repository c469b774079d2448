"""Recorded runs as labelled scenes: the final world and the calls, labels from the run or a side file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluator import SceneError, SceneRecorder
from induce import load_scenes

ROOT = Path(__file__).parents[2]
REAL = ROOT.parent / "shared" / "formats" / "scene-otel"


def record(
    path: Path,
    world: dict[str, Any],
    tools: tuple[str, ...] = (),
    success: bool | None = None,
    run: str | None = None,
) -> Path:
    with SceneRecorder(path, name="agent", trace_id=run) as recorder:
        for tool in tools:
            recorder.call(tool, {"id": 1})
            for key, value in world.items():
                recorder.set(key, value)
            recorder.commit()
        for key, value in world.items():
            recorder.set(key, value)
        recorder.finish(success=success)
    return path


def write_labels(path: Path, labels: dict[str, Any]) -> Path:
    path.write_text(
        "".join(json.dumps({"id": name, "label": label}) + "\n" for name, label in labels.items())
    )
    return path


def test_a_run_is_its_final_world_and_its_calls(tmp_path: Path) -> None:
    path = record(
        tmp_path / "a.jsonl",
        {"ticket": {"open": 0}, "distance": {"d_before": 1, "d_after": 0, "delta": 1}},
        ("read", "close"),
        True,
    )
    loaded = load_scenes(path)
    assert (loaded.ids, loaded.labels, loaded.ignored_keys) == (("a",), ("pass",), ("distance",))
    assert loaded.scenes == (
        {
            "world": {"ticket": {"open": 0}},
            "trace": {
                "steps": [
                    {"type": "tool_call", "name": "read", "args": {"id": 1}},
                    {"type": "tool_call", "name": "close", "args": {"id": 1}},
                ]
            },
        },
    )
    assert loaded.places == (f"{path}:1",)


def test_labels_of_a_side_file_count_before_those_of_the_run(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for name, success in (("b", True), ("a", False), ("c", None), ("d", None)):
        record(runs / f"{name}.jsonl", {"n": 1}, success=success)
    labels = write_labels(tmp_path / "labels.jsonl", {"a": "pass", "c": 0, "elsewhere": "fail"})
    loaded = load_scenes(runs, fmt="scene-otel", labels=labels)
    assert dict(zip(loaded.ids, loaded.labels, strict=True)) == {
        "a": "pass",
        "b": "pass",
        "c": "fail",
        "d": None,
    }
    listed = load_scenes([runs / "c.jsonl", str(runs / "b.jsonl")], fmt="scene-otel", labels=labels)
    assert (listed.ids, listed.labels) == (("c", "b"), ("fail", "pass"))


def test_several_traces_of_one_file_have_ids_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    record(path, {"n": 1}, success=True, run="one")
    record(path, {"n": 2}, success=False, run="two")
    loaded = load_scenes(path)
    assert (loaded.ids, loaded.labels) == (("all/one", "all/two"), ("pass", "fail"))
    assert [scene["world"] for scene in loaded.scenes] == [{"n": 1}, {"n": 2}]
    assert loaded.places == (f"{path}:1", f"{path}:3")


def span(events: list[dict[str, Any]], **attributes: Any) -> str:
    fields = {"trace_id": "t", "span_id": "s", "name": "n", "attributes": attributes, "events": events}
    return json.dumps(fields) + "\n"


def event(key: str, text: str, kind: str = "actual") -> dict[str, Any]:
    attributes = {"scene.key": key, "scene.kind": kind, "scene.value": text}
    return {"name": "scene.set", "time_ns": 1, "attributes": attributes}


BAD = [
    (
        span([event("a", "[1, …")]),
        'events[0].attributes["scene.value"]: the run ends with "a" unknown, the value was cut',
    ),
    (span([event("a", "1"), event("tool", "{", "intent")]), "a tool call is unknown"),
    (span([]), 'no span of trace "t" sets a scene'),
    (span([event("a", "1")], **{"bench.success": "yes"}), "expected true or false, got a string"),
    (span([event("a", "[" * 300 + "]" * 300)]), "nested deeper than 200 levels"),
    (span([event("a", "1")]) + '{"label": "pass", "scene": 1}\n', "runs.jsonl:2: expected a span"),
]


@pytest.mark.parametrize(("text", "said"), BAD)
def test_runs_that_cannot_be_learnt_from_are_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SceneError) as caught:
        load_scenes(path)
    assert str(caught.value).startswith(f"{path}:")
    assert said in str(caught.value)


BAD_LABELS = [
    ('{"id": "a"}', 'labels.jsonl:1: expected {"id": …, "label": "pass"}'),
    ('{"id": "a", "label": "good"}', 'labels.jsonl:1: $.label: unknown label "good"'),
    (
        '{"id": "a", "label": 1}\n{"id": "a", "label": 0}',
        'labels.jsonl:2: $.id: the id "a" was labelled before',
    ),
    ('{"id": null, "label": 1}', "labels.jsonl:1: $.id: expected the id of a trace"),
    ('{"id"', "labels.jsonl:1: not JSON"),
]


@pytest.mark.parametrize(("text", "said"), BAD_LABELS)
def test_a_side_file_is_judged(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "labels.jsonl").write_text(text)
    with pytest.raises(SceneError) as caught:
        load_scenes(record(tmp_path / "a.jsonl", {"n": 1}), labels=tmp_path / "labels.jsonl")
    assert said in str(caught.value)


def test_what_labels_do_not_belong_to(tmp_path: Path) -> None:
    scenes = tmp_path / "s.jsonl"
    scenes.write_text('{"label": "pass", "scene": 1}\n')
    labels = write_labels(tmp_path / "labels.jsonl", {"a": "pass"})
    for source, options in (
        (scenes, {}),
        ([{"label": "pass", "scene": 1}], {}),
        (None, {"pass_dir": tmp_path}),
    ):
        with pytest.raises(SceneError, match="labels are for recorded runs"):
            load_scenes(source, labels=labels, **options)
    with pytest.raises(SceneError, match="give a path, a folder or a list of paths"):
        load_scenes([{"scene": 1}], fmt="scene-otel")
    (tmp_path / "none").mkdir()
    with pytest.raises(SceneError, match=r"no traces; expected files that end in \.jsonl"):
        load_scenes(tmp_path / "none", fmt="scene-otel")


def test_a_check_is_learnt_from_runs_and_judges_their_scenes(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for number in range(12):
        good = number % 2 == 0
        tools = ("look_up", "close") if good else ("close",)
        record(runs / f"r{number:02}.jsonl", {"left": number % 3}, tools, success=good)
    command = [
        sys.executable,
        "-m",
        "induce",
        "learn",
        str(runs),
        "--format",
        "scene-otel",
        "--no-cv",
        "--json",
    ]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    learnt = json.loads(ran.stdout)
    assert learnt["result"]["misclassified"] == []
    assert "trace.steps" in json.dumps(learnt["result"]["check"])


@pytest.mark.skipif(not REAL.is_dir(), reason="the recorded traces of others are not at hand")
def test_real_runs_are_loaded() -> None:
    loaded = load_scenes(REAL, fmt="scene-otel")
    assert len(loaded) == len(list(REAL.glob("*.jsonl")))
    assert loaded.counts == {"pass": 3, "fail": 0, "unlabelled": 6}
    by_id = dict(zip(loaded.ids, loaded.scenes, strict=True))
    triage = by_id["scenegrad-support-triage-haiku-4-5"]
    assert triage["world"]["scene"]["status"] == "escalated-vip"
    assert [step["name"] for step in triage["trace"]["steps"]][-1] == "escalate_vip"

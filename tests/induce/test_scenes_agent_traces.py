"""Traces of agents as labelled scenes: what `evaluator traces` writes, bare traces, labels kept apart."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluator import SceneError, read_trace_scenes
from induce import load_scenes


def chat(*tools: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for number, tool in enumerate(tools):
        call = {"id": f"c{number}", "function": {"name": tool, "arguments": f'{{"n": {number}}}'}}
        messages.append({"role": "assistant", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": "ok"})
    return [*messages, {"role": "assistant", "content": "done"}]


def written(path: Path, lines: list[Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


RUNS = [
    ("look", "pay"),
    ("pay",),
    ("look", "mail", "pay"),
    ("mail",),
    ("look", "look"),
    ("pay", "look", "mail"),
] * 2


def test_a_check_is_learnt_from_imported_conversations_and_labels_kept_apart(tmp_path: Path) -> None:
    source = written(
        tmp_path / "runs.jsonl", [{"id": f"r{n}", "messages": chat(*run)} for n, run in enumerate(RUNS)]
    )
    scenes, labels = tmp_path / "scenes.jsonl", tmp_path / "labels.jsonl"
    written(labels, [{"id": f"r{n}", "label": "mail" not in run} for n, run in enumerate(RUNS)])
    commands = [
        ["evaluator", "traces", str(source), "-o", str(scenes)],
        [
            "induce",
            "learn",
            str(scenes),
            "--labels",
            str(labels),
            "-o",
            str(tmp_path / "check.json"),
            "--no-cv",
        ],
        ["evaluator", "check", str(tmp_path / "check.json"), str(scenes)],
    ]
    outcomes = [
        subprocess.run(
            [sys.executable, "-m", *command], capture_output=True, text=True, check=False, timeout=120
        )
        for command in commands
    ]
    assert [done.returncode for done in outcomes] == [0, 0, 1], outcomes[1].stderr
    verdicts = [json.loads(line) for line in outcomes[2].stdout.splitlines()]
    assert [verdict["pass"] for verdict in verdicts] == ["mail" not in run for run in RUNS]


def test_bare_traces_and_records_with_a_trace_are_scenes(tmp_path: Path) -> None:
    source = written(tmp_path / "runs.jsonl", [{"id": "r", "messages": chat("f")}])
    (scene,) = read_trace_scenes(source)
    trace = scene["scene"]["trace"]
    loaded = load_scenes(
        written(
            tmp_path / "t.jsonl",
            [
                trace | {"trace_id": "a", "label": "pass", "weight": 2},
                {"id": "b", "label": "fail", "trace": trace, "world": {"n": 1}},
            ],
        )
    )
    assert (loaded.ids, loaded.labels, loaded.weights) == (("a", "b"), ("pass", "fail"), (2.0, 1.0))
    assert loaded.scenes == ({"trace": trace | {"trace_id": "a"}}, {"trace": trace, "world": {"n": 1}})


@pytest.mark.parametrize(
    ("record", "form"),
    [
        ({"label": "pass", "messages": chat("f")}, "openai"),
        ({"resourceSpans": []}, "otlp"),
        ({"info": {}, "data": {"spans": []}}, "mlflow"),
    ],
)
def test_a_recorded_run_is_no_scene_and_the_way_is_told(tmp_path: Path, record: Any, form: str) -> None:
    with pytest.raises(
        SceneError, match=f"a recorded run in the form {form}, no scene; make scenes of the file with"
    ):
        load_scenes(written(tmp_path / "x.jsonl", [record]))


def test_a_label_is_not_given_twice(tmp_path: Path) -> None:
    scenes = written(
        tmp_path / "s.jsonl", [{"id": "a", "scene": 1}, {"id": "b", "label": "pass", "scene": 2}]
    )
    labels = written(tmp_path / "l.jsonl", [{"id": "a", "label": "fail"}])
    with pytest.raises(
        SceneError, match=r"s\.jsonl:2: labels are for recorded runs, and this scene has a label"
    ):
        load_scenes(scenes, labels=labels)

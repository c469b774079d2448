"""`evaluator traces` as its users run it, and what can be done with its output."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluator import SceneError, read_trace_scenes, run_check

CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": "Where is 7?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a", "function": {"name": "find", "arguments": '{"id": 7}'}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": '{"status": "sent"}'},
    {"role": "assistant", "content": "Sent."},
]
BLOCKS: list[dict[str, Any]] = [
    {"role": "user", "content": "Pay"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "u", "name": "pay", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "u", "content": "paid"}]},
    {"role": "assistant", "content": "Paid."},
]
SPAN: dict[str, Any] = {
    "traceId": "t",
    "spanId": "s",
    "name": "f",
    "endTimeUnixNano": "5000000",
    "attributes": [{"key": "openinference.span.kind", "value": {"stringValue": "TOOL"}}],
}
OTLP = {"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]}
MLFLOW = {
    "info": {"trace_id": "tr-1"},
    "data": {
        "spans": [{"trace_id": "x", "span_id": "y", "name": "g", "attributes": {"mlflow.spanType": '"TOOL"'}}]
    },
}


def run(*args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "evaluator", "traces", *args],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
    )


def written(path: Path, value: object, *, lines: bool = False) -> str:
    if lines and isinstance(value, list):
        path.write_text("".join(json.dumps(line) + "\n" for line in value), encoding="utf-8")
    else:
        path.write_text(json.dumps(value, indent=1), encoding="utf-8")
    return str(path)


def test_labelled_conversations_become_labelled_scenes(tmp_path: Path) -> None:
    records = [{"id": f"r{n}", "label": label, "messages": CHAT} for n, label in enumerate(["pass", "fail"])]
    source, out = written(tmp_path / "runs.jsonl", records, lines=True), tmp_path / "scenes.jsonl"
    done = run(source, "-o", str(out))
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.decode().splitlines()[-1] == "2 traces, 2 tool calls, 0 warnings"
    scenes = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [(scene["id"], scene["label"]) for scene in scenes] == [("r0", "pass"), ("r1", "fail")]
    check = {"op": "find", "collection": "trace.steps", "where": {"op": "eq", "path": "args.id", "value": 7}}
    assert run_check(scenes[0]["scene"], check).passed


@pytest.mark.parametrize(
    ("content", "lines", "form", "names"),
    [
        (CHAT, False, "openai", ["find"]),
        (CHAT, True, "openai", ["find"]),
        ([CHAT, CHAT[:3]], False, "openai", ["find", "find"]),
        ({"messages": CHAT}, False, "openai", ["find"]),
        ([{"messages": CHAT}, {"messages": CHAT}], True, "openai", ["find", "find"]),
        (BLOCKS, False, "anthropic", ["pay"]),
        ([BLOCKS, BLOCKS], True, "anthropic", ["pay", "pay"]),
        ({"system": "Be kind.", "messages": BLOCKS}, False, "anthropic", ["pay"]),
        (OTLP, False, "otlp", ["f"]),
        ([OTLP], True, "otlp", ["f"]),
        ([SPAN], False, "otlp", ["f"]),
        (MLFLOW, False, "mlflow", ["g"]),
        ([MLFLOW, MLFLOW], True, "mlflow", ["g", "g"]),
        ([{"trace": json.dumps(MLFLOW)}], False, "mlflow", ["g"]),
        (
            {"trace_id": "t", "steps": [{"type": "tool_call", "name": "h"}], "output": {"a": 1}},
            False,
            "trace",
            ["h"],
        ),
    ],
)
def test_the_form_is_told_by_the_content(
    tmp_path: Path, content: object, lines: bool, form: Any, names: list[str]
) -> None:
    source = written(tmp_path / "x", content, lines=lines)
    scenes = read_trace_scenes(source, on_warning=lambda _: None)
    assert scenes == read_trace_scenes(source, form, on_warning=lambda _: None)
    steps = [step for scene in scenes for step in scene["scene"]["trace"]["steps"]]
    assert [step["name"] for step in steps if step["type"] == "tool_call"] == names
    assert len({scene["id"] for scene in scenes}) == len(scenes), "ids are unique"
    if form == "anthropic":
        assert all(step["status"] == "ok" for step in steps if step["type"] == "tool_call")


def test_standard_input_and_packed_files_are_read(tmp_path: Path) -> None:
    packed = tmp_path / "runs.json.gz"
    packed.write_bytes(gzip.compress(json.dumps(CHAT).encode()))
    plain = run("-", "--from", "openai", stdin=json.dumps(CHAT).encode())
    assert run(str(packed)).stdout == plain.stdout != b""
    (line,) = plain.stdout.decode().splitlines()
    assert json.loads(line)["scene"]["trace"]["output"] == {"message": "Sent."}
    short = json.loads(run(str(packed), "--no-model-calls").stdout)
    assert [step["name"] for step in short["scene"]["trace"]["steps"]] == ["find"]


def test_warnings_are_printed_and_counted_when_strict(tmp_path: Path) -> None:
    source = written(tmp_path / "runs.jsonl", [{"messages": CHAT}, {"messages": CHAT[:2]}], lines=True)
    done = run(source)
    assert done.returncode == 0
    told = done.stderr.decode().splitlines()
    place = f"{source}:2: $.messages[1].tool_calls[0]"
    assert f'warning: {place}: the call of "find" has no result; kept without one' in told
    assert told[-1] == "2 traces, 2 tool calls, 2 warnings"
    strict = run(source, "--strict")
    assert (strict.returncode, strict.stdout) == (1, done.stdout)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty; recorded runs are expected"),
        (b'{"messages": [}', ":1:15: not JSON: "),
        (b'{\n"messages": [\n}', ":3:1: not JSON: "),
        (b"{}\n{", ":2:2: not JSON: "),
        (
            b"[1, 2]",
            ": $: cannot tell what this is; expected OTLP spans, chat messages, MLflow traces or traces",
        ),
        (b'{"messages": []}', ": $: no messages; expected at least one"),
        (b'{"trace_id": "t", "steps": [{"type": "tool"}], "output": {"a": 1}}', ': $.steps[0]: no "name"'),
        (b'{"trace_id": "t", "span_id": "s", "events": [{"name": "scene.set"}]}', ": $: a scene-otel trace"),
        (b'{"resourceSpans": []}', ": $: no run of an agent in it"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence_and_exit_status_2(
    tmp_path: Path, content: bytes, told: str
) -> None:
    source, out = tmp_path / "runs.json", tmp_path / "out.jsonl"
    source.write_bytes(content)
    done = run(str(source), "-o", str(out))
    (line,) = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout) == (2, b"")
    assert line.startswith(f"evaluator traces: {source}")
    assert told in line
    assert not out.exists()


def test_what_cannot_be_read_or_written_is_told(tmp_path: Path) -> None:
    assert b"no such file" in run(str(tmp_path / "none.json")).stderr
    source = written(tmp_path / "x.json", CHAT)
    done = run(source, "-o", str(tmp_path / "none" / "out.jsonl"))
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"cannot be written: no such file" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.json"]


def test_the_wrong_form_is_told_with_what_was_expected(tmp_path: Path) -> None:
    source = written(tmp_path / "x.json", CHAT)
    with pytest.raises(SceneError, match=r'expected OTLP JSON, an object with "resourceSpans"'):
        read_trace_scenes(source, "otlp")
    with pytest.raises(SceneError, match="expected a trace of MLflow"):
        read_trace_scenes(source, "mlflow")
    with pytest.raises(SceneError, match='expected a list of messages, or an object with "messages"'):
        read_trace_scenes(written(tmp_path / "y.json", OTLP), "openai")


def test_traces_beyond_the_limits_are_kept_and_told(tmp_path: Path) -> None:
    long = [*CHAT[:3], {"role": "assistant", "content": "x" * 2**20}]
    warned: list[str] = []
    (scene,) = read_trace_scenes(written(tmp_path / "x.json", long), on_warning=warned.append)
    assert len(scene["scene"]["trace"]["steps"]) == 3
    (told,) = warned
    assert "beyond what an engine accepts: $.steps[2]: a step is at most 1 MiB" in told


def test_a_world_beside_the_trace_is_kept(tmp_path: Path) -> None:
    source = written(tmp_path / "x.json", [{"id": 3, "messages": CHAT, "world": {"orders": []}, "weight": 2}])
    (scene,) = read_trace_scenes(source)
    assert (scene["id"], scene["weight"], scene["scene"]["world"]) == ("3", 2, {"orders": []})


@pytest.mark.parametrize(
    ("line", "form"),
    [({"messages": CHAT}, "openai"), (OTLP, "otlp"), (MLFLOW, "mlflow"), ({"messages": BLOCKS}, "anthropic")],
)
def test_a_check_of_traces_refuses_runs_that_are_no_traces_yet(tmp_path: Path, line: Any, form: str) -> None:
    source = written(tmp_path / "runs.jsonl", [line], lines=True)
    checks = {
        "trace": {"op": "not", "of": {"op": "trace.required_tools", "tools": ["erase"]}},
        "core": {
            "op": "not",
            "of": {"op": "find", "collection": "steps", "where": {"op": "eq", "path": "a", "value": 1}},
        },
    }
    done = {}
    for name, check in checks.items():
        path = written(tmp_path / f"{name}.json", check)
        command = [sys.executable, "-m", "evaluator", "check", path, source]
        done[name] = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done["core"].returncode, done["trace"].returncode, done["trace"].stdout) == (0, 2, "")
    assert done["trace"].stderr.splitlines()[0] == (
        f"evaluator check: {source}:1: a recorded run in the form {form}, but the check asks of a trace; "
        f"make scenes of the file with: evaluator traces FILE --from {form} -o scenes.jsonl"
    )

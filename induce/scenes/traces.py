"""Recorded runs of agents (scene-otel traces) as labelled scenes, one scene a trace.

The scene of a run is ``{"world": …, "trace": {"steps": […]}}``: the state of the world after the last commit,
and the tool calls in their order, each ``{"type": "tool_call", "name", "args"}``. So a check can ask how
things ended and how they came about. The key ``distance``, in which scenegrad measures how far its goal is,
is left out of the world: it is the answer that is to be learnt.

The label of a run is what its span says in ``bench.success``, or what a side file says of its id: a JSONL
file with ``{"id", "label"}`` a line, which counts where both say something. The id is the name of the file
without its suffix, or, where a file holds several traces, that and the trace's id, ``runs/4bf92f35…``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from evaluator import SceneError
from evaluator.scene_otel import BrokenValue, SceneTrace, is_span, traces_of
from induce.scenes.decoding import decode
from induce.scenes.jsontext import Json, JsonError, find_foreign, parse_json, quoted
from induce.scenes.records import Place, Record, read_id, read_label

_DISTANCE = "distance"
_DISTANCE_FIELDS = {"d_before", "d_after", "delta"}


def looks_like_span(line: bytes) -> bool:
    """Whether a line of a JSONL file is a span of a trace and no labelled scene."""
    try:
        return is_span(parse_json(line.decode("utf-8-sig")))
    except (JsonError, UnicodeDecodeError):
        return False


def trace_files(folder: Path) -> list[Path]:
    """The files of a folder that end in ``.jsonl``, in the order of their names."""
    try:
        entries = sorted(folder.iterdir(), key=lambda path: path.name)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise SceneError(f"cannot be read as a folder: {reason}", str(folder)) from None
    found = [path for path in entries if path.suffix.lower() == ".jsonl" and not path.name.startswith(".")]
    if not found:
        raise SceneError("no traces; expected files that end in .jsonl, one span a line", str(folder))
    return found


def trace_records(
    lines: Iterable[bytes], file: str, labels: Mapping[str, str | None], on_ignored: Callable[[str], None]
) -> Iterator[Record]:
    """The runs of one file; the names of keys that are left out are told to `on_ignored`."""
    traces = traces_of(lines, file)
    stem = Path(file).stem
    for trace in traces:
        place = Place(trace.spans[0].place)
        name = stem if len(traces) == 1 else f"{stem}/{trace.trace_id}"
        label = labels.get(name)
        if label is None and trace.success is not None:
            label = "pass" if trace.success else "fail"
        yield Record(place, name, name, label, _scene(trace, place, on_ignored), 1.0)


def _scene(trace: SceneTrace, place: Place, on_ignored: Callable[[str], None]) -> Json:
    if not trace.steps:
        raise place.error(f"no span of trace {quoted(trace.trace_id)} sets a scene (events named scene.set)")
    last = trace.steps[-1]
    for key, value in last.broken.items():
        problem = f"the run ends with {quoted(key)} unknown, {value.problem}"
        raise SceneError(f"{problem}; record it whole or leave the trace out", value.place)
    world = {key: value for key, value in last.scene.items() if not _is_distance(key, value)}
    if len(world) < len(last.scene):
        on_ignored(_DISTANCE)
    calls: list[Json] = []
    for call in (call for step in trace.steps for call in step.calls):
        if isinstance(call.value, BrokenValue):
            problem = f"a tool call is unknown, {call.value.problem}"
            raise SceneError(f"{problem}; record it whole or leave the trace out", call.value.place)
        calls.append({"type": "tool_call", "name": call.name, "args": call.args})
    scene = {"world": world, "trace": {"steps": calls}}
    fault = find_foreign(scene)
    if fault is not None:
        raise place.error_at(fault.path, fault.message)
    return scene


def _is_distance(key: str, value: Any) -> bool:
    return key == _DISTANCE and isinstance(value, dict) and value.keys() >= _DISTANCE_FIELDS


def labelled_apart(records: Iterable[Record], labels: Mapping[str, str | None]) -> Iterator[Record]:
    """Scenes without labels, such as `evaluator traces` writes, with those a side file has for their ids."""
    for record in records:
        if record.label is not None or record.rules:
            raise record.place.error("labels are for recorded runs, and this scene has a label of its own")
        yield replace(record, label=labels.get(record.id or record.default_id))


def read_labels(stream: BinaryIO, file: str, label_key: str) -> dict[str, str | None]:
    """The labels in a side file by the ids of their runs; raises :class:`SceneError`."""
    labels: dict[str, str | None] = {}
    for number, line in enumerate(stream, start=1):
        if line.strip():
            place = Place(file, number)
            name, label = _side_label(decode(line, file, number), place, label_key)
            if name in labels:
                raise place.error(f"the id {quoted(name)} was labelled before; ids must be unique", "id")
            labels[name] = label
    return labels


def _side_label(line: str, place: Place, label_key: str) -> tuple[str, str | None]:
    try:
        record = parse_json(line)
    except JsonError as fault:
        raise place.error_at(fault.path, fault.message) from None
    if not isinstance(record, dict) or "id" not in record or label_key not in record:
        raise place.error(f'expected {{"id": …, {quoted(label_key)}: "pass"}}, the label of one trace a line')
    name = read_id(record["id"], place, "id")
    if name is None:
        raise place.error("expected the id of a trace but found null", "id")
    return name, read_label(record[label_key], place, label_key)

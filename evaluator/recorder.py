"""Recording what an agent's world looks like, commit by commit, as a scene-otel trace (see `scene_otel`)."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from io import FileIO
from types import TracebackType
from typing import Any, Final

from evaluator.errors import SceneError, kind_of
from evaluator.json_write import json_text
from evaluator.scene import validate_scene
from evaluator.values import has_lone_surrogate

_KINDS: Final = ("actual", "intent")


class SceneRecorder:
    """Writes the keys of a scene as they change: `set` notes a value, `commit` writes what was noted.

    Each commit is a whole line, a span of its own in one trace, appended at once: what was committed before a
    crash can be read (`read_scene_otel`, `evaluator replay`). Where the program uses OpenTelemetry, each
    commit also adds its events to the span that is current; that library is not imported here.

    Parameters:
        path: the file to append to, made if need be; None records into OpenTelemetry spans alone.
        name: the name of the spans, such as the agent's or the task's.
        trace_id: 32 hex digits; drawn at random by default.

    May be used from several threads. Values are taken as they are when they are set, and are never cut.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/run.jsonl"
    >>> with SceneRecorder(path, name="triage") as recorder:
    ...     recorder.set("tickets", [{"id": 7, "open": True}])
    ...     _ = recorder.commit()
    ...     recorder.call("close_ticket", {"id": 7})
    ...     recorder.set("tickets", [{"id": 7, "open": False}])
    ...     _ = recorder.commit()
    ...     recorder.finish(success=True)
    >>> from evaluator.scene_otel import read_scene_otel
    >>> [([call.name for call in step.calls], step.changed) for step in read_scene_otel(path)]
    [([], ('tickets',)), (['close_ticket'], ('tickets',))]
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, name: str = "scene", trace_id: str | None = None
    ) -> None:
        self.trace_id = secrets.token_hex(16) if trace_id is None else trace_id
        self._name = name
        self._lock = threading.Lock()
        self._noted: dict[tuple[str, str], dict[str, Any]] = {}
        self._started = time.time_ns()
        self._closed = False
        self._file = None if path is None else _opened(path)

    def set(self, key: str, value: object, *, kind: str = "actual", description: str | None = None) -> None:
        """Note the value of one key for the next commit; of several values of a key the last one counts.

        Parameters:
            value: plain JSON; `to_scene` converts what is not.
            kind: "actual", the state of the world, or "intent", what a tool call is to do.
            description: a text for those who read the trace.

        Raises:
            SceneError: the value is not plain JSON, or holds text that UTF-8 cannot; with its place.
        """
        if type(key) is not str or has_lone_surrogate(key):
            raise SceneError(f"the key of a scene is text, got {kind_of(key)}")
        if kind not in _KINDS:
            raise SceneError(f'expected the kind "actual" or "intent", got {kind!r}', key)
        try:
            validate_scene(value)
        except SceneError as error:
            raise SceneError(error.problem, key + error.place.removeprefix("$")) from None
        text = json_text(value, compact=True)
        if "\\ud" in text and has_lone_surrogate(json.dumps(value, ensure_ascii=False)):
            raise SceneError("holds half of a surrogate pair, which is no text: UTF-8 cannot hold it", key)
        attributes = {
            "scene.key": key,
            "scene.kind": kind,
            "scene.value": text,
            "scene.value.type": _display(value),
            "scene.value.size": len(text.encode("utf-8")),
        }
        if description is not None:
            attributes["scene.description"] = description
        event = {"name": "scene.set", "time_ns": time.time_ns(), "attributes": attributes}
        with self._lock:
            if self._closed:
                raise SceneError("the recorder is closed; set values before close()", key)
            self._noted.pop((kind, key), None)
            self._noted[kind, key] = event

    def call(self, tool: str, args: object = None) -> None:
        """Commit a tool call, as the intent `{"tool": {"name", "args"}}` under the key `tool`.

        What was set before is committed before. The reader finds the call at the next commit of the world.
        """
        self.commit()
        self.set("tool", {"tool": {"name": tool, "args": args}}, kind="intent", description=tool)
        self.commit()

    def commit(self) -> str:
        """Write what was set since the last commit; returns the commit's hash, "" when nothing was set."""
        with self._lock:
            events = list(self._noted.values())
            if not events:
                return ""
            digest = _hash(events)
            now = time.time_ns()
            for event in events:
                event["attributes"]["scene.commit_hash"] = digest
                event["time_ns"] = now
            self._write(events, {}, now)
            self._noted.clear()
            for event in events:
                _add_to_current_span(event)
            return digest

    def finish(self, *, success: bool | None = None, attributes: Mapping[str, Any] | None = None) -> None:
        """Commit what is left and write a last span that says how the run went.

        `success` becomes the attribute `bench.success`, from which the learner takes the label; `attributes`
        are others, such as `{"bench.steps": 4}`, as plain JSON.
        """
        if self._closed:
            raise SceneError("the recorder is closed; finish the run before close()")
        self.commit()
        said = dict(attributes or {}) | ({} if success is None else {"bench.success": success})
        validate_scene(said)
        with self._lock:
            self._write([], said, time.time_ns())

    def close(self) -> None:
        """Commit what is left and close the file; harmless when repeated."""
        self.commit()
        with self._lock:
            self._closed = True
            if self._file is not None:
                self._file.close()

    def __enter__(self) -> SceneRecorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:  # what was set and not committed is half a commit
            self._noted.clear()
        self.close()

    def _write(self, events: list[dict[str, Any]], attributes: dict[str, Any], now: int) -> None:
        if self._file is None:
            return
        span = {
            "trace_id": self.trace_id,
            "span_id": secrets.token_hex(8),
            "parent_span_id": None,
            "name": self._name,
            "start_time_ns": self._started,
            "end_time_ns": now,
            "attributes": attributes,
            "events": events,
        }
        _append(self._file, (json_text(span, compact=True) + "\n").encode("utf-8"))
        self._started = now


def _opened(path: str | os.PathLike[str]) -> FileIO:
    """The file for appending, on a line of its own also where a crash left half a line."""
    file = FileIO(path, "a+")
    if file.seekable() and file.seek(0, os.SEEK_END):
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")
    return file


def _append(file: FileIO, data: bytes) -> None:
    """Write all or nothing: what fits on a full disk is taken back."""
    before = os.fstat(file.fileno()).st_size
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[file.write(rest) or 0 :]
    except OSError:
        with suppress(OSError):
            file.truncate(before)
        raise


def _hash(events: list[dict[str, Any]]) -> str:
    """First 16 hex digits of SHA-256 over the batch, sorted by key, as JSON without spaces."""
    written = sorted((event["attributes"] for event in events), key=lambda written: written["scene.key"])
    batch = ",".join(
        f'{{"key":{json_text(attributes["scene.key"])},"value":{attributes["scene.value"]}}}'
        for attributes in written
    )
    return hashlib.sha256(f"[{batch}]".encode()).hexdigest()[:16]


def _display(value: object) -> str:
    """How a viewer is to show a value."""
    if type(value) is list:
        return "table" if value and all(type(row) is dict for row in value) else "list"
    if type(value) is int or type(value) is float:
        return "metric"
    return "text" if type(value) is str else "json"


def _add_to_current_span(event: dict[str, Any]) -> None:
    """Add an event to OpenTelemetry's current span; there is one only where the program has imported it."""
    opentelemetry = sys.modules.get("opentelemetry.trace")
    if opentelemetry is not None:
        span = opentelemetry.get_current_span()
        if span.is_recording():
            span.add_event(event["name"], event["attributes"], event["time_ns"])

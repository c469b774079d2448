"""Small scene-otel traces of our own, written as the format says, for the tests of what reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

REAL = Path(__file__).parents[3] / "shared" / "formats" / "scene-otel"
"""Recorded traces by others, beside the repository where they are at hand; never part of it."""


def event(key: str, value: object, time: int, *, kind: str = "actual", commit: str = "") -> dict[str, Any]:
    attributes = {
        "scene.key": key,
        "scene.kind": kind,
        "scene.value": value if isinstance(value, bytes) else json.dumps(value),
        "scene.commit_hash": commit,
    }
    if isinstance(value, bytes):
        attributes["scene.value"] = value.decode()
    return {"name": "scene.set", "time_ns": time, "attributes": attributes}


def call(name: str, args: object, time: int) -> dict[str, Any]:
    return event("tool", {"tool": {"name": name, "args": args}}, time, kind="intent")


def span(
    events: list[dict[str, Any]], *, trace: str = "t1", name: str = "run", **attributes: Any
) -> dict[str, Any]:
    return {
        "trace_id": trace,
        "span_id": "s",
        "parent_span_id": None,
        "name": name,
        "start_time_ns": 0,
        "end_time_ns": 9,
        "attributes": {key.replace("_", "."): value for key, value in attributes.items()},
        "events": events,
    }


def write_spans(path: Path, *spans: object) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in spans), encoding="utf-8")
    return path


def ticket_run() -> dict[str, Any]:
    """Three steps of a support agent: it reads, makes things worse, then solves the ticket."""
    return span(
        [
            call("read", {}, 1),
            event("ticket", {"status": "new", "open": 2}, 1),
            call("split", {"into": 2}, 2),
            event("ticket", {"status": "new", "open": 3}, 2),
            call("close", {"all": True}, 3),
            event("ticket", {"status": "done", "open": 0}, 3),
        ],
        name="ticket",
        bench_success=True,
    )

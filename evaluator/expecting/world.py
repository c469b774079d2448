"""The world an agent acts on, in memory: tools record what they did, a test looks at what was left behind.

A snapshot of a world is an object: the name of each resource with an array of its records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Lock
from types import TracebackType
from typing import Any, Self

from evaluator.conversion import to_scene
from evaluator.errors import SceneError, kind_of

Snapshot = dict[str, list[dict[str, Any]]]


class World:
    """A small world for tests: resources with records.

    Parameters:
        resources: the records that are there at the start, by resource; name a resource with `[]` when it may
            stay empty, since an effect contract on a resource that no snapshot mentions fails.

    Tools may record from several threads. What is recorded is copied, and so is every `state()`.

    >>> with World({"orders": [{"id": "O-1", "cents": 500}], "refunds": []}) as world:
    ...     world.record("refunds", {"order_id": "O-1", "cents": 500})
    >>> world.state()["refunds"]
    [{'order_id': 'O-1', 'cents': 500}]
    """

    def __init__(self, resources: Mapping[str, Iterable[Mapping[str, Any]]] | None = None) -> None:
        self._lock = Lock()
        self._stopped = False
        self._records: Snapshot = {}
        for resource, records in (resources or {}).items():
            self._records[_name(resource)] = [_record(resource, record) for record in records]

    def record(self, resource: str, record: Mapping[str, Any]) -> None:
        """Add a record to a resource.

        Raises `SceneError` when the record is no JSON object, and `RuntimeError` once the world was stopped.
        """
        added = _record(_name(resource), record)
        with self._lock:
            if self._stopped:
                problem = "nothing more can be recorded in it; does the agent still run?"
                raise RuntimeError(f"{resource}: the world was stopped, {problem}")
            self._records.setdefault(resource, []).append(added)

    def state(self) -> Snapshot:
        """A snapshot of all records so far; a copy. It can still be taken when the world was stopped."""
        with self._lock:
            copy: Snapshot = to_scene(self._records)
        return copy

    def stop(self) -> None:
        """End the world: what is recorded from now on is an error. Stopping twice is none."""
        with self._lock:
            self._stopped = True

    @property
    def stopped(self) -> bool:
        """Whether the world was stopped."""
        return self._stopped

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        with self._lock:
            sizes = ", ".join(f"{resource}: {len(records)}" for resource, records in self._records.items())
        return f"World({sizes}{'; stopped' if self._stopped else ''})"


def _name(resource: object) -> str:
    if type(resource) is not str:
        raise SceneError(f"the name of a resource is a string, got {kind_of(resource)}")
    return resource


def _record(resource: str, record: object) -> dict[str, Any]:
    copied = to_scene(record)
    if type(copied) is not dict:
        raise SceneError(f"a record is an object, got {kind_of(copied)}", resource)
    return copied

"""A snapshot of the world as the effect contracts read it: resources, their records, and joins of them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from evaluator.assertions.json_value import key_of
from evaluator.assertions.judgement import SpecError
from evaluator.errors import kind_of

Record = dict[str, Any]


class Numbered(NamedTuple):
    """A record and its number in its resource, from 1."""

    number: int
    record: Record


class Related(NamedTuple):
    """A field of the record of another resource that has the same value in `on`."""

    resource: str
    field: str
    on: str

    @property
    def name(self) -> str:
        """`orders.amount_cents`."""
        return f"{self.resource}.{self.field}"


class SnapshotError(Exception):
    """The snapshot is not of the form, or lacks a resource."""


class Snapshot:
    """A snapshot of the world by its resources.

    Raises `SnapshotError` when it is no object, and when it is asked for a resource that is none.
    """

    def __init__(self, snapshot: Any) -> None:
        if type(snapshot) is not dict:
            raise SnapshotError(f"world: expected an object of resources, got {kind_of(snapshot)}")
        self._resources = snapshot

    def records(self, resource: str) -> list[Record]:
        """All records of a resource."""
        if resource not in self._resources:
            raise SnapshotError(f"world.{resource}: expected an array of records, got nothing")
        records: Any = self._resources[resource]
        if type(records) is not list:
            raise SnapshotError(f"world.{resource}: expected an array of records, got {kind_of(records)}")
        for number, record in enumerate(records, 1):
            if type(record) is not dict:
                raise SnapshotError(
                    f"world.{resource}: expected records, record {number} is {kind_of(record)}"
                )
        return records

    def by_key(self, related: Related) -> dict[Hashable, list[Record]]:
        """The records of the related resource by their value in `on`."""
        found: dict[Hashable, list[Record]] = {}
        for record in self.records(related.resource):
            key = record.get(related.on)
            if key is not None:
                found.setdefault(key_of(key), []).append(record)
        return found


def read_related(given: dict[str, Any], argument: str) -> Related:
    """The related field that an argument names; raises `SpecError` when it is not of this form."""
    parts = {}
    for name in Related._fields:
        part = given.get(name)
        if type(part) is not str or not part:
            problem = f'{argument}: expected "resource", "field" and "on", texts that are not empty'
            raise SpecError(f"{problem}; {name} is {kind_of(part) if name in given else 'missing'}", argument)
        parts[name] = part
    return Related(**parts)

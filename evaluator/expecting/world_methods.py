"""Effect contracts: what a run left behind in the world, read from a snapshot of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from evaluator.expecting.collecting import Collecting, listed

Where = Mapping[str, Any]
"""Fields that a record must have with equal values to be selected."""


def related(resource: str, field: str, on: str) -> dict[str, str]:
    """The field of the record of another resource whose `on` equals this record's `on`.

    >>> related("orders", "paid_cents", on="order_id")
    {'resource': 'orders', 'field': 'paid_cents', 'on': 'order_id'}
    """
    return {"resource": resource, "field": field, "on": on}


class WorldMethods(Collecting):
    """Contracts on the records of a resource. There is no soft option: a wrong effect is a failure.

    Nothing selected satisfies all but a minimum; add `count` where records must exist.
    """

    def count(
        self,
        resource: str,
        *,
        equals: float | None = None,
        at_most: float | None = None,
        at_least: float | None = None,
        where: Where | None = None,
    ) -> Self:
        """So many records are there."""
        optional = {"equals": equals, "at_most": at_most, "at_least": at_least, "where": where}
        return self._contract("world_count", {"resource": resource}, optional)

    def unique(self, resource: str, by: str | Sequence[str], *, where: Where | None = None) -> Self:
        """No two records have the same value of the field, or of the fields together."""
        return self._contract("world_unique", {"resource": resource, "by": listed(by)}, {"where": where})

    def idempotent(self, resource: str, key: str = "idempotency_key", *, where: Where | None = None) -> Self:
        """No two records have the same key, and none is without."""
        return self._contract("world_idempotent", {"resource": resource, "key": key}, {"where": where})

    def sum(
        self,
        resource: str,
        field: str,
        at_most: float | Mapping[str, str],
        *,
        where: Where | None = None,
    ) -> Self:
        """The field adds up to no more than a number, or for each join key than a `related` field."""
        arguments = {"resource": resource, "field": field, "at_most": at_most}
        return self._contract("world_sum", arguments, {"where": where})

    def matches(
        self, resource: str, field: str, rel: Mapping[str, str], *, where: Where | None = None
    ) -> Self:
        """Each record's field equals a `related` field."""
        arguments = {"resource": resource, "field": field, "rel": rel}
        return self._contract("world_matches", arguments, {"where": where})

    def _contract(
        self, method: str, arguments: Mapping[str, Any], optional: Mapping[str, Any] | None = None
    ) -> Self:
        """Collect a contract on the snapshot at hand."""
        raise NotImplementedError

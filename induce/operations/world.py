"""Effects on the world: what is unique, how much sums come to, which fields of related records agree.

How many records there are is said by a core ``count``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator.assertions.json_value import key_of
from evaluator.values import MISSING, isfinite_number
from induce.column import is_number
from induce.constants import Number, half_digits, roundest
from induce.distinct import distinct_columns
from induce.grammar import Costs
from induce.operations.family import Batch
from induce.operations.lanes import coded

JSON = Any
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
MOST_CATEGORIES = 8
"""Values of a field that may select records."""
MOST_FIELDS = 24
"""Fields of a resource that are looked at, by their names."""
MOST_BOUNDS = 64

Where = tuple[str, str] | None
"""A field and the JSON key of a value that select records; None for all."""


class Related(NamedTuple):
    """The field of the one record of another resource with the same value in `on`."""

    resource: str
    field: str
    on: str


class Resource:
    """The records of one resource in all worlds.

    Attributes
    ----------
    owner : int64 (records,)
        The scene of each.
    broken : bool (scenes,)
        Where there is no array of records, though there is a world.
    """

    def __init__(self, name: str, worlds: Sequence[JSON]) -> None:
        self.name = name
        self.broken = np.zeros(len(worlds), np.bool_)
        self.records: list[dict[str, JSON]] = []
        owner = []
        for at, world in enumerate(worlds):
            if world is MISSING or world is None:
                continue
            found = world.get(name) if type(world) is dict else None
            if type(found) is not list or any(type(record) is not dict for record in found):
                self.broken[at] = True
                continue
            self.records += found
            owner += [at] * len(found)
        self.owner = np.array(owner, np.int64)
        self.scenes = len(worlds)

    @cached_property
    def fields(self) -> list[str]:
        """The fields that hold scalars."""
        held = {
            key
            for record in self.records
            for key, value in record.items()
            if key and not isinstance(value, dict | list)
        }
        return sorted(held)[:MOST_FIELDS]

    def values(self, field: str) -> list[JSON]:
        return [record.get(field, MISSING) for record in self.records]

    @cached_property
    def selections(self) -> dict[Where, Mask]:
        """The records that the value of a field selects, for fields of few values; and all of them."""
        found: dict[Where, Mask] = {None: np.ones(len(self.records), np.bool_)}
        for field in self.fields:
            values = self.values(field)
            codes = coded(values)
            kinds = int(codes.max(initial=-1)) + 1
            if not 2 <= kinds <= MOST_CATEGORIES or any(isinstance(v, dict | list) for v in values):
                continue
            for code in range(kinds):
                rows = codes == code
                value = values[int(np.flatnonzero(rows)[0])]
                if isinstance(value, str | bool):
                    found[(field, _text(value))] = rows
        return found

    def where_bits(self, where: Where) -> float | None:
        if where not in self.selections:
            return None
        return 0.0 if where is None else 2.0 + math.log2(len(self.selections) - 1)

    def numbers(self, field: str) -> tuple[list[JSON], Mask]:
        """The values of a field, and which of them are finite numbers."""
        values = self.values(field)
        sound = [is_number(v) and isfinite_number(v) for v in values]
        return values, np.array(sound, np.bool_)

    def any_in_scene(self, rows: Mask) -> Mask:
        found = np.zeros(self.scenes, np.bool_)
        found[self.owner[rows]] = True
        return found


class Worlds:
    """The worlds beside the traces: their resources, and where there is one at all."""

    def __init__(self, worlds: Sequence[JSON], costs: Costs) -> None:
        self.costs = costs
        self.known = np.array([world is not MISSING and world is not None for world in worlds], np.bool_)
        present = [world for world in worlds if type(world) is dict]
        names = {name for world in present for name in world if name and type(world[name]) is list}
        self.resources = {name: Resource(name, worlds) for name in sorted(names)}

    @property
    def resource_bits(self) -> float:
        """Bits for the operator and one of the resources."""
        return self.costs.operation + math.log2(len(self.resources))

    def field_bits(self, resource: Resource, count: int = 1) -> float:
        return count * math.log2(max(1, len(resource.fields)))

    def batch(self, keys: Sequence[Any], resources: Sequence[Resource], fails: Sequence[Mask]) -> Batch:
        """Candidates over some resources, with the scenes whose records break each."""
        broken = np.logical_or.reduce([resource.broken for resource in resources])
        wrong = (np.array(fails) | broken) & self.known
        return Batch(keys, ~wrong & self.known, wrong)

    @cached_property
    def joins(self) -> dict[tuple[str, str, str], tuple[Ints, dict[tuple[int, Hashable], int]]]:
        """For a resource, another, and a field of both: each record's partner, as `_join` gives it."""
        found = {}
        for one, other in ((a, b) for a in self.resources.values() for b in self.resources.values()):
            for on in one.fields:
                if one is not other and on in other.fields:
                    partners = _join(one, other, on)
                    if (partners[0] >= 0).any():
                        found[(one.name, other.name, on)] = partners
        return found


def _join(one: Resource, other: Resource, on: str) -> tuple[Ints, dict[tuple[int, Hashable], int]]:
    """Each record's partner in the other resource (-1: no key or none, -2: several), and partners by key."""
    partner: dict[tuple[int, Hashable], int] = {}
    for row, (at, record) in enumerate(zip(other.owner.tolist(), other.records, strict=True)):
        if record.get(on) is not None:
            key = (at, key_of(record[on]))
            partner[key] = -2 if key in partner else row
    rows = [
        -1 if record.get(on) is None else partner.get((at, key_of(record[on])), -1)
        for at, record in zip(one.owner.tolist(), one.records, strict=True)
    ]
    return np.array(rows, np.int64), partner


class Unique(NamedTuple):
    """No two selected records have the same values of some fields."""

    resource: str
    by: tuple[str, ...]
    where: Where


class UniqueFamily:
    """``effect.world_unique`` by one field or two."""

    op = "effect.world_unique"

    def __init__(self, worlds: Worlds) -> None:
        self.worlds = worlds

    def bits(self, key: Unique) -> float | None:
        resource = self.worlds.resources.get(key.resource)
        if resource is None or not set(key.by) <= set(resource.fields) or not 1 <= len(key.by) <= 2:
            return None
        where = resource.where_bits(key.where)
        if where is None:
            return None
        fields = self.worlds.field_bits(resource, len(key.by)) + self.worlds.costs.member * (len(key.by) - 1)
        return self.worlds.resource_bits + fields + where

    def said(self, key: Unique) -> dict[str, JSON]:
        by = key.by[0] if len(key.by) == 1 else list(key.by)
        return {"resource": key.resource, "by": by, **_where_field(key.where)}

    def read(self, fields: dict[str, JSON]) -> Unique | None:
        where = _read_where(fields)
        if where is _UNREADABLE or not set(fields) <= {"resource", "by", "where"}:
            return None
        by = fields["by"]
        return Unique(fields["resource"], tuple(sorted({by} if isinstance(by, str) else set(by))), where)

    def batches(self) -> Iterator[Batch]:
        for resource in self.worlds.resources.values():
            codes = {}
            for field in resource.fields:
                values = resource.values(field)
                codes[field] = np.where([v is None or v is MISSING for v in values], -1, coded(values))
            for where, rows in resource.selections.items():
                keys, fails = [], []
                for by in [(field,) for field in resource.fields] + list(combinations(resource.fields, 2)):
                    keys.append(Unique(resource.name, by, where))
                    fails.append(_not_unique(resource, rows, [codes[field] for field in by]))
                if keys:
                    yield self.worlds.batch(keys, [resource], fails)


def _not_unique(resource: Resource, rows: Mask, codes: list[Ints]) -> Mask:
    columns = np.array([resource.owner, *codes])[:, rows]
    if not columns.shape[1]:
        return np.zeros(resource.scenes, np.bool_)
    lacking = (columns[1:] < 0).any(axis=0)
    found = distinct_columns(columns[:, ~lacking])
    fails = np.zeros(resource.scenes, np.bool_)
    fails[columns[0, lacking]] = True
    fails[found.columns[0, found.counts > 1]] = True
    return fails


class Sum(NamedTuple):
    """The sum of a field of the selected records is at most a number, or a field of the related record."""

    resource: str
    field: str
    bound: Number | Related
    where: Where


class SumFamily:
    """``effect.world_sum``."""

    op = "effect.world_sum"

    def __init__(self, worlds: Worlds) -> None:
        self.worlds = worlds
        self._kept: dict[tuple[str, str, Where], list[Number | None]] = {}

    def bits(self, key: Sum) -> float | None:
        resource = self.worlds.resources.get(key.resource)
        if resource is None or key.field not in resource.fields:
            return None
        where = resource.where_bits(key.where)
        if where is None:
            return None
        bits = self.worlds.resource_bits + self.worlds.field_bits(resource) + where
        if isinstance(key.bound, Related):
            if (key.resource, key.bound.resource, key.bound.on) not in self.worlds.joins:
                return None
            other = self.worlds.resources[key.bound.resource]
            if key.bound.field not in other.fields:
                return None
            return bits + math.log2(len(self.worlds.joins)) + self.worlds.field_bits(other)
        digits = self.worlds.costs.digit * half_digits(key.bound) / 2
        known = {total for total in self._totals(key.resource, key.field, key.where) if total is not None}
        return bits + self.worlds.costs.threshold + min(digits, 3 + math.log2(max(1, len(known))))

    def said(self, key: Sum) -> dict[str, JSON]:
        bound = key.bound._asdict() if isinstance(key.bound, Related) else key.bound
        return {"resource": key.resource, "field": key.field, "at_most": bound, **_where_field(key.where)}

    def read(self, fields: dict[str, JSON]) -> Sum | None:
        where = _read_where(fields)
        if where is _UNREADABLE or not set(fields) <= {"resource", "field", "at_most", "where"}:
            return None
        bound = fields["at_most"]
        return Sum(
            fields["resource"],
            fields["field"],
            _related(bound) if isinstance(bound, dict) else bound,
            where,
        )

    def _totals(self, name: str, field: str, where: Where) -> list[Number | None]:
        """The sum in each scene, None where a selected record has no number."""
        if (name, field, where) not in self._kept:
            resource = self.worlds.resources[name]
            values, sound = resource.numbers(field)
            rows = resource.selections[where]
            amounts: list[list[Number]] = [[] for _ in range(resource.scenes)]
            for row in np.flatnonzero(rows & sound).tolist():
                amounts[resource.owner[row]].append(values[row])
            bad = resource.any_in_scene(rows & ~sound)
            self._kept[(name, field, where)] = [
                None if bad[at] else _total(found) for at, found in enumerate(amounts)
            ]
        return self._kept[(name, field, where)]

    def batches(self) -> Iterator[Batch]:
        for resource in self.worlds.resources.values():
            for field in resource.fields:
                _, sound = resource.numbers(field)
                if 2 * int(sound.sum()) < len(sound) or not len(sound):
                    continue
                for where in resource.selections:
                    yield from self._bounds(resource, field, where)
                    yield from self._joined(resource, field, where)

    def _bounds(self, resource: Resource, field: str, where: Where) -> Iterator[Batch]:
        totals = self._totals(resource.name, field, where)
        known = sorted({total for total in totals if total is not None and isfinite_number(total)})
        gaps = list(pairwise(known))
        if len(gaps) > MOST_BOUNDS:
            gaps = [gaps[round(i * (len(gaps) - 1) / (MOST_BOUNDS - 1))] for i in range(MOST_BOUNDS)]
        bounds = [roundest(low, high, closed="low") for low, high in gaps]
        if bounds:
            place: dict[Number | None, int] = {total: at for at, total in enumerate(known)}
            place |= {None: len(known), math.inf: len(known), -math.inf: -1}
            ranks = np.array([place[total] for total in totals])
            fails = [ranks >= place[high] for _, high in gaps]
            keys = [Sum(resource.name, field, bound, where) for bound in bounds]
            yield self.worlds.batch(keys, [resource], fails)

    def _joined(self, resource: Resource, field: str, where: Where) -> Iterator[Batch]:
        values, sound = resource.numbers(field)
        rows = np.flatnonzero(resource.selections[where]).tolist()
        for (one, other_name, on), (_, partner) in self.worlds.joins.items():
            if one != resource.name or field == on:
                continue
            groups: dict[tuple[int, Hashable], list[int]] = {}
            keyless = np.zeros(resource.scenes, np.bool_)
            for row in rows:
                value, at = resource.records[row].get(on), int(resource.owner[row])
                if value is None:
                    keyless[at] = True
                else:
                    groups.setdefault((at, key_of(value)), []).append(row)
            sums = {
                group: _total([values[row] for row in members]) if sound[members].all() else None
                for group, members in groups.items()
            }
            other = self.worlds.resources[other_name]
            keys, fails = [], []
            for bound_field in other.fields:
                bounds, usable = other.numbers(bound_field)
                if not usable.any():
                    continue
                wrong = keyless.copy()
                for group, total in sums.items():
                    at = partner.get(group, -1)
                    if total is None or at < 0 or not usable[at] or total > bounds[at]:
                        wrong[group[0]] = True
                keys.append(Sum(resource.name, field, Related(other_name, bound_field, on), where))
                fails.append(wrong)
            if keys:
                yield self.worlds.batch(keys, [resource, other], fails)


class Matches(NamedTuple):
    """A field of each selected record equals the field of its related record."""

    resource: str
    field: str
    related: Related
    where: Where


class MatchesFamily:
    """``effect.world_matches``."""

    op = "effect.world_matches"

    def __init__(self, worlds: Worlds) -> None:
        self.worlds = worlds

    def bits(self, key: Matches) -> float | None:
        resource = self.worlds.resources.get(key.resource)
        joined = (key.resource, key.related.resource, key.related.on) in self.worlds.joins
        if resource is None or not joined or key.field not in resource.fields:
            return None
        other, where = self.worlds.resources[key.related.resource], resource.where_bits(key.where)
        if where is None or key.related.field not in other.fields:
            return None
        fields = self.worlds.field_bits(resource) + self.worlds.field_bits(other)
        return self.worlds.resource_bits + fields + math.log2(len(self.worlds.joins)) + where

    def said(self, key: Matches) -> dict[str, JSON]:
        return {
            "resource": key.resource,
            "field": key.field,
            "rel": key.related._asdict(),
            **_where_field(key.where),
        }

    def read(self, fields: dict[str, JSON]) -> Matches | None:
        where = _read_where(fields)
        if where is _UNREADABLE or not set(fields) <= {"resource", "field", "rel", "where"}:
            return None
        return Matches(fields["resource"], fields["field"], _related(fields["rel"]), where)

    def batches(self) -> Iterator[Batch]:
        for (name, other_name, on), (partner, _) in self.worlds.joins.items():
            resource, other = self.worlds.resources[name], self.worlds.resources[other_name]
            for field in resource.fields:
                keys, wrong = [], []
                for other_field in other.fields:
                    if field == on or other_field == on:
                        continue
                    codes = coded([*resource.values(field), *other.values(other_field)])
                    mine, theirs = codes[: len(partner)], codes[len(partner) :]
                    agree = (partner >= 0) & (mine >= 0) & (mine == theirs[partner])
                    if agree.any():
                        keys.append(Related(other_name, other_field, on))
                        wrong.append(~agree)
                if not keys:
                    continue
                for where, rows in resource.selections.items():
                    fails = [resource.any_in_scene(rows & bad) for bad in wrong]
                    said = [Matches(name, field, related, where) for related in keys]
                    yield self.worlds.batch(said, [resource, other], fails)


def _total(amounts: list[Number]) -> Number:
    """The sum, rounded once."""
    if all(type(amount) is int for amount in amounts):
        return sum(amounts)
    try:
        return math.fsum(amounts)
    except OverflowError:
        return math.inf if sum(map(Fraction, amounts)) > 0 else -math.inf


def _related(fields: dict[str, JSON]) -> Related:
    return Related(fields["resource"], fields["field"], fields["on"])


_UNREADABLE: Where = ("", "")


def _text(value: JSON) -> str:
    return f"b{value}" if isinstance(value, bool) else f"s{value}"


def _where_field(where: Where) -> dict[str, JSON]:
    if where is None:
        return {}
    field, text = where
    return {"where": {field: text[1:] if text[0] == "s" else text == "bTrue"}}


def _read_where(fields: dict[str, JSON]) -> Where:
    where = fields.get("where") or {}
    if not where:
        return None
    [(field, value), *more] = where.items()
    return _UNREADABLE if more or not isinstance(value, str | bool) else (field, _text(value))

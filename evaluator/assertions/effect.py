"""World and effect contracts: what a run left behind in the world, whatever it said or did.

They read a snapshot of the world, `{"refunds": [{…}, …], "orders": […]}`: resource names, each with an array
of records. It is the argument `snapshot` or else the scene's `world`. Without a snapshot, or where it is
null, nothing is known and the assertion is not evaluated. Only the resources that a contract names are looked
at; one that is absent, or no array of objects, fails it. Records are numbered from 1 within their resource.

Nothing selected satisfies all but a minimum: add `world_count` where records must exist.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from math import fsum, inf, isfinite
from typing import Any, Final, TypeGuard

from evaluator.assertions.arguments import Names, Text
from evaluator.assertions.json_value import is_number, key_of, same_value
from evaluator.assertions.judgement import (
    Judge,
    Judgement,
    SpecError,
    failed,
    gap_to_bound,
    not_evaluated,
    over_or_short,
    passed,
    short_number,
)
from evaluator.assertions.method import Method
from evaluator.assertions.snapshot import Numbered, Record, Related, Snapshot, SnapshotError, read_related
from evaluator.assertions.view import TraceView
from evaluator.assertions.wording import and_more, beyond_text, counted, range_text
from evaluator.values import MISSING, compact, number_text

Fields = dict[str, Any]


def _on_world(
    resource: str,
    where: Fields | None,
    snapshot: Any,
    judge_records: Callable[[list[Numbered], Snapshot], Judgement],
) -> Judge:
    """The judge of the selected records of a resource."""
    wanted = where or {}

    def judge(view: TraceView) -> Judgement:
        taken = view.world if snapshot is MISSING else snapshot
        if taken is MISSING or taken is None:
            return not_evaluated(resource, "snapshot of the world")
        try:
            world = Snapshot(taken)
            records = [
                Numbered(number, record)
                for number, record in enumerate(world.records(resource), 1)
                if all(name in record and same_value(record[name], wanted[name]) for name in wanted)
            ]
            return judge_records(records, world)
        except SnapshotError as error:
            return failed(1.0, str(error), reason="target")

    return judge


def _selection(resource: str, where: Fields | None) -> str:
    return f"{resource} where {compact(where)}" if where else resource


# Counting


def world_count(
    *,
    resource: Text,
    equals: float | None = None,
    at_most: float | None = None,
    at_least: float | None = None,
    where: Fields | None = None,
    snapshot: Any = MISSING,
) -> Judge:
    """So many records of the resource are selected by `where`, whose fields must all be equal."""
    if equals is not None and (at_most is not None or at_least is not None):
        raise SpecError("equals stands without at_most and at_least", "equals")
    if equals is None and at_most is None and at_least is None:
        raise SpecError("equals, at_most or at_least is needed")
    what = _selection(resource, where)
    least, most = (None if bound is None else number_text(bound) for bound in (at_least, at_most))
    wanted = f"= {number_text(equals)}" if equals is not None else range_text(least, most)

    def judge_records(records: list[Numbered], _world: Snapshot) -> Judgement:
        count = len(records)
        if equals is not None:
            over, short = max(0, count - equals), max(0, equals - count)
        else:
            over = 0 if at_most is None else gap_to_bound(count, "lte", at_most)
            short = 0 if at_least is None else gap_to_bound(count, "gte", at_least)
        if not over and not short:
            return passed(lambda: f"{what}: {counted(count, 'record')}, {wanted}")
        distances = (short_number(gap) if gap else None for gap in (over, short))
        beyond = beyond_text(*distances)
        return failed(max(over, short), lambda: f"{what}: expected {wanted}, got {count}{beyond}")

    return _on_world(resource, where, snapshot, judge_records)


# Distinct records


def world_unique(
    *, resource: Text, by: Names | Text, where: Fields | None = None, snapshot: Any = MISSING
) -> Judge:
    """No two selected records have the same value of the field, or tuple of values of the fields.

    A record in which one is absent or null cannot be shown unique and violates.
    """
    names = (by,) if isinstance(by, str) else by
    what = f"{_selection(resource, where)} by {', '.join(names)}"

    def told(repeated: list[tuple[str, int]]) -> str:
        times = [
            f"{shown} {'occurs ' if at == 0 else ''}{n} times" for at, (shown, n) in enumerate(repeated[:3])
        ]
        return f"{', '.join(times)}{and_more(len(repeated) - len(times))}"

    return _distinct(resource, names, where, snapshot, f"{what}: expected distinct", told)


def world_idempotent(
    *, resource: Text, key: Text = "idempotency_key", where: Fields | None = None, snapshot: Any = MISSING
) -> Judge:
    """No two selected records have the same key, and none is without."""
    what = f"{_selection(resource, where)}: expected one record per {key}"

    def told(repeated: list[tuple[str, int]]) -> str:
        shown, times = repeated[0]
        return f"{shown} has {times}{and_more(len(repeated) - 1)}"

    return _distinct(resource, (key,), where, snapshot, what, told)


def _distinct(
    resource: str,
    names: Sequence[str],
    where: Fields | None,
    snapshot: Any,
    wanted: str,
    told: Callable[[list[tuple[str, int]]], str],
) -> Judge:
    def judge_records(records: list[Numbered], _world: Snapshot) -> Judgement:
        groups: dict[Hashable, list[Record]] = {}
        without: list[Numbered] = []
        for numbered in records:
            record = numbered.record
            if any(record.get(name) is None for name in names):
                without.append(numbered)
            else:
                groups.setdefault(tuple(key_of(record[name]) for name in names), []).append(record)
        repeated = [group for group in groups.values() if len(group) > 1]
        gap = len(without) + sum(len(group) - 1 for group in repeated)
        if not gap:
            return passed(
                lambda: f"{wanted.replace(': expected', ':', 1)} in {counted(len(records), 'record')}"
            )

        def why() -> str:
            parts = []
            if repeated:
                parts.append(told([(_values_text(group[0], names), len(group)) for group in repeated]))
            if without:
                number, record = without[0]
                name = next(name for name in names if record.get(name) is None)
                lacks = f"{name} null" if name in record else f"no {name}"
                parts.append(f"record {number} has {lacks}{and_more(len(without) - 1)}")
            return f"{wanted}, {'; '.join(parts)}"

        return failed(gap, why)

    return _on_world(resource, where, snapshot, judge_records)


def _values_text(record: Record, names: Sequence[str]) -> str:
    return compact(record[names[0]] if len(names) == 1 else [record[name] for name in names])


# Sums and joins


def world_sum(
    *,
    resource: Text,
    field: Text,
    at_most: float | Fields,
    where: Fields | None = None,
    snapshot: Any = MISSING,
) -> Judge:
    """The sum of a field over the selected records is at most a number, or the field of a related record.

    `{"resource", "field", "on"}` groups the records by `on`; the sum of each group is at most the field of
    the one record of that resource with the same `on`. A selected record whose field is absent or no number
    fails.
    """
    if isinstance(at_most, dict):
        return _sum_perread_related(resource, field, read_related(at_most, "at_most"), where, snapshot)
    bound, what = at_most, f"{resource}.{field}{_selection('', where)}"

    def judge_records(records: list[Numbered], _world: Snapshot) -> Judgement:
        bad = _without_number(records, field)
        if bad:
            return failed(len(bad), lambda: _bad_text(what, field, bad))
        total = _total([record[field] for _, record in records])
        gap = gap_to_bound(total, "lte", bound)
        if not gap:
            return passed(lambda: f"{what} = {number_text(total)} ≤ {number_text(bound)}")
        return failed(gap, lambda: f"{what}: {_over_text(total, bound)}")

    return _on_world(resource, where, snapshot, judge_records)


def _sum_perread_related(
    resource: str, field: str, related: Related, where: Fields | None, snapshot: Any
) -> Judge:
    what, on = f"{resource}.{field}{_selection('', where)}", related.on

    def judge_group(group: list[Numbered], found: list[Record]) -> tuple[float, Callable[[], str]] | None:
        """The gap of one group and its why; None where it keeps its bound."""

        def name() -> str:
            return f"{what} for {on} {compact(group[0].record[on])}"

        bad = _without_number(group, field)
        if bad:
            return len(bad), lambda: _bad_text(name(), field, bad)
        bound = found[0].get(related.field, MISSING) if len(found) == 1 else MISSING
        if not _is_amount(bound):
            return 1.0, lambda: f"{name()}: {_unjoined_text(related, found, 'a number')}"
        total = _total([record[field] for _, record in group])
        gap = gap_to_bound(total, "lte", bound)
        return (gap, lambda: f"{name()}: {_over_text(total, bound, related.name)}") if gap else None

    def judge_records(records: list[Numbered], world: Snapshot) -> Judgement:
        bounds, (groups, keyless) = world.by_key(related), _grouped(records, on)
        judged = [judge_group(group, bounds.get(key, [])) for key, group in groups.items()]
        wrong = [violation for violation in judged if violation is not None]
        wrong += [(1.0, partial(_keyless_text, resource, on, numbered)) for numbered in keyless]
        if not wrong:
            return passed(lambda: f"{what} ≤ {related.name} for each of {counted(len(groups), on)}")
        return failed(sum(gap for gap, _ in wrong), lambda: f"{wrong[0][1]()}{and_more(len(wrong) - 1)}")

    return _on_world(resource, where, snapshot, judge_records)


def world_matches(
    *, resource: Text, field: Text, rel: Fields, where: Fields | None = None, snapshot: Any = MISSING
) -> Judge:
    """Each selected record's field equals the field of its related record, `{"resource", "field", "on"}`.

    It violates when there is no such record or more than one, and when the field is absent on either side.
    """
    related = read_related(rel, "rel")
    what, on = f"{resource}.{field}", related.on

    def judge_records(records: list[Numbered], world: Snapshot) -> Judgement:
        others = world.by_key(related)

        def corresponding(record: Record) -> list[Record]:
            return [] if record.get(on) is None else others.get(key_of(record[on]), [])

        def matches(record: Record) -> bool:
            found = corresponding(record)
            if len(found) != 1 or field not in record or related.field not in found[0]:
                return False
            return same_value(record[field], found[0][related.field])

        def why() -> str:
            numbered = wrong[0]
            number, record = numbered
            more = and_more(len(wrong) - 1)
            if record.get(on) is None:
                return f"{_keyless_text(resource, on, numbered)}{more}"
            found = corresponding(record)
            if len(found) != 1 or related.field not in found[0]:
                key = f"{on} {compact(record[on])}"
                told = _unjoined_text(related, found, "a value")
                return f"{what} (record {number}) for {key}: {told}{more}"
            wanted, got = compact(found[0][related.field]), _found_text(record, field)
            return f"{what} (record {number}): expected {wanted} ({related.name}), got {got}{more}"

        wrong = [numbered for numbered in records if not matches(numbered.record)]
        if not wrong:
            return passed(lambda: f"{what} = {related.name} in {counted(len(records), 'record')}")
        return failed(len(wrong), why)

    return _on_world(resource, where, snapshot, judge_records)


def _grouped(records: list[Numbered], on: str) -> tuple[dict[Hashable, list[Numbered]], list[Numbered]]:
    """The records by their value in `on`; those in which it is absent or null apart."""
    groups: dict[Hashable, list[Numbered]] = {}
    keyless = []
    for numbered in records:
        key = numbered.record.get(on)
        if key is None:
            keyless.append(numbered)
        else:
            groups.setdefault(key_of(key), []).append(numbered)
    return groups, keyless


def _is_amount(value: Any) -> TypeGuard[float]:
    return is_number(value) and (type(value) is int or isfinite(value))


def _without_number(records: list[Numbered], field: str) -> list[Numbered]:
    return [numbered for numbered in records if not _is_amount(numbered.record.get(field))]


def _total(amounts: list[float]) -> float:
    """The sum, rounded once: the order of the records is no matter."""
    if all(type(amount) is int for amount in amounts):
        return sum(amounts)
    try:
        return fsum(amounts)
    except OverflowError:
        from fractions import Fraction  # not at the top: it costs start-up

        return inf if sum(map(Fraction, amounts)) > 0 else -inf


def _found_text(record: Record, field: str) -> str:
    return compact(record[field]) if field in record else "nothing"


def _over_text(total: float, bound: float, source: str = "") -> str:
    named = f" ({source})" if source else ""
    over = over_or_short(total, "lte", bound)
    return f"expected ≤ {number_text(bound)}{named}, got {number_text(total)}{over}"


def _bad_text(what: str, field: str, bad: list[Numbered]) -> str:
    number, record = bad[0]
    got = _found_text(record, field)
    return f"{what}: expected numbers, record {number} has {got}{and_more(len(bad) - 1)}"


def _unjoined_text(related: Related, found: list[Record], wanted: str) -> str:
    if len(found) != 1:
        return f"expected one record of {related.resource}, got {len(found) or 'none'}"
    return f"expected {wanted} in {related.name}, got {_found_text(found[0], related.field)}"


def _keyless_text(resource: str, on: str, numbered: Numbered) -> str:
    number, record = numbered
    return f"{resource} (record {number}): expected a value in {on}, got {_found_text(record, on)}"


_RELATED: Final = {
    "type": "object",
    "required": [*Related._fields],
    "properties": {name: {"type": "string", "minLength": 1} for name in Related._fields},
}
_BOUNDED: Final = [{"required": ["at_most"]}, {"required": ["at_least"]}]
_ASKS: Final[dict[str, dict[str, Any]]] = {
    "world_count": {
        "if": {"required": ["equals"]},
        "then": {"not": {"anyOf": _BOUNDED}},
        "else": {"anyOf": _BOUNDED},
    },
    "world_sum": {
        "if": {"properties": {"at_most": {"type": "object"}}},
        "then": {"properties": {"at_most": _RELATED}},
    },
    "world_matches": {"allOf": [{"properties": {"rel": _RELATED}}]},
}

METHODS: Final = tuple(
    Method(factory.__name__, "effect", factory, soft=False, asks=_ASKS.get(factory.__name__))
    for factory in (world_count, world_unique, world_idempotent, world_sum, world_matches)
)

"""Order of steps: ``trace.before``, also correlated, ``trace.tools_called_in_order``, partial orders."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator.values import MISSING
from induce.column import Column, is_number, scalar_key
from induce.grammar import Costs
from induce.operations.family import LEAST_KEPT, LEAST_SHARE, LONGEST_VALUE, Batch
from induce.operations.lanes import Lane, Traces, coded
from induce.profile import Scope
from induce.set_beam import Codes
from induce.tool_sets import ToolSets

JSON = Any
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
CELLS = 5e7
"""Truth-table cells that the candidates of one operator may take, for each path that is the same."""
MOST_SHARED = 6
"""Paths whose values may be asked to be the same, the ones that most often come back first."""
MOST_PAIRED = 3
"""Of these, the ones of which two together may be."""
LEADERS = 200
"""Sets of tools that may come first, or then, the cheapest."""
CONDITIONS, LEAST_MET = 60, 3
"""Tools with a value at a path that may come first, or then, the cheapest; in how many scenes at least."""
ORDERED_TOOLS = 24
"""The most frequent tools, of which three may be asked for in order."""
PAIRS = 120
"""Pairs of tools of which two may stand in a partial order, the most telling that share a tool."""


class Before(NamedTuple):
    """Each step of the tools `then` has an earlier one of the tools `first`, with equal values at `same`."""

    first: Codes
    then: Codes
    same: tuple[str, ...]


class Condition(NamedTuple):
    """A step of a tool with a value at a path; `code` is that of the value in its column."""

    tool: int
    path: str
    code: int


class _Places(NamedTuple):
    """Where tools come first: in scenes, or in groups of the steps of a scene that share a value.

    `first` is (tools and conditions, groups), `scene` and `starts` are each group's scene and the first group
    of each scene that has any, `lacking` is (tools and conditions, scenes): whether a step has no value.
    """

    first: Ints
    scene: Ints
    starts: Ints
    lacking: Mask


class BeforeFamily:
    """``trace.before`` between sets of tools that have none in common, or tools with a value at a path.

    Such a condition has a code like a tool, from the number of names on.

    Parameters
    ----------
    sets : sequence of tuple of int
        Sets of two tools and more that may be named one by one.
    """

    op = "trace.before"

    def __init__(self, root: Scope, tools: ToolSets, sets: Sequence[Codes], costs: Costs) -> None:
        self.tools, self.costs, self.scope = tools, costs, tools.scope
        scope = tools.scope
        code_of = np.full(len(tools.column.distinct) + 1, -1, np.int64)
        code_of[list(tools.codes)] = tools.codes
        self.lane = Lane(scope.owner, code_of[tools.column.codes], len(tools.column.distinct), len(root.rows))
        groups = [(code,) for code in tools.codes] + list(tools.classes) + list(sets)
        prices = {members: tools.bits(members, costs.member) for members in dict.fromkeys(groups)}
        priced = sorted((bits, condition) for condition, bits in self._conditions().items())[:CONDITIONS]
        self.conditions = [condition for _, condition in priced]
        self._code_of = {one: self.lane.tools + at for at, one in enumerate(self.conditions)}
        prices |= {(self._code_of[condition],): bits for bits, condition in priced}
        ranked = sorted(prices, key=lambda members: (prices[members], members))
        self._prices = {members: prices[members] for members in ranked[:LEADERS]}
        self.shared = self._shared()
        self._kept: dict[tuple[str, ...], _Places] = {}

    def _conditions(self) -> dict[Condition, float]:
        """Values that some steps of a tool have and others lack, in several scenes; with their prices."""
        lane, found = self.lane, {}
        for tool in self.tools.codes:
            rows = np.flatnonzero(lane.code == tool)
            held = {}
            for path, column in self.scope.columns.items():
                codes = column.codes[rows]
                if column.kind == "plain" and path != "name" and (codes >= 0).any():
                    held[path] = codes
            for path, codes in held.items():
                column = self.scope.columns[path]
                if column.identifier_like:
                    continue
                choice = self.costs.path * math.log2(len(held)) + math.log2(len(column.distinct))
                bits = self.tools.choice(tool) + self.costs.eq + choice + self.costs.level * column.levels
                for code in np.unique(codes[codes >= 0]).tolist():
                    there = codes == code
                    if not there.all() and len(np.unique(lane.scene[rows[there]])) >= LEAST_MET:
                        number = self.costs.number if is_number(column.distinct[code]) else 0.0
                        found[Condition(tool, path, code)] = bits + number
        return found

    def _tools_of(self, members: Codes) -> frozenset[int]:
        """The tools that a set, or a condition, speaks of."""
        names = self.lane.tools
        return frozenset(code if code < names else self.conditions[code - names].tool for code in members)

    def _shared(self) -> dict[tuple[str, ...], Ints]:
        """The paths, one or two, whose values may be the same, with the codes of each row's values."""
        scores: dict[str, int] = {}
        codes_of: dict[str, Ints] = {}
        for path, column in self.scope.columns.items():
            if path.split(".")[0] in ("name", "type", "result", "") or not _may_be_shared(column):
                continue
            codes = coded(column.values)
            cells = self.lane.scene[codes >= 0] * (int(codes.max(initial=0)) + 1) + codes[codes >= 0]
            seen, counts = np.unique(cells, return_counts=True)
            several = int((counts > 1).sum())
            tools = len(np.unique(self.lane.code[codes >= 0]))
            if several and tools > 1 and len(seen) > len(np.unique(self.lane.scene[codes >= 0])):
                scores[path], codes_of[path] = several, codes
        ranked = sorted(scores, key=lambda path: (-scores[path], path))[:MOST_SHARED]
        found: dict[tuple[str, ...], Ints] = {(path,): codes_of[path] for path in ranked}
        for left, right in combinations(ranked[:MOST_PAIRED], 2):
            one, other = codes_of[left], codes_of[right]
            both = np.where((one < 0) | (other < 0), -1, one * (int(other.max(initial=0)) + 1) + other)
            found[(left, right)] = both
        return found

    def bits(self, key: Before) -> float | None:
        if key.first not in self._prices or key.then not in self._prices:
            return None
        if self._tools_of(key.first) & self._tools_of(key.then):
            return None
        if (key.same and key.same not in self.shared) or not self._is_supported(key):
            return None
        return self._price(key)

    def _price(self, key: Before) -> float:
        return self.costs.order + self._prices[key.first] + self._prices[key.then] + self._same_bits(key.same)

    def _is_supported(self, key: Before) -> bool:
        places = self._places(key.same)
        if key.first not in self._leading(places):
            return False
        leading: Ints = places.first[list(key.first)].min(axis=0)
        following: Ints = places.first[list(key.then)].min(axis=0, keepdims=True)
        lacks: Mask = np.logical_or.reduce(places.lacking[list(key.then)], axis=0, keepdims=True)
        fails = self._fails(places, leading, following, lacks)
        return bool(self._supported(places, following, lacks, fails)[0])

    def _same_bits(self, same: tuple[str, ...]) -> float:
        choice = math.log2(max(1, min(len(self.shared), MOST_SHARED)))
        return sum(self.costs.correlated + choice for _ in same)

    def said(self, key: Before) -> dict[str, JSON]:
        fields = {
            "collection": self.scope.name,
            "first": self._named(key.first),
            "then": self._named(key.then),
        }
        if key.same:
            fields["same"] = key.same[0] if len(key.same) == 1 else list(key.same)
        return fields

    def _named(self, members: Codes) -> dict[str, JSON]:
        if members[0] >= self.lane.tools:
            condition = self.conditions[members[0] - self.lane.tools]
            value = self.scope.columns[condition.path].distinct[condition.code]
            test = {"op": "eq", "path": condition.path, "value": value}
            return {"op": "and", "of": [self._named((condition.tool,)), test]}
        tests = [{"op": "eq", "path": "name", "value": self.tools.column.distinct[code]} for code in members]
        return tests[0] if len(tests) == 1 else {"op": "or", "of": tests}

    def read(self, fields: dict[str, JSON]) -> Before | None:
        first, then = (self._members(fields[name]) for name in ("first", "then"))
        if first is None or then is None or fields["collection"] != self.scope.name:
            return None
        same = fields.get("same", [])
        return Before(first, then, tuple(sorted([same] if isinstance(same, str) else same, key=self._rank)))

    def _rank(self, path: str) -> tuple[int, str]:
        order = [same[0] for same in self.shared if len(same) == 1]
        return (order.index(path) if path in order else len(order)), path

    def _members(self, check: dict[str, JSON]) -> Codes | None:
        if check["op"] == "and":
            return self._conditioned(check["of"])
        tests = check["of"] if check["op"] == "or" else [check]
        codes = []
        for test in tests:
            plain = test["op"] == "eq" and test.get("path") == "name" and set(test) == {"op", "path", "value"}
            value = test.get("value")
            if not plain or not isinstance(value, str) or value not in self.tools.code_of:
                return None
            codes.append(self.tools.code_of[value])
        return tuple(sorted(set(codes)))

    def _conditioned(self, tests: list[dict[str, JSON]]) -> Codes | None:
        names = [self._members(test) for test in tests if test.get("path") == "name"]
        others = [test for test in tests if test.get("path") != "name"]
        if len(names) != 1 or len(others) != 1 or set(others[0]) != {"op", "path", "value"}:
            return None
        column, key = self.scope.columns.get(others[0]["path"]), scalar_key(others[0]["value"])
        if others[0]["op"] != "eq" or names[0] is None or len(names[0]) != 1 or column is None or key is None:
            return None
        codes = [code for code, value in enumerate(column.distinct) if scalar_key(value) == key]
        found = [self._code_of.get(Condition(names[0][0], column.path, code)) for code in codes]
        return None if not found or found[0] is None else (found[0],)

    def batches(self) -> Iterator[Batch]:
        for same in ((), *self.shared):
            yield from self._of(same)

    def _of(self, same: tuple[str, ...]) -> Iterator[Batch]:
        places = self._places(same)
        sets = list(self._prices)
        firsts = np.array([places.first[list(members)].min(axis=0) for members in sets])
        lacks = np.array([places.lacking[list(members)].any(axis=0) for members in sets])
        named = [self._tools_of(members) for members in sets]
        for leading in self._leading(places):
            at = sets.index(leading)
            fails = self._fails(places, firsts[at], firsts, lacks)
            supported = self._supported(places, firsts, lacks, fails)
            fails |= ~self.scope.is_array
            chosen = [i for i in np.flatnonzero(supported).tolist() if named[at].isdisjoint(named[i])]
            if chosen:
                keys = [Before(leading, sets[i], same) for i in chosen]
                yield Batch(keys, ~fails[chosen], fails[chosen], list(map(self._price, keys)))

    def _leading(self, places: _Places) -> list[Codes]:
        """The sets that may lead, as many as there is room for in the table."""
        sets = list(self._prices)
        return sets[: max(1, int(CELLS / max(1, len(sets) * len(places.scene))))]

    def _fails(self, places: _Places, leading: Ints, firsts: Ints, lacks: Mask) -> Mask:
        """Scenes in which a step of some tools has no leading one before it: (sets, scenes).

        `firsts` are the first rows of each set in each group, `leading` those of the tools that lead, and
        `lacks` the scenes in which a step of a set has no value at the paths.
        """
        fails = lacks.copy()
        if len(places.starts):
            early = (firsts < len(self.lane)) & (firsts <= leading)
            fails[:, places.scene[places.starts]] |= np.logical_or.reduceat(early, places.starts, axis=1)
        return fails

    def _supported(self, places: _Places, firsts: Ints, lacks: Mask, fails: Mask) -> Mask:
        """Whether in enough scenes there are such steps and all of them have a leading one: (sets,).

        Without that the rule would say no more than that there are none.
        """
        there = lacks.copy()
        if len(places.starts):
            late = firsts < len(self.lane)
            there[:, places.scene[places.starts]] |= np.logical_or.reduceat(late, places.starts, axis=1)
        in_order = (there & ~fails).sum(axis=1)
        supported: Mask = (in_order >= LEAST_KEPT) & (in_order >= LEAST_SHARE * there.sum(axis=1))
        return supported

    def _places(self, same: tuple[str, ...]) -> _Places:
        if same not in self._kept:
            lane = self.lane
            everywhere = np.ones(len(lane), np.bool_)
            group, scene, without = lane.scene, np.arange(lane.scenes), ~everywhere
            if same:
                group, scene = self._groups(self.shared[same])
                without = group < 0
            first = np.full((lane.tools + len(self.conditions), len(scene)), len(lane), np.int64)
            lacking = np.zeros((len(first), lane.scenes), np.bool_)
            first[: lane.tools] = lane.first_in(group, len(scene))
            lacking[lane.code[without & (lane.code >= 0)], lane.scene[without & (lane.code >= 0)]] = True
            for code, condition in enumerate(self.conditions, lane.tools):
                met = (lane.code == condition.tool) & (
                    self.scope.columns[condition.path].codes == condition.code
                )
                rows = np.flatnonzero(met & ~without)[::-1]
                first[code, group[rows]] = rows
                lacking[code, lane.scene[met & without]] = True
            starts = np.flatnonzero(np.diff(scene, prepend=-1)) if len(scene) else np.zeros(0, np.int64)
            self._kept[same] = _Places(first, scene, starts, lacking)
        return self._kept[same]

    def _groups(self, codes: Ints) -> tuple[Ints, Ints]:
        """The rows of a scene that have one value, as groups: each row's (-1: none), each group's scene."""
        width = int(codes.max(initial=0)) + 1
        group = np.full(len(codes), -1, np.int64)
        cells = (self.lane.scene * width + codes)[codes >= 0]
        seen, group[codes >= 0] = np.unique(cells, return_inverse=True)
        return group, seen // width


def _may_be_shared(column: Column) -> bool:
    """Whether a path holds scalars, and no texts that are written rather than copied."""
    scalars = [v for v in column.values if v is not MISSING and not isinstance(v, dict | list)]
    longest = max((len(v) for v in scalars if isinstance(v, str)), default=0)
    return column.kind == "plain" and bool(scalars) and longest <= LONGEST_VALUE


class InOrderFamily:
    """``trace.tools_called_in_order`` with two or three names."""

    op = "trace.tools_called_in_order"

    def __init__(self, traces: Traces, tools: ToolSets, costs: Costs) -> None:
        self.traces, self.tools, self.costs = traces, tools, costs
        totals = traces.steps.counts.sum(axis=1)
        usual = sorted(range(len(traces.names)), key=lambda code: (-int(totals[code]), code))
        self.usual = sorted(usual[:ORDERED_TOOLS])

    def bits(self, key: Codes) -> float | None:
        if len(key) not in (2, 3) or (len(key) == 3 and not set(key) <= set(self.usual)):
            return None
        if any(a == b for a, b in pairwise(key)):
            return None
        return self.costs.operation + sum(map(self._choice, key)) + self.costs.member * (len(key) - 1)

    def _choice(self, code: int) -> float:
        return self.tools.choice(self.tools.code_of[self.traces.names[code]])

    def said(self, key: Codes) -> dict[str, JSON]:
        return {"tools": [self.traces.names[code] for code in key]}

    def read(self, fields: dict[str, JSON]) -> Codes | None:
        return read_names(fields, self.traces.names, "tools")

    def batches(self) -> Iterator[Batch]:
        lane = self.traces.steps
        for one in range(lane.tools):
            second = lane.after[:, lane.first[one]]
            others = [code for code in range(lane.tools) if code != one]
            yield self._batch([(one, other) for other in others], second[others])
            if one not in self.usual:
                continue
            for other in self.usual:
                if other != one and (second[other] < len(lane)).any():
                    third = lane.after[:, second[other]]
                    last = [code for code in self.usual if code != other]
                    yield self._batch([(one, other, code) for code in last], third[last])

    def _batch(self, keys: list[Codes], reached: Ints) -> Batch:
        passes = reached < len(self.traces.steps)
        return Batch(keys, passes & self.traces.known, ~passes & self.traces.known)


Order = tuple[tuple[int, int], ...]


class PartialOrderFamily:
    """``behaviour.trajectory_partial_order`` of one pair of tools, or of two that share a tool."""

    op = "behaviour.trajectory_partial_order"

    def __init__(self, traces: Traces, tools: ToolSets, costs: Costs) -> None:
        self.traces, self.tools, self.costs = traces, tools, costs

    def bits(self, key: Order) -> float | None:
        if len(key) not in (1, 2) or any(one == other for one, other in key) or len(set(key)) != len(key):
            return None
        if len(key) == 2 and (not set(key[0]) & set(key[1]) or key[0] == key[1][::-1]):
            return None
        names = dict.fromkeys(code for pair in key for code in pair)
        return (
            self.costs.operation
            + sum(self.tools.choice(self.tools.code_of[self.traces.names[code]]) for code in names)
            + self.costs.member * (2 * len(key) - 1)
        )

    def said(self, key: Order) -> dict[str, JSON]:
        return {"order": [[self.traces.names[code] for code in pair] for pair in key]}

    def read(self, fields: dict[str, JSON]) -> Order | None:
        if set(fields) != {"order"}:
            return None
        codes = {name: code for code, name in enumerate(self.traces.names)}
        pairs = [tuple(codes.get(name, -1) for name in pair) for pair in fields["order"]]
        if any(len(pair) != 2 or -1 in pair for pair in pairs):
            return None
        return tuple(sorted({(pair[0], pair[1]) for pair in pairs}))

    def batches(self) -> Iterator[Batch]:
        lane, known = self.traces.calls, self.traces.known
        called = lane.first < len(lane)
        pairs = [
            (one, other)
            for one, other in permutations(range(lane.tools), 2)
            if (called[one] & called[other]).any()
        ]
        if not pairs:
            return
        one, other = np.array(pairs).T
        truth = called[one] & called[other] & (lane.first[one] < lane.first[other]) & known
        yield Batch([(pair,) for pair in pairs], truth, ~truth & known)
        support = truth.sum(axis=1)
        usual = np.argsort(-support, kind="stable")[:PAIRS]
        two = [
            (int(left), int(right))
            for left, right in combinations(sorted(usual.tolist()), 2)
            if set(pairs[left]) & set(pairs[right]) and pairs[left] != pairs[right][::-1]
        ]
        if two:
            left, right = np.array(two).T
            joint = truth[left] & truth[right]
            keys = [tuple(sorted((pairs[a], pairs[b]))) for a, b in two]
            yield Batch(keys, joint, ~joint & known)


def read_names(fields: dict[str, JSON], names: Sequence[str], field: str) -> Codes | None:
    """The codes of the tools in a field that is the only one; None where one is unknown."""
    if set(fields) != {field}:
        return None
    codes = {name: code for code, name in enumerate(names)}
    found = tuple(codes.get(name, -1) for name in fields[field])
    return None if -1 in found else found

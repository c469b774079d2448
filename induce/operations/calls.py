"""Calls: how often for each value of an argument, repeated, in cycles, failing in a row, grounded."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator.assertions.json_value import key_of
from evaluator.values import MISSING
from induce.grammar import Costs
from induce.operations.family import LEAST_KEPT, LEAST_SHARE, LONGEST_VALUE, Batch
from induce.operations.lanes import Traces
from induce.tool_sets import ToolSets

JSON = Any
Mask = NDArray[np.bool_]
MOST_PER, MOST_REPEATS, LONGEST_STREAK = 4, 4, 4
PERIODS = (1, 2, 3, 4)
LOOKED_UP = 30_000
"""Values of arguments that are looked for in what was said before, at most."""


class ToolPrices:
    """What naming a tool, and an argument of it, costs."""

    def __init__(self, traces: Traces, tools: ToolSets, costs: Costs) -> None:
        self.traces, self.tools, self.costs = traces, tools, costs

    def tool(self, code: int) -> float:
        return self.tools.choice(self.tools.code_of[self.traces.names[code]])

    def argument(self, code: int, path: str) -> float | None:
        """Bits for an argument of a tool; None for one that it never takes."""
        paths = self.traces.paths_of[code]
        if path not in paths:
            return None
        return self.costs.path * math.log2(len(paths)) + self.costs.level * (path.count(".") + 1)

    def code(self, name: JSON) -> int | None:
        return self.traces.names.index(name) if name in self.traces.names else None


class Cardinality(NamedTuple):
    """So many calls of a tool for each value of an argument; `bound` is ``at_most`` or ``at_least``."""

    tool: int
    per: str
    bound: str
    number: int


class CardinalityFamily:
    """``behaviour.tool_cardinality`` with ``per``; without it, a core ``count`` says the same."""

    op = "behaviour.tool_cardinality"

    def __init__(self, prices: ToolPrices) -> None:
        self.prices, self.traces = prices, prices.traces

    def bits(self, key: Cardinality) -> float | None:
        least, most = (1, MOST_PER) if key.bound == "at_most" else (2, MOST_PER)
        path = self.prices.argument(key.tool, key.per)
        if path is None or not least <= key.number <= most:
            return None
        number = 1 + 2 * math.log2(key.number)
        return self.prices.costs.operation + self.prices.tool(key.tool) + path + number

    def said(self, key: Cardinality) -> dict[str, JSON]:
        return {"tool": self.traces.names[key.tool], "per": key.per, key.bound: key.number}

    def read(self, fields: dict[str, JSON]) -> Cardinality | None:
        bounds = [name for name in ("at_most", "at_least") if name in fields]
        tool = self.prices.code(fields.get("tool"))
        if tool is None or len(bounds) != 1 or set(fields) != {"tool", "per", *bounds}:
            return None
        return Cardinality(tool, fields["per"], bounds[0], int(fields[bounds[0]]))

    def batches(self) -> Iterator[Batch]:
        lane, known = self.traces.calls, self.traces.known
        for tool, paths in enumerate(self.traces.paths_of):
            rows = lane.code == tool
            for path in paths:
                codes = self.traces.arguments[path][1]
                scene, value = lane.scene[rows & (codes >= 0)], codes[rows & (codes >= 0)]
                unknown = np.bincount(lane.scene[rows & (codes < 0)], minlength=lane.scenes)
                most, least = _group_sizes(scene, value, lane.scenes)
                called = lane.counts[tool] > 0
                keys, passes, fails = [], [], []
                for number in range(1, MOST_PER + 1):
                    over = most > number
                    keys.append(Cardinality(tool, path, "at_most", number))
                    passes.append(~over & (unknown == 0) & known)
                    fails.append(over & known)
                    if number > 1:
                        fullest = np.where(least > 0, least + unknown, unknown)
                        short = ~called | (fullest < number)
                        keys.append(Cardinality(tool, path, "at_least", number))
                        passes.append(~short & (unknown == 0) & known)
                        fails.append(short & known)
                yield Batch(keys, np.array(passes), np.array(fails))


def _group_sizes(
    scene: NDArray[np.int64], value: NDArray[np.int64], scenes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often the most and the least frequent value stands in each scene, 0 without any."""
    most, least = np.zeros(scenes, np.int64), np.full(scenes, np.iinfo(np.int64).max)
    if len(value):
        width = int(value.max()) + 1
        cells, counts = np.unique(scene * width + value, return_counts=True)
        np.maximum.at(most, cells // width, counts)
        np.minimum.at(least, cells // width, counts)
    return most, np.where(most > 0, least, 0)


class DistinctFamily:
    """``trace.distinct``, of all calls (key -1) or those of a tool."""

    op = "trace.distinct"

    def __init__(self, prices: ToolPrices) -> None:
        self.prices, self.traces = prices, prices.traces

    def bits(self, key: int) -> float | None:
        return self.prices.costs.operation + (1.0 if key < 0 else 1.0 + self.prices.tool(key))

    def said(self, key: int) -> dict[str, JSON]:
        return {} if key < 0 else {"tool": self.traces.names[key]}

    def read(self, fields: dict[str, JSON]) -> int | None:
        if not fields:
            return -1
        return self.prices.code(fields["tool"]) if set(fields) == {"tool"} else None

    def batches(self) -> Iterator[Batch]:
        lane, known = self.traces.calls, self.traces.known
        given = [key_of(step["args"]) if "args" in step else () for step in self.traces.call_steps]
        ids: dict[Any, int] = {}
        arguments = np.array([ids.setdefault((key,), len(ids)) for key in given], np.int64)
        repeated = np.zeros((lane.tools + 1, lane.scenes), np.bool_)
        seen: set[tuple[int, str, int]] = set()
        for row, (at, step) in enumerate(zip(lane.scene.tolist(), self.traces.call_steps, strict=True)):
            name = step.get("name")
            call = (at, name if isinstance(name, str) else "", int(arguments[row]))
            if call in seen:
                repeated[lane.code[row], at] = repeated[-1, at] = True
            seen.add(call)
        keys = [*range(lane.tools), -1]
        yield Batch(keys, ~repeated & known, repeated & known)


class GroundedFamily:
    """``trace.grounded`` for the arguments of tools that some scenes take from what was said before.

    Of one that no scene does, it would say no more than that the tool is not called.
    """

    op = "trace.grounded"

    def __init__(self, prices: ToolPrices) -> None:
        self.prices, self.traces = prices, prices.traces

    def bits(self, key: tuple[int, str]) -> float | None:
        path = self.prices.argument(*key)
        if path is None or key not in self._judged:
            return None
        return self.prices.costs.operation + self.prices.tool(key[0]) + path

    def said(self, key: tuple[int, str]) -> dict[str, JSON]:
        return {"tool": self.traces.names[key[0]], "arg": key[1]}

    def read(self, fields: dict[str, JSON]) -> tuple[int, str] | None:
        tool = self.prices.code(fields.get("tool"))
        return None if tool is None or set(fields) != {"tool", "arg"} else (tool, fields["arg"])

    def batches(self) -> Iterator[Batch]:
        for key, (passes, fails) in self._judged.items():
            yield Batch([key], passes[None, :], fails[None, :])

    @cached_property
    def _judged(self) -> dict[tuple[int, str], tuple[Mask, Mask]]:
        """The candidates with the scenes on which each passes, and fails."""
        lane, left = self.traces.calls, LOOKED_UP
        found: dict[tuple[int, str], tuple[Mask, Mask]] = {}
        for tool, paths in enumerate(self.traces.paths_of):
            rows = np.flatnonzero(lane.code == tool).tolist()
            for path in paths:
                values = self.traces.arguments[path][0]
                left -= len(rows)
                if left < 0:
                    return found
                if any(isinstance(values[row], str) and len(values[row]) > LONGEST_VALUE for row in rows):
                    continue
                passes, fails = self._judge(rows, values)
                kept = int((passes & (lane.counts[tool] > 0)).sum())
                if kept >= LEAST_KEPT and kept >= LEAST_SHARE * int((lane.counts[tool] > 0).sum()):
                    found[(tool, path)] = passes, fails
        return found

    def _judge(self, rows: list[int], values: list[JSON]) -> tuple[Mask, Mask]:
        fails = np.zeros(self.traces.calls.scenes, np.bool_)
        lacking = fails.copy()
        for row in rows:
            at, position = self.traces.call_places[row]
            if values[row] is MISSING:
                lacking[at] = True
            elif not fails[at] and not self.traces.views[at].said.holds(values[row], before=position):
                fails[at] = True
        return ~fails & ~lacking & self.traces.known, fails


class CyclesFamily:
    """``behaviour.no_tool_cycles``; keys are (period, repeats)."""

    op = "behaviour.no_tool_cycles"

    def __init__(self, prices: ToolPrices) -> None:
        self.prices, self.traces = prices, prices.traces

    def bits(self, key: tuple[int, int]) -> float | None:
        period, repeats = key
        if period not in PERIODS or not 2 <= repeats <= MOST_REPEATS:
            return None
        return self.prices.costs.operation + 1 + 2 * math.log2(period) + 2 * math.log2(repeats - 1)

    def said(self, key: tuple[int, int]) -> dict[str, JSON]:
        return {"period": key[0], "min_repeats": key[1]}

    def read(self, fields: dict[str, JSON]) -> tuple[int, int] | None:
        if not {"period"} <= set(fields) <= {"period", "min_repeats"}:
            return None
        return int(fields["period"]), int(fields.get("min_repeats", 2))

    def batches(self) -> Iterator[Batch]:
        known = self.traces.known
        names = [view.call_names if good else [] for view, good in zip(self.traces.views, known, strict=True)]
        for period in PERIODS:
            most = np.array([_most_repeats(one, period) for one in names])
            keys = [(period, repeats) for repeats in range(2, MOST_REPEATS + 1)]
            fails = np.array([most >= repeats for _, repeats in keys]) & known
            yield Batch(keys, ~fails & known, fails)


def _most_repeats(names: list[str], period: int) -> int:
    """How often a block of `period` names stands back to back at most; 1 counts for none."""
    best = run = 0
    for name, later in zip(names, names[period:], strict=False):
        run = run + 1 if name == later else 0
        best = max(best, run)
    return best // period + 1


class StreakFamily:
    """``behaviour.max_tool_failure_streak``; keys are the longest streak allowed."""

    op = "behaviour.max_tool_failure_streak"

    def __init__(self, prices: ToolPrices) -> None:
        self.prices, self.traces = prices, prices.traces

    def bits(self, key: int) -> float | None:
        if not 0 <= key <= LONGEST_STREAK:
            return None
        return self.prices.costs.operation + 2 * math.log2(key + 1)

    def said(self, key: int) -> dict[str, JSON]:
        return {"max_streak": key}

    def read(self, fields: dict[str, JSON]) -> int | None:
        return int(fields["max_streak"]) if set(fields) == {"max_streak"} else None

    def batches(self) -> Iterator[Batch]:
        known = self.traces.known
        longest, evident = np.zeros(len(known), np.int64), np.zeros(len(known), np.bool_)
        for at in np.flatnonzero(known).tolist():
            outcomes = self.traces.views[at].call_failures
            run = 0
            for outcome in outcomes:
                run = run + 1 if outcome else 0
                longest[at] = max(longest[at], run)
            evident[at] = None not in outcomes
        keys = list(range(LONGEST_STREAK + 1))
        fails = np.array([longest > key for key in keys]) & known
        yield Batch(keys, ~fails & evident & known, fails)


class UniqueNamesFamily:
    """``trace.no_duplicate_tools``."""

    op = "trace.no_duplicate_tools"

    def __init__(self, prices: ToolPrices) -> None:
        self.prices, self.traces = prices, prices.traces

    def bits(self, key: bool) -> float | None:
        return self.prices.costs.operation if key else None

    def said(self, key: bool) -> dict[str, JSON]:  # noqa: ARG002 (there is but one)
        return {}

    def read(self, fields: dict[str, JSON]) -> bool | None:
        return True if not fields else None

    def batches(self) -> Iterator[Batch]:
        known = self.traces.known
        fails = np.zeros(len(known), np.bool_)
        for at in np.flatnonzero(known).tolist():
            names = [name for name in self.traces.views[at].names if name]
            fails[at] = len(set(names)) < len(names)
        yield Batch([True], (~fails & known)[None, :], fails[None, :])

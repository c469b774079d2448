"""All families over the traces and worlds of some scenes, found by their operators."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator.values import MISSING
from induce.grammar import Grammar, units
from induce.literals import Operation
from induce.operations.calls import (
    CardinalityFamily,
    CyclesFamily,
    DistinctFamily,
    GroundedFamily,
    StreakFamily,
    ToolPrices,
    UniqueNamesFamily,
)
from induce.operations.family import Family
from induce.operations.lanes import Traces
from induce.operations.order import BeforeFamily, InOrderFamily, PartialOrderFamily
from induce.operations.world import MatchesFamily, SumFamily, UniqueFamily, Worlds
from induce.profile import Scope
from induce.tool_sets import ToolSets
from induce.value_sets import ValueSets

JSON = Any
Mask = NDArray[np.bool_]


class Found(NamedTuple):
    """Some operations: costs int64 (n,), and the scenes on which each passes, and fails: bool (n, scenes)."""

    family: Family
    keys: list[Any]
    costs: NDArray[np.int64]
    passes: Mask
    fails: Mask

    def operation(self, at: int) -> Operation:
        return Operation.of(self.family.op, self.family.said(self.keys[at]))


class Operations:
    """The operators over traces that the grammar holds for some scenes."""

    def __init__(self, root: Scope, grammar: Grammar, tools: ToolSets, sets: ValueSets | None) -> None:
        self.root, self.grammar, self.tools, self.sets = root, grammar, tools, sets

    @classmethod
    def of(cls, root: Scope, grammar: Grammar, sets: ValueSets | None) -> Operations | None:
        """The operators for scenes that hold a trace; None where they do not, or the grammar has none."""
        if not grammar.operations:
            return None
        tools = ToolSets.of(root, grammar)
        return None if tools is None else cls(root, grammar, tools, sets)

    @cached_property
    def families(self) -> dict[str, Family]:
        grammar, tools, costs = self.grammar, self.tools, self.grammar.costs
        listed = [] if self.sets is None else list(self.sets.of_values(tools.scope, tools.column))
        named = [members for members in listed if set(members) <= set(tools.codes)]
        traces = Traces(self.root.rows, [tools.column.distinct[code] for code in tools.codes])
        prices = ToolPrices(traces, tools, costs)
        found: list[Family] = [
            BeforeFamily(self.root, tools, named, costs),
            InOrderFamily(traces, tools, costs),
            PartialOrderFamily(traces, tools, costs),
            CardinalityFamily(prices),
            DistinctFamily(prices),
            GroundedFamily(prices),
            CyclesFamily(prices),
            StreakFamily(prices),
            UniqueNamesFamily(prices),
        ]
        if grammar.allows_path("world"):
            scenes = self.root.rows
            worlds = Worlds([s.get("world", MISSING) if type(s) is dict else MISSING for s in scenes], costs)
            if worlds.resources:
                found += [UniqueFamily(worlds), SumFamily(worlds), MatchesFamily(worlds)]
        return {family.op: family for family in found if grammar.allows_operation(family.op)}

    def price(self, operation: Operation) -> int | None:
        """The cost of an operation, None where it is no candidate."""
        family = self.families.get(operation.op)
        key = None if family is None else family.read(operation.fields)
        bits = None if family is None or key is None else family.bits(key)
        return None if bits is None else units(bits)

    def all(self) -> Iterator[Found]:
        """Every operation that tells some scenes from others."""
        for family in self.families.values():
            for batch in family.batches():
                telling = (batch.passes.any(axis=1) & ~batch.passes.all(axis=1)) | (
                    batch.fails.any(axis=1) & ~batch.fails.all(axis=1)
                )
                kept, keys, costs = [], [], []
                for at in np.flatnonzero(telling).tolist():
                    bits = family.bits(batch.keys[at]) if batch.bits is None else batch.bits[at]
                    if bits is not None:
                        kept.append(at)
                        keys.append(batch.keys[at])
                        costs.append(units(bits))
                if kept:
                    yield Found(
                        family, keys, np.array(costs, np.int64), batch.passes[kept], batch.fails[kept]
                    )

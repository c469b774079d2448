"""Listing the literals within a bound: the same ones as step by step, in one go where nothing branches."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from induce import shortest
from induce.examples import Examples
from induce.grammar import Grammar, units
from induce.hypothesis_space import HypothesisSpace
from induce.pool import LiteralPool
from induce.proposers.proposer import Proposer
from induce.shortest import CAPS, COLUMNS, literals_within

JSON = Any


def proposer(scenes: list[JSON]) -> Proposer:
    space = HypothesisSpace.of(
        Examples.of(scenes, [n % 2 == 0 for n in range(len(scenes))]), Grammar.of(None), "auto", 4, 4, 3, 2
    )
    return Proposer(space.root, space.cost, space.passes, space.penalties, 3, math.inf)


def flat_scenes() -> list[JSON]:
    draw = random.Random(4)
    return [{"n": draw.random(), "m": draw.randrange(9), "kind": draw.choice("abc")} for _ in range(40)]


def nested_scenes() -> list[JSON]:
    draw = random.Random(5)
    items = [[{"k": draw.choice("ab"), "n": draw.randrange(4)} for _ in range(3)] for _ in range(30)]
    return [{"total": draw.randrange(20), "items": some} for some in items]


def step_by_step(of: Proposer, bound: int, cells: float) -> LiteralPool:
    pool = of.about_paths(bound)
    for cap in [cap for cap in CAPS if cap < bound] + [bound]:
        fuller = of.complete(cap, cells, COLUMNS)
        if fuller is None:
            return pool
        pool = fuller
    return pool


def columns(pool: LiteralPool) -> dict[bytes, tuple[int, list[Any]]]:
    return {key: (entry.cost, entry.literals) for key, entry in pool.entries.items()}


@pytest.mark.parametrize("scenes", [flat_scenes(), nested_scenes()], ids=["flat", "nested"])
@pytest.mark.parametrize("cells", [0, 300, 3_000, 10_000, 1e8])
@pytest.mark.parametrize("bits", [6, 14, 40])
def test_the_literals_are_those_of_the_steps(
    scenes: list[JSON], cells: float, bits: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shortest, "CELLS", cells)
    bound = units(bits)
    expected = step_by_step(proposer(scenes), bound, cells)
    found = literals_within(proposer(scenes), bound)
    assert found.cap == expected.cap
    assert columns(found) == columns(expected)


def test_flat_scenes_are_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = []

    def counted(self: Proposer, pool: LiteralPool, allowance: Any) -> None:
        listed.append(pool.cap)
        about_paths(self, pool, allowance)

    about_paths = Proposer._about_paths
    monkeypatch.setattr(Proposer, "_about_paths", counted)
    assert literals_within(proposer(flat_scenes()), units(40)).entries
    assert listed == [units(40)]

"""The term miner against all conjunctions, one by one."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from induce.search import SearchProblem, terms
from induce.search.bits import pack
from induce.search.compiled import compiled
from induce.search.limits import LimitReachedError, Limits
from induce.search.table import Table, build_table
from induce.search.terms import MinedTerms, Miner, Rest

Costs = tuple[int, int, int]
"""Size, passes covered and fails covered."""


class Mining:
    """A random residual problem."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        literals, passes, fails = random.integers(2, 9), random.integers(1, 150), random.integers(1, 150)
        passed = random.random((literals, passes)) < random.uniform(0.4, 0.95)
        failed = random.random((literals, fails)) < random.uniform(0.2, 0.8)
        self.table: Table = build_table(
            SearchProblem(
                passing=pack(passed),
                failing=pack(failed),
                cost=random.integers(1, 20, literals),
                pass_penalty=random.integers(1, 8, passes),
                fail_penalty=random.integers(1, 8, fails),
                join_cost=int(random.integers(1, 4)),
                max_terms=3,
                max_literals=int(random.integers(1, 5)),
            )
        )
        passing, failing = self.table.passing, self.table.failing
        self.open_pass = passing.used & ~np.where(random.random() < 0.3, passing.words[:, 0], np.uint64(0))
        self.open_fail = failing.used & ~np.where(random.random() < 0.3, failing.words[:, 0], np.uint64(0))
        left = passing.weight_of(self.open_pass)
        cheapest = int(self.table.cost.min())
        priced = bool(random.random() < 0.4)
        further = int(random.integers(0, 3))
        self.rest = Rest(0) if priced else Rest(left, cheapest=cheapest, further=further)
        self.budget = int(random.integers(0, left + 60)) - (left if priced else 0)
        self.share = int(random.integers(1, 4))
        self.cap = int(random.integers(10, 200)) if random.random() < 0.5 else 1 << 61
        self.useful = bool(random.random() < 0.5)

    def mine(self, limits: Limits | None = None) -> dict[tuple[int, ...], Costs]:
        found: dict[tuple[int, ...], Costs] = {}

        def emit(batch: MinedTerms) -> None:
            for members, *costs in zip(batch.members, batch.size, batch.cover, batch.wrong, strict=True):
                term = tuple(sorted(members.tolist()))
                assert term not in found, "met twice"
                found[term] = tuple(int(cost) for cost in costs)  # type: ignore[assignment]

        Miner(
            self.table,
            limits or Limits(),
            self.open_pass,
            self.open_fail,
            lambda: self.budget,
            self.rest,
            self.useful,
            emit,
            share=self.share,
            cap=self.cap,
        ).run()
        return found

    def all(self) -> dict[tuple[int, ...], Costs]:
        """Every term within the budget and the cap that is not useless and has no idle literal."""
        found = {}
        for length in range(1, self.table.max_literals + 1):
            for term in itertools.combinations(range(self.table.literals), length):
                size, cover, wrong = costs = self.costs(term)
                total = self.share * size + wrong + int(self.rest(np.array([cover]))[0])
                idle = length > 1 and any(
                    self.costs([other for other in term if other != one])[2] - wrong <= self.table.cost[one]
                    for one in term
                )
                useless = self.useful and cover <= size
                if total <= self.budget and size + wrong <= self.cap and not idle and not useless:
                    found[term] = costs
        return found

    def costs(self, term: "list[int] | tuple[int, ...]") -> Costs:
        passed, failed = self.table.cover(term)
        return (
            int(self.table.cost[list(term)].sum()),
            self.table.passing.weight_of(passed & self.open_pass),
            self.table.failing.weight_of(failed & self.open_fail),
        )


@pytest.mark.parametrize("start", range(0, 400, 50))
def test_finds_every_term_that_may_matter_once(start: int) -> None:
    several = 0
    for seed in range(start, start + 50):
        mining = Mining(seed)
        expected = mining.all()
        assert mining.mine() == expected, seed
        several += len(expected) > 3
    assert several > 5


def test_goes_on_where_it_left_off(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [Mining(seed).mine() for seed in range(100)]
    monkeypatch.setattr(terms, "NODES_AT_ONCE", 1)
    monkeypatch.setattr(terms, "TERMS_AT_ONCE", 1)
    assert [Mining(seed).mine() for seed in range(100)] == whole


def test_stops_at_the_node_that_the_work_limit_names() -> None:
    stopped = 0
    for seed in range(100):
        unlimited, limits = Limits(), Limits(work_limit=3)
        Mining(seed).mine(unlimited)
        if unlimited.nodes > 3:
            with pytest.raises(LimitReachedError, match="work"):
                Mining(seed).mine(limits)
            stopped += 1
        else:
            Mining(seed).mine(limits)
        assert limits.nodes == min(3, unlimited.nodes)
    assert stopped > 10


def test_compiles_where_nothing_can_be_kept_on_disk() -> None:
    nowhere: dict[str, object] = {}
    exec("def double(x): return 2 * x", nowhere)
    assert compiled(nowhere["double"], wrapped=True)(21) == 42  # type: ignore[arg-type]


def test_compiling_takes_nothing_from_the_time_limit(tmp_path: Path) -> None:
    program = """
from induce import learn_check
scenes = [{"a": a, "b": b, "c": c} for a in range(2) for b in range(2) for c in range(3)] * 2
print(learn_check(scenes, [s["a"] == 1 and s["b"] == 1 for s in scenes], time_limit=3).stopped)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "proved\n"
    assert list(tmp_path.rglob("*.nbi")), "nothing was compiled"

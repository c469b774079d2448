"""The heuristic finds planted rules, with wrong labels too, and results do not depend on chance."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from search_problems import ENGINES, planted_problem

from induce.search import Progress, SearchProblem, pack, search, unpack
from induce.search.problem import Engine


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.15])
def test_planted_rule_or_better_is_found(noise: float) -> None:
    for seed in range(3):
        problem, rule = planted_problem(seed, 600, 240, noise)
        outcome = search(problem, engine="enumerate")
        assert outcome.cost <= problem.objective(rule), (seed, outcome)
        assert outcome.stopped in ("bounded", "proved")


def shuffled(problem: SearchProblem, seed: int) -> SearchProblem:
    rng = np.random.default_rng(seed)
    passes, fails = len(problem.pass_penalty), len(problem.fail_penalty)
    p, f = rng.permutation(passes), rng.permutation(fails)
    return replace(
        problem,
        passing=pack(unpack(problem.passing, passes)[:, p]),
        failing=pack(unpack(problem.failing, fails)[:, f]),
        pass_penalty=problem.pass_penalty[p],
        fail_penalty=problem.fail_penalty[f],
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_scene_order_and_work_limits_decide_nothing(engine: Engine) -> None:
    problem, _ = planted_problem(5, 200, 120, 0.1)
    rng = np.random.default_rng(0)
    problem = replace(
        problem, pass_penalty=problem.pass_penalty + rng.integers(0, 3, len(problem.pass_penalty)) * 40
    )
    for work in (30, 700, 6_000):
        first = search(problem, engine=engine, work_limit=work)
        again = search(problem, engine=engine, work_limit=work)
        other = search(shuffled(problem, work), engine=engine, work_limit=work)
        assert first == again == other
        assert first.nodes <= work


SCRIPT = """
from search_problems import planted_problem
from induce.search import search
problem, _ = planted_problem(1, 150, 80, 0.1)
for engine in ("auto", "asp", "enumerate"):
    print(search(problem, engine=engine, work_limit=4000))
"""


def test_hash_seed_decides_nothing() -> None:
    here = Path(__file__).parent
    printed = set()
    for hash_seed in ("0", "1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        environment["PYTHONPATH"] = os.pathsep.join([str(here), str(here.parents[2])])
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
        )
        printed.add(done.stdout)
    assert len(printed) == 1
    assert printed.pop().count("SearchOutcome") == 3


def test_a_passed_deadline_still_gives_a_hypothesis() -> None:
    problem, _ = planted_problem(2, 400, 200, 0.1)
    outcome = search(problem, deadline=time.monotonic() - 1)
    assert outcome.hypothesis is not None
    assert outcome.stopped == "time"
    assert not outcome.proved
    assert outcome.lower_bound <= outcome.cost


def test_incumbent_is_kept_and_progress_is_told() -> None:
    problem, rule = planted_problem(3, 300, 150, 0.1)
    told: list[Progress] = []
    outcome = search(problem, incumbent=rule, work_limit=0, progress=told.append)
    assert outcome.cost == problem.objective(rule)
    assert outcome.hypothesis == rule
    told.clear()
    outcome = search(problem, engine="enumerate", progress=told.append)
    costs = [report.cost for report in told if report.cost is not None]
    assert costs == sorted(costs, reverse=True)
    assert all(report.cost is None or report.lower_bound <= report.cost for report in told)
    assert costs[-1] == outcome.cost


def test_unknown_engine_is_named() -> None:
    problem, _ = planted_problem(3, 20, 40, 0.0)
    with pytest.raises(ValueError, match="engine must be auto, enumerate or asp"):
        search(problem, engine=cast(Engine, "exhaustive"))

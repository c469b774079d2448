"""Whether labels are fitted by some check within a bound: a search that looks at nothing dearer.

Much cheaper than learning, since no literal dearer than the bound needs a column. The cost of errors is
replaced by its chord, which lies below it, so that no check within the bound is missed for that reason.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from induce.examples import Examples
from induce.grammar import UNIT, Grammar, units
from induce.hypothesis_space import HypothesisSpace
from induce.objective import default_terms
from induce.pool import LiteralPool
from induce.proposers.proposer import Proposer
from induce.search import SearchProblem, search

JSON = Any
CAPS = tuple(units(bits) for bits in (8, 12, 16, 20, 24, 28, 32))
"""Costs up to which literals are listed, one after another while there are few enough."""
CELLS = 1e8
"""Truth-table cells that listing the literals up to one cost may take: a fraction of a second."""
COLUMNS = 5_000


@dataclass(frozen=True)
class Limits:
    """The grammar and the limits of one search; `work` in search nodes, `seconds` a backstop."""

    grammar: Grammar
    max_terms: int | None = None
    max_literals: int = 4
    max_where: int = 3
    max_nesting: int = 2
    penalty: float | str = "auto"
    work: int = 2000
    seconds: float = 60.0


def cheapest_within(
    scenes: Sequence[JSON],
    labels: Sequence[bool],
    weights: Sequence[float],
    bound: int | None,
    limits: Limits,
) -> tuple[int | None, bool]:
    """The objective of the cheapest check found that costs at most `bound`, in units of 1/16 bit.

    Errors may be charged too little, never too much. None when no such check was found; without a bound,
    when no literal tells the classes apart. The second value says whether the clock cut the search.
    """
    deadline = time.monotonic() + limits.seconds
    examples = Examples.of(scenes, labels, weights)
    space = HypothesisSpace.of(
        examples,
        limits.grammar,
        limits.penalty,
        default_terms(limits.max_terms),
        limits.max_literals,
        limits.max_where,
        limits.max_nesting,
    )
    bound = space.constant_answer if bound is None else min(bound, space.constant_answer)
    proposer = Proposer(space.root, space.cost, space.passes, space.penalties, limits.max_where, deadline)
    pool = literals_within(proposer, bound)
    if not pool.entries:
        return None, False
    reach = max(space.noise.reach(bound / UNIT), 1e-9)
    rate, offset = space.chord(0.0, reach, 0.0)
    table = pool.table(bound)
    if not table.literals:
        return None, False
    charged = space.charges(rate)
    problem = SearchProblem(
        passing=table.passing,
        failing=table.failing,
        cost=table.cost,
        pass_penalty=charged[space.labels],
        fail_penalty=charged[~space.labels],
        join_cost=space.cost.join,
        max_terms=space.max_terms,
        max_literals=limits.max_literals,
    )
    outcome = search(
        problem,
        engine="enumerate",
        upper=bound - offset + 1,
        deadline=deadline,
        work_limit=limits.work,
    )
    found = None if outcome.hypothesis is None else outcome.cost + offset
    return found, outcome.stopped == "time"


def literals_within(proposer: Proposer, bound: int) -> LiteralPool:
    """The literals up to the bound, or up to the largest cost at which they are few enough.

    Without collections the bound hardly changes how many they are, and all of them are listed at once.
    """
    if not proposer.root.children:
        whole = proposer.complete(bound, CELLS, COLUMNS)
        if whole is not None:
            return whole
    pool = proposer.about_paths(bound)
    for cap in [cap for cap in CAPS if cap < bound] + [bound]:
        fuller = proposer.complete(cap, CELLS, COLUMNS)
        if fuller is None:
            break
        pool = fuller
    return pool

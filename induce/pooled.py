"""Search over pools of literals: fill, extend, search, and say what is proved.

The pool is filled completely up to a cost, then extended best first. What the search proves
over the pool holds for every hypothesis whose literals all lie below that cost; any other one
costs more than that, so the smaller of the two is a bound for the whole grammar.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice, product
from typing import Literal as OneOf
from typing import NamedTuple, cast

import numpy as np

from induce.costs import DescriptionLength
from induce.examples import Examples
from induce.grammar import units
from induce.literals import Hypothesis, Literal, preference
from induce.pool import LiteralPool, Proposer, Table
from induce.profile import Scope
from induce.proposers.comparison import Penalties
from induce.result import Stopped
from induce.search import Hypothesis as Columns
from induce.search import Progress, SearchOutcome, SearchProblem, search, unpack

Engine = OneOf["auto", "enumerate", "asp"]

CAPS = tuple(units(b) for b in (12, 16, 20, 22, 24, 26, 28, 32, 36, 40))
"""Literal costs up to which the pool is filled, one after another while it stays small."""
CELLS = 1.5e9
"""Truth-table cells that filling the pool, or extending it, may take: about 2 s each."""
COLUMNS = 20_000
EXTRA_COLUMNS = 6_000
BEAM_CAP = units(64)
BEAM_LITERALS = units(20)
EVERYTHING = 1 << 62
QUICK_NODES = 600
"""Search nodes for a first incumbent on each pool; a cheap one makes fuller pools needless."""
FILL_SHARE, EXTEND_SHARE = 0.2, 0.4
"""The shares of the time limit after which filling the pool, and extending it, give up."""
KEPT_TIES = 8


class HypothesisSpace:
    """Examples, profile, costs and size limits: what a search needs to know."""

    def __init__(
        self,
        examples: Examples,
        root: Scope,
        cost: DescriptionLength,
        charged: list[int],
        max_terms: int,
        max_literals: int,
        max_where: int,
    ) -> None:
        self.labels = examples.labels
        self.passes = int(self.labels.sum())
        self.root = root
        self.cost = cost
        self.charged = np.array(charged, np.int64)
        self.max_terms, self.max_literals, self.max_where = max_terms, max_literals, max_where
        self.penalties = Penalties(
            np.where(self.labels, self.charged, 0).astype(np.float64),
            np.where(self.labels, 0, self.charged).astype(np.float64),
        )
        self.constant_answer = int(min(self.charged[self.labels].sum(), self.charged[~self.labels].sum()))


class Found(NamedTuple):
    """The best hypothesis, its truth on the examples, and what is known of all others."""

    hypothesis: Hypothesis
    verdicts: list[bool]
    lower_bound: int
    stopped: Stopped
    nodes: int
    columns: int
    ties: list[Hypothesis]


class PooledSearch:
    """One run of the learner over a hypothesis space; see `learn_check` for the options."""

    def __init__(
        self,
        space: HypothesisSpace,
        engine: str,
        started: float,
        time_limit: float,
        work_limit: int | None,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.space = space
        self.engine = cast(Engine, engine)
        self.fill_deadline = started + FILL_SHARE * time_limit
        self.extend_deadline = started + EXTEND_SHARE * time_limit
        self.deadline = started + 0.95 * time_limit
        self.work_limit = work_limit
        self.progress = progress
        self.nodes = 0
        self.best = EVERYTHING
        self.incumbent: tuple[tuple[bytes, ...], ...] = ()

    def run(self) -> Found:
        """Raises ValueError when no literal of the grammar tells the classes apart."""
        complete, pool = self._fill()
        if not pool.entries:
            raise ValueError(
                "no candidate literal tells passing from failing scenes apart; widen the grammar "
                "(operators, include) or check that the scenes differ"
            )
        table, outcome = self._search(pool, self.engine, None)
        assert outcome.hypothesis is not None
        ranked = _spoken(outcome, table)
        return Found(
            hypothesis=ranked[0],
            verdicts=self._verdicts(outcome.hypothesis, table),
            lower_bound=min(outcome.lower_bound, complete + 1, self.space.constant_answer),
            stopped="bounded" if outcome.stopped == "proved" else outcome.stopped,
            nodes=self.nodes,
            columns=len(pool.entries),
            ties=ranked[1:],
        )

    def _fill(self) -> tuple[int, LiteralPool]:
        """The pool, and the literal cost up to which it is complete."""
        space = self.space
        proposer = Proposer(
            space.root, space.cost, space.passes, space.penalties, space.max_where, self.fill_deadline
        )
        dearest = proposer.dearest()
        caps = CAPS if dearest is None else [cap for cap in CAPS if cap < dearest] + [dearest]
        complete, pool = 0, proposer.about_paths(BEAM_CAP)
        for cap in caps:
            fuller = proposer.complete(cap, CELLS, COLUMNS)
            if fuller is None:
                if complete == 0 and not pool.entries:
                    raise ValueError("the time limit passed before any literal was tried; raise it")
                break
            complete, pool = cap, fuller
            if cap == dearest:
                return EVERYTHING, pool
            if pool.best_single > complete and pool.entries:
                self._search(pool, "enumerate", QUICK_NODES)
            if min(pool.best_single, self.best) <= complete:
                return complete, pool
        proposer.deadline = self.extend_deadline
        proposer.extend(pool, BEAM_CAP, BEAM_LITERALS, CELLS)
        pool.keep_most_telling(EXTRA_COLUMNS, complete)
        return complete, pool

    def _search(self, pool: LiteralPool, engine: Engine, nodes: int | None) -> tuple[Table, SearchOutcome]:
        """Search the literals of the pool that could stand in a hypothesis as good as the incumbent."""
        space = self.space
        table = pool.table(min(self.best, pool.best_single))
        problem = SearchProblem(
            passing=table.passing,
            failing=table.failing,
            cost=table.cost,
            pass_penalty=space.charged[space.labels],
            fail_penalty=space.charged[~space.labels],
            join_cost=space.cost.join,
            max_terms=space.max_terms,
            max_literals=space.max_literals,
        )
        column = {key: index for index, key in enumerate(table.keys)}
        allowed = None if self.work_limit is None else max(0, self.work_limit - self.nodes)
        if nodes is not None:
            allowed = nodes if allowed is None else min(nodes, allowed // 4)
        outcome = search(
            problem,
            engine=engine,
            incumbent=tuple(tuple(column[key] for key in term) for term in self.incumbent) or None,
            deadline=self.deadline if nodes is None else self.fill_deadline,
            work_limit=allowed,
            progress=self.progress,
        )
        assert outcome.hypothesis is not None
        self.nodes += outcome.nodes
        self.best = outcome.cost
        self.incumbent = tuple(tuple(table.keys[i] for i in term) for term in outcome.hypothesis)
        return table, outcome

    def _verdicts(self, columns: Columns, table: Table) -> list[bool]:
        labels = self.space.labels
        verdicts = np.zeros(len(labels), np.bool_)
        for words, side in ((table.passing, labels), (table.failing, ~labels)):
            truth = [np.bitwise_and.reduce(words[list(term)], axis=0) for term in columns]
            verdicts[side] = unpack(np.bitwise_or.reduce(truth, axis=0)[None, :], int(side.sum()))[0]
        return verdicts.tolist()


def _spoken(outcome: SearchOutcome, table: Table) -> list[Hypothesis]:
    """The hypotheses of least cost in words, the preferred first."""
    assert outcome.hypothesis is not None
    spoken: dict[Hypothesis, None] = {}
    for columns in (outcome.hypothesis, *outcome.ties):
        choices = [table.literals[i] for term in columns for i in term]
        for picked in islice(product(*choices), KEPT_TIES):
            spoken[_shaped(columns, picked)] = None
        if len(spoken) > KEPT_TIES:
            break
    return list(spoken)[: KEPT_TIES + 1]


def _shaped(columns: Columns, picked: tuple[Literal, ...]) -> Hypothesis:
    """The picked literals in the shape of `columns`, parts in the order of preference."""
    rest = iter(picked)
    terms = [tuple(sorted((next(rest) for _ in term), key=preference)) for term in columns]
    return tuple(sorted(terms, key=lambda term: (len(term), [preference(lit) for lit in term])))

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
from numpy.typing import NDArray

from induce.costs import DescriptionLength
from induce.examples import Examples
from induce.grammar import units
from induce.literals import Hypothesis, Literal, preference
from induce.pool import Entry, LiteralPool, extend_best_first, propose
from induce.profile import Scope
from induce.proposers.comparison import Penalties
from induce.result import Stopped
from induce.search import Progress, SearchOutcome, SearchProblem, search, unpack
from induce.search import Hypothesis as Columns

CAPS = tuple(units(b) for b in range(12, 42, 2))
"""Literal costs up to which the pool is filled, one after another while it stays small."""
CELLS = 1.5e9
"""Truth-table cells that filling the pool, or extending it, may take: about 2 s each."""
COLUMNS = 20_000
EXTRA_COLUMNS = 6_000
BEAM_CAP = units(64)
BEAM_LITERALS = units(20)
FILL_SHARE = 0.4
"""The share of the time limit that filling and extending may take."""
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
        self.engine = cast(OneOf["auto", "enumerate", "asp"], engine)
        self.fill_deadline = started + FILL_SHARE * time_limit
        self.deadline = started + 0.95 * time_limit
        self.work_limit = work_limit
        self.progress = progress

    def run(self) -> Found:
        """Raises ValueError when no literal of the grammar tells the classes apart."""
        complete, pool = self._fill()
        if not pool.entries:
            raise ValueError(
                "no candidate literal tells passing from failing scenes apart; widen the grammar "
                "(operators, include) or check that the scenes differ"
            )
        passing, failing, entries = pool.table()
        outcome = self._search(passing, failing, entries)
        assert outcome.hypothesis is not None
        bound = min(outcome.lower_bound, complete + 1, self.space.constant_answer)
        ranked = self._spoken(outcome, entries)
        return Found(
            hypothesis=ranked[0],
            verdicts=self._verdicts(outcome.hypothesis, passing, failing),
            lower_bound=bound,
            stopped="bounded" if outcome.stopped == "proved" else outcome.stopped,
            nodes=outcome.nodes,
            columns=len(entries),
            ties=ranked[1:],
        )

    def _fill(self) -> tuple[int, LiteralPool]:
        """The pool, and the literal cost up to which it is complete."""
        space = self.space
        complete, pool = 0, LiteralPool(space.labels, space.penalties, 0)
        for cap in CAPS:
            fuller = propose(
                space.root,
                space.cost,
                space.labels,
                space.penalties,
                cap=cap,
                max_where=space.max_where,
                work=CELLS,
                deadline=self.fill_deadline,
                max_columns=COLUMNS,
            )
            if fuller is None:
                break
            complete, pool = cap, fuller
            if self._best_single(pool) <= complete:
                return complete, pool
        extend_best_first(
            pool,
            space.root,
            space.cost,
            cap=BEAM_CAP,
            literal_cap=BEAM_LITERALS,
            max_where=space.max_where,
            work=CELLS,
            deadline=self.fill_deadline,
        )
        pool.keep_most_separating(EXTRA_COLUMNS, complete)
        return complete, pool

    def _best_single(self, pool: LiteralPool) -> int:
        """The objective of the best single literal."""
        if not pool.entries:
            return self.space.constant_answer + 1
        passing, failing, entries = pool.table()
        problem = self._problem(passing, failing, entries)
        missed = ~unpack(passing, len(problem.pass_penalty)) @ problem.pass_penalty
        wrong = unpack(failing, len(problem.fail_penalty)) @ problem.fail_penalty
        return int((problem.cost + missed + wrong).min())

    def _problem(
        self, passing: NDArray[np.uint64], failing: NDArray[np.uint64], entries: list[Entry]
    ) -> SearchProblem:
        space = self.space
        return SearchProblem(
            passing=passing,
            failing=failing,
            cost=np.array([entry.cost for entry in entries], np.int64),
            pass_penalty=space.charged[space.labels],
            fail_penalty=space.charged[~space.labels],
            join_cost=space.cost.join,
            max_terms=space.max_terms,
            max_literals=space.max_literals,
        )

    def _search(
        self, passing: NDArray[np.uint64], failing: NDArray[np.uint64], entries: list[Entry]
    ) -> SearchOutcome:
        return search(
            self._problem(passing, failing, entries),
            engine=self.engine,
            deadline=self.deadline,
            work_limit=self.work_limit,
            progress=self.progress,
        )

    def _verdicts(
        self, columns: Columns, passing: NDArray[np.uint64], failing: NDArray[np.uint64]
    ) -> list[bool]:
        labels = self.space.labels
        verdicts = np.zeros(len(labels), np.bool_)
        for words, side in ((passing, labels), (failing, ~labels)):
            truth = [np.bitwise_and.reduce(words[list(term)], axis=0) for term in columns]
            verdicts[side] = unpack(np.bitwise_or.reduce(truth, axis=0)[None, :], int(side.sum()))[0]
        return verdicts.tolist()

    def _spoken(self, outcome: SearchOutcome, entries: list[Entry]) -> list[Hypothesis]:
        """The hypotheses of least cost in words, the preferred first."""
        assert outcome.hypothesis is not None
        spoken: dict[Hypothesis, None] = {}
        for columns in (outcome.hypothesis, *outcome.ties):
            choices = [list(entries[i].literals) for term in columns for i in term]
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

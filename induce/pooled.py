"""Search over pools of literals: fill, extend, search, and say what is proved.

The pool is filled completely up to a cost, then extended best first. For a proof it is closed: every
dearer literal that a better hypothesis could hold is added (`induce.closing`). Where that is too much
work, what the search proves holds for hypotheses whose literals all lie below that cost; any other one
costs more than that, so the smaller of the two is a bound for the whole grammar.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Literal as OneOf
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from evaluator import compile_check
from induce.chords import Range
from induce.closing import EVERYTHING, close
from induce.grammar import UNIT, units
from induce.hypothesis_space import HypothesisSpace
from induce.incumbent import Incumbent, objective
from induce.literals import Hypothesis, Literal, literal_check
from induce.pool import LiteralPool, Table
from induce.progress import Reporter, Stage
from induce.proposers.proposer import Proposer
from induce.result import Stopped
from induce.search import SearchOutcome, SearchProblem, TooManyOpeningsError, search
from induce.search.limits import LimitReachedError, Limits

Engine = OneOf["auto", "enumerate", "asp"]

CAPS = tuple(units(b) for b in (12, 16, 20, 22, 24, 26, 28, 32, 36, 40))
"""Literal costs up to which the pool is filled, one after another while it stays small."""
CELLS = 1.5e9
"""Truth-table cells that filling the pool, or extending it, may take: about 2 s each."""
COLUMNS, FEW_COLUMNS = 20_000, 8_000
EXTRA_COLUMNS = 6_000
GROWTH = 1.5
"""How many times the columns the next cost at least has; it is not tried when that is too many."""
NEAR = 1.5
"""How far below half the incumbent's objective the pool may be complete for an early proof to be tried."""
BEAM_CAP = units(64)
BEAM_LITERALS = units(20)
QUICK_NODES = 3_000
"""Search nodes for a first incumbent on each pool; a cheap one makes fuller pools needless."""
FILL_SHARE, EXTEND_SHARE = 0.3, 0.6
"""The shares of the time limit after which filling the pool, and extending it, give up."""
EXPLORE_SHARE = 0.8
EARLY_NODES = 5_000
EXPLORE_NODES, NOISE_NODES = 20_000, 12_000
EXPLORE_CELLS, NOISE_CELLS = 1.2e8, 6e7
"""Nodes times columns that exploring, and each search for noise, may take where the nodes are fewer."""
NOISE_SHARES = (0.01, 0.03, 0.08, 0.2)
"""Shares of misclassified weight at whose tangents hypotheses are looked for."""
ENOUGH = units(20)
"""Filling goes on up to here even where half the incumbent's objective is less."""
CLOSING_SHARE = 0.4
FEW_CELLS, MANY_CELLS = 4e9, 4e10
"""Cells that proposing fitting literals may take, at first and in the end."""


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
    """One run of the learner over a hypothesis space; see `learn_check` for the options.

    The search engines charge each misclassified scene its own penalty, so the cost of errors is
    linear there. The noise model is concave, hence: for an optimum with errors of weight E, the
    tangent at E gives rates under which it is the linear optimum as well. Candidates therefore
    come from searches at several rates, and what is best in the true objective is kept. For the
    proof, a chord lies below a concave cost: on errors between a and b, the linear bound at the
    chord's rate plus the chord's offset bounds the true objective from below (`induce.chords`).
    Errors beyond what the incumbent's objective could pay for need no search.
    """

    def __init__(
        self,
        space: HypothesisSpace,
        engine: str,
        started: float,
        time_limit: float,
        work_limit: int | None,
        reporter: Reporter,
        *,
        beginning: Sequence[Hypothesis] = (),
        prove: bool = True,
    ) -> None:
        self.space = space
        self.beginning = beginning
        """Hypotheses to begin with."""
        self.prove = prove
        self.engine = cast(Engine, engine)
        self.deadline = started + 0.95 * time_limit
        shares = (FILL_SHARE, EXTEND_SHARE, EXPLORE_SHARE) if work_limit is None else (0.95,) * 3
        self.fill_deadline, self.extend_deadline, self.explore_deadline = (
            started + share * time_limit for share in shares
        )
        self.work_limit = work_limit
        self.reporter = reporter
        self.stage: Stage = "candidates"
        self.interrupted = False
        self.complete, self.pool = 0, LiteralPool(space.passes, space.penalties, 0)
        """The pool, and the literal cost up to which it is complete."""
        self.begun = LiteralPool(space.passes, space.penalties, 0)
        """What the hypotheses to begin with are made of."""
        self.small = self.pool
        """The fullest of the complete pools that has few columns: what is in it is found soonest there."""
        self.proved = 0
        self.proposer = Proposer(
            space.root, space.cost, space.passes, space.penalties, space.max_where, self.fill_deadline
        )
        self.nodes = 0
        self.stopped: Stopped = "bounded"
        self.hasty = False
        self.incumbent = Incumbent.none(space)

    @property
    def best(self) -> int:
        """The objective of the incumbent, in cost units."""
        return self.incumbent.objective

    def run(self) -> Found:
        """Search as far as the limits allow.

        A KeyboardInterrupt ends it as the clock does once there is a hypothesis; a second one leaves it.

        Raises ValueError when no literal of the grammar tells the classes apart.
        """
        try:
            self._run()
        except KeyboardInterrupt:
            if not self.incumbent.spoken or self.interrupted:
                raise
            self.interrupted = True
        entries = self.pool.entries
        least = min(entry.cost for entry in entries.values()) if self.complete else 0
        bound = max(self.proved, min(least, self.best, self.complete + 1))
        return Found(
            hypothesis=self.incumbent.spoken[0],
            verdicts=self.incumbent.verdicts,
            lower_bound=min(bound, self.space.constant_answer),
            stopped="interrupted" if self.interrupted else self.stopped,
            nodes=self.nodes,
            columns=len(entries),
            ties=self.incumbent.spoken[1:],
        )

    def _run(self) -> None:
        self._tell("candidates", 0)
        self._begin()
        self._fill()
        if self.incumbent.spoken and self.complete < self.best:
            if NEAR * self.complete >= self._half():
                self._search(self.pool, self.space.dearest_rate, self.engine, EARLY_NODES, self.fill_deadline)
            elif self.incumbent.errors and self.space.noise.rate is None:
                rate = self.space.noise.slope(NOISE_SHARES[1] * float(self.space.weights.sum()))
                self._search(self.small, rate, self.engine, EARLY_NODES, self.fill_deadline)
            if self._proves_early():
                return
        self._extend()
        if not (self.incumbent.spoken or self.pool.entries):
            raise ValueError(self._why_nothing())
        self.stage = "search"
        if not self.incumbent.spoken:
            self._search(self.pool, self.space.dearest_rate, "enumerate", QUICK_NODES, self.explore_deadline)
        self._explore(self.pool)
        if not self.prove:
            return
        self.stage = "proof"
        self._prove(self.deadline)

    def _why_nothing(self) -> str:
        """Why there is no literal."""
        if self.proposer.late:
            return "time_limit: it passed before any literal was found; give more seconds"
        if self.space.weights.sum() < 1:
            return "sample_weight: the weights sum to less than one scene's; scale them up"
        return (
            "no candidate literal tells passing from failing scenes apart; widen the grammar "
            "(operators, include) or check that the scenes differ"
        )

    def _tell(self, stage: Stage, nodes: int, bound: int = 0) -> None:
        self.reporter.tell(
            stage,
            atoms=len(self.pool.entries),
            best=None if self.best == EVERYTHING else self.best,
            bound=min(max(self.proved, bound), self.space.constant_answer),
            nodes=self.nodes + nodes,
        )

    def _begin(self) -> None:
        """Make the best of the hypotheses to begin with the incumbent."""
        space = self.space
        for hypothesis in self.beginning:
            pool = LiteralPool(space.passes, space.penalties, EVERYTHING)
            named: dict[Literal, bytes] = {}
            for literal in chain.from_iterable(hypothesis):
                passes = compile_check(literal_check(literal)).passes
                truth = np.array([passes(scene) for scene in space.examples.scenes])
                cost = space.cost.literal(space.root, literal, space.max_where)
                named[literal] = pool.hold(truth, cost, literal)
            table = pool.table(EVERYTHING)
            column = {key: index for index, key in enumerate(table.keys)}
            columns = tuple(tuple(column[named[lit]] for lit in term) for term in hypothesis)
            self.incumbent = self.incumbent.or_better([columns], table, pool, space)
            self.begun.take(pool, EVERYTHING)
        self.pool = self.begun

    def _fill(self) -> None:
        """Fill the pool, at first completely up to one cost after another."""
        space, proposer = self.space, self.proposer
        dearest = proposer.dearest()
        caps = CAPS if dearest is None else [cap for cap in CAPS if cap < dearest] + [dearest]
        for cap in caps:
            fuller = proposer.complete(cap, CELLS, COLUMNS)
            if fuller is None:
                break
            fuller.take(self.begun, EVERYTHING)
            self.complete, self.pool = (EVERYTHING if cap == dearest else cap), fuller
            if len(fuller.entries) <= FEW_COLUMNS or not self.small.entries:
                self.small = fuller
            if cap == dearest:
                return
            if fuller.entries:
                self._search(fuller, space.dearest_rate, "enumerate", QUICK_NODES, self.fill_deadline)
            if self.best <= cap:
                return
            if cap >= ENOUGH and (cap >= self._half() or GROWTH * len(fuller.entries) > COLUMNS):
                break

    def _proves_early(self) -> bool:
        """Whether the candidates so far suffice to find and prove an optimum with little work."""
        if self.complete < self._half() or self.engine == "enumerate" or not self.prove:
            return False
        self.stage, self.hasty = "proof", True
        self._prove(self.explore_deadline)
        self.stage, self.hasty = "candidates", False
        if self.proved < self.best:
            self.stopped = "bounded"
        return self.proved >= self.best

    def _extend(self) -> None:
        """Add candidates that cost more, the most promising ones."""
        proposer = self.proposer
        if self.complete >= min(self.best, EVERYTHING):
            return
        proposer.deadline = self.extend_deadline
        if self.complete == 0:
            self.pool = proposer.about_paths(BEAM_CAP)
            self.pool.take(self.begun, EVERYTHING)
        self.pool.widen(BEAM_CAP, self.complete, EXTRA_COLUMNS)
        for step, _ in enumerate(proposer.extensions(self.pool, BEAM_LITERALS, CELLS)):
            self.pool.keep_most_telling()
            if step == 0 and self.pool.entries and self.space.root.children:
                self._search(
                    self.pool, self.space.dearest_rate, self.engine, EARLY_NODES, self.extend_deadline
                )
        if proposer.late:
            self.stopped = "time"

    def _half(self) -> int:
        """The cost above which no two literals fit in a hypothesis as good as the incumbent."""
        return (self.best - self.space.cost.join) // 2

    def _closed(self, rate: float, offset: int, deadline: float) -> tuple[LiteralPool, int]:
        """A pool, and the objective up to which a hypothesis, at that rate, is made of its literals alone.

        Beside the literals that the pool has up to some cost, a better hypothesis could hold one that is
        dearer; it then fits an opening that the others leave (see `induce.search.openings`), and all
        that do are proposed.
        """
        space = self.space
        if self.engine == "enumerate" or self.complete >= self.best or not self.complete:
            return self.pool, self.complete
        now = time.monotonic()
        limits = Limits(now + CLOSING_SHARE * (deadline - now), None)
        self.proposer.deadline = now + 2 * CLOSING_SHARE * (deadline - now)
        charged = space.charges(rate)
        cells = FEW_CELLS if self.hasty else MANY_CELLS
        with contextlib.suppress(TooManyOpeningsError, LimitReachedError):
            closed = close(
                self.pool,
                self.complete,
                self.best - offset + space.cost.join,
                lambda pool: self._problem(pool.table(self.best), charged),
                lambda left: self.proposer.fitting(left, space.labels, self.complete, cells),
                limits,
            )
            if closed is not None:
                return closed, self.best
        return self.pool, self.complete

    def _problem(self, table: Table, charged: NDArray[np.int64]) -> SearchProblem:
        space = self.space
        return SearchProblem(
            passing=table.passing,
            failing=table.failing,
            cost=table.cost,
            pass_penalty=charged[space.labels],
            fail_penalty=charged[~space.labels],
            join_cost=space.cost.join,
            max_terms=space.max_terms,
            max_literals=space.max_literals,
        )

    def _explore(self, pool: LiteralPool) -> None:
        """Search as if errors were rare, then at rates that fit more and more noise, while it could pay."""
        space, noise = self.space, self.space.noise
        columns = max(1, len(pool.entries))
        nodes = min(EXPLORE_NODES, int(EXPLORE_CELLS // columns))
        self._search(pool, space.dearest_rate, self.engine, nodes, self.explore_deadline)
        nodes = min(NOISE_NODES, int(NOISE_CELLS // columns))
        total = float(space.weights.sum())
        for rate in [noise.slope(share * total) for share in NOISE_SHARES]:
            past = time.monotonic() >= self.explore_deadline
            if past or noise.rate is not None or self.best <= noise.cost(1.0):
                return
            self._search(pool, rate, self.engine, nodes, self.explore_deadline)

    def _prove(self, deadline: float) -> None:
        """Search to the end under chords of the noise model, for a bound on all hypotheses.

        The last chord comes first: where errors are paid for, less room is left.
        """
        ranges, settled = self._ranges(), [EVERYTHING]
        while ranges:
            now = time.monotonic()
            left = min(deadline, self.deadline) - now  # an interrupt moves the latter
            one = min(ranges, key=lambda one: (one.bound, -one.low))
            if one.bound >= min(self.best, *settled):
                break
            if left <= one.late:
                self.stopped = "time"
                break
            ranges.remove(one)
            others = min([*settled, *(other.bound for other in ranges)])
            share = left if one.late else left / (1 + sum(other.bound < self.best for other in ranges))
            bound, further = self._bound_between(one, now + share, others)
            ranges += further
            if not further:
                settled.append(bound)
        self.proved = max(self.proved, min(self.best, *settled, *(one.bound for one in ranges)))

    def _ranges(self) -> list[Range]:
        """Ranges of error weight, split where the incumbent's lie, that could hold a better hypothesis."""
        noise, errors = self.space.noise, self.incumbent.errors
        if noise.rate is not None:
            return [Range(0.0, 1.0, 0.0)]
        reach = max(noise.reach(self.best / UNIT), self.space.least_weight)
        if self.space.least_weight <= errors < reach:
            return [Range(0.0, errors, errors), Range(errors, reach, errors)]
        return [Range(0.0, reach, 0.0)]

    def _bound_between(self, errors: Range, deadline: float, others: int) -> tuple[int, list[Range]]:
        """A bound on hypotheses with such errors, and the ranges to look at for a better one.

        `others` is a bound on all others.
        """
        began = time.monotonic()
        rate, offset = self.space.chord(errors.low, errors.high, errors.touching)
        pool, most = self._closed(rate, offset, deadline)
        if self.hasty and most < self.best:
            return errors.bound, []

        def overall(bound: int) -> int:
            return min(max(bound + offset, errors.bound), most + 1, others)

        outcome, cheapest = self._search(pool, rate, self.engine, None, deadline, overall)
        self.stopped = outcome.stopped if outcome.stopped in ("time", "work") else self.stopped
        bound = max(errors.bound, min(outcome.lower_bound + offset, most + 1))
        if bound >= self.best:
            return bound, []
        if outcome.stopped == "time" and not errors.late:
            return bound, [errors._replace(bound=bound, late=deadline - began)]
        told = outcome.stopped == "proved" and most >= self.best and self.space.noise.rate is None
        if told and (self.space.exact_chords or errors.low < cheapest < errors.high):
            return bound, errors.split(self.incumbent.errors, cheapest, bound)
        return bound, []

    def _search(
        self,
        pool: LiteralPool,
        rate: float,
        engine: Engine,
        nodes: int | None,
        deadline: float,
        overall: Callable[[int], int] = lambda _: 0,
    ) -> tuple[SearchOutcome, float]:
        """Search the literals of the pool that could stand in a hypothesis as good as the incumbent.

        The outcome, and the weight of the errors of what was found. `overall` turns a bound of this
        search into one on all hypotheses, for the reports.
        """
        space = self.space
        pool.take(self.incumbent.held, EVERYTHING)
        table = pool.table(self.best)
        problem = self._problem(table, space.charges(rate))
        column = {key: index for index, key in enumerate(table.keys)}
        allowed = None if self.work_limit is None else max(0, self.work_limit - self.nodes)
        if nodes is not None:
            allowed = nodes if allowed is None else min(nodes, allowed // 4)
        outcome = search(
            problem,
            engine=engine,
            incumbent=tuple(tuple(column[key] for key in term) for term in self.incumbent.terms) or None,
            deadline=deadline,
            work_limit=allowed,
            progress=lambda now: self._tell(self.stage, now.nodes, overall(now.lower_bound)),
            interruptible=not self.interrupted,
        )
        assert outcome.hypothesis is not None
        self.nodes += outcome.nodes
        _, errors = objective(outcome.hypothesis, table, space)
        self.incumbent = self.incumbent.or_better([outcome.hypothesis, *outcome.ties], table, pool, space)
        if outcome.stopped == "interrupted":
            self.interrupted = True
            self._hurry()
        return outcome, errors

    def _hurry(self) -> None:
        """Let the clock run out."""
        now = time.monotonic()
        self.deadline = self.fill_deadline = self.extend_deadline = self.explore_deadline = now
        self.proposer.deadline = now

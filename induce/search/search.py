"""The search as callers see it: limits, engines, and what may be claimed at the end."""

from __future__ import annotations

from collections.abc import Callable

from induce.search.asp import Selected, select_terms
from induce.search.enumerate import Heuristic
from induce.search.generation import Generation
from induce.search.limits import Best, LimitReachedError, Limits
from induce.search.prices import Priced
from induce.search.problem import (
    Engine,
    Hypothesis,
    Progress,
    SearchOutcome,
    SearchProblem,
    Stopped,
    canonical,
)
from induce.search.prove import Prover
from induce.search.reduce import undominated
from induce.search.select import Selection
from induce.search.table import Table, build_table
from induce.search.term_pool import Members, best_per_scene

FEW_CONFLICTS, MANY_CONFLICTS = 1_000, 20_000
"""When clingo gives up selecting: for a better incumbent, and for a proof."""
FEW_NODES, SMALL_SPACE = 300, 3_000
"""Nodes spent on an exact pass after the quick heuristic, and after the full one; settles small spaces."""


def search(
    problem: SearchProblem,
    *,
    engine: Engine = "auto",
    upper: int | None = None,
    incumbent: Hypothesis | None = None,
    deadline: float | None = None,
    work_limit: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    interruptible: bool = False,
) -> SearchOutcome:
    """Find the hypothesis of least cost, the preferred one among equals.

    Parameters
    ----------
    problem : the literals, scenes, costs and limits; validated here (ValueError).
    engine : all begin with a quick heuristic and a short exact pass, which settles easy problems.
        Then "enumerate" is the full heuristic and another short pass; "asp" mines a pool, lets
        clingo select from it, and proves with clingo's selections from complete pools; "auto" is
        the full heuristic and the proof.
    upper : only hypotheses strictly cheaper are of interest; without one the outcome's hypothesis
        is None and a proof says that nothing below ``upper`` exists.
    incumbent : a hypothesis of the space to start from.
    deadline : a reading of ``time.monotonic()`` to stop at; the best so far is returned.
    work_limit : nodes to stop at. Equal inputs and work limits give equal outcomes.
    progress : called with a :class:`Progress` at each stage, better cost or better bound.
    interruptible : a KeyboardInterrupt ends the search as a deadline does, once something was found,
        instead of leaving it.

    A proved outcome is a hypothesis of least cost; it is the preferred one (fewer literals, fewer
    terms, lower indices) of *all* hypotheses of that cost. Without a proof it is the preferred of
    those found.
    """
    problem.validate()
    return _Run(problem, engine, upper, deadline, work_limit, progress, interruptible).outcome(incumbent)


class _Run:
    def __init__(
        self,
        problem: SearchProblem,
        engine: Engine,
        upper: int | None,
        deadline: float | None,
        work_limit: int | None,
        progress: Callable[[Progress], None] | None,
        interruptible: bool,
    ) -> None:
        if engine not in ("auto", "enumerate", "asp"):
            raise ValueError(f"engine must be auto, enumerate or asp, not {engine!r}")
        self.problem = problem
        self.engine = engine
        self.limits = Limits(deadline, work_limit)
        self.best = Best(upper)
        self.progress = progress
        self.interruptible = interruptible
        self.best.listener = self._report
        self.stage = "reduce"
        self.prover: Prover | None = None
        self.bound = int(problem.cost.min())

    def _report(self) -> None:
        if self.progress is not None:
            self.progress(Progress(self.stage, self.best.cost, self._lower_bound(), self.limits.nodes))

    def _enter(self, stage: str) -> None:
        self.stage = stage
        self._report()

    def _lower_bound(self) -> int:
        bound = self.bound if self.prover is None else max(self.bound, self.prover.lower_bound)
        limit = self.best.cost if self.best.cost is not None else self.best.upper
        return bound if limit is None else min(bound, limit)

    def outcome(self, incumbent: Hypothesis | None) -> SearchOutcome:
        if incumbent is not None:
            start = canonical(incumbent)
            self.best.offer(start, self.problem.objective(start))
        stopped: Stopped
        try:
            stopped = self._search()
        except LimitReachedError as stop:
            stopped = stop.reason
        except KeyboardInterrupt:
            if not self.interruptible or self.best.cost is None:
                raise
            stopped = "interrupted"
        ranked = self.best.ranked()
        upper = self.best.upper
        if not ranked and upper is None:
            ranked = [self._cheapest_single()]
            self.best.offer(ranked[0], self.problem.objective(ranked[0]))
        cost = self.best.cost if self.best.cost is not None else upper
        assert cost is not None
        if ranked and self.problem.objective(ranked[0]) != cost:
            raise AssertionError("the search table and the problem disagree on a cost; this is a bug")
        return SearchOutcome(
            hypothesis=ranked[0] if ranked else None,
            cost=cost,
            lower_bound=cost if stopped == "proved" else min(self._lower_bound(), cost),
            proved=stopped == "proved",
            nodes=self.limits.nodes,
            stopped=stopped,
            ties=tuple(ranked[1:]),
        )

    def _cheapest_single(self) -> Hypothesis:
        return ((int(self.problem.cost.argmin()),),)

    def _search(self) -> Stopped:
        self._enter("reduce")
        table = build_table(self.problem)
        table = table.select(undominated(table, self.limits))
        self.prover = prover = Prover(table, self.best, self.limits, self._report)
        heuristic = Heuristic(table, self.best, self.limits)
        for hypothesis in self.best.ranked()[:1]:
            heuristic.know(hypothesis)
        self._enter("enumerate")
        heuristic.quick()
        self._enter("prove")
        if prover.nested(FEW_NODES):
            return "proved"
        self._enter("enumerate")
        heuristic.improve(Generation(heuristic).run())
        self._enter("prove")
        if prover.nested():
            return "proved"
        self._enter("enumerate")
        if self.engine == "asp":
            heuristic.mine()
        else:
            heuristic.run()
        if self.engine != "enumerate":
            self._enter("select")
            self._select_from(table, heuristic)
        self._enter("prove")
        if prover.nested(SMALL_SPACE):
            return "proved"
        if self.engine == "enumerate":
            return "bounded"

        def select(priced: Priced, pool: list[Members], budget: Callable[[], int]) -> None:
            if self.engine == "asp":
                found = select_terms(
                    table,
                    pool,
                    self.limits,
                    least=priced.terms,
                    most=priced.terms,
                    budget=budget(),
                    conflicts=MANY_CONFLICTS,
                )
                if found is not None:
                    self._offer(table, found)
                    if found.complete:
                        return
            Selection(table, priced, pool, self.best, self.limits).run(budget)

        prover.run(heuristic.pool, select)
        return "proved"

    def _select_from(self, table: Table, heuristic: Heuristic) -> None:
        """Let clingo select among the best terms met for each passing scene, then repair the result."""
        before = self.best.cost
        if not heuristic.pool.members or before is None:
            return
        members = heuristic.pool.members
        pool = [members[at] for at in best_per_scene(table, members)]
        found = select_terms(
            table,
            pool,
            self.limits,
            least=1,
            most=table.max_terms,
            budget=before - table.offset,
            conflicts=FEW_CONFLICTS,
        )
        if found is not None and found.selections:
            self._offer(table, found)
            if self.engine == "asp" or self.best.cost != before:
                heuristic.repair(list(found.selections[0]))
        elif self.engine == "asp":
            heuristic.repair(heuristic.exchange([]))

    def _offer(self, table: Table, found: Selected) -> None:
        for terms in found.selections:
            self.best.offer(table.original(terms), table.total(terms))

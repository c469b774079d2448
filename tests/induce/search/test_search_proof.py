"""Prices, complete pools and their selection, each against exhaustive search."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from search_problems import ENGINES, exhaustive, planted_problem, random_problem

from induce.search import Hypothesis, SearchProblem, search
from induce.search.asp import select_terms
from induce.search.enumerate import Heuristic
from induce.search.limits import Best, LimitReachedError, Limits
from induce.search.prices import Priced
from induce.search.prove import Prover
from induce.search.reduce import undominated
from induce.search.select import Selection
from induce.search.table import Table, build_table
from induce.search.term_pool import Members


def prove(problem: SearchProblem, limits: Limits, *, clingo: bool) -> tuple[Best, Prover, Table, bool]:
    """The proof by prices alone, from the best single literal."""
    table = build_table(problem)
    table = table.select(undominated(table, Limits()))
    best = Best()
    heuristic = Heuristic(table, best, Limits())
    heuristic.singles()
    prover = Prover(table, best, limits, lambda: None)

    def select(priced: Priced, pool: list[Members], budget: Callable[[], int]) -> None:
        if clingo:
            found = select_terms(
                table,
                pool,
                Limits(),
                least=priced.terms,
                most=priced.terms,
                budget=budget(),
                conflicts=20_000,
            )
            if found is not None and found.complete:
                for terms in found.selections:
                    best.offer(table.original(terms), table.total(terms))
                return
        Selection(table, priced, pool, best, limits).run(budget)

    try:
        prover.run(heuristic.pool, select)
    except LimitReachedError:
        return best, prover, table, False
    return best, prover, table, True


@pytest.mark.parametrize("clingo", [False, True])
def test_prices_prove_the_preferred_optimum(clingo: bool) -> None:
    for seed in range(300, 380 if clingo else 500):
        problem = random_problem(seed)
        truth = exhaustive(problem)
        if truth is None:
            continue
        best, _, _, finished = prove(problem, Limits(), clingo=clingo)
        assert finished
        assert (best.cost, best.ranked()[0]) == truth, seed


def test_price_bounds_hold_when_stopped() -> None:
    for seed in range(300, 400):
        problem = random_problem(seed)
        truth = exhaustive(problem)
        if truth is None:
            continue
        for work in (1, 5, 20, 60):
            best, prover, _, _ = prove(problem, Limits(work_limit=work), clingo=False)
            assert best.cost is not None
            assert min(prover.lower_bound, best.cost) <= truth[0] <= best.cost, (seed, work)


DIRECT = """
#defined false/2.
#defined scene/3.
{ in(T,L) : lit(L,_) } most_literals :- T = 1..most_terms.
used(T) :- in(T,_).
:- not used(_).
fires(T,S) :- used(T), scene(S,_,_), not off(T,S).
off(T,S) :- in(T,L), false(L,S).
on(S) :- fires(_,S).
:- used(T+1), not used(T), T = 1..most_terms-1.
:~ in(T,L), lit(L,C). [C,T,L]
:~ scene(S,1,W), not on(S). [W,S]
:~ scene(S,0,W), on(S). [W,S]
"""


def directly(problem: SearchProblem) -> int:
    """The optimum by letting clingo choose the literals of each term: shares nothing with the search."""
    import clingo

    from induce.search import unpack

    truth = np.concatenate(
        [
            unpack(problem.passing, len(problem.pass_penalty)),
            unpack(problem.failing, len(problem.fail_penalty)),
        ],
        axis=1,
    )
    weights = [*problem.pass_penalty.tolist(), *problem.fail_penalty.tolist()]
    facts = [f"lit({lit},{cost + problem.join_cost})." for lit, cost in enumerate(problem.cost.tolist())]
    facts += [f"scene({s},{int(s < len(problem.pass_penalty))},{w})." for s, w in enumerate(weights)]
    facts += [f"false({lit},{s})." for lit, s in np.argwhere(~truth).tolist()]
    control = clingo.Control(
        [f"-cmost_terms={problem.max_terms}", f"-cmost_literals={problem.max_literals}", "--opt-mode=opt"]
    )
    control.add("base", [], DIRECT + "\n".join(facts))
    control.ground([("base", [])])
    costs: list[int] = []

    def on_model(model: clingo.Model) -> None:
        costs[:] = model.cost

    assert control.solve(on_model=on_model).satisfiable
    return sum(costs) - problem.join_cost


def small_planted(seed: int) -> SearchProblem:
    problem, _ = planted_problem(seed, 24, 40, 0.05)
    return SearchProblem(
        passing=problem.passing,
        failing=problem.failing,
        cost=problem.cost,
        pass_penalty=problem.pass_penalty,
        fail_penalty=problem.fail_penalty,
        join_cost=problem.join_cost,
        max_terms=2,
        max_literals=3,
    )


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_the_direct_encoding(seed: int) -> None:
    problem = small_planted(seed)
    expected = directly(problem)
    for engine in ENGINES[:2]:
        outcome = search(problem, engine=engine)
        assert outcome.proved
        assert outcome.cost == expected
    best, _, _, finished = prove(problem, Limits(), clingo=True)
    assert finished
    assert best.cost == expected


def test_costs_beyond_the_solver_are_selected_without_it() -> None:
    problem = random_problem(7)
    large = SearchProblem(
        passing=problem.passing,
        failing=problem.failing,
        cost=problem.cost * 2**33 + 1,
        pass_penalty=problem.pass_penalty * 2**33,
        fail_penalty=problem.fail_penalty * 2**33,
        join_cost=problem.join_cost,
        max_terms=problem.max_terms,
        max_literals=problem.max_literals,
    )
    table = build_table(large)
    pool: list[Members] = [(literal,) for literal in range(table.literals)]
    assert select_terms(table, pool, Limits(), least=1, most=1, budget=2**50, conflicts=100) is None
    truth = exhaustive(large)
    assert truth is not None
    assert search(large, engine="asp").cost == truth[0]


def test_planted_rules_are_proved_or_beaten() -> None:
    for seed in range(3):
        problem, rule = planted_problem(seed, 300, 150, 0.0)
        outcome = search(problem, work_limit=150_000)
        assert outcome.cost <= problem.objective(rule)
        assert outcome.proved, seed
        checked: Hypothesis | None = outcome.hypothesis
        assert checked is not None
        assert problem.objective(checked) == outcome.cost

"""Where there are many scenes: what a sample of them teaches begins the search over all.

A hypothesis is learnt from a sample, scenes that it gets wrong join the sample, and so on a few times, as
ILASP does with relevant examples (Law, Russo and Broda 2016); since labels may be noisy, only some of them
join. The search over all scenes then starts from the best of these hypotheses; what is proved is proved over
all scenes as ever.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator import compile_check
from induce.costs import OutsideGrammarError
from induce.examples import evenly
from induce.hypothesis_space import HypothesisSpace
from induce.literals import Bound, Collect, Hypothesis, Literal, PathTest, hypothesis_check
from induce.objective import parse_hypothesis
from induce.pooled import PooledSearch
from induce.profile import Scope
from induce.progress import Reporter
from induce.rounding import round_constants

MANY = 2_000
"""Distinct scenes above which a sample is learnt from first."""
SAMPLE, JOINING = 1_000, 200
"""Scenes of the first sample, and the most that join it after each round."""
ROUNDS = 3
SHARE = 0.15
"""Of the time limit and of the work limit, for each round."""


class Settings(NamedTuple):
    """How a sample is learnt from; see `induce.learn_check`."""

    penalty: float | str
    max_nesting: int
    engine: str
    time_limit: float
    work_limit: int | None


class NothingLearntError(Exception):
    """A sample has too few scenes, weighs too little or had too little time for any literal."""


def learn_from_samples(space: HypothesisSpace, settings: Settings) -> tuple[list[Hypothesis], bool]:
    """Hypotheses of `space` that parts of its examples taught, and whether the user interrupted.

    None where there are few examples.
    """
    examples, found = space.examples, list[Hypothesis]()
    if len(examples.scenes) <= MANY:
        return found, False
    sides = (examples.labels, ~examples.labels)
    chosen = np.concatenate([evenly(np.flatnonzero(side), SAMPLE // 2) for side in sides])
    for _ in range(ROUNDS):
        try:
            check, interrupted = _learn(space, np.sort(chosen), settings)
        except NothingLearntError:
            return found, False
        except KeyboardInterrupt:
            if not found:
                raise
            return found, True
        try:
            hypothesis = parse_hypothesis(check, space.max_terms, space.max_literals, space.cost)
            space.cost.size(hypothesis, space.max_where)
            found.append(tuple(_in_gaps(term, space.root) for term in hypothesis))
        except OutsideGrammarError:
            if interrupted and not found:
                raise KeyboardInterrupt from None  # its constants are no candidates of all examples
        passes = compile_check(check).passes
        wrong = np.array([passes(scene) for scene in examples.scenes]) != examples.labels
        wrong[chosen] = False
        if interrupted or not wrong.any():
            return found, interrupted
        joining = [evenly(np.flatnonzero(wrong & side), JOINING // 2) for side in sides]
        chosen = np.concatenate([chosen, *joining])
    return found, False


def _learn(
    space: HypothesisSpace, chosen: NDArray[np.int64], settings: Settings
) -> tuple[dict[str, object], bool]:
    started = time.monotonic()
    part = HypothesisSpace.of(
        space.examples.part(chosen.tolist()),
        space.cost.grammar,
        settings.penalty,
        space.max_terms,
        space.max_literals,
        space.max_where,
        settings.max_nesting,
    )
    work = None if settings.work_limit is None else max(1, int(SHARE * settings.work_limit))
    search = PooledSearch(
        part,
        settings.engine,
        started,
        SHARE * settings.time_limit,
        work,
        Reporter(None, started),
        prove=False,
    )
    try:
        found = search.run()
    except ValueError as error:
        raise NothingLearntError from error
    check = hypothesis_check(round_constants(found.hypothesis, part.root, part.examples.scenes))
    return check, found.stopped == "interrupted"


def _in_gaps(literals: tuple[Literal, ...], scope: Scope) -> tuple[Literal, ...]:
    """The literals with each bound known by the gap between numbers of `scope` that it lies in."""
    return tuple(_in_gap(literal, scope) for literal in literals)


def _in_gap(literal: Literal, scope: Scope) -> Literal:
    atom = literal.atom
    if isinstance(atom, Collect):
        return literal._replace(
            atom=atom._replace(where=_in_gaps(atom.where, scope.children[atom.collection]))
        )
    if not (isinstance(atom, PathTest) and isinstance(atom.value, Bound)):
        return literal  # the bounds in a disjunction are those of the candidate
    numbers, number = scope.columns[atom.path].numbers, atom.value.value
    if atom.op == "gte":
        at, closed = bisect_left(numbers, number), "high"
    else:
        at, closed = bisect_right(numbers, number), "low"
    gap = Bound(numbers[at - 1] if at else None, numbers[at] if at < len(numbers) else None, closed)
    return literal._replace(atom=atom._replace(value=gap))

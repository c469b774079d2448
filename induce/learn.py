"""Learn the cheapest check that separates passing from failing scenes.

The seven steps: read and merge the examples, profile paths, propose literals, tabulate their
truth, search for the cheapest disjunction of conjunctions, let the standard evaluator grade
it, report how far it is proved. No scikit-learn here; `induce.estimator` wraps this.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evaluator import canonical_json, compile_check
from induce.costs import DescriptionLength
from induce.examples import Examples
from induce.grammar import Grammar, bits
from induce.literals import hypothesis_check
from induce.objective import default_terms, penalty_of, scene_penalties
from induce.pooled import HypothesisSpace, PooledSearch
from induce.profile import profile, unusable_keys
from induce.result import InductionResult
from induce.rounding import round_constants
from induce.search import Progress

JSON = Any


def learn_check(
    scenes: Sequence[JSON],
    labels: Sequence[JSON],
    grammar: Grammar | dict[str, JSON] | None = None,
    *,
    ids: Sequence[str] | None = None,
    sample_weight: Sequence[float] | None = None,
    engine: str = "auto",
    max_terms: int | None = None,
    max_literals: int = 4,
    max_where: int = 3,
    max_nesting: int = 2,
    penalty: float | str = "auto",
    time_limit: float = 60.0,
    work_limit: int | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> InductionResult:
    """Learn a check from labelled scenes.

    Parameters
    ----------
    scenes : sequence of JSON trees, (n,)
    labels : sequence, (n,)
        pass/fail, true/false or 1/0.
    grammar : Grammar, dict or None
        The language bias; None for the default.
    ids : sequence of str, (n,), optional
        Names of the scenes in reports; their positions by default.
    sample_weight : sequence of float, (n,), optional
        What misclassifying each scene costs, relative to the others.
    engine : {"auto", "enumerate", "asp"}
        ``"enumerate"`` is the heuristic, ``"asp"`` mining with selection and proof by clingo,
        ``"auto"`` the first and then the second.
    max_terms : int or None
        The most conjunctions joined by or; None for 4.
    max_literals, max_where, max_nesting : int
        The most literals in a conjunction, conditions inside one find or count, and levels of
        find and count inside each other.
    penalty : "auto" or float
        Bits for one misclassified scene of weight 1; see `induce.objective.auto_penalty`.
    time_limit : float
        Seconds. When it bites, the best check so far is returned with its bound.
    work_limit : int or None
        Search nodes; unlike a clock it stops at the same place everywhere.
    random_state : int or None
        Recorded with the result. Learning itself draws nothing at random.
    n_jobs : int or None
        Accepted for the estimator's sake; one process is used and the result never depends on it.
    progress : callable or None
        Called with a `induce.search.Progress` now and then.

    Returns
    -------
    InductionResult

    Raises
    ------
    ValueError
        In one sentence, when the input or an option is unusable (`SceneError` for a scene).
    """
    started = time.monotonic()
    _check_options(engine, max_terms, max_literals, max_where, max_nesting, time_limit, work_limit)
    if n_jobs is not None and not isinstance(n_jobs, int):
        raise ValueError(f"n_jobs: expected a whole number or None, got {n_jobs!r}")
    language = Grammar.of(grammar)
    examples = Examples.of(scenes, labels, sample_weight, ids)
    charged = scene_penalties(examples, penalty)
    root = profile(examples.scenes, language, max_nesting)
    cost = DescriptionLength(root, language)
    space = HypothesisSpace(examples, root, cost, charged, default_terms(max_terms), max_literals, max_where)
    found = PooledSearch(space, engine, started, time_limit, work_limit, progress).run()
    hypothesis = round_constants(found.hypothesis, root, examples.scenes)
    check = hypothesis_check(hypothesis)
    graded = _grade(check, found.verdicts, examples)
    size = cost.size(hypothesis, max_where)
    total = size + penalty_of(compile_check(check), examples, charged)
    lower = min(found.lower_bound, total)
    ties = [hypothesis_check(tie) for tie in found.ties]
    return InductionResult(
        check=check,
        objective=bits(total),
        size=bits(size),
        penalty=bits(total - size),
        lower_bound=bits(lower),
        optimal=lower == total,
        stopped="proved" if lower == total else found.stopped,
        engine=engine,
        seconds=time.monotonic() - started,
        atoms=found.columns,
        nodes=found.nodes,
        misclassified=graded,
        counts=examples.counts,
        contradictions=examples.contradictions,
        unusable_keys=tuple(unusable_keys(root)),
        alternatives=tuple(tie for tie in ties if tie != check),
        grammar_hash=language.digest(),
        data_hash=examples.digest,
        random_state=random_state,
    )


def _check_options(
    engine: str,
    max_terms: int | None,
    max_literals: int,
    max_where: int,
    max_nesting: int,
    time_limit: float,
    work_limit: int | None,
) -> None:
    if engine not in ("auto", "enumerate", "asp"):
        raise ValueError(f"engine: expected auto, enumerate or asp, got {engine!r}")
    counts = {"max_literals": max_literals, "max_where": max_where, "max_nesting": max_nesting}
    if max_terms is not None:
        counts["max_terms"] = max_terms
    if work_limit is not None:
        counts["work_limit"] = work_limit
    for name, value in counts.items():
        least = 0 if name == "max_nesting" else 1
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise ValueError(f"{name}: expected a whole number, at least {least}, got {value!r}")
    if isinstance(time_limit, bool) or not isinstance(time_limit, (int, float)) or not time_limit > 0:
        raise ValueError(f"time_limit: expected a positive number of seconds, got {time_limit!r}")


def _grade(check: dict[str, JSON], wanted: Sequence[bool], examples: Examples) -> tuple[str, ...]:
    """Grade the check with the standard evaluator; ids of the scenes it grades against their label."""
    compiled = compile_check(check)
    verdicts = [compiled.passes(scene) for scene in examples.scenes]
    if verdicts != list(wanted):
        place = next(i for i, pair in enumerate(zip(verdicts, wanted, strict=True)) if pair[0] != pair[1])
        raise RuntimeError(
            f"internal error: the truth table and the evaluator disagree on scene {examples.ids[place][0]} "
            f"for {canonical_json(check)}; please report it"
        )
    rows = zip(verdicts, examples.passing, examples.ids, strict=True)
    return tuple(sorted(name for verdict, label, names in rows if verdict is not label for name in names))

"""Learn the cheapest check that separates passing from failing scenes.

The seven steps: read and merge the examples, profile paths, propose literals, tabulate their
truth, search for the cheapest disjunction of conjunctions, let the standard evaluator grade
it, report how far it is proved. No scikit-learn here; `induce.estimator` wraps this.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from evaluator import canonical_json, compile_check
from induce.collector import collector_paused
from induce.examples import Examples
from induce.grammar import Grammar, bits
from induce.hypothesis_space import HypothesisSpace
from induce.literals import hypothesis_check
from induce.objective import default_terms, error_weight
from induce.options import LIMITS, check_limits, check_seconds
from induce.pooled import Found, PooledSearch
from induce.profile import unusable_keys
from induce.progress import Progress, Reporter
from induce.result import InductionResult
from induce.rounding import round_constants
from induce.sampling import Settings, learn_from_samples
from induce.search import get_ready
from induce.tool_sets import ToolSets
from induce.vacuity import vacuous_share

JSON = Any


SEARCH_SHARE = 0.2
"""The share of the time limit that is left for the search whatever reading the scenes has taken."""


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
        Bits for one misclassified scene of weight 1; ``"auto"`` for the code of `induce.noise`, in which
        the first error is dear and further ones cost what it costs to name them.
    time_limit : float
        Seconds. When it bites, the best check so far is returned with its bound. Reading the scenes is not
        cut short: 1,000 scenes of 60 paths and 3 kB take about half a second. Where that uses most of the
        limit up, the search has a fifth of the limit nevertheless. Compiling the search, which the first
        run after an installation does in some ten seconds, does not count.
    work_limit : int or None
        Search nodes; unlike a clock it stops at the same place everywhere.
    random_state : int or None
        Recorded with the result. Learning itself draws nothing at random.
    n_jobs : int or None
        Accepted so that searches over estimators can set it. One fit uses one process: its search shares one
        incumbent and one bound at every step. Whole fits run side by side where there are many of them:
        `learn_rules`, `permutation_test`, cross-validation and grid search take ``n_jobs`` themselves.
    progress : callable or None
        Called with an `induce.Progress` at each new stage, and in between at most ten times a second.

    Returns
    -------
    InductionResult

    Raises
    ------
    ValueError
        In one sentence, when the input or an option is unusable (`SceneError` for a scene).
    KeyboardInterrupt
        When the user interrupts before any check was found, or a second time. Otherwise an interrupt gives
        the best check so far, with ``stopped="interrupted"`` and the bound that holds for it.
    """
    _check_options(locals())
    get_ready()
    started = time.monotonic()
    language = Grammar.of(grammar)
    reporter = Reporter(progress, started)
    reporter.tell("scenes")
    with collector_paused():
        examples = Examples.of(scenes, labels, sample_weight, ids)
        terms = default_terms(max_terms)
        space = HypothesisSpace.of(examples, language, penalty, terms, max_literals, max_where, max_nesting)

    def left() -> float:
        return max(time_limit - (time.monotonic() - started), SEARCH_SHARE * time_limit)

    settings = Settings(penalty, max_nesting, engine, left(), work_limit)
    beginning, interrupted = learn_from_samples(space, settings)
    limit = 0.0 if interrupted else left()
    search = PooledSearch(space, engine, time.monotonic(), limit, work_limit, reporter, beginning=beginning)
    found = search.run()
    if interrupted:
        found = found._replace(stopped="interrupted")

    def told(found: Found) -> InductionResult:
        with collector_paused():
            return _told(found, space, language, engine, random_state, started)

    try:
        return told(found)
    except KeyboardInterrupt:
        if found.stopped == "interrupted":
            raise
        return told(found._replace(stopped="interrupted"))


def _told(
    found: Found,
    space: HypothesisSpace,
    language: Grammar,
    engine: str,
    random_state: int | None,
    started: float,
) -> InductionResult:
    """What was found, in words, graded and judged against its bound."""
    examples, noise = space.examples, space.noise
    hypothesis = round_constants(found.hypothesis, space.root, examples.scenes)
    check = hypothesis_check(hypothesis)
    graded = _grade(check, found.verdicts, examples)
    size = space.cost.size(hypothesis, space.max_where)
    total = size + noise.cost(error_weight(found.verdicts, examples))
    if total < found.lower_bound:
        raise RuntimeError(
            f"internal error: {canonical_json(check)} costs {bits(total)} bits, "
            f"below the proved bound of {bits(found.lower_bound)}; please report it"
        )
    proved = found.lower_bound == total
    ties = [hypothesis_check(tie) for tie in found.ties]
    return InductionResult(
        check=check,
        objective=bits(total),
        size=bits(size),
        penalty=bits(total - size),
        constant=bits(space.constant_answer),
        lower_bound=bits(found.lower_bound),
        optimal=proved,
        stopped="proved" if proved and found.stopped != "interrupted" else found.stopped,
        engine=engine,
        seconds=time.monotonic() - started,
        atoms=found.columns,
        nodes=found.nodes,
        misclassified=graded,
        counts=examples.counts,
        contradictions=examples.contradictions,
        unusable_keys=tuple(unusable_keys(space.root)),
        alternatives=tuple(tie for tie in ties if tie != check),
        grammar_hash=language.digest(),
        data_hash=examples.digest,
        random_state=random_state,
        vacuous=None
        if ToolSets.of(space.root, language) is None
        else vacuous_share(check, examples.scenes[: space.passes]),
    )


def _check_options(options: dict[str, JSON]) -> None:
    """Raise ValueError in one sentence for the first option that is not usable."""
    engine, progress = options["engine"], options["progress"]
    if engine not in ("auto", "enumerate", "asp"):
        raise ValueError(f"engine: expected auto, enumerate or asp, got {engine!r}")
    check_limits(**{name: options[name] for name in LIMITS})
    check_seconds("time_limit", options["time_limit"])
    if progress is not None and not callable(progress):
        raise ValueError(f"progress: expected a function or None, got {progress!r}")


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

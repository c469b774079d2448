"""A committee of near-best checks: those a few bits dearer than the best that the labels leave open.

Labelled scenes seldom settle one check. Here the checks near the best are gathered, so that they
can be shown (`induce.differences`) and vote on scenes nobody labelled (`induce.query`): query by
committee (Seung, Opper and Sompolinsky 1992) over what is left of the version space (Mitchell 1982).

Hypotheses come from `induce.version_space`. Each is said in several ways: with other literals of
equal verdicts on the labelled scenes, and with numbers elsewhere in the gap that the labels leave.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator import SceneTable, canonical_json, evaluate_many
from induce.constants import Number, roundest
from induce.costs import DescriptionLength
from induce.disjunctions import description_length
from induce.examples import Examples
from induce.grammar import Grammar, bits, units
from induce.literals import Bound, Collect, Hypothesis, Literal, PathTest, hypothesis_check, literal_check
from induce.objective import default_terms, objective_of, parse_hypothesis
from induce.options import check_limits, check_seconds
from induce.profile import Scope, profile
from induce.rounding import round_constants
from induce.search import Hypothesis as Columns
from induce.search import canonical
from induce.version_space import Truth, VerdictTable, VersionSpace, gather

JSON = Any
WITHIN = 18.0
"""Bits above the best within which a check is a rival; further ones would hardly weigh in a vote."""
MOST = 500
LARGEST = 1e300
SAID, REWORDED = 300, 40
"""The cheapest hypotheses that are said at all, and those that are said in several ways."""
SAYING_SHARE = 0.25
"""The share of the time limit that is kept for saying them."""


@dataclass(frozen=True)
class Rival:
    """A check near the best.

    Attributes
    ----------
    check : dict
        On the wire, without id.
    objective, distance : float
        Bits; ``distance`` is from the best check of the committee.
    """

    check: dict[str, JSON]
    objective: float
    distance: float


def near_best(
    scenes: Sequence[JSON],
    labels: Sequence[JSON],
    check: Mapping[str, JSON],
    grammar: Grammar | dict[str, JSON] | None = None,
    *,
    sample_weight: Sequence[float] | None = None,
    within: float = WITHIN,
    max_terms: int | None = None,
    max_literals: int = 4,
    max_where: int = 3,
    max_nesting: int = 2,
    penalty: float | str = "auto",
    time_limit: float = 10.0,
) -> tuple[Rival, ...]:
    """Checks whose objective is within some bits of the best, the best first; of equal ones `check`.

    A rival is right on every labelled scene that `check` is right on. Heuristic: rivals can be
    missed, none is made up, and each objective is what `objective_of` says.

    Parameters
    ----------
    scenes, labels, sample_weight : sequences of equal length
    check : dict
        The learnt check (``InductionResult.check``); it is always among the rivals.
    within : float
        Bits above the best.
    grammar, max_terms, max_literals, max_where, max_nesting, penalty
        As for `learn_check`.
    time_limit : float
        Seconds after which nothing further is looked for; twenty scenes take one or two.

    Returns
    -------
    tuple of Rival
        At most `MOST`.

    Raises
    ------
    ValueError
        When the input is unusable, or `check` lies outside the grammar.
    """
    if not within >= 0:
        raise ValueError(f"within: expected bits, at least 0, got {within!r}")
    check_limits(max_terms=max_terms, max_literals=max_literals, max_where=max_where, max_nesting=max_nesting)
    check_seconds("time_limit", time_limit)
    language = Grammar.of(grammar)
    examples = Examples.of(scenes, labels, sample_weight)
    root = profile(examples.scenes, language, max_nesting)
    cost = description_length(root, language, examples)
    learnt = parse_hypothesis(dict(check), default_terms(max_terms), max_literals, cost)
    gathering = _Gathering(
        examples=examples,
        table=SceneTable(examples.scenes),
        root=root,
        cost=cost,
        max_terms=default_terms(max_terms),
        max_literals=max_literals,
        max_where=max_where,
    )

    def penalty_of(one: dict[str, JSON]) -> float:
        return objective_of(
            one,
            scenes,
            labels,
            grammar,
            sample_weight,
            max_terms=max_terms,
            max_literals=max_literals,
            max_where=max_where,
            max_nesting=max_nesting,
            penalty=penalty,
        ).penalty

    learnt_text = canonical_json(dict(check))
    sizes = {learnt_text: (gathering.size(learnt), dict(check))}
    dearest = gathering.size(learnt) + units(penalty_of(dict(check)) + within)
    for said in gathering.hypotheses(learnt, dict(check), dearest, time_limit):
        wire = hypothesis_check(said)
        sizes.setdefault(canonical_json(wire), (gathering.size(said), wire))
    texts = sorted(sizes, key=lambda text: (text != learnt_text, text))
    wrong = evaluate_many([sizes[text][1] for text in texts], gathering.table).passed != examples.labels
    allowed = wrong[0]
    penalties: dict[bytes, float] = {}
    priced = []
    for text, errors in zip(texts, wrong, strict=True):
        if (errors & ~allowed).any():
            continue
        size, one = sizes[text]
        key = errors.tobytes()
        if key not in penalties:
            penalties[key] = penalty_of(one) if errors.any() else 0.0
        priced.append((bits(size) + penalties[key], one))
    priced.sort(key=lambda entry: entry[0])
    best = priced[0][0]
    return tuple(
        Rival(one, objective, objective - best)
        for objective, one in priced[:MOST]
        if objective <= best + within
    )


@dataclass(frozen=True)
class _Gathering:
    """Labelled scenes with their profile, prices and size limits."""

    examples: Examples
    table: SceneTable
    root: Scope
    cost: DescriptionLength
    max_terms: int
    max_literals: int
    max_where: int

    def size(self, hypothesis: Hypothesis) -> int:
        return self.cost.size(hypothesis, self.max_where)

    def hypotheses(
        self, learnt: Hypothesis, check: dict[str, JSON], dearest: int, time_limit: float
    ) -> Iterator[Hypothesis]:
        """Hypotheses that are right where the learnt one is, in several ways each."""
        labels = self.examples.labels
        right: Truth = evaluate_many([check], self.table).passed[0] == labels
        if (right & labels).any() and (right & ~labels).any():
            yield from self._right_on(right, learnt, dearest, time_limit / (1 if right.all() else 2))
        if not right.all():
            yield from self._right_on(np.ones(len(labels), np.bool_), None, dearest, time_limit / 2)

    def _right_on(
        self, counted: Truth, learnt: Hypothesis | None, dearest: int, time_limit: float
    ) -> Iterator[Hypothesis]:
        labels = self.examples.labels
        started = time.monotonic()
        half_time, deadline = started + 0.4 * time_limit, started + (1 - SAYING_SHARE) * time_limit
        gathered = gather(self.root, self.cost, labels, counted, self.max_where, dearest, half_time)
        literals = list(dict.fromkeys(literal for term in learnt or () for literal in term))
        truth = evaluate_many([literal_check(literal) for literal in literals], self.table).passed
        for number, (literal, verdicts) in enumerate(zip(literals, truth, strict=True)):
            price = self.cost.literal(self.root, literal, self.max_where)
            gathered.put(verdicts, price, literals.__getitem__, number)
        if not gathered.kept:
            return
        table = gathered.verdicts(len(labels))
        row = {literal: table.row(verdicts) for literal, verdicts in zip(literals, truth, strict=True)}
        start = None if learnt is None else canonical([row[lit] for lit in term] for term in learnt)
        space = VersionSpace(
            table.truth[:, counted],
            table.cost,
            labels[counted],
            join=self.cost.join,
            max_terms=self.max_terms,
            max_literals=self.max_literals,
            most=dearest,
        )
        for number, (_, columns) in enumerate(space.cheapest(start, deadline)[:SAID]):
            if time.monotonic() > deadline + SAYING_SHARE * time_limit:
                return
            yield from self._said(columns, table, several=number < REWORDED)

    def _said(self, columns: Columns, table: VerdictTable, several: bool) -> Iterator[Hypothesis]:
        plain = tuple(tuple(table.variants[row][0].literal for row in term) for term in columns)
        rounded = round_constants(plain, self.root, self.examples.scenes)
        yield rounded
        if not several:
            return
        for at, term in enumerate(columns):
            for place, row in enumerate(term):
                others = [variant.literal for variant in table.variants[row][1:]]
                for other in (*others, *_moved(rounded[at][place])):
                    changed = (*rounded[at][:place], other, *rounded[at][place + 1 :])
                    yield (*rounded[:at], changed, *rounded[at + 1 :])


def _moved(literal: Literal) -> Iterator[Literal]:
    """The literal with one of its numbers elsewhere in its gap."""
    atom = literal.atom
    if isinstance(atom, Collect):
        for place, inner in enumerate(atom.where):
            for other in _moved(inner):
                where = (*atom.where[:place], other, *atom.where[place + 1 :])
                yield literal._replace(atom=atom._replace(where=where))
    elif isinstance(atom, PathTest) and isinstance(atom.value, Bound):
        for number in _elsewhere(atom.value):
            yield literal._replace(atom=atom._replace(value=Bound.exactly(number)))


def _elsewhere(bound: Bound) -> Iterator[Number]:
    """Other numbers of the gap: the end that was seen, and the roundest one on each side of the printed."""
    low, high, printed, closed = bound.low, bound.high, bound.value, bound.closed
    seen = high if closed == "high" else low
    if seen is not None and seen != printed:
        yield seen
    if low is not None and low < printed:
        middle = printed if closed == "low" else _middle(low, printed)
        if low < middle:
            yield roundest(low, middle, closed=closed)
    if high is not None and printed < high:
        middle = printed if closed == "high" else _middle(printed, high)
        if middle < high:
            yield roundest(middle, high, closed=closed)


def _middle(low: Number, high: Number) -> Number:
    """A number from `low` to `high`, in the middle as far as numbers go."""
    if isinstance(low, int) and isinstance(high, int):
        return (low + high) // 2
    return low / 2 + high / 2 if max(abs(low), abs(high)) < LARGEST else low

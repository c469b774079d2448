"""How far a check can be trusted: bits of rule against bits of evidence, shuffled labels, coverage.

A rule that takes more bits to say than it saves in naming the labels has not earned its keep: one of that
length would be found for labels drawn by lot. `permutation_test` asks the same by experiment.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluator import canonical_json, compile_check, sentence
from induce.costs import OutsideGrammarError
from induce.examples import label_of
from induce.grammar import Grammar, bits, units
from induce.learn import learn_check
from induce.objective import Objective, objective_of
from induce.options import check_limits, check_seconds
from induce.parallel import in_parallel
from induce.parts import Check, children, expression_of, terms
from induce.shortest import Limits, cheapest_within

JSON = Any


@dataclass(frozen=True)
class Confusion:
    """Scenes by label and verdict."""

    true_pass: int
    false_pass: int
    true_fail: int
    false_fail: int

    @property
    def total(self) -> int:
        return self.true_pass + self.false_pass + self.true_fail + self.false_fail

    @property
    def right(self) -> int:
        return self.true_pass + self.true_fail

    @classmethod
    def of(cls, check: object, scenes: Sequence[JSON], labels: Sequence[JSON]) -> Confusion:
        """Grade labelled scenes with the standard evaluator."""
        compiled = compile_check(check)
        pairs = zip(scenes, labels, strict=True)
        seen = Counter((label_of(label), compiled.passes(scene)) for scene, label in pairs)
        return cls(seen[True, True], seen[False, True], seen[False, False], seen[True, False])


@dataclass(frozen=True)
class Evidence:
    """Bits of rule against bits of evidence.

    Attributes
    ----------
    labels : float
        Naming the labels outright: n H(p), with p the share of pass among n scenes and H the binary
        entropy.
    errors : float
        Naming the labels once the verdicts are known: the sum, over the scenes that pass the check and those
        that fail it, of m H(e), with e the share of errors among those m. An e above one half counts as
        one half: a check that is mostly wrong saves nothing.
    rule : float or None
        Saying the check in the grammar; None where the grammar cannot.
    """

    labels: float
    errors: float
    rule: float | None

    @property
    def saved(self) -> float:
        """The evidence: ``labels - errors``, never below 0."""
        return max(0.0, self.labels - self.errors)

    @property
    def surplus(self) -> float | None:
        """Bits saved beyond those the rule takes; below 0, chance finds rules of this length."""
        return None if self.rule is None else self.saved - self.rule

    @classmethod
    def of(cls, confusion: Confusion, rule: float | None) -> Evidence:
        """The evidence in a table of verdicts."""
        c = confusion
        outright = c.total * _entropy((c.true_pass + c.false_fail) / max(1, c.total))
        errors = _naming(c.false_pass, c.true_pass + c.false_pass)
        errors += _naming(c.false_fail, c.true_fail + c.false_fail)
        return cls(outright, errors, rule)


def _naming(errors: int, scenes: int) -> float:
    return scenes * _entropy(min(0.5, errors / scenes)) if scenes else 0.0


def _entropy(share: float) -> float:
    if not 0.0 < share < 1.0:
        return 0.0
    return -share * math.log2(share) - (1 - share) * math.log2(1 - share)


@dataclass(frozen=True)
class TermCoverage:
    """What one alternative of a check lets pass: ids of scenes by label, and of those no other one passes."""

    sentence: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    alone: tuple[str, ...]


def coverage_by_term(
    check: object, scenes: Sequence[JSON], labels: Sequence[JSON], ids: Sequence[str] | None = None
) -> tuple[TermCoverage, ...]:
    """Coverage of each part of the or at the top of a check (the check itself where there is none)."""
    names = _names(scenes, ids)
    wanted = [label_of(label) for label in labels]
    found = [term for _, term in terms(expression_of(check))]
    compiled = [compile_check(term) for term in found]
    passed = [[one.passes(scene) for one in compiled] for scene in scenes]
    covered = []
    for index, term in enumerate(found):
        rows = [row for row, verdicts in enumerate(passed) if verdicts[index]]
        covered.append(
            TermCoverage(
                sentence(term),
                tuple(names[row] for row in rows if wanted[row]),
                tuple(names[row] for row in rows if not wanted[row]),
                tuple(names[row] for row in rows if sum(passed[row]) == 1),
            )
        )
    return tuple(covered)


def _names(scenes: Sequence[JSON], ids: Sequence[str] | None) -> list[str]:
    return [str(index) for index in range(len(scenes))] if ids is None else list(ids)


def rule_bits(
    check: object,
    scenes: Sequence[JSON],
    labels: Sequence[JSON],
    grammar: Grammar | dict[str, JSON] | None = None,
    sample_weight: Sequence[float] | None = None,
    *,
    penalty: float | str = "auto",
) -> tuple[Objective | None, str]:
    """The objective of a check, or None and the reason why the grammar cannot say it.

    The size limits are those that the check needs.
    """
    expression = expression_of(check)
    try:
        found = objective_of(
            expression,
            scenes,
            labels,
            grammar,
            sample_weight,
            max_terms=1000,
            max_literals=1000,
            max_where=1000,
            max_nesting=max(2, _nesting(expression)),
            penalty=penalty,
        )
    except OutsideGrammarError as error:
        return None, str(error)
    return found, ""


def _nesting(check: Check) -> int:
    deepest = max((_nesting(part) for _, part in children(check)), default=0)
    return deepest + (check["op"] in ("find", "count"))


@dataclass(frozen=True)
class PermutationTest:
    """How a rule compares with what is found for shuffled labels.

    Attributes
    ----------
    p_value : float
        (1 + hits) / (1 + rounds).
    objective : float
        Bits: what a check for shuffled labels had to reach.
    rounds, hits : int
        Shufflings, and those of them that were fitted within ``objective``.
    cut_by_clock : int
        Searches that the time limit stopped; above 0, a rerun may differ.
    """

    p_value: float
    objective: float
    rounds: int
    hits: int
    cut_by_clock: int


def permutation_test(
    scenes: Sequence[JSON],
    labels: Sequence[JSON],
    rounds: int = 99,
    seed: int = 0,
    *,
    check: object = None,
    grammar: Grammar | dict[str, JSON] | None = None,
    sample_weight: Sequence[float] | None = None,
    max_terms: int | None = None,
    max_literals: int = 4,
    max_where: int = 3,
    max_nesting: int = 2,
    penalty: float | str = "auto",
    work_limit: int = 2000,
    time_limit: float = 60.0,
    n_jobs: int | None = None,
) -> PermutationTest:
    """The p-value that a rule this short fits shuffled labels.

    For each of `rounds` shufflings a search within `work_limit` looks for a check whose objective is no
    larger than that of the rule; a round in which it finds one is a hit. The same search must find one for
    the real labels. Where it cannot, what it does find there takes the rule's place, so that the rule is
    never given a search that its rivals do not get. Equal scenes keep one label (their majority's).

    Parameters
    ----------
    scenes, labels, sample_weight, grammar, max_terms, max_literals, max_where, max_nesting, penalty
        As for `learn_check`.
    rounds, seed : int
        Shufflings, and what they are drawn with.
    check : dict, optional
        The rule; by default the one that is learnt here.
    work_limit : int
        Search nodes a round.
    time_limit : float
        Seconds a round at most; see ``cut_by_clock``.
    n_jobs : int, optional
        Workers, through joblib (see `induce.parallel`). The result does not depend on it.

    Raises
    ------
    ValueError
        As `learn_check` does, when `rounds` is not a positive whole number, and when the grammar cannot say
        the check.
    """
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
        raise ValueError(f"rounds: expected a whole number, at least 1, got {rounds!r}")
    check_limits(max_terms=max_terms, max_literals=max_literals, max_where=max_where, max_nesting=max_nesting)
    check_limits(work_limit=work_limit)
    check_seconds("time_limit", time_limit)
    if len(labels) != len(scenes):
        raise ValueError(f"labels: expected one for each of the {len(scenes)} scenes, got {len(labels)}")
    data = _merged(scenes, labels, sample_weight)
    language = Grammar.of(grammar)
    limits = Limits(
        language, max_terms, max_literals, max_where, max_nesting, penalty, work_limit, time_limit
    )
    if check is None:
        learnt = learn_check(
            *data[:2],
            language,
            sample_weight=data[2],
            max_terms=max_terms,
            max_literals=max_literals,
            max_where=max_where,
            max_nesting=max_nesting,
            penalty=penalty,
            time_limit=time_limit,
            work_limit=work_limit,
        )
        if learnt.stopped == "interrupted":
            raise KeyboardInterrupt
        objective = units(learnt.objective)
    else:
        given, reason = rule_bits(check, *data[:2], language, data[2], penalty=penalty)
        if given is None:
            raise ValueError(f"no permutation test of a check that the grammar cannot say: {reason}")
        objective = units(given.total)
    bound, cut = _bound(data, objective, limits)
    draws = []
    for number in range(rounds):
        shuffled = list(data[1])
        random.Random(f"{seed}/{number}").shuffle(shuffled)
        draws.append(shuffled)
    rounds_of = ((data[0], drawn, data[2], bound, limits) for drawn in draws)
    found = in_parallel(cheapest_within, rounds_of, n_jobs)
    hits = sum(total is not None for total, _ in found)
    return PermutationTest(
        p_value=(1 + hits) / (1 + rounds),
        objective=bits(bound),
        rounds=rounds,
        hits=hits,
        cut_by_clock=cut + sum(by_clock for _, by_clock in found),
    )


Merged = tuple[list[JSON], list[bool], list[float]]


def _merged(scenes: Sequence[JSON], labels: Sequence[JSON], sample_weight: Sequence[float] | None) -> Merged:
    """Distinct scenes in one order, whatever that of the lines, with the label of most and their weight."""
    weights = [1.0] * len(scenes) if sample_weight is None else list(sample_weight)
    groups: dict[str, list[tuple[JSON, bool, float]]] = {}
    for scene, label, weight in zip(scenes, labels, weights, strict=True):
        groups.setdefault(canonical_json(scene), []).append((scene, label_of(label), weight))
    ordered = [groups[text] for text in sorted(groups)]
    majority = [2 * sum(label for _, label, _ in group) >= len(group) for group in ordered]
    summed = [math.fsum(weight for _, _, weight in group) for group in ordered]
    return [group[0][0] for group in ordered], majority, summed


def _bound(data: Merged, objective: int, limits: Limits) -> tuple[int, bool]:
    """The objective to compare with: the rule's, or what the limited search makes of the real labels."""
    found, cut = cheapest_within(*data, objective, limits)
    if found is not None:
        return objective, cut
    found, cut_again = cheapest_within(*data, None, limits)
    return max(objective, found or 0), cut or cut_again

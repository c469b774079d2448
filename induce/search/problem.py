"""The combinatorial problem behind rule learning, its answer, and the order of preference.

Given literals as truth columns over labelled scenes, find the disjunction of at most
``max_terms`` conjunctions of at most ``max_literals`` literals whose description length plus
penalties for misjudged scenes is least. All figures are whole numbers (1/16 bit).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

import numpy as np

from induce.search.bits import Ints, Words, unpack, word_count

Term: TypeAlias = tuple[int, ...]
Hypothesis: TypeAlias = tuple[Term, ...]
Engine: TypeAlias = OneOf["auto", "enumerate", "asp"]
Stopped: TypeAlias = OneOf["proved", "bounded", "time", "work", "interrupted"]

LARGEST_SUM = 1 << 60
"""What costs and penalties may sum to, times the number of terms, so that no figure overflows."""


@dataclass(frozen=True)
class SearchProblem:
    """Literals over scenes with their costs.

    ``passing`` is uint64[n, ceil(P / 64)] and ``failing`` uint64[n, ceil(F / 64)], packed as in
    :mod:`induce.search.bits`; ``cost`` is int64[n], ``pass_penalty`` int64[P] and ``fail_penalty``
    int64[F], none of them negative. A lower literal index is preferred among equals.
    """

    passing: Words
    failing: Words
    cost: Ints
    pass_penalty: Ints
    fail_penalty: Ints
    join_cost: int
    max_terms: int
    max_literals: int

    @property
    def literals(self) -> int:
        return len(self.cost)

    def validate(self) -> None:
        """Raise ValueError in one sentence where shapes, signs or ranges are not as described."""
        n = self.cost.shape[0] if self.cost.ndim == 1 else -1
        if n < 1:
            raise ValueError(
                "cost must be a vector with an entry for each literal, and there must be a literal"
            )
        for name, words, penalty in (
            ("passing", self.passing, self.pass_penalty),
            ("failing", self.failing, self.fail_penalty),
        ):
            if penalty.ndim != 1:
                raise ValueError(f"the penalties of {name} scenes must be a vector")
            expected = (n, word_count(len(penalty)))
            if words.dtype != np.uint64 or words.shape != expected:
                raise ValueError(
                    f"{name} must be uint64 of shape {expected}, not {words.dtype} of {words.shape}"
                )
            spare = word_count(len(penalty)) * 64 - len(penalty)
            if spare and bool(np.any(words[:, -1] >> np.uint64(64 - spare))):
                raise ValueError(f"{name} has bits set past its last scene")
        for name, values in (
            ("cost", self.cost),
            ("pass_penalty", self.pass_penalty),
            ("fail_penalty", self.fail_penalty),
        ):
            if not np.issubdtype(values.dtype, np.integer):
                raise ValueError(f"{name} must hold whole numbers, not {values.dtype}")
            if len(values) and int(values.min()) < 0:
                raise ValueError(f"{name} must not be negative")
        if self.join_cost < 0:
            raise ValueError("join_cost must not be negative")
        if self.max_terms < 1 or self.max_literals < 1:
            raise ValueError("max_terms and max_literals must be at least 1")
        largest = (int(self.cost.max()) + self.join_cost) * self.max_terms * self.max_literals
        largest += sum(map(int, self.pass_penalty)) + sum(map(int, self.fail_penalty))
        if largest * self.max_terms >= LARGEST_SUM:
            raise ValueError("costs and penalties, times max_terms, must stay below 2**60; scale them down")

    def objective(self, hypothesis: Hypothesis) -> int:
        """Exact cost of a hypothesis; ValueError when it lies outside the space."""
        if not 1 <= len(hypothesis) <= self.max_terms:
            raise ValueError(f"a hypothesis has 1 to {self.max_terms} terms, not {len(hypothesis)}")
        covered_pass = np.zeros(self.passing.shape[1], dtype=np.uint64)
        covered_fail = np.zeros(self.failing.shape[1], dtype=np.uint64)
        size, occurrences = 0, 0
        for term in hypothesis:
            if not 1 <= len(term) <= self.max_literals:
                raise ValueError(f"a term has 1 to {self.max_literals} literals, not {len(term)}")
            if not all(0 <= literal < self.literals for literal in term):
                raise ValueError(f"literals are numbered 0 to {self.literals - 1}")
            rows = list(term)
            covered_pass |= np.bitwise_and.reduce(self.passing[rows], axis=0)
            covered_fail |= np.bitwise_and.reduce(self.failing[rows], axis=0)
            size += sum(int(self.cost[literal]) for literal in term)
            occurrences += len(term)
        missed = ~unpack(covered_pass[None, :], len(self.pass_penalty))[0]
        wrong = unpack(covered_fail[None, :], len(self.fail_penalty))[0]
        errors = sum(map(int, self.pass_penalty[missed])) + sum(map(int, self.fail_penalty[wrong]))
        return size + self.join_cost * (occurrences - 1) + errors


def canonical(terms: Iterable[Iterable[int]]) -> Hypothesis:
    """The one written form of a hypothesis: literals sorted within terms, terms sorted, no repeats."""
    return tuple(sorted({tuple(sorted(set(term))) for term in terms}))


def preference(hypothesis: Hypothesis) -> tuple[int, int, Hypothesis]:
    """Sort key among hypotheses of equal cost: fewer literals, fewer terms, lower indices."""
    return sum(map(len, hypothesis)), len(hypothesis), hypothesis


@dataclass(frozen=True)
class SearchOutcome:
    """What a search found and what it can vouch for.

    ``hypothesis`` is None when nothing cheaper than ``upper`` was found; ``cost`` is then ``upper``.
    No hypothesis of the whole space costs less than ``lower_bound``, save that with ``upper`` only
    costs below it are judged: ``lower_bound`` never exceeds ``cost`` and equals it when ``proved``.
    ``nodes`` counts partial hypotheses whose extensions were scored; it is the unit of ``work_limit``.
    ``stopped`` is "proved", "time", "work", "interrupted", or "bounded" when the engine came to its own
    end without a proof. ``ties`` are further hypotheses of the same cost, in order of preference.
    """

    hypothesis: Hypothesis | None
    cost: int
    lower_bound: int
    proved: bool
    nodes: int
    stopped: Stopped
    ties: tuple[Hypothesis, ...] = ()


@dataclass(frozen=True)
class Progress:
    """A report while searching: the stage at work, the best cost so far and the bound below it."""

    stage: str
    cost: int | None
    lower_bound: int
    nodes: int

"""What a search for a check needs to know: the labelled scenes, what hypotheses cost, and their limits.

The cost of errors is a concave function of their weight; the search engines charge each
misclassified scene a penalty of its own. Here are the rates at which they do.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from induce.costs import DescriptionLength
from induce.disjunctions import description_length
from induce.examples import Examples
from induce.grammar import UNIT, Grammar
from induce.noise import NoiseModel
from induce.profile import Scope, profile
from induce.proposers.comparison import Penalties

LARGEST_SUM = 2.0**53
MOST_COUNTED = 100_000


class HypothesisSpace:
    """Examples, profile, costs, noise model and size limits: what a search needs to know."""

    def __init__(
        self,
        examples: Examples,
        root: Scope,
        cost: DescriptionLength,
        noise: NoiseModel,
        max_terms: int,
        max_literals: int,
        max_where: int,
    ) -> None:
        self.examples = examples
        self.labels = examples.labels
        self.passes = int(self.labels.sum())
        self.weights = np.array(examples.weights, np.float64)
        if (self.weights * noise.slope(0) * UNIT).sum() > LARGEST_SUM:
            raise ValueError("sample_weight: the penalties sum to more than 2**53; scale the weights down")
        self.root = root
        self.cost = cost
        self.noise = noise
        self.max_terms, self.max_literals, self.max_where = max_terms, max_literals, max_where
        self.least_weight = float(self.weights[self.weights > 0].min())
        whole = bool((self.weights == np.rint(self.weights)).all())
        self.exact_chords = whole and float(self.weights.sum()) <= MOST_COUNTED
        """Whether chords of the noise model are exact at one end: weights are whole numbers, not too many."""
        self.dearest_rate = noise.bits(self.least_weight) / self.least_weight
        """Bits for each unit of misclassified weight, if it is the least there can be; more costs less."""
        charged = self.weights * (self.dearest_rate * UNIT)
        self.penalties = Penalties(np.where(self.labels, charged, 0.0), np.where(self.labels, 0.0, charged))
        self.constant_answer = min(
            noise.cost(float(self.weights[self.labels].sum())),
            noise.cost(float(self.weights[~self.labels].sum())),
        )

    @classmethod
    def of(
        cls,
        examples: Examples,
        grammar: Grammar,
        penalty: float | str,
        max_terms: int,
        max_literals: int,
        max_where: int,
        max_nesting: int,
    ) -> HypothesisSpace:
        """The space that examples and a grammar span; see `induce.learn_check` for the arguments.

        Raises ValueError for a penalty, or weights, that can't be used.
        """
        noise = NoiseModel.of(penalty, examples.weight)
        root = profile(examples.scenes, grammar, max_nesting)
        cost = description_length(root, grammar, examples)
        return cls(examples, root, cost, noise, max_terms, max_literals, max_where)

    def charges(self, rate: float) -> NDArray[np.int64]:
        """Cost units of each misclassified example at `rate` bits for each unit of weight, rounded down."""
        charged: NDArray[np.int64] = np.floor(self.weights * (rate * UNIT) + 1e-9).astype(np.int64)
        return charged

    def chord(self, low: float, high: float, touching: float) -> tuple[float, int]:
        """A rate and an offset in cost units that bound the cost of errors from below.

        ``offset`` plus the charges at the rate is at most the cost of errors of any weight from
        `low` to `high`, with equality at `touching` (one of the two) where chords are exact.
        """
        noise = self.noise
        if noise.rate is not None:
            return noise.rate, 0
        rate = (noise.bits(high) - noise.bits(low)) / (high - low)
        if not self.exact_chords:
            return rate, math.floor((noise.bits(low) - rate * low) * UNIT)
        grid = range(math.ceil(low), max(math.floor(high), math.ceil(low)) + 1)
        whole = math.floor(rate * UNIT) if touching <= low else math.ceil(rate * UNIT)
        return whole / UNIT, min(noise.cost(errors) - whole * errors for errors in grid)

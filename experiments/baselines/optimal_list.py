"""Optimal rule lists by branch and bound (CORELS: Angelino, Larus-Stone, Alabi, Seltzer, Rudin 2018).

A list costs the weight that it gets wrong and :data:`RULE_COST` of all weight for each rule. Beginnings of
lists are taken up by the least that any list with this beginning can cost: what its rules get wrong already,
what nobody can get right of the scenes left (those that look alike but are labelled both ways), and one more
rule. Of two beginnings that catch the same scenes the better one is enough. When no beginning is left that
could do better, the list is optimal over the antecedents, which are tests of columns and pairs of them. The
published programs of CORELS need a compiler and no longer build; imodels has dropped them.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from experiments.baselines.conditions import Conditions, conditions
from experiments.baselines.features import Features, Test, Verdicts
from experiments.baselines.fitted import Fitted, ListedRule, fitted_constant, fitted_list
from induce.distinct import distinct_columns

RULE_COST: Final = 0.01
MOST_CONDITIONS: Final = 250
PAIRED: Final = 60
"""Of how many tests, in both directions together, the pairs are antecedents too."""
MOST_CELLS: Final = 20_000_000
"""Antecedents times scenes, for memory."""
MOST_NODES: Final = 3_000
"""Beginnings taken up, so that the end of the search does not hang on the clock alone."""
_SMALL: Final = 1e-9
_DIGITS: Final = 10
"""Costs are rounded, so that sums in another order don't decide between equal ones."""

Weights = NDArray[np.float64]


def fit(features: Features, *, seed: int, time_limit: float) -> Fitted:  # noqa: ARG001 (the same for all learners)
    """The best list found within `time_limit` seconds; ``finished`` says that these were enough."""
    deadline = time.monotonic() + time_limit
    if not features.names or not features.weights.any():
        return fitted_constant(features)
    antecedents = _antecedents(conditions(features, MOST_CONDITIONS), features)
    search = _Search(antecedents, features)
    timely = search.run(deadline)
    rules = [ListedRule(antecedents.tests[index], verdict) for index, verdict in search.best_rules]
    proof = "optimal" if search.proved else "not proved optimal"
    note = f"{proof} over {len(antecedents.tests)} conjunctions of tests"
    return fitted_list(features, rules, search.best_default, finished=timely, note=note)


@dataclass(frozen=True)
class _Antecedents:
    """Conjunctions of tests, and for each (rows) the training scenes where it holds."""

    tests: tuple[tuple[Test, ...], ...]
    truth: Weights


def _antecedents(given: Conditions, features: Features) -> _Antecedents:
    """The tests, their negations and pairs of the best; of those true on the same scenes, the first."""
    count = len(given.tests)
    tests = [(test._replace(above=above),) for above in (True, False) for test in given.tests]
    truth = np.concatenate([given.truth.T, ~given.truth.T])
    order = np.argsort(-_telling(truth, features), kind="stable")
    most = max(2 * count, MOST_CELLS // max(1, truth.shape[1]))
    best = sorted(order[:PAIRED].tolist())
    found = {row.tobytes() for row in truth}
    pairs: list[tuple[Test, ...]] = []
    rows: list[Verdicts] = []
    for place, first in enumerate(best):
        for second in best[place + 1 :]:
            both = truth[first] & truth[second]
            if len(tests) + len(pairs) < most and both.any() and both.tobytes() not in found:
                found.add(both.tobytes())
                pairs.append((*tests[first], *tests[second]))
                rows.append(both)
    stacked = np.concatenate([truth, np.array(rows, bool).reshape(len(rows), truth.shape[1])])
    return _Antecedents((*tests, *pairs), stacked.astype(np.float64))


def _telling(truth: Verdicts, features: Features) -> Weights:
    passing = np.where(features.train_passes, features.weights, 0.0)
    failing = features.weights - passing
    gap = truth @ passing * failing.sum() - truth @ failing * passing.sum()
    return np.asarray(np.round(np.abs(gap) / (features.weights.sum() ** 2), 12))


@dataclass(frozen=True, slots=True)
class _Beginning:
    """The first rules of a list (antecedent, verdict), the scenes not caught yet, the weight got wrong."""

    rules: tuple[tuple[int, bool], ...]
    left: Verdicts
    wrong: float


class _Search:
    def __init__(self, antecedents: _Antecedents, features: Features) -> None:
        scale = features.weights.sum()
        self._truth = antecedents.truth
        self._passing = np.where(features.train_passes, features.weights, 0.0) / scale
        self._failing = np.where(features.train_passes, 0.0, features.weights) / scale
        self._hopeless = self._alike_but_labelled_both_ways()
        self._tie = 0
        passing, failing = float(self._passing.sum()), float(self._failing.sum())
        self.best_rules: tuple[tuple[int, bool], ...] = ()
        self.best_default = passing >= failing
        self.best_cost = min(passing, failing)
        self.proved = False

    def run(self, deadline: float) -> bool:
        """Search until it is proved, or nodes or time run out; whether time did not."""
        everything = np.ones(len(self._passing), bool)
        queue: list[tuple[float, int, _Children]] = []
        self._open(_Beginning((), everything, 0.0), queue)
        seen: dict[bytes, float] = {}
        for _ in range(MOST_NODES):
            if not queue or queue[0][0] >= self.best_cost - _SMALL:
                self.proved = True
                return True
            if time.monotonic() > deadline:
                return False
            child = self._next(queue)
            reached = child.wrong + RULE_COST * len(child.rules)
            key = np.packbits(child.left).tobytes()
            if seen.get(key, np.inf) > reached + _SMALL:
                seen[key] = reached
                self._open(child, queue)
        return True

    def _open(self, parent: _Beginning, queue: list[tuple[float, int, _Children]]) -> None:
        """Cost every list that ends one rule after `parent`; queue the beginnings that may lead further."""
        left = parent.left
        columns = np.stack([self._passing * left, self._failing * left, self._hopeless * left], axis=1)
        caught = self._truth @ columns
        passing, failing, hopeless = caught.T
        all_passing, all_failing, all_hopeless = columns.sum(axis=0)
        wrong = parent.wrong + np.minimum(passing, failing)
        rest = np.minimum(all_passing - passing, all_failing - failing)
        length = len(parent.rules) + 1
        costs = np.round(wrong + rest + RULE_COST * length, _DIGITS)
        index = int(np.argmin(costs))
        if costs[index] < self.best_cost - _SMALL:
            self.best_cost = float(costs[index])
            verdict = bool(passing[index] >= failing[index])
            self.best_rules = (*parent.rules, (index, verdict))
            self.best_default = bool(all_passing - passing[index] >= all_failing - failing[index])
        least = np.round(wrong + (all_hopeless - hopeless) + RULE_COST * (length + 1), _DIGITS)
        useful = np.maximum(passing, failing) >= RULE_COST - _SMALL
        chosen = np.flatnonzero(useful & (least < self.best_cost - _SMALL))
        if not len(chosen):
            return
        chosen = chosen[np.argsort(least[chosen], kind="stable")]
        children = _Children(parent, chosen, least[chosen], wrong[chosen], (passing >= failing)[chosen])
        self._tie += 1
        heapq.heappush(queue, (float(children.least[0]), self._tie, children))

    def _next(self, queue: list[tuple[float, int, _Children]]) -> _Beginning:
        """The beginning that may lead to the cheapest list."""
        _, tie, children = heapq.heappop(queue)
        place, parent = children.place, children.parent
        children.place += 1
        if children.place < len(children.least):
            heapq.heappush(queue, (float(children.least[children.place]), tie, children))
        index = int(children.antecedents[place])
        return _Beginning(
            (*parent.rules, (index, bool(children.verdicts[place]))),
            parent.left & (self._truth[index] == 0),
            float(children.wrong[place]),
        )

    def _alike_but_labelled_both_ways(self) -> Weights:
        """For each scene its weight where its label is the lighter one among the scenes that look like it."""
        kinds = distinct_columns(np.packbits(self._truth > 0, axis=0)).which
        passing, failing = (np.bincount(kinds, weights) for weights in (self._passing, self._failing))
        lighter = np.where(passing < failing, 1, 0)[kinds]
        return np.asarray(np.where(lighter == 1, self._passing, self._failing))


@dataclass
class _Children:
    """Beginnings one rule longer than `parent`, best first; those before `place` have been taken up."""

    parent: _Beginning
    antecedents: NDArray[np.intp]
    least: Weights
    wrong: Weights
    verdicts: Verdicts
    place: int = 0

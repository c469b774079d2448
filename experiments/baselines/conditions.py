"""Tests as a table of yes and no, for learners of rules over conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from experiments.baselines.features import Features, Test, Verdicts, between

CUTS: Final = 9
"""The most thresholds of a column: ten parts with equally many scenes, where the values allow it."""


@dataclass(frozen=True)
class Conditions:
    """Tests of the columns, all above a threshold, and their truth on the training scenes.

    No two are true on the same scenes, and none on the very scenes where another is false. ``note`` says
    how many were left out, if any were.
    """

    tests: tuple[Test, ...]
    truth: Verdicts
    note: str | None = None


def conditions(features: Features, most: int) -> Conditions:
    """At most `most` tests of the columns; of more, those that tell the labels apart best.

    They are in the order of the columns.
    """
    found: dict[bytes, Test] = {}
    for column in range(len(features.names)):
        values = features.train[:, column]
        for cut in _cuts(values):
            test = Test(column, True, cut)
            truth = test.holds(features.train)
            found.setdefault((truth if truth[0] else ~truth).tobytes(), test)
    tests = list(found.values())
    truth = (
        np.array([test.holds(features.train) for test in tests], bool)
        .reshape(len(tests), len(features.train))
        .T
    )
    if len(tests) <= most:
        return Conditions(tuple(tests), truth, features.note)
    kept = np.sort(np.argsort(-_difference(truth, features), kind="stable")[:most])
    note = f"given the {most} of {len(tests)} tests of columns that tell the labels apart best"
    return Conditions(tuple(tests[index] for index in kept), truth[:, kept], note)


def _cuts(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[float]:
    distinct = np.unique(values)
    if len(distinct) <= CUTS + 1:
        below = np.arange(len(distinct) - 1)
    else:
        shares = np.quantile(values, np.arange(1, CUTS + 1) / (CUTS + 1), method="lower")
        below = np.unique(np.minimum(np.searchsorted(distinct, shares), len(distinct) - 2))
    return [between(float(distinct[index]), float(distinct[index + 1])) for index in below]


def _difference(truth: Verdicts, features: Features) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """How much more of the one label's weight than of the other's has each test true."""
    passing = np.where(features.train_passes, features.weights, 0.0)
    failing = features.weights - passing
    shares = [weights @ truth / (weights.sum() or 1.0) for weights in (passing, failing)]
    return np.round(np.abs(shares[0] - shares[1]), 12)

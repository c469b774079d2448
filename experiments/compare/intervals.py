"""Intervals and tests for paired differences: bootstrap, McNemar, Student, Holm.

Differences are between two contenders on the same units: +1 for a scene that only the first judges as it is
labelled, -1 for one that only the second does, 0 otherwise; or the difference of a figure between two runs.
Scenes come in blocks, one a pair of runs, and a block is the unit where there are several, since the scenes
that one check judges share its luck.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Differences = NDArray[np.float64]
_EQUAL = 1e-12


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean difference; ``low`` and ``high`` bound its interval and ``p_value`` tests that there is none.

    Those are None where there is a single figure and nothing to resample.
    """

    value: float
    low: float | None
    high: float | None
    p_value: float | None


def of_scenes(blocks: Sequence[Differences], *, level: float, resamples: int, seed: int) -> Estimate:
    """The mean difference over scenes, each block weighing the same.

    The interval is a percentile bootstrap (Efron 1979): of scenes in a single block, of blocks and of scenes
    within them in several. The test is McNemar's, exact, for one block, else Student's of the blocks' means.
    """
    means = np.array([block.mean() for block in blocks])
    generator = np.random.default_rng(seed)
    drawn = np.zeros(resamples)
    picks = generator.integers(len(blocks), size=(resamples, len(blocks)))
    for place, block in enumerate(blocks):
        times = (picks == place).sum(axis=1)
        shares = np.array([(block > 0).mean(), (block < 0).mean(), (block == 0).mean()])
        # Scenes drawn again for each time that their block was drawn: only how many of each kind counts.
        counts = generator.multinomial(len(block) * times, shares / shares.sum())
        drawn += (counts[:, 0] - counts[:, 1]) / len(block)
    drawn /= len(blocks)
    low, high = _ends(drawn, level, len(blocks))
    if len(blocks) == 1:
        p_value = mcnemar(int((blocks[0] > 0).sum()), int((blocks[0] < 0).sum()))
    else:
        p_value = student(means)
    return Estimate(float(means.mean()), low, high, p_value)


def of_figures(differences: Differences, *, level: float, resamples: int, seed: int) -> Estimate:
    """The mean difference of a figure over blocks, with a percentile bootstrap of the blocks."""
    value = float(differences.mean())
    if len(differences) == 1:
        return Estimate(value, None, None, None)
    generator = np.random.default_rng(seed)
    picks = generator.integers(len(differences), size=(resamples, len(differences)))
    low, high = _ends(differences[picks].mean(axis=1), level, len(differences))
    return Estimate(value, low, high, student(differences))


def mcnemar(first: int, second: int) -> float:
    """The exact two-sided p-value that ``first`` against ``second`` scenes fall by a fair coin."""
    if first == second:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(first, first + second).pvalue)


def student(differences: Differences) -> float:
    """The two-sided p-value of Student's t-test that the mean is 0; the runs' luck is taken for normal.

    Where all are the same, only their signs say anything: each might as well have been the other.
    """
    if np.ptp(differences) < _EQUAL:
        return 1.0 if abs(differences[0]) < _EQUAL else 2.0 ** (1 - len(differences))
    from scipy.stats import ttest_1samp

    return float(ttest_1samp(differences, 0.0).pvalue)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """P-values adjusted for being several (Holm 1979); None stays None and does not count."""
    known = sorted((value, at) for at, value in enumerate(p_values) if value is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    most = 0.0
    for rank, (value, at) in enumerate(known):
        most = max(most, min(1.0, value * (len(known) - rank)))
        adjusted[at] = most
    return adjusted


def _ends(drawn: Differences, level: float, blocks: int) -> tuple[float, float]:
    """The ends of a percentile interval; from few blocks wider, as their own spread is drawn too small."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    middle, wider = drawn.mean(), 1.0 if blocks == 1 else (blocks / (blocks - 1)) ** 0.5
    return float(middle + wider * (low - middle)), float(middle + wider * (high - middle))

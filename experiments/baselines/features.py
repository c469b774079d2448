"""Scenes as numeric tables for learners of trees and rules, and the tests of a column in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from induce.encoder import SceneEncoder
from induce.scenes import LabelledScenes

Table = NDArray[np.float64]
Verdicts = NDArray[np.bool_]
MOST_COLUMNS: Final = 2000
"""The most columns that a baseline is given; of more, those that tell the labels apart best."""


class Test(NamedTuple):
    """Whether the value in a column is above a threshold (`above`), or at most that."""

    column: int
    above: bool
    threshold: float

    def holds(self, table: Table) -> Verdicts:
        """The truth for each row."""
        values = table[:, self.column]
        return values > self.threshold if self.above else values <= self.threshold


@dataclass(frozen=True)
class Features:
    """The scenes of an experiment as tables of the same columns, none of them constant in training.

    Attributes
    ----------
    names : tuple of str
        What `induce.encoder.SceneEncoder` calls the columns.
    train, test : float64 (scenes, columns)
        0 where a scene has no number; ``optional`` are the columns where some training scene has none.
    train_passes, test_passes : bool (scenes,)
    weights : float64 (training scenes,)
    binary, whole, optional : bool (columns,)
        Columns of yes or no, of whole numbers, and of numbers that may be absent.
    note : str or None
        Says how many columns were left out, if any were.
    """

    names: tuple[str, ...]
    train: Table
    test: Table
    train_passes: Verdicts
    test_passes: Verdicts
    weights: NDArray[np.float64]
    binary: Verdicts
    whole: Verdicts
    optional: Verdicts
    note: str | None = None

    def words(self, test: Test) -> str:
        """A test in the words of the scenes' paths; the number is exact, but for whole values."""
        name, threshold = self.names[test.column], test.threshold
        if self.binary[test.column] and 0 <= threshold < 1:
            return name if test.above else f"not {name}"
        if self.whole[test.column]:
            most = math.floor(threshold)
            return f"{name} >= {most + 1}" if test.above else f"{name} <= {most}"
        absent_holds = (threshold < 0) == test.above
        said = f"{name} {'>' if test.above else '<='} {number_text(threshold)}"
        return f"({said} or absent)" if self.optional[test.column] and absent_holds else said

    def repeated(self) -> NDArray[np.intp]:
        """Training rows for learners that know no weights: each as often as its weight says.

        The lightest scene stands once, a weightless one not at all; ratios that would make the table more
        than ten times as long are scaled down, and no scene with a weight is lost.
        """
        positive = self.weights[self.weights > 0]
        if not len(positive):
            return np.arange(len(self.weights))
        ratios = self.weights / positive.min()
        scale = min(1.0, 10 * len(ratios) / ratios.sum())
        times = np.where(self.weights > 0, np.maximum(1, np.rint(ratios * scale)), 0).astype(np.intp)
        return np.repeat(np.arange(len(times)), times)


def encode(train: LabelledScenes, test: LabelledScenes, most: int = MOST_COLUMNS) -> Features:
    """The tables of labelled scenes; the columns are those that the training scenes have."""
    encoder = SceneEncoder(fill=math.nan).fit(list(train.scenes))
    names = [str(name) for name in encoder.get_feature_names_out()]
    table = np.asarray(encoder.transform(list(train.scenes)), np.float64)
    unseen = np.asarray(encoder.transform(list(test.scenes)), np.float64).reshape(len(test), len(names))
    optional = np.asarray(np.isnan(table).any(axis=0))
    table, unseen = np.nan_to_num(table, nan=0.0), np.nan_to_num(unseen, nan=0.0)
    passes = _passes(train)
    kept = np.flatnonzero(table.min(axis=0) < table.max(axis=0))
    note = None
    if len(kept) > most:
        note = f"given the {most} of {len(kept)} columns that tell the labels apart best"
        kept = kept[_telling(table[:, kept], passes, most)]
    shown = [names[column] for column in kept]
    counted = np.array([name.startswith(("count(", "length(")) for name in shown], bool)
    said = np.array([" = " in name or name.endswith((" present", " is number")) for name in shown], bool)
    return Features(
        names=tuple(shown),
        train=table[:, kept],
        test=unseen[:, kept],
        train_passes=passes,
        test_passes=_passes(test),
        weights=np.array(train.weights, np.float64),
        binary=said & ~counted,
        whole=counted,
        optional=optional[kept],
        note=note,
    )


def number_text(number: float) -> str:
    """The shortest text that is read back as the same double."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(float(number))


def between(low: float, high: float) -> float:
    """A number that is at least `low` and less than `high`, the middle where there is one."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


def _passes(scenes: LabelledScenes) -> Verdicts:
    return np.array([label == "pass" for label in scenes.require_labels()], bool)


def _telling(table: Table, passes: Verdicts, most: int) -> NDArray[np.intp]:
    """The columns whose order of the scenes is furthest from chance (by rank sums), in their own order."""
    from scipy.stats import rankdata

    ranks = np.asarray(rankdata(table, axis=0))
    distance = np.abs(ranks[passes].sum(axis=0) - passes.sum() * (len(passes) + 1) / 2)
    return np.sort(np.argsort(-distance, kind="stable")[:most])

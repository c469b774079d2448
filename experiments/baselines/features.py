"""Scenes as a numeric table for learners of trees and rules, and the columns' conditions in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from induce.encoder import SceneEncoder
from induce.scenes import LabelledScenes

MOST_COLUMNS: Final = 2000
"""The most columns that a baseline is given; above this many, those that tell the labels apart best."""


@dataclass(frozen=True)
class Features:
    """The scenes of an experiment as tables of the same columns, none of them constant in training.

    Numbers that a scene does not have stand as 0; ``optional`` are the columns where that happens. ``note``
    says which columns were left out, if any.
    """

    names: tuple[str, ...]
    train: NDArray[np.float64]
    test: NDArray[np.float64]
    train_passes: NDArray[np.bool_]
    test_passes: NDArray[np.bool_]
    weights: NDArray[np.float64]
    binary: NDArray[np.bool_]
    whole: NDArray[np.bool_]
    optional: NDArray[np.bool_]
    note: str | None = None

    def condition(self, column: int, sign: str, threshold: float) -> str:
        """``column sign threshold`` in words, with sign ``<=`` or ``>``."""
        name = self.names[column]
        if self.binary[column] and 0 <= threshold < 1:
            return name if sign == ">" else f"not {name}"
        if self.whole[column]:
            least = math.floor(threshold)
            return f"{name} <= {least}" if sign == "<=" else f"{name} >= {least + 1}"
        none = " or none" if self.optional[column] and (threshold >= 0) == (sign == "<=") else ""
        return f"{name} {sign} {number_text(threshold)}{none}"


def encode(train: LabelledScenes, test: LabelledScenes, most: int = MOST_COLUMNS) -> Features:
    """The tables of labelled scenes by `induce.encoder.SceneEncoder`, fitted on the training scenes."""
    encoder = SceneEncoder(fill=math.nan).fit(list(train.scenes))
    names = [str(name) for name in encoder.get_feature_names_out()]
    table, unseen = encoder.transform(list(train.scenes)), encoder.transform(list(test.scenes))
    optional = np.isnan(table).any(axis=0)
    table, unseen = np.nan_to_num(table, nan=0.0), np.nan_to_num(unseen, nan=0.0)
    passes, weights = _passes(train), np.array(train.weights, float)
    kept = np.flatnonzero(np.ptp(table, axis=0) > 0)
    note = None
    if len(kept) > most:
        note = f"{most} of {len(kept)} columns were given, those that tell the labels apart best"
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
        weights=weights,
        binary=said & ~counted,
        whole=counted,
        optional=optional[kept],
        note=note,
    )


def number_text(number: float) -> str:
    """The shortest text that is read back as the same double."""
    return repr(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(float(number))


def _passes(scenes: LabelledScenes) -> NDArray[np.bool_]:
    return np.array([label == "pass" for label in scenes.require_labels()], bool)


def _telling(table: NDArray[Any], passes: NDArray[np.bool_], most: int) -> NDArray[np.intp]:
    """The columns whose order of the scenes is furthest from chance, in their own order."""
    from scipy.stats import rankdata

    ranks = np.asarray(rankdata(table, axis=0))
    distance = np.abs(ranks[passes].sum(axis=0) - passes.sum() * (len(passes) + 1) / 2)
    return np.sort(np.argsort(-distance, kind="stable")[:most])

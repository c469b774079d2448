"""A beam over sets of alternatives: one more at a time, judged by the scenes they touch.

A set is judged by how differently it touches passing and failing scenes (Youden's J, which is
weighted relative accuracy up to a factor, as in CN2-SD, Lavrac et al. 2004), or by mixtures
that favour narrow and wide sets. It touches a scene that has one, two or three of its rows; or,
for rules about all rows, one with so many rows outside the set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Counts = NDArray[np.int64]
Codes = tuple[int, ...]

WIDTH = 3
"""Sets of each size that are kept for each way of judging them."""
COUNTED = (1, 2, 3)


class Judges(NamedTuple):
    """Weights of the scenes, (scenes, judges) each: their sum over the touched scenes is the judgement.

    `even` is for each class against the other; `all` also has the one, and the other, counted four
    times. The first judge of both leans to the passing scenes.
    """

    even: NDArray[np.float64]
    all: NDArray[np.float64]

    @property
    def scenes(self) -> int:
        return len(self.even)

    @classmethod
    def of(cls, labels: Mask, weights: NDArray[np.float64]) -> Judges:
        passing = np.where(labels, weights, 0.0) / weights[labels].sum()
        failing = np.where(labels, 0.0, weights) / weights[~labels].sum()
        sides = ((passing, failing), (failing, passing))
        even = [one - other for one, other in sides]
        uneven = [a * one - b * other for a, b in ((1, 4), (4, 1)) for one, other in sides]
        return cls(np.array(even).T, np.array(even + uneven).T)


class Parts(Protocol):
    """Alternatives of one path: `codes` names them, `total` is the rows of each scene."""

    codes: Codes
    total: Counts

    def matched(self, sets: list[Codes]) -> Counts:
        """Rows that each set of positions matches: (sets, scenes)."""

    def grown(self, sets: list[Codes]) -> Counts:
        """The same with each alternative added: (sets, alternatives, scenes)."""


class CountParts:
    """Alternatives that exclude each other; `members` is the rows of each in each scene."""

    def __init__(self, members: Counts, codes: Codes, total: Counts) -> None:
        self.members, self.codes, self.total = members, codes, total

    def matched(self, sets: list[Codes]) -> Counts:
        return np.array([self.members[list(chosen)].sum(axis=0) for chosen in sets])

    def grown(self, sets: list[Codes]) -> Counts:
        return self.matched(sets)[:, None, :] + self.members[None, :, :]


class MaskParts:
    """Alternatives that may hold together; `members` is truth over rows, `scenes` each row's, ascending."""

    def __init__(self, members: Mask, codes: Codes, scenes: NDArray[np.int64], count: int) -> None:
        self.members, self.codes, self.scenes = members, codes, scenes
        self.total = np.bincount(scenes, minlength=count)
        self._met, self._starts = np.unique(scenes, return_index=True)

    def matched(self, sets: list[Codes]) -> Counts:
        return self._per_scene(self._either(sets))

    def grown(self, sets: list[Codes]) -> Counts:
        return self._per_scene(self._either(sets)[:, None, :] | self.members[None, :, :])

    def _either(self, sets: list[Codes]) -> Mask:
        return np.array([self.members[list(chosen)].any(axis=0) for chosen in sets])

    def _per_scene(self, rows: Mask) -> Counts:
        counts = np.zeros((*rows.shape[:-1], len(self.total)), np.int64)
        if len(self._met):
            counts[..., self._met] = np.add.reduceat(rows, self._starts, axis=-1, dtype=np.int64)
        return counts


def most_telling(parts: Parts, most: int, judges: NDArray[np.float64]) -> list[int]:
    """Positions of the alternatives that tell the classes apart best by themselves, ascending."""
    scores = _judged(parts.grown([()]), parts.total, judges, both=True).max(axis=0)[0]
    return sorted(np.argsort(-scores, kind="stable")[:most].tolist())


def beam(parts: Parts, judges: NDArray[np.float64], most: int, *, both: bool) -> dict[Codes, float]:
    """The best sets of two to `most` alternatives, each with the best judgement of the first two judges.

    Parameters
    ----------
    judges : float array, (scenes, judges)
    both : bool
        Whether the rows that a set leaves out are looked at as well.
    """
    found: dict[Codes, float] = {}
    level: list[Codes] = [()]
    for size in range(1, most + 1):
        counts = parts.grown(level)
        scores = _judged(counts, parts.total, judges, both)
        changed = (counts != parts.matched(level)[:, None, :]).any(axis=-1)
        places: dict[Codes, tuple[int, int]] = {}
        for at, chosen in enumerate(level):
            for part in np.flatnonzero(changed[at]).tolist():
                if part not in chosen:
                    places.setdefault(tuple(sorted((*chosen, part))), (at, part))
        if not places:
            break
        grown = list(places)
        rows, columns = np.array(list(places.values())).T
        kept: dict[int, None] = {}
        for judged in scores[:, rows, columns]:
            kept.update(dict.fromkeys(np.argsort(-judged, kind="stable")[:WIDTH].tolist()))
        level = [grown[i] for i in kept]
        if size > 1:
            telling = scores.reshape(-1, judges.shape[1], *scores.shape[1:])[:, :2].max(axis=(0, 1))
            for i in kept:
                named = tuple(sorted(parts.codes[position] for position in grown[i]))
                found[named] = float(telling[rows[i], columns[i]])
    return found


def best_of_each_size(found: Mapping[Codes, float], most: int) -> list[Codes]:
    """At most so many sets of each size, the most telling."""
    kept: list[Codes] = []
    for size in sorted({len(chosen) for chosen in found}):
        ranked = sorted((-score, chosen) for chosen, score in found.items() if len(chosen) == size)
        kept += [chosen for _, chosen in ranked[:most]]
    return kept


def _judged(counts: Counts, total: Counts, judges: NDArray[np.float64], both: bool) -> NDArray[np.float64]:
    """The best judgement over the numbers of rows that are told apart: (ways, sets, alternatives)."""
    ways = []
    for matching in (counts, total - counts) if both else (counts,):
        judged = [(matching >= k) @ judges for k in COUNTED[: max(1, int(matching.max(initial=0)))]]
        ways.append(np.max(judged, axis=0))
    return np.round(np.concatenate(ways, axis=-1), 9).transpose(2, 0, 1)

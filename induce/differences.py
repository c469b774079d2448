"""Other checks near the best that the labels leave open, and the scenes on which they differ from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator import evaluate_many, sentence
from induce.committee import Rival
from induce.plausible import PlausibleScene, plausible_scenes

JSON = Any
NEAR = 10.0
"""Bits from the best within which other checks are shown."""


@dataclass(frozen=True)
class Alternative:
    """A check near the best that differs from it on plausible scenes.

    Attributes
    ----------
    check : dict
    objective, distance : float
        Bits; ``distance`` is from the best.
    differs, of : int
        The plausible scenes it judges differently, of how many.
    example : PlausibleScene
        One of those, the least edited.
    passes : bool
        Its verdict on the example; the best check's is the other one.
    """

    check: dict[str, JSON]
    objective: float
    distance: float
    differs: int
    of: int
    example: PlausibleScene
    passes: bool

    def to_dict(self) -> dict[str, JSON]:
        example = {
            "id": self.example.id,
            "source": self.example.source,
            "edits": list(self.example.edits),
            "scene": self.example.scene,
            "pass": self.passes,
        }
        return {
            "check": self.check,
            "sentence": sentence(self.check),
            "objective": self.objective,
            "distance": self.distance,
            "differs": self.differs,
            "of": self.of,
            "example": example,
        }


def alternatives(
    rivals: Sequence[Rival],
    scenes: Sequence[JSON],
    k: int = 5,
    *,
    within: float = NEAR,
    ids: Sequence[str] | None = None,
    pool: Sequence[JSON] | None = None,
    pool_ids: Sequence[str] | None = None,
) -> tuple[Alternative, ...]:
    """The best rivals that differ from the first, and from each other, on some plausible scene.

    Parameters
    ----------
    rivals : sequence of Rival
        As `near_best` gives them, the best first.
    scenes, ids : sequences of equal length
        The labelled scenes; smallest changes of them are plausible.
    k : int
        The most alternatives.
    within : float
        Bits from the best.
    pool, pool_ids : sequences of equal length, optional
        Further plausible scenes.

    Raises
    ------
    ValueError
        When `k` is below 1, there are no rivals or lengths differ.
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ValueError(f"k: expected a whole number of alternatives, at least 1, got {k!r}")
    if not rivals:
        raise ValueError("rivals: at least one check is needed, as near_best gives them")
    near = [rival for rival in rivals if rival.distance <= within]
    plausible = plausible_scenes(near, scenes, ids, pool=pool, pool_ids=pool_ids)
    if not plausible:
        return ()
    verdicts = evaluate_many([rival.check for rival in near], [one.scene for one in plausible]).passed
    edits = np.array([len(one.edits) for one in plausible])
    seen = {verdicts[0].tobytes()}
    found: list[Alternative] = []
    for rival, passed in zip(near, verdicts, strict=True):
        if len(found) == k:
            break
        if passed.tobytes() in seen:
            continue
        seen.add(passed.tobytes())
        differing = np.flatnonzero(passed != verdicts[0])
        at = int(differing[np.argmin(edits[differing])])
        found.append(
            Alternative(
                check=rival.check,
                objective=rival.objective,
                distance=rival.distance,
                differs=len(differing),
                of=len(plausible),
                example=plausible[at],
                passes=bool(passed[at]),
            )
        )
    return tuple(found)

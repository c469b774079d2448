"""Labelled examples as the learner takes them: checked, merged and in one fixed order."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from induce.digest import data_digest
from induce.profile import refuse_non_json
from induce.scenes.plain import all_plain, canonical_text

JSON = Any
LARGEST_WEIGHT = 1e12
LABELS = {"pass": True, "fail": False, "true": True, "false": False, "1": True, "0": False}


@dataclass(frozen=True)
class Examples:
    """Distinct (scene, label) pairs: passing ones first, each label sorted by canonical JSON text.

    Equal scenes with equal labels are one example whose weight is the sum, so that neither
    the order of the lines nor a line said twice changes what is learnt.

    Attributes
    ----------
    scenes : tuple of JSON trees, (examples,)
    passing : tuple of bool, (examples,)
    weights : tuple of float, (examples,)
    ids : tuple of tuple of str, (examples,)
        The ids of the scenes merged into each example.
    texts : tuple of str, (examples,)
        Canonical JSON of each scene.
    """

    scenes: tuple[JSON, ...]
    passing: tuple[bool, ...]
    weights: tuple[float, ...]
    ids: tuple[tuple[str, ...], ...]
    texts: tuple[str, ...]

    @classmethod
    def of(
        cls,
        scenes: Sequence[JSON],
        labels: Sequence[JSON],
        sample_weight: Sequence[float] | None = None,
        ids: Sequence[str] | None = None,
    ) -> Examples:
        """Check and merge labelled scenes.

        Raises
        ------
        ValueError
            When lengths differ, a label or a weight is unusable, or one class is absent.
        SceneError
            When a scene is not plain JSON.
        """
        count = len(_sized("scenes", scenes))
        given = [1.0] * count if sample_weight is None else _sized("sample_weight", sample_weight)
        weights = [_weight(weight) for weight in given]
        names = [str(i) for i in range(count)] if ids is None else list(_sized("ids", ids))
        if any(type(name) is not str for name in names):
            raise ValueError("ids: expected texts")
        labels = list(_sized("labels", labels))
        for what, values in (("labels", labels), ("sample_weight", weights), ("ids", names)):
            if len(values) != len(scenes):
                raise ValueError(
                    f"{what}: expected one for each of the {len(scenes)} scenes, got {len(values)}"
                )
        passing = [label_of(label, names[i]) for i, label in enumerate(labels)]
        merged: dict[tuple[str, bool], list[tuple[JSON, float, str]]] = {}
        if not all_plain(list(scenes)):
            for scene, name in zip(scenes, names, strict=True):
                refuse_non_json(scene, f"scene {name}")
        for scene, label, weight, name in zip(scenes, passing, weights, names, strict=True):
            merged.setdefault((canonical_text(scene), label), []).append((scene, weight, name))
        _both_classes(merged)
        keys = sorted(merged, key=lambda key: (not key[1], key[0]))
        return cls(
            scenes=tuple(_one_of(merged[key]) for key in keys),
            passing=tuple(key[1] for key in keys),
            weights=tuple(math.fsum(weight for _, weight, _ in merged[key]) for key in keys),
            ids=tuple(tuple(sorted(name for _, _, name in merged[key])) for key in keys),
            texts=tuple(key[0] for key in keys),
        )

    def part(self, chosen: Sequence[int]) -> Examples:
        """The examples at some places, in ascending order."""
        return Examples(
            scenes=tuple(self.scenes[i] for i in chosen),
            passing=tuple(self.passing[i] for i in chosen),
            weights=tuple(self.weights[i] for i in chosen),
            ids=tuple(self.ids[i] for i in chosen),
            texts=tuple(self.texts[i] for i in chosen),
        )

    @cached_property
    def weight(self) -> float:
        """The sum of all weights."""
        return math.fsum(self.weights)

    @cached_property
    def labels(self) -> NDArray[np.bool_]:
        return np.array(self.passing, np.bool_)

    @property
    def counts(self) -> dict[str, int]:
        """Scenes of each label as they were given, merged ones counted singly."""
        passing = sum(len(ids) for ids, label in zip(self.ids, self.passing, strict=True) if label)
        return {"pass": passing, "fail": sum(map(len, self.ids)) - passing}

    @property
    def contradictions(self) -> tuple[tuple[str, ...], ...]:
        """Ids of scenes that are equal and stand under both labels."""
        rows = list(zip(self.texts, self.passing, self.ids, strict=True))
        passing = {text: ids for text, label, ids in rows if label}
        both = [passing[text] + ids for text, label, ids in rows if not label and text in passing]
        return tuple(sorted(tuple(sorted(ids)) for ids in both))

    @property
    def digest(self) -> str:
        """SHA-256 of scenes, labels and weights, whatever their order; hexadecimal."""
        labels = ("pass" if label else "fail" for label in self.passing)
        return data_digest(zip(self.texts, labels, self.weights, strict=True))


def evenly(places: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most so many of the places, evenly spread."""
    if len(places) <= most:
        return places
    return places[np.linspace(0, len(places) - 1, most).round().astype(np.int64)]


def label_of(label: JSON, name: str = "") -> bool:
    """Whether a label means pass: pass/fail, true/false or 1/0, as text or as a value."""
    value = label.item() if isinstance(label, np.generic) else label
    text = value.strip().lower() if isinstance(value, str) else str(value).lower()
    if isinstance(value, float) and value in (0.0, 1.0):
        text = str(int(value))
    if not isinstance(value, (str, bool, int, float)) or text not in LABELS:
        where = f"scene {name}: " if name else ""
        raise ValueError(
            f"{where}unknown label {label!r}; expected pass or fail (true/false and 1/0 are taken too)"
        )
    return LABELS[text]


def _one_of(same: list[tuple[JSON, float, str]]) -> JSON:
    """One of equal scenes, whatever their order (1 and 1.0 are equal and read differently)."""
    return same[0][0] if len(same) == 1 else min((scene for scene, _, _ in same), key=json.dumps)


def _weight(weight: JSON) -> float:
    try:
        value = float(weight)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not 0 <= value <= LARGEST_WEIGHT:
        raise ValueError(f"sample_weight: expected numbers from 0 to {LARGEST_WEIGHT:g}, got {weight!r}")
    return value


def _sized(name: str, values: JSON) -> JSON:
    """`values` when it is a sequence of some kind, else one clear error."""
    if isinstance(values, (str, bytes, dict)) or not (
        hasattr(values, "__len__") and hasattr(values, "__getitem__")
    ):
        raise ValueError(f"{name}: expected a list, got {type(values).__name__}")
    return values


def _both_classes(merged: Mapping[tuple[str, bool], Sequence[tuple[JSON, float, str]]]) -> None:
    weights = {True: -1.0, False: -1.0}
    for (_, label), rows in merged.items():
        weights[label] = max(weights[label], *(weight for _, weight, _ in rows))
    absent = [label for label, weight in weights.items() if weight < 0]
    if len(absent) == 2:
        raise ValueError("no labelled scenes: at least one passing and one failing scene are needed")
    if absent:
        have, lack = ("fail", "pass") if absent[0] else ("pass", "fail")
        instead = "; `induce invariants` ranks what passing scenes share" if have == "pass" else ""
        raise ValueError(
            f"all scenes are labelled {have}; a check is learnt from both classes, "
            f"so add scenes labelled {lack}{instead}"
        )
    for label, name in ((True, "passing"), (False, "failing")):
        if weights[label] == 0:
            raise ValueError(f"sample_weight: every {name} scene has weight 0, so only one class is left")

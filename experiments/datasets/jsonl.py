"""Labelled scenes from JSONL files, split into training and unseen scenes where one file has both."""

from __future__ import annotations

import random
from pathlib import Path

from evaluator import SceneError
from induce.scenes import LabelledScenes, load_scenes


def read(path: Path) -> LabelledScenes:
    """The scenes of a JSONL file, all of them labelled; :class:`SceneError` names file and line otherwise."""
    scenes = load_scenes(path, fmt="jsonl")
    scenes.require_labels()
    return scenes


def split(scenes: LabelledScenes, test_share: float, seed: int) -> tuple[LabelledScenes, LabelledScenes]:
    """Training and unseen scenes, each label shared out by ``test_share`` (at least one scene each side).

    Which scenes are kept unseen depends on their ids and the seed, not on their order in the file.
    """
    source = random.Random(f"split/{seed}")
    unseen: set[int] = set()
    for label in ("fail", "pass"):
        indices = [index for index, own in enumerate(scenes.labels) if own == label]
        indices.sort(key=scenes.ids.__getitem__)
        if not indices:
            continue
        if len(indices) == 1:
            raise SceneError(
                f"only {scenes.ids[indices[0]]} is labelled {label}, too few to keep some unseen; "
                "label more, or give dataset.train and dataset.test"
            )
        size = min(max(round(test_share * len(indices)), 1), len(indices) - 1)
        unseen.update(source.sample(indices, size))
    everything = range(len(scenes))
    return (
        scenes.subset(i for i in everything if i not in unseen),
        scenes.subset(i for i in everything if i in unseen),
    )

"""Training and unseen scenes out of one set: stratified, in whole groups, or as one fold of several.

A split depends on the ids of the scenes, their labels and groups, and the seed, and not on their order.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence

from evaluator import SceneError, canonical_json, lookup
from experiments.config.datasets import Split
from induce.scenes import LabelledScenes

_LABELS = ("fail", "pass")


def joined(first: LabelledScenes, second: LabelledScenes) -> LabelledScenes:
    """Both sets, in this order. Raises :class:`SceneError` when they share an id."""
    known = set(first.ids)
    shared = next((name for name in second.ids if name in known), None)
    if shared is not None:
        raise SceneError(
            f"a training scene and an unseen one have the same id {shared}; give each an id of its own, "
            "or choose dataset.split.kind=given"
        )
    return LabelledScenes(
        ids=first.ids + second.ids,
        labels=first.labels + second.labels,
        scenes=first.scenes + second.scenes,
        weights=first.weights + second.weights,
    )


def split(scenes: LabelledScenes, config: Split) -> tuple[LabelledScenes, LabelledScenes]:
    """Training and unseen scenes as ``config`` says; ``auto`` is stratified.

    Raises :class:`SceneError` when a label or the groups are too few to have some on both sides.
    """
    for label in _LABELS:
        places = _places(scenes, label)
        if len(places) == 1:
            raise SceneError(
                f"only {scenes.ids[places[0]]} is labelled {label}, too few to keep some unseen; "
                "label more, or give the unseen scenes in a file of their own"
            )
    if config.kind == "grouped":
        unseen = _grouped(scenes, _groups(scenes, config), config)
    elif config.kind == "kfold":
        unseen = _fold(scenes, _groups(scenes, config), config)
    else:
        unseen = _stratified(scenes, config)
    everything = range(len(scenes))
    return (
        scenes.subset(i for i in everything if i not in unseen),
        scenes.subset(i for i in everything if i in unseen),
    )


def described(config: Split) -> str:
    """The split in a few words."""
    groups = f", groups by {config.group} kept whole" if config.group is not None else ""
    if config.kind == "kfold":
        return f"fold {config.fold} of {config.folds} kept unseen{groups}, seed {config.seed}"
    of = "the scenes" if config.kind == "grouped" else "each label"
    return f"{config.test_share:.0%} of {of} kept unseen{groups}, seed {config.seed}"


def _stratified(scenes: LabelledScenes, config: Split) -> set[int]:
    source = random.Random(f"split/{config.seed}")
    unseen: set[int] = set()
    for label in _LABELS:
        places = _places(scenes, label)
        if not places:
            continue
        size = min(max(round(config.test_share * len(places)), 1), len(places) - 1)
        unseen.update(source.sample(places, size))
    return unseen


def _places(scenes: LabelledScenes, label: str) -> list[int]:
    """Where the scenes with a label are, in the order of their ids."""
    places = [place for place, own in enumerate(scenes.labels) if own == label]
    return sorted(places, key=scenes.ids.__getitem__)


def _groups(scenes: LabelledScenes, config: Split) -> list[list[int]]:
    """The places of the scenes of each group, in an order that the seed draws; without groups each is one."""
    if config.group is None:
        groups = {name: [place] for place, name in enumerate(scenes.ids)}
    else:
        groups = {}
        for place, (name, scene) in enumerate(zip(scenes.ids, scenes.scenes, strict=True)):
            found = lookup(scene, config.group)
            if not found.present:
                raise SceneError(f"scene {name} has nothing at {config.group} (dataset.split.group)")
            groups.setdefault(canonical_json(found.value), []).append(place)
    names = sorted(groups)
    random.Random(f"split/{config.kind}/{config.seed}").shuffle(names)
    return [groups[name] for name in names]


def _grouped(scenes: LabelledScenes, groups: Sequence[list[int]], config: Split) -> set[int]:
    """Groups in their order, each that brings the numbers of both labels nearer to those wanted."""
    if len(groups) < 2:
        raise SceneError(
            f"all scenes have the same value at {config.group} (dataset.split.group); "
            "two groups are the least that can be kept apart"
        )
    total = _counts(scenes, range(len(scenes)))
    wanted = {label: config.test_share * total[label] for label in _LABELS}
    taken: Counter[str] = Counter()
    unseen: list[list[int]] = []
    for group in groups:
        after = taken + _counts(scenes, group)
        if len(unseen) < len(groups) - 1 and _distance(after, wanted) < _distance(taken, wanted):
            taken = after
            unseen.append(group)
    if not unseen:
        unseen = [min(groups, key=lambda group: _distance(_counts(scenes, group), wanted))]
    return {place for group in unseen for place in group}


def _fold(scenes: LabelledScenes, groups: Sequence[list[int]], config: Split) -> set[int]:
    """The scenes of one fold: groups are dealt, large ones first, each to the fold with fewest like it."""
    if len(groups) < config.folds:
        what = "scenes" if config.group is None else f"values at {config.group}"
        raise SceneError(
            f"{len(groups)} {what} are too few for {config.folds} folds; lower dataset.split.folds"
        )
    folds = [Counter[str]() for _ in range(config.folds)]
    unseen: list[int] = []
    for group in sorted(groups, key=lambda group: (-len(group), _counts(scenes, group)["pass"])):
        own = _counts(scenes, group)
        fewest = min(
            range(config.folds),
            key=lambda fold: (sum(folds[fold][label] * own[label] for label in _LABELS), folds[fold].total()),
        )
        folds[fewest] += own
        if fewest == config.fold - 1:
            unseen += group
    return set(unseen)


def _counts(scenes: LabelledScenes, places: Iterable[int]) -> Counter[str]:
    return Counter(str(scenes.labels[place]) for place in places)


def _distance(taken: Counter[str], wanted: dict[str, float]) -> float:
    return sum(abs(taken[label] - share) for label, share in wanted.items())

"""How well a check does on scenes it was not learnt from: a test set, or stratified cross-validation.

The folds depend on the scenes and a seed alone, not on the order of the scenes. Equal scenes share a fold,
since a scene that was trained on is not unseen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator import compile_check
from induce.parallel import in_parallel
from induce.scenes import LabelledScenes

DEFAULT_FOLDS = 5


@dataclass(frozen=True)
class Accuracy:
    """Verdicts compared with labels: `right` of `total`, and the ids of the others in the scenes' order."""

    right: int
    total: int
    wrong: tuple[str, ...]

    @property
    def share(self) -> float:
        """From 0 to 1; there is always at least one scene."""
        return self.right / self.total


@dataclass(frozen=True)
class CrossValidation:
    """Scenes judged once each, by the check learnt from the other folds; `checks` has one check a fold.

    Where a clock bit, `cut` of the checks are the best that were found until then, and the scenes of
    `skipped` folds were not judged, as there was no time to learn from the others.
    """

    accuracy: Accuracy
    checks: tuple[dict[str, Any], ...]
    cut: int = 0
    skipped: int = 0

    @property
    def folds(self) -> int:
        return len(self.checks)


def accuracy_of(check: Mapping[str, Any], scenes: LabelledScenes) -> Accuracy:
    """The check's verdicts on labelled scenes, by the standard evaluator, compared with the labels."""
    compiled = compile_check(dict(check))
    labels = scenes.require_labels()
    wrong = tuple(
        name
        for name, scene, label in zip(scenes.ids, scenes.scenes, labels, strict=True)
        if compiled.passes(scene) != (label == "pass")
    )
    return Accuracy(len(scenes) - len(wrong), len(scenes), wrong)


def class_sizes(scenes: LabelledScenes) -> dict[str, int]:
    """Different scenes of each label; the smaller number is the most folds there can be."""
    return _class_sizes(_groups(scenes))


def stratified_folds(scenes: LabelledScenes, folds: int, seed: int = 0) -> tuple[tuple[int, ...], ...]:
    """Split positions into `folds` test sets with about the same number of passes and fails each.

    Groups of equal scenes are dealt out in the order of a seeded hash, larger groups first, each to the fold
    with the fewest scenes of its class.

    Raises
    ------
    ValueError
        When a class has fewer different scenes than folds are asked for, or fewer than two folds are.
    """
    groups = _groups(scenes)
    sizes = _class_sizes(groups)
    if not 2 <= folds <= min(sizes.values()):
        found = " and ".join(f"{count} {label}" for label, count in sizes.items())
        raise ValueError(
            f"cannot make {folds} folds: at least 2 are needed, and at least as many different scenes "
            f"of each label as folds; there are {found}"
        )

    def dealt(group: _Group) -> tuple[int, str]:
        return -len(group.members), hashlib.sha256(f"{seed}\n{group.text}".encode()).hexdigest()

    parts: list[list[int]] = [[] for _ in range(folds)]
    held = {"pass": [0] * folds, "fail": [0] * folds}
    for group in sorted(groups, key=dealt):
        in_class = held[group.label]
        fold = min(range(folds), key=lambda n: (in_class[n], len(parts[n]), n))
        parts[fold].extend(group.members)
        in_class[fold] += len(group.members)
    return tuple(tuple(sorted(part)) for part in parts)


def cross_validate(
    scenes: LabelledScenes,
    learn: Callable[[LabelledScenes], Mapping[str, Any]],
    folds: int = DEFAULT_FOLDS,
    seed: int = 0,
    *,
    n_jobs: int | None = None,
) -> CrossValidation:
    """Learn from all folds but one, `folds` times, and judge that one; `learn` returns a check.

    `n_jobs` folds are learnt from at a time (see `induce.parallel`); the result does not depend on it, as
    long as no clock bites in `learn`.
    """
    parts = stratified_folds(scenes, folds, seed)
    checks = in_parallel(learn, [(rest,) for rest in without_each(scenes, parts)], n_jobs)
    return judged(scenes, parts, checks)


def without_each(scenes: LabelledScenes, parts: Sequence[Sequence[int]]) -> list[LabelledScenes]:
    """For each of some parts, given by positions, the scenes that are not in it."""
    held = [frozenset(part) for part in parts]
    return [scenes.subset(i for i in range(len(scenes)) if i not in part) for part in held]


def judged(
    scenes: LabelledScenes, parts: Sequence[Sequence[int]], checks: Sequence[Mapping[str, Any]]
) -> CrossValidation:
    """Each part judged by the check that was learnt without it."""
    accuracies = [accuracy_of(check, scenes.subset(part)) for check, part in zip(checks, parts, strict=True)]
    wrong = {name for accuracy in accuracies for name in accuracy.wrong}
    in_order = tuple(name for name in scenes.ids if name in wrong)
    total = sum(accuracy.total for accuracy in accuracies)
    return CrossValidation(Accuracy(total - len(wrong), total, in_order), tuple(map(dict, checks)))


@dataclass(frozen=True)
class _Group:
    """Positions of equal scenes; a contradictory group has its majority's label, pass on a draw."""

    text: str
    members: tuple[int, ...]
    label: str


def _groups(scenes: LabelledScenes) -> list[_Group]:
    labels = scenes.require_labels()
    members: dict[str, list[int]] = {}
    for index, text in enumerate(scenes.canonical):
        members.setdefault(text, []).append(index)
    return [
        _Group(
            text,
            tuple(found),
            "pass" if 2 * sum(labels[i] == "pass" for i in found) >= len(found) else "fail",
        )
        for text, found in members.items()
    ]


def _class_sizes(groups: Sequence[_Group]) -> dict[str, int]:
    return {label: sum(group.label == label for group in groups) for label in ("pass", "fail")}

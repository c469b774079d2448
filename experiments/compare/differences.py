"""Whether runs differ beyond chance: paired differences on the scenes that contenders share.

Two contenders are compared by their pairs of runs on the same scenes: accuracies scene by scene, other
metrics by the figures of the runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal

import numpy as np

from experiments.compare.contenders import (
    COMPARABLE,
    Contender,
    Entrant,
    Judged,
    baselines_of,
    contenders_of,
    entrants_of,
)
from experiments.compare.intervals import Estimate, holm, of_figures, of_scenes
from experiments.config import did_you_mean
from experiments.report.files import ReportError
from experiments.report.sources import Found

SPLITS: Final[Mapping[str, Literal["train", "test"]]] = {"test_accuracy": "test", "train_accuracy": "train"}
"""Metrics that are means over scenes, and the scenes."""
ALL_PAIRS = 5
"""Contenders up to which each is compared with each."""


@dataclass(frozen=True, slots=True)
class Method:
    """How differences are judged: the level of intervals, the draws of a bootstrap, and their seed."""

    level: float = 0.95
    resamples: int = 10_000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Difference:
    """``first`` minus ``second`` over ``blocks`` pairs of runs.

    ``only_first`` and ``only_second`` count the scenes, of ``scenes``, that one alone judges as labelled;
    they are None of other metrics than accuracy. ``adjusted`` is the p-value for as many tests as were made.
    """

    first: str
    second: str
    blocks: int
    scenes: int
    estimate: Estimate
    only_first: int | None = None
    only_second: int | None = None
    adjusted: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was compared, how, and what came out. ``apart`` are pairs that share no scenes."""

    metric: str
    method: Method
    keys: tuple[str, ...]
    entrants: tuple[Entrant, ...]
    contenders: tuple[Contender, ...]
    differences: tuple[Difference, ...]
    against: str | None
    apart: tuple[tuple[str, str], ...]

    @property
    def by_scene(self) -> bool:
        return self.metric in SPLITS

    @property
    def test_sets(self) -> int:
        return len({entrant.test_set for entrant in self.entrants})


def compare(
    found: Sequence[Found[Judged]],
    *,
    metric: str = "test_accuracy",
    by: Sequence[str] = (),
    baselines: bool = False,
    against: str | None = None,
    method: Method = Method(),
) -> Comparison:
    """Compare all runs that were found.

    ``metric`` is ``test_accuracy`` or ``train_accuracy``, which are paired scene by scene, or any other one
    that all runs have. ``by`` are the keys that tell contenders apart, by default all that differ on equal
    scenes. ``baselines`` compares each contender with the other learners of its runs as well.
    ``against`` names the contender that all others are compared with; by default each is compared with each,
    and from six on with the first. Raises :class:`ReportError` where there is nothing to compare.
    """
    _check_metric(metric, found)
    keys, entrants = entrants_of(found, SPLITS.get(metric, "test"), by)
    contenders = contenders_of(entrants)
    reference = _reference(against, contenders)
    pairs = list(_pairs(contenders, reference))
    apart = [(first.name, second.name) for first, second in pairs if not _shared(first, second)]
    others = _others(contenders, metric) if baselines else []
    pairs += [(one, other) for one in contenders for other in others if other.runs is one.runs]
    differences = [
        _difference(first, second, shared, metric, method)
        for first, second in pairs
        if (shared := _shared(first, second))
    ]
    if not differences and len(found) > 1:
        raise ReportError(_nothing(contenders, SPLITS.get(metric, "test")))
    adjusted = holm([one.estimate.p_value for one in differences])
    return Comparison(
        metric=metric,
        method=method,
        keys=keys,
        entrants=entrants,
        contenders=(*contenders, *others),
        differences=tuple(
            dataclasses.replace(one, adjusted=value) for one, value in zip(differences, adjusted, strict=True)
        ),
        against=None if reference is None else reference.name,
        apart=tuple(apart),
    )


def _others(contenders: Sequence[Contender], metric: str) -> list[Contender]:
    """The other learners of the contenders' runs."""
    if metric not in COMPARABLE:
        unit = " in bits" if metric == "size" else ""
        raise ReportError(
            f"--baselines: no other learner has a {metric!r}{unit}; compare {', '.join(COMPARABLE)}"
        )
    others = [other for one in contenders for other in baselines_of(one)]
    if not others:
        raise ReportError("--baselines: no run has a rule of another learner; run with baselines=all")
    return others


def _check_metric(metric: str, found: Sequence[Found[Judged]]) -> None:
    runs = [judged.run for one in found for judged in one.runs]
    shared = set(runs[0].result.metrics).intersection(*(run.result.metrics for run in runs))
    if metric not in shared:
        raise ReportError(
            f"--metric: {metric!r} is no metric of all these runs{did_you_mean(metric, shared)}"
        )


def _reference(against: str | None, contenders: Sequence[Contender]) -> Contender | None:
    if against is None:
        return contenders[0] if len(contenders) > ALL_PAIRS else None
    named = {one.name: one for one in contenders}
    if against not in named:
        raise ReportError(f"--against: {against!r} is none of those compared{did_you_mean(against, named)}")
    return named[against]


def _pairs(
    contenders: Sequence[Contender], reference: Contender | None
) -> Iterator[tuple[Contender, Contender]]:
    if reference is None:
        yield from combinations(contenders, 2)
    else:
        yield from ((one, reference) for one in contenders if one is not reference)


def _shared(first: Contender, second: Contender) -> list[int]:
    return sorted(set(first.runs).intersection(second.runs))


def _difference(
    first: Contender, second: Contender, blocks: Sequence[int], metric: str, method: Method
) -> Difference:
    split, options = SPLITS.get(metric), dataclasses.asdict(method)
    scenes = sum(len(first.runs[block].judged.ids[split or "test"]) for block in blocks)
    if split is None:
        values = [(first.figure(block, metric), second.figure(block, metric)) for block in blocks]
        known = [one - other for one, other in values if one is not None and other is not None]
        if len(known) < len(values):
            raise ReportError(f"--metric: {second.name} has no {metric!r}")
        return Difference(
            first.name, second.name, len(blocks), scenes, of_figures(np.array(known), **options)
        )
    changes = []
    for block in blocks:
        right, other_right = first.right(block, split), second.right(block, split)
        if right is None or other_right is None:
            raise ReportError(
                f"{second.name}: its verdicts on single scenes are not kept, as older versions kept none; "
                "run the experiment again"
            )
        changes.append(right.astype(np.float64) - other_right)
    return Difference(
        first.name,
        second.name,
        len(blocks),
        scenes,
        of_scenes(changes, **options),
        only_first=int(sum((change > 0).sum() for change in changes)),
        only_second=int(sum((change < 0).sum() for change in changes)),
    )


def _nothing(contenders: Sequence[Contender], split: str) -> str:
    """Why no two contenders can be compared."""
    if len(contenders) < 2:
        return (
            f"{contenders[0].name}: nothing to compare it with; its runs have test scenes of their own each"
        )
    first, second = contenders[:2]
    judged = [next(iter(one.runs.values())).judged for one in (first, second)]
    digests = [one.scenes(split)[0][:8] for one in judged]
    what = "training scenes" if split == "train" else "test scenes"
    how = (
        "the same scenes under other ids" if digests[0] == digests[1] else f"digests {' and '.join(digests)}"
    )
    return (
        f"{first.name} and {second.name} have different {what} ({how}), so that their verdicts can't be "
        "paired; give both runs the same dataset and seed"
    )

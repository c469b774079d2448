"""Who is compared: the runs that were judged, the test sets that they share, and what tells them apart.

All runs are pooled. A test set is a block; contenders are told apart by the keys of their configurations that
differ *within* some block (a seed that changes the test scenes as well tells nothing apart).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator import canonical_json
from experiments.config import flatten
from experiments.report.differing import value_text
from experiments.report.files import ReportError, RunFiles, amount, read_predictions, read_run
from experiments.report.sources import Found

_SILENT = ("tracking.", "sweep.", "table.", "evaluation.", "baselines.")
_NAMED_BY = 3
"""Keys up to which single runs are named by what tells them apart, and not by the words that name them."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A run as far as it is compared: its figures, and whether it is right on each scene of both splits.

    ``ids`` are those of the scenes in the order of ``right``, sorted.
    """

    run: RunFiles
    ids: Mapping[str, tuple[str, ...]]
    right: Mapping[str, NDArray[np.bool_]]

    def block(self, split: str) -> tuple[str, str]:
        """What two runs share that were judged on the same scenes: the digest, and one of the ids."""
        counts = self.run.result.dataset.train if split == "train" else self.run.result.dataset.test
        text = "\n".join(self.ids[split]).encode("utf-8", "surrogatepass")
        return counts.digest, hashlib.sha256(text).hexdigest()


@dataclass(frozen=True, slots=True)
class Entrant:
    """A run among those that are compared; ``block`` counts from 0 in the order of the runs."""

    number: int
    word: str
    judged: Judged
    block: int
    contender: str


@dataclass(frozen=True, slots=True)
class Contender:
    """Runs of one configuration, by block, or with ``baseline`` another learner of the same runs."""

    name: str
    runs: Mapping[int, Entrant]
    baseline: str | None = None

    def figure(self, block: int, metric: str) -> float | None:
        """The contender's metric on a block; None where it has none."""
        result = self.runs[block].judged.run.result
        if self.baseline is None:
            value = result.metrics.get(metric)
        else:
            named = (one for one in result.baselines if one.name == self.baseline and one.available)
            value = getattr(next(named, None), metric, None)
        return None if value is None else amount(value)

    def mean(self, metric: str) -> float | None:
        """The mean of a metric over the blocks; None where one has none."""
        values = [self.figure(block, metric) for block in self.runs]
        known = [value for value in values if value is not None]
        return sum(known) / len(values) if len(known) == len(values) else None


def read_judged(folder: Path, name: str | None, _alone: bool) -> Judged:
    """A run's figures and verdicts. Raises :class:`ReportError` as reading a run does."""
    run = read_run(folder, name=name, brief=True)
    ids: dict[str, tuple[str, ...]] = {}
    right: dict[str, NDArray[np.bool_]] = {}
    predictions = read_predictions(folder)
    for split in ("train", "test"):
        found = sorted((one.id, one.right) for one in predictions if one.split == split)
        ids[split] = tuple(name for name, _ in found)
        right[split] = np.array([value for _, value in found], dtype=np.bool_)
    return Judged(run, ids, right)


def entrants_of(found: Sequence[Found[Judged]], split: str) -> tuple[tuple[str, ...], tuple[Entrant, ...]]:
    """The keys that tell contenders apart, and all runs with their blocks and contenders.

    Raises :class:`ReportError` where two runs have the same configuration, test set and word.
    """
    pool = [(one.word, judged) for one in found for judged in one.runs]
    numbers: dict[tuple[str, str], int] = {}
    blocks = [numbers.setdefault(judged.block(split), len(numbers)) for _, judged in pool]
    flat = [flatten(judged.run.config) for _, judged in pool]
    keys = _telling(flat, blocks)
    names = [_named(keys, one) for one in flat]
    if len(keys) > _NAMED_BY and not any(one.is_sweep for one in found):
        names = [word for word, _ in pool]
    elif len(set(zip(names, blocks, strict=True))) < len(pool):  # one configuration, from several words
        names = [f"{word}: {name}" if name else word for (word, _), name in zip(pool, names, strict=True)]
    names = [name or word for (word, _), name in zip(pool, names, strict=True)]
    places = list(zip(names, blocks, strict=True))
    for name, block in places:
        if places.count((name, block)) > 1:
            raise ReportError(f"{name}: given twice, with one configuration and the same scenes")
    return keys, tuple(
        Entrant(number, word, judged, block, name)
        for number, ((word, judged), block, name) in enumerate(zip(pool, blocks, names, strict=True), 1)
    )


def contenders_of(entrants: Sequence[Entrant]) -> list[Contender]:
    """The contenders, in the order of their first runs."""
    runs: dict[str, dict[int, Entrant]] = {}
    for entrant in entrants:
        runs.setdefault(entrant.contender, {})[entrant.block] = entrant
    return [Contender(name, by_block) for name, by_block in runs.items()]


def baselines_of(contender: Contender) -> list[Contender]:
    """The other learners that all runs of a contender have a rule of."""
    named = [
        [one.name for one in run.judged.run.result.baselines if one.test_accuracy is not None]
        for run in contender.runs.values()
    ]
    shared = [name for name in named[0] if all(name in names for names in named)]
    return [Contender(f"{name} of {contender.name}", contender.runs, name) for name in shared]


def _telling(flat: Sequence[Mapping[str, Any]], blocks: Sequence[int]) -> tuple[str, ...]:
    """The keys that differ within a block; of those that are always equal the shortest."""
    names = dict.fromkeys(name for one in flat for name in one if not name.startswith(_SILENT))
    found: dict[tuple[str, ...], str] = {}
    for name in names:
        texts = tuple(canonical_json(one[name]) if name in one else "" for one in flat)
        if len(set(zip(blocks, texts, strict=True))) > len(set(blocks)):
            other = found.setdefault(texts, name)
            if len(name) < len(other):
                found[texts] = name
    return tuple(name for name in names if name in found.values())


def _named(keys: Sequence[str], flat: Mapping[str, Any]) -> str:
    last = [key.rpartition(".")[2] for key in keys]
    short = [key if last.count(name) > 1 else name for key, name in zip(keys, last, strict=True)]
    return ", ".join(f"{name}={value_text(flat.get(key))}" for key, name in zip(keys, short, strict=True))

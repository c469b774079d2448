"""Who is compared: the runs that were judged, what tells them apart, and which of them make pairs.

All runs are pooled. Contenders are told apart by the keys of their configurations that differ between runs on
the *same* scenes (a seed that changes the scenes as well tells nothing apart), seeds last of all. Runs of two
contenders are a pair when their scenes are the same and so are all other such keys: they are of one block.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator import canonical_json
from experiments.config import flatten, nearest
from experiments.report.differing import value_text
from experiments.report.files import ReportError, RunFiles, amount, read_predictions, read_run
from experiments.report.shapes import BaselineFacts
from experiments.report.sources import Found

_SILENT = ("tracking.", "sweep.", "table.", "evaluation.", "baselines.")
COMPARABLE = ("test_accuracy", "train_accuracy", "seconds")
"""Metrics that mean the same of other learners: their sizes, for one, are conditions and no bits."""
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

    def scenes(self, split: str) -> tuple[str, str]:
        """What two runs share that were judged on the same scenes: the digest, and one of the ids."""
        counts = self.run.result.dataset.train if split == "train" else self.run.result.dataset.test
        text = "\n".join(self.ids[split]).encode("utf-8", "surrogatepass")
        return counts.digest, hashlib.sha256(text).hexdigest()


@dataclass(frozen=True, slots=True)
class Entrant:
    """A run among those that are compared; test sets and blocks count from 0 in the order of the runs."""

    number: int
    word: str
    judged: Judged
    test_set: int
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
            value = getattr(self._facts(block), metric, None)
        return None if value is None else amount(value)

    def right(self, block: int, split: str) -> NDArray[np.bool_] | None:
        """Whether each scene is judged as it is labelled, in the order of their ids; None where unknown."""
        judged = self.runs[block].judged
        if self.baseline is None:
            return judged.right[split]
        wrong = getattr(self._facts(block), f"{split}_wrong", None)
        if wrong is None:
            return None
        named = frozenset(wrong)
        return np.array([name not in named for name in judged.ids[split]], dtype=np.bool_)

    def _facts(self, block: int) -> BaselineFacts | None:
        found = self.runs[block].judged.run.result.baselines
        return next((one for one in found if one.name == self.baseline and one.available), None)

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


def entrants_of(
    found: Sequence[Found[Judged]], split: str, by: Sequence[str] = ()
) -> tuple[tuple[str, ...], tuple[Entrant, ...]]:
    """The keys that tell contenders apart, ``by`` where it is given, and all runs with what they belong to.

    Raises :class:`ReportError` where two runs can't be told apart, or no run has a key that is given.
    """
    pool = [(one.word, judged) for one in found for judged in one.runs]
    flat = [flatten(judged.run.config) for _, judged in pool]
    tests = _numbered([judged.scenes(split) for _, judged in pool])
    telling = _telling(flat, tests)
    keys = tuple(by) or tuple(key for key in telling if not _is_seed(key)) or telling
    _check_keys(by, flat)
    others = [key for key in telling if key not in keys]
    blocks = _numbered([(test, *_values(others, one)) for test, one in zip(tests, flat, strict=True)])
    names = [_named(keys, one) for one in flat]
    if len(keys) > _NAMED_BY and not any(one.is_sweep for one in found):
        names = [word for word, _ in pool]
    elif len(set(zip(names, blocks, strict=True))) < len(pool):  # one configuration, from several words
        names = [f"{word}: {name}" if name else word for (word, _), name in zip(pool, names, strict=True)]
    names = [name or word for (word, _), name in zip(pool, names, strict=True)]
    places = list(zip(names, blocks, strict=True))
    for place, times in Counter(places).items():
        if times > 1:
            raise ReportError(f"{place[0]}: given twice, with one configuration and the same scenes")
    return keys, tuple(
        Entrant(number, word, judged, test, block, name)
        for number, ((word, judged), test, (name, block)) in enumerate(
            zip(pool, tests, places, strict=True), 1
        )
    )


def _numbered(values: Sequence[Hashable]) -> list[int]:
    """Equal values as equal numbers, in the order in which they are met."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]


def _is_seed(key: str) -> bool:
    return key.rpartition(".")[2] in ("seed", "random_state")


def _check_keys(by: Sequence[str], flat: Sequence[Mapping[str, Any]]) -> None:
    known = {key for one in flat for key in one}
    for key in by:
        if key not in known:
            raise ReportError(f"--by: {key!r} is no key of these runs' configurations{_meant(key, known)}")


def _meant(key: str, known: Collection[str]) -> str:
    close = nearest(key, known)
    return f"; did you mean {close!r}?" if close else ""


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


def _telling(flat: Sequence[Mapping[str, Any]], tests: Sequence[int]) -> tuple[str, ...]:
    """The keys that differ between runs on one test set; of those that are always equal the shortest."""
    names = dict.fromkeys(name for one in flat for name in one if not name.startswith(_SILENT))
    found: dict[tuple[str, ...], str] = {}
    for name in names:
        texts = tuple(text for one in flat for text in _values([name], one))
        if len(set(zip(tests, texts, strict=True))) > len(set(tests)):
            other = found.setdefault(texts, name)
            if len(name) < len(other):
                found[texts] = name
    return tuple(name for name in names if name in found.values())


def _values(keys: Sequence[str], flat: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(canonical_json(flat[key]) if key in flat else "" for key in keys)


def _named(keys: Sequence[str], flat: Mapping[str, Any]) -> str:
    last = [key.rpartition(".")[2] for key in keys]
    short = [key if last.count(name) > 1 else name for key, name in zip(keys, last, strict=True)]
    return ", ".join(f"{name}={value_text(flat.get(key))}" for key, name in zip(keys, short, strict=True))

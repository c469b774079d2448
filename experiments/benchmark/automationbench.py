"""How many assertions of AutomationBench come back from worlds alone, by family, beside a decision tree.

A sample is drawn from every family in proportion to its assertions, at least one of each. For each assertion
its check is learnt from as many passing worlds and near misses, and both it and the tree are asked about
unseen ones. Recovered is what is right on 99 % of them. The tree sees the columns of `SceneEncoder`.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, Final, NamedTuple

import numpy as np

from evaluator import SceneError, compile_check, sentence
from evaluator.text_table import text_table
from experiments.benchmark.evaluation import BenchmarkError
from experiments.datasets.automationbench import Corpus, Item, WorldMaker
from induce import SceneEncoder, learn_check
from induce.scenes import LabelledScenes

RECOVERED: Final = 0.99
"""The share of unseen worlds on which a recovered check is right."""

GRAMMARS: Final[dict[str, dict[str, Any]]] = {
    "searches": {
        "operators": ["eq", "neq", "contains", "exists", "missing", "find", "not"],
        "index_paths": False,
        "keyed_paths": False,
        "having_paths": False,
        "lengths": False,
        "arrays": False,
        "cross_field": False,
        "count_ranges": False,
        "every": False,
    },
    "default": {},
}
"""Language biases. All assertions that worlds are made for are searches; the default one allows much more."""

_MAX_WHERE: Final = 4
"""Conditions in one search: a cell is named by spreadsheet, worksheet, row and column."""


class Relearnt(NamedTuple):
    """One assertion: what was learnt of it, and how both were right on unseen worlds."""

    task: str
    place: int
    type: str
    family: str
    accuracy: float
    tree_accuracy: float
    seconds: float
    check: dict[str, Any]

    @property
    def recovered(self) -> bool:
        """Whether the check is right on nearly all unseen worlds."""
        return self.accuracy >= RECOVERED

    @property
    def recovered_by_tree(self) -> bool:
        """Whether the tree is."""
        return self.tree_accuracy >= RECOVERED


def relearn(
    path: Path,
    *,
    sample: int,
    each: int = 10,
    unseen: int = 200,
    seconds: float = 10.0,
    grammar: str = "searches",
    seed: int = 0,
) -> list[Relearnt]:
    """Relearn a sample of the assertions of a file of tasks.

    Parameters:
        sample: about how many assertions: each family that occurs has at least one.
        each: passing worlds, and as many near misses, to learn from.
        unseen: worlds to be right on.
        seconds: what learning one check may take.
        grammar: which of `GRAMMARS` to learn in.

    Raises `BenchmarkError` when the file cannot be used.
    """
    try:
        corpus = Corpus.read(path)
    except OSError as error:
        raise BenchmarkError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except SceneError as error:
        raise BenchmarkError(str(error)) from None
    items = stratified(corpus.items, sample, seed)
    if not items:
        raise BenchmarkError(f"{path}: no assertion there searches a collection")
    found = []
    for number, item in enumerate(items, start=1):
        print(f"{number} of {len(items)}: {item.task} [{item.place}]", file=sys.stderr)
        maker = WorldMaker(corpus, item, seed)
        found.append(
            _relearnt(item, maker.worlds("train", 2 * each), maker.worlds("test", unseen), seconds, grammar)
        )
    return found


def stratified(items: Sequence[Item], sample: int, seed: int) -> list[Item]:
    """About so many items: of each family its share, rounded, and at least one; the largest family first."""
    families: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        families[item.translation.family].append(item)
    drawn: list[Item] = []
    for name, own in sorted(families.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        number = min(max(1, round(sample * len(own) / len(items))), len(own))
        drawn += Random(f"relearn/{seed}/{name}").sample(own, number)
    return drawn


def _relearnt(
    item: Item, train: LabelledScenes, test: LabelledScenes, seconds: float, grammar: str
) -> Relearnt:
    start = perf_counter()
    labels = train.require_labels()
    result = learn_check(
        train.scenes, labels, GRAMMARS[grammar], max_where=_MAX_WHERE, time_limit=seconds * 0.9
    )
    took = perf_counter() - start
    accuracy = _accuracy(compile_check(result.check).passes, test)
    tree = _accuracy(_tree(train), test)
    return Relearnt(
        item.task,
        item.place,
        item.type,
        item.translation.family,
        accuracy,
        tree,
        took,
        result.check,
    )


def _accuracy(passes: Callable[[Any], bool], test: LabelledScenes) -> float:
    right = sum(
        passes(scene) is (label == "pass") for scene, label in zip(test.scenes, test.labels, strict=True)
    )
    return right / len(test)


def _tree(train: LabelledScenes) -> Callable[[Any], bool]:
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeClassifier

    model = make_pipeline(SceneEncoder(), DecisionTreeClassifier(random_state=0))
    model.fit(list(train.scenes), np.array([label == "pass" for label in train.labels]))
    return lambda scene: bool(model.predict([scene])[0])


def as_dict(found: Sequence[Relearnt]) -> dict[str, Any]:
    """All figures, as JSON."""
    return {
        "assertions": len(found),
        "recovered": sum(one.recovered for one in found),
        "recovered_by_tree": sum(one.recovered_by_tree for one in found),
        "slowest_seconds": max(one.seconds for one in found),
        "items": [one._asdict() | {"recovered": one.recovered} for one in found],
    }


def table(found: Sequence[Relearnt]) -> str:
    """The share recovered by family, and each assertion that was not, with what was learnt instead."""
    families: dict[str, list[Relearnt]] = defaultdict(list)
    for one in found:
        families[one.family].append(one)
    head = ["family", "assertions", "recovered", "tree", "accuracy", "tree accuracy", "slowest"]
    rows = [_row(name, own) for name, own in [*families.items(), ("all", list(found))]]
    lines = list(text_table(head, rows, right=head[1:]))
    for one in found:
        if not one.recovered:
            lines.append(f"{one.task} [{one.place}] {one.type}: right on {one.accuracy:.1%}")
            lines.append(f"  learnt: {sentence(one.check)}")
    return "\n".join(lines)


def _row(name: str, own: list[Relearnt]) -> list[str]:
    return [
        name,
        str(len(own)),
        str(sum(one.recovered for one in own)),
        str(sum(one.recovered_by_tree for one in own)),
        f"{np.mean([one.accuracy for one in own]):.3f}",
        f"{np.mean([one.tree_accuracy for one in own]):.3f}",
        f"{max(one.seconds for one in own):.1f} s",
    ]

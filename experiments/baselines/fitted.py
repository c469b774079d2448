"""What learners over tables give back: trees and rule lists as tests, in words, with their verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from experiments.baselines.features import Features, Table, Test, Verdicts


@dataclass(frozen=True, slots=True)
class Fitted:
    """A rule in words, the tests in it, and its verdicts on the training and the unseen scenes.

    ``finished`` is whether the learner came to its end; ``note`` is what is to be said of the result.
    """

    rule: str
    size: int
    train: Verdicts
    test: Verdicts
    finished: bool = True
    note: str | None = None


class Split(NamedTuple):
    """An inner node of a decision tree."""

    test: Test
    then: Tree
    otherwise: Tree


Tree: TypeAlias = Split | bool
"""A tree, or its verdict."""


class ListedRule(NamedTuple):
    """A rule of a list: the verdict on a scene for which all tests, and no earlier rule, hold."""

    tests: tuple[Test, ...]
    verdict: bool


def fitted_tree(features: Features, tree: Tree) -> Fitted:
    """A decision tree; tests whose branches agree are left out."""
    tree = _without_idle_tests(tree)
    return Fitted(
        rule="\n".join(_tree_lines(features, tree, "")),
        size=_tests_in(tree),
        train=_tree_verdicts(tree, features.train),
        test=_tree_verdicts(tree, features.test),
    )


def fitted_list(
    features: Features,
    rules: Sequence[ListedRule],
    default: bool,
    *,
    finished: bool = True,
    note: str | None = None,
) -> Fitted:
    """A rule list, or a rule set if all verdicts are one; last rules that say what the default says go."""
    kept = list(rules)
    while kept and kept[-1].verdict == default:
        kept.pop()
    return Fitted(
        rule="\n".join(_list_lines(features, kept, default)),
        size=sum(len(rule.tests) for rule in kept),
        train=_list_verdicts(kept, default, features.train),
        test=_list_verdicts(kept, default, features.test),
        finished=finished,
        note=note,
    )


def fitted_constant(features: Features) -> Fitted:
    """The verdict that most of the training weight has, passing when they are even."""
    weight = features.weights.sum() or 1.0
    return fitted_list(features, [], bool(2 * features.weights[features.train_passes].sum() >= weight))


def _word(verdict: bool) -> str:
    return "pass" if verdict else "fail"


def _without_idle_tests(tree: Tree) -> Tree:
    if not isinstance(tree, Split):
        return tree
    then, otherwise = _without_idle_tests(tree.then), _without_idle_tests(tree.otherwise)
    same = not isinstance(then, Split) and not isinstance(otherwise, Split) and then == otherwise
    return then if same else Split(tree.test, then, otherwise)


def _tests_in(tree: Tree) -> int:
    return 1 + _tests_in(tree.then) + _tests_in(tree.otherwise) if isinstance(tree, Split) else 0


def _tree_lines(features: Features, tree: Tree, indent: str) -> Iterator[str]:
    if not isinstance(tree, Split):
        yield f"{indent}{_word(tree)}"
        return
    for head, branch in ((f"if {features.words(tree.test)}:", tree.then), ("else:", tree.otherwise)):
        if isinstance(branch, Split):
            yield f"{indent}{head}"
            yield from _tree_lines(features, branch, f"{indent}  ")
        else:
            yield f"{indent}{head} {_word(branch)}"


def _tree_verdicts(tree: Tree, table: Table) -> Verdicts:
    if not isinstance(tree, Split):
        return np.full(len(table), tree)
    then, otherwise = (_tree_verdicts(branch, table) for branch in (tree.then, tree.otherwise))
    return np.where(tree.test.holds(table), then, otherwise)


def _list_lines(features: Features, rules: Sequence[ListedRule], default: bool) -> Iterator[str]:
    word = "if"
    for rule in rules:
        tests = " and ".join(map(features.words, rule.tests))
        yield f"{word} {tests}: {_word(rule.verdict)}"
        word = "else if"
    yield f"else: {_word(default)}" if rules else _word(default)


def _list_verdicts(rules: Sequence[ListedRule], default: bool, table: Table) -> Verdicts:
    verdicts = np.full(len(table), default)
    open_rows = np.ones(len(table), bool)
    for rule in rules:
        caught = open_rows.copy()
        for test in rule.tests:
            caught &= test.holds(table)
        verdicts[caught] = rule.verdict
        open_rows &= ~caught
    return verdicts

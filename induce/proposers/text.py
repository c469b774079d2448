"""Candidates for ``contains``: whole words, and runs of them, that recur in the texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from induce.column import Column
from induce.costs import DescriptionLength
from induce.literals import Literal, PathTest
from induce.profile import Scope
from induce.proposers.rows import Candidate


def substrings(scope: Scope, cost: DescriptionLength) -> Iterator[Candidate]:
    """Whether a text holds a run of words, as it is written or in any case, and whether it does not."""
    if not cost.grammar.allows("contains"):
        return
    for column in scope.columns.values():
        if tokens := cost.tokens(column):
            yield from _containing(scope, cost, column, tokens, cost.contains(scope, column), False)
        if tokens := cost.caseless_tokens(column):
            yield from _containing(scope, cost, column, tokens, cost.contains_caseless(scope, column), True)


def _containing(
    scope: Scope,
    cost: DescriptionLength,
    column: Column,
    tokens: Iterable[str],
    price: int,
    ignore_case: bool,
) -> Iterator[Candidate]:
    path = column.path
    texts = [v if isinstance(v, str) else None for v in column.distinct]
    if ignore_case:
        texts = [None if text is None else text.lower() for text in texts]
    for token in tokens:
        holds = [text is not None and token in text for text in texts]
        mask = np.array([*holds, False], np.bool_)[column.codes]
        test = PathTest("contains", path, token, ignore_case)
        if scope.telling(mask):
            yield Candidate(Literal(test), mask, price, path)
        if cost.grammar.allows("not") and scope.telling(~mask):
            yield Candidate(Literal(test, True), ~mask, price + cost.negation, path)

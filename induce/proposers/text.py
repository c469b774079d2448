"""Candidates for ``contains``: whole words, and runs of them, that recur in the texts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from induce.costs import DescriptionLength
from induce.literals import Literal, PathTest
from induce.profile import Scope
from induce.proposers.rows import Candidate


def substrings(scope: Scope, cost: DescriptionLength) -> Iterator[Candidate]:
    """Whether a text holds a run of words, and whether it does not."""
    if not cost.grammar.allows("contains"):
        return
    for path, column in scope.columns.items():
        tokens = cost.tokens(column)
        if not tokens:
            continue
        price = cost.contains(scope, column)
        for token in tokens:
            holds = [isinstance(v, str) and token in v for v in column.distinct]
            mask = np.array([*holds, False], np.bool_)[column.codes]
            test = PathTest("contains", path, token)
            if scope.telling(mask):
                yield Candidate(Literal(test), mask, price, path)
            if cost.grammar.allows("not") and scope.telling(~mask):
                yield Candidate(Literal(test, True), ~mask, price + cost.negation, path)

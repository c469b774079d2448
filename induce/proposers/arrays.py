"""Candidates for ``eq`` and ``neq`` with a whole array of few scalars."""

from __future__ import annotations

from collections.abc import Iterator

from induce.costs import DescriptionLength
from induce.literals import Literal, Members, PathTest
from induce.profile import Scope
from induce.proposers.rows import Candidate


def array_equalities(scope: Scope, cost: DescriptionLength) -> Iterator[Candidate]:
    """Equality, and inequality, with the small arrays that a path holds."""
    if not cost.grammar.arrays:
        return
    for path, column in scope.columns.items():
        for array in column.arrays:
            price = cost.eq_array(scope, column, array)
            test = PathTest("eq", path, Members(array.members))
            if cost.grammar.allows("eq") and scope.telling(array.rows):
                yield Candidate(Literal(test), array.rows, price, path)
            if cost.grammar.allows("neq") and scope.telling(~array.rows):
                yield Candidate(Literal(test, True), ~array.rows, price + cost.negation, path)

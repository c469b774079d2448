"""Candidates for ``eq``, ``neq``, ``gte`` and ``lte`` between two paths of one scope."""

from __future__ import annotations

from collections.abc import Iterator

from induce.costs import DescriptionLength
from induce.grammar import units
from induce.literals import Literal, OtherPath, PathTest
from induce.pairs import Pair, equal_rows, ordered_rows
from induce.profile import Scope
from induce.proposers.rows import Candidate, Mask


def comparisons(scope: Scope, cost: DescriptionLength) -> Iterator[Candidate]:
    """Equality and order of the pairs of paths that types and values suggest."""
    for pair in cost.pairs(scope).values():
        if pair.equality:
            yield from _equality(scope, cost, pair)
        if pair.order:
            yield from _order(scope, cost, pair)


def _equality(scope: Scope, cost: DescriptionLength, pair: Pair) -> Iterator[Candidate]:
    rows, price = equal_rows(pair), cost.cross_field(scope, pair, "eq")
    test = PathTest("eq", pair.left.path, OtherPath(pair.right.path))
    if cost.grammar.allows("eq") and scope.telling(rows):
        yield Candidate(Literal(test), rows, price, None)
    if cost.grammar.allows("neq") and scope.telling(~rows):
        price += cost.negation + (units(cost.costs.number) if pair.numeric else 0)
        yield Candidate(Literal(test, True), ~rows, price, None)


def _order(scope: Scope, cost: DescriptionLength, pair: Pair) -> Iterator[Candidate]:
    """Which is at least the other one, and its opposite: one is below the other, or no number."""
    for higher, lower in ((pair.left, pair.right), (pair.right, pair.left)):
        straight = PathTest("gte", higher.path, OtherPath(lower.path))
        turned = PathTest("lte", lower.path, OtherPath(higher.path))
        # said of the first path, if the grammar has the operator for it
        ways = [straight, turned] if higher is pair.left else [turned, straight]
        test = next((way for way in ways if cost.grammar.allows(way.op)), None)
        if test is None:
            return
        rows: Mask = ordered_rows(higher, lower)
        price = cost.cross_field(scope, pair, test.op)
        if scope.telling(rows):
            yield Candidate(Literal(test), rows, price, None)
        if cost.grammar.allows("not") and scope.telling(~rows):
            yield Candidate(Literal(test, True), ~rows, price + cost.negation, None)

"""Candidates for value sets: one of several values, or one of several words, on one path."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from induce.column import Column
from induce.costs import DescriptionLength
from induce.literals import Alternatives, Literal, PathTest
from induce.profile import Scope
from induce.proposers.rows import Candidate, Mask
from induce.value_sets import holding


def value_sets(scope: Scope, cost: DescriptionLength) -> Iterator[Candidate]:
    """Whether one of several values stands at a path, and whether none of them does.

    A set that matches the same rows as a test of a single value, or as another set that costs no
    more, can be replaced by it everywhere and is left out.
    """
    if cost.sets is None or not cost.grammar.allows("eq"):
        return
    for path, column in scope.columns.items():
        sets = cost.sets.of_values(scope, column)
        if not sets:
            continue
        cheapest = _single_tests(scope, column, cost)
        for price, codes in sorted((cost.one_of(scope, column, codes), codes) for codes in sets):
            mask = np.isin(column.codes, codes)
            test = PathTest("eq", path, Alternatives(tuple(column.distinct[code] for code in codes)))
            yield from _both(scope, cost, test, mask, price, cheapest)


def word_sets(scope: Scope, cost: DescriptionLength) -> Iterator[Candidate]:
    """Whether a text holds one of several runs of words, and whether it holds none of them."""
    if cost.sets is None or not cost.grammar.allows("contains"):
        return
    for path, column in scope.columns.items():
        cheapest: dict[bytes, int] = {}
        for ignore_case, words in ((False, cost.tokens(column)), (True, cost.caseless_tokens(column))):
            said = list(words)
            sets = cost.sets.of_words(scope, column, words, ignore_case)
            for positions in sorted(sets, key=lambda one: (len(one), one)):
                chosen = tuple(said[position] for position in positions)
                mask = holding(column, chosen, ignore_case)
                price = cost.contains_one_of(scope, column, len(chosen), ignore_case=ignore_case)
                test = PathTest("contains", path, Alternatives(chosen), ignore_case)
                yield from _both(scope, cost, test, mask, price, cheapest)


def _single_tests(scope: Scope, column: Column, cost: DescriptionLength) -> dict[bytes, int]:
    """Truth of the tests of one value of a column, and of its presence, each with its cost."""
    tests: list[tuple[Mask, int]] = []
    for code in range(len(column.distinct)):
        mask = column.codes == code
        tests.append((mask, cost.eq(scope, column, code)))
        if cost.grammar.allows("neq"):
            tests.append((~mask, cost.neq(scope, column, code)))
    for op, mask in (("exists", column.present), ("missing", ~column.present)):
        if cost.grammar.allows(op):
            tests.append((mask, cost.presence(scope, column, op)))
    cheapest: dict[bytes, int] = {}
    for mask, price in tests:
        key = mask.tobytes()
        cheapest[key] = min(price, cheapest.get(key, price))
    return cheapest


def _both(
    scope: Scope, cost: DescriptionLength, test: PathTest, mask: Mask, price: int, cheapest: dict[bytes, int]
) -> Iterator[Candidate]:
    """The test and its negation, as far as they tell something that nothing cheaper does."""
    for negated in (False, True) if cost.grammar.allows("not") else (False,):
        truth, total = (~mask, price + cost.negation) if negated else (mask, price)
        key = truth.tobytes()
        if scope.telling(truth) and total < cheapest.get(key, total + 1):
            cheapest[key] = total
            yield Candidate(Literal(test, negated), truth, total, test.path)

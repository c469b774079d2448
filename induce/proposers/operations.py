"""Candidates for the operators over traces and worlds."""

from __future__ import annotations

from collections.abc import Iterator

from induce.costs import DescriptionLength
from induce.literals import Literal
from induce.profile import Scope
from induce.proposers.rows import Candidate

EQUAL = 3
"""Operations of equal truth that are proposed, the cheapest."""


def operations(scope: Scope, cost: DescriptionLength) -> Iterator[Candidate]:
    """What operators say of the scenes, and its negation where it is evaluated and does not hold.

    Of candidates that are true of the same scenes the cheapest are proposed.
    """
    if cost.operations is None or scope is not cost.root:
        return
    best: dict[bytes, list[tuple[int, Candidate]]] = {}
    number = 0
    for found in cost.operations.all():
        for negated in (False, True) if cost.grammar.allows("not") else (False,):
            masks = found.fails if negated else found.passes
            extra = cost.negation if negated else 0
            for at in range(len(found.keys)):
                mask, price = masks[at], int(found.costs[at]) + extra
                if not scope.telling(mask):
                    continue
                kept = best.setdefault(mask.tobytes(), [])
                if len(kept) == EQUAL and kept[-1][1].cost <= price:
                    continue
                number += 1
                literal = Literal(found.operation(at), negated)
                kept.append((number, Candidate(literal, mask, price, None)))
                kept.sort(key=lambda one: (one[1].cost, one[0]))
                del kept[EQUAL:]
    for kept in best.values():
        yield from (candidate for _, candidate in kept)

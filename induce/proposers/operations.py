"""Candidates for the operators over traces and worlds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from induce.costs import DescriptionLength
from induce.literals import Literal
from induce.profile import Scope
from induce.proposers.rows import Candidate, Mask

EQUAL = 3
"""Operations of equal truth after which only cheaper ones are proposed."""


def operations(scope: Scope, cost: DescriptionLength) -> Iterator[Candidate]:
    """What operators say of the scenes, and its negation where it is evaluated and does not hold.

    A candidate that is true of the same scenes as several before it, which cost no more, is left out.
    """
    if cost.operations is None or scope is not cost.root:
        return
    cheapest: dict[bytes, list[int]] = {}
    for found in cost.operations.all():
        for negated in (False, True) if cost.grammar.allows("not") else (False,):
            masks = found.fails if negated else found.passes
            extra = cost.negation if negated else 0
            for at in range(len(found.keys)):
                mask, price = masks[at], int(found.costs[at]) + extra
                if not scope.telling(mask):
                    continue
                packed = np.packbits(mask)
                prices = cheapest.setdefault(packed.tobytes(), [])
                if len(prices) == EQUAL and prices[-1] <= price:
                    continue
                prices.append(price)
                prices.sort()
                del prices[EQUAL:]
                truth = partial(_unpacked, packed, len(mask))
                yield Candidate(Literal(found.operation(at), negated), truth, price, None)


def _unpacked(packed: NDArray[np.uint8], count: int) -> Mask:
    return np.unpackbits(packed, count=count).astype(np.bool_)

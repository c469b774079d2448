"""Which of many sets have no earlier one inside them, compiled by Numba."""

from __future__ import annotations

from functools import partial

from induce.search.bits import Ints, Words
from induce.search.compiled import compiled


@partial(compiled, wrapped=True)
def keep_minimal(rows: Words, first: int, end: int, kept: Ints, number: int) -> int:
    """Go on with the sets in bits ``rows`` uint64[n, W] from the first to the end, by their places.

    ``number`` of those before are noted in ``kept``; the new number. Ends early where there is no room
    for another one.
    """
    for at in range(first, end):
        if number == len(kept):
            break
        minimal = True
        for place in range(number):
            beyond = False
            for word in range(rows.shape[1]):
                if rows[kept[place], word] & ~rows[at, word]:
                    beyond = True
                    break
            if not beyond:
                minimal = False
                break
        if minimal:
            kept[number] = at
            number += 1
    return number

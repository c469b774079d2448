"""Edit distance between two sequences: the least number of insertions, deletions and replacements."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def edit_distance(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """How many elements must be inserted, deleted or replaced to make one sequence the other.

    A column of the classic table is kept as bits of two integers, which say where a cell is one more and
    where one less than the cell above it; Python's integers have as many bits as the shorter sequence needs
    (G. Myers, "A fast bit-vector algorithm for approximate string matching", 1999, in the form of H. Hyyrö,
    "A bit-vector algorithm for computing Levenshtein and Damerau edit distances", 2003). Takes
    O(len(left) * len(right) / word size).
    """
    pattern, text = (left, right) if len(left) <= len(right) else (right, left)
    start, stop = 0, len(pattern)
    while start < stop and pattern[start] == text[start]:
        start += 1
    shift = len(text) - len(pattern)
    while stop > start and pattern[stop - 1] == text[stop - 1 + shift]:
        stop -= 1
    size = stop - start
    if size == 0:
        return shift
    places: dict[Hashable, int] = {}
    for index in range(size):
        element = pattern[start + index]
        places[element] = places.get(element, 0) | 1 << index
    everything, last = (1 << size) - 1, 1 << (size - 1)
    more, less, distance = everything, 0, size
    for index in range(start, stop + shift):
        equal = places.get(text[index], 0)
        diagonal = (((equal & more) + more) ^ more) | equal | less
        rising = less | (everything & ~(diagonal | more))
        falling = more & diagonal
        if rising & last:
            distance += 1
        elif falling & last:
            distance -= 1
        rising = rising << 1 | 1
        falling <<= 1
        more = (falling | ~(diagonal | rising)) & everything
        less = rising & diagonal & everything
    return distance

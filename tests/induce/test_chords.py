"""Ranges of error weight: what is split covers the same errors, and splitting comes to an end."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from induce.chords import Range


@given(high=st.integers(1, 60), data=st.data())
def test_splitting_loses_no_errors_and_ends(high: int, data: st.DataObject) -> None:
    open_ranges, whole = [Range(0.0, float(high), 0.0)], []
    for _ in range(4 * high + 4):
        if not open_ranges:
            break
        one = open_ranges.pop()
        incumbent, cheapest = (float(data.draw(st.integers(0, high))) for _ in range(2))
        further = one.split(incumbent, cheapest, one.bound + 1)
        assert all(part.bound == one.bound + 1 and part.touching in (part.low, part.high) for part in further)
        if further:
            assert (further[0].low, further[-1].high) == (one.low, one.high)
            assert all(before.high == after.low for before, after in pairwise(further))
            assert all(part[:3] != one[:3] for part in further)
            open_ranges += further
        else:
            whole.append(one)
    assert not open_ranges
    covered = {errors for one in whole for errors in range(int(one.low), int(one.high) + 1)}
    assert covered == set(range(high + 1))

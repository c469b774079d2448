"""Round numbers: the simplest one of an interval, exact at adjacent floats and beyond 2**53."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from induce.constants import Number, gap_half_digits, half_digits, roundest

finite = st.one_of(
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(-10000, 10000, places=2).map(float),
)


@pytest.mark.parametrize(
    ("low", "high", "closed", "expected"),
    [
        (136, 174, "high", 150),
        (58000.5, 64487, "high", 60000),
        (1.4e-6, 1.5e-6, "low", 1.4e-6),
        (19.99, 20.0, "high", 20),
        (4294967295, 4294967296, "high", 4294967296),
        (2**53, 2**53 + 1, "high", 2**53 + 1),
        (2**53, 2**53 + 1, "low", 2**53),
        (1.0, math.nextafter(1.0, 2.0), "high", math.nextafter(1.0, 2.0)),
        (0.1, 0.1 + 0.2, "high", 0.2),
        (1, 2, "low", 1),
        (-10, -3, "low", -6),
        (5e-324, 1e-323, "high", 1e-323),
        (-3, 7, "high", 0),
    ],
)
def test_roundest_number_of_an_interval(low: Number, high: Number, closed: str, expected: Number) -> None:
    found = roundest(low, high, closed=closed)
    assert found == expected
    assert type(found) is type(expected)


@given(finite, finite, st.sampled_from(["low", "high"]))
def test_number_is_inside_and_no_longer_than_the_seen_end(a: Number, b: Number, closed: str) -> None:
    low, high = min(a, b), max(a, b)
    if low == high:
        return
    found = roundest(low, high, closed=closed)
    assert low < found <= high if closed == "high" else low <= found < high
    assert half_digits(found) <= half_digits(high if closed == "high" else low)


@given(finite)
def test_one_sided_interval_holds_its_number(end: Number) -> None:
    assert roundest(None, end, closed="high") <= end
    assert roundest(end, None, closed="low") >= end
    assert roundest(None, end, closed="low") < end
    assert roundest(end, None, closed="high") > end


@given(st.lists(st.decimals(-3000, 3000, places=2).map(float), min_size=2, max_size=12, unique=True))
def test_gap_price_is_the_price_of_its_roundest_number(values: list[float]) -> None:
    numbers = sorted(values)
    upper, lower = gap_half_digits(numbers, closed="high"), gap_half_digits(numbers, closed="low")
    for i in range(len(numbers) - 1):
        assert upper[i + 1] == half_digits(roundest(numbers[i], numbers[i + 1], closed="high"))
        assert lower[i] == half_digits(roundest(numbers[i], numbers[i + 1], closed="low"))


def test_half_digits() -> None:
    assert [half_digits(n) for n in (0, 4, 500, 150, 1.5, 12, 105, 0.007)] == [1, 2, 2, 3, 3, 4, 5, 2]

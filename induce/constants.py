"""Numbers a person would have written: the roundest number of an interval.

Roundness is counted in half significant digits. A number has as many digits as its shortest
decimal form without leading and trailing zeros; a final 5 after other digits counts half, and
zero counts half.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise

Number = int | float
_EXACT = Context(prec=2000, Emax=999_999, Emin=-999_999)
LARGEST_FLOAT = int(sys.float_info.max)


def half_digits(value: Number) -> int:
    """Significant digits of `value`, in halves: 1 for 0, 2 for 4 and 500, 3 for 150."""
    digits = (Decimal(value) if isinstance(value, int) else Decimal(repr(value))).as_tuple().digits
    return _half_digits_of(int("".join(map(str, digits))))


def exact(value: Number) -> Fraction:
    """The number as its shortest decimal form says it (0.1 is one tenth)."""
    return Fraction(value) if isinstance(value, int) else Fraction(Decimal(repr(value)))


def roundest(low: Number | None, high: Number | None, *, closed: str) -> Number:
    """The roundest number between two others; of several, the one nearest the middle.

    Parameters
    ----------
    low, high : int, float or None
        The ends, ``low < high``; None is no end on that side (not on both).
    closed : {"low", "high"}
        The end that belongs to the interval: ``"high"`` gives a bound for ``gte``
        (``low < c <= high``), ``"low"`` one for ``lte`` (``low <= c < high``).

    Returns
    -------
    int or float
        An int where the number is whole. Always inside the interval by exact comparison;
        between adjacent floats it is the closed end itself.
    """
    if low is None or high is None:
        return _one_sided(low, high, closed)
    seen = high if closed == "high" else low
    bottom, top = exact(low), exact(high)
    middle = (bottom + top) / 2
    best: tuple[int, Fraction, Fraction, Fraction] | None = None
    exponent = _magnitude(max(abs(bottom), abs(top))) + 1
    first_hit: int | None = None
    while first_hit is None or exponent >= first_hit - 1:
        step = Fraction(10) ** exponent
        for multiple in _near_middle(bottom, top, middle, step, closed):
            at = multiple * step
            key = (_half_digits_of(multiple), abs(at - middle), abs(at), at)
            if best is None or key < best:
                best = key
            first_hit = exponent if first_hit is None else first_hit
        exponent -= 1
        if exponent < -340:
            break
    if best is not None:
        number = _plain(best[3])
        inside = low < number <= high if closed == "high" else low <= number < high
        if inside and half_digits(number) <= half_digits(seen):
            return number
    return seen


def _near_middle(bottom: Fraction, top: Fraction, middle: Fraction, step: Fraction, closed: str) -> list[int]:
    """Multiples of `step` inside: those around the middle, with every final digit tried."""
    first = math.floor(bottom / step) + 1 if closed == "high" else math.ceil(bottom / step)
    last = math.floor(top / step) if closed == "high" else math.ceil(top / step) - 1
    if first > last:
        return []
    centre = min(max(round(middle / step), first), last)
    return list(range(max(first, centre - 10), min(last, centre + 10) + 1))


def _half_digits_of(multiple: int) -> int:
    text = str(abs(multiple)).rstrip("0")
    return max(2 * len(text) - (text[-1] == "5"), 2) if text else 1


def _magnitude(value: Fraction) -> int:
    if value == 0:
        return 0
    return _EXACT.divide(Decimal(value.numerator), Decimal(value.denominator)).adjusted()


def _plain(value: Fraction) -> Number:
    if value.denominator != 1 or 10**16 <= abs(value) <= LARGEST_FLOAT:
        as_float = float(value)
        if value.denominator != 1 or as_float == value:
            return as_float
    return value.numerator


def gap_half_digits(numbers: Sequence[Number], *, closed: str) -> list[int]:
    """Half digits of the roundest number of each gap between sorted distinct numbers.

    Parameters
    ----------
    numbers : sequence of int or float, ascending and distinct
    closed : {"high", "low"}
        As for `roundest`. With ``"high"`` gap i lies between numbers i-1 and i, the first one
        open below; with ``"low"`` between i and i+1, the last one open above.

    Returns
    -------
    list of int, as long as `numbers`
    """
    if not numbers:
        return []
    scaled = _scaled(numbers)
    if closed == "low":
        beyond = 1 if numbers[-1] <= 0 else 2
        return [*(_gap(-high, -low) for low, high in pairwise(scaled)), beyond]
    beyond = 1 if numbers[0] >= 0 else 2
    return [beyond, *(_gap(low, high) for low, high in pairwise(scaled))]


def _scaled(numbers: Sequence[Number]) -> list[int]:
    """The numbers as whole multiples of one power of ten."""
    parts = [(Decimal(n) if isinstance(n, int) else Decimal(repr(n))).as_tuple() for n in numbers]
    lowest = min((int(part.exponent) for part in parts), default=0)
    return [
        (-1 if part.sign else 1) * int("".join(map(str, part.digits))) * 10 ** (int(part.exponent) - lowest)
        for part in parts
    ]


def _gap(low: int, high: int) -> int:
    """Fewest half digits of a whole number c with low < c <= high."""
    if low < 0 <= high:
        return 1
    if low >= high:  # neighbours whose shortest decimals are equal, such as 1e23 and 10**23
        return _half_digits_of(high)
    step = 10 ** len(str(max(abs(low), abs(high))))
    while True:
        first, last = low // step + 1, high // step
        if first <= last:
            return min(_half_digits_of(k) for k in range(first, min(last, first + 20) + 1))
        step //= 10


def _one_sided(low: Number | None, high: Number | None, closed: str) -> Number:
    seen = high if high is not None else low
    if seen is None:
        raise ValueError("an interval needs at least one end")
    above = high is None
    zero_is_inside = seen < 0 if above else seen > 0
    if zero_is_inside or (seen == 0 and closed == ("low" if above else "high")):
        return 0
    power: int = 10 ** max(0, _magnitude(abs(exact(seen))) + 1)
    return power if above else -power

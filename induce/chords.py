"""Ranges of error weight over which a chord bounds the concave noise model from below.

On a range the chord is linear, as the search's charges are, and what the search finds cheapest under it
is a bound. Where that is below the incumbent the range is split: at the errors of the incumbent, or
of what was cheapest, whose chord value then is its true objective. Concave minimization by branch and
bound, after Falk and Soland (1969), "An algorithm for separable nonconvex programming problems".
"""

from __future__ import annotations

from typing import NamedTuple


class Range(NamedTuple):
    """Hypotheses whose errors weigh from `low` to `high`; a chord exact at `touching`, one of the two.

    None of them has an objective below `bound`, in cost units. `turned` once the chord has been exact at
    the other end; `late` the seconds after which the clock cut short what looked at them.
    """

    low: float
    high: float
    touching: float
    bound: int = 0
    turned: bool = False
    late: float = 0.0

    def split(self, incumbent: float, cheapest: float, bound: int) -> list[Range]:
        """What to look at next, given the errors of the incumbent and of what is cheapest under the chord.

        `bound` is its value there. Nothing where no chord is any better.
        """
        low, high = self.low, self.high
        edge = low if cheapest <= low else high
        for errors in (incumbent, cheapest, (low + high) // 2):
            if low < errors < high:
                return [Range(low, errors, errors, bound), Range(errors, high, errors, bound)]
            if errors == cheapest and edge != self.touching and not self.turned:
                return [Range(low, high, edge, bound, turned=True)]
        return []

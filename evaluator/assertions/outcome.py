"""The outcome of several assertions together: what a test does with their statuses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

STATUSES: Final = ("pass", "soft_fail", "hard_fail", "not_evaluated")


class Outcome(NamedTuple):
    """What statuses come to.

    Attributes:
        outcome: "fail" when some assertion failed hard, when more failed softly than are allowed, or when one
            was not evaluated although that is demanded (strict); else "skip" when one was not evaluated; else
            "pass", with soft failures too.
        passed: whether every status is "pass", which is stricter; true of none.
    """

    outcome: Literal["pass", "skip", "fail"]
    passed: bool


def aggregate_outcome(
    statuses: Iterable[str], *, strict: bool = False, soft_limit: int | None = None
) -> Outcome:
    """The outcome of assertions by their statuses.

    Parameters:
        statuses: each "pass", "soft_fail", "hard_fail" or "not_evaluated".
        strict: whether an assertion that was not evaluated fails the whole instead of skipping it.
        soft_limit: how many soft failures are allowed; any number when None.

    Raises `ValueError` for another status and for a negative limit.
    """
    counts = dict.fromkeys(STATUSES, 0)
    for status in statuses:
        if status not in counts:
            raise ValueError(f"expected one of {', '.join(STATUSES)}, got {status!r}")
        counts[status] += 1
    if soft_limit is not None and soft_limit < 0:
        raise ValueError(f"a limit of soft failures is 0 or more, got {soft_limit}")
    passed = counts["pass"] == sum(counts.values())
    beyond_limit = soft_limit is not None and counts["soft_fail"] > soft_limit
    if counts["hard_fail"] or beyond_limit or (strict and counts["not_evaluated"]):
        return Outcome("fail", passed)
    return Outcome("skip" if counts["not_evaluated"] else "pass", passed)

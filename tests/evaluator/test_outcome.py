"""The outcome of several assertions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import aggregate_outcome

STATUSES = st.lists(st.sampled_from(["pass", "soft_fail", "hard_fail", "not_evaluated"]), max_size=6)


@given(STATUSES, st.booleans(), st.one_of(st.none(), st.integers(0, 3)))
def test_outcome(statuses: list[str], strict: bool, soft_limit: int | None) -> None:
    found = aggregate_outcome(iter(statuses), strict=strict, soft_limit=soft_limit)
    assert found.passed == all(status == "pass" for status in statuses)
    unknown, soft = "not_evaluated" in statuses, statuses.count("soft_fail")
    if "hard_fail" in statuses or (soft_limit is not None and soft > soft_limit) or (strict and unknown):
        assert found.outcome == "fail"
    else:
        assert found.outcome == ("skip" if unknown else "pass")


@pytest.mark.parametrize("statuses", [["passed"], [None], "pass"])
def test_other_statuses_are_refused(statuses: Sequence[str]) -> None:
    with pytest.raises(ValueError, match="expected one of pass, soft_fail, hard_fail, not_evaluated, got"):
        aggregate_outcome(statuses)


def test_a_limit_is_not_negative() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        aggregate_outcome([], soft_limit=-1)

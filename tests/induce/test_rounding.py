"""Rounding the numbers of a check: no verdict changes, and no roomier gap would do."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import compile_check
from induce import rounding
from induce.constants import roundest
from induce.examples import Examples
from induce.grammar import Grammar
from induce.hypothesis_space import description_length
from induce.literals import hypothesis_check
from induce.objective import parse_hypothesis
from induce.profile import profile
from induce.rounding import round_constants

JSON = Any


def rounded(check: JSON, scenes: list[JSON]) -> JSON:
    """The check as it is after rounding, where it was read from JSON."""
    examples = Examples.of(scenes, [n % 2 == 0 for n in range(len(scenes))])
    root = profile(examples.scenes, Grammar.of(None), 2)
    cost = description_length(root, Grammar.of(None), examples)
    return hypothesis_check(round_constants(parse_hypothesis(check, 4, 4, cost), root, examples.scenes))


def verdicts(check: JSON, scenes: list[JSON]) -> list[bool]:
    compiled = compile_check(check)
    return [compiled.passes(scene) for scene in scenes]


def widest(op: str, number: float, numbers: list[float]) -> float:
    """The roundest number of the gap that a lone bound lies in, found by looking at every gap."""
    for low, high in pairwise(numbers):
        if op == "gte" and low < number <= high:
            return roundest(low, high, closed="high")
        if op == "lte" and low <= number < high:
            return roundest(low, high, closed="low")
    raise AssertionError("the number lies in no gap")


@pytest.mark.parametrize("op", ["gte", "lte"])
@pytest.mark.parametrize("number", [13.37, 20, 51.9, 77.77, 80])
def test_a_number_read_from_a_check_lies_anywhere_in_its_gap(op: str, number: float) -> None:
    numbers = [10.5, 20, 33, 52, 80, 97]
    check = rounded({"op": op, "path": "n", "value": number}, [{"n": n} for n in numbers])
    assert check == {"op": op, "path": "n", "value": widest(op, number, numbers)}


@pytest.mark.parametrize(("op", "number"), [("gte", 500), ("lte", -3)])
def test_a_bound_that_no_number_meets_stays(op: str, number: float) -> None:
    check = {"op": op, "path": "n", "value": number}
    assert rounded(check, [{"n": n} for n in (1, 2, 3, 4)]) == check


def test_other_literals_widen_the_gap() -> None:
    scenes = [{"n": n, "kind": "a" if n < 40 else "b"} for n in (3, 17, 29, 41, 58, 83)]
    check = {
        "op": "and",
        "of": [{"op": "eq", "path": "kind", "value": "b"}, {"op": "gte", "path": "n", "value": 37.5}],
    }
    assert rounded(check, scenes) == {
        "op": "and",
        "of": [{"op": "eq", "path": "kind", "value": "b"}, {"op": "gte", "path": "n", "value": 0}],
    }


NUMBERS = st.integers(-50, 50) | st.sampled_from([0.5, -7.25, 13.125, 1e9])
SCENES = st.lists(
    st.fixed_dictionaries(
        {"n": NUMBERS, "m": NUMBERS, "parts": st.lists(st.fixed_dictionaries({"n": NUMBERS}), max_size=3)}
    ),
    min_size=4,
    max_size=10,
)
BOUND = st.builds(lambda op, number: (op, number), st.sampled_from(["gte", "lte"]), NUMBERS)


@given(SCENES, BOUND, BOUND, st.sampled_from(["and", "or"]))
def test_no_verdict_changes(
    scenes: list[JSON], first: tuple[str, float], second: tuple[str, float], join: str
) -> None:
    (op, number), (inner, bound) = first, second
    where = {"op": inner, "path": "n", "value": bound}
    lone = {"op": op, "path": "n", "value": number}
    check = {"op": join, "of": [lone, {"op": "find", "collection": "parts", "where": where}]}
    if not any(scene["parts"] for scene in scenes):
        check = lone
    assert verdicts(rounded(check, scenes), scenes) == verdicts(check, scenes)


def test_gaps_are_bisected(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(hypothesis: Any, scenes: Any) -> list[bool]:
        asked.append(len(scenes))
        return verdicts(hypothesis_check(hypothesis), list(scenes))

    monkeypatch.setattr(rounding, "verdicts", counted)
    scenes = [{"n": n * 3} for n in range(1000)]
    assert rounded({"op": "gte", "path": "n", "value": 1234}, scenes)["value"] == 1235
    assert len(asked) <= 3 + 2 * 10

"""Worlds made from checks: they satisfy, they break one clause; and what the corpus makes of them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from test_evaluator_properties import checks, json_values

from evaluator import compile_check, normalise_world, run_check, translate_automationbench
from evaluator.translate.automationbench.synthesis import UnsatisfiableError, break_each, satisfy

TASKS = Path(__file__).parents[3] / "shared" / "automationbench" / "tasks.jsonl"

SENT = {"op": "find", "collection": "marks", "where": {"op": "eq", "path": "", "value": "SENT"}}
ABOUT = {"op": "contains", "path": "text", "substring": "refund", "ci": True}
MAIL = {"op": "find", "collection": "mails", "where": {"op": "and", "of": [SENT, ABOUT]}}


@pytest.mark.parametrize(
    ("check", "world", "expected"),
    [
        (MAIL, {}, {"mails": [{"marks": ["SENT"], "text": "refund"}]}),
        (MAIL, {"mails": [{"marks": ["SENT"], "text": "Hi"}]},
         {"mails": [{"marks": ["SENT"], "text": "Hi refund"}]}),
        ({"op": "eq", "path": "a[id=7].b", "value": 1}, {}, {"a": [{"id": "7", "b": 1}]}),
        ({"op": "eq", "path": "a[0].b", "value": 1}, {"a": [{"b": 2, "c": 3}]}, {"a": [{"b": 1, "c": 3}]}),
        ({"op": "gt", "path": "n", "value": 3}, {"n": 1}, {"n": 4}),
        ({"op": "lte", "path": "n", "value_path": "m"}, {"n": 9, "m": 5}, {"n": 5, "m": 5}),
        ({"op": "missing", "path": "a.b"}, {"a": {"b": 1, "c": 2}}, {"a": {"c": 2}}),
        ({"op": "count", "collection": "a", "eq": 1}, {"a": [1, 2]}, {"a": [1]}),
        ({"op": "count", "collection": "a", "gte": 2, "where": {"op": "eq", "path": "k", "value": "x"}},
         {"a": [{"k": "x"}]}, {"a": [{"k": "x"}, {"k": "x"}]}),
        ({"op": "find", "collection": "cells", "values": True, "where": {"op": "contains", "path": "",
          "substring": "x"}}, {}, {"cells": {"other 0": "x"}}),
        ({"op": "not", "of": {"op": "eq", "path": "a", "value": True}}, {"a": True}, {"a": False}),
        ({"op": "or", "of": [MAIL, {"op": "exists", "path": "b"}]}, {}, {"b": "other"}),
    ],
)  # fmt: skip
def test_the_smallest_edit(check: Any, world: Any, expected: Any) -> None:
    assert satisfy(check, world) == expected


def test_what_holds_stays() -> None:
    world = {"mails": [{"marks": ["SENT"], "text": "A refund"}]}
    assert satisfy(MAIL, world) is world


def test_each_clause_is_broken_alone_and_the_record_taken_away() -> None:
    world = {"mails": [{"marks": ["SENT"], "text": "A refund"}, {"marks": ["DRAFT"], "text": "refund"}]}
    second = {"marks": ["DRAFT"], "text": "refund"}
    assert break_each(MAIL, world) == (
        {"mails": [{"marks": ["SENT other"], "text": "A refund"}, second]},
        {"mails": [{"marks": [], "text": "A refund"}, second]},
        {"mails": [{"marks": ["SENT"], "text": "A"}, second]},
        {"mails": [second]},
    )


def test_every_record_that_passes_is_broken() -> None:
    world = {"mails": [{"marks": ["SENT"], "text": text} for text in ("refund", "no refund")]}
    for broken in break_each(MAIL, world):
        assert not run_check(broken, MAIL).passed


@pytest.mark.parametrize(
    "check",
    [
        {"op": "or", "of": []},
        {"op": "missing", "path": ""},
        {"op": "and", "of": [{"op": "eq", "path": "a", "value": 1}, {"op": "eq", "path": "a", "value": 2}]},
        {"op": "count", "collection": "a", "gte": 10**9},
    ],
)
def test_what_no_world_satisfies_is_told(check: Any) -> None:
    with pytest.raises(UnsatisfiableError, match="no world was found"):
        satisfy(check, {})


def test_only_a_world_that_passes_can_be_broken() -> None:
    with pytest.raises(ValueError, match="does not hold in the world given"):
        break_each(MAIL, {})


@given(checks, json_values)
def test_any_check(check: Any, world: Any) -> None:
    """What is made passes, what is broken fails, what is given stays, and the same comes again."""
    before = copy.deepcopy(world)
    try:
        made = satisfy(check, world)
    except UnsatisfiableError:
        made = None
    else:
        assert run_check(made, check).passed
        broken = break_each(check, made)
        assert not any(run_check(one, check).passed for one in broken)
        assert json.dumps(break_each(check, made)) == json.dumps(broken)
    assert world == before


@pytest.mark.skipif(not TASKS.is_file(), reason="the AutomationBench data is not there")
def test_every_positive_of_the_corpus_flips_as_it_should() -> None:
    """Every translated positive that is false at the start is satisfied, then each clause of it is broken."""
    positives = 0
    unbroken = []
    with TASKS.open(encoding="utf-8") as text:
        for task in map(json.loads, text):
            world = normalise_world(task["initial_state"])
            for assertion in task["assertions"]:
                translation = translate_automationbench(assertion, world)
                if translation is None or translation.negated:
                    continue
                check = compile_check(translation.check)
                if check.passes(world):
                    continue
                positives += 1
                made = satisfy(translation.check, world)
                assert check.passes(made)
                broken = break_each(translation.check, made)
                assert not any(map(check.passes, broken))
                if not broken:
                    unbroken.append(assertion)
    assert unbroken == []
    assert positives > 4_500

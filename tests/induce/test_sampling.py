"""Many scenes: a sample is learnt from first, and what comes out is about all of them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from evaluator import run_check
from induce import Grammar, InductionResult, learn_check, objective_of, pooled, sampling
from induce.grammar import units

JSON = Any
SMALL_RED = {
    "op": "and",
    "of": [{"op": "eq", "path": "hue", "value": "red"}, {"op": "lte", "path": "size", "value": 20}],
}
HEAVY_A = {
    "op": "and",
    "of": [{"op": "eq", "path": "kind", "value": "a"}, {"op": "gte", "path": "load", "value": 50}],
}
RULE = {"op": "or", "of": [HEAVY_A, {"op": "find", "collection": "parts", "where": SMALL_RED}]}
BIAS = Grammar(max_count=1, max_set=1, index_paths=False, keyed_paths=False, max_disjunctions=0, every=False)
LIMITS: dict[str, Any] = {"grammar": BIAS, "max_terms": 2, "max_literals": 2, "max_where": 2}
OPTIONS = {**LIMITS, "work_limit": 1_000}
COUNT = 140
"""Of so many scenes two samples, or three where labels are flipped, are learnt from before all are."""


def scene(rng: random.Random) -> JSON:
    parts = [
        {"hue": rng.choice(["red", "green", "blue"]), "size": rng.randrange(100)}
        for _ in range(rng.randrange(4))
    ]
    return {"kind": rng.choice("abc"), "load": rng.randrange(100), "parts": parts}


def labelled(count: int, flipped: float = 0.0) -> tuple[list[JSON], list[bool]]:
    rng = random.Random("many")
    scenes = [scene(rng) for _ in range(count)]
    return scenes, [run_check(one, RULE).passed is not (rng.random() < flipped) for one in scenes]


@pytest.fixture(scope="module", autouse=True)
def small_samples() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampling, "MANY", 100)
        patch.setattr(sampling, "SAMPLE", 60)
        patch.setattr(sampling, "JOINING", 20)
        yield


@pytest.fixture(scope="module")
def learnt() -> dict[float, InductionResult]:
    """What samples lead to, by the share of flipped labels."""
    return {flipped: learn_check(*labelled(COUNT, flipped), **OPTIONS) for flipped in (0.0, 0.05)}


@pytest.mark.parametrize("flipped", [0.0, 0.05])
def test_no_dearer_than_the_rule_behind_the_labels(
    learnt: dict[float, InductionResult], flipped: float
) -> None:
    scenes, labels = labelled(COUNT, flipped)
    result = learnt[flipped]
    assert result.objective <= objective_of(RULE, scenes, labels, **LIMITS).total
    assert result.objective == objective_of(result.check, scenes, labels, **LIMITS).total
    assert result.lower_bound <= result.objective
    wrong = [i for i, one in enumerate(scenes) if run_check(one, result.check).passed is not labels[i]]
    assert sorted(result.misclassified) == sorted(map(str, wrong))


def test_the_order_of_the_scenes_changes_nothing(learnt: dict[float, InductionResult]) -> None:
    scenes, labels = labelled(COUNT, 0.05)
    first = learnt[0.05]
    order = random.Random(1).sample(range(len(scenes)), len(scenes))
    again = learn_check([scenes[i] for i in order], [labels[i] for i in order], **OPTIONS)
    assert again.check == first.check
    assert again.lower_bound == first.lower_bound


def test_a_sample_begins_no_worse_than_without(
    learnt: dict[float, InductionResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "MANY", 1_000)
    whole = learn_check(*labelled(COUNT), **OPTIONS)
    assert learnt[0.0].objective <= whole.objective


def test_an_interrupt_while_a_sample_is_learnt_from_keeps_what_it_taught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenes, labels = labelled(250)
    monkeypatch.setattr(sampling, "_learn", lambda *_: (RULE, True))
    result = learn_check(scenes, labels, **OPTIONS)
    assert result.stopped == "interrupted"
    assert result.objective <= objective_of(RULE, scenes, labels, **LIMITS).total


def test_bounds_that_a_sample_taught_lie_between_numbers_of_all_scenes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenes, labels = labelled(120)
    between = json.loads(json.dumps(RULE).replace("50", "49.5").replace("20", "20.5"))
    monkeypatch.setattr(sampling, "_learn", lambda *_: (between, True))
    result = learn_check(scenes, labels, **OPTIONS)
    assert result.objective <= objective_of(RULE, scenes, labels, **LIMITS).total
    assert result.objective == objective_of(result.check, scenes, labels, **LIMITS).total


def test_a_sample_that_teaches_nothing_hinders_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scenes, labels = labelled(120)
    monkeypatch.setattr(sampling, "SAMPLE", 2)
    result = learn_check(scenes, labels, penalty=3.0, **OPTIONS)
    assert result.objective <= objective_of(RULE, scenes, labels, penalty=3.0, **LIMITS).total


def test_an_interrupt_before_a_second_sample_has_taught_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    scenes, labels = labelled(120, 0.05)
    taught = [RULE]

    def learn(*_: object) -> tuple[JSON, bool]:
        if not taught:
            raise KeyboardInterrupt
        return taught.pop(), False

    monkeypatch.setattr(sampling, "_learn", learn)
    result = learn_check(scenes, labels, **OPTIONS)
    assert result.stopped == "interrupted"
    assert result.objective <= objective_of(RULE, scenes, labels, **LIMITS).total
    with pytest.raises(KeyboardInterrupt):
        learn_check(scenes, labels, **OPTIONS)


@pytest.mark.parametrize("kept", [0, 3])
def test_what_a_sample_taught_stays_where_few_candidates_are_kept(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenes, labels = labelled(250, 0.05)
    monkeypatch.setattr(pooled, "EXTRA_COLUMNS", kept)
    monkeypatch.setattr(pooled, "CAPS", (units(4),))
    monkeypatch.setattr(sampling, "_learn", lambda *_: (RULE, False))
    result = learn_check(scenes, labels, **OPTIONS)
    assert result.objective <= objective_of(RULE, scenes, labels, **LIMITS).total

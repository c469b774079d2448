"""A proof with only the cheap literals filled in agrees with one from a pool filled much further."""

from __future__ import annotations

import random
from typing import Any

import pytest

from evaluator import compile_check
from induce import learn_check, pooled
from induce.grammar import units
from induce.pool import LiteralPool
from induce.pooled import PooledSearch

JSON = Any
LOW_CAPS = tuple(range(units(7), units(30), 8))
HIGH_CAPS = tuple(units(bits) for bits in (16, 24, 32, 40, 48, 56))
SEEDS = (3, 5, 6, 9, 10, 15, 18, 20, 21, 26, 27, 31, 33, 35, 37, 39, 48, 49, 50, 51, 52, 53, 57, 59)
"""Draws where literals are proposed for openings, and both proofs take little time."""
GRAMMAR = {"max_count": 2, "max_set": 1, "cross_field": False, "index_paths": False}


def random_scene(rng: random.Random) -> dict[str, JSON]:
    def element() -> dict[str, JSON]:
        one: dict[str, JSON] = {"k": rng.choice("abc"), "n": rng.randrange(1, 7)}
        return one | ({"ok": rng.random() < 0.5} if rng.random() < 0.7 else {})

    items: JSON = [element() for _ in range(rng.randrange(4))] if rng.random() < 0.9 else "none"
    return {"a": rng.randrange(6), "c": rng.choice("uv"), "items": items}


def random_rule(rng: random.Random) -> dict[str, JSON]:
    parts: list[dict[str, JSON]] = [
        {"op": "eq", "path": "k", "value": rng.choice("abc")},
        {"op": rng.choice(["gte", "lte"]), "path": "n", "value": rng.randrange(2, 6)},
        {"op": "eq", "path": "ok", "value": True},
        {"op": "neq", "path": "k", "value": "a"},
    ]
    chosen = rng.sample(parts, rng.choice([2, 2, 3]))
    find: dict[str, Any] = {"op": "find", "collection": "items", "where": {"op": "and", "of": chosen}}
    literal = rng.choice(
        [
            find,
            {"op": "not", "of": find},
            {"op": "count", "collection": "items", "where": chosen[0], "gte": 2},
            {"op": "count", "collection": "items", "where": find["where"], "lte": 1},
        ]
    )
    other = {"op": "eq", "path": "c", "value": "u"}
    return rng.choice([literal, {"op": rng.choice(["and", "or"]), "of": [literal, other]}])


def random_task(seed: int) -> tuple[list[JSON], list[str], dict[str, Any]]:
    """Scenes labelled by a rule, some of the labels flipped, and options for the learner."""
    rng = random.Random(f"closing-{seed}")
    scenes = [random_scene(rng) for _ in range(24)]
    check = compile_check(random_rule(rng))
    verdicts = [check.passes(scene) for scene in scenes]
    for at in rng.sample(range(24), rng.choice([0, 0, 1, 2])):
        verdicts[at] = not verdicts[at]
    options: dict[str, Any] = {name: rng.choice([1, 2, 3]) for name in ("max_terms", "max_literals")}
    options |= {"max_where": rng.choice([2, 3]), "max_nesting": 1, "penalty": rng.choice(["auto", 8.0])}
    if rng.random() < 0.4:
        options["sample_weight"] = [rng.choice([0, 0.5, 1, 2]) for _ in scenes]
    return scenes, ["pass" if passes else "fail" for passes in verdicts], options


@pytest.mark.parametrize("seed", SEEDS)
def test_closing_agrees_with_filling(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scenes, labels, options = random_task(seed)
    closed, made = PooledSearch._closed, []

    def watched(search: PooledSearch, *where: Any) -> tuple[LiteralPool, int]:
        pool, most = closed(search, *where)
        made.append(pool is not search.pool)
        return pool, most

    monkeypatch.setattr(PooledSearch, "_closed", watched)
    monkeypatch.setattr(pooled, "CAPS", LOW_CAPS)
    monkeypatch.setattr(pooled, "ENOUGH", 0)
    one = learn_check(scenes, labels, GRAMMAR, time_limit=60, **options)
    assert any(made)
    monkeypatch.setattr(PooledSearch, "_closed", lambda search, *_: (search.pool, search.complete))
    monkeypatch.setattr(pooled, "CAPS", HIGH_CAPS)
    monkeypatch.setattr(pooled, "ENOUGH", units(1000))
    other = learn_check(scenes, labels, GRAMMAR, time_limit=60, **options)
    assert one.optimal
    assert other.optimal
    assert (one.objective, one.check) == (other.objective, other.check)

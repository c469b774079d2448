"""Packing, weighing and merging keep every figure exact."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_problems import random_problem

from induce.search import SearchProblem, canonical, pack, unpack
from induce.search.limits import Limits
from induce.search.reduce import undominated
from induce.search.table import build_table


@given(st.integers(0, 5), st.integers(0, 200), st.integers(0, 2**32 - 1))
def test_packing_is_lossless(rows: int, scenes: int, seed: int) -> None:
    truth = np.random.default_rng(seed).random((rows, scenes)) < 0.5
    packed = pack(truth)
    assert packed.shape == (rows, -(-scenes // 64))
    assert packed.dtype == np.uint64
    assert np.array_equal(unpack(packed, scenes), truth)


def test_bit_order_is_little_endian() -> None:
    truth = np.zeros((1, 70), dtype=np.bool_)
    truth[0, [0, 3, 64]] = True
    assert pack(truth).tolist() == [[0b1001, 1]]


def test_table_totals_equal_objectives() -> None:
    for seed in range(300):
        problem = random_problem(seed)
        table = build_table(problem)
        rng = np.random.default_rng(seed)
        for _ in range(5):
            terms = [
                tuple(map(int, rng.integers(0, table.literals, rng.integers(1, problem.max_literals + 1))))
                for _ in range(int(rng.integers(1, problem.max_terms + 1)))
            ]
            hypothesis = table.original(terms)
            plain = canonical(terms)
            assert table.total(plain) == problem.objective(hypothesis), seed


def test_dominated_literals_are_replaceable() -> None:
    for seed in range(200):
        problem = random_problem(seed)
        table = build_table(problem)
        kept = set(undominated(table, Limits()).tolist())
        passing, failing, cost = table.passing.words, table.failing.words, table.cost
        for b in sorted(set(range(table.literals)) - kept):
            assert any(
                not np.any(passing[:, b] & ~passing[:, a])
                and not np.any(failing[:, a] & ~failing[:, b])
                and (cost[a], a) < (cost[b], b)
                for a in kept
            )


def problem_with(changes: dict[str, Any]) -> SearchProblem:
    plain = SearchProblem(
        passing=pack(np.ones((2, 3), dtype=np.bool_)),
        failing=pack(np.ones((2, 1), dtype=np.bool_)),
        cost=np.array([1, 2]),
        pass_penalty=np.array([1, 1, 1]),
        fail_penalty=np.array([1]),
        join_cost=1,
        max_terms=2,
        max_literals=2,
    )
    return replace(plain, **changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cost": np.array([1, -2])}, "cost must not be negative"),
        ({"cost": np.zeros(0, dtype=np.int64)}, "there must be a literal"),
        ({"pass_penalty": np.array([1, 1])}, "bits set past its last scene"),
        ({"fail_penalty": np.ones(65, dtype=np.int64)}, "failing must be uint64 of shape"),
        ({"fail_penalty": np.array([0.5])}, "whole numbers"),
        ({"fail_penalty": np.array([2**61])}, "scale them down"),
        ({"max_terms": 0}, "at least 1"),
        ({"join_cost": -1}, "join_cost"),
    ],
)
def test_unusable_problems_are_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        problem_with(changes).validate()


@pytest.mark.parametrize("hypothesis", [(), ((0, 1, 0),), ((2,),), ((0,), (1,), (0, 1))])
def test_objective_refuses_what_is_outside_the_space(hypothesis: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(ValueError, match=r"term|literal"):
        problem_with({}).objective(hypothesis)

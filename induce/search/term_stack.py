"""Where the term miner is: what its compiled loop reads and writes (:mod:`induce.search.term_kernel`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from induce.search.bits import WORD, Bools, Ints, Words

MUCH = 1 << 60


class Columns(NamedTuple):
    """What literals cover, one a row: uint64[n, W] for passing and failing scenes, int64[W] the weight of
    a bit of each word, the costs int64[n], and the literals by cost int64[n]."""

    passed: Words
    failed: Words
    pass_weight: Ints
    fail_weight: Ints
    cost: Ints
    by_cost: Ints


class Asked(NamedTuple):
    """The problem beside its budget: see `Miner` and `Rest` in :mod:`induce.search.terms`."""

    share: int
    cap: int
    useful: bool
    literals: int
    left: int
    slope: int
    cheapest: int
    further: int


class Stack(NamedTuple):
    """The nodes from the empty term down to the one at hand, one a row d.

    ``place`` holds the depth, and whether the node there has been looked at. The bits of a node are what
    its term covers; ``alone`` the fails that one of its literals alone rejects; ``order`` its open fails,
    those that the fewest candidates reject first. Of its candidates there is the literal, the cost, and
    the fails that it leaves, word by word; they come by ``grade``, which is how much they save beside the
    term of the node above, ``most`` being the most. ``branch`` says which of them are branches of the node
    above and, of those, which need not be looked at; ``at`` is the next to look at.
    """

    place: Ints
    members: Ints
    size: Ints
    wrong: Ints
    cover: Ints
    passed: Words
    failed: Words
    alone: Words
    candidates: Ints
    literal: Ints
    cost: Ints
    leaves: Words
    grade: Ints
    most: Ints
    branch: Ints
    at: Ints
    order: Ints
    ordered: Ints


class Found(NamedTuple):
    """Room for finished terms: ``members`` int64[m, d] padded with -1, and int64[m] each."""

    members: Ints
    size: Ints
    cover: Ints
    wrong: Ints


class Scratch(NamedTuple):
    """Numbers of the candidates of one node, int64[n] each, and which stay.

    ``left`` the fails that a candidate leaves and ``saved`` what it saves, for all of them; the others for
    those that may stay, ``at`` being their places among all and
    ``rank`` the order in which they come.
    """

    left: Ints
    saved: Ints
    at: Ints
    size: Ints
    wrong: Ints
    floor: Ints
    rank: Ints
    kept: Bools


def begin(columns: Columns, literals: int, open_pass: Words, open_fail: Words) -> tuple[Stack, Scratch]:
    """The stack that holds the empty term alone, and scratch for its candidates."""
    n = len(columns.cost)
    passes, fails = len(columns.pass_weight), len(columns.fail_weight)
    stack = Stack(
        place=np.zeros(2, np.int64),
        members=np.zeros(literals, np.int64),
        size=np.zeros(literals + 1, np.int64),
        wrong=np.zeros(literals + 1, np.int64),
        cover=np.zeros(literals + 1, np.int64),
        passed=np.zeros((literals + 1, passes), np.uint64),
        failed=np.zeros((literals + 1, fails), np.uint64),
        alone=np.zeros((literals + 1, literals, fails), np.uint64),
        candidates=np.zeros(literals, np.int64),
        literal=np.empty((literals, n), np.int64),
        cost=np.empty((literals, n), np.int64),
        leaves=np.empty((literals, fails, n), np.uint64),
        grade=np.zeros((literals, n), np.int64),
        most=np.zeros(literals, np.int64),
        branch=np.zeros((literals, n), np.int64),
        at=np.zeros(literals, np.int64),
        order=np.empty((literals, fails * WORD), np.int64),
        ordered=np.zeros(literals, np.int64),
    )
    stack.candidates[0], stack.most[0], stack.grade[0] = n, MUCH, 1
    stack.literal[0], stack.cost[0] = columns.by_cost, columns.cost[columns.by_cost]
    stack.leaves[0] = columns.failed[columns.by_cost].T
    stack.passed[0], stack.failed[0] = open_pass, open_fail
    stack.cover[0] = int(np.bitwise_count(open_pass).astype(np.int64) @ columns.pass_weight)
    stack.wrong[0] = int(np.bitwise_count(open_fail).astype(np.int64) @ columns.fail_weight)
    left, saved, at, size, wrong, floor, rank = (np.empty(n, np.int64) for _ in range(7))
    scratch = Scratch(left, saved, at, size, wrong, floor, rank, np.empty(n, np.bool_))
    return stack, scratch

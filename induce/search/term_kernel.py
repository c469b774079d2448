"""The inner loop of the term miner, compiled by Numba: depth first over literals, on bit-vectors.

The facts that prune are those of :mod:`induce.search.terms`. A node is a partial term with d literals.
Its candidates are the literals of its parent's that may still join: each child of a node takes over
what fits there, less the earlier branches of the node, so that each set is met once. All numbers are
whole, so the compiled loop gives what the same text gives uncompiled, on any machine.

The branches that save most come first, so that later ones keep few candidates; one that these can't
bring within the budget (fact 3) is passed over. The loop leaves off after some nodes and goes on from its
stack (:mod:`induce.search.term_stack`) when called again; the caller watches the clock, takes what was
found and lowers the budget in between.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from induce.search.bits import Ints, Words
from induce.search.compiled import compiled
from induce.search.term_stack import Asked, Columns, Found, Scratch, Stack

PAIRS = np.uint64(0x5555555555555555)
QUADS = np.uint64(0x3333333333333333)
NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
BYTES = np.uint64(0x0101010101010101)
ZERO, ONE, TWO, FOUR, TOP = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
NOTHING, NOWHERE = -(1 << 61), 1 << 61
GRADES = 1024
NO, OPEN, CLOSED = 0, 1, 2


@compiled
def _popcount(x: np.uint64) -> np.int64:
    x = x - ((x >> ONE) & PAIRS)
    x = (x & QUADS) + ((x >> TWO) & QUADS)
    x = (x + (x >> FOUR)) & NIBBLES
    return np.int64((x * BYTES) >> TOP)


@compiled
def _meet(row: Words, column: Words, weight: Ints) -> int:
    """The weight of what both hold."""
    total = 0
    for word in range(len(weight)):
        total += _popcount(row[word] & column[word]) * weight[word]
    return total


@compiled
def _rest(asked: Asked, cover: int) -> int:
    after = asked.left - asked.slope * cover
    least = after
    for terms in range(1, asked.further + 1):
        least = min(least, terms * asked.cheapest + max(after - terms * cover, 0))
    return least


@compiled
def _top(values: Ints, value: int) -> None:
    """Put a value into its place among the largest, which descend."""
    at = len(values) - 1
    if value <= values[at]:
        return
    while at > 0 and values[at - 1] < value:
        values[at] = values[at - 1]
        at -= 1
    values[at] = value


@compiled
def _others(largest: Ints, own: int) -> int:
    """The sum of the largest values, all but the last, where one's own does not count."""
    total = 0
    for at in range(len(largest) - 1):
        total += largest[at]
    if own >= largest[len(largest) - 2]:
        total += largest[len(largest) - 1] - own
    return total


@compiled
def _list(columns: Columns, stack: Stack, depth: int, slack: int, listed: Words) -> None:
    """Fact 5: of a node's open fails, in their order, those that outweigh the slack."""
    before = 0
    for at in range(stack.ordered[depth]):
        if before > slack:
            return
        bit = stack.order[depth, at]
        listed[bit >> 6] |= ONE << np.uint64(bit & 63)
        before += columns.fail_weight[bit >> 6]


@compiled
def _rejects(listed: Words, column: Words) -> bool:
    missing = ZERO
    for word in range(len(listed)):
        missing |= listed[word] & ~column[word]
    return bool(missing != ZERO)


@compiled
def _order(columns: Columns, stack: Stack, scratch: Scratch, count: int, depth: int) -> None:
    """Put the open fails of a node into order."""
    words = len(columns.fail_weight)
    rejecting = np.zeros(words * 64, np.int64)
    for at in range(count):
        if scratch.kept[at]:
            for word in range(words):
                bits = stack.failed[depth, word] & ~stack.leaves[depth, word, scratch.at[at]]
                while bits:
                    low = bits & (~bits + ONE)
                    rejecting[word * 64 + _popcount(low - ONE)] += 1
                    bits ^= low
    starts = np.zeros(count + 2, np.int64)
    for bit in range(words * 64):
        if stack.failed[depth, bit >> 6] & (ONE << np.uint64(bit & 63)):
            starts[rejecting[bit] + 1] += 1
    for number in range(count + 1):
        starts[number + 1] += starts[number]
    for bit in range(words * 64):
        if stack.failed[depth, bit >> 6] & (ONE << np.uint64(bit & 63)):
            stack.order[depth, starts[rejecting[bit]]] = bit
            starts[rejecting[bit]] += 1
    stack.ordered[depth] = starts[count]


@compiled
def _busy(columns: Columns, stack: Stack, depth: int, literal: int) -> bool:
    """Whether no literal of a node's term is idle beside one more (fact 1)."""
    for place in range(depth):
        unshared = _meet(stack.alone[depth, place], columns.failed[literal], columns.fail_weight)
        if unshared <= columns.cost[stack.members[place]]:
            return False
    return True


@compiled
def _emit(stack: Stack, depth: int, literal: int, found: Found, number: int) -> None:
    for place in range(depth):
        found.members[number, place] = stack.members[place]
    found.members[number, depth] = literal
    for place in range(depth + 1, found.members.shape[1]):
        found.members[number, place] = -1


@compiled
def _grade(saved: int, most: int) -> int:
    """In which of GRADES grades something is that saves so much where ``most`` is the most."""
    return 0 if saved <= 0 else 1 + saved * (GRADES - 2) // most


@compiled
def _reaching(stack: Stack, depth: int, saved: int) -> int:
    """How many candidates, of those in order of grade, to look at so that all that save as much are seen."""
    if saved > stack.most[depth]:
        return 0
    grade, grades = _grade(saved, stack.most[depth]), stack.grade[depth]
    least, most = 0, stack.candidates[depth]
    while least < most:
        middle = (least + most) >> 1
        if grades[middle] >= grade:
            least = middle + 1
        else:
            most = middle
    return least


@compiled
def _leave(leaves: Words, first: int, end: int, failed: Words, weight: Ints, left: Ints) -> None:
    """The weight of the fails that a node's term leaves beside each of some candidates."""
    left[first:end] = 0
    for word in range(len(weight)):
        bits, own, each = leaves[word], failed[word], weight[word]
        for at in range(first, end):
            left[at] += _popcount(bits[at] & own) * each


@compiled
def _save(
    asked: Asked, afford: int, first: int, end: int, stack: Stack, depth: int, scratch: Scratch
) -> tuple[int, int]:
    """What some candidates save, NOTHING where they can't join; the most, with size by share and in full."""
    wrong, taken = stack.wrong[depth], stack.at[depth]
    cost, branch = stack.cost[depth], stack.branch[depth]
    least = 0 if depth > 0 else NOTHING
    best, most = 0, 0
    for at in range(first, end):
        gain = wrong - scratch.left[at]
        saved = gain - asked.share * cost[at]
        joins = cost[at] <= afford and gain - cost[at] > least and (branch[at] == NO or at >= taken)
        scratch.saved[at] = saved if joins else NOTHING
        best = max(best, saved if joins else 0)
        most = max(most, gain - cost[at] if joins else 0)
    return best, most


@compiled
def _open(
    columns: Columns,
    asked: Asked,
    budget: int,
    stack: Stack,
    scratch: Scratch,
    found: Found,
    number: int,
) -> int:
    """Look at the node at hand: note its finished children and its branches; how many are found by now."""
    depth = stack.place[0]
    share, cap = asked.share, asked.cap
    to_come = asked.literals - depth
    size, wrong, cover = stack.size[depth], stack.wrong[depth], stack.cover[depth]
    passed, failed = stack.passed[depth], stack.failed[depth]
    floor_here = _rest(asked, cover)
    if to_come > 1:
        stack.candidates[depth + 1], stack.at[depth + 1] = 0, 0
    afford = min(cap - size, (budget - floor_here) // share - size)
    needed, needed_full = share * size + wrong + floor_here - budget, size + wrong - cap
    leaves, weight = stack.leaves[depth], columns.fail_weight
    one = -(-needed // to_come)
    narrow = _reaching(stack, depth, one)
    _leave(leaves, 0, narrow, failed, weight, scratch.left)
    best, most = _save(asked, afford, 0, narrow, stack, depth, scratch)
    if best < one:
        return number
    width = max(narrow, _reaching(stack, depth, needed - (to_come - 1) * best))
    _leave(leaves, narrow, width, failed, weight, scratch.left)
    most = max(most, _save(asked, afford, narrow, width, stack, depth, scratch)[1])
    if to_come * most < needed_full:
        return number
    count = np.int64(0)
    for at in range(width):
        saved = scratch.saved[at]
        if saved == NOTHING or saved + (to_come - 1) * best < needed:
            continue
        literal, cost, left = stack.literal[depth, at], stack.cost[depth, at], scratch.left[at]
        saved_full = wrong - left - cost
        if saved_full + (to_come - 1) * most < needed_full:
            continue
        if saved >= needed and saved_full >= needed_full:
            covered = _meet(passed, columns.passed[literal], columns.pass_weight)
            ends = saved >= share * size + wrong + _rest(asked, covered) - budget
            useful = not asked.useful or covered > size + cost
            if ends and useful and _busy(columns, stack, depth, literal):
                _emit(stack, depth, literal, found, number)
                found.size[number], found.cover[number], found.wrong[number] = size + cost, covered, left
                number += 1
        if to_come > 1 and saved_full > 0:
            scratch.at[count], scratch.size[count] = at, size + cost
            scratch.wrong[count], scratch.floor[count] = left, floor_here
            scratch.kept[count] = True
            count += 1
    if count < 2 or _prune(asked, budget, wrong, size, to_come, scratch, count) < 2:
        return number
    for at in range(count):
        if scratch.kept[at]:
            literal = stack.literal[depth, scratch.at[at]]
            covered = _meet(passed, columns.passed[literal], columns.pass_weight)
            floor = _rest(asked, covered)
            scratch.floor[at] = floor
            stays = share * scratch.size[at] + floor <= budget and _busy(columns, stack, depth, literal)
            scratch.kept[at] = stays and (not asked.useful or covered > scratch.size[at])
    if _prune(asked, budget, wrong, size, to_come, scratch, count) >= 2:
        _branch(columns, asked, budget, stack, scratch, count)
    return number


@compiled
def _branch(columns: Columns, asked: Asked, budget: int, stack: Stack, scratch: Scratch, count: int) -> None:
    """Note which candidates of the node at hand its children have, and which of them are its branches."""
    depth = stack.place[0]
    below = depth + 1
    size, wrong = stack.size[depth], stack.wrong[depth]
    _order(columns, stack, scratch, count, depth)
    kept = np.int64(0)
    cheapest, floor, most = NOWHERE, NOWHERE, np.int64(1)
    for at in range(count):
        if scratch.kept[at]:
            cheapest, floor = min(cheapest, scratch.size[at]), min(floor, scratch.floor[at])
            scratch.size[kept], scratch.wrong[kept] = scratch.size[at], scratch.wrong[at]
            scratch.floor[kept], scratch.at[kept] = scratch.floor[at], scratch.at[at]
            scratch.saved[kept] = wrong - scratch.wrong[at] - asked.share * (scratch.size[at] - size)
            most = max(most, scratch.saved[kept])
            kept += 1
    stack.candidates[below], stack.most[below] = kept, most
    _rank(scratch, kept, most)
    slack = min(budget - asked.share * cheapest - floor, asked.cap - cheapest)
    listed = np.zeros(len(columns.fail_weight), np.uint64)
    _list(columns, stack, depth, slack, listed)
    for place in range(kept):
        at = scratch.rank[place]
        source = scratch.at[at]
        literal = stack.literal[depth, source]
        stack.literal[below, place], stack.cost[below, place] = literal, stack.cost[depth, source]
        stack.grade[below, place] = _grade(scratch.saved[at], most)
        stack.branch[below, place] = OPEN if _rejects(listed, columns.failed[literal]) else NO
        for word in range(len(columns.fail_weight)):
            leaves = stack.leaves[depth, word, source] & stack.failed[depth, word]
            stack.leaves[below, word, place] = leaves
    _close(asked, budget, stack, depth, scratch)


@compiled
def _rank(scratch: Scratch, count: int, most: int) -> None:
    """The places of candidates by grade, the best first (a counting sort)."""
    starts = np.zeros(GRADES + 1, np.int64)
    for at in range(count):
        starts[GRADES - _grade(scratch.saved[at], most)] += 1
    for grade in range(GRADES):
        starts[grade + 1] += starts[grade]
    for at in range(count):
        grade = GRADES - 1 - _grade(scratch.saved[at], most)
        scratch.rank[starts[grade]] = at
        starts[grade] += 1


@compiled
def _close(asked: Asked, budget: int, stack: Stack, depth: int, scratch: Scratch) -> None:
    """Fact 3 for each branch of a node, with what the branches before it leave."""
    below, share = depth + 1, asked.share
    size, wrong, kept = stack.size[depth], stack.wrong[depth], stack.candidates[below]
    shared, whole = np.zeros(asked.literals - below, np.int64), np.zeros(asked.literals - below, np.int64)
    for branches in range(2):
        for place in range(kept - 1, -1, -1):
            if (stack.branch[below, place] == NO) == (branches == 1):
                continue
            at = scratch.rank[place]
            if branches == 1:
                ahead = share * scratch.size[at] + scratch.wrong[at] + scratch.floor[at]
                ahead_full = scratch.size[at] + scratch.wrong[at]
                for further in range(len(shared)):
                    ahead -= shared[further]
                    ahead_full -= whole[further]
                if ahead > budget or ahead_full > asked.cap:
                    stack.branch[below, place] = CLOSED
            _top(shared, scratch.saved[at])
            _top(whole, wrong - scratch.wrong[at] - (scratch.size[at] - size))


@compiled
def _prune(
    asked: Asked, budget: int, wrong: int, size: int, to_come: int, scratch: Scratch, count: int
) -> int:
    """Fact 3, until nothing more goes: keep the candidates that some larger term may hold; their number."""
    share, cap = asked.share, asked.cap
    shared, whole = np.empty(to_come, np.int64), np.empty(to_come, np.int64)
    before = count + 1
    left = count
    while left < before and left > 1:
        before = left
        shared[:] = 0
        whole[:] = 0
        cheapest = NOWHERE
        for at in range(count):
            if scratch.kept[at]:
                cost = scratch.size[at] - size
                cheapest = min(cheapest, cost)
                _top(shared, wrong - scratch.wrong[at] - share * cost)
                _top(whole, wrong - scratch.wrong[at] - cost)
        left = 0
        for at in range(count):
            if scratch.kept[at]:
                cost = scratch.size[at] - size
                larger = scratch.size[at] + cheapest
                saved = wrong - scratch.wrong[at]
                ahead = share * scratch.size[at] + scratch.wrong[at]
                ahead -= _others(shared, max(0, saved - share * cost))
                capped = scratch.size[at] + scratch.wrong[at] - _others(whole, saved - cost)
                stays = max(ahead, share * larger) + scratch.floor[at] <= budget
                scratch.kept[at] = stays and max(capped, larger) <= cap
                if scratch.kept[at]:
                    left += 1
    return left


@compiled
def _descend(columns: Columns, asked: Asked, stack: Stack) -> bool:
    """Go to the next child of the node at hand; False where it has no more."""
    depth = stack.place[0]
    below = depth + 1
    if below == asked.literals:
        return False
    at = stack.at[below]
    while at < stack.candidates[below] and stack.branch[below, at] != OPEN:
        at += 1
    stack.at[below] = at + 1
    if at >= stack.candidates[below]:
        return False
    literal = stack.literal[below, at]
    stack.members[depth] = literal
    stack.size[below] = stack.size[depth] + columns.cost[literal]
    for word in range(len(columns.pass_weight)):
        stack.passed[below, word] = stack.passed[depth, word] & columns.passed[literal, word]
    for word in range(len(columns.fail_weight)):
        column = columns.failed[literal, word]
        for place in range(depth):
            stack.alone[below, place, word] = stack.alone[depth, place, word] & column
        stack.alone[below, depth, word] = stack.failed[depth, word] & ~column
        stack.failed[below, word] = stack.failed[depth, word] & column
    stack.cover[below] = _meet(stack.passed[below], stack.passed[below], columns.pass_weight)
    stack.wrong[below] = _meet(stack.failed[below], stack.failed[below], columns.fail_weight)
    stack.place[0], stack.place[1] = below, 0
    return True


@partial(compiled, wrapped=True)
def mine(
    columns: Columns,
    asked: Asked,
    budget: int,
    nodes: int,
    enough: int,
    stack: Stack,
    scratch: Scratch,
    found: Found,
) -> tuple[np.int64, np.int64, bool]:
    """Go on for up to so many nodes, or until enough terms are found.

    Returns the number found, the nodes seen, and whether this was all.
    """
    number, seen = np.int64(0), np.int64(0)
    while stack.place[0] >= 0:
        if stack.place[1] == 0:
            if seen == nodes or number >= enough:
                return number, seen, False
            number = _open(columns, asked, budget, stack, scratch, found, number)
            seen += 1
            stack.place[1] = 1
        elif not _descend(columns, asked, stack):
            stack.place[0] -= 1
    return number, seen, True

"""Literals that fit an opening, against all literals of small grammars, one by one."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluator import compile_check
from induce.costs import DescriptionLength, OutsideGrammarError
from induce.examples import Examples
from induce.grammar import Costs, Grammar, units
from induce.literals import Alternatives, Bound, Collect, Literal, OtherPath, PathTest, literal_check
from induce.profile import Scope, profile
from induce.proposers.collection import Allowance, PathTests, WorkExceededError
from induce.proposers.fitting import ElementLiterals, FittingLiterals
from induce.search import Asks, Openings
from induce.value_sets import ValueSets

JSON = Any
Mask = NDArray[np.bool_]


class Said(NamedTuple):
    """A literal about a row of some scope, true of the rows of `mask`."""

    literal: Literal
    mask: Mask
    cost: int


class Found:
    """A sink that keeps the cheapest literal of each truth."""

    def __init__(self) -> None:
        self.cheapest: dict[bytes, Said] = {}

    def add(self, masks: Mask, costs: NDArray[np.int64], make: Callable[[int], Literal]) -> None:
        for at, cost in enumerate(costs.tolist()):
            self.take(Said(make(at), masks[at], cost))

    def take(self, test: Said) -> None:
        known = self.cheapest.get(test.mask.tobytes())
        if known is None or test.cost < known.cost:
            self.cheapest[test.mask.tobytes()] = test


def priced(
    literals: Iterator[tuple[Literal, Mask]], scope: Scope, model: DescriptionLength
) -> Iterator[Said]:
    """Those of the grammar."""
    for literal, mask in literals:
        try:
            yield Said(literal, mask, model.literal(scope, literal, 3))
        except OutsideGrammarError:
            continue


def path_tests(scope: Scope) -> Iterator[tuple[Literal, Mask]]:
    """Every test of the paths of a scope, graded by the evaluator."""
    tests: list[PathTest] = []
    for path, column in scope.columns.items():
        tests += [PathTest(op, path) for op in ("exists", "missing")]
        tests += [PathTest("eq", path, value) for value in column.distinct]
        tests += [
            PathTest("eq", path, Alternatives(chosen))
            for size in (2, 3)
            for chosen in combinations(column.distinct, size)
        ]
        grid = sorted({0} | {number + step for number in column.numbers for step in (-0.5, 0, 0.5)})
        tests += [PathTest(op, path, Bound.exactly(number)) for number in grid for op in ("gte", "lte")]
    for one, other in permutations([*scope.columns, *scope.lengths], 2):
        tests += [PathTest(op, one, OtherPath(other)) for op in ("eq", "gte", "lte")]
    for literal in (Literal(test, negated) for test in tests for negated in (False, True)):
        check = compile_check(literal_check(literal))
        yield literal, np.array([check.passes(row) for row in scope.rows], np.bool_)


def different(tests: Iterator[Said]) -> list[Said]:
    """The cheapest of those that no conjunction tells apart."""
    kept: dict[tuple[bytes, str | None, bool], Said] = {}
    for test in tests:
        atom = test.literal.atom
        plain = isinstance(atom, PathTest) and not isinstance(atom.value, OtherPath)
        path = atom.path if isinstance(atom, PathTest) and plain else None
        key = (test.mask.tobytes(), path, has_bound(test))
        if key not in kept or test.cost < kept[key].cost:
            kept[key] = test
    return list(kept.values())


def has_bound(test: Said) -> bool:
    atom = test.literal.atom
    return isinstance(atom, PathTest) and isinstance(atom.value, Bound)


def collects(child: Scope, inner: list[Said], most: int, max_count: int) -> Iterator[tuple[Literal, Mask]]:
    """Every find and count over a collection, whether the grammar has it or not."""
    name = child.collection
    for where in (chosen for size in range(most + 1) for chosen in combinations(inner, size)):
        mask = np.logical_and.reduce([np.ones(len(child.rows), np.bool_), *(test.mask for test in where)])
        said, met = tuple(test.literal for test in where), child.owners_with(mask)
        if where:
            yield Literal(Collect("find", name, said)), met > 0
            yield Literal(Collect("find", name, said), True), met == 0
        for k in range(1, max_count + 1):
            yield Literal(Collect("count", name, said, ("gte", k))), met >= k
            yield Literal(Collect("count", name, said, ("lte", k))), (met <= k) & child.is_array
            yield Literal(Collect("count", name, said, ("eq", k))), (met == k) & child.is_array
            for high in range(k + 1, max_count + 1):
                yield Literal(Collect("count", name, said, ("gte", k), high)), (met >= k) & (met <= high)
        if sum(map(has_bound, where)) == 1:
            denied = [test._replace(mask=~test.mask) if has_bound(test) else test for test in where]
            out = [test.literal._replace(negated=test.literal.negated or has_bound(test)) for test in where]
            met = child.owners_with(np.logical_and.reduce([test.mask for test in denied]))
            yield Literal(Collect("find", name, tuple(out)), True), met == 0


def random_scenes(rng: random.Random) -> list[JSON]:
    nested, scalars, few = rng.random() < 0.4, rng.random() < 0.25, rng.random() < 0.6

    def element() -> JSON:
        if scalars:
            return rng.choice([1, 2, "a", "b", None])
        one: dict[str, JSON] = {"k": rng.choice("ab"), "n": rng.choice([1, 2, 3] if few else [1, 3, 5, None])}
        one |= {"ok": rng.random() < 0.5} if rng.random() < 0.7 else {}
        one |= {"m": rng.choice([1, 2, 3])} if not few and rng.random() < 0.5 else {}
        one |= {"in": [rng.choice("xy") for _ in range(rng.randrange(3))]} if nested else {}
        return one

    def scene() -> JSON:
        found: dict[str, JSON] = {"a": rng.randrange(3), "of": [element() for _ in range(rng.randrange(6))]}
        if rng.random() < 0.15:
            found["of"] = rng.choice(["no", None, {"k": "a"}])
        elif rng.random() < 0.1:
            del found["of"]
        return found

    return [scene() for _ in range(rng.randrange(8, 14))]


def random_asks(rng: random.Random, test: Said, labels: Mask) -> tuple[NDArray[np.int64], int]:
    """What is paid for each scene on which a literal errs, and a budget that the test just keeps."""
    unit = rng.choice([16, 100, 1 << 21])
    share = rng.choice([0.5, 0.8, 1.0])
    paid = np.array(
        [
            rng.choice([0, 1, 1, 2]) * unit * (rng.random() < (share if right else 0.1))
            for right in test.mask == labels
        ],
        np.int64,
    )
    return paid, test.cost + int(paid[test.mask != labels].sum()) + rng.choice([0, 0, 40])


def random_openings(rng: random.Random, tests: list[Said], labels: Mask) -> Openings:
    """Openings that some of the literals fit with nothing, or little, to spare."""
    chosen = [rng.choice(tests) for _ in range(rng.randrange(1, 6))]
    asks = []
    for _ in range(rng.choice([1, 1, 2])):
        drawn = [random_asks(rng, test, labels) for test in chosen]
        paid, budget = np.array([one for one, _ in drawn]), np.array([most for _, most in drawn], np.int64)
        asks.append(Asks(paid[:, labels], paid[:, ~labels], budget))
    room = np.array([test.cost + rng.choice([0, 16, 200]) for test in chosen], np.int64)
    return Openings(room, tuple(asks))


def fits(left: Openings, truth: Mask, cost: int, labels: Mask) -> bool:
    """Whether a literal fits an opening, read off the definition."""
    kept = left.room >= cost
    for ask in left.asks:
        errors = ask.wanted @ ~truth[labels] + ask.unwanted @ truth[~labels]
        kept &= errors + cost <= ask.budget
    return bool(kept.any())


def paying(wanted: int, unwanted: Mask, budget: NDArray[np.int64]) -> Openings:
    """Openings that ask once, with a penalty of 1,000 a scene; the first `wanted` scenes are all wanted."""
    asked = Asks(np.full((len(budget), wanted), 1000), unwanted * 1000, budget)
    return Openings(budget, (asked,))


def propose(
    root: Scope, elements: ElementLiterals, left: Openings, labels: Mask, least: int, cells: float = math.inf
) -> Found:
    found = Found()
    FittingLiterals(root, elements, left, labels, least, Allowance(cells, math.inf)).run(found)
    return found


OPERATORS = [
    None,
    None,
    ("eq", "gte", "find", "count", "not"),
    ("eq", "lte", "count"),
    ("neq", "find", "not"),
]


@pytest.mark.parametrize("seed", range(30))
def test_all_that_fit_are_proposed(seed: int) -> None:
    rng = random.Random(f"fitting-{seed}")
    scenes = random_scenes(rng)
    labels = ["pass", "fail"] + [rng.choice(["pass", "fail"]) for _ in scenes[2:]]
    options: dict[str, Any] = {"max_count": rng.choice([1, 2, 3]), "max_set": rng.choice([1, 3])}
    options |= {"cross_field": rng.random() < 0.4, "arrays": False, "index_paths": False}
    operators = rng.choice(OPERATORS)
    grammar = Grammar(**options, operators=operators) if operators else Grammar(**options)
    examples = Examples.of(scenes, labels)
    root = profile(examples.scenes, grammar, 2)
    model = DescriptionLength(root, grammar, ValueSets(root, grammar, examples))
    all_tests = Found()
    for test in priced(path_tests(root), root, model):
        all_tests.take(test)
    max_where = 3
    for child in root.children.values():
        inner = different(priced(path_tests(child), child, model))
        for below in child.children.values():
            nested = different(priced(path_tests(below), below, model))
            found = collects(below, nested, 2, grammar.max_count)
            inner = different(iter([*inner, *priced(found, child, model)]))
            max_where = 2
        max_where = next((size for size in range(max_where, 1, -1) if math.comb(len(inner), size) < 1000), 1)
        for test in priced(collects(child, inner, max_where, grammar.max_count), root, model):
            all_tests.take(test)
    dearest = max(test.cost for test in all_tests.cheapest.values())
    least = min(units(rng.choice([8, 12, 16])), dearest - 32)
    telling = np.array(examples.labels)
    dear = [
        test
        for test in all_tests.cheapest.values()
        if test.cost > least and test.mask.any() and not test.mask.all()
    ]
    left = random_openings(rng, dear, telling)
    proposed, allowance = Found(), Allowance(math.inf, math.inf)
    FittingLiterals(root, ElementLiterals(PathTests(model), max_where), left, telling, least, allowance).run(
        proposed
    )
    fitting = 0
    for test in dear:
        if fits(left, test.mask, test.cost, telling):
            fitting += 1
            assert proposed.cheapest[test.mask.tobytes()].cost == test.cost, literal_check(test.literal)
    assert fitting
    for one in list(proposed.cheapest.values())[:20]:
        check = compile_check(literal_check(one.literal))
        assert [check.passes(scene) for scene in examples.scenes] == one.mask.tolist()
        assert model.literal(root, one.literal, max_where) == one.cost


def three_conditions() -> tuple[Scope, PathTests, Mask]:
    """One passing scene whose element is a, b and c; the element of each failing one lacks one of them."""
    lacking = ["", *"aaabbbbbbc", *"aaaaabbbbb"]
    scenes = [{"of": [{key: key not in lack for key in "abc"}]} for lack in lacking]
    grammar = Grammar(operators=("eq", "find"), index_paths=False, cross_field=False)
    root = profile(scenes, grammar, 1)
    return root, PathTests(DescriptionLength(root, grammar)), np.array([not lack for lack in lacking])


@pytest.mark.parametrize("turned", [False, True])
def test_openings_that_want_parts_in_another_order(turned: bool) -> None:
    """Parts a and b alone serve one opening, a first; the other has room for all three, b first."""
    root, tests, labels = three_conditions()
    model = tests.cost
    part, find = tests.of(root.children["of"])[0].cost, model.collect(root, None)
    unwanted = np.zeros((2, 20), np.bool_)
    unwanted[0, :10] = unwanted[1, 10:] = True
    budget = np.array([find + 3 * part, find + 2 * part], np.int64)
    order = [1, 0] if turned else [0, 1]
    left = paying(1, unwanted[order], budget[order])
    found = Found()
    FittingLiterals(root, ElementLiterals(tests, 3), left, labels, find, Allowance(math.inf, math.inf)).run(
        found
    )
    wheres = [
        test.literal.atom.where for test in found.cheapest.values() if isinstance(test.literal.atom, Collect)
    ]
    assert sorted(map(len, wheres)) == [2, 3]


def test_parts_that_cost_nothing_leave_room_for_more() -> None:
    scenes = [{"of": [{"a": a, "b": b}]} for a, b in ((True, True), (True, False), (False, True))]
    grammar = Grammar(operators=("eq", "find"), cross_field=False, costs=Costs(eq=0, path=0, level=0))
    root = profile(scenes, grammar, 1)
    tests, labels = PathTests(DescriptionLength(root, grammar)), np.array([True, False, False])
    cost = tests.cost.collect(root, None)
    left = paying(1, np.ones((1, 2), np.bool_), np.array([cost]))
    found = Found()
    FittingLiterals(root, ElementLiterals(tests, 2), left, labels, 0, Allowance(math.inf, math.inf)).run(
        found
    )
    assert found.cheapest[labels.tobytes()].cost == cost


def test_the_allowance_ends_it() -> None:
    root, tests, labels = three_conditions()
    left = paying(1, np.ones((1, 20), np.bool_), np.array([640]))
    with pytest.raises(WorkExceededError):
        FittingLiterals(root, ElementLiterals(tests, 3), left, labels, 0, Allowance(1.0, math.inf)).run(
            Found()
        )

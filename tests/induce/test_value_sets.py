"""One of these values on one path: candidate sets, prices, proofs and the checks that say them."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

from evaluator import compile_check
from induce import Grammar, OutsideGrammarError, export_check, learn_check, objective_of
from induce.costs import DescriptionLength
from induce.examples import Examples
from induce.grammar import bits, units
from induce.hypothesis_space import HypothesisSpace
from induce.literals import Alternatives, Collect, Literal, PathTest, literal_check
from induce.noise import NoiseModel
from induce.objective import parse_hypothesis
from induce.pool import LiteralPool
from induce.profile import Scope, profile
from induce.proposers.collection import PathTests
from induce.proposers.proposer import Proposer
from induce.value_sets import ValueSets

JSON = Any
TOOLS = ["search", "read", "ask", "think", "wait", "log", "book", "cancel", "refund", "rebook"]
PENALTY = 6.0
GRAMMAR = {"max_count": 2, "index_paths": False, "lengths": False, "cross_field": False}
NO_STEPS = {"exclude": ["steps*"]}
WRITES = ["book", "cancel", "rebook", "refund"]


def one_of(path: str, *values: JSON) -> JSON:
    return {"op": "or", "of": [{"op": "eq", "path": path, "value": value} for value in values]}


def says(path: str, *words: str, **flags: JSON) -> JSON:
    return {"op": "or", "of": [{"op": "contains", "path": path, "substring": w, **flags} for w in words]}


def no(check: JSON) -> JSON:
    return {"op": "not", "of": check}


def both(*checks: JSON) -> JSON:
    return {"op": "and", "of": list(checks)}


def find(collection: str, where: JSON) -> JSON:
    return {"op": "find", "collection": collection, "where": where}


def run(rng: random.Random) -> JSON:
    greeting = rng.choice(
        ["Yes", "yes", "ok then", "proceed now", "Proceed", "proceed", "no", "hm", "why ok"]
    )
    return {
        "state": rng.choice(["TX", "CA", "NY", "AZ", "WA", "NV", "OR", "UT"]),
        "code": rng.choice([200, 201, 301, 404, 500, 503]),
        "reply": f"{greeting} {rng.choice(['friend', 'sir', 'you'])}",
        "level": rng.randrange(40),
        "steps": [
            {"name": rng.choice(TOOLS), "cost": rng.randrange(60), "done": rng.random() < 0.7}
            for _ in range(rng.randrange(6))
        ],
    }


TRUTHS = {
    "of a scene": one_of("state", "CA", "TX"),
    "none of them": no(one_of("state", "CA", "NV", "TX")),
    "with a bound": both(one_of("state", "CA", "TX"), {"op": "gte", "path": "level", "value": 10}),
    "of codes": one_of("code", 200, 301, 503),
    "of an element": find("steps", both(one_of("name", *WRITES), {"op": "gte", "path": "cost", "value": 30})),
    "counted": {"op": "count", "collection": "steps", "where": one_of("name", *WRITES), "lte": 1},
    "of all elements": no(find("steps", no(one_of("name", "ask", "log", "read", "search", "think")))),
    "of words": says("reply", "ok", "proceed"),
}


def labelled(truth: JSON, seed: str, most: int) -> tuple[list[JSON], list[bool]]:
    """Scenes, as many of each label as there are of the rarer."""
    rng = random.Random(seed)
    passes = compile_check(truth).passes
    scenes = [run(rng) for _ in range(8 * most)]
    sides = [[scene for scene in scenes if passes(scene) is side][:most] for side in (True, False)]
    return sides[0] + sides[1], [True] * len(sides[0]) + [False] * len(sides[1])


@pytest.mark.parametrize("name", TRUTHS)
def test_the_set_is_found(name: str) -> None:
    truth = TRUTHS[name]
    scenes, labels = labelled(truth, name, 50)
    result = learn_check(scenes, labels, GRAMMAR, time_limit=20)
    stated = objective_of(result.check, scenes, labels, GRAMMAR)
    assert stated.total == result.objective <= objective_of(truth, scenes, labels, GRAMMAR).total
    unseen, wanted = labelled(truth, f"{name} unseen", 100)
    verdicts = map(compile_check(result.check).passes, unseen)
    assert sum(verdict is label for verdict, label in zip(verdicts, wanted, strict=True)) >= 0.97 * len(
        wanted
    )
    assert '"op": "or"' in export_check(result.check, "json")


def test_a_set_costs_its_members_choices_together() -> None:
    scenes, labels = labelled(TRUTHS["of a scene"], "priced", 60)

    def size(check: JSON) -> float:
        return objective_of(check, scenes, labels).size

    single, double = size({"op": "eq", "path": "state", "value": "CA"}), size(one_of("state", "CA", "TX"))
    assert double - single == pytest.approx(
        3 + 1, abs=1 / 16
    )  # one more of eight values, and that there is one
    assert size(one_of("state", "TX", "CA")) == double
    assert size(no(one_of("state", "CA", "TX"))) == double + 3


def test_what_is_no_candidate_is_outside() -> None:
    scenes, labels = labelled(TRUTHS["of an element"], "outside", 60)
    with pytest.raises(OutsideGrammarError, match="candidate sets read off the examples"):
        objective_of(find("steps", one_of("name", "book", "nowhere")), scenes, labels)
    with pytest.raises(OutsideGrammarError, match="candidate sets"):
        objective_of(find("steps", one_of("name", *TOOLS[:6])), scenes, labels)
    with pytest.raises(OutsideGrammarError, match="candidate sets"):
        objective_of(find("steps", one_of("name", *WRITES)), scenes, labels, {"max_set": 3})
    mixed = {"op": "or", "of": [{"op": "eq", "path": "name", "value": "book"}, {"op": "exists", "path": "x"}]}
    with pytest.raises(OutsideGrammarError, match="a disjunction inside a where"):
        objective_of(find("steps", mixed), scenes, labels)


def test_without_sets_the_alternatives_are_terms() -> None:
    scenes, labels = labelled(TRUTHS["of a scene"], "terms", 60)
    truth, switched_off = TRUTHS["of a scene"], {**NO_STEPS, "max_set": 1}
    result = learn_check(scenes, labels, switched_off, time_limit=20)
    assert result.objective == objective_of(truth, scenes, labels, switched_off).total
    assert result.objective > objective_of(truth, scenes, labels, NO_STEPS).total


def test_a_larger_set_limit_never_makes_it_worse() -> None:
    scenes, labels = labelled(TRUTHS["none of them"], "limits", 40)
    results = [learn_check(scenes, labels, {**NO_STEPS, "max_set": most}) for most in (1, 2, 3, 5, 8)]
    totals = [result.objective for result in results]
    assert totals == sorted(totals, reverse=True)
    assert totals[-1] < totals[0]


def test_names_of_rows_and_flags_form_no_sets() -> None:
    scenes = [
        {"id": f"u-{i:04d}", "flag": i % 2 == 0, "size": i / 7, "kind": "abc"[i % 3]} for i in range(60)
    ]
    labels = [i % 5 < 2 for i in range(60)]
    for path, values in (("id", ("u-0000", "u-0001")), ("flag", (True, False)), ("size", (0.0, 1 / 7))):
        with pytest.raises(OutsideGrammarError):
            objective_of(find("", one_of(path, *values)), [[s] for s in scenes], labels)
    assert objective_of(find("", one_of("kind", "a", "b")), [[s] for s in scenes], labels).size > 0


def scopes(scope: Scope, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Scope]]:
    yield path, scope
    for name, child in scope.children.items():
        yield from scopes(child, (*path, name))


def innermost(check: JSON, path: tuple[str, ...], cost: DescriptionLength) -> Literal:
    """The literal that a check about an element of some collection is read as."""
    for name in reversed(path):
        check = find(name, check)
    ((literal,),) = parse_hypothesis(check, 1, 1, cost)
    for _ in path:
        assert isinstance(literal.atom, Collect)
        (literal,) = literal.atom.where
    return literal


@pytest.mark.parametrize("seed", range(6))
def test_candidates_are_what_the_evaluator_and_the_cost_model_say(seed: int) -> None:
    rng = random.Random(f"sets-{seed}")
    scenes = [{**run(rng), "more": [run(rng) for _ in range(rng.randrange(3))]} for _ in range(20)]
    examples = Examples.of(scenes, [rng.random() < 0.5 for _ in scenes[2:]] + [True, False])
    root = profile(examples.scenes, Grammar(), 2)
    cost = DescriptionLength(root, Grammar(), ValueSets(root, Grammar(), examples))
    tests, met = PathTests(cost), 0
    for path, scope in scopes(root):
        for candidate in tests.of(scope):
            if isinstance(getattr(candidate.literal.atom, "value", None), Alternatives):
                met += 1
                check = literal_check(candidate.literal)
                passes = compile_check(check).passes
                assert [passes(row) for row in scope.rows] == candidate.mask.tolist(), check
                literal = innermost(check, path, cost)
                assert literal == candidate.literal
                assert cost.literal(scope, literal, 3) == candidate.cost, check
    assert met > 100


def all_sets(scope: Scope, model: DescriptionLength) -> Iterator[Literal]:
    """Every set of values or words of every path, and every test of one of them."""
    for path, column in scope.columns.items():
        for op, constants in (("eq", column.distinct), ("contains", list(model.tokens(column)))):
            for size in range(1, len(constants) + 1):
                for chosen in combinations(constants, size):
                    value = chosen[0] if size == 1 else Alternatives(chosen)
                    yield from (Literal(PathTest(op, path, value), negated) for negated in (False, True))


@pytest.mark.parametrize("seed", range(8))
def test_claimed_optimum_over_sets_is_the_exhaustive_one(seed: int) -> None:
    rng = random.Random(f"exhaustive-{seed}")
    letters, max_where = ("abcd", 2) if seed % 2 else ("abcdefgh", 1)
    scenes: list[JSON] = [
        {
            "hue": rng.choice(["red", "green", "blue", "grey", "pink", None]),
            "xs": [{"k": rng.choice(letters), "m": rng.choice("uvw")} for _ in range(rng.randrange(4))],
        }
        for _ in range(16)
    ]
    kept = rng.sample(letters, 3)
    passes = compile_check(find("xs", one_of("k", *kept))).passes
    labels = [False, True] + [passes(scene) for scene in scenes[2:]]
    examples = Examples.of(scenes, labels)
    grammar = Grammar(operators=("eq", "neq", "contains", "find", "not"))
    root = profile(examples.scenes, grammar, 1)
    model = DescriptionLength(root, grammar, ValueSets(root, grammar, examples))
    literals = list(all_sets(root, model))
    inner = list(all_sets(root.children["xs"], model))
    for size in range(1, max_where + 1):
        for where in combinations(inner, size):
            literals += [Literal(Collect("find", "xs", where), negated) for negated in (False, True)]
    best = min(
        objective for literal in literals for objective in charged(literal, model, examples, max_where)
    )
    options: dict[str, Any] = {"max_terms": 1, "max_literals": 1, "max_where": max_where, "max_nesting": 1}
    result = learn_check(scenes, labels, grammar, penalty=PENALTY, time_limit=30, **options)
    assert result.objective == bits(best)
    assert result.optimal
    stated = objective_of(result.check, scenes, labels, grammar, penalty=PENALTY, **options)
    assert stated.total == result.objective


def charged(literal: Literal, model: DescriptionLength, examples: Examples, max_where: int) -> Iterator[int]:
    """The objective of a literal that is in the grammar and no constant answer."""
    try:
        cost = model.literal(model.root, literal, max_where)
    except OutsideGrammarError:
        return
    passes = compile_check(literal_check(literal)).passes
    verdicts = [passes(scene) for scene in examples.scenes]
    if any(verdicts) and not all(verdicts):
        graded = zip(verdicts, examples.passing, examples.weights, strict=True)
        yield cost + sum(units(PENALTY * weight) for verdict, label, weight in graded if verdict is not label)


@pytest.mark.parametrize("seed", range(3))
def test_what_joins_the_pool_is_in_the_grammar_at_its_price(seed: int) -> None:
    scenes, labels = labelled(TRUTHS["of an element"], f"pool-{seed}", 30)
    examples = Examples.of(scenes, labels)
    grammar = Grammar(max_count=3)
    root = profile(examples.scenes, grammar, 2)
    cost = DescriptionLength(root, grammar, ValueSets(root, grammar, examples))
    noise = NoiseModel.of("auto", examples.weight)
    space = HypothesisSpace(examples, root, cost, noise, 4, 4, 3)
    proposer = Proposer(root, cost, space.passes, space.penalties, 3, math.inf)
    pool = LiteralPool(space.passes, space.penalties, units(64))
    proposer.extend(pool, units(20), 1e9)
    assert len(pool.entries) > 1000
    for entry in pool.entries.values():
        assert cost.literal(root, entry.literals[0], 3) == entry.cost, literal_check(entry.literals[0])

"""Either of two tests of one element: candidates, prices, proofs and the checks that say them."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest

from evaluator import compile_check, run_check
from induce import Grammar, OutsideGrammarError, export_check, learn_check, objective_of
from induce.costs import DescriptionLength
from induce.disjunctions import description_length
from induce.examples import Examples
from induce.grammar import bits, units
from induce.literals import Collect, Either, Literal, PathTest, literal_check
from induce.objective import parse_hypothesis
from induce.profile import profile

JSON = Any
PENALTY = 6.0


def eq(path: str, value: JSON) -> JSON:
    return {"op": "eq", "path": path, "value": value}


def either(*checks: JSON) -> JSON:
    return {"op": "or", "of": list(checks)}


def both(*checks: JSON) -> JSON:
    return {"op": "and", "of": list(checks)}


def find(collection: str, where: JSON) -> JSON:
    return {"op": "find", "collection": collection, "where": where}


TOUCHES_RED = find("touches", eq("colour", "red"))
TRUTH = find("pieces", both(eq("turn", "left"), either(eq("colour", "red"), TOUCHES_RED)))


def structure(rng: random.Random) -> JSON:
    def piece() -> JSON:
        return {
            "colour": rng.choice(["red", "green", "blue"]),
            "turn": rng.choice(["left", "right", "up", "down"]),
            "touches": [{"colour": rng.choice(["red", "green", "blue"])} for _ in range(rng.randrange(3))],
        }

    return {"pieces": [piece() for _ in range(rng.randrange(1, 5))]}


def labelled(truth: JSON, seed: str, each: int) -> tuple[list[JSON], list[bool]]:
    rng, kept = random.Random(seed), {True: list[JSON](), False: list[JSON]()}
    while min(map(len, kept.values())) < each:
        scene = structure(rng)
        side = kept[run_check(scene, truth).passed]
        if len(side) < each:
            side.append(scene)
    return kept[True] + kept[False], [True] * each + [False] * each


def bias_of(scenes: list[JSON], labels: list[bool], grammar: Grammar) -> DescriptionLength:
    examples = Examples.of(scenes, labels)
    return description_length(profile(examples.scenes, grammar, 2), grammar, examples)


def test_the_disjunction_is_found_and_is_cheaper_than_two_finds() -> None:
    scenes, labels = labelled(TRUTH, "found", 60)
    result = learn_check(scenes, labels, work_limit=20_000)
    assert result.objective <= objective_of(TRUTH, scenes, labels).total
    without = learn_check(scenes, labels, {"max_disjunctions": 0}, work_limit=20_000)
    assert result.objective < without.objective
    unseen, verdicts = labelled(TRUTH, "unseen", 100)
    assert [run_check(scene, result.check).passed for scene in unseen] == verdicts


def test_a_disjunction_costs_its_parts_and_a_join() -> None:
    scenes, labels = labelled(TRUTH, "found", 60)
    cost = bias_of(scenes, labels, Grammar())
    pieces = cost.root.children["pieces"]
    ((literal,),) = parse_hypothesis(TRUTH, 1, 1, cost)
    assert isinstance(literal.atom, Collect)
    _, pair = literal.atom.where
    assert isinstance(pair.atom, Either)
    parts = sum(cost.literal(pieces, part, 3) for part in pair.atom.parts)
    assert cost.literal(pieces, pair, 3) == parts + cost.join


@pytest.mark.parametrize("grammar", [Grammar(), Grammar(max_disjunctions=100)])
def test_candidates_are_what_the_evaluator_and_the_cost_model_say(grammar: Grammar) -> None:
    scenes, labels = labelled(TRUTH, "candidates", 30)
    cost = bias_of(scenes, labels, grammar)
    pieces = cost.root.children["pieces"]
    assert cost.disjunctions is not None
    candidates = cost.disjunctions.of(pieces)
    assert 10 < len(candidates) <= grammar.max_disjunctions
    for candidate in candidates:
        check = literal_check(candidate.literal)
        passes = compile_check(check).passes
        assert [passes(row) for row in pieces.rows] == candidate.mask.tolist(), check
        for parts in (check["of"], check["of"][::-1]):
            ((literal,),) = parse_hypothesis(find("pieces", either(*parts)), 1, 1, cost)
            assert isinstance(literal.atom, Collect)
            assert cost.literal(pieces, literal.atom.where[0], 3) == candidate.cost


def test_denied_conjunctions_are_disjunctions() -> None:
    scenes, labels = labelled(TRUTH, "found", 60)
    neither = both({"op": "neq", "path": "colour", "value": "red"}, {"op": "not", "of": TOUCHES_RED})
    said = find("pieces", both(eq("turn", "left"), {"op": "not", "of": neither}))
    assert objective_of(said, scenes, labels) == objective_of(TRUTH, scenes, labels)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (either(eq("turn", "down"), eq("colour", "green")), "not among the candidates read off the examples"),
        (either(eq("turn", "up"), both(eq("turn", "left"), eq("colour", "red"))), "an and inside an or"),
    ],
)
def test_what_is_no_candidate_is_outside(where: JSON, message: str) -> None:
    scenes, labels = labelled(TRUTH, "outside", 30)
    with pytest.raises(OutsideGrammarError, match=message):
        objective_of(find("pieces", where), scenes, labels, {"max_disjunctions": 1})


def test_exports_keep_the_disjunction() -> None:
    scenes, _ = labelled(TRUTH, "export", 20)
    space: dict[str, JSON] = {}
    exec(export_check(TRUTH, "python"), space)
    assert [space["passes"](scene) for scene in scenes] == [
        run_check(scene, TRUTH).passed for scene in scenes
    ]
    assert ":-" in export_check(TRUTH, "las")


@pytest.mark.parametrize("seed", range(6))
def test_claimed_optimum_over_disjunctions_is_the_exhaustive_one(seed: int) -> None:
    rng = random.Random(f"exhaustive-{seed}")
    scenes: list[JSON] = [
        {
            "xs": [
                {"k": rng.choice("abc"), "m": rng.choice("uvw"), "t": rng.choice("xyz")}
                for _ in range(rng.randrange(4))
            ]
        }
        for _ in range(18)
    ]
    truth = compile_check(find("xs", both(eq("t", "x"), either(eq("k", "a"), eq("m", "u"))))).passes
    labels = [False, True] + [truth(scene) for scene in scenes[2:]]
    grammar = Grammar(
        operators=("eq", "neq", "find", "not"),
        index_paths=False,
        keyed_paths=False,
        cross_field=False,
        max_set=1,
    )
    examples = Examples.of(scenes, labels)
    model = description_length(profile(examples.scenes, grammar, 1), grammar, examples)
    xs = model.root.children["xs"]
    assert model.disjunctions is not None
    inner = [one.literal for one in model.disjunctions.of(xs)]
    for path, column in xs.columns.items():
        inner += [
            Literal(PathTest("eq", path, value), negated)
            for value in column.distinct
            for negated in (False, True)
        ]
    best = min(
        total
        for size in (1, 2)
        for where in combinations(inner, size)
        for negated in (False, True)
        for total in _charged(Literal(Collect("find", "xs", where), negated), model, examples)
    )
    options: dict[str, Any] = {"max_terms": 1, "max_literals": 1, "max_where": 2, "max_nesting": 1}
    result = learn_check(scenes, labels, grammar, penalty=PENALTY, time_limit=60, **options)
    assert result.optimal
    assert result.objective == bits(best)
    assert objective_of(result.check, scenes, labels, grammar, penalty=PENALTY, **options).total == bits(best)


def _charged(literal: Literal, model: DescriptionLength, examples: Examples) -> list[int]:
    """The objective of a literal that is no constant answer."""
    passes = compile_check(literal_check(literal)).passes
    verdicts = [passes(scene) for scene in examples.scenes]
    if all(verdicts) or not any(verdicts):
        return []
    wrong = sum(verdict is not label for verdict, label in zip(verdicts, examples.passing, strict=True))
    return [model.literal(model.root, literal, 2) + units(PENALTY) * wrong]

"""What is claimed optimal is optimal: the learner against exhaustive search over small grammars.

The judge below enumerates checks its own way (every observed constant, every number of a fine
grid as a bound), prices them with the public cost model, grades them with the standard
evaluator and takes the cheapest disjunction of conjunctions by dynamic programming over truth
vectors. It shares no code with the proposers or the search.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from contextlib import suppress
from itertools import combinations, permutations
from operator import itemgetter
from typing import Any

import pytest

from evaluator import compile_check
from induce import OutsideGrammarError, learn_check, objective_of
from induce.costs import DescriptionLength
from induce.examples import Examples
from induce.grammar import Grammar, bits, units
from induce.literals import Alternatives, Bound, Collect, Literal, Members, OtherPath, PathTest, literal_check
from induce.noise import NoiseModel
from induce.profile import Scope, profile
from induce.value_sets import ValueSets

JSON = Any
PENALTY = 14.0
JOIN = units(2)


def random_scene(rng: random.Random) -> dict[str, JSON]:
    scene: dict[str, JSON] = {"on": rng.random() < 0.5, "n": rng.choice([1, 2, 3.5, 7, None])}
    if rng.random() < 0.7:
        scene["tag"] = rng.choice(["red fox", "red hen", "owl"])
    scene["xs"] = [
        {"k": rng.choice("ab"), "w": rng.randrange(4)} if rng.random() < 0.9 else rng.randrange(3)
        for _ in range(rng.randrange(4))
    ]
    return scene


def scene_of_other_forms(rng: random.Random) -> dict[str, JSON]:
    """Words in several cases, arrays as values, lengths and paths that may be compared."""
    scene: dict[str, JSON] = {"n": rng.choice([1, 2, 3, "2"]), "m": rng.choice([1, 2, 2.5, 3])}
    scene["note"] = rng.choice(["Red fox", "red hen", "a RED owl", "none"])
    scene["to"] = rng.choice(["a", "b", None])
    scene["by"] = rng.choice(["a", "b", "c", None])
    scene["tags"] = rng.choice([[], ["x"], ["x", 1], ["x", True], {}, {"0": "x"}])
    scene["xs"] = [
        {"k": rng.randrange(3), "w": rng.choice([0, 1, 2, None]), "t": rng.choice([[], ["p"], ["q", "p"]])}
        for _ in range(rng.randrange(4))
    ]
    return scene


def path_tests(scope: Scope, model: DescriptionLength) -> list[Literal]:
    found: list[Literal] = []
    for path, column in scope.columns.items():
        found += [Literal(PathTest(op, path)) for op in ("exists", "missing")]
        for value in column.distinct:
            found += [Literal(PathTest("eq", path, value), negated) for negated in (False, True)]
        grid = sorted({0} | {n + step for n in column.numbers for step in (-0.5, 0, 0.5)})
        found += [Literal(PathTest(op, path, Bound.exactly(n))) for n in grid for op in ("gte", "lte")]
        for token in model.tokens(column):
            found += [Literal(PathTest("contains", path, token), negated) for negated in (False, True)]
        for token in model.caseless_tokens(column):
            found += [Literal(PathTest("contains", path, token, True), n) for n in (False, True)]
        for array in column.values:
            if isinstance(array, list):
                found += [Literal(PathTest("eq", path, Members(tuple(array))), n) for n in (False, True)]
    for one, other in permutations([*scope.columns, *scope.lengths], 2):
        for op in ("eq", "gte", "lte"):
            found += [Literal(PathTest(op, one, OtherPath(other)), n) for n in (False, True)]
    return [literal for literal in (*found, *sets(scope, model)) if in_grammar(literal, scope, model)]


def sets(scope: Scope, model: DescriptionLength) -> Iterable[Literal]:
    """Every set of two to five values, or words, of every path."""
    for path, column in scope.columns.items():
        for op, constants, folded in (
            ("eq", column.distinct, False),
            ("contains", list(model.tokens(column)), False),
            ("contains", list(model.caseless_tokens(column)), True),
        ):
            for size in range(2, 6):
                for chosen in combinations(constants, size):
                    test = PathTest(op, path, Alternatives(chosen), folded)
                    yield from (Literal(test, negated) for negated in (False, True))


def in_grammar(literal: Literal, scope: Scope, model: DescriptionLength) -> bool:
    try:
        model.literal(scope, literal, 0)
    except OutsideGrammarError:
        return False
    return True


def is_bound(literal: Literal) -> bool:
    return isinstance(literal.atom, PathTest) and isinstance(literal.atom.value, Bound)


def literals_of(root: Scope, model: DescriptionLength, max_where: int) -> Iterable[Literal]:
    yield from path_tests(root, model)
    for name, child in root.children.items():
        inner = path_tests(child, model)
        wheres: list[tuple[Literal, ...]] = [()]
        for size in range(1, max_where + 1):
            wheres += combinations(inner, size)
        for where in wheres:
            if where:
                yield from (Literal(Collect("find", name, where), negated) for negated in (False, True))
            for bound in ("gte", "lte", "eq"):
                yield from (Literal(Collect("count", name, where, (bound, k))) for k in range(1, 5))
            for least, most in combinations(range(1, 5), 2):
                yield Literal(Collect("count", name, where, ("gte", least), most))
        denied = [test._replace(negated=True) for test in inner if is_bound(test)]
        for where in wheres:
            if len(where) < max_where:
                yield from (Literal(Collect("find", name, (*where, out)), True) for out in denied)


def cheapest(
    scenes: list[JSON],
    labels: list[str],
    max_terms: int,
    max_literals: int,
    max_where: int,
    grammar: Grammar,
    penalty: float | str = PENALTY,
) -> float:
    """The least objective of the grammar, by exhaustion."""
    examples = Examples.of(scenes, labels)
    root = profile(examples.scenes, grammar, 1)
    model = DescriptionLength(root, grammar, ValueSets(root, grammar, examples))
    full = (1 << len(examples.scenes)) - 1
    wanted = sum(1 << i for i, label in enumerate(examples.passing) if label)
    noise = NoiseModel.of(penalty, examples.weight)
    charge = [noise.cost(errors) for errors in range(len(labels) + 1)]

    def total(truth: int, cost: int) -> int:
        wrong = truth ^ wanted
        return cost - JOIN + charge[int(sum(w for i, w in enumerate(examples.weights) if wrong >> i & 1))]

    single: dict[int, int] = {}
    least = 1 << 60
    for cost, literal in priced(literals_of(root, model, max_where), root, model, max_where):
        if cost >= least:  # whatever says this literal, or one as dear, costs as much
            break
        check = compile_check(literal_check(literal))
        truth = sum(1 << i for i, scene in enumerate(examples.scenes) if check.passes(scene))
        single.setdefault(truth, cost + JOIN)
        if truth not in (0, full):
            least = min(least, total(truth, cost + JOIN))
    terms = combined(single, max_literals, lambda a, b: a & b)
    hypotheses = combined(terms, max_terms, lambda a, b: a | b)
    return bits(min(total(truth, cost) for truth, cost in hypotheses.items() if truth not in (0, full)))


def priced(
    literals: Iterable[Literal], root: Scope, model: DescriptionLength, max_where: int
) -> list[tuple[int, Literal]]:
    """The literals of the grammar and what each costs, the cheapest first."""
    found = []
    for literal in literals:
        with suppress(OutsideGrammarError):
            found.append((model.literal(root, literal, max_where), literal))
    return sorted(found, key=itemgetter(0))


def combined(parts: dict[int, int], most: int, join: Any) -> dict[int, int]:
    best = dict(parts)
    for _ in range(most - 1):
        longer = dict(best)
        for one, cost in best.items():
            for other, extra in parts.items():
                truth = join(one, other)
                if cost + extra < longer.get(truth, 1 << 60):
                    longer[truth] = cost + extra
        best = longer
    return best


FORMS = [None] * 8 + [(), ("gte", "eq", "not"), ("lte", "neq", "contains", "find")] * 2


@pytest.mark.parametrize(("seed", "operators"), list(enumerate(FORMS)))
def test_claimed_optimum_is_the_exhaustive_one(seed: int, operators: tuple[str, ...] | None) -> None:
    rng = random.Random(f"optimal-{seed}")
    make = random_scene if operators is None else scene_of_other_forms
    grammar = Grammar(operators=operators) if operators else Grammar()
    scenes = [make(rng) for _ in range(rng.randrange(5, 8))]
    labels = ["pass", "fail"] + [rng.choice(["pass", "fail"]) for _ in scenes[2:]]
    judged = cheapest(scenes, labels, 2, 2, 2, grammar)
    limits: dict[str, Any] = {"max_terms": 2, "max_literals": 2, "max_where": 2, "max_nesting": 1}
    limits["grammar"] = grammar
    for engine in ("auto", "asp", "enumerate"):
        result = learn_check(scenes, labels, engine=engine, penalty=PENALTY, time_limit=30, **limits)
        assert result.lower_bound <= judged
        assert result.objective >= judged
        if result.optimal:
            assert result.objective == judged
        if engine != "enumerate" and result.objective < PENALTY * min(result.counts.values()):
            assert result.optimal
        stated = objective_of(result.check, scenes, labels, penalty=PENALTY, **limits)
        assert stated.total == result.objective


@pytest.mark.parametrize("seed", range(12))
def test_an_optimum_with_errors_is_proved_though_their_cost_is_concave(seed: int) -> None:
    """Where errors are many, no one rate for them bounds all hypotheses tightly."""
    rng = random.Random(f"concave-{seed}")
    fields, size = "abcde", rng.choice([40, 60])
    scenes = [{name: rng.choice([True, False]) for name in fields} for _ in range(size)]
    truth = [scene["a"] and (scene["b"] or scene["c"]) for scene in scenes]
    labels = ["pass" if right ^ (rng.random() < 0.2) else "fail" for right in truth]
    grammar = Grammar(operators=("eq", "not"))
    judged = cheapest(scenes, labels, 3, 2, 1, grammar, "auto")
    result = learn_check(scenes, labels, grammar, max_terms=3, max_literals=2, max_nesting=0, time_limit=30)
    assert result.objective == judged
    noise = NoiseModel.of("auto", size)
    constant = min(labels.count("pass"), labels.count("fail"))
    assert result.optimal == (judged <= bits(noise.cost(constant)))


@pytest.mark.parametrize(
    ("passing", "failing", "cheaper"),
    [
        (
            [{"alerts": [], "cpu": cpu} for cpu in (10, 35, 50, 81)],
            [{"alerts": [{"level": "high"}] * n, "cpu": cpu} for n, cpu in ((1, 30), (2, 52), (1, 12))],
            {
                "op": "not",
                "of": {
                    "op": "find",
                    "collection": "alerts",
                    "where": {"op": "eq", "path": "level", "value": "high"},
                },
            },
        ),
        (
            [[{"k": "a"}, {"k": "b"}], [{"k": "a"}]],
            [[{"k": "b"}], [{"k": "c"}, {"k": "b"}]],
            {"op": "find", "collection": "", "where": {"op": "eq", "path": "k", "value": "a"}},
        ),
        (
            [{"items": [5, 25, 100]}, {"items": [3, 0]}, {"items": []}, {"items": [1, 2, 3, 10]}],
            [{"items": "q"}, {"items": None}, {"items": "w"}],
            {"op": "count", "collection": "items", "where": {"op": "lte", "path": "", "value": 0}, "lte": 1},
        ),
        (
            [{"t": t} for t in (-5, -2, 3, 8)],
            [{"t": None}, {}, {"t": "12"}, {"t": [3]}],
            {"op": "lte", "path": "t", "value": 10},
        ),
    ],
)
def test_claimed_optimum_is_not_undercut(passing: list[JSON], failing: list[JSON], cheaper: JSON) -> None:
    scenes, labels = passing + failing, ["pass"] * len(passing) + ["fail"] * len(failing)
    result = learn_check(scenes, labels)
    assert result.objective <= objective_of(cheaper, scenes, labels).total
    assert result.optimal
    for tie in result.alternatives:
        assert objective_of(tie, scenes, labels).total == result.objective


@pytest.mark.parametrize("weight", [0, 1e-9, 1e-4, 1e-3, 0.01, 1])
@pytest.mark.parametrize("label", ["pass", "fail"])
def test_light_scenes_hide_no_bound(weight: float, label: str) -> None:
    scenes = [{"n": n} for n in (1, 2, 3, 5, 7, 8, 9)]
    labels = ["pass"] * 3 + [label] + ["fail"] * 3
    weights = [1, 1, 1, weight, 1, 1, 1]
    result = learn_check(scenes, labels, sample_weight=weights)
    bound = {"op": "lte", "path": "n", "value": 6}
    assert result.lower_bound <= objective_of(bound, scenes, labels, sample_weight=weights).total
    assert result.check["op"] == "lte"


def test_many_light_scenes_pay_together() -> None:
    passing = [{"k": "a", "m": True, "i": i} for i in range(44)]
    failing = [{"k": "b", "m": False, "i": i + 2000} for i in range(20)]
    failing += [{"k": "c", "m": True, "i": 3000 + i} for i in range(2)]
    options: dict[str, Any] = {"sample_weight": [1] * 4 + [0.06] * 40 + [1] * 22, "penalty": 1}
    scenes, labels, grammar = passing + failing, ["pass"] * 44 + ["fail"] * 22, {"exclude": ["i"]}
    result = learn_check(scenes, labels, grammar, **options)
    truth = {"op": "eq", "path": "k", "value": "a"}
    assert result.lower_bound <= objective_of(truth, scenes, labels, grammar, **options).total


def test_bounds_that_no_number_meets_are_outside() -> None:
    scenes = [{"items": [{"n": 1}, {"n": 2}]}, {"items": "q"}]
    beyond = {"op": "count", "collection": "items", "where": {"op": "lte", "path": "n", "value": 0}, "lte": 1}
    with pytest.raises(OutsideGrammarError, match="no number observed"):
        objective_of(beyond, scenes, ["pass", "fail"])


NAMES = [{"id": f"u{number}"} for number in range(60)]
HELD = {"op": "neq", "path": "id", "value": "u0"}


@pytest.mark.parametrize(
    ("passing", "failing", "operators", "truth"),
    [
        (
            [{"of": NAMES[n : n + 10]} for n in range(0, 60, 10)] + [{"of": []}] * 6,
            [{"of": "none"}] * 12,
            ["eq", "count"],
            {"op": "count", "collection": "of", "where": HELD | {"op": "eq"}, "lte": 1},
        ),
        (
            [{"of": NAMES[n : n + 3]} for n in range(0, 36, 3)],
            [{"of": []}] * 12,
            ["neq", "find"],
            {"op": "find", "collection": "of", "where": HELD},
        ),
        (
            [{"of": []}] * 12,
            [{"of": NAMES[n : n + 3]} for n in range(0, 36, 3)],
            ["neq", "find", "not"],
            {"op": "not", "of": {"op": "find", "collection": "of", "where": HELD}},
        ),
        (
            [{"of": [{"in": NAMES[n : n + 3]}]} for n in range(0, 36, 3)],
            [{"of": [{"in": []}]}] * 12,
            ["neq", "find"],
            {"op": "find", "collection": "of", "where": {"op": "find", "collection": "in", "where": HELD}},
        ),
    ],
)
def test_a_rare_value_may_serve_to_say_that_there_are_elements(
    passing: list[JSON], failing: list[JSON], operators: list[str], truth: JSON
) -> None:
    scenes, labels = passing + failing, ["pass"] * len(passing) + ["fail"] * len(failing)
    options: dict[str, Any] = {"penalty": 3, "max_terms": 1}
    options["grammar"] = {"operators": operators, "arrays": False, "lengths": False, "index_paths": False}
    result = learn_check(scenes, labels, **options)
    assert result.optimal
    assert result.objective == objective_of(truth, scenes, labels, **options).total

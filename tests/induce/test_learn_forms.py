"""The forms of the language beyond scalars at plain paths: each is found, priced, switched off and turned."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from evaluator import compile_check, sentence
from induce import Grammar, OutsideGrammarError, export_check, learn_check, objective_of
from induce.costs import DescriptionLength
from induce.edits import smallest_change
from induce.export.core import OutsideCoreError
from induce.literals import literal_check
from induce.objective import parse_hypothesis
from induce.profile import Scope, profile
from induce.proposers.collection import PathTests

JSON = Any


def ticket(rng: random.Random) -> JSON:
    """Words in several cases, a tag list, free text, two names and two numbers of one range."""
    names = ["ann", "bob", "cyd", "dan"]
    subject = rng.choice(
        ["Refund please", "about a refund", "refund", "REFUND NOW", "new Invoice", "an invoice", "hello"]
    )
    return {
        "subject": subject,
        "text": " ".join(
            rng.choice(["so", "it", "goes", "again", "under"]) for _ in range(rng.randrange(1, 30))
        ),
        "author": rng.choice(names),
        "approver": rng.choice(names),
        "spent": rng.randrange(0, 100),
        "budget": rng.randrange(0, 100) + rng.choice([0, 0.5]),
        "flags": rng.choice([[], ["late"], ["late", "vip"], ["vip"]]),
        "steps": [
            {"asked": rng.randrange(20), "given": rng.randrange(20), "by": rng.choice(names)}
            for _ in range(rng.randrange(6))
        ],
        "legs": [
            {"price": rng.choice([None, *range(5, 99)]), "open": rng.random() < 0.5}
            for _ in range(rng.randrange(1, 4))
        ],
        "n_steps": rng.randrange(6),
        "log": [rng.randrange(5) for _ in range(rng.randrange(16))],
        "grid": [[rng.randrange(4) for _ in range(2)] for _ in range(rng.randrange(4))],
        "parcels": [
            {"marks": marks, "weight": rng.randrange(1, 30), "n": rng.randrange(5)}
            for marks in (["fragile"], ["gift", "blue"], ["large", "gift"][: rng.randrange(1, 3)])
            if rng.random() < 0.8
        ],
    }


class Form(NamedTuple):
    truth: JSON
    switch: dict[str, JSON]
    """The grammar without the form."""
    core: bool = True
    """Whether the core profile has it."""


def path_test(op: str, path: str, value: JSON) -> JSON:
    return {"op": op, "path": path, "value": value}


def denied(op: str, path: str, value: JSON) -> JSON:
    return {"op": "not", "of": path_test(op, path, value)}


FORMS = {
    "words in any case": Form(
        {"op": "contains", "path": "subject", "substring": "refund", "ci": True}, {"ignore_case": False}
    ),
    "length of a text": Form(path_test("gte", "text.length", 60), {"lengths": False}),
    "length of an array": Form(path_test("gte", "log.length", 10), {"lengths": False}),
    "an empty array": Form(path_test("eq", "flags", []), {"arrays": False}),
    "a whole array": Form(path_test("eq", "flags", ["late", "vip"]), {"arrays": False}),
    "any other array": Form(path_test("neq", "flags", ["late"]), {"arrays": False}),
    "look-up by a member": Form(
        path_test("gte", "parcels[marks has fragile].weight", 15), {"having_paths": False}
    ),
    "equal fields": Form(
        {"op": "eq", "path": "approver", "value_path": "author"}, {"cross_field": False}, core=False
    ),
    "different fields": Form(
        {"op": "neq", "path": "approver", "value_path": "author"}, {"cross_field": False}, core=False
    ),
    "ordered fields": Form(
        {"op": "lte", "path": "spent", "value_path": "budget"}, {"cross_field": False}, core=False
    ),
    "strictly ordered fields": Form(
        {"op": "not", "of": {"op": "gte", "path": "budget", "value_path": "spent"}},
        {"cross_field": False},
        core=False,
    ),
    "a number that counts": Form(
        {"op": "eq", "path": "n_steps", "value_path": "steps.length"}, {"cross_field": False}, core=False
    ),
    "fields of an element": Form(
        {"op": "find", "collection": "steps", "where": {"op": "gte", "path": "given", "value_path": "asked"}},
        {"cross_field": False},
        core=False,
    ),
    "a range of counts": Form(
        {"op": "count", "collection": "steps", "where": path_test("eq", "by", "ann"), "gte": 1, "lte": 2},
        {"count_ranges": False},
    ),
    "a bound on every element": Form(
        {"op": "not", "of": {"op": "find", "collection": "legs", "where": denied("gte", "price", 20)}},
        {"every": False},
    ),
    "a bound on every element of a kind": Form(
        {
            "op": "not",
            "of": {
                "op": "find",
                "collection": "legs",
                "where": {"op": "and", "of": [path_test("eq", "open", True), denied("lte", "price", 60)]},
            },
        },
        {"every": False},
    ),
    "elements that are scalars": Form(
        {"op": "find", "collection": "log", "where": path_test("eq", "", 4)}, {"operators": ["exists"]}
    ),
    "arrays in arrays": Form(
        {
            "op": "find",
            "collection": "grid",
            "where": {"op": "find", "collection": "", "where": path_test("eq", "", 3)},
        },
        {"operators": ["exists"]},
    ),
}
SCENES = [ticket(random.Random(f"ticket-{seed}")) for seed in range(240)]


def labels_of(truth: JSON) -> list[bool]:
    check = compile_check(truth)
    return [check.passes(scene) for scene in SCENES]


@pytest.mark.parametrize("name", FORMS)
def test_the_form_is_found_and_proved(name: str) -> None:
    labels = labels_of(FORMS[name].truth)
    result = learn_check(SCENES[:120], labels[:120], time_limit=30)
    learnt = compile_check(result.check)
    assert [learnt.passes(scene) for scene in SCENES[120:]] == labels[120:]
    assert not result.misclassified
    assert result.optimal
    assert objective_of(result.check, SCENES[:120], labels[:120]).total == result.objective
    assert result.objective <= objective_of(FORMS[name].truth, SCENES[:120], labels[:120]).total


@pytest.mark.parametrize("name", FORMS)
def test_the_form_is_switched_off(name: str) -> None:
    truth, switch = FORMS[name].truth, FORMS[name].switch
    labels = labels_of(truth)
    with pytest.raises(OutsideGrammarError):
        objective_of(truth, SCENES, labels, switch)
    assert objective_of(truth, SCENES, labels).size > 0


@pytest.mark.parametrize("name", FORMS)
def test_the_form_is_told_turned_and_exported(name: str) -> None:
    form = FORMS[name]
    labels = labels_of(form.truth)
    assert sentence(form.truth)
    for wanted in (True, False):
        at = labels.index(wanted)
        change = smallest_change(form.truth, SCENES[at], SCENES[:40])
        assert change is not None
        assert compile_check(form.truth).passes(change.scene) is not wanted
    namespace: dict[str, Callable[[JSON], bool]] = {}
    exec(export_check(form.truth, "python"), namespace)
    assert [namespace["passes"](scene) for scene in SCENES] == labels
    if form.core:
        assert export_check(form.truth, "core")
    else:
        with pytest.raises(OutsideCoreError, match='has no "value_path"'):
            export_check(form.truth, "core")


def priced(check: JSON, grammar: JSON = None) -> float:
    return objective_of(check, SCENES, labels_of(FORMS["equal fields"].truth), grammar).size


def test_each_form_costs_more_than_its_plain_one() -> None:
    plain = {"op": "contains", "path": "subject", "substring": "refund"}
    assert priced(plain | {"ci": True}) >= priced(plain) + 2
    assert priced(plain | {"ci": False}) == priced(plain)
    assert priced(plain | {"ci": True, "substring": "Refund"}) == priced(plain | {"ci": True})
    name = path_test("eq", "author", "ann")
    assert priced({"op": "eq", "path": "author", "value_path": "approver"}) >= priced(name) + 2
    assert priced(path_test("eq", "flags", ["vip"])) >= priced(name) + 2
    assert priced(path_test("gte", "text.length", 60)) >= priced(path_test("gte", "spent", 60)) + 4


def test_two_paths_are_compared_in_either_order_at_one_price() -> None:
    for op, turned in (("eq", "eq"), ("neq", "neq"), ("gte", "lte")):
        one, other = ("author", "approver") if op in ("eq", "neq") else ("spent", "budget")
        straight = {"op": op, "path": one, "value_path": other}
        assert priced(straight) == priced({"op": turned, "path": other, "value_path": one})


@pytest.mark.parametrize(
    "check",
    [
        {"op": "eq", "path": "author", "value_path": "spent"},
        {"op": "gte", "path": "author", "value_path": "approver"},
        {"op": "eq", "path": "author", "value_path": "author"},
        {"op": "eq", "path": "author", "value_path": ""},
        {"op": "eq", "path": "author", "value_path": "nowhere"},
        path_test("eq", "flags", ["late", ["vip"]]),
        path_test("eq", "flags", [True]),
        path_test("eq", "log", [1, 2, 3]),
        path_test("gte", "author.length", 3),
        {"op": "exists", "path": "text.length"},
        {"op": "contains", "path": "subject", "substring": "hello", "ci": True},
        path_test("eq", "author", "ann") | {"ci": True},
    ],
)
def test_what_nothing_suggests_is_outside(check: JSON) -> None:
    with pytest.raises(OutsideGrammarError):
        priced(check)


def test_identifiers_are_joined_but_hardly_ordered() -> None:
    scenes = [
        {
            "made": 1_700_000_000 + 60 * n,
            "sent": 1_700_000_000 + 61 * n,
            "id": n,
            "parent_id": n - n % 2,
            "k": n,
        }
        for n in range(12)
    ]
    labels = [n % 2 == 0 for n in range(12)]

    def price(op: str, path: str, other: str) -> float:
        return objective_of({"op": op, "path": path, "value_path": other}, scenes, labels).size

    assert price("gte", "sent", "made") + 4 == price("gte", "parent_id", "id")
    assert price("eq", "parent_id", "id") == price("gte", "sent", "made")
    assert learn_check(scenes, labels).check == {"op": "eq", "path": "id", "value_path": "parent_id"}


def test_json_types_are_kept_apart() -> None:
    values: list[JSON] = [1, 1.0, True, "1", None, 0, False, [1], {"0": 1}]
    scenes = [{"v": value, "w": [value]} for value in values]
    labels = [value == 1 and not isinstance(value, bool) for value in values]
    result = learn_check(
        scenes, labels, {"exclude": ["v", "w[0]"], "index_paths": False, "operators": ["eq"]}
    )
    assert result.check == path_test("eq", "w", [1])
    assert not result.misclassified


def test_huge_numbers_are_compared_exactly() -> None:
    scenes = [{"a": 2**60 + n, "b": 2**60 + n - n % 3 + 1} for n in range(12)]
    scenes += [{"a": 10**400, "b": 10**400 + 1}]
    labels = [scene["a"] >= scene["b"] for scene in scenes]
    result = learn_check(scenes[:-1], labels[:-1])
    assert not result.misclassified
    assert "value_path" in result.check
    assert learn_check(scenes, labels).counts == {"pass": sum(labels), "fail": len(labels) - sum(labels)}


@pytest.mark.parametrize(
    "operators", [("gte",), ("lte",), ("gte", "lte"), ("gte", "lte", "not"), ("eq",), ("neq",)]
)
def test_only_operators_of_the_grammar_are_said(operators: tuple[str, ...]) -> None:
    labels = labels_of(FORMS["ordered fields"].truth)
    grammar = Grammar(operators=operators)
    result = learn_check(SCENES[:80], labels[:80], grammar, time_limit=10, max_terms=1)
    assert objective_of(result.check, SCENES[:80], labels[:80], grammar).total == result.objective


HOSTILE: list[JSON] = [
    *(
        "İstanbul x",
        "istanbul X",
        "ΟΔΟΣ a",
        "οδος A",
        "straße b",
        "STRASSE B",
        "😀 A",
        "a",
        "A",
        "",
        "length",
    ),
    *(1, 1.0, True, False, 0, None, -0.0, 2.5, 2**53 + 1, float(2**53), 10**25, 1e25, 1_700_000_000),
    *([], [1], [1.0], [True], ["1"], [None], ["a", "b"], ["A", "b"], [[]], [{}]),
    *({}, {"0": 1}, {"length": 2}, {"0": "a", "1": "b"}),
]


def hostile_scene(rng: random.Random) -> JSON:
    def some(*keys: str) -> dict[str, JSON]:
        return {key: rng.choice(HOSTILE) for key in keys if rng.random() < 0.8}

    tags = ["a", "b c", "d=e", "has"]
    return {
        **some("p", "q", "r", "length", "0"),
        "o": some("p", "q"),
        "xs": [
            some("t", "u", "v") if rng.random() < 0.8 else rng.choice(HOSTILE)
            for _ in range(rng.randrange(4))
        ],
        "ys": [
            {"tags": rng.sample(tags, rng.randrange(3)), "n": rng.randrange(4), "m": rng.randrange(4)}
            for _ in range(rng.randrange(3))
        ],
    }


def scopes(scope: Scope) -> Iterator[Scope]:
    yield scope
    for child in scope.children.values():
        yield from scopes(child)


@pytest.mark.parametrize("seed", range(20))
def test_candidates_are_what_the_evaluator_and_the_cost_model_say(seed: int) -> None:
    rng = random.Random(f"hostile-{seed}")
    root = profile([hostile_scene(rng) for _ in range(rng.randrange(3, 14))], Grammar(), 2)
    cost = DescriptionLength(root, Grammar())
    tests = PathTests(cost)
    for scope in scopes(root):
        for candidate in tests.of(scope):
            check = literal_check(candidate.literal)
            passes = compile_check(check).passes
            assert [passes(row) for row in scope.rows] == candidate.mask.tolist(), check
            ((literal,),) = parse_hypothesis(check, 1, 1, cost)
            assert cost.literal(scope, literal, 3) == candidate.cost, check


def test_half_a_character_is_no_constant() -> None:
    scenes = [{"xs": [{"0": "a"}, "😀"]}, {"xs": [{"0": "b"}, "x"]}, {"xs": ["😀"]}, {"xs": [{"0": "b"}]}]
    assert learn_check(scenes, ["pass", "fail", "pass", "fail"]).misclassified == ()

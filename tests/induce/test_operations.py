"""Operators over traces and worlds in the learner: truth, prices, what is found, switches, vacuity."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_scenes import TOOLS, run

from evaluator import compile_check, run_check
from induce import Grammar, OutsideGrammarError, explain_scene, export_check, learn_check, objective_of
from induce.costs import DescriptionLength
from induce.examples import Examples
from induce.grammar import OPERATIONS, bits
from induce.literals import Literal, literal_check
from induce.operations import Operations
from induce.profile import profile
from induce.proposers.operations import operations
from induce.vacuity import vacuous, vacuous_share
from induce.value_sets import ValueSets

JSON = Any


def named(*names: str) -> JSON:
    tests = [{"op": "eq", "path": "name", "value": name} for name in names]
    return tests[0] if len(tests) == 1 else {"op": "or", "of": tests}


def before(first: JSON, then: JSON, *same: str) -> JSON:
    shared = {} if not same else {"same": same[0] if len(same) == 1 else list(same)}
    return {"op": "trace.before", "collection": "trace.steps", "first": first, "then": then, **shared}


def no(check: JSON) -> JSON:
    return {"op": "not", "of": check}


def find(where: JSON) -> JSON:
    return {"op": "find", "collection": "trace.steps", "where": where}


def costs_of(
    scenes: list[JSON], labels: list[bool], grammar: JSON = None
) -> tuple[DescriptionLength, Examples]:
    language = Grammar.of(grammar)
    examples = Examples.of(scenes, labels)
    root = profile(examples.scenes, language, 2)
    return DescriptionLength(root, language, ValueSets(root, language, examples)), examples


def labelled(truth: JSON, seed: str, most: int, **options: bool) -> tuple[list[JSON], list[bool]]:
    """As many scenes of each label as there are of the rarer."""
    rng = random.Random(seed)
    passes = compile_check(truth).passes
    scenes = [run(rng, **options) for _ in range(12 * most)]
    sides = [[scene for scene in scenes if passes(scene) is side][:most] for side in (True, False)]
    most = min(map(len, sides))
    return sides[0][:most] + sides[1][:most], [True] * most + [False] * most


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_truth_is_the_evaluators_and_every_candidate_is_priced_as_it_is_read(seed: int, bare: bool) -> None:
    rng = random.Random(seed)
    scenes = [run(rng, odd=True, bare=bare) for _ in range(24)]
    cost, examples = costs_of(scenes, [i % 2 == 0 for i in range(24)])
    if cost.operations is None:  # hardly any step has a name
        return
    for found in cost.operations.all():
        for at in rng.sample(range(len(found.keys)), min(12, len(found.keys))):
            operation = found.operation(at)
            check = literal_check(Literal(operation))
            said = list(map(compile_check(check), examples.scenes))
            assert [one.passed for one in said] == found.passes[at].tolist(), check
            failed = [not one.passed and (one.meta or {}).get("status") != "not_evaluated" for one in said]
            assert failed == found.fails[at].tolist(), check
            assert cost.literal(cost.root, Literal(operation), 3) == found.costs[at], check


@pytest.mark.parametrize("odd", ["", " ", "a.b", "a[0]", '"', "name=x", "a\nb", "\N{BUG}", "İ"])
def test_a_tool_of_any_name_is_asked_for_only_in_checks_that_can_be_used(odd: str) -> None:
    calls = [("get", odd), (odd, "get"), (odd,), ("get",), ("get", odd, "get"), (odd, odd)]
    scenes = [
        {
            "trace": {
                "steps": [{"type": "tool_call", "name": name, "args": {"x": "1", odd: "2"}} for name in names]
            }
        }
        for names in calls * 2
    ]
    cost, _ = costs_of(scenes, ["get" in names and names[0] != "get" for names in calls * 2])
    assert cost.operations is not None
    proposed = [found.operation(at) for found in cost.operations.all() for at in range(len(found.keys))]
    for operation in proposed:
        compile_check(literal_check(Literal(operation)))
    assert proposed


def test_amounts_beyond_all_doubles_are_summed_and_bounded() -> None:
    scenes: list[JSON] = [
        {
            "trace": {"steps": [{"type": "tool_call", "name": "a"}]},
            "world": {"r": [{"id": 10**400, "amount": amount}, {"id": 2, "amount": 1e308}]},
        }
        for amount in (1, 10**400, 5, 10**401)
    ]
    result = learn_check(scenes, [True, False, True, False], time_limit=5)
    assert result.misclassified == ()


def test_every_family_is_tried() -> None:
    rng = random.Random(4)
    scenes = [run(rng) for _ in range(60)]
    cost, _ = costs_of(scenes, [i % 2 == 0 for i in range(60)])
    assert cost.operations is not None
    assert sorted({found.family.op for found in cost.operations.all()}) == sorted(OPERATIONS)


ORDER = before(named("get_order"), named("pay_order", "refund_order", "ship_order"), "args.order_id")
TRUTHS: dict[str, JSON] = {
    "order": before(named("get_order"), named("pay_order")),
    "order of one thing": ORDER,
    "order of a class": before(
        named("get_order", "list_orders", "search_shop"), named("pay_order", "refund_order", "ship_order")
    ),
    "order with a value": before(
        {"op": "and", "of": [named("get_order"), {"op": "eq", "path": "status", "value": "ok"}]},
        named("ship_order"),
    ),
    "in order": {"op": "trace.tools_called_in_order", "tools": ["search_shop", "get_order"]},
    "per order": {
        "op": "behaviour.tool_cardinality",
        "tool": "refund_order",
        "per": "order_id",
        "at_most": 1,
    },
    "partial order": {"op": "behaviour.trajectory_partial_order", "order": [["get_order", "ship_order"]]},
    "cycles": {"op": "behaviour.no_tool_cycles", "period": 1, "min_repeats": 2},
    "streaks": {"op": "behaviour.max_tool_failure_streak", "max_streak": 0},
    "grounded": {"op": "trace.grounded", "tool": "pay_order", "arg": "order_id"},
    "unique": {"op": "effect.world_unique", "resource": "refunds", "by": "refund_id"},
    "summed": {"op": "effect.world_sum", "resource": "refunds", "field": "amount", "at_most": 18},
    "summed and joined": {
        "op": "effect.world_sum",
        "resource": "refunds",
        "field": "amount",
        "at_most": {"resource": "orders", "field": "total", "on": "order_id"},
    },
    "matching": {
        "op": "effect.world_matches",
        "resource": "refunds",
        "field": "customer",
        "rel": {"resource": "orders", "field": "customer", "on": "order_id"},
    },
}


@pytest.mark.parametrize("name", TRUTHS)
def test_a_rule_is_found_and_no_dearer_than_the_truth(name: str) -> None:
    truth = TRUTHS[name]
    scenes, labels = labelled(truth, name, 40)
    result = learn_check(scenes, labels, {"max_count": 2, "cross_field": False}, time_limit=20)
    language = {"max_count": 2, "cross_field": False}
    assert result.objective == objective_of(result.check, scenes, labels, language).total
    assert result.lower_bound <= result.objective <= objective_of(truth, scenes, labels, language).total
    unseen, wanted = labelled(truth, f"{name} unseen", 60)
    verdicts = list(map(compile_check(result.check).passes, unseen))
    assert sum(map(bool.__eq__, verdicts, wanted)) >= 0.97 * len(wanted)


def test_a_bare_trace_is_enough() -> None:
    truth = {**ORDER, "collection": "steps"}
    scenes, labels = labelled(truth, "bare", 40, bare=True)
    result = learn_check(scenes, labels, time_limit=20)
    assert result.check["op"] == "trace.before"
    assert result.check["collection"] == "steps"


def test_what_other_operators_say_is_left_to_core_ones() -> None:
    scenes, labels = labelled(no(find(named("refund_order"))), "forbidden", 40)
    result = learn_check(scenes, labels, time_limit=20)
    assert result.check == no(find(named("refund_order")))
    scenes, labels = labelled(find(named("ship_order")), "required", 40)
    assert learn_check(scenes, labels, time_limit=20).check == find(named("ship_order"))


def test_an_order_that_no_scene_keeps_is_no_candidate() -> None:
    """``before`` a tool that never leads would be another way to forbid the tool."""
    scenes, labels = labelled(no(find(named("refund_order"))), "unkept", 40)
    for scene in scenes:
        scene["trace"]["steps"].append({"type": "tool_call", "name": "close", "args": {}})
    with pytest.raises(OutsideGrammarError, match="not a candidate"):
        objective_of(before(named("close"), named("refund_order")), scenes, labels)


def test_a_class_of_tools_costs_less_than_its_members() -> None:
    scenes, labels = labelled(ORDER, "classes", 40)
    writes = ("pay_order", "refund_order", "ship_order")
    whole = objective_of(before(named("get_order"), named(*writes)), scenes, labels).size
    turned = objective_of(before(named("get_order"), named(*writes[::-1])), scenes, labels).size
    single = objective_of(before(named("get_order"), named("pay_order")), scenes, labels).size
    assert single < whole == turned < single + 5
    counted = {"op": "count", "collection": "trace.steps", "where": named(*writes), "lte": 1}
    one = {"op": "count", "collection": "trace.steps", "where": named("pay_order"), "lte": 1}
    assert objective_of(counted, scenes, labels).size < objective_of(one, scenes, labels).size + 5


def test_how_the_calls_of_a_class_are_made_is_looked_into() -> None:
    """Every run has such calls, and steps without the words: by themselves the two tests tell nothing."""
    rng = random.Random(3)
    replies = ["Yes, go on", "please proceed with it", "why is that", "hold on a moment", "no idea so far"]
    writes = ("pay_order", "refund_order", "ship_order")
    scenes = []
    for _ in range(100):
        scene = run(rng)
        scene["trace"]["steps"] += [{"type": "tool_call", "name": rng.choice(writes)}, {"name": "get_order"}]
        for step in scene["trace"]["steps"]:
            step["said"] = f"{rng.choice(replies)} {rng.randrange(100)}"
        scenes.append(scene)
    words = [
        {"op": "contains", "path": "said", "substring": word} for word in ("Yes, go on", "please proceed")
    ]
    truth = no(find({"op": "and", "of": [named(*writes), no({"op": "or", "of": words})]}))
    labels = [compile_check(truth).passes(scene) for scene in scenes]
    assert 10 < sum(labels) < 90
    grammar = {
        "cross_field": False,
        "index_paths": False,
        "exclude": ["world*", "trace.steps.args*"],
        "max_count": 1,
    }
    result = learn_check(
        scenes, labels, grammar, engine="enumerate", max_where=2, max_terms=1, max_literals=1
    )
    assert result.misclassified == ()
    assert result.objective == objective_of(result.check, scenes, labels, grammar, max_where=2).total
    assert "said" in json.dumps(result.check)


def test_words_about_a_whole_run_are_dearer_than_words_of_a_step() -> None:
    rng = random.Random(5)
    scenes = [run(rng) for _ in range(40)]
    for number, scene in enumerate(scenes):
        said = f"it is {'fine' if number % 2 else 'late'} {'x' * number} {number}"
        scene["trace"]["output"]["message"] = said
        scene["note"] = "" if number % 3 else "fine"
    labels = [number % 4 == 1 for number in range(40)]
    word = {"op": "contains", "path": "trace.output.message", "substring": "fine"}
    with_trace = objective_of(word, scenes, labels).size
    without = objective_of(word, scenes, labels, {"operators": ["contains", "find", "eq", "not"]}).size
    assert with_trace == without + 6


def test_switches() -> None:
    scenes, labels = labelled(ORDER, "switches", 30)
    core = [op for op in Grammar().operators if "." not in op]
    for grammar in (
        {"operators": core},
        {"operators": [*core, "effect.*"]},
        {"operators": [*core, "trace.distinct"]},
    ):
        with pytest.raises(OutsideGrammarError, match=r"trace\.before"):
            objective_of(ORDER, scenes, labels, grammar)
    assert objective_of(ORDER, scenes, labels, {"operators": [*core, "trace.before"]}).penalty == 0
    with pytest.raises(OutsideGrammarError):
        objective_of(ORDER, scenes, labels, {"exclude": ["trace.steps*"]})
    with pytest.raises(OutsideGrammarError):
        objective_of(
            no(ORDER), scenes, labels, {"operators": [op for op in core if op != "not"] + ["trace.*"]}
        )
    with pytest.raises(ValueError, match=r"'trace.befor' is not one of .*did you mean 'trace.before'\?"):
        Grammar.of({"operators": ["eq", "trace.befor"]})
    with pytest.raises(OutsideGrammarError, match="of an element"):
        objective_of(find({"op": "trace.distinct"}), scenes, labels)


def test_scenes_without_a_trace_have_no_such_operators() -> None:
    plain = [{"steps": [{"name": "a", "n": i}], "n": i} for i in range(10)]
    cost, _ = costs_of(plain, [i < 5 for i in range(10)])
    assert cost.operations is None
    result = learn_check(plain, [i < 5 for i in range(10)])
    assert result.vacuous is None
    assert "vacuous" not in result.to_check()["meta"]["induction"]
    with pytest.raises(OutsideGrammarError, match="without a trace"):
        objective_of({"op": "trace.distinct"}, plain, [i < 5 for i in range(10)])


def test_it_is_the_same_whatever_the_order_and_the_hash_seed(tmp_path: Path) -> None:
    scenes, labels = labelled(ORDER, "same", 20)
    rows = [
        {"id": str(i), "label": "pass" if p else "fail", "scene": s}
        for i, (s, p) in enumerate(zip(scenes, labels, strict=True))
    ]
    texts = []
    for seed in ("1", "2"):
        random.Random(seed).shuffle(rows)
        source = tmp_path / f"{seed}.jsonl"
        source.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        target = tmp_path / f"{seed}.json"
        command = [sys.executable, "-m", "induce", "learn", str(source), "-o", str(target), "--no-cv", "-q"]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
        texts.append(target.read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["meta"]["induction"]["vacuous"] is not None


def trace(*names: str) -> JSON:
    steps = [{"type": "tool_call", "name": name, "args": {"order_id": "O-1"}} for name in names]
    return {"trace": {"steps": steps}, "world": {"refunds": [{"id": 1, "kind": "card"}]}}


UNMET = [
    (before(named("get_order"), named("pay_order")), trace("get_order"), trace("get_order", "pay_order")),
    (no(find(named("x"))), trace(), trace("get_order")),
    (
        no(find({"op": "and", "of": [named("pay_order"), {"op": "exists", "path": "error"}]})),
        trace("get_order"),
        trace("pay_order"),
    ),
    (
        {"op": "count", "collection": "trace.steps", "where": named("pay_order"), "lte": 1},
        trace("get_order"),
        trace("pay_order"),
    ),
    (TRUTHS["per order"], trace("pay_order"), trace("refund_order")),
    ({"op": "trace.distinct"}, trace(), trace("pay_order")),
    ({"op": "trace.distinct", "tool": "pay_order"}, trace("get_order"), trace("pay_order")),
    (
        {"op": "effect.world_unique", "resource": "refunds", "by": "id", "where": {"kind": "cash"}},
        trace(),
        {**trace(), "world": {"refunds": [{"id": 1, "kind": "cash"}]}},
    ),
]


@pytest.mark.parametrize(("check", "empty", "borne_out"), UNMET)
def test_what_passes_only_because_nothing_happened_is_vacuous(
    check: JSON, empty: JSON, borne_out: JSON
) -> None:
    always = {"op": "exists", "path": "trace"}
    for scene, expected in ((empty, True), (borne_out, False)):
        assert run_check(scene, check).passed
        assert vacuous(check, scene) is expected
        assert vacuous({"op": "or", "of": [check, no(always)]}, scene) is expected
        assert not vacuous({"op": "and", "of": [check, always]}, scene)
        assert vacuous(no(no(check)), scene) is expected
    assert vacuous_share(check, [empty, borne_out, borne_out, borne_out]) == 0.25


def test_what_must_be_there_is_never_vacuous() -> None:
    for check in (
        find(named("a")),
        {"op": "count", "collection": "trace.steps", "gte": 1},
        TRUTHS["in order"],
    ):
        assert not vacuous(check, trace("a", "search_shop", "get_order"))
    count = {"op": "count", "collection": "trace.steps", "where": named("a")}
    assert vacuous(no({**count, "gte": 2}), trace("b"))
    assert not vacuous(no({**count, "gte": 2}), trace("a"))
    assert not vacuous(no({**count, "lte": 0}), trace("a"))


def test_vacuity_is_told(tmp_path: Path) -> None:
    passing = [trace("get_order", "note")] * 2 + [
        trace("get_order"),
        trace("list_orders"),
        trace("get_order", "pay_order"),
    ]
    scenes = [
        {**scene, "n": i}
        for i, scene in enumerate([*passing * 2, *[trace("pay_order"), trace("pay_order", "get_order")] * 4])
    ]
    labels = [True] * 10 + [False] * 8
    rule = before(named("get_order"), named("pay_order"))
    assert all(run_check(s, rule).passed is p for s, p in zip(scenes, labels, strict=True))
    grammar = {"operators": ["trace.before"]}
    result = learn_check(scenes, labels, grammar)
    assert result.check == rule
    assert result.vacuous == 0.8
    assert result.to_check()["meta"]["induction"]["vacuous"] == 0.8
    source, language = tmp_path / "scenes.jsonl", tmp_path / "grammar.json"
    rows = [
        {"id": f"s{i}", "label": "pass" if p else "fail", "scene": s}
        for i, (s, p) in enumerate(zip(scenes, labels, strict=True))
    ]
    source.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    language.write_text(json.dumps(grammar), encoding="utf-8")
    command = [sys.executable, "-m", "induce", "learn", str(source), "--grammar", str(language), "--no-cv"]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "vacuous: 80 % of the passing scenes pass only because nothing happened" in said.stdout


def test_exports_say_it_or_refuse_in_one_sentence() -> None:
    assert json.loads(export_check(ORDER)) == ORDER
    for form in ("core", "cel", "python", "las"):
        with pytest.raises(ValueError, match=r'^\$\.op: .*"trace\.before"$'):
            export_check(ORDER, form)
    core = json.loads(export_check({"op": "trace.forbidden_tools", "tools": ["pay_order"]}, "core"))
    for scene in (trace("pay_order"), trace("get_order"), {"trace": {}}):
        assert run_check(scene, core).passed is (scene != trace("pay_order"))


def test_verdicts_on_order_are_turned_by_taking_steps_out() -> None:
    for scene in (
        trace("get_order", "pay_order"),
        trace("pay_order", "get_order", "ship_order", "list_orders"),
    ):
        told = explain_scene(ORDER, scene, [trace("refund_order")])
        assert told.change is not None
        assert run_check(told.change.scene, ORDER).passed is not told.passed
    told = explain_scene(ORDER, trace("list_orders"), [trace("refund_order")])
    assert told.change is not None
    assert told.change.edits[0].text.startswith("trace.steps[1]: add")


def test_prices_are_bits_of_choices() -> None:
    scenes, labels = labelled(ORDER, "prices", 40)

    def size(check: JSON) -> float:
        return objective_of(check, scenes, labels).size

    plain, one = (
        before(named("get_order"), named("pay_order")),
        before(named("get_order"), named("ship_order")),
    )
    assert size(plain) == size(one) == pytest.approx(4 + 2 * 2.807, abs=1 / 8)  # two of seven tools
    assert size(no(plain)) == size(plain) + 3
    assert size({**plain, "same": "args.order_id"}) > size(plain)
    assert len(TOOLS) == 7


def test_nothing_is_enumerated_twice() -> None:
    rng = random.Random(9)
    scenes = [run(rng) for _ in range(40)]
    cost, _ = costs_of(scenes, [i % 2 == 0 for i in range(40)])
    assert isinstance(cost.operations, Operations)
    said = [found.operation(at) for found in cost.operations.all() for at in range(len(found.keys))]
    assert len(said) == len(set(said))
    proposed = list(operations(cost.root, cost))
    assert proposed
    assert all(bits(one.cost) < 100 for one in proposed)

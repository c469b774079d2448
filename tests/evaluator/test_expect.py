"""The expect DSL: what it collects, what running and enforcing it gives, what it looks like as a check."""

from __future__ import annotations

import asyncio
import inspect
import json
import pickle
import threading
import warnings
from pathlib import Path
from typing import Any, get_args

import pytest

from evaluator import (
    MISSING,
    AgentResult,
    AssertionResult,
    CheckError,
    Expectation,
    ExpectationError,
    NotEvaluatedError,
    NotEvaluatedWarning,
    Providers,
    SceneError,
    ScoreHistory,
    World,
    aggregate_outcome,
    define_check,
    enforce,
    evaluate_assertion,
    expect,
    related,
    run_check,
    set_session_providers,
)
from evaluator.assertions.method import methods
from evaluator.expecting import WorldExpectation
from evaluator.expecting.policy import NotEvaluated
from evaluator.expecting.scope import Scope, entering
from evaluator.providers.errors import BudgetExceededError
from evaluator.traces import TraceBuilder

GOLDEN = Path(__file__).parents[1] / "golden" / "attest"
MIB = 2**20


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"type": "tool_call", "name": name, "args": args}


REFUNDED: dict[str, Any] = {
    "trace_id": "run-1",
    "steps": [call("look_up", order_id="O-7"), call("refund", order_id="O-7", cents=500)],
    "output": {"message": "Done: O-7"},
    "metadata": {"cost_usd": 0.2},
}
WORLD = {
    "orders": [{"order_id": "O-7", "cents": 500}],
    "refunds": [{"order_id": "O-7", "cents": 500, "key": "k1"}],
}


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STRICT", "SOFT_LIMIT", "NOT_EVALUATED", "MIN_PASS"):
        monkeypatch.delenv(f"EVALUATOR_{name}", raising=False)
    monkeypatch.delenv("ATTEST_STRICT", raising=False)


def failing() -> Expectation:
    return expect(REFUNDED).required_tools(["look_up"]).forbidden_tools(["refund"])


def softly() -> Expectation:
    return expect(REFUNDED).required_tools(["look_up"]).cost_under(0.1, soft=True)


def without_evidence() -> Expectation:
    return expect(REFUNDED).required_tools(["look_up"]).tokens_under(100)


# What is collected


def test_every_method_of_the_language_is_a_method_of_the_chain() -> None:
    for method in methods().values():
        name = method.name.removeprefix("world_")
        owner = WorldExpectation if method.family == "effect" else Expectation
        parameters = dict(inspect.signature(getattr(owner, name)).parameters)
        del parameters["self"]
        assert ("soft" in parameters) == method.soft, name
        parameters.pop("soft", None)
        asked = {argument.name: argument for argument in method.arguments if argument.name != "snapshot"}
        assert list(parameters) == list(asked), name
        for parameter in parameters.values():
            assert parameter.annotation not in (inspect.Parameter.empty, "Any") or parameter.name == "value"
            assert (parameter.default is parameter.empty) == asked[parameter.name].required, (name, parameter)
        assert getattr(owner, name).__doc__, name


def golden_cases() -> list[dict[str, Any]]:
    files = sorted(GOLDEN.glob("*.jsonl"))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [case for case in map(json.loads, lines) if "assertion" in case and "env" not in case]


def test_the_chain_says_of_recorded_cases_what_the_assertion_says() -> None:
    cases = golden_cases()
    assert len(cases) > 500
    for case in cases:
        method, args = case["assertion"]["method"], dict(case["assertion"]["args"])
        chain: Any = expect(case["trace"])
        snapshot = args.pop("snapshot", MISSING)
        if snapshot is not MISSING:
            chain = chain.world(snapshot)
        wanted = evaluate_assertion(case["trace"], case["assertion"])
        try:
            added = getattr(chain, method.removeprefix("world_"))
            inspect.signature(added).bind(**args)
        except TypeError:
            assert wanted.status != "pass", case["id"]  # Python itself refuses such an unusable spec
            continue
        (result,) = added(**args).inspect().results
        assert AssertionResult.to_dict(wanted).items() <= result.to_dict().items(), case["id"]
        assert result.status == case["expect"]["status"] or "reason" in case["expect"], case["id"]


def test_building_looks_at_nothing_and_keeps_the_order() -> None:
    chain = expect(REFUNDED).step_count("lt", -1).no_tool_loops("", 0).output_contains("O-7", soft=True)
    assert [assertion.method for assertion in chain.assertions] == [
        "step_count",
        "no_tool_loops",
        "output_contains",
    ]
    assert chain.assertions[2].args == {"value": "O-7", "case_sensitive": False, "soft": True}
    assert [result.status for result in chain.inspect().results] == ["hard_fail", "hard_fail", "pass"]


def test_assertions_are_a_copy() -> None:
    chain = failing()
    taken = chain.assertions
    taken[0].args["tools"].append("pay")
    taken.pop()
    assert len(chain.assertions) == 2
    assert chain.assertions[0].args == {"tools": ["look_up"]}


def test_arguments_are_copied_when_they_are_given() -> None:
    tools, where = ["look_up"], {"order_id": "O-7"}
    chain = expect(REFUNDED).required_tools(tools).world(WORLD).count("refunds", equals=1, where=where)
    tools.append("pay")
    where["order_id"] = "O-8"
    assert chain.evaluate().passed


def test_one_text_in_place_of_several_is_refused_and_not_taken_apart() -> None:
    result = expect(REFUNDED).required_tools("look_up").inspect().results[0]
    assert result.reason == "spec_error"
    assert "expected an array" in result.why


def test_an_argument_that_is_no_json_is_named() -> None:
    with pytest.raises(
        CheckError, match=r"\$\.tools\[0\]: required_tools: an argument is plain JSON|required"
    ):
        expect(REFUNDED).required_tools([{1}])  # type: ignore[list-item]


def test_null_is_a_value_to_compare_with() -> None:
    trace = {"steps": [call("refund", note=None)]}
    assert expect(trace).tool_arg_satisfies("refund", "note", "eq", None).evaluate().passed


def test_what_must_come_before_what() -> None:
    looked_up = {"op": "eq", "path": "name", "value": "look_up"}
    refunded = {"op": "eq", "path": "name", "value": "refund"}
    assert expect(REFUNDED).before(looked_up, refunded, same="args.order_id").evaluate().passed
    assert expect(REFUNDED).before(refunded, looked_up).inspect().outcome == "fail"
    assert expect(REFUNDED).distinct().grounded("refund", "order_id").inspect().outcome == "fail"
    with pytest.raises(CheckError, match=r"\$\.then\.op"):
        expect(REFUNDED).before(looked_up, {"op": "eqq"})


# Which runs can be looked at


def test_a_trace_a_scene_a_builder_and_a_result_are_runs() -> None:
    built = TraceBuilder("agent").add_tool_call("look_up", {"order_id": "O-7"}).set_output(message="done")
    assert expect(built).required_tools(["look_up"]).evaluate().passed
    assert expect(built.build()).required_tools(["look_up"]).evaluate().passed
    scene = {"trace": REFUNDED, "world": WORLD, "note": "kept"}
    first = expect(scene).world().count("refunds", equals=1)
    assert first.scene == scene
    assert first.evaluate().scene == {"trace": REFUNDED, "world": WORLD}
    again = expect(first.inspect()).world().count("refunds", equals=1)
    assert again.trace is REFUNDED
    assert again.evaluate().passed
    assert expect(AgentResult(REFUNDED)).required_tools(["look_up"]).evaluate().passed


def test_what_recorded_runs_lack_may_be_absent() -> None:
    assert expect({"steps": []}).forbidden_tools(["refund"]).evaluate().passed
    assert expect({}).forbidden_tools(["refund"]).evaluate().passed


@pytest.mark.parametrize(
    ("run", "place", "said"),
    [
        ([], "$", "expected a trace or a scene"),
        (None, "$", "expected a trace or a scene"),
        ({"trace": []}, "$.trace", "expected a trace, an object, got an array"),
        ({"steps": {}}, "$.steps", "array"),
        ({"trace": {"steps": [{"type": "tool_call"}]}}, "$.trace.steps[0]", "name"),
        ({"steps": [{"type": "shout", "name": "x"}]}, "$.steps[0].type", "llm_call"),
        ({"steps": [call("x")] * 10_001}, "$.steps", "10,000"),
        ({"output": {"message": "x" * 11 * MIB}}, "$", "10 MiB"),
        ({"input": {1}}, "$.input", "set"),
    ],
)
def test_what_is_no_run_is_refused_at_its_place(run: Any, place: str, said: str) -> None:
    with pytest.raises(SceneError) as refused:
        expect(run)
    assert refused.value.place == place
    assert said in str(refused.value)


# The world


def test_effects_chain_on_with_all_other_methods() -> None:
    chain = (
        expect(REFUNDED)
        .world(WORLD)
        .count("refunds", equals=1, where={"order_id": "O-7"})
        .unique("refunds", "key")
        .idempotent("refunds", "key")
        .sum("refunds", "cents", related("orders", "cents", "order_id"))
        .sum("refunds", "cents", at_most=500)
        .matches("refunds", "cents", related("orders", "cents", on="order_id"))
        .required_tools(["refund"])
        .count("orders", at_least=1, at_most=1)
    )
    result = chain.evaluate()
    assert len(result.results) == 8
    assert result.passed


def test_a_snapshot_is_copied_when_it_is_taken() -> None:
    world = World({"refunds": []})
    chain = expect(REFUNDED).world(world)
    state: dict[str, Any] = {"refunds": []}
    other = expect(REFUNDED).world(state)
    world.record("refunds", {"order_id": "O-7"})
    state["refunds"].append({})
    assert chain.count("refunds", equals=0).evaluate().passed
    assert other.count("refunds", equals=0).evaluate().passed


def test_every_snapshot_of_a_chain_keeps_its_contracts() -> None:
    before, after = World({"refunds": []}), World({"refunds": [{"id": 1}]})
    chain = expect(REFUNDED).world(before).count("refunds", equals=0)
    chain = chain.world(after).count("refunds", equals=1)
    assert chain.evaluate().passed
    assert run_check(chain.scene, chain.to_check()).passed


def test_no_snapshot_is_missing_evidence_and_a_strange_one_fails() -> None:
    for chain in (expect(REFUNDED).world(None), expect(REFUNDED).world()):
        assert chain.count("refunds", equals=1).inspect().outcome == "skip"
    strange: Any = []
    assert expect(REFUNDED).world(strange).count("refunds", equals=1).inspect().outcome == "fail"
    assert expect(REFUNDED).world({}).count("refunds", equals=0).inspect().outcome == "fail"
    with pytest.raises(SceneError, match="set"):
        expect(REFUNDED).world({"refunds": [{"id": {1}}]})


def test_repeated_snapshots_above_nine_mib_are_refused() -> None:
    big = {"refunds": [{"note": "x" * 4 * MIB}]}
    chain = expect(REFUNDED).world(big).count("refunds", equals=1).unique("refunds", "note")
    with pytest.raises(SceneError, match="more than 9 MiB"):
        chain.idempotent("refunds", "note")
    assert len(chain.assertions) == 2
    with pytest.raises(SceneError, match="more than 9 MiB"):
        chain.world(big).count("refunds", equals=1)
    assert chain.evaluate().passed


def test_a_world_records_until_it_is_stopped() -> None:
    record: dict[str, Any] = {"id": 1, "tags": ["a"]}
    with World({"orders": [record], "refunds": ()}) as world:
        world.record("refunds", record)
        world.record("notes", record)
        record["tags"].append("b")
        state = world.state()
        state["refunds"].clear()
    assert world.stopped
    with pytest.raises(RuntimeError, match="refunds: the world was stopped"):
        world.record("refunds", {})
    world.stop()
    assert world.state() == {name: [{"id": 1, "tags": ["a"]}] for name in ("orders", "refunds", "notes")}
    assert repr(world) == "World(orders: 1, refunds: 1, notes: 1; stopped)"


def test_a_world_takes_records_from_several_threads() -> None:
    world = World()

    def work() -> None:
        for number in range(200):
            world.record("calls", {"n": number})

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(world.state()["calls"]) == 800


@pytest.mark.parametrize("record", [[], 7, None, {"id": {1}}, {"id": float("nan")}])
def test_a_record_is_a_json_object(record: Any) -> None:
    with pytest.raises(SceneError):
        World().record("refunds", record)
    with pytest.raises(SceneError):
        World({"refunds": [record]})


# Running and enforcing


def test_a_chain_is_evaluated_once_its_present_list_was_submitted() -> None:
    chain = expect(REFUNDED)
    assert not chain.evaluated
    chain.inspect()
    assert chain.evaluated
    chain.world(WORLD).count("refunds", equals=1)
    assert not chain.evaluated
    chain.evaluate()
    assert chain.evaluated


def test_the_outcomes() -> None:
    good = expect(REFUNDED).required_tools(["refund"]).evaluate()
    assert (good.outcome, good.passed, bool(good)) == ("pass", True, True)
    soft = softly().evaluate()
    assert (soft.outcome, soft.passed) == ("pass", False)
    assert [failure.method for failure in soft.soft_failures] == ["cost_under"]
    bad = failing().inspect()
    assert (bad.outcome, bad.passed) == ("fail", False)
    assert [failure.method for failure in bad.hard_failures] == ["forbidden_tools"]
    open_ = without_evidence().inspect()
    assert (open_.outcome, open_.passed) == ("skip", False)
    assert [result.method for result in open_.not_evaluated] == ["tokens_under"]
    assert (expect(REFUNDED).inspect().outcome, AgentResult(REFUNDED).passed) == ("pass", True)


def test_a_failure_says_what_failed_and_why() -> None:
    chain = failing().cost_under(0.1).latency_under(5).tokens_under(5, soft=True)
    with pytest.raises(AssertionError) as failed:
        chain.output_contains("no", soft=True).evaluate()
    assert isinstance(failed.value, ExpectationError)
    assert str(failed.value).splitlines() == [
        "2 of 6 assertions failed:",
        "  forbidden_tools: steps: expected none of refund, got 1 (step 2)",
        "  cost_under: metadata.cost_usd: expected ≤ 0.1, got 0.2 (over by 0.1)",
        'output_contains: output.message: expected string containing "no", got "Done: O-7" (1 soft failure)',
        "2 of 6 assertions not evaluated:",
        "  latency_under: not evaluated: missing_evidence: metadata.latency_ms",
        "  tokens_under: not evaluated: missing_evidence: metadata.total_tokens",
    ]
    assert failed.value.result.outcome == "fail"


def test_without_evidence_there_is_no_verdict() -> None:
    with pytest.raises(NotEvaluatedError, match=r"metadata\.total_tokens") as skipped:
        without_evidence().evaluate()
    assert not isinstance(skipped.value, AssertionError)
    with pytest.raises(ExpectationError, match="a failure under strict"):
        without_evidence().evaluate(strict=True)
    with pytest.raises(ExpectationError):
        without_evidence().evaluate(not_evaluated="block")
    with pytest.warns(NotEvaluatedWarning, match=r"metadata\.total_tokens") as warned:
        assert without_evidence().evaluate(not_evaluated="warn").outcome == "skip"
    assert warned[0].filename == __file__
    with pytest.raises(ExpectationError):
        failing().evaluate(not_evaluated="warn")


@pytest.mark.parametrize(
    ("name", "value", "outcome"),
    [
        ("EVALUATOR_STRICT", "1", "fail"),
        ("EVALUATOR_STRICT", "True", "fail"),
        ("EVALUATOR_STRICT", " yes ", "fail"),
        ("EVALUATOR_STRICT", "0", "skip"),
        ("EVALUATOR_STRICT", "", "skip"),
        ("ATTEST_STRICT", "yes", "fail"),
        ("ATTEST_STRICT", "off", "skip"),
        ("EVALUATOR_NOT_EVALUATED", "block", "fail"),
        ("EVALUATOR_NOT_EVALUATED", "warn", "skip"),
    ],
)
def test_the_environment_can_be_strict(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, outcome: str
) -> None:
    monkeypatch.setenv(name, value)
    assert without_evidence().inspect().outcome == outcome
    assert without_evidence().inspect(strict=False).outcome == "skip"
    assert without_evidence().inspect(strict=True).outcome == "fail"


def test_the_own_name_stands_over_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALUATOR_STRICT", "no")
    monkeypatch.setenv("ATTEST_STRICT", "1")
    assert without_evidence().inspect().outcome == "skip"


@pytest.mark.parametrize(
    ("name", "value"),
    [("SOFT_LIMIT", "-1"), ("SOFT_LIMIT", "few"), ("NOT_EVALUATED", "maybe"), ("MIN_PASS", "2")],
)
def test_an_environment_that_means_nothing_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"EVALUATOR_{name}", value)
    with pytest.raises(ValueError, match=f"EVALUATOR_{name}: expected"):
        failing().inspect()


@pytest.mark.parametrize(
    "options", [{"soft_limit": -1}, {"soft_limit": True}, {"not_evaluated": "maybe"}, {"strict": 1}]
)
def test_an_option_that_means_nothing_is_named(options: Any) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(options))}: expected"):
        failing().inspect(**options)


def test_more_soft_failures_than_allowed_fail_the_chain() -> None:
    two = softly().output_contains("sorry", soft=True)
    assert two.evaluate(soft_limit=2).outcome == "pass"
    assert two.inspect(soft_limit=1).outcome == "fail"
    with pytest.raises(ExpectationError, match="2 soft failures, 1 allowed"):
        two.evaluate(soft_limit=1)
    with pytest.raises(ExpectationError, match="1 soft failure, 0 allowed"):
        softly().evaluate(soft_limit=0)


def test_an_inspected_result_can_be_enforced() -> None:
    good = expect(REFUNDED).required_tools(["refund"]).inspect()
    assert enforce(good) is good
    with pytest.raises(ExpectationError):
        enforce(failing().inspect())
    with pytest.raises(NotEvaluatedError):
        enforce(without_evidence().inspect())
    none: Any = failing()
    with pytest.raises(TypeError, match="enforce takes the result of inspect"):
        enforce(none)
    with pytest.raises(ExpectationError):
        enforce(without_evidence().inspect(strict=True))
    with pytest.raises(ExpectationError):
        enforce(without_evidence().inspect(), strict=True)
    with pytest.raises(NotEvaluatedError):
        enforce(without_evidence().inspect(strict=True), strict=False)
    with pytest.raises(ExpectationError):
        enforce(softly().inspect(), soft_limit=0)


def test_outcomes_are_those_of_the_language() -> None:
    cases = [json.loads(line) for line in (GOLDEN / "outcome.jsonl").read_text().splitlines()]
    assert cases
    for case in cases:
        wanted = aggregate_outcome(case["results"], strict=case["strict"], soft_limit=case.get("soft_limit"))
        chain = expect({"steps": [], "metadata": {"cost_usd": 1}})
        for status in case["results"]:
            if status == "not_evaluated":
                chain.tokens_under(1)
            else:
                chain.cost_under(1 if status == "pass" else 0, soft=status == "soft_fail")
        result = chain.inspect(strict=case["strict"], soft_limit=case.get("soft_limit"))
        assert (result.outcome, result.passed) == (wanted.outcome, wanted.passed), case["id"]
        assert result.outcome == case["expect"]["outcome"], case["id"]


def test_chains_run_beside_an_event_loop() -> None:
    async def run() -> None:
        assert (await softly().evaluate_async()).outcome == "pass"
        assert (await failing().inspect_async()).outcome == "fail"
        with pytest.raises(ExpectationError):
            await failing().evaluate_async()

    asyncio.run(run())


def test_results_travel_between_processes_and_as_json() -> None:
    result = without_evidence().forbidden_tools(["refund"]).inspect()
    copy = pickle.loads(pickle.dumps(result))
    assert copy.to_dict() == result.to_dict()
    assert copy.world is MISSING
    assert json.loads(json.dumps(result.to_dict()))["outcome"] == "fail"
    with pytest.raises(ExpectationError) as failed:
        enforce(result)
    assert str(pickle.loads(pickle.dumps(failed.value))) == str(failed.value)


# Stable ids


def ids(*chains: Expectation) -> list[str]:
    return [assertion.id for chain in chains for assertion in chain.assertions]


def test_ids_do_not_depend_on_other_assertions() -> None:
    alone = ids(expect(REFUNDED, scope="t").passes_judge("polite?"))
    among = ids(expect({}, scope="t").cost_under(1).passes_judge("polite?", soft=True).step_count("lt", 9))
    assert alone[0] == among[1]
    assert len(set(among)) == 3


def test_ids_tell_equal_specs_apart_by_their_number() -> None:
    twice = ids(expect(REFUNDED, scope="t").cost_under(1).cost_under(1.0).cost_under(2))
    assert len(set(twice)) == 3
    assert twice[:2] == ids(expect(REFUNDED, scope="t").cost_under(1).cost_under(1))


def test_ids_are_of_their_test() -> None:
    def both(name: str) -> list[str]:
        with entering(Scope(name)):
            return ids(expect(REFUNDED).cost_under(1), expect(REFUNDED).cost_under(1))

    assert both("a") == both("a")
    assert len({*both("a"), *both("b")}) == 4
    assert ids(expect(REFUNDED).cost_under(1)) == ids(expect(REFUNDED).cost_under(1))


def test_an_id_is_the_same_from_release_to_release() -> None:
    (first,) = ids(expect(REFUNDED, scope="tests/test_refund.py::test_once").passes_judge("polite?"))
    assert first == "2:312356fe9c135be41266ba4e"


# Providers


def test_providers_are_the_chains_or_the_sessions() -> None:
    lenient = Providers(judge=lambda _: '{"score": 0.9, "explanation": "kind"}')
    stern = Providers(judge=lambda _: '{"score": 0.1, "explanation": "rude"}')
    assert expect(REFUNDED).passes_judge("polite?").inspect().outcome == "skip"
    before = set_session_providers(lenient)
    try:
        assert expect(REFUNDED).passes_judge("polite?").inspect().outcome == "pass"
        assert expect(REFUNDED, providers=stern).passes_judge("polite?").inspect().outcome == "fail"
    finally:
        assert set_session_providers(before) is lenient


def test_scores_are_remembered_under_the_stable_id(tmp_path: Path) -> None:
    history = ScoreHistory(tmp_path / "scores.db")
    scores = iter([0.97] * 12 + [0.85])
    providers = Providers(judge=lambda _: json.dumps({"score": next(scores)}), history=history)

    def judged() -> AgentResult:
        chain = expect(REFUNDED, providers=providers, scope="t").cost_under(1)
        return chain.passes_judge("polite?", threshold="dynamic").inspect()

    results = [judged() for _ in range(13)]
    assert [result.outcome for result in results] == ["pass"] * 12 + ["fail"]
    assert "mean 0.97" in results[-1].results[1].why
    assert len(history.scores(results[0].results[1].id)) == 13
    assert history.scores(results[0].results[0].id) == []


def test_a_spent_session_budget_leaves_inspect() -> None:
    def refuse(_: object) -> str:
        raise BudgetExceededError("the session's budget of 0 calls is spent", "calls")

    chain = expect(REFUNDED, providers=Providers(judge=refuse)).passes_judge("polite?")
    with pytest.raises(BudgetExceededError):
        chain.inspect()
    assert not chain.evaluated


# Checks


def test_a_chain_is_one_check() -> None:
    chain = failing().world(WORLD).count("refunds", equals=1)
    check = chain.to_check()
    assert check["op"] == "and"
    assert [part["op"] for part in check["of"]] == [
        "trace.required_tools",
        "trace.forbidden_tools",
        "effect.world_count",
    ]
    assert "snapshot" not in check["of"][2]
    result = run_check(chain.scene, check)
    assert not result.passed
    assert "expected none of refund" in result.why
    single = expect(REFUNDED).required_tools(["refund"]).to_check("refunds", {"tags": ["money"]})
    assert single == {
        "id": "refunds",
        "expr": {"op": "trace.required_tools", "tools": ["refund"]},
        "meta": {"tags": ["money"]},
    }
    assert run_check({"trace": REFUNDED}, single).passed
    assert run_check(REFUNDED, expect(REFUNDED).to_check()).passed


def test_recorded_cases_say_the_same_as_checks() -> None:
    for case in golden_cases():
        args = {name: value for name, value in case["assertion"]["args"].items() if name != "snapshot"}
        chain: Any = expect(case["trace"])
        if "snapshot" in case["assertion"]["args"]:
            chain = chain.world(case["assertion"]["args"]["snapshot"])
        added = getattr(chain, case["assertion"]["method"].removeprefix("world_"))
        try:
            chain = added(**args)
            check = chain.to_check()
            passed = run_check(chain.scene, check).passed
        except (TypeError, CheckError):  # an unusable spec
            assert case["expect"]["status"] != "pass", case["id"]
            continue
        assert passed == (case["expect"]["status"] == "pass"), case["id"]


def test_a_check_joins_a_chain() -> None:
    cheap = {"op": "lte", "path": "trace.metadata.cost_usd", "value": 0.1}
    result = expect(REFUNDED).check(cheap).check(cheap, soft=True).check(define_check("c", cheap)).inspect()
    assert [each.status for each in result.results] == ["hard_fail", "soft_fail", "hard_fail"]
    assert result.results[0].gap == pytest.approx(0.1)
    assert result.results[0].why == "trace.metadata.cost_usd: expected ≤ 0.1, got 0.2 (over by 0.1)"
    warned = expect(REFUNDED).check(define_check("c", cheap, {"severity": "warn"})).evaluate()
    assert [failure.method for failure in warned.soft_failures] == ["check"]
    with pytest.raises(CheckError, match="did you mean"):
        expect(REFUNDED).check({"op": "ltee"})


def test_a_check_without_evidence_is_not_evaluated() -> None:
    tokens = {"op": "constraint.tokens_under", "max_tokens": 5}
    chain = expect(REFUNDED).check({"op": "not", "of": tokens}).check(tokens, soft=True)
    result = chain.inspect()
    assert [each.status for each in result.results] == ["not_evaluated", "not_evaluated"]
    assert [each.reason for each in result.results] == ["missing_evidence", "missing_evidence"]
    certain = {"op": "and", "of": [tokens, {"op": "trace.forbidden_tools", "tools": ["refund"]}]}
    assert expect(REFUNDED).check(certain).inspect().outcome == "fail"


def test_a_check_goes_out_as_it_came_in() -> None:
    cheap = {"op": "lte", "path": "trace.metadata.cost_usd", "value": 0.5}
    chain = expect(REFUNDED).check(define_check("c", cheap)).required_tools(["refund"])
    assert chain.to_check()["of"] == [cheap, {"op": "trace.required_tools", "tools": ["refund"]}]


def test_the_policies_are_listed_once() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotEvaluatedWarning)
        outcomes = {
            choice: without_evidence().inspect(not_evaluated=choice).outcome
            for choice in get_args(NotEvaluated)
        }
    assert outcomes == {"skip": "skip", "warn": "skip", "block": "fail"}

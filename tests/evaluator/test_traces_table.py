"""Many checks over many traces at once: what `evaluate_many` says is what each check says of each scene."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_cases import NAMES, runs, step, trace

from evaluator import (
    Providers,
    SceneError,
    SceneTable,
    compile_check,
    evaluate_many,
    providing,
    run_check,
)
from evaluator.assertions.operators import kept_views

CHECK = dict[str, Any]


def named(**arguments: Any) -> st.SearchStrategy[CHECK]:
    return st.fixed_dictionaries(arguments)


LEAVES: st.SearchStrategy[CHECK] = st.one_of(
    named(op=st.just("trace.required_tools"), tools=st.lists(NAMES, min_size=1, max_size=2)),
    named(op=st.just("behaviour.tool_called_before"), before=NAMES, after=NAMES),
    named(op=st.just("behaviour.tool_cardinality"), tool=NAMES, per=st.just("id"), at_most=st.just(1)),
    named(op=st.just("behaviour.no_tool_cycles"), period=st.integers(1, 2)),
    named(op=st.just("constraint.cost_under"), max_cost=st.just(1)),
    named(op=st.just("effect.world_count"), resource=st.just("r"), equals=st.integers(0, 1)),
    named(op=st.just("count"), collection=st.sampled_from(["trace.steps", "steps"]), gte=st.integers(0, 4)),
    named(op=st.just("exists"), path=st.sampled_from(["world", "trace.steps[0]"])),
)
CHECKS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(
            lambda op, of: {"op": op, "of": of}, st.sampled_from(["and", "or"]), st.lists(inner, max_size=3)
        ),
        named(op=st.just("not"), of=inner),
        named(op=st.just("find"), collection=st.just("runs"), where=inner),
        named(op=st.just("count"), collection=st.just("runs"), where=inner, lte=st.integers(0, 1)),
    ),
    max_leaves=5,
)


@st.composite
def scenes(draw: st.DrawFn) -> Any:
    """Scenes with a trace and a world, bare traces, scenes with several runs and others with none."""
    run = draw(runs(max_steps=5))
    if draw(st.booleans()):
        run = run | {"metadata": {"cost_usd": draw(st.sampled_from([0.5, 1, 2, None]))}}
    kind = draw(st.sampled_from(["bare", "world", "null", "several", "none"]))
    if kind == "several":
        return {"trace": run, "runs": [run, draw(runs(max_steps=3)), {"steps": 7}]}
    worlds = {"world": {"trace": run, "world": {"r": [{}]}}, "null": {"trace": run, "world": None}, "none": 7}
    return worlds.get(kind, run)


@given(st.lists(CHECKS, min_size=1, max_size=4), st.lists(scenes(), min_size=1, max_size=4))
def test_evaluate_many_says_what_run_check_says(checks: list[CHECK], examples: list[Any]) -> None:
    results = [[run_check(scene, check) for scene in examples] for check in checks]
    for table in (evaluate_many(checks, examples), evaluate_many(checks, SceneTable(examples))):
        assert table.gap.tolist() == [[result.gap for result in row] for row in results]
        assert table.passed.tolist() == [[result.passed for result in row] for row in results]


def test_a_scene_may_change_between_evaluations() -> None:
    check = compile_check({"op": "trace.required_tools", "tools": ["a"]})
    scene = trace(step("b"))
    assert not check(scene)
    scene["steps"].append(step("a"))
    assert check(scene)
    assert evaluate_many([check], [scene]).passed.all()


def test_a_judge_is_asked_once_for_all_checks_that_ask_the_same_of_a_scene_in_one_check() -> None:
    asked = []

    def judge(request: Any) -> str:
        asked.append(request)
        return '{"score": 0.5}'

    leaf = {"op": "semantic.passes_judge", "criteria": "c"}
    with providing(Providers(judge=judge)):
        table = evaluate_many([{"op": "and", "of": [{"op": "not", "of": leaf}]}], [trace(), trace()])
        assert len(asked) == 2
        assert run_check(trace(), {"op": "and", "of": [leaf]}).why.startswith("output.message: expected")
        assert len(asked) == 3
    assert table.passed.all()


def test_views_that_are_kept_do_not_outlive_their_scope() -> None:
    check = compile_check({"op": "trace.required_tools", "tools": ["a"]})
    scene = trace(step("b"))
    with kept_views():
        assert not check(scene)
        scene["steps"].append(step("a"))
        assert not check(scene)
    assert check(scene)


def test_one_check_over_several_scenes_gives_rows_in_the_order_of_the_checks() -> None:
    checks = [
        {"op": "trace.required_tools", "tools": ["a"]},
        {"op": "exists", "path": "steps"},
        {"op": "trace.forbidden_tools", "tools": ["a"]},
    ]
    table = evaluate_many(checks, [trace(step("a")), trace(step("b"))])
    assert np.array_equal(table.passed, [[True, False], [True, True], [False, True]])


def test_the_place_of_what_is_not_json() -> None:
    check = {"op": "and", "of": [{"op": "eq", "path": "x", "value": 1}, {"op": "trace.no_duplicate_tools"}]}
    with pytest.raises(SceneError, match=r"scenes\[1\]: x"):
        evaluate_many([check], [{"x": 1}, {"x": {1}}])

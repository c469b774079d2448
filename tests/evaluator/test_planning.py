"""World models, and the gap as a guide to the next action."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator import (
    CheckError,
    ImpossibleActionError,
    SceneError,
    compile_check,
    predict,
    rank_actions,
    register_world_model,
    world_model,
)

DELIVERED = {
    "op": "and",
    "of": [
        {"op": "count", "collection": "parcels", "eq": 0},
        {"op": "gte", "path": "battery", "value": 20},
        {"op": "lte", "path": "minutes", "value": 60},
    ],
}


def courier(scene: Any, action: str) -> None:
    """A robot that delivers parcels and charges; it changes the scene it is given."""
    if action == "charge":
        scene["battery"] = min(100, scene["battery"] + 40)
        scene["minutes"] += 30
        return
    if not scene["parcels"]:
        raise ImpossibleActionError("nothing to deliver")
    if scene["battery"] < 30:
        raise ImpossibleActionError("the battery is too low")
    scene["parcels"].pop()
    scene["battery"] -= 30
    scene["minutes"] += 10


def morning() -> dict[str, Any]:
    return {"battery": 40, "minutes": 0, "parcels": ["p1", "p2"]}


@pytest.fixture(autouse=True)
def _no_models_left() -> Iterator[None]:
    world_model._registered.clear()
    yield
    world_model._registered.clear()


def test_a_model_may_return_the_next_scene_or_change_its_copy() -> None:
    scene = morning()
    assert predict(scene, "deliver", courier) == {"battery": 10, "minutes": 10, "parcels": ["p1"]}
    assert scene == morning()
    after = predict(scene, "x", lambda given, _: {"kept": given["parcels"]})
    after["kept"].append("p3")
    assert scene == morning()


def test_a_model_that_keeps_what_it_saw_cannot_reach_the_prediction() -> None:
    kept: list[Any] = []

    def model(scene: Any, action: Any) -> Any:
        kept.append((scene, action))
        action.append("changed")
        return scene

    scene, action = morning(), ["deliver"]
    after = predict(scene, action, model)
    kept[0][0]["parcels"].clear()
    assert after == scene == morning()
    assert action == ["deliver"]


def test_models_are_found_by_name_and_one_alone_needs_none() -> None:
    with pytest.raises(ValueError, match="no world model is registered; register_world_model"):
        predict({}, "a")
    register_world_model("courier", courier)
    assert predict(morning(), "charge")["battery"] == 80
    register_world_model("other", lambda _, action: {"other": action})
    with pytest.raises(ValueError, match=r'several world models .* give model= one of "courier", "other"'):
        predict({}, "a")
    assert predict({}, "a", "other") == {"other": "a"}
    with pytest.raises(ValueError, match='registered as "curier"; did you mean "courier"'):
        predict({}, "a", "curier")
    register_world_model("default", lambda *_: "by default")
    assert predict({}, "a") == "by default"
    register_world_model("default", lambda *_: "replaced")
    assert predict({}, "a") == "replaced"


def test_wrong_models_are_refused() -> None:
    for name in ("", 5, None):
        with pytest.raises(TypeError, match="the name of a world model"):
            register_world_model(name, courier)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a function of a scene and an action, got a string"):
        register_world_model("x", "courier")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a name or a function, got a number"):
        predict({}, "a", 5)  # type: ignore[arg-type]


def test_what_is_no_scene_is_refused_with_its_place() -> None:
    with pytest.raises(SceneError, match=r"\$\.a\[1\]"):
        predict({"a": [1, {2}]}, "x", courier)
    register_world_model("broken", lambda *_: {"rate": float("nan")})
    with pytest.raises(SceneError, match='the world model "broken" returned no scene') as caught:
        predict({}, "x")
    assert caught.value.place == "$.rate"


def test_other_exceptions_of_a_model_leave_as_they_are() -> None:
    with pytest.raises(KeyError):
        predict({}, "charge", courier)
    with pytest.raises(KeyError):
        rank_actions({}, ["charge"], DELIVERED, courier)


def test_the_worked_world_needs_to_look_ahead() -> None:
    one = rank_actions(morning(), ["deliver", "charge"], DELIVERED, courier, depth=1)
    assert [(ranked.action, ranked.gap) for ranked in one] == [("charge", 2.0), ("deliver", 11.0)]
    scene = morning()
    three = rank_actions(scene, ["deliver", "charge"], DELIVERED, courier, depth=3)
    assert [ranked.plan for ranked in three] == [
        ("deliver", "charge", "deliver"),
        ("charge", "deliver", "deliver"),
    ]
    assert all(ranked.passed and ranked.complete for ranked in three)
    assert three[0].scene == {"battery": 20, "minutes": 50, "parcels": []}
    assert scene == morning()


def test_impossible_actions_come_last_with_their_reason() -> None:
    scene = {"battery": 0, "minutes": 0, "parcels": ["p1"]}
    charge, deliver = rank_actions(scene, ["deliver", "charge"], DELIVERED, courier)
    assert (charge.plan, charge.gap) == (("charge",), 1)
    assert (deliver.action, deliver.plan, deliver.scene) == ("deliver", (), None)
    assert deliver.impossible == "the battery is too low"
    assert not deliver.passed


def test_no_actions_no_ranking_and_ties_keep_their_order() -> None:
    assert rank_actions({}, [], DELIVERED, courier) == ()
    ranked = rank_actions({}, ["b", "a", "c"], {"op": "exists", "path": "x"}, lambda *_: {})
    assert [one.action for one in ranked] == ["b", "a", "c"]
    assert all(one.gap == 1 and len(one.plan) == 1 and one.complete for one in ranked)


def test_what_cannot_be_searched_is_refused() -> None:
    with pytest.raises(ValueError, match="depth is a whole number of at least 1, got 0"):
        rank_actions({}, ["a"], DELIVERED, courier, depth=0)
    with pytest.raises(ValueError, match="node_limit is a whole number of at least 3, got 2"):
        rank_actions({}, ["a", "b", "c"], DELIVERED, courier, node_limit=2)
    with pytest.raises(CheckError, match="unknown operator"):
        rank_actions({}, ["a"], {"op": "nope"}, courier)


def test_the_limit_is_kept_and_said() -> None:
    asked = 0

    def counter(scene: Any, action: int) -> Any:
        nonlocal asked
        asked += 1
        return {"n": scene["n"] * 3 + action}

    wanted = {"op": "eq", "path": "n", "value": -1}
    ranked = rank_actions({"n": 1}, [1, 2], wanted, counter, depth=20, node_limit=50)
    assert asked == 50
    assert not any(one.complete for one in ranked)
    asked = 0
    assert all(one.complete for one in rank_actions({"n": 1}, [1, 2], wanted, counter, depth=4))
    assert asked == 2 + 4 + 8 + 16


class Grid:
    """Numbers on a ring: small, with loops, dead ends and many ways to the same place."""

    def __init__(self, size: int, moves: list[int], walls: list[int]) -> None:
        self.size, self.moves, self.walls = size, moves, walls

    def __call__(self, scene: Any, action: int) -> Any:
        at = (scene["at"] + self.moves[action]) % self.size
        if at in self.walls:
            raise ImpossibleActionError("a wall")
        return {"at": at}


@settings(max_examples=60)
@given(
    st.integers(2, 9),
    st.lists(st.integers(-3, 3), min_size=1, max_size=3),
    st.lists(st.integers(0, 8), max_size=3),
    st.integers(0, 8),
    st.integers(1, 4),
)
def test_a_complete_answer_is_the_one_of_trying_everything(
    size: int, moves: list[int], walls: list[int], goal: int, depth: int
) -> None:
    world, gap = Grid(size, moves, walls), compile_check({"op": "gte", "path": "at", "value": goal}).gap
    start = {"at": 0}
    actions = list(range(len(moves)))
    best: dict[int, tuple[float, int]] = {}
    for length in range(1, depth + 1):
        for plan in product(actions, repeat=length):
            scene: Any = copy.deepcopy(start)
            try:
                for action in plan:
                    scene = world(scene, action)
            except ImpossibleActionError:
                continue
            outcome = (gap(scene), length)
            best[plan[0]] = min(best.get(plan[0], outcome), outcome)
    ranked = rank_actions(start, actions, {"op": "gte", "path": "at", "value": goal}, world, depth=depth)
    found = {one.action: (one.gap, len(one.plan)) for one in ranked if one.impossible is None}
    assert found == best
    assert all(one.complete for one in ranked)
    assert [one.action for one in ranked if one.impossible is None] == sorted(
        best, key=lambda a: (*best[a], a)
    )
    for one in ranked:
        scene = start
        for action in one.plan:
            scene = world(scene, action)
        if one.plan:
            assert scene == one.scene
            assert gap(scene) == one.gap

"""Checks attached to a changing scene: which ticks call back, over which time, and what is kept."""

from __future__ import annotations

import json
import threading
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wellformedness import can_be_written, well_formed

from evaluator import CheckError, CheckResult, SceneError, Subscription, attach_check
from evaluator.window import SlidingWindow, TimeWindow, Verdict

GOLDEN = Path(__file__).parents[1] / "golden" / "autocheck" / "attach.jsonl"
AT_MOST_5 = {"op": "lte", "path": "x", "value": 5}


def ignore(_result: CheckResult, _scene: object) -> None:
    pass


def windowed(window: dict[str, Any], quantifier: str | None = None) -> Subscription:
    return attach_check(AT_MOST_5, ignore, window=window, quantifier=quantifier)


def test_ticks_and_callbacks_are_as_recorded() -> None:
    seen = 0
    for line in GOLDEN.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if not (well_formed(case["check"]) and can_be_written(case["check"])):
            with pytest.raises(CheckError):
                attach_check(case["check"], ignore)
            continue
        seen += 1
        fired: list[tuple[dict[str, Any], Any]] = []
        subscription = attach_check(
            case["check"],
            lambda result, scene, fired=fired: fired.append((result.to_dict(), scene)),
            fire_on_first=case.get("opts", {}).get("fireOnFirst", False),
        )
        ticks = []
        for step in case["steps"]:
            if step["do"] == "tick":
                ticks.append(subscription.tick(step["scene"]).to_dict())
            else:
                subscription.unsubscribe()
        expected = case["expect"]
        for result in [*ticks, *(result for result, _ in fired)]:
            result["gap"] = "Infinity" if result["gap"] == inf else result["gap"]
        assert ticks == expected["ticks"], case["id"]
        assert [result for result, _ in fired] == [event["result"] for event in expected["fired"]], case["id"]
        scenes = [case["steps"][event["step"]]["scene"] for event in expected["fired"]]
        assert all(ours is theirs for (_, ours), theirs in zip(fired, scenes, strict=True)), case["id"]
    assert seen == 160


def test_a_callback_that_raises_leaves_everything_as_before() -> None:
    heard: list[bool] = []

    def on(result: CheckResult, scene: Any) -> None:
        if scene.get("raise"):
            raise KeyError("the callback's own")
        heard.append(result.passed)

    plain = attach_check(AT_MOST_5, on)
    plain.tick({"x": 1}, at=10)
    with pytest.raises(KeyError):
        plain.tick({"x": 9, "raise": True}, at=50)
    assert plain.tick({"x": 9}, at=11).passed is False  # still a transition, and its time is free again
    assert heard == [False]

    over_time = attach_check(AT_MOST_5, on, window={"from": -10, "to": 0})
    over_time.tick({"x": 8}, at=0)
    over_time.tick({"x": 1}, at=3)
    with pytest.raises(KeyError):
        over_time.tick({"x": 1, "raise": True}, at=500)  # the failure would have left by then
    assert over_time.tick({"x": 1}, at=4).why == "4 s ago: x: expected ≤ 5, got 8 (over by 3)"


@pytest.mark.parametrize("window", [None, {"from": -5, "to": 0}])
def test_a_scene_that_cannot_be_judged_leaves_everything_as_before(window: dict[str, Any] | None) -> None:
    heard: list[bool] = []
    subscription = attach_check(AT_MOST_5, lambda result, _: heard.append(result.passed), window=window)
    subscription.tick({"x": 1}, at=0)
    with pytest.raises(SceneError):
        subscription.tick({"x": {1, 2}}, at=9)
    subscription.tick({"x": 6}, at=1)
    assert heard == [False]


def test_time_does_not_go_backwards() -> None:
    subscription = attach_check(AT_MOST_5, ignore)
    subscription.tick({"x": 1}, at=7)
    subscription.tick({"x": 1}, at=7)
    with pytest.raises(
        SceneError, match=r"^at: time went backwards: this tick is at 6\.5 s, the one before at 7 s$"
    ):
        subscription.tick({"x": 1}, at=6.5)
    for at in (True, "7", None, float("nan"), inf, 10**400):
        clocked = attach_check(AT_MOST_5, ignore)
        if at is None:
            assert clocked.tick({"x": 1}).passed
            assert clocked.tick({"x": 1}).passed
        else:
            with pytest.raises(SceneError, match=r"^at: the time of a tick is a"):
                clocked.tick({"x": 1}, at=at)  # type: ignore[arg-type]


def test_fire_on_first_is_exactly_true() -> None:
    for first, times in ((True, 1), (False, 0), (1, 0), ("yes", 0)):
        heard: list[bool] = []
        attach_check(
            AT_MOST_5, lambda result, _, heard=heard: heard.append(result.passed), fire_on_first=first
        ).tick({"x": 1})
        assert len(heard) == times


def test_unsubscribing_inside_the_callback_and_ticking_there() -> None:
    problems: list[str] = []

    def on(_result: CheckResult, scene: object) -> None:
        with pytest.raises(RuntimeError, match="inside its own callback") as caught:
            subscription.tick(scene)
        problems.append(str(caught.value))
        subscription.unsubscribe()

    subscription = attach_check(AT_MOST_5, on, fire_on_first=True)
    assert [subscription.tick({"x": x}).passed for x in (1, 6, 1)] == [True, False, True]
    assert len(problems) == 1


def test_threads_share_a_subscription() -> None:
    """Each flip is heard once: the callbacks alternate, and the last one is the last verdict."""
    heard: list[bool] = []
    subscription = attach_check(
        AT_MOST_5, lambda result, _: heard.append(result.passed), window={"from": -1e-9}
    )
    last: list[bool] = []

    def run(offset: int) -> None:
        for step in range(2_000):
            subscription.tick({"x": 4 + (step + offset) % 3})

    threads = [threading.Thread(target=run, args=(offset,)) for offset in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last.append(subscription.tick({"x": 9}).passed)
    assert len(heard) > 2
    assert all(before is not after for before, after in pairwise(heard))
    assert heard[-1] is last[0] is False


# Windows


def test_the_question_of_the_last_five_minutes() -> None:
    heard: list[tuple[float, str]] = []
    now = 0.0

    def on(result: CheckResult, _scene: object) -> None:
        heard.append((now, result.why))

    subscription = attach_check(AT_MOST_5, on, window={"from": -300, "to": 0})
    results = []
    for now, x in ((0, 1), (60, 8), (72.5, 2), (85, 2), (372.4, 2), (372.5, 2), (373, 2)):
        results.append(subscription.tick({"x": x}, at=now))
    assert [(result.passed, result.gap) for result in results] == [
        (True, 0),
        (False, 3),
        (False, 3),
        (False, 3),
        (False, 3),
        (True, 0),  # the failure held until 72.5, which is when the window opens now
        (True, 0),
    ]
    assert results[3].why == "25 s ago: x: expected ≤ 5, got 8 (over by 3)"
    assert results[4].why == "as the window opened, 300 s ago: x: expected ≤ 5, got 8 (over by 3)"
    assert [when for when, _ in heard] == [60, 372.5]
    assert heard[0][1] == "now: x: expected ≤ 5, got 8 (over by 3)"


def test_eventually_takes_the_best_and_a_window_may_close_in_the_past() -> None:
    best = windowed({"from": -10, "to": 0, "quantifier": "eventually"})
    gaps = [best.tick({"x": x}, at=at).gap for at, x in ((0, 9), (1, 7), (2, 30), (11, 30), (12, 30))]
    assert gaps == [4, 2, 2, 2, 25]

    past = windowed({"from": -20, "to": -10}, "always")
    results = [past.tick({"x": x}, at=at) for at, x in ((0, 9), (5, 1), (10, 1), (24, 1), (25.5, 1))]
    assert [(result.passed, result.gap) for result in results] == [
        (True, 0),
        (True, 0),
        (False, 4),
        (False, 4),
        (True, 0),
    ]
    assert results[1].why == "no verdict in the window yet"
    assert windowed({"from": -20, "to": -10}, "eventually").tick({"x": 1}, at=0).gap == inf


def test_meta_is_carried_and_scenes_are_not_kept() -> None:
    check = {"id": "c", "expr": AT_MOST_5, "meta": {"severity": "warn"}}
    scene = {"x": [8]}
    subscription = attach_check(check, ignore, window={"from": -9})
    subscription.tick(scene, at=0)
    scene["x"][0] = 1
    result = subscription.tick({"x": 1}, at=1)
    assert result.meta == {"severity": "warn"}
    assert result.why == "1 s ago: x: expected number ≤ 5, got [8]"


BAD_WINDOWS = [
    ([-300, 0], "window: expected an object"),
    ({}, 'window: a window needs "from"'),
    ({"form": -300}, 'window: unknown key "form"; did you mean "from"?'),
    ({"from": "-300"}, "window.from: expected a number of seconds, got a string"),
    ({"from": True}, "window.from: expected a number of seconds, got a boolean"),
    ({"from": -inf}, "window.from: expected a finite number"),
    ({"from": -(10**400)}, "window.from: expected a finite number"),
    ({"from": 0, "to": 0}, "window.from: a window opens before it closes, got from 0 to 0"),
    ({"from": -1, "to": -2}, "window.from: a window opens before it closes, got from -1 to -2"),
    ({"from": -1, "to": 0.5}, "window.to: a window ends at the tick or before it"),
    (
        {"from": -1, "quantifier": "Always"},
        'window.quantifier: expected "always" or "eventually", got "Always"',
    ),
    ({"from": -1, "quantifier": ["always"]}, "window.quantifier: expected"),
]


@pytest.mark.parametrize(("window", "said"), BAD_WINDOWS)
def test_a_window_that_makes_no_sense_is_refused(window: Any, said: str) -> None:
    with pytest.raises(CheckError) as caught:
        attach_check(AT_MOST_5, ignore, window=window)
    assert str(caught.value).startswith(said)


def test_quantifiers_that_disagree_and_callbacks_that_cannot_be_called() -> None:
    with pytest.raises(CheckError, match='says "always" and the argument "eventually"'):
        windowed({"from": -1, "quantifier": "always"}, "eventually")
    with pytest.raises(CheckError, match='needs "from"'):
        attach_check(AT_MOST_5, ignore, quantifier="always")
    with pytest.raises(TypeError, match="on: expected a function"):
        attach_check(AT_MOST_5, "print")  # type: ignore[arg-type]


quarters = st.integers(0, 12).map(lambda number: number / 4)
windows = st.tuples(quarters, quarters).filter(lambda ends: ends[0] != ends[1]).map(sorted)


@given(
    windows,
    st.sampled_from(["always", "eventually"]),
    st.lists(st.tuples(quarters, st.integers(0, 9), st.sampled_from([0, 0, 0, 1])), max_size=40),
)
@settings(max_examples=300)
def test_a_window_is_what_looking_at_every_tick_would_say(
    ends: list[float], quantifier: str, steps: list[tuple[float, int, int]]
) -> None:
    """The plain oracle keeps all ticks; now and then a callback raises, and that tick has not happened."""
    to, start = -ends[0], -ends[1]
    fails = False

    def on(_result: CheckResult, _scene: object) -> None:
        if fails:
            raise InterruptedError

    subscription = attach_check(AT_MOST_5, on, window={"from": start, "to": to, "quantifier": quantifier})
    history: list[tuple[float, float]] = []
    now, verdict = 0.0, None
    for wait, x, broken in steps:
        fails = bool(broken)
        at = now + wait
        seen = [*history, (at, max(0.0, x - 5.0))]
        opening = [tick for tick in seen if tick[0] <= at + start][-1:]
        inside = opening + [tick for tick in seen if at + start < tick[0] <= at + to]
        empty = 0.0 if quantifier == "always" else inf
        pick = max if quantifier == "always" else min
        expected = pick((gap for _, gap in inside), default=empty)
        try:
            result = subscription.tick({"x": x}, at=at)
        except InterruptedError:
            assert verdict is not None
            assert (expected == 0) is not verdict
            continue
        assert (result.gap, result.passed) == (expected, expected == 0)
        if inside:
            decisive = max(time for time, gap in inside if gap == expected)
            age = at - decisive
            when = "as the window opened" if decisive < at + start else f"{age:g} s ago" if age else "now"
            assert result.why.startswith(when)
        history, now, verdict = seen, at, result.passed


def test_many_ticks_hold_no_more_than_the_window() -> None:
    window = SlidingWindow(TimeWindow.of({"from": -50, "to": -10}))
    most, steps = 0, 0
    for at in range(200_000):
        gap = float(50 - at % 50 if at % 100_000 < 50_000 else 0)  # falling: the worst that can be held
        verdict = Verdict(float(at), gap, "")
        outlook = window.look(verdict)
        steps += outlook.leaving + outlook.entering
        window.keep(verdict, outlook)
        most = max(most, len(window))
    assert 40 <= most <= 52
    assert steps <= 400_000


CHEAP = {"op": "constraint.cost_under", "max_cost": 1}
CHEAP_RUN, DEAR_RUN, UNKNOWN_RUN = {"metadata": {"cost_usd": 1}}, {"metadata": {"cost_usd": 1.25}}, {}


@pytest.mark.parametrize(
    ("quantifier", "runs", "status"),
    [
        ("always", [DEAR_RUN, CHEAP_RUN], "hard_fail"),
        ("always", [UNKNOWN_RUN, CHEAP_RUN], "not_evaluated"),
        ("always", [DEAR_RUN, UNKNOWN_RUN, CHEAP_RUN], "hard_fail"),
        ("always", [CHEAP_RUN, CHEAP_RUN], "pass"),
        ("eventually", [CHEAP_RUN, UNKNOWN_RUN], "pass"),
        ("eventually", [UNKNOWN_RUN, DEAR_RUN], "not_evaluated"),
        ("eventually", [DEAR_RUN, DEAR_RUN], "hard_fail"),
    ],
)
def test_the_status_of_a_window_is_that_of_what_decided_it(
    quantifier: str, runs: list[dict[str, Any]], status: str
) -> None:
    check = {"id": "cheap", "expr": CHEAP, "meta": {"tags": ["money"]}}
    subscription = attach_check(check, ignore, window={"from": -60}, quantifier=quantifier)
    for at, run in enumerate(runs):
        result = subscription.tick({"trace": run}, at)
    assert (result.meta["status"], result.meta["tags"]) == (status, ["money"])
    assert result.passed is (status == "pass")
    assert ("reason" in result.meta) is (status == "not_evaluated")


@pytest.mark.parametrize(("quantifier", "status"), [("always", "pass"), ("eventually", "hard_fail")])
def test_a_window_that_no_verdict_has_reached_has_a_status_of_its_own(quantifier: str, status: str) -> None:
    window = {"from": -60, "to": -10, "quantifier": quantifier}
    subscription = attach_check(CHEAP, ignore, window=window)
    assert subscription.tick({"trace": UNKNOWN_RUN}, 0).meta == {"status": status}

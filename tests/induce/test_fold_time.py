"""`--time-limit` bounds learning and its cross-validation together; what the clock did to folds is said."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from induce.cli import main
from induce.commands import learning
from induce.commands.learning import FoldTurns, Learner
from induce.learn import learn_check
from induce.scenes import LabelledScenes, load_scenes
from induce.summary import held_out_lines, result_lines

CHECK = {"op": "gte", "path": "n", "value": 10}


def numbered() -> LabelledScenes:
    return load_scenes([{"label": n >= 10, "scene": {"n": n}} for n in range(20)])


@dataclass
class Clock:
    now: float = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    kept = Clock()
    monkeypatch.setattr(learning, "time", kept)
    return kept


@dataclass(frozen=True)
class Taking(Learner):
    """A learner that takes so many seconds for each fold, and no more than its limit and `over`."""

    clock: Clock = field(default_factory=Clock)
    seconds: tuple[float, ...] = ()
    over: float = 0.0
    limits: list[float] = field(default_factory=list)

    def found(self, scenes: LabelledScenes, task: str) -> Any:
        assert (task, len(scenes)) == ("cross-validation", 16)
        wanted = self.seconds[len(self.limits)]
        self.limits.append(self.time_limit)
        self.clock.now += min(wanted, self.time_limit + self.over)
        return SimpleNamespace(check=CHECK, stopped="time" if wanted > self.time_limit else "proved")


def held_out(clock: Clock, seconds: tuple[float, ...], over: float = 0.0) -> tuple[list[float], str]:
    """The limits of the folds and the line that is told, of 60 s of which learning took 40."""
    learner = Taking({}, 60.0, None, 1, False, clock, seconds, over)
    learnt: Any = SimpleNamespace(check=CHECK, seconds=40.0)
    found = learner.hold_out(learnt, numbered(), None, 5, seed=0)
    (line,) = held_out_lines(found)
    return learner.limits, line


def test_what_a_fold_leaves_is_for_those_that_follow(clock: Clock) -> None:
    limits, line = held_out(clock, (2, 2, 1, 9, 9))
    assert limits == [4, 4.5, 16 / 3, 7.5, 7.5]
    assert clock.now == 120
    assert line == (
        "cross-validation: 20 of 20 right in 5 folds (accuracy 1.000); "
        "the time limit stopped the search in 2 of them"
    )


def test_folds_that_have_time_enough_say_nothing_of_it(clock: Clock) -> None:
    _, line = held_out(clock, (1, 1, 1, 1, 1))
    assert line == "cross-validation: 20 of 20 right in 5 folds (accuracy 1.000)"


def test_folds_without_time_are_left_out(clock: Clock) -> None:
    limits, line = held_out(clock, (30, 30, 30), over=8)
    assert limits == [4, 2]  # of 20 s, and of 8 s
    assert clock.now == 100 + 12 + 10
    assert line == (
        "cross-validation: 8 of 8 right in 2 of 5 folds (accuracy 1.000); "
        "the time limit stopped the search in 2 of them and left no time for the others"
    )


def test_without_any_time_there_is_no_cross_validation(clock: Clock) -> None:
    learner = Taking({}, 60.0, None, 1, False, clock)
    learnt: Any = SimpleNamespace(check=CHECK, seconds=60.5)
    (line,) = held_out_lines(learner.hold_out(learnt, numbered(), None, 5, seed=0))
    assert line == ("cross-validation: none; learning used up the time limit of 60 s (--time-limit SECONDS)")


@pytest.mark.parametrize(
    ("at_a_time", "limits"), [(1, [2, 2.5, 10 / 3, 5, 10]), (2, [10 / 3, 10 / 3, 5, 5, 10]), (9, [10] * 5)]
)
def test_folds_at_a_time_share_the_turns(clock: Clock, at_a_time: int, limits: list[float]) -> None:
    learner = Taking({}, 60.0, None, None, False, clock, (0,) * 5)
    turns = FoldTurns(learner, clock.now + 10, 5, at_a_time)
    scenes = numbered().subset(range(16))
    for number in range(5):
        turns.learn(number, scenes)
    assert learner.limits == limits


class Limits(list[float]):
    """The limits that `learn_check` is given, one after the other; it stands in for it."""

    def __call__(self, scenes: Any, labels: Any, **options: Any) -> Any:
        self.append(options["time_limit"])
        return self.learn_check(scenes, labels, **{**options, "time_limit": 60.0})

    def __init__(self, learn_check: Any) -> None:
        self.learn_check = learn_check


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Limits:
    from induce import learn

    given = Limits(learn.learn_check)
    monkeypatch.setattr(learn, "learn_check", given)
    return given


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "s.jsonl"
    lines = [{"label": n >= 10, "scene": {"n": n}} for n in range(20)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def test_learning_leaves_a_third_to_the_folds(file: str, limits: Limits, capsys: Any) -> None:
    assert main(["learn", file, "--time-limit", "90", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)["cross_validation"]
    assert (report["folds"], report["stopped_by_time"], report["skipped"]) == (5, 0, 0)
    assert limits[0] == 60
    assert len(limits) == 6
    assert all(limit <= 90 / (5 - number) for number, limit in enumerate(limits[1:]))
    assert limits[1] > 6  # what learning did not need


def test_learning_alone_has_all_of_it(file: str, limits: Limits) -> None:
    assert main(["learn", file, "--time-limit", "90", "--no-cv"]) == 0
    assert main(["learn", file, "--time-limit", "90", "--test", file]) == 0
    assert limits == [90, 90]


def test_rules_have_the_limit_each(tmp_path: Path, limits: Limits) -> None:
    path = tmp_path / "s.jsonl"
    lines = [{"labels": {"a": n >= 10, "b": n < 5}, "scene": {"n": n}} for n in range(20)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert main(["learn", str(path), "--time-limit", "90"]) == 0
    assert limits[:2] == [60, 60]
    assert len(limits) == 12


def test_a_wrong_limit_is_named_as_it_was_given(file: str, capsys: Any) -> None:
    assert main(["learn", file, "--time-limit", "-3"]) == 2
    assert capsys.readouterr().err.endswith("got -3.0\n")


def test_a_search_that_was_stopped_says_how_long_it_had() -> None:
    found = learn_check([{"n": n} for n in range(4)], [False, False, True, True])
    stopped = replace(found, stopped="time", optimal=False, lower_bound=0.0)
    lines = list(result_lines(numbered(), stopped, 60.0, 20.0))
    assert lines[3].endswith(
        "and the time limit of 60 s, 20 s of it kept for cross-validation, stopped the search"
    )

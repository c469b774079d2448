"""Baselines over tables: what users rely on in the rules, the figures, the time limit and what is absent."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.baselines import BASELINES, Baseline, fit_baselines
from experiments.baselines.conditions import conditions
from experiments.baselines.features import Features, encode
from experiments.baselines.greedy_list import fit as fit_greedy_list
from experiments.baselines.optimal_list import RULE_COST
from experiments.baselines.optimal_list import fit as fit_optimal_list
from experiments.baselines.process import learners
from experiments.baselines.ripper import fit as fit_ripper
from experiments.baselines.tree import fit as fit_tree
from induce.scenes import LabelledScenes

TABLES = ("tree", "ripper", "greedy_list", "optimal_list")
FITS = {
    "tree": fit_tree,
    "ripper": fit_ripper,
    "greedy_list": fit_greedy_list,
    "optimal_list": fit_optimal_list,
}


def labelled(
    scenes: Sequence[Any], passes: Sequence[bool], weights: Sequence[float] | None = None
) -> LabelledScenes:
    return LabelledScenes(
        ids=tuple(f"s{number}" for number in range(len(scenes))),
        labels=tuple("pass" if verdict else "fail" for verdict in passes),
        scenes=tuple(scenes),
        weights=tuple(weights or [1.0] * len(scenes)),
    )


def orders(count: int, start: int = 0) -> LabelledScenes:
    """Orders that pass when they are paid; the total says nothing."""
    scenes = [
        {
            "status": ("paid", "open", "sent")[number % 3],
            "total": number * 7 % 11,
            "items": [{}] * (number % 4),
        }
        for number in range(start, start + count)
    ]
    return labelled(scenes, [scene["status"] == "paid" for scene in scenes])


def fitted(scenes: LabelledScenes, *names: str, **changed: Any) -> dict[str, Baseline]:
    """Baselines by name; training scenes are the unseen ones too."""
    found = fit_baselines(scenes, scenes, names or TABLES, **{"time_limit": 60.0, "seed": 0} | changed)
    return {baseline.name: baseline for baseline in found}


@pytest.fixture
def fresh_process() -> Iterator[None]:
    """The child process is started anew, and again for the next test."""
    learners().end()
    yield
    learners().end()


def test_all_find_the_rule_and_say_it_in_the_paths_of_the_scenes() -> None:
    found = fit_baselines(orders(60), orders(30, 60), TABLES, time_limit=60.0, seed=0)
    for baseline in found:
        assert baseline.available
        assert (baseline.train_accuracy, baseline.test_accuracy, baseline.size) == (1.0, 1.0, 1)
        assert baseline.stopped == "finished"
        assert baseline.rule in (
            'if status = "paid": pass\nelse: fail',
            'if not status = "paid": fail\nelse: pass',
        )
    assert [baseline.name for baseline in found] == list(TABLES)


def test_they_come_in_the_order_asked_for_and_once() -> None:
    names = ("optimal_list", "popper", "tree", "optimal_list")
    found = fit_baselines(orders(20), orders(5), names, time_limit=60.0, seed=0)
    assert [baseline.name for baseline in found] == ["optimal_list", "popper", "tree"]
    assert fit_baselines(orders(20), orders(5), (), time_limit=60.0, seed=0) == ()


def test_an_unknown_name_and_a_scene_without_a_label_are_errors() -> None:
    with pytest.raises(ValueError, match=r"unknown baseline 'forest'; there are tree, ripper"):
        fitted(orders(5), "forest")
    unlabelled = LabelledScenes(ids=("a",), labels=(None,), scenes=({},), weights=(1.0,))
    with pytest.raises(ValueError, match="no label"):
        fitted(unlabelled, "tree")


def test_any_seed_of_a_run_will_do() -> None:
    for baseline in fitted(orders(30), seed=2**40).values():
        assert baseline.train_accuracy == 1.0, baseline.reason


def test_a_record_and_metrics_have_what_there_is() -> None:
    absent = Baseline("popper", available=False, reason="no popper on the PATH")
    assert absent.to_dict() == {"name": "popper", "available": False, "reason": "no popper on the PATH"}
    assert absent.metrics() == {}
    there = Baseline("tree", True, None, 1.0, 0.5, 3, 0.25, "pass", "finished")
    assert list(there.to_dict()) == [
        "name", "available", "train_accuracy", "test_accuracy", "size", "seconds", "rule", "stopped",
    ]  # fmt: skip
    wrong = Baseline("tree", True, train_wrong=(), test_wrong=("a", "b")).to_dict()
    assert (wrong["train_wrong"], wrong["test_wrong"]) == ([], ["a", "b"])
    assert absent.line() == "popper: no popper on the PATH"
    assert there.line() == "tree: 0.500 on unseen scenes, 3 conditions"
    noted = Baseline("ripper", True, "given few columns", 1.0, None, 1, 0.25, "pass", "time")
    assert noted.line() == "ripper: 1 condition (given few columns)"
    assert there.metrics() == {
        "baseline.tree.train_accuracy": 1.0,
        "baseline.tree.test_accuracy": 0.5,
        "baseline.tree.size": 3,
        "baseline.tree.seconds": 0.25,
    }


@pytest.mark.parametrize(
    ("scenes", "passes"),
    [
        ([{"a": 1}] * 6, [True] * 4 + [False] * 2),  # one constant column
        ([{}] * 5, [True] * 3 + [False] * 2),  # no column
        ([{"a": number} for number in range(6)], [True] * 6),  # one class
    ],
)
def test_where_nothing_can_be_told_apart_the_rule_is_a_verdict(scenes: list[Any], passes: list[bool]) -> None:
    for baseline in fitted(labelled(scenes, passes)).values():
        assert (baseline.rule, baseline.size) == ("pass", 0)
        assert baseline.train_accuracy == pytest.approx(sum(passes) / len(passes))
        assert baseline.train_wrong == tuple(f"s{at}" for at, one in enumerate(passes) if not one)


def test_no_scenes_are_a_reason_and_no_error() -> None:
    for baseline in fitted(labelled([], [])).values():
        assert baseline.to_dict() == {
            "name": baseline.name,
            "available": True,
            "reason": "no scenes to learn from",
        }


def test_no_unseen_scenes_leave_their_accuracy_out() -> None:
    nothing = labelled([], [])
    for baseline in fit_baselines(orders(20), nothing, TABLES, time_limit=60.0, seed=0):
        assert baseline.train_accuracy == 1.0
        assert baseline.test_accuracy is None
        assert (baseline.train_wrong, baseline.test_wrong) == ((), None)


def test_one_column_is_enough() -> None:
    scenes = labelled([{"n": number} for number in range(40)], [number >= 13 for number in range(40)])
    for name, baseline in fitted(scenes).items():
        assert baseline.train_accuracy is not None
        assert baseline.train_accuracy >= (0.9 if name in ("ripper", "optimal_list") else 1.0)
        assert baseline.rule is not None
        assert "n >" in baseline.rule or "n <=" in baseline.rule
    assert fitted(scenes, "tree")["tree"].rule == "if n > 12.5: pass\nelse: fail"


def test_a_rule_says_that_it_holds_of_a_number_that_is_absent() -> None:
    scenes = [{"n": 5}, {"n": 6}, {"n": 7}, {}, {"n": None}, {"n": "9"}] * 4
    passes = [type(scene.get("n")) is not int for scene in scenes]
    features = encode(labelled(scenes, passes), labelled([{"n": 5}, {}], [False, True]))
    column = features.names.index("n")
    low = next(test for test in conditions(features, 100).tests if test.column == column)
    assert features.words(low._replace(above=False)) == "(n <= 2.5 or absent)"
    assert features.words(low) == "n > 2.5"
    assert low.holds(features.test).tolist() == [True, False]


def test_weights_decide_between_contradicting_scenes() -> None:
    scenes = [{"kind": kind} for kind in ("a", "a", "b", "b") * 5]
    passes = [True, False, True, False] * 5
    heavy_passes = labelled(scenes, passes, [3.0, 1.0, 1.0, 3.0] * 5)
    heavy_fails = labelled(scenes, passes, [1.0, 3.0, 3.0, 1.0] * 5)
    for name in TABLES:
        for given_scenes, kind in ((heavy_passes, "a"), (heavy_fails, "b")):
            features = encode(given_scenes, labelled([{"kind": "a"}, {"kind": "b"}], [True, False]))
            verdicts = FITS[name](features, seed=0, time_limit=10.0).test
            assert verdicts.tolist() == [kind == "a", kind == "b"], (name, kind)


def test_weights_repeat_scenes_within_limits() -> None:
    def repeated(weights: list[float]) -> list[int]:
        scenes = labelled([{"n": n} for n in range(len(weights))], [True] * len(weights), weights)
        rows = encode(scenes, scenes).repeated()
        return np.bincount(rows, minlength=len(weights)).tolist()

    assert repeated([0.5, 1.0, 1.5]) == [1, 2, 3]
    assert repeated([2.0, 0.0, 2.0]) == [1, 0, 1]
    assert repeated([0.0, 0.0]) == [1, 1]
    light, heavy = repeated([1e-6, 1e6])
    assert light == 1
    assert 10 <= heavy <= 20


def test_of_many_columns_the_telling_ones_are_kept() -> None:
    rng = np.random.default_rng(5)
    scenes = [
        {f"k{key:04}": int(value) for key, value in enumerate(rng.integers(0, 100, 2400))} for _ in range(40)
    ]
    passes = [scene["k1234"] >= 50 for scene in scenes]
    for baseline in fitted(labelled(scenes, passes), "tree", "optimal_list").values():
        assert baseline.reason is not None
        assert baseline.rule is not None
        assert "k1234" in baseline.rule
    tree = fitted(labelled(scenes, passes), "tree")["tree"]
    assert tree.reason == "given the 2000 of 2400 columns that tell the labels apart best"
    assert tree.train_accuracy == 1.0


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (1.4e-6, 1.5e-6),
        (4.29e9, 4.29e9 + 1),
        (1767225600000, 1767225600001),  # milliseconds, alike in single precision
        (19.99, 20.00),
        (-1e300, 1e300),
        (2**60, 2**60 + 1024),
    ],
)
def test_thresholds_are_exact_at_every_scale(low: float, high: float) -> None:
    scenes = labelled([{"x": low}, {"x": high}] * 10, [True, False] * 10)
    for name in TABLES:
        features = encode(scenes, scenes)
        rule = FITS[name](features, seed=0, time_limit=10.0)
        assert rule.train.tolist() == [True, False] * 10, name
        bound = float(rule.rule.split("x <= ")[-1].split("x > ")[-1].split(":")[0])
        assert low <= bound < high, (name, rule.rule)


def test_the_same_seed_gives_the_same_whatever_the_hash_seed(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    scenes = [{key: int(rng.integers(0, 3)) for key in "abcdef"} | {"w": "xyz"[i % 3]} for i in range(60)]
    passes = [bool(rng.integers(0, 2)) for _ in scenes]
    rows = [{"scene": scene, "label": verdict} for scene, verdict in zip(scenes, passes, strict=True)]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    program = """
        import json, sys
        from experiments.baselines import fit_baselines
        from induce.scenes import LabelledScenes
        rows = json.load(open(sys.argv[1]))
        labels = tuple("pass" if row["label"] else "fail" for row in rows)
        ids = tuple(f"s{at}" for at in range(len(rows)))
        scenes = LabelledScenes(ids, labels, tuple(row["scene"] for row in rows), (1.0,) * len(rows))
        names = ("tree", "ripper", "greedy_list", "optimal_list")
        found = fit_baselines(scenes, scenes, names, time_limit=60.0, seed=3)
        records = [baseline.to_dict() for baseline in found]
        for record in records: del record["seconds"]
        print(json.dumps(records))
    """
    import os

    answer = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "rows.json")],
        env=os.environ | {"PYTHONHASHSEED": "77", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    here = []
    for baseline in fitted(labelled(scenes, passes), seed=3).values():
        record = baseline.to_dict()
        del record["seconds"]
        here.append(record)
    assert json.loads(answer.stdout) == here


# The process of the libraries


def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fit: str, top: str = "") -> None:
    """Put a package `wittgenstein` before the real one; `fit` is the body of its `fit`."""
    package = tmp_path / "wittgenstein"
    package.mkdir()
    body = textwrap.indent(textwrap.dedent(fit), "        ")
    source = (
        f"{top}\nclass RIPPER:\n    def __init__(self, **kw): pass\n    def fit(self, *a, **kw):\n{body}\n"
    )
    (package / "__init__.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("fresh_process")
def test_a_library_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub(tmp_path, monkeypatch, "while True: pass")
    fitted(orders(30), "tree")
    started = time.monotonic()
    found = fitted(orders(30), "ripper", "tree", time_limit=2.0)
    assert time.monotonic() - started < 60  # the library never ends
    assert found["ripper"] == Baseline("ripper", True, "no rule within 2 s", seconds=2.0, stopped="time")
    assert found["tree"].train_accuracy == 1.0


@pytest.mark.usefixtures("fresh_process")
@pytest.mark.parametrize(
    ("fit", "reason"),
    [
        ("import os; os._exit(3)", "it failed: its process ended with exit code 3"),
        ("print('x' * 9); raise KeyError('a\\nb')", r"it failed: KeyError: 'a\nb'"),
    ],
)
def test_a_library_that_breaks_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fit: str, reason: str
) -> None:
    stub(tmp_path, monkeypatch, fit)
    found = fitted(orders(30), "ripper", "optimal_list")
    assert found["ripper"].to_dict() == {"name": "ripper", "available": True, "reason": reason}
    assert found["optimal_list"].train_accuracy == 1.0


@pytest.mark.usefixtures("fresh_process")
def test_a_library_that_cannot_be_imported_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub(tmp_path, monkeypatch, "pass", top="import numpy\nnumpy.no_longer_there")
    found = fitted(orders(30), "ripper")["ripper"]
    assert not found.available
    assert found.reason is not None
    assert found.reason.startswith("wittgenstein can't be imported (AttributeError: module 'numpy' has no")


def test_without_the_extra_learners_are_absent_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wittgenstein", None)
    monkeypatch.setitem(sys.modules, "imodels", None)
    found = fitted(orders(20))
    hint = "is not installed; pip install 'check-induction[baselines]'"
    assert found["ripper"] == Baseline("ripper", available=False, reason=f"wittgenstein {hint}")
    assert found["greedy_list"] == Baseline("greedy_list", available=False, reason=f"imodels {hint}")
    assert found["tree"].available
    assert found["optimal_list"].available


def test_reading_the_scenes_counts_against_the_limit() -> None:
    for baseline in fitted(orders(50), time_limit=1e-6).values():
        assert (baseline.available, baseline.stopped, baseline.rule) == (True, "time", None)


def test_deep_scenes_are_no_trouble() -> None:
    deep: Any = {"x": 1}
    for _ in range(120):
        deep = {"a": deep}
    scenes = labelled([{"deep": deep, "n": number} for number in range(12)], [n < 6 for n in range(12)])
    assert fitted(scenes, "tree")["tree"].rule == "if n > 5.5: fail\nelse: pass"


def test_the_command_starts_without_the_libraries() -> None:
    program = (
        "import experiments.baselines, sys; print([m for m in ('sklearn', 'pandas') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout == "[]\n"


def test_every_learner_has_a_place() -> None:
    from experiments.baselines.child import LEARNERS
    from experiments.baselines.installed import COMMANDS

    assert (*LEARNERS, *COMMANDS) == BASELINES


# The optimal list, against all lists


@cache
def _pairs(count: int) -> list[tuple[int, ...]]:
    return [(i,) for i in range(count)] + [(i, j) for i in range(count) for j in range(i + 1, count)]


def cheapest(columns: np.ndarray[Any, Any], passes: list[bool], weights: list[float]) -> float:
    """The least cost of any list over the columns' values, their negations and pairs of these."""
    literals = [*columns.T.tolist(), *(1 - columns.T).tolist()]
    masks = {
        sum(1 << row for row in range(len(passes)) if all(literals[index][row] for index in chosen))
        for chosen in _pairs(len(literals))
    }
    total = sum(weights)

    def wrong(rows: int) -> float:
        sides = [0.0, 0.0]
        for row, verdict in enumerate(passes):
            if rows >> row & 1:
                sides[verdict] += weights[row] / total
        return min(sides)

    @cache
    def best(left: int) -> float:
        further = (RULE_COST + wrong(left & mask) + best(left & ~mask) for mask in masks if left & mask)
        return min([wrong(left), *further])

    return best((1 << len(passes)) - 1)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_an_optimal_list_is_optimal(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 9))
    table = np.array(data.draw(st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=count, max_size=count)))
    passes = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=count, max_size=count))
    scenes = labelled(
        [dict(zip("abc", row, strict=True)) for row in table.tolist()],
        passes,
        weights,
    )
    rule = fit_optimal_list(encode(scenes, scenes), seed=0, time_limit=60.0)
    rules = sum(line.startswith(("if", "else if")) for line in rule.rule.splitlines())
    wrong = sum(w for w, said, meant in zip(weights, rule.train, passes, strict=True) if said != meant)
    cost = wrong / sum(weights) + RULE_COST * rules
    assert cost == pytest.approx(cheapest(table, passes, weights), abs=1e-9)
    if rule.note is not None:
        assert rule.note.startswith("optimal over")


def test_a_list_that_time_cuts_short_is_still_a_list() -> None:
    rng = np.random.default_rng(0)
    scenes = labelled(
        [{f"k{i}": int(v) for i, v in enumerate(rng.integers(0, 5, 30))} for _ in range(200)],
        [bool(value) for value in rng.integers(0, 2, 200)],
    )
    rule = fit_optimal_list(encode(scenes, scenes), seed=0, time_limit=0.0)
    assert not rule.finished
    assert rule.note is not None
    assert rule.note.startswith("not proved optimal over")
    assert rule.size >= 1


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_what_a_rule_says_is_what_it_does(data: st.DataObject) -> None:
    """The words of each rule, read by a reader of our own, give the verdicts that are counted."""
    count = data.draw(st.integers(4, 14))
    number = st.one_of(st.integers(-3, 3), st.floats(-2, 2, width=16), st.none())
    scenes = [
        {key: value for key in "ab" if (value := data.draw(number)) is not None}
        | {"kind": data.draw(st.sampled_from(["x", "y"]))}
        for _ in range(count)
    ]
    passes = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    given_scenes = labelled(scenes, passes)
    features = encode(given_scenes, given_scenes)
    for name in TABLES:
        rule = FITS[name](features, seed=0, time_limit=10.0)
        assert [read(rule.rule, scene) for scene in scenes] == rule.train.tolist(), (name, rule.rule)


def read(rule: str, scene: dict[str, Any]) -> bool:
    """The verdict of a rule's words on a scene of the property above."""
    lines = rule.splitlines()
    depth, place = 0, 0
    while True:
        head, _, verdict = lines[place].strip().partition(": ")
        head = head.removesuffix(":")
        if head in ("pass", "fail"):
            return head == "pass"
        taken = head == "else" or all(holds(test, scene) for test in head.split("if ", 1)[1].split(" and "))
        if taken and verdict:
            return verdict == "pass"
        if taken:
            depth, place = depth + 1, place + 1
            continue
        place += 1
        while len(lines[place]) - len(lines[place].lstrip()) > 2 * depth:
            place += 1


def holds(test: str, scene: dict[str, Any]) -> bool:
    if test.startswith("not "):
        return not holds(test.removeprefix("not "), scene)
    if test.endswith(" or absent)"):
        inner = test.removeprefix("(").removesuffix(" or absent)")
        return inner.split()[0] not in scene or holds(inner, scene)
    if test.endswith((" present", " is number")):
        return test.split()[0] in scene
    path, sign, value = test.split()
    found = scene.get(path)
    if sign == "=":
        return bool(found == json.loads(value))
    if found is None:
        return False
    assert math.isfinite(float(value))
    return bool(found > float(value)) if sign == ">" else bool(found <= float(value))


def test_the_rules_are_those_of_the_libraries() -> None:
    """What is read out of their models has the verdicts that they themselves give."""
    import pandas as pd
    from imodels import GreedyRuleListClassifier
    from sklearn.tree import DecisionTreeClassifier
    from wittgenstein import RIPPER

    rng = np.random.default_rng(2)
    rows = [
        {key: float(value) for key, value in zip("abcd", row, strict=True)}
        for row in rng.normal(size=(150, 4))
    ]
    passes = [row["a"] + 0.5 * row["b"] * row["c"] > rng.normal(0, 0.3) for row in rows]
    features = encode(labelled(rows[:100], passes[:100]), labelled(rows[100:], passes[100:]))
    tree = DecisionTreeClassifier(max_depth=4, random_state=5).fit(features.train, features.train_passes)
    rule = fit_tree(features, seed=5, time_limit=10.0)
    assert rule.train.tolist() == tree.predict(features.train).tolist()
    assert rule.test.tolist() == tree.predict(features.test).tolist()

    np.random.seed(5)
    greedy = GreedyRuleListClassifier().fit(features.train, features.train_passes.astype(int))
    rule = fit_greedy_list(features, seed=5, time_limit=10.0)
    assert rule.train.tolist() == greedy.predict(features.train).astype(bool).tolist()
    assert rule.test.tolist() == greedy.predict(features.test).astype(bool).tolist()

    given_tests = conditions(features, 200)
    names = [f"c{index}" for index in range(len(given_tests.tests))]
    ripper = RIPPER(random_state=5, n_discretize_bins=None)
    ripper.fit(pd.DataFrame(given_tests.truth.astype(int), columns=names), y=passes[:100], pos_class=True)
    unseen = np.array([test.holds(features.test) for test in given_tests.tests]).T.astype(int)
    rule = fit_ripper(features, seed=5, time_limit=10.0)
    assert rule.test.tolist() == ripper.predict(pd.DataFrame(unseen, columns=names))
    assert 0 < rule.test.sum() < 50


def test_features_are_those_of_the_encoder() -> None:
    scenes = orders(12)
    features: Features = encode(scenes, scenes)
    assert 'status = "paid"' in features.names
    assert "total" in features.names
    assert "length(items)" in features.names

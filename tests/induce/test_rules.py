"""Several rules over the same scenes become one pack."""

from __future__ import annotations

import random
from typing import Any

import pytest

from evaluator import SceneError, run_check, run_pack
from induce import learn_check, learn_rules, load_scenes

JSON = Any


def records(count: int = 30) -> list[dict[str, Any]]:
    draw = random.Random(6)
    lines = []
    for number in range(count):
        scene = {"total": draw.randrange(5, 1000, 5), "days": draw.randint(1, 9)}
        labels: dict[str, Any] = {"budget": "pass" if scene["total"] <= 500 else "fail"}
        if number % 3:
            labels["on time"] = scene["days"] <= 4
        else:
            labels["on time"] = None
        lines.append({"id": f"o{number}", "labels": labels, "scene": scene})
    return lines


def test_a_line_may_label_its_scene_by_rule() -> None:
    data = load_scenes(records(4))
    assert data.labels == (None,) * 4
    assert data.rule_names == ("budget", "on time")
    on_time = data.for_rule("on time")
    assert on_time.ids == ("o1", "o2")
    assert set(on_time.labels) <= {"pass", "fail"}
    assert on_time.rules == ()
    assert data.subset([2]).rules == data.rules[2:3]


def test_a_plain_label_is_read_as_before() -> None:
    data = load_scenes([{"label": "pass", "scene": 1}, {"label": "fail", "scene": 2}])
    assert (data.labels, data.rules, data.rule_names) == (("pass", "fail"), (), ())
    assert load_scenes([{"labels": "pass", "scene": 1}], label_column="labels").labels == ("pass",)
    with pytest.raises(SceneError, match=r'unknown key "labels"; did you mean "label"\?'):
        load_scenes([{"labels": "pass", "scene": 1}])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            {"budget": "maybe"},
            r'\$\[0\]\.labels\.budget: unknown label the text "maybe"|unknown label "maybe"',
        ),
        ({" ": 1}, "the name of a rule is empty"),
    ],
)
def test_a_bad_label_of_a_rule_is_placed(labels: JSON, message: str) -> None:
    with pytest.raises(SceneError, match=message) as caught:
        load_scenes([{"labels": labels, "scene": 1}])
    assert "$[0].labels" in str(caught.value)


def test_each_rule_gets_its_check_and_all_are_a_pack() -> None:
    data = load_scenes(records())
    by_rule = {name: [dict(rules).get(name) for rules in data.rules] for name in reversed(data.rule_names)}
    learnt = learn_rules(data.scenes, by_rule, ids=data.ids, pack_id="yard@2.0.0")
    assert list(learnt.results) == ["budget", "on time"]
    assert learnt.pack.id == "yard@2.0.0"
    assert [check.id for check in learnt.pack.checks] == ["budget", "on time"]
    alone = data.for_rule("on time")
    assert learnt.results["on time"].check == learn_check(alone.scenes, alone.labels).check
    for name, result in learnt.results.items():
        part = data.for_rule(name)
        for scene, label in zip(part.scenes, part.labels, strict=True):
            assert run_check(scene, result.check).passed == (label == "pass")
    report = run_pack(learnt.pack, data.scenes)
    assert report.by_check["budget"].failed == data.for_rule("budget").labels.count("fail")


def test_errors_name_the_rule() -> None:
    scenes = [{"a": 1}, {"a": 2}]
    with pytest.raises(ValueError, match="rule big: all scenes are labelled pass"):
        learn_rules(scenes, {"big": ["pass", "pass"]})
    with pytest.raises(ValueError, match="rule big: expected a label for each of the 2 scenes, got 1"):
        learn_rules(scenes, {"big": ["pass"]})
    with pytest.raises(ValueError, match="no rules"):
        learn_rules(scenes, {})
    with pytest.raises(ValueError, match="version"):
        learn_rules(scenes, {"big": ["pass", "fail"]}, pack_id="yard")

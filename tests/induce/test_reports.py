"""Faults reported of neighbouring systems, each one impossible here (learner's side)."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from evaluator import run_check
from induce import InductionResult, LabelledScenes, learn_check, load_scenes

JSON = Any


def learnt(passing: list[JSON], failing: list[JSON], **options: Any) -> InductionResult:
    return learn_check(passing + failing, ["pass"] * len(passing) + ["fail"] * len(failing), **options)


def test_h1_true_is_not_one() -> None:
    result = learnt([{"on": True}] * 2, [{"on": 1}] * 2)
    assert result.misclassified == ()
    assert (
        result.check["op"] not in ("gte", "lte")
        or not run_check({"on": True}, {"op": "gte", "path": "on", "value": 1}).passed
    )
    assert run_check({"on": True}, result.check).passed
    assert not run_check({"on": 1.0}, result.check).passed
    nested = learnt([{"xs": [False]}] * 2, [{"xs": [0]}] * 2)
    assert nested.misclassified == ()


@pytest.mark.parametrize("absent", [{"t": None}, {}, {"t": "12"}, {"t": [3]}, {"t": False}])
def test_h2_null_is_not_zero(absent: JSON) -> None:
    result = learnt([{"t": t} for t in range(3, 10)], [absent, {**absent, "x": 1}, {"t": 40}, {"t": 35}])
    assert result.misclassified == ()
    assert not run_check(absent, result.check).passed


def test_h3_keys_with_a_dot_are_named_and_never_guessed() -> None:
    def scene(fast: bool, n: int) -> JSON:
        return {"metrics": {"p95.latency": 5 if fast else 50, "app/name[0]": fast, "n": n}, "ok": fast}

    scenes = [scene(fast, n) for n, fast in enumerate([True, False] * 6)]
    result = learn_check(scenes, ["pass", "fail"] * 6)
    assert result.check == {"op": "eq", "path": "ok", "value": True}
    assert result.unusable_keys == ("metrics.app/name[0]", "metrics.p95.latency")


CAUSES = [("total", lambda i, good: (100 + 37 * i) % 400 + 60 if good else 520 + (91 * i) % 400)]
NAMES = {
    "number": lambda i: 1001 + i,
    "epoch": lambda i: 1767225600 + 3600 * i,
    "date": lambda i: f"2026-01-{i + 1:02d}",
    "time": lambda i: f"2026-01-01T{i:02d}:00:00Z",
    "uuid": lambda i: f"{i:08x}-1111-4222-8333-{i:012x}",
    "digest": lambda i: f"{i * 7919:040x}"[:39] + "f",
    "row": lambda i: i,
}


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("field", ["order_id", "created_at", "stamp"])
def test_h4_names_and_times_of_a_row_are_not_its_cause(kind: str, field: str) -> None:
    name, cause = NAMES[kind], CAUSES[0][1]
    passing = [{field: name(i), "total": cause(i, True)} for i in range(10)]
    failing = [{field: name(i), "total": cause(i, False)} for i in range(10, 20)]
    result = learnt(passing, failing)
    assert result.check["op"] == "lte"
    assert result.check["path"] == "total"
    assert result.check["value"] == 500


def test_h5_reported_verdicts_hold_on_the_data_they_come_from() -> None:
    passing = [{"score": 5 + i, "kind": "a"} for i in range(8)] + [{"kind": "a"}, {"kind": "a", "n": 1}]
    failing = [{"score": None, "kind": "a"}] + [{"score": i - 5, "kind": "a"} for i in range(8)]
    result = learnt(passing, failing)
    labels = [True] * len(passing) + [False] * len(failing)
    wrong = [
        str(i)
        for i, (scene, label) in enumerate(zip(passing + failing, labels, strict=True))
        if run_check(scene, result.check).passed is not label
    ]
    assert sorted(wrong) == list(result.misclassified)


def test_h6_one_class_is_refused_with_a_hint() -> None:
    with pytest.raises(ValueError, match=r"all scenes are labelled pass.*add scenes labelled fail"):
        learn_check([{"a": 1}, {"a": 2}], ["pass", "pass"])
    with pytest.raises(ValueError, match=r"all scenes are labelled fail.*add scenes labelled pass"):
        learn_check([{"a": 1}], ["fail"])
    with pytest.raises(ValueError, match="no labelled scenes"):
        learn_check([], [])


def noisy_orders() -> tuple[list[JSON], list[str], list[str]]:
    rng = random.Random("h7")
    scenes = [{"total": rng.randrange(0, 1000), "lines": rng.randrange(1, 9)} for _ in range(40)]
    labels = ["pass" if scene["total"] <= 500 else "fail" for scene in scenes]
    return scenes, labels, [f"a{i}" for i in range(40)]


def test_h7_a_contradiction_is_named_by_id() -> None:
    scenes, labels, ids = noisy_orders()
    scenes.append(dict(reversed(scenes[17].items())))
    labels.append("fail" if labels[17] == "pass" else "pass")
    result = learn_check(scenes, labels, ids=[*ids, "a17b"])
    assert result.contradictions == (("a17", "a17b"),)
    assert set(result.misclassified) == {"a17b"}
    assert (result.check["op"], result.check["path"]) == ("lte", "total")


def test_h7_a_flipped_label_is_listed_and_the_clean_rule_found() -> None:
    scenes, labels, ids = noisy_orders()
    flipped = next(i for i, scene in enumerate(scenes) if 100 < scene["total"] < 300)
    labels[flipped] = "fail"
    result = learn_check(scenes, labels, ids=ids)
    assert result.misclassified == (ids[flipped],)
    assert (result.check["op"], result.check["path"]) == ("lte", "total")


def test_h8_engines_and_jobs_change_nothing() -> None:
    scenes, labels, ids = noisy_orders()
    texts = {
        json.dumps(learn_check(scenes, labels, ids=ids, engine=engine, n_jobs=jobs).check)
        for engine in ("auto", "asp")
        for jobs in (None, 1, 2, 4)
    }
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("passing", "failing"),
    [
        ([1.1e-6, 1.2e-6, 1.3e-6, 1.4e-6], [1.5e-6, 1.7e-6, 1.9e-6, 2e-6]),
        ([4.29e9 - 1, 4.29e9], [4.29e9 + 1, 4.29e9 + 2]),
        ([19.97, 19.99], [20.00, 20.01]),
        ([2**53 - 1, 2**53], [2**53 + 1, 2**53 + 3]),
        ([0.1 + 0.2 - 2**-54], [0.1 + 0.2]),
        ([-2e-300, -1e-300], [1e-300, 2e-300]),
        ([2**70, 2**70 + 1], [2**70 + 2, 2**70 + 9]),
    ],
)
def test_h9_the_printed_number_still_separates(passing: list[float], failing: list[float]) -> None:
    result = learnt([{"rate": v} for v in passing], [{"rate": v} for v in failing])
    again = json.loads(json.dumps(result.to_check()))
    assert all(run_check({"rate": v}, again).passed for v in passing)
    assert not any(run_check({"rate": v}, again).passed for v in failing)


def test_h10_large_values_and_large_weights_do_not_wrap() -> None:
    good = [1767225600000 + 7 * i for i in range(6)]
    bad = [1767225700000 + 7 * i for i in range(6)]
    scenes = [{"cents": v, "bytes": v * 4096} for v in good + bad]
    labels = ["pass"] * 6 + ["fail"] * 6
    result = learn_check(scenes, labels, sample_weight=[1e9] * 12, engine="asp")
    assert result.misclassified == ()
    assert result.optimal
    flipped = learn_check([*scenes, {"cents": 5, "bytes": 5}], [*labels, "fail"], sample_weight=[1e9] * 13)
    assert flipped.misclassified == ()


def test_contradictions_of_a_file_are_named(tmp_path: Any) -> None:
    file = tmp_path / "scenes.jsonl"
    file.write_text(
        '{"id": "a17", "label": "pass", "scene": {"a": 1, "b": 2}}\n'
        '{"id": "a17b", "label": "fail", "scene": {"b": 2.0, "a": 1}}\n'
    )
    loaded: LabelledScenes = load_scenes(str(file))
    assert loaded.contradictions() == (("a17", "a17b"),)

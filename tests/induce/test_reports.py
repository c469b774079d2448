"""Faults reported of neighbouring systems, each one impossible here (learner's side)."""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import os
import random
import subprocess
import sys
import uuid
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import KFold, cross_val_score

from evaluator import (
    CheckError,
    canonical_json,
    evaluate_many,
    from_cel,
    json_text,
    run_check,
    sentence,
    simplify,
    to_cel,
)
from induce import (
    CheckInducer,
    InductionResult,
    LabelledScenes,
    SceneEncoder,
    coverage_by_term,
    export_check,
    learn_check,
    learn_rules,
    load_scenes,
    margins,
    near_best,
    objective_of,
    permutation_test,
    repair,
    score_check,
)
from induce.summary import result_lines

JSON = Any
ROOT = Path(__file__).resolve().parents[2]


def verdicts_everywhere(check: JSON, scenes: list[JSON]) -> dict[str, list[bool]]:
    """The verdicts of a check on scenes, by everything that can give them."""
    module: dict[str, Any] = {}
    exec(export_check(check, "python"), module)
    found = {
        "run_check": [run_check(scene, check).passed for scene in scenes],
        "evaluate_many": evaluate_many([check], scenes).passed[0].tolist(),
        "python": [module["passes"](scene) for scene in scenes],
        "json": [run_check(scene, json.loads(export_check(check))).passed for scene in scenes],
        "json_text": [run_check(scene, json.loads(json_text(check))).passed for scene in scenes],
        "canonical": [run_check(scene, json.loads(canonical_json(check))).passed for scene in scenes],
        "simplified": [run_check(scene, simplify(check)).passed for scene in scenes],
    }
    for standard in (True, False):
        try:
            said = from_cel(to_cel(check, standard=standard), standard=standard)
        except CheckError:
            continue  # CEL has no words for it, and says so
        found[f"cel {standard}"] = [run_check(scene, said).passed for scene in scenes]
    return found


def separates(check: JSON, passing: list[JSON], failing: list[JSON]) -> None:
    """Whatever judges the check tells the scenes apart."""
    wanted = [True] * len(passing) + [False] * len(failing)
    for judge, verdicts in verdicts_everywhere(check, passing + failing).items():
        assert verdicts == wanted, judge


WRAPS: dict[str, Callable[[JSON], JSON]] = {
    "field": lambda v: {"a": v},
    "object": lambda v: {"o": {"a": v}},
    "member": lambda v: {"l": [v]},
    "element": lambda v: {"l": [{"v": v}]},
    "inner": lambda v: {"l": [{"m": [{"v": v}]}]},
}


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


ALIKE = [
    (True, 1),
    (False, 0),
    (False, -0.0),
    ("1", 1),
    ("true", True),
    ("", None),
    (None, False),
    (None, 0),
    ("", 0),
    ("0", False),
    ([True], [1]),
    ([0], [False]),
    ([None], [False]),
    ([[]], [0]),
]


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_h1_what_a_host_language_takes_for_equal_is_told_apart(one: JSON, other: JSON, wrap: str) -> None:
    for this, that in ((one, other), (other, one)):
        passing = [WRAPS[wrap](this), {**WRAPS[wrap](this), "n": 1}]
        failing = [WRAPS[wrap](that), {**WRAPS[wrap](that), "n": 2}]
        result = learnt(passing, failing)
        assert result.misclassified == ()
        separates(result.check, passing, failing)
        assert (
            load_scenes(
                [{"label": "pass", "scene": passing[0]}, {"label": "fail", "scene": failing[0]}]
            ).contradictions()
            == ()
        )


def test_h1_rules_repairs_and_the_encoder_tell_true_from_one() -> None:
    passing, failing = [{"a": True}, {"a": True, "b": 1}], [{"a": 1}, {"a": 1.0, "c": 2}]
    labels = ["pass"] * 2 + ["fail"] * 2
    separates(learn_rules(passing + failing, {"r": labels}).results["r"].check, passing, failing)
    separates(
        repair({"op": "eq", "path": "a", "value": 1}, passing + failing, labels).check, passing, failing
    )
    scenes = [{"a": value} for value in (True, 1, 0, False)] * 3
    table = SceneEncoder().fit(scenes).transform(scenes[:4])
    assert len({tuple(row) for row in table}) == 4


@pytest.mark.parametrize("absent", [{"t": None}, {}, {"t": "12"}, {"t": [3]}, {"t": False}])
def test_h2_null_is_not_zero(absent: JSON) -> None:
    result = learnt([{"t": t} for t in range(3, 10)], [absent, {**absent, "x": 1}, {"t": 40}, {"t": 35}])
    assert result.misclassified == ()
    assert not run_check(absent, result.check).passed


@pytest.mark.parametrize("absent", [{"t": None}, {}, {"t": "12"}, {"t": [3]}, {"t": False}, {"t": ""}])
@pytest.mark.parametrize("where", ["element", "inner", "keyed"])
def test_h2_nor_is_it_inside_collections(absent: JSON, where: str) -> None:
    def scene(element: JSON) -> JSON:
        if where == "keyed":
            return {"l": [{"k": "x", **element}, {"k": "y"}]}
        return {"l": [{"m": [element]}]} if where == "inner" else {"l": [element]}

    passing = [scene({"t": t}) for t in range(3, 12)]
    failing = [scene(absent), scene({**absent, "z": 1}), scene({"t": 40}), scene({"t": 35})]
    result = learnt(passing, failing)
    assert result.misclassified == ()
    separates(result.check, passing, failing)


ODD_KEYS = [
    "p95.latency", "app/name[0]", "", " k ", "a]", "[id=1]", "..", "a[", "$", "length", "0", "-1", "a'b",
    'a"b', "a\\b", "ключ", "😀", "a=b", "x has y", "\u200b", "\x9b", "null", "k" * 300, "tab\tkey",
    "new\nline", "__proto__", "*", "@", "a,b", "{}", "%s", "\x00", "e\u0301",
]  # fmt: skip


@pytest.mark.parametrize("key", ODD_KEYS, ids=ascii)
@pytest.mark.parametrize("place", ["top", "inside", "element"])
def test_h3_a_key_is_used_as_it_is_or_named_as_unusable(key: str, place: str) -> None:
    def scene(value: JSON) -> JSON:
        inner = {key: value}
        return {"top": inner, "inside": {"m": inner}, "element": {"l": [inner]}}[place]

    spelt = {True: "yes", False: "no"}
    passing, failing = ([scene(i + (0 if good else 50)) for i in range(5)] for good in (True, False))
    usable = key != "" and not set(key) & set(".[]")
    if usable:
        result = learnt(passing, failing)
        assert result.misclassified == ()
        assert result.unusable_keys == ()
        separates(result.check, passing, failing)
        assert sentence(result.check).isprintable()
        return
    with pytest.raises(ValueError, match="no candidate literal"):
        learnt(passing, failing)
    said = [
        {**one, "ok": spelt[good]} for good, group in ((True, passing), (False, failing)) for one in group
    ]
    result = learnt(said[:5], said[5:])
    assert result.check == {"op": "eq", "path": "ok", "value": "yes"}
    assert result.unusable_keys == ({"top": key, "inside": f"m.{key}", "element": f"l.{key}"}[place],)


def test_h3_a_path_that_looks_like_the_key_is_another_value() -> None:
    scenes = [{"a.b": n % 2, "a": {"b": 7}, "n": n} for n in (3, 0, 5, 2, 1, 4, 9, 6)]
    with pytest.raises(ValueError, match="no candidate literal"):
        learn_check([{"a.b": s["a.b"], "a": s["a"]} for s in scenes], ["pass", "fail"] * 4)


def test_h3_keys_with_a_dot_are_named_and_never_guessed() -> None:
    def scene(fast: bool, n: int) -> JSON:
        return {"metrics": {"p95.latency": 5 if fast else 50, "app/name[0]": fast, "n": n}, "ok": fast}

    scenes = [scene(fast, n) for n, fast in enumerate([True, False] * 6)]
    result = learn_check(scenes, ["pass", "fail"] * 6)
    assert result.check == {"op": "eq", "path": "ok", "value": True}
    assert result.unusable_keys == ("metrics.app/name[0]", "metrics.p95.latency")


CAUSES = [("total", lambda i, good: (100 + 37 * i) % 400 + 60 if good else 520 + (91 * i) % 400)]
START = datetime.datetime(2026, 1, 1)


def hours(i: int) -> datetime.datetime:
    return START + datetime.timedelta(hours=i)


NAMES: dict[str, Callable[[int], JSON]] = {
    "number": lambda i: 1001 + i,
    "row": lambda i: i,
    "every tenth": lambda i: 10 * i,
    "every seventh": lambda i: 100 + 7 * i,
    "epoch": lambda i: 1767225600 + 3600 * i,
    "epoch ms": lambda i: 1767225600000 + 3600000 * i,
    "epoch us": lambda i: (1767225600 + 3600 * i) * 10**6,
    "epoch ns": lambda i: (1767225600 + 3600 * i) * 10**9,
    "epoch fraction": lambda i: 1767225600.25 + 3600.5 * i,
    "date": lambda i: f"2026-01-{i + 1:02d}",
    "day number": lambda i: int(f"202601{i + 1:02d}"),
    "american date": lambda i: f"01/{i + 1:02d}/2026",
    "time": lambda i: hours(i).isoformat() + "Z",
    "zoned time": lambda i: hours(i).isoformat() + "+02:00",
    "fraction of a second": lambda i: hours(i).isoformat() + ".123Z",
    "time with a space": lambda i: hours(i).isoformat(" "),
    "mail time": lambda i: hours(i).strftime("%a, %d %b %Y %H:%M:%S GMT"),
    "clock": lambda i: f"{i:02d}:{7 * i % 60:02d}",
    "uuid": lambda i: str(uuid.UUID(int=i * 2654435761 << 64 | i * 7919)),
    "bare uuid": lambda i: uuid.UUID(int=i * 2654435761 << 64 | i * 7919).hex,
    "ulid": lambda i: "01HQ" + base64.b32encode(hashlib.sha1(str(i).encode()).digest()).decode()[:22],
    "base64": lambda i: base64.b64encode(hashlib.sha256(str(i).encode()).digest()).decode()[:22],
    "digest": lambda i: hashlib.sha1(str(i).encode()).hexdigest(),
    "short digest": lambda i: hashlib.sha1(str(i).encode()).hexdigest()[:8],
    "prefixed": lambda i: f"ord-{1000 + i}",
    "padded": lambda i: f"INV{i:06d}",
    "digits": lambda i: str(1000 + i),
}


def total(i: int, good: bool) -> int:
    return (100 + 37 * i) % 400 + 60 if good else 520 + (91 * i) % 400


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("place", ["top", "inside", "element", "other element"])
def test_h4_names_and_times_of_a_row_are_not_its_cause(kind: str, place: str) -> None:
    name = NAMES[kind]
    for field in ("order_id", "created_at", "stamp"):

        def scene(i: int, good: bool, field: str = field) -> JSON:
            stamp, cause = {field: name(i)}, {"total": total(i, good)}
            return {
                "top": {**stamp, **cause},
                "inside": {"meta": stamp, **cause},
                "element": {"items": [{**stamp, **cause}]},
                "other element": {"events": [stamp], **cause},
            }[place]

        result = learnt([scene(i, True) for i in range(10)], [scene(i, False) for i in range(10, 20)])
        bound = {"op": "lte", "path": "total", "value": 500}
        inside = {"op": "find", "collection": "items", "where": bound}
        assert result.check == (inside if place == "element" else bound)


def test_h4_a_measure_of_even_steps_that_comes_back_is_no_counter() -> None:
    passing = [{"size": 10 * (i % 5 + 1), "z": i} for i in range(12)]
    failing = [{"size": 10 * (i % 5 + 6), "z": i} for i in range(12)]
    assert learnt(passing, failing).check == {"op": "lte", "path": "size", "value": 50}


messy_values = st.sampled_from(
    [None, True, False, 0, 1, 2.5, -3, "a", "b", "12", [], [1], ["a", 2], {}, {"k": 1}]
)
messy_scenes = st.dictionaries(
    st.sampled_from(["score", "kind", "items", "o"]),
    messy_values | st.lists(st.fixed_dictionaries({"v": messy_values}), max_size=3),
    max_size=4,
)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(messy_scenes, st.booleans(), st.sampled_from([0.5, 1.0, 3.0])), min_size=6, max_size=14
    )
)
def test_h5_whatever_is_claimed_is_what_run_check_says(rows: list[tuple[JSON, bool, float]]) -> None:
    rows = [*rows, ({"score": 9, "kind": "c"}, True, 1.0), ({"score": 1, "kind": "d"}, False, 1.0)]
    scenes, given_labels, weights = map(list, zip(*rows, strict=True))
    labels = ["pass" if label else "fail" for label in given_labels]
    ids = [str(i) for i in range(len(scenes))]
    fitted = CheckInducer(time_limit=1.0).fit(scenes, labels, sample_weight=weights)
    result = fitted.result_
    for check in (result.check, *result.alternatives[:2]):
        told = verdicts_everywhere(check, scenes)
        assert all(verdicts == told["run_check"] for verdicts in told.values())
    passed = [run_check(scene, result.check).passed for scene in scenes]
    wrong = [name for name, verdict, label in zip(ids, passed, given_labels, strict=True) if verdict != label]
    assert sorted(wrong) == list(result.misclassified)
    assert objective_of(result.check, scenes, labels, sample_weight=weights).total == result.objective
    data = load_scenes(
        [
            {"id": name, "label": label, "scene": scene, "weight": weight}
            for name, label, scene, weight in zip(ids, labels, scenes, weights, strict=True)
        ]
    )
    right = f"training: {len(scenes) - len(wrong)} of {len(scenes)} right"
    assert any(line.startswith(right) for line in result_lines(data, result, 1.0))
    score = score_check(result.check, data).to_dict()
    assert [one["id"] for one in score["misclassified"]] == wrong
    for term in coverage_by_term(result.check, scenes, labels, ids):
        assert {*term.right, *term.wrong} <= {
            name for name, verdict in zip(ids, passed, strict=True) if verdict
        }
    assert fitted.check_ == result.check
    verdicts = [label == "pass" for label in fitted.predict(scenes)]
    assert verdicts == passed
    assert (fitted.decision_function(scenes) > 0).tolist() == verdicts
    assert [one.passed for one in margins(result.check, scenes)] == passed


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


ONE_CLASS: dict[str, Callable[[list[JSON], list[str]], Any]] = {
    "learn": lambda scenes, labels: learn_check(scenes, labels),
    "estimator": lambda scenes, labels: CheckInducer().fit(scenes, labels),
    "rules": lambda scenes, labels: learn_rules(scenes, {"r": labels}),
    "permutation": lambda scenes, labels: permutation_test(scenes, labels, 2),
    "rivals": lambda scenes, labels: near_best(scenes, labels, {"op": "lte", "path": "a", "value": 3}),
    "objective": lambda scenes, labels: objective_of({"op": "lte", "path": "a", "value": 3}, scenes, labels),
    "repair": lambda scenes, labels: repair({"op": "lte", "path": "a", "value": 3}, scenes, labels),
}


@pytest.mark.parametrize("label", ["pass", "fail"])
@pytest.mark.parametrize("what", ONE_CLASS)
def test_h6_one_class_is_refused_everywhere(what: str, label: str) -> None:
    scenes = [{"a": n} for n in range(8)]
    with pytest.raises(ValueError, match=f"all scenes are labelled {label}"):
        ONE_CLASS[what](scenes, [label] * 8)


def test_h6_a_weight_of_nothing_leaves_one_class() -> None:
    scenes, labels = [{"a": n} for n in range(6)], ["pass"] * 3 + ["fail"] * 3
    with pytest.raises(ValueError, match="only one class is left"):
        learn_check(scenes, labels, sample_weight=[1.0] * 3 + [0.0] * 3)
    with pytest.raises(ValueError, match="all scenes are labelled pass"):
        CheckInducer().fit(scenes, labels, sample_weight=[1.0] * 3 + [0.0] * 3)
    with pytest.raises(ValueError, match="less than one scene's"):
        learn_check(scenes, labels, sample_weight=[1e-9] * 6)


def test_h6_a_fold_that_lost_a_class_is_said_and_never_silent() -> None:
    scenes, labels = [{"a": n} for n in range(9)], ["pass"] * 3 + ["fail"] * 6
    with pytest.warns(FitFailedWarning, match="all scenes are labelled fail"):
        scores = cross_val_score(CheckInducer(), scenes, labels, cv=KFold(3))
    assert np.isnan(scores).tolist() == [True, False, False]  # scikit-learn's word for a fit that failed
    with pytest.raises(ValueError, match="all scenes are labelled fail"):
        cross_val_score(CheckInducer(), scenes, labels, cv=KFold(3), error_score="raise")


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


def test_h7_of_a_contradiction_the_heavier_side_is_believed() -> None:
    scenes, labels, ids = noisy_orders()
    scenes += [scenes[17]] * 2
    other = "fail" if labels[17] == "pass" else "pass"
    labels += [other, other]
    for light, heavy in ((1.0, 5.0), (5.0, 1.0)):
        weights = [light if i == 17 else 1.0 for i in range(40)] + [heavy / 2] * 2
        result = learn_check(scenes, labels, ids=[*ids, "b1", "b2"], sample_weight=weights)
        assert result.contradictions == (("a17", "b1", "b2"),)
        assert result.check["op"] == "lte" or heavy > light
        wrong = ("a17",) if run_check(scenes[17], result.check).passed is (other == "pass") else ("b1", "b2")
        assert result.misclassified == wrong
        assert heavy > light or wrong == ("b1", "b2")


def test_h7_contradictions_alone_give_no_rule_and_say_so() -> None:
    with pytest.raises(ValueError, match="no candidate literal tells passing from failing scenes apart"):
        learn_check([{"a": 1}, {"a": 1.0}] * 4, ["pass", "fail"] * 4)


@pytest.mark.parametrize("flips", [1, 2, 3])
def test_h7_flipped_labels_are_named(flips: int) -> None:
    rng = random.Random(f"h7 {flips}")
    scenes: list[JSON] = [
        {"total": rng.randrange(0, 1000), "items": [{"kind": rng.choice("abc")} for _ in range(3)]}
        for _ in range(120)
    ]
    clean = ["pass" if scene["total"] <= 500 else "fail" for scene in scenes]
    flipped = rng.sample([i for i, scene in enumerate(scenes) if abs(scene["total"] - 500) > 60], flips)
    labels = [("fail" if x == "pass" else "pass") if i in flipped else x for i, x in enumerate(clean)]
    result = learn_check(scenes, labels)
    assert result.misclassified == tuple(sorted(map(str, flipped)))
    assert (result.check["op"], result.check["path"]) == ("lte", "total")
    fitted = CheckInducer().fit(scenes, labels)
    assert fitted.score(scenes, clean) == 1.0


def test_h8_engines_and_jobs_change_nothing() -> None:
    scenes, labels, ids = noisy_orders()
    texts = {
        json.dumps(learn_check(scenes, labels, ids=ids, engine=engine, n_jobs=jobs).check)
        for engine in ("auto", "asp")
        for jobs in (None, 1, 2, 4)
    }
    assert len(texts) == 1


def test_h8_the_file_is_the_same_whatever_the_seed_order_and_jobs(tmp_path: Path) -> None:
    scenes, labels, ids = noisy_orders()
    labels[3] = "fail" if labels[3] == "pass" else "pass"
    lines = [
        json.dumps({"id": name, "label": label, "scene": scene})
        for name, label, scene in zip(ids, labels, scenes, strict=True)
    ]
    written, told = set(), set()
    for seed, jobs in ((0, 1), (1, 2), (4242, 1)):
        random.Random(seed).shuffle(lines)
        (tmp_path / "s.jsonl").write_text("\n".join(lines))
        arguments = ["learn", "s.jsonl", "-o", "check.json", "--folds", "2", "--jobs", str(jobs)]
        done = subprocess.run(
            [sys.executable, "-m", "induce", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
            timeout=120,
        )
        written.add((tmp_path / "check.json").read_bytes())
        told.add(done.stdout)
    assert len(written) == 1
    assert len(told) == 1


def test_h8_jobs_change_no_test_and_no_rules() -> None:
    scenes, labels, _ = noisy_orders()
    tests = {permutation_test(scenes, labels, 4, work_limit=200, n_jobs=jobs) for jobs in (1, 2)}
    assert len(tests) == 1
    rules = {"a": labels, "b": ["pass" if scene["lines"] > 4 else "fail" for scene in scenes]}
    packs = {json.dumps(learn_rules(scenes, rules, n_jobs=jobs).to_dict()) for jobs in (1, 2)}
    assert len(packs) == 1


def test_h8_a_clock_that_bites_claims_no_proof() -> None:
    rng = random.Random(0)
    scenes = [{f"f{k}": rng.randrange(1000) for k in range(30)} for _ in range(150)]
    labels = [rng.choice(["pass", "fail"]) for _ in scenes]
    result = learn_check(scenes, labels, time_limit=0.5)
    assert (result.stopped, result.optimal) == ("time", False)
    assert result.lower_bound < result.objective
    assert any(
        "not proved minimal" in line for line in result_lines(load_scenes([{"scene": 1}]), result, 0.5)
    )


SCALES: list[tuple[list[float], list[float]]] = [
    ([1.1e-6, 1.2e-6, 1.3e-6, 1.4e-6], [1.5e-6, 1.7e-6, 1.9e-6, 2e-6]),
    ([19.99], [20.0]),
    ([0.3], [0.1 + 0.2]),
    ([5e-324], [1e-323]),
    ([0.0], [5e-324]),
    ([1.7976931348623155e308], [1.7976931348623157e308]),
    ([2**53 - 1, 2**53], [2**53 + 1, 2**53 + 3]),
    ([10**25], [10**25 + 1]),
    ([1e22], [1e23]),
    ([-1e-9], [1e-9]),
    ([1.005], [1.0050000000000001]),
    ([99.995], [99.996]),
    ([2147483647], [2147483648]),
    ([9.999e-5], [1e-4]),
    ([1e-7], [1.0000000000000001e-7]),
    ([1e15 + 0.125], [1e15 + 0.25]),
]


def constant_of(check: JSON) -> Any:
    """The one number of a learnt bound, wherever it stands."""
    return check["value"] if "value" in check else constant_of(check.get("where") or check["of"])


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize(("low", "high"), SCALES)
def test_h9_every_text_of_the_number_still_separates(low: list[float], high: list[float], wrap: str) -> None:
    for passing, failing in ((low, high), (high, low)):
        good, bad = ([WRAPS[wrap](value) for value in values] for values in (passing, failing))
        result = learnt(good, bad)
        separates(result.check, good, bad)
        separates(json.loads(json.dumps(result.to_check()))["expr"], good, bad)
        bound = constant_of(result.check)
        words = sentence(result.check).replace(",", " ").split()
        assert any(word == json_text(bound) or _reads_as(word, bound) for word in words)
        data = load_scenes([{"label": "pass", "scene": good[0]}, {"label": "fail", "scene": bad[0]}])
        report = "\n".join(result_lines(data, result, 1.0))
        assert f"check: {sentence(result.check)}\n" in report
        assert f"json: {json_text(result.check)}\n" in report


def _reads_as(word: str, number: float) -> bool:
    """Whether a word of a sentence is the number, to the last bit."""
    try:
        return (int(word) if isinstance(number, int) else float(word)) == number
    except ValueError:
        return False


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


@pytest.mark.parametrize(("engine", "weight"), [*product(["auto", "asp"], [0.1, 1e9, 2.0**31, 1e12])])
def test_h10_no_weight_wraps(engine: str, weight: float) -> None:
    scenes = [{"cents": 1767225600000 + 7 * i + (100000 if i >= 6 else 0)} for i in range(12)]
    labels = ["pass"] * 6 + ["fail"] * 6
    weights = [weight] * 12
    result = learn_check(scenes, labels, sample_weight=weights, engine=engine)
    assert result.misclassified == ()
    assert result.optimal
    assert objective_of(result.check, scenes, labels, sample_weight=weights).total == result.objective
    flipped = [*labels[:5], "fail", *labels[6:]]
    noisy = learn_check(scenes, flipped, sample_weight=weights, engine=engine)
    assert noisy.lower_bound <= noisy.objective <= noisy.constant
    assert objective_of(noisy.check, scenes, flipped, sample_weight=weights).total == noisy.objective


def test_h10_sums_beyond_exact_doubles_are_refused() -> None:
    scenes = [{"t": i} for i in range(40)]
    labels = ["pass" if i < 20 else "fail" for i in range(40)]
    with pytest.raises(ValueError, match=r"sum to more than 2\*\*53; scale the weights down"):
        learn_check(scenes, labels, sample_weight=[1e12] * 40, penalty=1e6)


def test_h10_long_arrays_are_counted() -> None:
    passing, failing = ([{"l": [0] * n} for n in counts] for counts in ((40_000, 50_000), (70_000, 80_000)))
    separates(learnt(passing, failing).check, passing, failing)


def test_contradictions_of_a_file_are_named(tmp_path: Any) -> None:
    file = tmp_path / "scenes.jsonl"
    file.write_text(
        '{"id": "a17", "label": "pass", "scene": {"a": 1, "b": 2}}\n'
        '{"id": "a17b", "label": "fail", "scene": {"b": 2.0, "a": 1}}\n'
    )
    loaded: LabelledScenes = load_scenes(str(file))
    assert loaded.contradictions() == (("a17", "a17b"),)

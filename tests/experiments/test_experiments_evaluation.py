"""What a run measures beside its accuracy: folds, shuffled labels, a learning curve, open questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import compile_check, json_text, run_check, sentence
from experiments.anytime import Anytime
from experiments.config import ExperimentConfig, parse_config
from experiments.datasets.warehouse import RULES, generate
from experiments.evaluation import evaluate, figures, nested_parts, told
from experiments.learning import learn
from experiments.metrics import Confusion, coverage, evidence, grade, milestones
from induce.result import InductionResult
from induce.scenes import LabelledScenes
from induce.trust import Confusion as Verdicts
from induce.trust import Evidence

Command = Callable[..., Any]
LIMITS = {"max_terms": 2, "max_literals": 2, "max_where": 1, "max_nesting": 1, "work_limit": 600}
RULE = "cold_or_small"


def configured(**wanted: Any) -> ExperimentConfig:
    return parse_config(
        {
            "dataset": {"kind": "warehouse", "rule": RULE},
            "learner": {**LIMITS, "time_limit": 3600},
            "evaluation": wanted,
            "seed": 4,
        }
    )


@pytest.fixture(scope="module")
def train() -> LabelledScenes:
    return generate(RULE, "train", 24)


@pytest.fixture(scope="module")
def unseen() -> LabelledScenes:
    return generate(RULE, "test", 60)


@pytest.fixture(scope="module")
def result(train: LabelledScenes) -> InductionResult:
    return learn(configured(), train)


@pytest.fixture(scope="module")
def evaluation(train: LabelledScenes, unseen: LabelledScenes, result: InductionResult) -> dict[str, Any]:
    wanted = {"folds": 3, "permutations": 4, "learning_curve": [6, 12, 500]}
    return evaluate(configured(**wanted, alternatives=3, next_scenes=2), result, train, unseen)


def test_the_folds_judge_each_scene_once(evaluation: dict[str, Any], train: LabelledScenes) -> None:
    found = evaluation["cross_validation"]
    assert found["folds"] == sum(rule["folds"] for rule in found["rules"]) == 3
    assert found["total"] == len(train) == found["right"] + len(found["wrong"])
    assert found["accuracy"] == found["right"] / found["total"]
    assert set(found["wrong"]) <= set(train.ids)
    assert [rule["sentence"] for rule in found["rules"]] == [
        sentence(rule["check"]) for rule in found["rules"]
    ]
    assert [rule["folds"] for rule in found["rules"]] == sorted(
        (rule["folds"] for rule in found["rules"]), reverse=True
    )


def test_the_p_value_counts_the_rounds(evaluation: dict[str, Any]) -> None:
    found = evaluation["permutation"]
    assert (found["rounds"], found["cut_by_clock"]) == (4, 0)
    assert found["p_value"] == (1 + found["hits"]) / 5


def test_the_curve_ends_with_the_check_of_the_run(
    evaluation: dict[str, Any], result: InductionResult, unseen: LabelledScenes
) -> None:
    curve = evaluation["learning_curve"]
    assert [point["scenes"] for point in curve] == [6, 12, 24]
    assert curve[-1]["check"] == result.check
    for point in curve:
        assert point["test_accuracy"] == grade(point["check"], unseen).confusion.accuracy
        assert point["sentence"] == sentence(point["check"])
        assert point["objective"] >= point["size"]


def test_alternatives_and_questions_tell_the_checks_apart(
    evaluation: dict[str, Any], result: InductionResult, train: LabelledScenes
) -> None:
    assert evaluation["alternatives"]
    for other in evaluation["alternatives"]:
        example = other["example"]
        assert run_check(example["scene"], other["check"]).passed == example["pass"]
        assert run_check(example["scene"], result.check).passed != example["pass"]
    assert evaluation["next_scenes"]
    for asked in evaluation["next_scenes"]:
        assert asked["label"] is None
        assert asked["question"]["source"] in train.ids
        verdicts = asked["question"]["if"]
        assert run_check(asked["scene"], verdicts["pass"]["check"]).passed
        assert not run_check(asked["scene"], verdicts["fail"]["check"]).passed


def test_the_same_evaluation_again_whatever_the_workers(
    evaluation: dict[str, Any], train: LabelledScenes, unseen: LabelledScenes, result: InductionResult
) -> None:
    wanted = {"folds": 3, "permutations": 4, "learning_curve": [12, 6]}
    again = evaluate(configured(**wanted, alternatives=3, next_scenes=2), result, train, unseen)
    assert json_text(again) == json_text(evaluation)
    assert figures(again) == {
        "cross_validated_accuracy": again["cross_validation"]["accuracy"],
        "p_value": again["permutation"]["p_value"],
    }


def test_it_is_told_in_a_line_a_part(evaluation: dict[str, Any]) -> None:
    lines = list(told(evaluation))
    folds = evaluation["cross_validation"]
    assert lines[0].startswith(f"cross-validation: {folds['right']} of 24 right in 3 folds, ")
    assert lines[1].startswith(f"shuffled labels: {evaluation['permutation']['hits']} of 4 shufflings")
    assert lines[2].startswith("learning curve: ")
    assert lines[2].endswith(" from 24 scenes")
    assert [line.split(":")[0] for line in lines[3:]] == [
        *["alternative"] * len(evaluation["alternatives"]),
        *["to label next"] * len(evaluation["next_scenes"]),
    ]
    assert list(told({"cross_validation": {"instead": "too few"}})) == ["cross-validation: none; too few"]
    assert list(told({})) == []


def test_nothing_is_measured_that_is_not_asked_for(
    train: LabelledScenes, unseen: LabelledScenes, result: InductionResult
) -> None:
    assert evaluate(configured(), result, train, unseen) == {}
    assert figures({}) == {}


def test_folds_are_no_more_than_scenes_of_a_label(unseen: LabelledScenes) -> None:
    few = generate(RULE, "train", 5)
    found = evaluate(configured(folds=9), learn(configured(), few), few, unseen)
    assert found["cross_validation"]["folds"] == 2
    fewer = few.subset(
        [few.labels.index("pass"), *(at for at, label in enumerate(few.labels) if label == "fail")]
    )
    found = evaluate(configured(folds=9), learn(configured(), fewer), fewer, unseen)
    assert found["cross_validation"] == {"instead": "two different scenes of each label are needed"}
    assert figures(found) == {}


def test_scenes_that_allow_a_part_less_say_so() -> None:
    scenes = LabelledScenes(
        ids=("a", "b", "c", "d"),
        labels=("pass", "fail", "pass", "fail"),
        scenes=({"n": 1}, {"n": 1}, {"n": 2}, {"n": 2}),
        weights=(1.0,) * 4,
    )
    config = configured(folds=2, permutations=2, learning_curve=[2], alternatives=1, next_scenes=1)
    found = evaluate(config, learn(config, scenes), scenes, scenes)
    assert "instead" in found["cross_validation"]
    assert found["permutation"]["instead"].startswith("all scenes are labelled pass")
    assert found["learning_curve"][-1]["scenes"] == 4
    assert len(list(told(found))) >= 3


@given(
    st.lists(st.sampled_from(["pass", "fail"]), min_size=2, max_size=40).filter(
        lambda them: len(set(them)) == 2
    ),
    st.sets(st.integers(2, 40)),
    st.integers(0, 5),
)
def test_smaller_parts_are_inside_larger_ones_and_have_both_labels(
    labels: Sequence[str], sizes: set[int], seed: int
) -> None:
    wanted = sorted(size for size in sizes if size <= len(labels))
    parts = nested_parts(labels, wanted, seed)
    assert [len(part) for part in parts] == wanted
    share = labels.count("pass") / len(labels)
    for part in parts:
        passes = sum(labels[at] == "pass" for at in part)
        assert 0 < passes < len(part)
        assert abs(passes - share * len(part)) <= 1
    for smaller, larger in pairwise(parts):
        assert set(smaller) < set(larger)


def test_coverage_counts_what_each_term_lets_pass(train: LabelledScenes, unseen: LabelledScenes) -> None:
    rule = RULES[RULE].check
    found = coverage(rule, train, unseen)
    assert [term["sentence"] for term in found] == [sentence(term) for term in rule["of"]]
    for at, term in enumerate(rule["of"]):
        passing = [compile_check(term).passes(scene) for scene in unseen.scenes]
        other = [compile_check(rule["of"][1 - at]).passes(scene) for scene in unseen.scenes]
        assert found[at]["test"] == {
            "pass": sum(passing),
            "fail": 0,
            "alone": sum(one and not two for one, two in zip(passing, other, strict=True)),
        }


def test_evidence_is_that_of_the_learner() -> None:
    table = Confusion(pass_as_pass=20, pass_as_fail=1, fail_as_pass=3, fail_as_fail=16)
    known = Evidence.of(Verdicts(true_pass=20, false_pass=3, true_fail=16, false_fail=1), 12.5)
    found = evidence(table, 12.5)
    assert found["saved"] == known.saved
    assert found["surplus"] == known.surplus == pytest.approx(found["labels"] - found["errors"] - 12.5)


def test_milestones_come_in_their_order(train: LabelledScenes) -> None:
    anytime = Anytime()
    result = learn(configured(), train, anytime)
    anytime.finish(result)
    found = milestones(anytime, result)
    assert 0 < found["seconds_to_rule"] <= found["seconds_to_best"] <= round(result.seconds, 3)
    assert ("seconds_to_proof" in found) == result.optimal


def test_a_run_leaves_its_evaluation_and_predictions(experiments: Command, tmp_path: Path) -> None:
    small = ("dataset.rule=inspected", "dataset.train=12", "dataset.test=20", "learner=bounded")
    wanted = ("evaluation.folds=2", "evaluation.learning_curve=[6]")
    done = experiments(tmp_path, "tracking=none", *small, *wanted)
    assert done.returncode == 0, done.stderr
    (folder,) = (path.parent for path in tmp_path.rglob("result.json"))
    assert "\ncross-validation: " in done.stdout
    assert "\nlearning curve: " in done.stdout
    result = json.loads((folder / "result.json").read_text("utf-8"))
    evaluation = json.loads((folder / "evaluation.json").read_text("utf-8"))
    assert list(evaluation) == ["cross_validation", "learning_curve"]
    metrics = result["metrics"]
    assert metrics["cross_validated_accuracy"] == evaluation["cross_validation"]["accuracy"]
    assert "p_value" not in metrics
    assert metrics["cpu_seconds"] > 0
    assert result["anytime"][-1]["objective"] == result["induction"]["objective"]
    assert result["evidence"]["rule"] == result["induction"]["size"]
    assert (
        sum(term["test"]["pass"] for term in result["coverage"])
        >= result["test"]["confusion"]["pass"]["pass"]
    )
    predictions = [
        json.loads(line) for line in (folder / "predictions.jsonl").read_text("utf-8").splitlines()
    ]
    assert [record["split"] for record in predictions] == ["train"] * 12 + ["test"] * 20
    for record in predictions:
        assert (record["gap"] == 0) == record["pass"]
        assert ("why" in record) == (record["pass"] != (record["label"] == "pass"))

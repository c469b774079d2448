"""`CheckInducer` as a scikit-learn estimator over lists of scenes."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from evaluator import run_check
from induce import CheckInducer

JSON = Any


def scenes_and_labels(count: int = 40) -> tuple[list[JSON], list[str]]:
    rng = random.Random("estimator")
    scenes = [
        {
            "total": rng.randrange(0, 1000),
            "items": [{"kind": rng.choice("abc")} for _ in range(rng.randrange(4))],
        }
        for _ in range(count)
    ]
    return scenes, ["pass" if scene["total"] <= 500 else "fail" for scene in scenes]


def test_fit_learns_what_predict_says() -> None:
    scenes, labels = scenes_and_labels()
    inducer = CheckInducer().fit(scenes, labels)
    assert inducer.classes_.tolist() == ["fail", "pass"]
    assert inducer.predict(scenes).tolist() == labels
    assert inducer.score(scenes, labels) == 1.0
    assert [run_check(s, inducer.check_).passed for s in scenes] == [label == "pass" for label in labels]
    assert inducer.result_.optimal


@pytest.mark.parametrize("kind", [bool, int, str, np.bool_])
def test_labels_come_back_in_the_kind_they_were_given(kind: Any) -> None:
    scenes, labels = scenes_and_labels(20)
    given = [label if kind is str else kind(label == "pass") for label in labels]
    predicted = CheckInducer().fit(scenes, np.array(given)).predict(scenes)
    assert predicted.tolist() == given
    assert set(CheckInducer().fit(scenes, given).classes_.tolist()) == set(given)


def test_clone_and_params() -> None:
    inducer = CheckInducer(engine="asp", max_where=2, grammar={"exclude": ["items*"]}, time_limit=5.0)
    assert clone(inducer).get_params() == inducer.get_params()
    assert not hasattr(clone(inducer.fit(*scenes_and_labels(20))), "check_")
    assert inducer.set_params(max_terms=2).max_terms == 2
    with pytest.raises(ValueError, match="Invalid parameter"):
        inducer.set_params(max_trms=2)


def test_bad_values_are_refused_at_fit_and_not_before() -> None:
    inducer = CheckInducer(engine="clingo")
    with pytest.raises(ValueError, match="engine: expected"):
        inducer.fit(*scenes_and_labels(20))


def test_unfitted_estimator_says_so() -> None:
    with pytest.raises(NotFittedError):
        CheckInducer().predict([{}])


def test_model_selection_over_lists_of_scenes() -> None:
    scenes, labels = scenes_and_labels()
    scores = cross_val_score(CheckInducer(), scenes, labels, cv=3)
    assert scores.shape == (3,)
    assert scores.mean() > 0.8
    assert len(cross_val_predict(CheckInducer(), scenes, labels, cv=3)) == len(scenes)
    search = GridSearchCV(CheckInducer(), {"max_where": [1, 2], "engine": ["enumerate", "auto"]}, cv=2)
    search.fit(scenes, labels)
    assert search.best_score_ > 0.8
    assert isinstance(search.best_estimator_.check_, dict)


def test_pipeline_in_front_of_the_learner() -> None:
    scenes, labels = scenes_and_labels()
    wrap = FunctionTransformer(lambda given: [{"order": scene} for scene in given])
    model = make_pipeline(wrap, CheckInducer()).fit(scenes, labels)
    assert model[-1].check_["path"] == "order.total"
    assert model.score(scenes, labels) == 1.0


def test_sample_weight_decides_a_contradiction() -> None:
    scenes = [{"a": 1, "n": n} for n in range(4)] + [{"a": 2, "n": n} for n in range(4)]
    labels = ["pass"] * 3 + ["fail"] + ["fail"] * 4
    heavy = CheckInducer(penalty=6.0).fit(scenes, labels, sample_weight=[1, 1, 1, 50, 1, 1, 1, 1])
    light = CheckInducer(penalty=6.0).fit(scenes, labels, sample_weight=[1, 1, 1, 0, 1, 1, 1, 1])
    assert heavy.predict(scenes[3:4]).tolist() == ["fail"]
    assert light.check_["path"] == "a"


def test_decision_function_ranks_by_gap() -> None:
    scenes, labels = scenes_and_labels()
    inducer = CheckInducer().fit(scenes, labels)
    scores = inducer.decision_function(scenes)
    assert scores.dtype == np.float64
    assert ((scores > 0) == (np.array(labels) == "pass")).all()
    assert roc_auc_score(np.array(labels) == "pass", scores) == 1.0
    nearer, farther = inducer.decision_function([{"total": 600}, {"total": 900}])
    assert 0 > nearer > farther

"""`CheckInducer` as a scikit-learn estimator over lists of scenes."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, cross_val_predict, cross_val_score
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


def test_halving_search_over_lists_of_scenes() -> None:
    scenes, labels = scenes_and_labels(60)
    search = HalvingGridSearchCV(
        CheckInducer(), {"max_where": [1, 2], "max_terms": [1, 2]}, cv=2, factor=2, random_state=0
    )
    search.fit(scenes, labels)
    assert search.best_score_ > 0.8
    assert search.n_resources_[-1] <= 60
    assert search.predict(scenes[:1]).tolist() == labels[:1]


def test_cross_validated_margins_rank_unseen_scenes() -> None:
    scenes, labels = scenes_and_labels()
    margins = cross_val_predict(CheckInducer(), scenes, labels, cv=4, method="decision_function")
    assert roc_auc_score(np.array(labels) == "pass", margins) > 0.95


def test_a_margin_says_more_than_a_verdict() -> None:
    """Where labels near the bound are uncertain, the ranking by margin is better than that by verdict."""
    rng = random.Random("margins")
    scenes = [{"total": total, "n": rng.random()} for total in range(0, 1000, 10)]
    labels = ["pass" if scene["total"] + rng.gauss(0, 150) <= 500 else "fail" for scene in scenes]
    inducer = CheckInducer(max_terms=1, max_literals=1).fit(scenes, labels)
    passing = np.array(labels) == "pass"
    by_verdict = roc_auc_score(passing, inducer.predict(scenes) == "pass")
    assert roc_auc_score(passing, inducer.decision_function(scenes)) > by_verdict + 0.03


def test_margins_within_each_verdict() -> None:
    inducer = CheckInducer(max_terms=1).fit(
        [{"t": t} for t in (120, 480, 500, 510, 900)], ["pass"] * 3 + ["fail"] * 2
    )
    assert inducer.check_ == {"op": "lte", "path": "t", "value": 500}
    scenes = [{"t": 100}, {"t": 499}, {"t": 500}, {"t": 501}, {"t": 2000}, {"t": -(10**400)}, {"t": 10**400}]
    scores = inducer.decision_function(scenes)
    assert scores.tolist()[:2] == [400, 1]
    assert 0 < scores[2] < 1e-300
    assert scores.tolist()[3:5] == [-1, -1500]
    assert scores.tolist()[5:] == [np.finfo(float).max, -np.finfo(float).max]
    assert (inducer.predict(scenes) == "pass").tolist() == (scores > 0).tolist()


def test_notebooks_show_the_check_in_words() -> None:
    inducer = CheckInducer()
    before = inducer._repr_html_()
    scenes = [{"k": "<b>"}, {"k": "<b>"}, {"k": "c"}, {"k": "d"}]
    inducer.fit(scenes, ["pass", "pass", "fail", "fail"])
    told = inducer._repr_mimebundle_()["text/html"]
    assert "Passes when <b>k is &quot;&lt;b&gt;&quot;</b> (" in told
    assert "4 of 4 training scenes right)" in told
    assert "Passes when" not in before
    assert inducer._repr_html_().endswith("</p>")
    assert set(inducer._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert "CheckInducer" in make_pipeline(FunctionTransformer(), inducer)._repr_html_()


def test_decision_function_ranks_by_gap() -> None:
    scenes, labels = scenes_and_labels()
    inducer = CheckInducer().fit(scenes, labels)
    scores = inducer.decision_function(scenes)
    assert scores.dtype == np.float64
    assert ((scores > 0) == (np.array(labels) == "pass")).all()
    assert roc_auc_score(np.array(labels) == "pass", scores) == 1.0
    nearer, farther = inducer.decision_function([{"total": 600}, {"total": 900}])
    assert 0 > nearer > farther

"""scikit-learn's own estimator checks, on tables whose rows are scenes, and their intent on nested scenes."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from induce import CheckInducer, SceneEncoder

JSON = Any
QUICK = {"max_terms": 2, "max_literals": 2, "work_limit": 2000}


class OnTables(CheckInducer):
    """`CheckInducer` as scikit-learn's checks drive it.

    They name the second argument of `fit` y (ours is labels), give lists of lists as tables (to us a scene
    may be an array), and call the two classes what they like (ours say which one means pass).
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> OnTables:  # noqa: N803
        if y is None:
            return super().fit(table(X), None)
        given = np.asarray(y)
        classes = np.unique(given)
        named = given.dtype.kind != "f" and len(classes) <= 2
        super().fit(table(X), given == classes[-1] if named else given, sample_weight)
        self.classes_ = classes
        return self

    def decision_function(self, X: Any) -> Any:  # noqa: N803
        return super().decision_function(table(X))

    def predict(self, X: Any) -> Any:  # noqa: N803
        return np.where(self.decision_function(X) > 0, *self.classes_[::-1])


def table(given: Any) -> Any:
    return np.asarray(given) if isinstance(given, list) else given


EXPECTED_FAILURES = {
    "OnTables": {
        "check_fit2d_1sample": "one scene is one class only, and the message says so in words of its own",
    },
    "SceneEncoder": {},
}


@parametrize_with_checks(
    [OnTables(**QUICK), SceneEncoder()],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES[type(estimator).__name__],
)
def test_scikit_learns_checks(estimator: BaseEstimator, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "name",
    [
        "check_dataframe_column_names_consistency",
        "check_get_feature_names_out_error",
        "check_global_output_transform_pandas",
        "check_param_validation",
        "check_set_output_transform",
        "check_set_output_transform_pandas",
        "check_transformer_get_feature_names_out",
        "check_transformer_get_feature_names_out_pandas",
    ],
)
def test_scikit_learns_checks_of_its_own_transformers(name: str) -> None:
    """Checks that `check_estimator` leaves out for estimators from outside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(estimator_checks, name)("SceneEncoder", SceneEncoder())


def test_scikit_learns_check_of_column_names_for_the_learner() -> None:
    estimator_checks.check_dataframe_column_names_consistency("OnTables", OnTables(**QUICK))


# The checks that insist on arrays, once more on nested scenes

SCENES: list[JSON] = [
    {
        "order": {"total": total, "paid": paid},
        "items": [{"kind": kind, "n": n} for n, kind in enumerate(kinds)],
    }
    for total, paid, kinds in [
        (120, True, "ab"),
        (480, True, "a"),
        (90, None, "ca"),
        (300, False, "aa"),
        (510, True, "b"),
        (900, True, ""),
        (700, None, "bc"),
        (640, False, "c"),
    ]
]
LABELS = ["pass"] * 4 + ["fail"] * 4
ESTIMATORS = pytest.mark.parametrize(
    "estimator", [CheckInducer(**QUICK), SceneEncoder()], ids=["learner", "encoder"]
)


def answers(estimator: Any, scenes: Any) -> Any:
    """What a fitted estimator says of scenes, one row each."""
    if isinstance(estimator, SceneEncoder):
        return estimator.transform(scenes)
    return np.column_stack([estimator.decision_function(scenes), estimator.predict(scenes) == "pass"])


@ESTIMATORS
def test_fitting_neither_changes_scenes_nor_parameters(estimator: Any) -> None:
    scenes, parameters = copy.deepcopy(SCENES), estimator.get_params()
    fitted = clone(estimator)
    assert fitted.fit(scenes, LABELS) is fitted
    before = set(vars(fitted))
    answers(fitted, scenes)
    assert scenes == SCENES
    assert fitted.get_params() == parameters
    assert set(vars(fitted)) == before
    assert not [
        name for name in before - parameters.keys() if not (name.endswith("_") or name.startswith("_"))
    ]


@ESTIMATORS
def test_fitting_twice_or_a_copy_answers_alike(estimator: Any) -> None:
    fitted = clone(estimator).fit(SCENES, LABELS)
    once = answers(fitted, SCENES)
    for same in (
        clone(fitted).fit(SCENES, LABELS),
        fitted.fit(SCENES[::-1], LABELS[::-1]),
        fitted.fit(SCENES, LABELS),
    ):
        assert np.array_equal(answers(same, SCENES), once)
    assert np.array_equal(answers(pickle.loads(pickle.dumps(fitted)), SCENES), once)
    assert np.array_equal(answers(copy.deepcopy(fitted), SCENES), once)


@ESTIMATORS
def test_each_scene_is_answered_by_itself(estimator: Any) -> None:
    fitted = clone(estimator).fit(SCENES, LABELS)
    every = answers(fitted, SCENES)
    assert np.array_equal(np.vstack([answers(fitted, [scene]) for scene in SCENES]), every)
    assert np.array_equal(answers(fitted, SCENES[::-1]), every[::-1])
    assert len(answers(fitted, [])) == 0


@ESTIMATORS
def test_scenes_come_in_any_sequence(estimator: Any) -> None:
    every = answers(clone(estimator).fit(SCENES, LABELS), SCENES)
    objects = np.empty(len(SCENES), object)
    objects[:] = SCENES
    for given in (tuple(SCENES), objects):
        assert np.array_equal(answers(clone(estimator).fit(given, LABELS), given), every)


@ESTIMATORS
def test_before_fit_there_is_no_answer(estimator: Any) -> None:
    with pytest.raises(NotFittedError):
        answers(clone(estimator), SCENES)


@ESTIMATORS
def test_tags_say_what_is_taken(estimator: Any) -> None:
    tags = get_tags(estimator)
    assert tags.input_tags.dict
    assert not tags.input_tags.sparse
    assert tags.target_tags.required is isinstance(estimator, CheckInducer)


@ESTIMATORS
def test_a_scene_that_is_not_json_is_refused_with_its_place(estimator: Any) -> None:
    for bad, place in (({"a": float("nan")}, r"\$\.a"), ({"a": [{1}]}, r"\$\.a\[0\]"), ({1: 2}, r"\$")):
        with pytest.raises(ValueError, match=rf"^scene 8: {place}"):
            clone(estimator).fit([*SCENES, bad], [*LABELS, "fail"])


@ESTIMATORS
def test_a_table_is_read_as_scenes(estimator: Any) -> None:
    pandas = pytest.importorskip("pandas")
    rows = np.array([[scene["order"]["total"], index] for index, scene in enumerate(SCENES)], float)
    scenes = [{"x0": total, "x1": index} for total, index in rows.tolist()]
    fitted = clone(estimator).fit(rows, LABELS)
    assert np.array_equal(answers(fitted, rows), answers(clone(estimator).fit(scenes, LABELS), scenes))
    assert fitted.n_features_in_ == 2
    with pytest.raises(ValueError, match="is expecting 2 features as input"):
        answers(fitted, rows[:, :1])
    frame = pandas.DataFrame(rows, columns=["a", "b"])
    named = clone(estimator).fit(frame, LABELS)
    assert named.feature_names_in_.tolist() == ["a", "b"]
    assert np.array_equal(answers(named, frame), answers(fitted, rows))
    assert not hasattr(named.fit(SCENES, LABELS), "n_features_in_")


def test_labels_that_are_not_two_classes_are_refused() -> None:
    learner = CheckInducer(**QUICK)
    for labels, message in (
        (None, "requires y to be passed, but the target y is None"),
        (
            [0, 1, 2, 0, 1, 2, 0, 1],
            "Only binary classification is supported. Labels are 1 for pass and 0 for fail",
        ),
        ([0.5] * 8, "Unknown label type: continuous"),
        (["pass"] * 7 + ["skip"], "scene 7: unknown label 'skip'; expected pass or fail"),
        (LABELS[:-1], "labels: expected one for each of the 8 scenes, got 7"),
        (np.array([LABELS, LABELS]).T, "y should be a 1d array"),
    ):
        with pytest.raises(ValueError, match=message):
            learner.fit(SCENES, labels)
    with pytest.warns(DataConversionWarning):
        learner.fit(SCENES, np.array(LABELS)[:, None])


def test_weights_stand_for_repetition_and_absence() -> None:
    weights = [2, 1, 1, 1, 3, 1, 0, 0]
    weighted = CheckInducer(**QUICK).fit(SCENES, LABELS, sample_weight=weights)
    repeated = [row for row, weight in enumerate(weights) for _ in range(weight)]
    plain = CheckInducer(**QUICK).fit([SCENES[row] for row in repeated], [LABELS[row] for row in repeated])
    assert weighted.check_ == plain.check_
    for wrong in ([1] * 7, [[1, 1]] * 8, [0] * 8, [1] * 7 + [-1], [1] * 7 + [float("nan")]):
        with pytest.raises(ValueError, match=r"^sample_weight: "):
            CheckInducer(**QUICK).fit(SCENES, LABELS, sample_weight=wrong)
    with pytest.raises(ValueError, match="classes"):
        CheckInducer(**QUICK).fit(SCENES, LABELS, sample_weight=[1] * 4 + [0] * 4)

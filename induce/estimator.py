"""The scikit-learn estimator over `learn_check`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from evaluator import compile_check
from induce.examples import label_of
from induce.explain import SceneExplanation, explain_scene
from induce.grammar import Grammar
from induce.learn import learn_check
from induce.result import InductionResult
from induce.search import Progress

JSON = Any


class CheckInducer(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier whose model is one readable check over JSON scenes.

    Parameters
    ----------
    grammar : Grammar, dict or None, default=None
        The language bias; None for the default one.
    engine : {"auto", "enumerate", "asp"}, default="auto"
    max_terms : int or None, default=None
        The most conjunctions joined by or; None for 4.
    max_literals, max_where, max_nesting : int, defaults 4, 3 and 2
        Literals in a conjunction, conditions inside one find or count, levels of nesting.
    penalty : "auto" or float, default="auto"
        Bits for one misclassified scene of weight 1.
    time_limit : float, default=60.0
        Seconds for one fit.
    work_limit : int or None, default=None
        Search nodes; for byte-identical results where a clock would bite.
    random_state : int or None, default=None
        Recorded with the result.
    n_jobs : int or None, default=None
        The result never depends on it.
    progress : callable or None, default=None

    Attributes
    ----------
    check_ : dict
        The learnt check on the wire.
    result_ : InductionResult
        Objective, bound, proof and misclassified scenes.
    classes_ : ndarray of shape (2,)
        The labels as given, sorted.

    See Also
    --------
    induce.learn_check : The same without scikit-learn.

    Examples
    --------
    >>> scenes = [{"total": t} for t in (120, 480, 500, 510, 900)]
    >>> CheckInducer().fit(scenes, ["pass", "pass", "pass", "fail", "fail"]).check_
    {'op': 'lte', 'path': 'total', 'value': 500}
    """

    def __init__(
        self,
        grammar: Grammar | dict[str, JSON] | None = None,
        engine: str = "auto",
        max_terms: int | None = None,
        max_literals: int = 4,
        max_where: int = 3,
        max_nesting: int = 2,
        penalty: float | str = "auto",
        time_limit: float = 60.0,
        work_limit: int | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.grammar = grammar
        self.engine = engine
        self.max_terms = max_terms
        self.max_literals = max_literals
        self.max_where = max_where
        self.max_nesting = max_nesting
        self.penalty = penalty
        self.time_limit = time_limit
        self.work_limit = work_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(
        self, scenes: Sequence[JSON], labels: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> CheckInducer:
        """Learn a check.

        Parameters
        ----------
        scenes : sequence of JSON trees, (n_scenes,)
        labels : array-like, (n_scenes,)
            pass/fail, true/false or 1/0.
        sample_weight : array-like of float, (n_scenes,), optional

        Raises
        ------
        ValueError
            When an option, a scene or a label is unusable, or one class is absent.
        """
        given = list(np.asarray(labels).tolist())
        weights = None if sample_weight is None else [float(w) for w in np.asarray(sample_weight).tolist()]
        self.result_: InductionResult = learn_check(
            list(scenes), given, sample_weight=weights, **self.get_params(deep=False)
        )
        self.check_ = self.result_.check
        self._scenes = list(scenes)
        self.classes_: NDArray[Any] = np.unique(np.asarray(labels))
        return self

    def decision_function(self, scenes: Sequence[JSON]) -> NDArray[np.float64]:
        """Signed score of each scene: minus the gap when it fails the check, 1 when it passes.

        Returns
        -------
        ndarray of float, (n_scenes,)
            Positive for the class that means pass.
        """
        check_is_fitted(self, "check_")
        compiled = compile_check(self.check_)
        gaps = [compiled.gap(scene) for scene in scenes]
        return np.array([1.0 if gap == 0 else -gap for gap in gaps], np.float64)

    def explain(self, scene: JSON) -> SceneExplanation:
        """Why a scene passes or fails the check, and the smallest change that turns the verdict.

        Values and elements of the scenes that were fitted are tried in changes.
        """
        check_is_fitted(self, "check_")
        return explain_scene(self.check_, scene, self._scenes)

    def predict(self, scenes: Sequence[JSON]) -> NDArray[Any]:
        """The label of each scene, of the kind that was fitted; ndarray (n_scenes,)."""
        passed = self.decision_function(scenes) > 0
        means_pass = [label_of(label) for label in self.classes_.tolist()]
        order = np.array([means_pass.index(False), means_pass.index(True)])
        labels: NDArray[Any] = self.classes_[order[passed.astype(np.intp)]]
        return labels

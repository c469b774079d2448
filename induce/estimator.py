"""The scikit-learn estimator over `learn_check`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from evaluator import compile_check, sentence
from induce.committee import WITHIN, Rival, near_best
from induce.differences import NEAR, Alternative, alternatives
from induce.examples import label_of
from induce.explain import SceneExplanation, explain_scene
from induce.grammar import Grammar
from induce.learn import learn_check
from induce.margin import margins
from induce.progress import Progress
from induce.query import Question, next_scenes
from induce.result import InductionResult
from induce.sklearn_input import scenes_of

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
        One fit uses one process whatever this says, see `induce.learn_check`; give ``n_jobs`` to
        `cross_val_score` or `GridSearchCV` to run whole fits side by side. The result never depends on it.
    progress : callable or None, default=None
        Called with an `induce.Progress` now and then.

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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.dict = True
        tags.classifier_tags.multi_class = False
        return tags

    def fit(
        self, scenes: Sequence[JSON] | ArrayLike, labels: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> CheckInducer:
        """Learn a check.

        Parameters
        ----------
        scenes : sequence of JSON trees, (n_scenes,)
            Or a numeric table, array or data frame, each row of which is a scene: an object whose keys are
            the columns' names, or ``x0``, ``x1`` and so on.
        labels : array-like, (n_scenes,)
            pass/fail, true/false or 1/0.
        sample_weight : array-like of float, (n_scenes,), optional
            A scene of weight 0 is as if it were not there.

        Raises
        ------
        ValueError
            When an option, a scene or a label is unusable, or one class is absent.
        KeyboardInterrupt
            When the user interrupts before a check was found, or twice; otherwise the best check so far is
            kept, and ``result_.stopped`` is "interrupted".
        """
        given = scenes_of(self, scenes, reset=True)
        wanted = _one_dimensional(labels)
        kept, weights = list(range(len(given))), None
        if sample_weight is not None:
            every = _weights(sample_weight, len(given))
            kept = [row for row, weight in enumerate(every) if weight != 0]
            weights = [every[row] for row in kept]
        if len(wanted) != len(given):
            raise ValueError(f"labels: expected one for each of the {len(given)} scenes, got {len(wanted)}")
        self._scenes = [given[row] for row in kept]
        self._ids = [str(row) for row in kept]
        self._labels, self._sample_weight = wanted[kept].tolist(), weights
        self.result_: InductionResult = learn_check(
            self._scenes,
            self._labels,
            ids=self._ids,
            sample_weight=weights,
            **self.get_params(deep=False),
        )
        self.check_ = self.result_.check
        self.classes_: NDArray[Any] = np.unique(wanted[kept])
        return self

    def decision_function(self, scenes: Sequence[JSON] | ArrayLike) -> NDArray[np.float64]:
        """How far each scene is from the other verdict: its margin when it passes, minus its gap when not.

        Both are in the unit of the field for a bound, in elements for a count, and 1 for all else (see
        `induce.margin`), so that scenes are ranked within each verdict as well. Right at a bound the margin
        is the smallest positive double; infinite distances are the largest one.

        Returns
        -------
        ndarray of float, (n_scenes,)
            Positive for the class that means pass.
        """
        check_is_fitted(self, "check_")
        given = scenes_of(self, scenes, reset=False)
        gaps = self._gaps(given)
        distances = -gaps
        passing = np.flatnonzero(gaps == 0)
        found = margins(self.check_, [given[row] for row in passing.tolist()])
        distances[passing] = [max(one.distance, np.finfo(np.float64).tiny) for one in found]
        signed: NDArray[np.float64] = np.nan_to_num(distances)
        return signed

    def _gaps(self, scenes: Sequence[JSON]) -> NDArray[np.float64]:
        compiled = compile_check(self.check_)
        return np.array([compiled.gap(scene) for scene in scenes], np.float64)

    def explain(self, scene: JSON) -> SceneExplanation:
        """Why a scene passes or fails the check, and the smallest change that turns the verdict.

        Values and elements of the scenes that were fitted are tried in changes.
        """
        check_is_fitted(self, "check_")
        return explain_scene(self.check_, scene, self._scenes)

    def alternatives(
        self, k: int = 5, *, within: float = NEAR, pool: Sequence[JSON] | None = None
    ) -> tuple[Alternative, ...]:
        """Up to k other checks within so many bits of the best, each with a scene on which it differs.

        Parameters
        ----------
        pool : sequence of scenes, optional
            Scenes that may occur, beside small edits of the fitted ones; see `induce.alternatives`.
        """
        check_is_fitted(self, "check_")
        return alternatives(self._rivals(within), self._scenes, k, within=within, ids=self._ids, pool=pool)

    def next_scenes(self, k: int = 3, pool: Sequence[JSON] | None = None) -> tuple[Question, ...]:
        """Up to k scenes whose labels would settle most among the checks near the best.

        Parameters
        ----------
        pool : sequence of scenes, optional
            Scenes without a label to choose from; small edits of the fitted ones by default. See
            `induce.next_scenes`.
        """
        check_is_fitted(self, "check_")
        return next_scenes(self._rivals(WITHIN), self._scenes, k, ids=self._ids, pool=pool)

    def _rivals(self, within: float) -> tuple[Rival, ...]:
        return near_best(
            self._scenes,
            self._labels,
            self.check_,
            self.grammar,
            sample_weight=self._sample_weight,
            within=within,
            max_terms=self.max_terms,
            max_literals=self.max_literals,
            max_where=self.max_where,
            max_nesting=self.max_nesting,
            penalty=self.penalty,
            time_limit=self.time_limit,
        )

    def predict(self, scenes: Sequence[JSON] | ArrayLike) -> NDArray[Any]:
        """The label of each scene, of the kind that was fitted; ndarray (n_scenes,)."""
        check_is_fitted(self, "check_")
        passed = self._gaps(scenes_of(self, scenes, reset=False)) == 0
        means_pass = [label_of(label) for label in self.classes_.tolist()]
        order = np.array([means_pass.index(False), means_pass.index(True)])
        labels: NDArray[Any] = self.classes_[order[passed.astype(np.intp)]]
        return labels

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._told()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        return bundle | {"text/html": bundle["text/html"] + self._told()} if "text/html" in bundle else bundle

    def _told(self) -> str:
        """The learnt check in words, as HTML; nothing before `fit`."""
        if not hasattr(self, "result_"):
            return ""
        result = self.result_
        wrong, total = len(result.misclassified), sum(result.counts.values())
        proved = "proved minimal" if result.optimal else "not proved minimal"
        return (
            f"<p>Passes when <b>{escape(sentence(self.check_))}</b> ({result.objective:g} bits, {proved}; "
            f"{total - wrong} of {total} training scenes right)</p>"
        )


def _one_dimensional(labels: ArrayLike | None) -> NDArray[Any]:
    """The labels as an array; what cannot be two classes is refused in scikit-learn's words."""
    if labels is None:
        raise ValueError("CheckInducer requires y to be passed, but the target y is None: give the labels")
    wanted: NDArray[Any] = column_or_1d(np.asarray(labels), warn=True)
    if wanted.dtype.kind == "f":
        check_classification_targets(wanted)
    if wanted.dtype.kind in "iu" and len(classes := np.unique(wanted)) > 2:
        shown = ", ".join(map(str, classes[:5].tolist()))
        raise ValueError(
            f"Only binary classification is supported. Labels are 1 for pass and 0 for fail, got {shown}"
        )
    return wanted


def _weights(sample_weight: ArrayLike, count: int) -> list[float]:
    weights = np.asarray(sample_weight, np.float64)
    if weights.shape != (count,):
        expected = f"expected one number for each of the {count} scenes"
        raise ValueError(f"sample_weight: {expected}, got an array of shape {weights.shape}")
    if count and not weights.any():
        raise ValueError("sample_weight: all weights are zero, so that there is nothing to learn from")
    found: list[float] = weights.tolist()
    return found

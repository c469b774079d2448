"""Scenes as numbers, for people who want a tree or a linear model beside the learnt check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from evaluator import canonical_json
from evaluator.path import Property, format_path
from induce.column import is_number
from induce.profile import refuse_non_json
from induce.sklearn_input import scenes_of

JSON = Any
Steps = tuple[str | None, ...]
"""A path: keys, and None for every element of an array."""
_LARGEST = np.finfo(np.float64).max
_ORDER = ("number", "is number", "present", "equals", "length", "count", "min", "max")


class SceneEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Transformer from JSON scenes to a numeric table.

    One column for each of these, as far as the scenes at fit have them, in the order of the paths:

    ``total``
        The number at a path of object keys, `fill` where there is none.
    ``total is number``, ``note present``
        1 or 0; where it is not the same for all scenes.
    ``status = "paid"``
        1 or 0; for the most frequent texts, booleans and null of the path.
    ``length(items)``
        Elements of an array, or of all at ``items[].parts``; 0 where there is none.
    ``count(items[].kind = "robot")``
        Elements, or elements of elements, with one of the most frequent values.
    ``min(items[].price)``, ``max(items[].price)``
        Over the numbers among the elements, `fill` where there are none.

    What only later scenes have, paths and values, has no column.

    Parameters
    ----------
    min_count : int, default=2
        In how many scenes a value must occur at a path to have a column.
    max_values : int, default=20
        The most values of a path that have columns; the most frequent ones, then in the order of their JSON.
    max_nesting : int, default=2
        Levels of arrays inside arrays that are looked into.
    fill : float, default=0.0
        What stands where there is no number; NaN for learners that take it.

    Attributes
    ----------
    n_features_in_ : int
        Columns of the table at fit; absent after scenes.
    feature_names_in_ : ndarray of str
        Names of these columns, where they have any.

    See Also
    --------
    induce.CheckInducer : Learns a readable check from the same scenes.

    Examples
    --------
    >>> encoder = SceneEncoder().fit([{"total": 3, "items": []}, {"total": 5, "items": [{"n": 2}]}])
    >>> encoder.get_feature_names_out().tolist()
    ['length(items)', 'min(items[].n)', 'max(items[].n)', 'total']
    >>> encoder.transform([{"total": 7, "items": [{"n": 4}, {"n": 1}]}]).tolist()
    [[2.0, 1.0, 4.0, 7.0]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_count": [Interval(Integral, 1, None, closed="left")],
        "max_values": [Interval(Integral, 0, None, closed="left")],
        "max_nesting": [Interval(Integral, 0, None, closed="left")],
        "fill": [Real],
    }

    def __init__(
        self, min_count: int = 2, max_values: int = 20, max_nesting: int = 2, fill: float = 0.0
    ) -> None:
        self.min_count = min_count
        self.max_values = max_values
        self.max_nesting = max_nesting
        self.fill = fill

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.dict = True
        return tags

    def fit(self, scenes: Sequence[JSON] | ArrayLike, y: ArrayLike | None = None) -> SceneEncoder:  # noqa: ARG002
        """Find the columns.

        Parameters
        ----------
        scenes : sequence of JSON trees, (n_scenes,)
            Or a numeric table; its rows are read as scenes, see `induce.sklearn_input.scenes_of`.
        y : ignored

        Raises
        ------
        ValueError
            When a parameter or a scene is unusable, or there is none.
        """
        self._validate_params()
        given = _checked(scenes_of(self, scenes, reset=True))
        if not given:
            raise ValueError("no scenes: at least one is needed to find the columns")
        self._features = tuple(self._found(list(map(self._flat, given))))
        return self

    def transform(self, scenes: Sequence[JSON] | ArrayLike) -> NDArray[np.float64]:
        """The table of scenes.

        Returns
        -------
        ndarray of float64, (n_scenes, n_features_out)
        """
        check_is_fitted(self)
        given = _checked(scenes_of(self, scenes, reset=False))
        table = np.empty((len(given), len(self._features)), np.float64)
        for row, scene in enumerate(given):
            flat = self._flat(scene)
            table[row] = [feature.of(flat.get(feature.path, ()), self.fill) for feature in self._features]
        return table

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """The names of the columns; `input_features`, where given, must be those of the table at fit."""
        check_is_fitted(self)
        if input_features is not None:
            self._check_input_names(np.asarray(input_features, object))
        names = [feature.name for feature in self._features]
        seen: Counter[str] = Counter()
        for index, name in enumerate(names):
            seen[name] += 1
            if seen[name] > 1:  # a key that reads like another column
                names[index] = f"{name} #{seen[name]}"
        return np.array(names, object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_features")

    def _check_input_names(self, given: NDArray[np.object_]) -> None:
        names, count = getattr(self, "feature_names_in_", None), getattr(self, "n_features_in_", None)
        if names is not None and not np.array_equal(given, names):
            raise ValueError("input_features is not equal to feature_names_in_")
        if count is not None and len(given) != count:
            raise ValueError(f"input_features should have length equal to number of features ({count})")

    def _flat(self, scene: JSON) -> dict[Steps, list[JSON]]:
        """The values at every path, containers included."""
        found: dict[Steps, list[JSON]] = {}
        pending: list[tuple[Steps, JSON]] = [((), scene)]
        while pending:
            path, value = pending.pop()
            found.setdefault(path, []).append(value)
            if type(value) is dict:
                pending.extend(((*path, key), member) for key, member in value.items())
            elif type(value) is list:
                inside = path.count(None)
                if inside < self.max_nesting:
                    pending.extend(((*path, None), element) for element in value)
        return found

    def _found(self, flat: list[dict[Steps, list[JSON]]]) -> Iterator[_Feature]:
        """The features of the scenes at fit, in order."""
        paths = sorted({path for values in flat for path in values}, key=_path_order)
        for path in paths:
            columns = [values.get(path, []) for values in flat]
            features = self._of_elements(path, columns) if None in path else self._of_path(path, columns)
            yield from sorted(features, key=lambda feature: (_ORDER.index(feature.kind), feature.value or ""))

    def _of_path(self, path: Steps, columns: list[list[JSON]]) -> Iterator[_Feature]:
        present = [len(values) for values in columns]
        numbers = [len(list(filter(is_number, values))) for values in columns]
        if any(numbers):
            yield _Feature("number", path)
            if not all(numbers) and numbers != present:
                yield _Feature("is number", path)
        if not all(present):
            yield _Feature("present", path)
        if any(type(value) is list for values in columns for value in values):
            yield _Feature("length", path)
        for value in self._frequent(columns):
            if not all(_equals(values, value) for values in columns):
                yield _Feature("equals", path, value)

    def _of_elements(self, path: Steps, columns: list[list[JSON]]) -> Iterator[_Feature]:
        if any(is_number(value) for values in columns for value in values):
            yield _Feature("min", path)
            yield _Feature("max", path)
        if any(type(value) is list for values in columns for value in values):
            yield _Feature("length", path)
        for value in self._frequent(columns):
            yield _Feature("count", path, value)

    def _frequent(self, columns: list[list[JSON]]) -> list[str]:
        """The JSON texts of the values, no numbers, that have columns."""
        scenes_with: Counter[str] = Counter()
        for values in columns:
            scenes_with.update({canonical_json(value) for value in values if _is_category(value)})
        usual = [value for value, count in scenes_with.items() if count >= self.min_count]
        return sorted(usual, key=lambda value: (-scenes_with[value], value))[: self.max_values]


def _checked(scenes: list[JSON]) -> list[JSON]:
    for number, scene in enumerate(scenes):
        refuse_non_json(scene, f"scene {number}")
    return scenes


class _Feature(NamedTuple):
    """One column: what it says of the values at a path; `value` is the JSON text that is looked for."""

    kind: str
    path: Steps
    value: str | None = None

    @property
    def name(self) -> str:
        path = _path_text(self.path)
        match self.kind:
            case "number":
                return path
            case "is number" | "present":
                return f"{path} {self.kind}"
            case "equals":
                return f"{path} = {self.value}"
            case "count":
                return f"count({path} = {self.value})"
        return f"{self.kind}({path})"

    def of(self, values: Sequence[JSON], fill: float) -> float:
        return _MEANINGS[self.kind](values, self.value or "", fill)


def _numbers(values: Sequence[JSON]) -> list[float]:
    return [_double(value) for value in values if is_number(value)]


def _double(number: float) -> float:
    """The number as a finite double."""
    try:
        return float(number)
    except OverflowError:
        return float(_LARGEST if number > 0 else -_LARGEST)


def _is_category(value: JSON) -> bool:
    return value is None or isinstance(value, str | bool)


def _equals(values: Sequence[JSON], wanted: str) -> int:
    """How many of the values are the category of this JSON text."""
    return sum(1 for value in values if _is_category(value) and canonical_json(value) == wanted)


_MEANINGS: dict[str, Callable[[Sequence[JSON], str, float], float]] = {
    "number": lambda values, _, fill: next(iter(_numbers(values)), fill),
    "is number": lambda values, *_: float(bool(_numbers(values))),
    "present": lambda values, *_: float(bool(values)),
    "equals": lambda values, wanted, _: float(_equals(values, wanted)),
    "length": lambda values, *_: float(sum(len(value) for value in values if type(value) is list)),
    "count": lambda values, wanted, _: float(_equals(values, wanted)),
    "min": lambda values, _, fill: min(_numbers(values), default=fill),
    "max": lambda values, _, fill: max(_numbers(values), default=fill),
}


def _path_order(path: Steps) -> tuple[tuple[bool, str], ...]:
    return tuple((step is None, step or "") for step in path)


def _path_text(path: Steps) -> str:
    """A path as the check language writes it, with [] for every element; `$` for the scene itself."""
    text = ""
    run: list[Property] = []
    for step in (*path, None):
        if step is not None:
            run.append(Property(step))
            continue
        keys = format_path(run)
        text += f".{keys}" if text and keys and not keys.startswith("[") else keys
        text += "[]"
        run = []
    text = text.removesuffix("[]")
    return text if text and not text.startswith("[]") else f"${text}"

"""Scenes as numbers, for people who want a tree or a linear model beside the learnt check."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
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
from induce.scenes.plain import all_plain
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
        columns = _columns(given, self.max_nesting)
        self._features = tuple(
            feature
            for path in sorted(columns, key=_path_order)
            for feature in self._features_of(path, columns[path], len(given))
        )
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
        table[:] = [self.fill if feature.kind in _OF_NUMBERS else 0.0 for feature in self._features]
        columns = _columns(given, self.max_nesting)
        for path, numbered in groupby(enumerate(self._features), key=lambda entry: entry[1].path):
            if path in columns:
                _write(table, columns[path], {feature: at for at, feature in numbered})
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

    def _features_of(self, path: Steps, column: _Column, scenes: int) -> list[_Feature]:
        """What there is to say of the values at a path, in order; `scenes` is how many there are in all."""
        numbers = sum(map(is_number, column.values))
        frequent, kinds = self._frequent(column), []
        if None in path:
            kinds += ["min", "max"] if numbers else []
            values = [_Feature("count", path, value) for value in frequent]
        else:
            kinds += ["number"] if numbers else []
            kinds += ["is number"] if 0 < numbers < len(column.values) else []
            kinds += ["present"] if len(column.rows) < scenes else []
            values = [_Feature("equals", path, value) for value, n in frequent.items() if n < scenes]
        kinds += ["length"] if any(type(value) is list for value in column.values) else []
        found = [*(_Feature(kind, path) for kind in kinds), *values]
        return sorted(found, key=lambda feature: (_ORDER.index(feature.kind), feature.value or ""))

    def _frequent(self, column: _Column) -> dict[str, int]:
        """The JSON texts of the values, no numbers, that have columns, and how many scenes have each."""
        scenes_with: Counter[JSON] = Counter()
        last: dict[JSON, int] = {}
        for row, value in zip(column.rows, column.values, strict=True):
            if _is_category(value) and last.get(value) != row:
                last[value] = row
                scenes_with[value] += 1
        usual = [(canonical_json(value), n) for value, n in scenes_with.items() if n >= self.min_count]
        return dict(sorted(usual, key=lambda entry: (-entry[1], entry[0]))[: self.max_values])


def _checked(scenes: list[JSON]) -> list[JSON]:
    if not all_plain(scenes):
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


class _Column(NamedTuple):
    """The values at a path, containers included, with the rows of their scenes, which ascend.

    At a path of object keys a scene has one value at most.
    """

    rows: list[int]
    values: list[JSON]


def _columns(scenes: list[JSON], max_nesting: int) -> dict[Steps, _Column]:
    """The values at every path, arrays entered `max_nesting` times; the work grows with the values alone."""
    found: dict[Steps, _Column] = {}
    pending: list[tuple[Steps, _Column]] = [((), _Column(list(range(len(scenes))), scenes))]
    while pending:
        path, column = pending.pop()
        found[path] = column
        entered = path.count(None) < max_nesting
        members: dict[str | None, _Column] = {}
        for row, value in zip(column.rows, column.values, strict=True):
            if type(value) is dict:
                for key, member in value.items():
                    if key not in members:
                        members[key] = _Column([], [])
                    rows, values = members[key]
                    rows.append(row)
                    values.append(member)
            elif type(value) is list and value and entered:
                rows, values = members.setdefault(None, _Column([], []))
                rows.extend([row] * len(value))
                values.extend(value)
        pending.extend(((*path, key), member) for key, member in members.items())
    return found


def _write(table: NDArray[np.float64], column: _Column, places: Mapping[_Feature, int]) -> None:
    """Write what the features of one path, at their places in `table`, say of the values there.

    Where a scene has none the table holds what it says then.
    """
    rows = np.array(column.rows, np.intp)
    at = {feature.kind: place for feature, place in places.items() if feature.value is None}
    if not at.keys().isdisjoint({"number", "is number", "min", "max"}):
        numeric = np.fromiter(map(is_number, column.values), bool, len(rows))
        numbers = np.array([_double(value) for value in column.values if is_number(value)], np.float64)
        for kind, place in at.items():
            if kind == "number":
                table[rows[numeric], place] = numbers
            elif kind == "is number":
                table[rows[numeric], place] = 1
            elif kind in _EXTREMES:
                extreme, start = _EXTREMES[kind]
                table[rows[numeric], place] = start
                extreme.at(table[:, place], rows[numeric], numbers)
    if "present" in at:
        table[rows, at["present"]] = 1
    if "length" in at:
        for row, value in zip(column.rows, column.values, strict=True):
            if type(value) is list:
                table[row, at["length"]] += len(value)
    wanted = {
        json.loads(feature.value): place for feature, place in places.items() if feature.value is not None
    }
    if wanted:
        for row, value in zip(column.rows, column.values, strict=True):
            if _is_category(value) and value in wanted:
                table[row, wanted[value]] += 1


_OF_NUMBERS = ("number", "min", "max")
_EXTREMES = {"min": (np.minimum, np.inf), "max": (np.maximum, -np.inf)}


def _double(number: float) -> float:
    """The number as a finite double."""
    try:
        return float(number)
    except OverflowError:
        return float(_LARGEST if number > 0 else -_LARGEST)


def _is_category(value: JSON) -> bool:
    return value is None or isinstance(value, str | bool)


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

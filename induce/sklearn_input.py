"""What scikit-learn's users hand over as X: scenes, or a numeric table whose rows are read as scenes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

JSON = Any


def scenes_of(estimator: BaseEstimator, given: Any, *, reset: bool) -> list[JSON]:
    """The scenes in `given`; whether they are plain JSON is not looked at.

    Parameters
    ----------
    estimator : BaseEstimator
        With `reset`, it is told ``n_features_in_`` and ``feature_names_in_`` of a table; without, a table
        must have the columns it was fitted with.
    given : sequence of JSON trees (n_scenes,), or numeric array or data frame (n_scenes, n_features)
        A list, a tuple or a one-dimensional array of objects holds scenes. Of a table each row is the scene
        ``{"x0": …, "x1": …}``, or with the columns' names as keys.

    Raises
    ------
    ValueError, TypeError
        When a table is not numeric, not finite, empty, sparse, or has other columns than at fit.
    """
    if isinstance(given, list | tuple) or (getattr(given, "ndim", 0) == 1 and given.dtype == object):
        for name in ("n_features_in_", "feature_names_in_") if reset else ():
            if hasattr(estimator, name):
                delattr(estimator, name)
        return list(given)
    table = validate_data(estimator, given, reset=reset, dtype="numeric")
    if table.dtype != bool and not np.issubdtype(table.dtype, np.integer):
        table = table.astype(np.float64)
    names = getattr(estimator, "feature_names_in_", None)
    keys = [f"x{i}" for i in range(table.shape[1])] if names is None else [str(name) for name in names]
    return [dict(zip(keys, row, strict=True)) for row in table.tolist()]

"""Linear programs in floating point, solved by HiGHS within the time that a search has left."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from induce.search.limits import Limits

Floats = NDArray[np.float64]


def minimise(
    value: Floats,
    rows: Floats,
    right: Floats,
    bounds: Sequence[tuple[float | None, float | None]],
    limits: Limits,
) -> Any | None:
    """SciPy's result for the least ``value @ x`` with ``rows @ x <= right`` and x within ``bounds``.

    None where floating point gives no answer. Raises LimitReachedError when time runs out first.
    """
    limits.check()
    remaining = limits.remaining()
    options = {} if remaining is None else {"time_limit": remaining}
    linprog = importlib.import_module("scipy.optimize").linprog
    solved = linprog(value, A_ub=rows, b_ub=right, bounds=bounds, method="highs", options=options)
    limits.check()
    return solved if solved.status == 0 else None

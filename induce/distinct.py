"""The distinct columns of a table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class DistinctColumns(NamedTuple):
    """Distinct columns in lexicographic order.

    Attributes
    ----------
    columns : ndarray (rows, distinct)
    which : intp (columns,)
        Where each column of the table stands among them.
    counts : intp (distinct,)
        How many columns of the table are the same.
    """

    columns: NDArray[Any]
    which: NDArray[np.intp]
    counts: NDArray[np.intp]


def distinct_columns(table: NDArray[Any]) -> DistinctColumns:
    """What ``np.unique(table, axis=1)`` finds, for numbers, and an interrupt stays an interrupt.

    NumPy compares the columns as structures, and any exception while it settles their common type, a
    KeyboardInterrupt too, comes out as a TypeError.
    """
    order = np.lexsort(table[::-1]) if len(table) else np.arange(table.shape[1])
    ordered = table[:, order]
    first = np.ones(len(order), np.bool_)
    first[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    which = np.empty(len(order), np.intp)
    which[order] = np.cumsum(first) - 1
    return DistinctColumns(ordered[:, first], which, np.bincount(which))

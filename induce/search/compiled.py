"""Functions that Numba compiles; whoever needs one imports its module when it is first called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(function: Callable[..., Any], *, wrapped: bool = False) -> Any:
    """The function compiled when first called, and kept on disk where there is a place that may be written.

    Only a ``wrapped`` one can be called from Python.
    """
    options: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": not wrapped, "no_cfunc_wrapper": True}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:
        return njit(**options)(function)

"""Whatever can go wrong with a store, as one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from experiments.tracking.address import masked


class TrackingError(Exception):
    """A run could not be recorded; the message is one sentence that names the address and the reason."""


@contextmanager
def one_sentence(uri: str) -> Iterator[None]:
    """Whatever MLflow, its database driver or the network raises, as a :class:`TrackingError`."""
    try:
        yield
    except TrackingError:
        raise
    except Exception as error:
        address = masked(uri)
        reason = _reason(error).replace(uri, address)
        raise TrackingError(f"tracking: {address!r} can't be used: {reason}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}{f': {error.filename}' if error.filename else ''}"
    text = str(error).strip() or type(error).__name__
    if "Max retries exceeded" in text:
        return "nothing answers at this address"
    first = re.split(r"(?<=\.) |\n", text, maxsplit=1)[0].rstrip(".")
    return first if len(first) <= 200 else f"{first[:200]}…"

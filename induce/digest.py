"""One hash for the data a check is learnt from, whatever its order and its file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def data_digest(rows: Iterable[tuple[str, str, float]]) -> str:
    """SHA-256, hexadecimal, of merged (canonical scene, label, weight) rows, whatever their order."""
    lines = (f"{label} {weight!r} {text}" for text, label, weight in sorted(rows))
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()

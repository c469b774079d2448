"""What a family of operators is: keys with prices, words and truth columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

JSON = Any
Mask = NDArray[np.bool_]
Key = Hashable


class Batch(NamedTuple):
    """Some candidates of a family with their truth over the scenes.

    `passes` and `fails` are (n, scenes); a scene on which a candidate is not evaluated is in neither.
    """

    keys: Sequence[Any]
    passes: Mask
    fails: Mask
    bits: Sequence[float] | None = None
    """The prices, where asking the family for each would be slow."""


class Family(Protocol):
    """The candidates of one operator."""

    op: str

    def batches(self) -> Iterator[Batch]:
        """All candidates, in one fixed order."""

    def bits(self, key: Any) -> float | None:
        """The price of a candidate, None for what is none."""

    def said(self, key: Any) -> dict[str, JSON]:
        """The fields of a candidate on the wire, in order."""

    def read(self, fields: dict[str, JSON]) -> Key | None:
        """The key of fields on the wire; None where they are of another form."""

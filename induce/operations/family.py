"""What a family of operators is: keys with prices, words and truth columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

JSON = Any
Mask = NDArray[np.bool_]
Key = Hashable
LONGEST_VALUE = 60
"""Longer texts are written, not copied."""
LEAST_KEPT, LEAST_SHARE = 2, 0.05
"""In how many scenes, and in what share of those with something to judge, a rule about all such calls must be
kept to be a candidate: one that never is says no more than that there are no such calls.
"""


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

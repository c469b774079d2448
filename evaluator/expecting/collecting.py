"""What the method classes of a chain have in common: they only collect, and give the chain back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self


class Collecting:
    """A chain that assertions can be added to."""

    def _add(
        self,
        method: str,
        arguments: Mapping[str, Any],
        optional: Mapping[str, Any] | None = None,
        *,
        soft: bool = False,
    ) -> Self:
        """Collect an assertion; of the optional arguments those that are None were not given."""
        raise NotImplementedError


def given(optional: Mapping[str, Any] | None) -> dict[str, Any]:
    """The optional arguments that were given."""
    return {name: value for name, value in (optional or {}).items() if value is not None}


def listed(names: Sequence[str]) -> Any:
    """Names as an array; one text in place of several is left as it is, to be refused as what it is."""
    return names if isinstance(names, str) else list(names)

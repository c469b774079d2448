"""Which keys of their configurations tell several runs apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator import canonical_json, json_text
from experiments.config import flatten

_SILENT = ("tracking.", "sweep.", "table.")
MOST_KEYS = 6
"""Keys that are shown; runs of one sweep seldom differ in more."""


@dataclass(frozen=True, slots=True)
class Differing:
    """The keys with several values, and each run's value of each as text, empty where it has none."""

    keys: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    left_out: tuple[str, ...] = ()


def differing(configs: Sequence[Mapping[str, Any]]) -> Differing:
    """What tells the configurations apart, in their order of keys; of keys always equal the shortest.

    Where a run is recorded, and as what, is no part of what it is.
    """
    flat = [flatten(config) for config in configs]
    names = dict.fromkeys(name for one in flat for name in one if not name.startswith(_SILENT))
    columns: dict[str, tuple[str, ...]] = {}
    for name in names:
        texts = tuple(canonical_json(one[name]) if name in one else "" for one in flat)
        if len(set(texts)) > 1:
            columns[name] = texts
    shortest: dict[tuple[str, ...], str] = {}
    for name, texts in columns.items():
        other = shortest.setdefault(texts, name)
        if len(name) < len(other):
            shortest[texts] = name
    keys = [name for name in columns if name in shortest.values()]
    shown, left_out = tuple(keys[:MOST_KEYS]), tuple(keys[MOST_KEYS:])
    values = tuple(tuple(value_text(one.get(name)) if name in one else "" for name in shown) for one in flat)
    return Differing(shown, values, left_out)


def value_text(value: Any) -> str:
    """A value of a configuration as it stands in a table."""
    return value if isinstance(value, str) else json_text(value)

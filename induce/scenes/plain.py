"""Many scenes judged and written at once: the same answers as one by one, in a fraction of the time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from math import isfinite

from evaluator import canonical_json
from induce.scenes.jsontext import MAX_NESTING, TOO_LONG, Json

BATCH = 32
"""Values judged at once; more of them leave the processor's cache."""
_PLAIN = frozenset((dict, list, str, int, float, bool, type(None)))
_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":"))
_UNUSUAL_NUMBER = re.compile(r"(?:^|[:\[,])-?[\d.]++(?:e|(?<=\.0))")
"""Numbers that Python writes otherwise than canonical JSON: whole doubles, and those with an exponent."""
_SIGNS_OF_ONE = (".0,", ".0]", ".0}", "e-", "e+")


def all_plain(values: Sequence[Json]) -> bool:
    """Whether every value is plain JSON, as `find_foreign` judges."""
    return all(_are_plain(values[start : start + BATCH]) for start in range(0, len(values), BATCH))


def _are_plain(values: Sequence[Json]) -> bool:
    """The same, level by level through all values at once."""
    level: list[Json] = list(values)
    for _ in range(MAX_NESTING + 1):
        kinds = set(map(type, level))
        if not kinds <= _PLAIN:
            return False
        if str in kinds and not _encodable(value for value in level if type(value) is str):
            return False
        if float in kinds and not all(isfinite(value) for value in level if type(value) is float):
            return False
        if int in kinds and any(abs(value) >= TOO_LONG for value in level if type(value) is int):
            return False
        objects = [value for value in level if type(value) is dict]
        keys = {key for value in objects for key in value}
        if not set(map(type, keys)) <= {str} or not _encodable(keys):
            return False
        arrays = [value for value in level if type(value) is list]
        level = [inner for value in objects for inner in value.values()]
        level += [inner for value in arrays for inner in value]
        if not level:
            return True
    return False


def _encodable(texts: Iterable[str]) -> bool:
    """Whether UTF-8 can hold all texts: none has a lone surrogate."""
    try:
        " ".join(texts).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def canonical_text(value: Json) -> str:
    """`evaluator.canonical_json` of a value that is plain JSON."""
    text = _ENCODER.encode(value)
    suspect = text.endswith(".0") or any(sign in text for sign in _SIGNS_OF_ONE)
    return canonical_json(value) if suspect and _UNUSUAL_NUMBER.search(text) is not None else text

"""Scenes from Python: which objects are scenes as they are, and which can be turned into one.

A scene is plain JSON: None, bool, finite int or float, str, list, and dict with str keys, of exactly these
types, nothing containing itself. When that is looked at:

* `run_check(scene, check)` looks at the whole scene first and refuses it (`SceneError`, with the place)
  wherever the fault is. Infinite numbers alone are let pass: the original reads `1e400` so, and places them
  beyond all others.
* A compiled check that is called (`compiled(scene)`, `.gap(scene)`) is made for many scenes and looks only
  where the check leads: it refuses what it meets there, and answers when it meets nothing. Ask
  `validate_scene(scene)` first where the scenes do not come from a JSON parser.
* The command line reads JSON, which cannot hold anything else.

`to_scene(obj)` (`conversion.py`) converts what has one obvious meaning in JSON and refuses the rest.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

from evaluator.errors import SceneError, kind_of
from evaluator.place import Place, below, place_text

SCALARS: Final = frozenset({str, int, bool, type(None)})
"""The exact types of a scene's single values; the fourth of JSON's, float, must be finite besides."""
CONTAINS_ITSELF: Final = "contains itself, which JSON cannot"


def validate_scene(scene: object, *, infinite: bool = False) -> None:
    """Raise `SceneError` unless an object is a scene: plain JSON through and through.

    With `infinite`, infinite numbers are let pass, as `run_check` does: the original reads `1e400` so.

    The error's `place` is the JSON path of the fault, `$.orders[3].total`; its text says what stands there
    and what to do. Costs about 0.1 µs a value.
    """
    if not is_plain_tree(scene):
        _find_fault(scene, infinite=infinite)


def is_plain_tree(root: Any) -> bool:
    """Whether an object is plain JSON in which no array or object stands twice; fast, says nothing more."""
    seen: set[int] = set()
    pending: list[Any] = [(root,)]
    while pending:
        for value in pending.pop():
            kind = type(value)
            if kind is str or kind is int or kind is bool or value is None:
                continue
            if kind is dict:
                if id(value) in seen:
                    return False
                seen.add(id(value))
                for key in value:
                    if type(key) is not str:
                        return False
                pending.append(value.values())
            elif kind is list:
                if id(value) in seen:
                    return False
                seen.add(id(value))
                pending.append(value)
            elif kind is not float or not isfinite(value):
                return False
    return True


def _find_fault(root: Any, *, infinite: bool) -> None:
    """Raise `SceneError` at the first fault; an array or object that stands in several places is none."""
    inside: set[int] = set()
    judged: set[int] = set()
    pending: list[tuple[Any, Place | None, int]] = [(root, None, 0)]
    while pending:
        value, place, left = pending.pop()
        kind = type(value)
        if left:
            inside.discard(left)
        elif kind is dict or kind is list:
            if id(value) in inside:
                raise SceneError(f"this {noun(value)} {CONTAINS_ITSELF}", place_text(place))
            if id(value) in judged:
                continue
            judged.add(id(value))
            inside.add(id(value))
            pending.append((None, None, id(value)))
            if kind is dict:
                for key in value:
                    if type(key) is not str:
                        raise SceneError(bad_key(key), place_text(place))
            members = list(value.items() if kind is dict else enumerate(value))
            pending.extend((member, below(place, step), 0) for step, member in reversed(members))
        elif kind is float:
            if not isfinite(value) and not (infinite and value == value):
                raise SceneError(f"a scene is plain JSON, found {not_finite(value)}", place_text(place))
        elif kind not in SCALARS:
            problem = f"a scene is plain JSON, found {kind_of(value)}; {_advice(value)}"
            raise SceneError(problem, place_text(place))


def _advice(value: Any) -> str:
    from evaluator.conversion import instead, is_convertible  # not at the top: few need it, and it costs

    return "evaluator.to_scene converts it" if is_convertible(value) else instead(value)


def bad_key(key: Any) -> str:
    """What is wrong with a key that is no text."""
    return f"an object's keys are strings, found {kind_of(key)}{f' ({key})' if type(key) is int else ''}"


def not_finite(number: float) -> str:
    """What a number that JSON cannot hold is called, and what to do about it."""
    name = "NaN" if number != number else "an infinite number"
    return f"{name}; use None, or leave the key out"


def noun(value: Any) -> str:
    """What a container is called."""
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else type(value).__name__

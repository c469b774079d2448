"""Scenes that could well occur: those of a pool, and smallest changes of given ones.

An edit takes a given scene and changes as little as turns the verdict of some check (see
`induce.edits`), so that it lies where checks begin to differ. It is plausible when it keeps the
shape of the given scenes: keys that come and go, kinds of values, ranges of numbers and words as
they were seen at the same path, the elements of one array taken together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evaluator import canonical_json
from induce.committee import Rival
from induce.edits import smallest_change

JSON = Any
EDITING_RIVALS, EDITED_SCENES = 25, 12
"""The best rivals whose verdicts are turned, each on so many scenes."""


@dataclass(frozen=True)
class PlausibleScene:
    """A scene with its id; of an edit, the id of the scene it was and what was changed."""

    scene: JSON
    id: str
    source: str | None = None
    edits: tuple[str, ...] = ()


def plausible_scenes(
    rivals: Sequence[Rival],
    scenes: Sequence[JSON],
    ids: Sequence[str] | None = None,
    *,
    pool: Sequence[JSON] | None = None,
    pool_ids: Sequence[str] | None = None,
    edit: bool = True,
) -> list[PlausibleScene]:
    """Distinct scenes that are not among the given ones: the pool, then edits of `scenes` if wanted.

    Raises
    ------
    ValueError
        When `ids` or `pool_ids` are not as many as what they name.
    """
    names = _names(scenes, ids, "ids", "")
    known = {canonical_json(scene) for scene in scenes}
    found = []
    for scene, name in zip(pool or (), _names(pool or (), pool_ids, "pool_ids", "pool-"), strict=True):
        text = canonical_json(scene)
        if text not in known:
            known.add(text)
            found.append(PlausibleScene(scene, name))
    if edit:
        shape = _Shape()
        for scene in (*scenes, *(pool or ())):
            shape.learn(scene)
        taken = {*names, *(one.id for one in found)}
        for change in _edits(rivals, scenes, names):
            text = canonical_json(change.scene)
            if text not in known and shape.fits(change.scene):
                known.add(text)
                found.append(replace(change, id=_unused(f"{change.id}-edit", taken)))
    return found


def _names(named: Sequence[JSON], ids: Sequence[str] | None, what: str, prefix: str) -> list[str]:
    if ids is None:
        return [f"{prefix}{number}" for number in range(len(named))]
    if len(ids) != len(named):
        raise ValueError(f"{what}: expected one for each of the {len(named)} scenes, got {len(ids)}")
    return list(ids)


def _edits(rivals: Sequence[Rival], scenes: Sequence[JSON], names: Sequence[str]) -> Iterator[PlausibleScene]:
    """Smallest changes; each rival begins with another scene, so that few scenes do not stand for all."""
    for number, rival in enumerate(rivals[:EDITING_RIVALS]):
        for step in range(min(len(scenes), EDITED_SCENES)):
            at = (number + step) % len(scenes)
            change = smallest_change(rival.check, scenes[at], scenes)
            if change is not None:
                edits = tuple(edit.text for edit in change.edits)
                yield PlausibleScene(change.scene, names[at], names[at], edits)


def _unused(name: str, taken: set[str]) -> str:
    """The name, numbered from 1 on, that is not taken yet; it is then."""
    number = 1
    while f"{name}-{number}" in taken:
        number += 1
    taken.add(f"{name}-{number}")
    return f"{name}-{number}"


@dataclass
class _Place:
    """What was seen at one path."""

    kinds: set[type] = field(default_factory=set)
    always: set[str] | None = None
    ever: set[str] = field(default_factory=set)
    least: float | None = None
    most: float | None = None
    texts: Counter[str] = field(default_factory=Counter)

    def learn(self, value: JSON) -> None:
        self.kinds.add(type(value))
        if type(value) is dict:
            self.always = set(value) if self.always is None else self.always & set(value)
            self.ever |= set(value)
        elif type(value) is str:
            self.texts[value] += 1
        elif type(value) in (int, float):
            self.least = value if self.least is None else min(self.least, value)
            self.most = value if self.most is None else max(self.most, value)

    def fits(self, value: JSON) -> bool:
        kind = type(value)
        if kind not in self.kinds and not (kind is int and float in self.kinds):
            return False
        if kind is dict:
            return (self.always or set()) <= set(value) <= self.ever
        if kind is str:
            return value in self.texts or (value != "" and self._free_text)
        if self.least is not None and self.most is not None and kind in (int, float):
            return bool(self.least <= value <= self.most)
        return True

    @property
    def _free_text(self) -> bool:
        """Whether most texts occur but once."""
        return 2 * sum(1 for count in self.texts.values() if count == 1) > len(self.texts)


class _Shape:
    """What was seen at each path of some scenes, the elements of an array taken together."""

    def __init__(self) -> None:
        self.places: dict[tuple[str, ...], _Place] = {}

    def learn(self, scene: JSON) -> None:
        for path, value in walk(scene):
            self.places.setdefault(path, _Place()).learn(value)

    def fits(self, scene: JSON) -> bool:
        return all(path in self.places and self.places[path].fits(value) for path, value in walk(scene))


def walk(scene: JSON) -> Iterator[tuple[tuple[str, ...], JSON]]:
    """Every path of a scene with its value, containers included, elements of an array under one path."""
    stack: list[tuple[tuple[str, ...], JSON]] = [((), scene)]
    while stack:
        path, value = stack.pop()
        yield path, value
        if type(value) is dict:
            stack.extend(((*path, f".{key}"), inner) for key, inner in value.items())
        elif type(value) is list:
            stack.extend(((*path, "[]"), inner) for inner in value)

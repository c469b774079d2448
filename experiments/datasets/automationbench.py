"""Worlds for one assertion of AutomationBench: passing ones, and near misses that each break one conjunct.

An assertion says that some record of a collection is such and such, or that none is. Its worlds hold that one
collection, with records of three sorts. *Others* are records of the same collection that the corpus knows and
the assertion does not mean: those of the task's starting world, those that the task's other assertions ask
for, and, where these are few or would leave a conjunct idle, some of other tasks. *Near misses* are others
edited to satisfy every conjunct but one. *Hits* are others edited to satisfy all. Lists of texts that the
assertion speaks of, such as recipients, get further members that change no conjunct.

Every world has others and near misses; what differs is that one record is a hit or a near miss. Half of the
worlds pass. They follow from the seed, the task and the assertion's place in it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from evaluator import SceneError, compile_check, json_text, normalise_world, translate_automationbench
from evaluator.json_read import JsonTextError, read_json
from evaluator.path import Property, parse_path
from evaluator.translate.automationbench.synthesis import UnsatisfiableError, satisfy
from evaluator.translate.automationbench.translation import Translation
from induce.scenes import LabelledScenes

Record = dict[str, Any]

_FEW: Final = 6
_IDLE: Final = 3
_TRIES: Final = 20
_WORD: Final = re.compile(r"\w+")


class Item(NamedTuple):
    """An assertion of the corpus that worlds can be made for: it searches one collection for a record."""

    task: str
    place: int
    type: str
    translation: Translation

    @property
    def search(self) -> dict[str, Any]:
        """The `find` that the assertion makes or forbids."""
        return _without_not(self.translation.check)


class Corpus:
    """The assertions of some tasks and the records that their worlds and assertions know.

    Attributes:
        items: the translated assertions that search one collection, in the order of the tasks.
        others: how many translated assertions do not, so that no worlds are made for them.
    """

    def __init__(self, tasks: Iterable[dict[str, Any]]) -> None:
        self.others = 0
        self._seeded: dict[str, dict[str, list[Record]]] = defaultdict(dict)
        self._searches: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(dict)
        self._known: dict[tuple[str, str], list[Record]] = {}
        self._members: dict[str, dict[str, list[str]]] = {}
        items: list[Item] = []
        for task in tasks:
            world = normalise_world(task["initial_state"])
            for app, collections in world.items():
                if isinstance(collections, dict):
                    for name, records in collections.items():
                        own = records if isinstance(records, list) else ()
                        kept = [record for record in own if isinstance(record, dict)]
                        self._seeded[f"{app}.{name}"][task["task"]] = kept
            for place, assertion in enumerate(task["assertions"]):
                translation = translate_automationbench(assertion, world)
                if translation is None:
                    continue
                item = Item(task["task"], place, assertion["type"], translation)
                if item.search["op"] != "find" or not _keys(item.search["collection"]):
                    self.others += 1
                    continue
                items.append(item)
                searches = self._searches[item.search["collection"]]
                searches.setdefault(item.task, []).append(item.search)
        self.items = tuple(items)

    @classmethod
    def read(cls, path: Path) -> Corpus:
        """The corpus of a file with one task a line. Raises `SceneError` in one sentence."""
        tasks = []
        for number, line in enumerate(path.read_bytes().splitlines(), start=1):
            try:
                task = read_json(line)
            except JsonTextError as error:
                raise SceneError(f"{path}:{number}: {error.problem}") from None
            if not isinstance(task, dict) or not task.keys() >= {"task", "initial_state", "assertions"}:
                expected = '{"task", "initial_state", "assertions"}'
                raise SceneError(f"{path}:{number}: expected a task, {expected}")
            tasks.append(task)
        return cls(tasks)

    def item(self, task: str, place: int) -> Item:
        """An assertion by its task and its place in it, from 0. Raises `SceneError` when there is none."""
        own = {one.place: one for one in self.items if one.task == task}
        if not own:
            raise SceneError(f"the corpus has no task {task} with an assertion that searches a collection")
        if place not in own:
            known = ", ".join(map(str, own))
            raise SceneError(f"assertion {place} of {task} searches no collection; these do: {known}")
        return own[place]

    def records(self, collection: str) -> list[Record]:
        """What all tasks know of a collection."""
        tasks = dict.fromkeys([*self._seeded[collection], *self._searches[collection]])
        return [record for task in tasks for record in self.records_of(task, collection)]

    def records_of(self, task: str, collection: str) -> list[Record]:
        """What one task knows of a collection: records of its starting world, and those it asks for."""
        if (task, collection) not in self._known:
            asked = [made for one in self._searches[collection].get(task, []) for made in _asked_for(one)]
            kept = [record for record in asked if isinstance(record, dict)]
            self._known[task, collection] = [*self._seeded[collection].get(task, []), *kept]
        return self._known[task, collection]

    def members(self, collection: str) -> dict[str, list[str]]:
        """The texts that stand in lists of a collection's records, by field."""
        if collection not in self._members:
            found: dict[str, list[str]] = defaultdict(list)
            for record in self.records(collection):
                for key, value in record.items():
                    if _is_list_of_texts(value):
                        found[key] += value
            self._members[collection] = found
        return self._members[collection]


class WorldMaker:
    """Makes labelled worlds for one assertion."""

    def __init__(self, corpus: Corpus, item: Item, seed: int = 0) -> None:
        search = item.search
        self.item = item
        self._name = f"automationbench/{seed}/{item.task}/{item.place}"
        self._check = compile_check(item.translation.check)
        self._keys = _keys(search["collection"])
        self._where = search["where"]
        self._holds = compile_check(self._where).passes
        self._parts: list[dict[str, Any]] = self._where["of"] if self._where["op"] == "and" else [self._where]
        self._parts_hold = [compile_check(part).passes for part in self._parts]
        self._words = [_words(part) for part in self._parts]
        self._members = corpus.members(search["collection"])
        self._others = self._chosen(corpus, item, Random(f"{self._name}/others"))

    def worlds(self, part: str, size: int) -> LabelledScenes:
        """So many worlds, half of them passing. ``part`` names an independent stream and begins the ids."""
        source = Random(f"{self._name}/{part}")
        scenes = [self._world(source, hit=number % 2 == 0, broken=number // 2) for number in range(size)]
        return LabelledScenes(
            ids=tuple(f"{part}-{number:04}" for number in range(1, size + 1)),
            labels=tuple("pass" if self._check.passes(scene) else "fail" for scene in scenes),
            scenes=tuple(scenes),
            weights=(1.0,) * size,
        )

    def _chosen(self, corpus: Corpus, item: Item, source: Random) -> list[Record]:
        """The others of the task; also of other tasks where they are few or too few break some conjunct."""
        collection = item.search["collection"]
        strange = [record for record in corpus.records(collection) if not self._holds(record)]
        others = [record for record in corpus.records_of(item.task, collection) if not self._holds(record)]
        if len(others) < _FEW:
            others += source.sample(strange, min(_FEW - len(others), len(strange)))
        for holds in self._parts_hold:
            if sum(not holds(record) for record in others) < _IDLE:
                breaking = [record for record in strange if not holds(record)]
                others += source.sample(breaking, min(_IDLE, len(breaking)))
        return others or [{}]

    def _world(self, source: Random, *, hit: bool, broken: int) -> Any:
        records = [source.choice(self._others) for _ in range(source.randint(2, 5))]
        if len(self._parts) > 1 or source.random() < 0.5:
            near = [part for part in range(len(self._parts)) if source.random() < 0.7]
            records += [self._near_miss(source, part) for part in near]
        records.append(self._hit(source) if hit else self._near_miss(source, broken % len(self._parts)))
        source.shuffle(records)
        world: Any = records
        for key in reversed(self._keys):
            world = {key: world}
        return normalise_world(world)

    def _hit(self, source: Random) -> Record:
        for _ in range(_TRIES):
            made = _edited(self._where, source.choice(self._others))
            if made is not None:
                return self._varied(source, made)
        return dict(_asked_for({"op": "find", "collection": "made", "where": self._where})[0])

    def _near_miss(self, source: Random, broken: int) -> Record:
        """A record that satisfies all conjuncts but one; it resembles, if it can, what that one asks for."""
        rest = [part for index, part in enumerate(self._parts) if index != broken]
        goal = {"op": "and", "of": [*rest, {"op": "not", "of": self._parts[broken]}]}
        breaking = [record for record in self._others if not self._parts_hold[broken](record)]
        for _ in range(_TRIES):
            drawn = [source.choice(breaking or self._others) for _ in range(3)]
            nearest = max(drawn, key=lambda record: len(self._words[broken] & _words(record)))
            made = _edited(goal, nearest)
            if made is not None and not self._holds(made):
                return self._varied(source, made)
        return source.choice(self._others)

    def _varied(self, source: Random, record: Record) -> Record:
        """The record with further members in its lists of texts, where they change no conjunct."""
        before = [holds(record) for holds in self._parts_hold]
        for key, value in list(record.items()):
            known = self._members.get(key)
            if known and _is_list_of_texts(value) and source.random() < 0.6:
                members = [*value, source.choice(known)]
                source.shuffle(members)
                longer = {**record, key: list(dict.fromkeys(members))}
                if [holds(longer) for holds in self._parts_hold] == before:
                    record = longer
        return record


def _without_not(check: dict[str, Any]) -> dict[str, Any]:
    while check["op"] == "not":
        check = check["of"]
    return check


def _keys(path: str) -> tuple[str, ...]:
    """The keys of a path of nothing but keys; none of any other."""
    segments = parse_path(path)
    keys = tuple(segment.key for segment in segments if isinstance(segment, Property))
    return keys if len(keys) == len(segments) else ()


def _asked_for(search: dict[str, Any]) -> list[Any]:
    """The least record that satisfies a search, in a list; an empty one when none can be made."""
    try:
        made: list[Any] = satisfy({**search, "collection": "made"}, {})["made"]
    except UnsatisfiableError:
        return []
    return made


def _edited(goal: dict[str, Any], record: Record) -> Record | None:
    try:
        made = satisfy(goal, record)
    except UnsatisfiableError:
        return None
    return made if isinstance(made, dict) else None


def _words(value: Any) -> set[str]:
    return set(_WORD.findall(json_text(value)))


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(member, str) for member in value)

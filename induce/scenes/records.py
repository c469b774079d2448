"""From a JSON record (``{"id"?, "label"?, "scene", "weight"?}``) to a labelled scene, or an error."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from evaluator import SceneError
from induce.scenes.jsontext import Json, holds_surrogate, json_path, quoted
from induce.scenes.labelled import LabelledScenes

_LABELS = {"pass": "pass", "fail": "fail", "true": "pass", "false": "fail", "1": "pass", "0": "fail"}
RULE_LABELS = "labels"
"""The key of a record under which each rule has its own label."""
_LABEL_RULE = 'expected "pass" or "fail" (or true and false, 1 and 0)'


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record stands: a file, its line (from 1) if lines count, and the JSON path there."""

    file: str
    line: int | None = None
    root: str = "$"

    def __str__(self) -> str:
        return (self.file if self.line is None else f"{self.file}:{self.line}") + self.root.removeprefix("$")

    def error(self, message: str, *segments: str | int) -> SceneError:
        """A :class:`SceneError` for the part of the record at ``segments``."""
        return self.error_at(json_path(segments, self.root), message)

    def error_at(self, path: str, message: str) -> SceneError:
        """A :class:`SceneError` for a full JSON path (``$…``)."""
        file = self.file if self.line is None else f"{self.file}:{self.line}"
        return SceneError(message, file if path == "$" else f"{file}: {path}")


@dataclass(frozen=True, slots=True)
class Record:
    """One labelled scene and its place; ``default_id`` is used when the source gives no id."""

    place: Place
    default_id: str
    id: str | None
    label: str | None
    scene: Json
    weight: float
    id_key: str = "id"
    rules: tuple[tuple[str, str | None], ...] = ()


def read_record(
    value: Json, place: Place, default_id: str, label_key: str, on_ignored: Callable[[str], None]
) -> Record:
    """Judge one record; ``on_ignored`` hears of each key that means nothing here."""
    if not isinstance(value, dict):
        raise place.error(
            f'expected an object but found {kind_of(value)}; write {{"label": "pass", "scene": {{…}}}}'
        )
    if "scene" not in value:
        trace = _trace_record(value, place, default_id, label_key)
        if trace is not None:
            return trace
    known = ("id", label_key, "scene", "weight")
    by_rule = label_key != RULE_LABELS and isinstance(value.get(RULE_LABELS), dict)
    for key in value:
        if key not in known and not (by_rule and key == RULE_LABELS):
            meant = _nearest(key, [name for name in known if name not in value])
            if meant is not None:
                raise place.error(f"unknown key {quoted(key)}; did you mean {quoted(meant)}?")
            on_ignored(key)
    if "scene" not in value:
        raise place.error(
            'no "scene"; write {"label": "pass", "scene": {…}}, the state to judge inside "scene"'
        )
    return Record(
        place=place,
        default_id=default_id,
        id=read_id(value.get("id"), place, "id"),
        label=read_label(value.get(label_key), place, label_key),
        scene=value["scene"],
        weight=read_weight(value.get("weight"), place, "weight"),
        rules=read_rule_labels(value[RULE_LABELS], place) if by_rule else (),
    )


def _trace_record(value: dict[str, Json], place: Place, default_id: str, label_key: str) -> Record | None:
    """A record that is a trace, or has one (and maybe a world) where others have a scene; None for others."""
    from evaluator.traces.reading import form_of  # few records lack a scene, and it costs start-up

    form = form_of(value)
    if form is None:
        return None
    if form != "trace":
        raise place.error(
            f"a recorded run in the form {form}, no scene; "
            f"make scenes of the file with: evaluator traces FILE --from {form} -o scenes.jsonl"
        )
    of_record = ("id", label_key, RULE_LABELS, "weight")
    own = {key: member for key, member in value.items() if key not in of_record}
    rules = value.get(RULE_LABELS) if label_key != RULE_LABELS else None
    scene = {key: own[key] for key in ("trace", "world") if key in own}
    return Record(
        place=place,
        default_id=default_id,
        id=read_id(value.get("id", value.get("trace_id")), place, "id" if "id" in value else "trace_id"),
        label=read_label(value.get(label_key), place, label_key),
        scene={"trace": own} if "steps" in own else scene,
        weight=read_weight(value.get("weight"), place, "weight"),
        rules=read_rule_labels(rules, place) if isinstance(rules, dict) else (),
    )


def read_rule_labels(value: dict[str, Json], place: Place) -> tuple[tuple[str, str | None], ...]:
    """The labels by the names of rules; None for a rule that does not speak of the scene."""
    for name in value:
        if not name.strip():
            raise place.error("the name of a rule is empty", RULE_LABELS, name)
    return tuple((name, read_label(label, place, RULE_LABELS, name)) for name, label in value.items())


def read_label(value: Json, place: Place, *key: str) -> str | None:
    """``"pass"``, ``"fail"`` or None; also true and false, 1 and 0 and their texts, in any case."""
    if value is None:
        return None
    label = None
    if isinstance(value, str):
        label = _LABELS.get(value.strip().lower())
    elif isinstance(value, (bool, int, float)) and value in (0, 1):
        label = "pass" if value else "fail"
    if label is None:
        shown = quoted(value) if isinstance(value, str) else kind_of(value)
        raise place.error(f"unknown label {shown}; {_LABEL_RULE}", *key)
    return label


def read_id(value: Json, place: Place, key: str) -> str | None:
    """A text that is not empty, or None; a number is taken as its text."""
    if value is None:
        return None
    if isinstance(value, str):
        if not value:
            raise place.error("the id is empty; leave it out or write a text", key)
        if holds_surrogate(value):
            raise place.error(f"the id {quoted(value)} holds a lone surrogate, which is no character", key)
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(int(value)) if value == int(value) else repr(value)
    raise place.error(f"expected a text as id but found {kind_of(value)}", key)


def read_weight(value: Json, place: Place, key: str) -> float:
    """A finite number from 0 on; None means 1."""
    if value is None:
        return 1.0
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            weight = float(value)
        except OverflowError:
            weight = math.inf
        if weight >= 0 and math.isfinite(weight):
            return weight
        found = "a negative number" if value < 0 else "a number beyond the range of a double"
    else:
        found = kind_of(value)
    raise place.error(f"expected a finite weight of at least 0 but found {found}", key)


def kind_of(value: Json) -> str:
    """What a JSON value is, in words for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    if isinstance(value, (int, float)):
        return f"the number {value!r}" if abs(value) < 10**60 else "a huge number"
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "an array"
    return f"a value of type {type(value).__name__}"


def _nearest(key: str, names: list[str]) -> str | None:
    for name in names:
        if key.strip().lower() == name.lower():
            return name
    close = difflib.get_close_matches(key.strip().lower(), names, n=1, cutoff=0.75)
    return close[0] if close else None


def nearest_hint(name: str, names: Iterable[str]) -> str:
    """``; did you mean "label"?`` or, when nothing is near, the names there are."""
    known = list(names)
    meant = _nearest(name, known)
    if meant is not None:
        return f"; did you mean {quoted(meant)}?"
    more = ", …" if len(known) > 8 else ""
    return f"; there are {', '.join(quoted(item) for item in known[:8])}{more}"


def assemble(records: Iterable[Record], source: str, ignored_keys: Iterable[str] = ()) -> LabelledScenes:
    """Name the records that have no id, refuse ids that come twice, and put it all in columns."""
    kept = list(records)
    if not kept:
        raise SceneError("no scenes; expected at least one", source)
    first: dict[str, Place] = {}
    for record in kept:
        if record.id is not None:
            if record.id in first:
                raise record.place.error(
                    f"the id {quoted(record.id)} was given before, at {first[record.id]}; ids must be unique",
                    record.id_key,
                )
            first[record.id] = record.place
    ids = []
    for record in kept:
        name = record.id
        if name is None:
            name, turn = record.default_id, 1
            while name in first:
                turn += 1
                name = f"{record.default_id}~{turn}"
            first[name] = record.place
        ids.append(name)
    return LabelledScenes(
        ids=tuple(ids),
        labels=tuple(record.label for record in kept),
        scenes=tuple(record.scene for record in kept),
        weights=tuple(record.weight for record in kept),
        places=tuple(str(record.place) for record in kept),
        rules=tuple(record.rules for record in kept) if any(record.rules for record in kept) else (),
        ignored_keys=tuple(sorted(set(ignored_keys))),
    )

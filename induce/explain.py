"""Why a check says what it says: of a scene, and of the labelled scenes that shaped it.

Negations are carried inwards first, so that what is told is what was wanted and what was observed, never the
opposite; numbers are exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator import MISSING, compile_check, json_text, resolve, sentence
from evaluator.values import compact
from induce.edits import SceneChange, smallest_change
from induce.examples import label_of
from induce.parts import Check, Place, children, expression_of, place_text, without
from induce.result import InductionResult

JSON = Any
_NAMED_AT_MOST = 5


@dataclass(frozen=True)
class Reason:
    """One part that decides a verdict: what was wanted there, and what was observed.

    `held` says whether it was so; `place` is the part's JSON path in the check.
    """

    place: str
    wanted: str
    observed: str
    held: bool


@dataclass(frozen=True)
class SceneExplanation:
    """A verdict on one scene, the parts that decide it, and the smallest change that turns it."""

    passed: bool
    gap: float
    reasons: tuple[Reason, ...]
    change: SceneChange | None

    def lines(self) -> Iterator[str]:
        """As text for a reader."""
        for reason in self.reasons:
            yield f"wanted: {reason.wanted}"
            yield f"observed: {reason.observed}"
        verb = "fail" if self.passed else "pass"
        if self.change is None:
            yield f"change: none of those the check suggests makes it {verb}"
            return
        size = "smallest change" if self.change.smallest else "change"
        yield f"{size} that makes it {verb}: {'; '.join(edit.text for edit in self.change.edits)}"

    def to_dict(self) -> dict[str, JSON]:
        change = self.change
        return {
            "pass": self.passed,
            "gap": self.gap,
            "reasons": [
                {"place": r.place, "wanted": r.wanted, "observed": r.observed, "held": r.held}
                for r in self.reasons
            ],
            "change": None
            if change is None
            else {"smallest": change.smallest, "edits": [edit.to_dict() for edit in change.edits]},
        }


def explain_scene(check: object, scene: JSON, like: Sequence[JSON] = ()) -> SceneExplanation:
    """Why a scene passes or fails a check, and the smallest change to the scene that turns the verdict.

    Parameters
    ----------
    check : dict
        A check, bare or defined.
    scene : JSON tree
    like : sequence of JSON trees, optional
        Scenes of the same kind, whose values and elements are tried in changes.

    Raises
    ------
    CheckError, SceneError
        As `evaluator.run_check`.
    """
    expression = expression_of(check)
    result = compile_check(expression)(scene)
    return SceneExplanation(
        result.passed,
        result.gap,
        tuple(reasons(expression, scene)),
        smallest_change(expression, scene, like),
    )


def reasons(check: Check, scene: JSON, affirmed: bool = True, place: Place = ()) -> Iterator[Reason]:
    """The parts that decide whether the check (or with `affirmed` false its opposite) holds, and why."""
    if check["op"] == "not":
        yield from reasons(check["of"], scene, not affirmed, (*place, "of"))
        return
    held = compile_check(check).passes(scene) is affirmed
    if check["op"] in ("and", "or"):
        told = [part for part in children(check) if (_holds(part[1], scene) is affirmed) is held]
        for inner, part in told:
            yield from reasons(part, scene, affirmed, place + inner)
        if not told:
            yield Reason(place_text(place), _wanted(check, affirmed), "it is always so", held)
        return
    seen = _collection(check, scene) if check["op"] in ("find", "count") else _values(check, scene)
    yield Reason(place_text(place), _wanted(check, affirmed), seen, held)


def _holds(check: Check, scene: JSON) -> bool:
    return compile_check(check).passes(scene)


def _wanted(check: Check, affirmed: bool) -> str:
    return sentence(check if affirmed else {"op": "not", "of": check})


def _values(check: Check, scene: JSON) -> str:
    paths = [check[name] for name in ("path", "value_path") if name in check]
    return ", ".join(_at(path, scene) for path in paths) or compile_check(check)(scene).why


def _at(path: str, scene: JSON) -> str:
    value = resolve(scene, path)
    name = path or "the value"
    return f"{name} is missing" if value is MISSING else f"{name} is {compact(value)}"


def _collection(check: Check, scene: JSON) -> str:
    path = check["collection"]
    elements = _elements(check, scene)
    if elements is None:
        return f"{_at(path, scene)}, which is no list"
    where = check.get("where")
    size = f"{len(elements)} element{'' if len(elements) == 1 else 's'}"
    if where is None:
        return f"{path or 'the list'} has {size}"
    compiled = compile_check(where)
    matching = [name for name, element in elements.items() if compiled.passes(element)]
    if matching:
        named = ", ".join(
            f"{name} ({_told(where, elements[name], True)})" for name in matching[:_NAMED_AT_MOST]
        )
        more = f" and {len(matching) - _NAMED_AT_MOST} more" if len(matching) > _NAMED_AT_MOST else ""
        return f"{len(matching)} of {size} {'is' if len(matching) == 1 else 'are'} so: {named}{more}"
    if not elements:
        return f"{path or 'the list'} has no elements"
    nearest = min(elements, key=lambda name: compiled.gap(elements[name]))
    return f"none of {size} is so; nearest is {nearest} ({_told(where, elements[nearest], False)})"


def _told(where: Check, element: JSON, holds: bool) -> str:
    """What is observed in an element, of the parts that make it match or not."""
    told = [reason.observed for reason in reasons(where, element) if reason.held is holds]
    return ", ".join(dict.fromkeys(told))


def _elements(check: Check, scene: JSON) -> dict[str, JSON] | None:
    path = check["collection"]
    found = resolve(scene, path)
    if type(found) is list:
        return {f"{path}[{index}]": element for index, element in enumerate(found)}
    if type(found) is dict and check.get("values"):
        return {f"{path}[{json_text(key)}]": element for key, element in found.items()}
    return {} if found is MISSING and "absent" in check else None


@dataclass(frozen=True)
class ForcedPart:
    """One part of a check, and the scenes that forced it: without it they become wrong."""

    place: str
    sentence: str
    forced_by: tuple[str, ...]


def explain_result(
    result: InductionResult | dict[str, JSON],
    scenes: Sequence[JSON],
    labels: Sequence[JSON],
    ids: Sequence[str] | None = None,
) -> tuple[ForcedPart, ...]:
    """Which scenes forced each part of a check.

    A part is one of those joined by an and or or, also inside find and count; a check without any is one
    part, and without it every scene passes. A part that no scene forced could be dropped.

    Parameters
    ----------
    result : InductionResult or dict
        A learnt check, or any check.
    scenes, labels, ids : sequences of equal length
        `ids` name the scenes, by default with their positions.
    """
    expression = expression_of(result.check if isinstance(result, InductionResult) else result)
    names = [str(index) for index in range(len(scenes))] if ids is None else list(ids)
    wanted = [label_of(label) for label in labels]
    right = _right(expression, scenes, wanted)
    forced = []
    for place, part in _joined(expression):
        left = _right(without(expression, place), scenes, wanted)
        lost = (name for name, was, now in zip(names, right, left, strict=True) if was and not now)
        forced.append(ForcedPart(place_text(place), sentence(part), tuple(lost)))
    return tuple(forced)


def _right(check: Check, scenes: Sequence[JSON], wanted: Sequence[bool]) -> list[bool]:
    compiled = compile_check(check)
    return [compiled.passes(scene) is label for scene, label in zip(scenes, wanted, strict=True)]


def _joined(check: Check, affirmed: bool = True, place: Place = ()) -> Iterator[tuple[Place, Check]]:
    """The parts of each and and or, as they are wanted; the whole check where it is neither."""
    if place == () and check["op"] not in ("and", "or"):
        yield place, check
    for inner, part in children(check):
        at = place + inner
        inside = True if inner == ("where",) else affirmed is not (check["op"] == "not")
        if check["op"] in ("and", "or"):
            yield at, part if affirmed else {"op": "not", "of": part}
        yield from _joined(part, inside, at)

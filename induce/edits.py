"""The smallest change to a scene that turns a check's verdict.

The check itself suggests the edits: a value becomes the constant, a number moves to the bound, a key or an
element comes or goes. Sets of edits are built part by part, the fewest first, and each is verified by the
evaluator on the changed scene.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from math import ceil, comb, floor, inf, isfinite, nextafter
from typing import Any, NamedTuple

from evaluator import MISSING, CheckError, canonical_json, compile_check, resolve
from evaluator.path import Has, Index, Keyed, Property, Segment, format_path, parse_path
from evaluator.values import compact, utf16_length
from induce.parts import Check, children

JSON = Any
Steps = tuple[str | int, ...]

KEPT = 40
"""Sets of edits kept for each part of a check."""
MOST_ELEMENTS = 30
"""Elements that one change may add, turn or remove."""
LONGEST_TEXT = 10_000
"""Units of text that a change of a length may make."""
PEERS = 200
"""Scenes of the same kind, and elements of one collection, that are looked into."""
TRIALS = 5_000
"""Smaller sets of suggested edits that may be tried before the change counts as smallest."""


@dataclass(frozen=True)
class SceneEdit:
    """One edit of a scene: `before` is MISSING where something is added, `after` where it is removed."""

    path: str
    before: JSON
    after: JSON

    @property
    def text(self) -> str:
        """As `total: 540 → 500`, `items[1]: add {…}` or `note: remove "x"`."""
        if self.before is MISSING:
            return f"{self.path}: add {compact(self.after)}"
        if self.after is MISSING:
            return f"{self.path}: remove {compact(self.before)}"
        return f"{self.path or 'the scene'}: {compact(self.before)} → {compact(self.after)}"

    def to_dict(self) -> dict[str, JSON]:
        """Without ``before`` or ``after`` where that is MISSING."""
        values = {"before": self.before, "after": self.after}
        return {"path": self.path, **{name: v for name, v in values.items() if v is not MISSING}}


@dataclass(frozen=True)
class SceneChange:
    """Edits that turn the verdict, and the changed scene.

    `smallest` says that no smaller set of the edits which the check suggests does.
    """

    edits: tuple[SceneEdit, ...]
    scene: JSON
    smallest: bool


class _Edit(NamedTuple):
    """Set the value at `steps` (MISSING: remove it); `append` adds an element to the list there."""

    steps: Steps
    value: JSON
    append: bool = False

    @property
    def effort(self) -> int:
        """Changing a value is less than a key that comes or goes, and that less than an element."""
        if self.append:
            return 5
        if self.value is MISSING:
            return 4 if isinstance(self.steps[-1], int) else 3
        return 2

    @property
    def key(self) -> tuple[str, str]:
        value = "" if self.value is MISSING else canonical_json(self.value)
        return repr(self.steps), f"{self.append}{value}"


Plan = tuple[_Edit, ...]


def smallest_change(check: Check, scene: JSON, like: Sequence[JSON] = ()) -> SceneChange | None:
    """The smallest change found that turns the verdict of a bare check on a scene; None when there is none.

    Fewest edits first, then the least effort (values before keys before elements), then the text.
    """
    compiled = compile_check(check)
    wanted = not compiled.passes(scene)
    plans = _plans(check, scene, (), wanted, list(like)[:PEERS])
    best: Plan | None = None
    for plan in plans:
        if plan and _turns(compiled, scene, plan, wanted):
            best = plan
            break
    if best is None:
        return None
    single = sorted(
        {edit.key: edit for plan in plans for edit in plan}.values(), key=lambda e: (e.effort, e.key)
    )
    smallest = True
    for size in range(1, len(best)):
        if comb(len(single), size) > TRIALS:
            smallest = False
            break
        better = next((p for p in combinations(single, size) if _turns(compiled, scene, p, wanted)), None)
        if better is not None:
            best = better
            break
    changed = _apply(scene, best)
    return SceneChange(tuple(_told(n, scene, best) for n in range(len(best))), changed, smallest)


def _turns(compiled: Any, scene: JSON, plan: Plan, wanted: bool) -> bool:
    changed = _apply(scene, plan)
    return changed is not MISSING and compiled.passes(changed) is wanted


def _told(number: int, scene: JSON, plan: Plan) -> SceneEdit:
    edit = plan[number]
    if edit.append:
        before = sum(other.append and other.steps == edit.steps for other in plan[:number])
        at = (*edit.steps, len(_get(scene, edit.steps)) + before)
        return SceneEdit(_path(at), MISSING, edit.value)
    return SceneEdit(_path(edit.steps), _get(scene, edit.steps), edit.value)


def _path(steps: Steps) -> str:
    return format_path(Index(str(step)) if isinstance(step, int) else Property(step) for step in steps)


def _get(scene: JSON, steps: Steps) -> JSON:
    for step in steps:
        if isinstance(step, int):
            if type(scene) is not list or step >= len(scene):
                return MISSING
        elif type(scene) is not dict or step not in scene:
            return MISSING
        scene = scene[step]
    return scene


def _apply(scene: JSON, plan: Plan) -> JSON:
    """The changed scene: values first, then what is added, then what is removed, the last element first.

    MISSING when the edits do not go together, or leave nothing.
    """
    changed = copy.deepcopy(scene)
    for edit in plan:
        if edit.value is not MISSING and not edit.append:
            new = _get(scene, edit.steps) is MISSING
            changed = _put(changed, edit.steps, copy.deepcopy(edit.value), merge=new)
    for edit in plan:
        if edit.append:
            holder = _get(changed, edit.steps)
            if type(holder) is not list:
                return MISSING
            holder.append(copy.deepcopy(edit.value))
    removed = sorted((edit.steps for edit in plan if edit.value is MISSING), key=_last_first)
    for steps in removed:
        if not steps or _get(changed, steps) is MISSING:
            return MISSING
        del _get(changed, steps[:-1])[steps[-1]]
    return changed


def _last_first(steps: Steps) -> tuple[tuple[int, int, str], ...]:
    return tuple((0, -step, "") if isinstance(step, int) else (1, 0, step) for step in steps)


def _put(scene: JSON, steps: Steps, value: JSON, *, merge: bool) -> JSON:
    """Set a value; with `merge`, an object that another edit has made there keeps its keys."""
    if not steps:
        return value
    holder, last = _get(scene, steps[:-1]), steps[-1]
    if type(holder) is not (list if isinstance(last, int) else dict):
        return MISSING
    old = _get(scene, steps)
    members: Any = holder
    members[last] = {**old, **value} if merge and type(old) is dict and type(value) is dict else value
    return scene


def _plans(check: Check, scene: JSON, at: Steps, wanted: bool, peers: list[JSON]) -> list[Plan]:
    """Sets of edits, fewest first; the empty one where the verdict is as wanted already.

    `at` is where `scene` stands in the whole one; `peers` are others of its kind.
    """
    if compile_check(check).passes(scene) is wanted:
        return [()]
    op = check["op"]
    if op == "not":
        return _plans(check["of"], scene, at, not wanted, peers)
    if op in ("and", "or"):
        found = (_plans(part, scene, at, wanted, peers) for _, part in children(check))
        return _all_of(found) if (op == "and") is wanted else _ranked(p for one in found for p in one)
    if op in ("find", "count"):
        return _collection_plans(check, scene, at, wanted, peers)
    if op == "trace.before":
        return _order_plans(check, scene, at, wanted, peers)
    return _ranked(_atom_plans(check, scene, at, wanted, peers)) if "path" in check else []


def _atom_plans(check: Check, scene: JSON, at: Steps, wanted: bool, peers: list[JSON]) -> Iterator[Plan]:
    segments = parse_path(check["path"])
    if _asks_length(segments, [scene, *peers]):
        yield from _length_plans(check, scene, at, wanted, peers)
        return
    compiled = compile_check(check)
    borrowed = [
        value
        for peer in peers
        if compiled.passes(peer) is wanted and (value := resolve(peer, check["path"])) is not MISSING
    ]
    counted = Counter(canonical_json(value) for value in borrowed)
    by_text = {canonical_json(value): value for value in reversed(borrowed)}
    usual = [by_text[text] for text in sorted(counted, key=lambda t: (-counted[t], t))][:2]
    own = list(_values(check, scene, wanted))
    for value in own or usual or list(_any_other(check)):
        edit = _setting(scene, segments, value, at)
        if edit is not None:
            yield (edit,)
    steps = _standing(scene, segments)
    if steps:
        yield (_Edit(at + steps, MISSING),)


def _asks_length(segments: Sequence[Segment], scenes: Sequence[JSON]) -> bool:
    """Whether the path is to the length of what is a text or an array in some scene."""
    if not segments or segments[-1] != Property("length"):
        return False
    holder = format_path(segments[:-1])
    return any(type(resolve(scene, holder)) in (str, list) for scene in scenes)


def _length_plans(check: Check, scene: JSON, at: Steps, wanted: bool, peers: list[JSON]) -> Iterator[Plan]:
    """A text or an array made longer or shorter, or one as another scene has it."""
    holder = parse_path(check["path"])[:-1]
    found, compiled = resolve(scene, format_path(holder)), compile_check(check)
    steps = _standing(scene, holder)
    lengths = [*_values(check, scene, wanted), *_any_other(check)] if steps is not None else []
    for length in (ceil(n) if check["op"] in ("gte", "gt") else floor(n) for n in lengths if _is_size(n)):
        if type(found) is str:
            yield (_Edit(at + (steps or ()), (found + "x" * max(0, length - utf16_length(found)))[:length]),)
        elif type(found) is list and 0 < length - len(found) <= MOST_ELEMENTS and found:
            yield (_Edit(at + (steps or ()), found[-1], append=True),) * (length - len(found))
        elif type(found) is list and 0 < len(found) - length <= MOST_ELEMENTS:
            yield tuple(_Edit((*at, *(steps or ()), i), MISSING) for i in range(length, len(found)))
    for peer in peers:
        if compiled.passes(peer) is wanted and (value := resolve(peer, format_path(holder))) is not MISSING:
            edit = _setting(scene, holder, value, at)
            if edit is not None:
                yield (edit,)
            return


def _is_size(number: JSON) -> bool:
    return type(number) in (int, float) and 0 <= number <= LONGEST_TEXT


def _collection_plans(check: Check, scene: JSON, at: Steps, wanted: bool, peers: list[JSON]) -> list[Plan]:
    segments = parse_path(check["collection"])
    elements = resolve(scene, check["collection"])
    others = [
        element
        for peer in [scene, *peers]
        if type(found := resolve(peer, check["collection"])) is list
        for element in found
    ][:PEERS]
    where = check.get("where", {"op": "and", "of": []})
    fresh = _element(where, others)
    if type(elements) is not list:
        if type(elements) is dict or not wanted:
            return []
        least = 1 if check["op"] == "find" else _least(check)
        if least > MOST_ELEMENTS:
            return []
        new = [fresh] * least
        edit = None if MISSING in new else _setting(scene, segments, new, at)
        return [] if edit is None else [(edit,)]
    steps = _standing(scene, segments)
    if steps is None:
        return []
    compiled = compile_check(where)
    matching = [i for i, element in enumerate(elements) if compiled.passes(element)]
    plans: list[Plan] = []
    for target in _targets(check, len(matching), wanted):
        plans += _until(where, elements, matching, target, at + steps, others, fresh)
    return _ranked(plans)


def _order_plans(check: Check, scene: JSON, at: Steps, wanted: bool, peers: list[JSON]) -> list[Plan]:
    """Elements that come too early removed; for the opposite, those that lead removed, or one added."""
    elements, steps = resolve(scene, check["collection"]), _standing(scene, parse_path(check["collection"]))
    if type(elements) is not list or steps is None:
        return []
    holder = at + steps
    gap = compile_check({**check, "collection": ""}).gap
    if wanted:
        early = [i for i in range(len(elements)) if gap(elements[: i + 1]) > gap(elements[:i])]
        return [tuple(_Edit((*holder, i), MISSING) for i in early)] if len(early) <= MOST_ELEMENTS else []
    first = compile_check(check["first"]).passes
    leading = [_Edit((*holder, i), MISSING) for i, element in enumerate(elements) if first(element)]
    plans: list[Plan] = [(edit,) for edit in leading[:MOST_ELEMENTS]] + [tuple(leading[:MOST_ELEMENTS])]
    for peer in peers:
        found = resolve(peer, check["collection"])
        for new in found[:PEERS] if type(found) is list else []:
            if gap([*elements, new]) > 0:
                return _ranked([*plans, (_Edit(holder, new, append=True),)])
    return _ranked(plan for plan in plans if plan)


def _until(
    where: Check,
    elements: list[JSON],
    matching: list[int],
    target: int,
    at: Steps,
    others: list[JSON],
    fresh: JSON,
) -> list[Plan]:
    """Sets of edits after which `target` elements match."""
    missing = target - len(matching)
    if missing < 0:
        ways = [
            _ranked(
                [
                    *_plans(where, elements[i], (*at, i), False, others),
                    (_Edit((*at, i), MISSING),),
                ]
            )
            for i in matching
        ]
    else:
        rest = [i for i in range(len(elements)) if i not in set(matching)]
        ways = [_plans(where, elements[i], (*at, i), True, others) for i in rest]
        if fresh is not MISSING:
            ways += [[(_Edit(at, fresh, append=True),)]] * missing
    ways = [way for way in ways if way]
    ways.sort(key=lambda way: _order(way[0]))
    if len(ways) < abs(missing):
        return []
    if abs(missing) == 1:
        return _ranked(plan for way in ways for plan in way)
    return _all_of(ways[: abs(missing)], repeated=True)


def _element(where: Check, others: list[JSON]) -> JSON:
    """An element that matches: one that is there, or the least change of one, or of an empty one."""
    compiled = compile_check(where)
    for element in others:
        if compiled.passes(element):
            return element
    for base in [*others[:1], {}]:
        for plan in _plans(where, base, (), True, others):
            made = _apply(base, plan)
            if made is not MISSING and compiled.passes(made):
                return made
    return MISSING


def _least(check: Check) -> int:
    """The fewest matching elements that a count may have."""
    return next((int(check[name]) for name in ("eq", "gte") if name in check), 0)


def _targets(check: Check, number: int, wanted: bool) -> list[int]:
    """Numbers of matching elements, next to `number`, that give a find or count the wanted verdict."""
    if check["op"] == "find":
        return [1] if wanted else [0]
    bounds: Check = {name: check[name] for name in ("eq", "gte", "lte") if name in check}
    near = sorted({int(bound) + step for bound in bounds.values() for step in (-1, 0, 1)})
    whole: Check = {"op": "count", "collection": "", **bounds}
    passes = compile_check(whole).passes
    changes = [n for n in near if n >= 0 and 0 < abs(n - number) <= MOST_ELEMENTS]
    fitting = [n for n in changes if passes([None] * n) is wanted]
    return sorted(fitting, key=lambda n: (abs(n - number), n))[:2]


def _values(check: Check, scene: JSON, wanted: bool) -> Iterator[JSON]:
    """Values at the path of an atom that are suggested by its constant."""
    op = check["op"]
    found = resolve(scene, check["path"])
    constant = resolve(scene, check["value_path"]) if "value_path" in check else check.get("value", MISSING)
    if op in ("eq", "neq") and constant is not MISSING and (op == "eq") is wanted:
        yield constant
    elif op in ("eq", "neq") and type(constant) is bool:
        yield not constant
    elif op in ("gte", "lte", "gt", "lt") and type(constant) in (int, float):
        upwards = (op in ("gte", "gt")) is wanted
        strict = (op in ("gt", "lt")) is wanted
        yield _beyond(constant, found, upwards) if strict else constant
    elif op == "contains":
        yield from _texts(check, found, wanted)


def _beyond(bound: float, found: JSON, upwards: bool) -> float:
    """The next number past a bound, in steps of the last decimal that is in use."""
    if type(bound) is int:
        return bound + (1 if upwards else -1)
    numbers = [bound, found] if type(found) is float and isfinite(found) else [bound]
    places = max(max(0, -int(Decimal(repr(n)).as_tuple().exponent)) for n in numbers)
    step = Decimal(1).scaleb(-places)
    next_one = float(Decimal(repr(bound)) + (step if upwards else -step))
    passed = next_one > bound if upwards else next_one < bound
    return next_one if passed else nextafter(bound, inf if upwards else -inf)


def _texts(check: Check, found: JSON, wanted: bool) -> Iterator[str]:
    substring = check["substring"]
    if wanted:
        yield f"{found} {substring}" if type(found) is str and found else substring
    elif type(found) is str and substring:
        kept = found
        at = kept.lower().find(substring.lower())
        while at >= 0:
            kept = kept[:at] + kept[at + len(substring) :]
            at = kept.lower().find(substring.lower())
        yield " ".join(kept.split())


def _any_other(check: Check) -> Iterator[JSON]:
    """Values that differ from the constant, where scenes of the kind offer none."""
    if check["op"] in ("exists", "missing"):
        yield None
    constant = check.get("value")
    if check["op"] in ("eq", "neq"):
        if isinstance(constant, int | float) and not isinstance(constant, bool):
            yield constant + 1
        elif type(constant) is list:
            yield constant[:-1] if constant else [None]
        else:
            yield "" if constant != "" else "other"
            yield None


def _setting(scene: JSON, segments: Sequence[Segment], value: JSON, at: Steps) -> _Edit | None:
    """The edit after which `value` stands at a path; None where one edit cannot do it."""
    node = scene
    for number, segment in enumerate(segments):
        rest = segments[number + 1 :]
        step = _step(node, segment)
        if step is None:
            return _made(node, segment, rest, value, at)
        at = (*at, step)
        node = node[step]
    return _Edit(at, value)


def _made(node: JSON, segment: Segment, rest: Sequence[Segment], value: JSON, at: Steps) -> _Edit | None:
    inner = _nested(rest, value)
    if inner is MISSING:
        return None
    if isinstance(segment, Property) and type(node) is dict:
        return _Edit((*at, segment.key), inner)
    if isinstance(segment, Index) and type(node) is list and int(segment.digits) == len(node):
        return _Edit(at, inner, append=True)
    if isinstance(segment, Keyed | Has) and type(node) is list and rest and type(inner) is dict:
        return _Edit(at, _keyed(segment, inner), append=True)
    return None


def _nested(segments: Sequence[Segment], value: JSON) -> JSON:
    """The value inside the objects and first elements that a path goes through; MISSING where it cannot."""
    for segment in reversed(segments):
        if isinstance(segment, Property):
            value = {segment.key: value}
        elif isinstance(segment, Index):
            value = [value] if int(segment.digits) == 0 else MISSING
        else:
            value = MISSING if type(value) is not dict else [_keyed(segment, value)]
        if value is MISSING:
            break
    return value


def _keyed(segment: Keyed | Has, inner: dict[str, JSON]) -> dict[str, JSON]:
    """An element that a look-up finds, with more in it."""
    return {segment.field: segment.text if isinstance(segment, Keyed) else [segment.text], **inner}


def _step(node: JSON, segment: Segment) -> str | int | None:
    """The key or index that a segment leads to from a node, if something is there."""
    if isinstance(segment, Property):
        if type(node) is dict:
            return segment.key if segment.key in node else None
        if type(node) is list and segment.key.isdecimal() and int(segment.key) < len(node):
            return int(segment.key)
        return None
    if type(node) is not list:
        return None
    try:
        found = resolve(node, format_path((segment,)))
    except CheckError:
        return None
    return next((index for index, element in enumerate(node) if element is found), None)


def _standing(scene: JSON, segments: Sequence[Segment]) -> Steps | None:
    """The keys and indexes from a scene to what stands at a path; None when nothing does."""
    steps: list[str | int] = []
    for segment in segments:
        step = _step(scene, segment)
        if step is None:
            return None
        steps.append(step)
        scene = scene[step]
    return tuple(steps)


def _order(plan: Plan) -> tuple[int, int, list[tuple[str, str]]]:
    return len(plan), sum(edit.effort for edit in plan), [edit.key for edit in plan]


def _ranked(plans: Iterable[Plan]) -> list[Plan]:
    distinct = {tuple(edit.key for edit in plan): plan for plan in plans}
    return sorted(distinct.values(), key=_order)[:KEPT]


def _all_of(parts: Iterable[list[Plan]], *, repeated: bool = False) -> list[Plan]:
    """Sets of edits that hold one of each part's; `repeated` keeps equal ones apart."""
    joined: list[Plan] = [()]
    for plans in parts:
        joined = _ranked(_union(left, right, repeated) for left in joined for right in plans)
    return joined


def _union(left: Plan, right: Plan, repeated: bool) -> Plan:
    if repeated:
        return left + right
    known = {edit.key for edit in left}
    return left + tuple(edit for edit in right if edit.key not in known)

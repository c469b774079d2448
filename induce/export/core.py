"""The core profile: a check in the operators and fields of the original evaluator alone.

What this evaluator knows beyond them is *lowered* where core forms have the same verdict on every scene, and
refused where none has. Lowering keeps the verdict; the gap may differ, so that every lowered part is named.
A new operator gets its entry in `_LOWERED`, or is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, floor
from typing import Any, Final, NamedTuple

from evaluator import CheckError, compile_check
from evaluator.check import is_defined
from evaluator.expression import Path, fields_of
from evaluator.lowering import lower
from evaluator.path import Property, parse_path
from induce.parts import parts, place_text

Wire = dict[str, Any]

CORE_FIELDS: Final = {
    "eq": ("path", "value"),
    "neq": ("path", "value"),
    "gte": ("path", "value"),
    "lte": ("path", "value"),
    "contains": ("path", "substring", "ci"),
    "exists": ("path",),
    "missing": ("path",),
    "find": ("collection", "where"),
    "count": ("collection", "where", "eq", "gte", "lte"),
    "and": ("of",),
    "or": ("of",),
    "not": ("of",),
}
_NEVER: Final[Wire] = {"op": "or", "of": []}


class CoreProfile(NamedTuple):
    """A check in core forms; `lowered` names each part that is said in another way, with its place."""

    check: Wire
    lowered: tuple[str, ...]


class OutsideCoreError(CheckError):
    """The core profile cannot say a check; `problems` has the place and the reason of each such part."""

    def __init__(self, problems: tuple[tuple[str, str], ...]) -> None:
        if len(problems) == 1:
            super().__init__(f"the core profile cannot say this: {problems[0][1]}", problems[0][0])
        else:
            told = "; ".join(f"{place}: {problem}" for place, problem in problems)
            super().__init__(f"the core profile cannot say {len(problems)} parts of this check: {told}", "$")
        self.problems = problems


def core_profile(check: object) -> CoreProfile:
    """A check, anything `compile_check` takes, with the same verdict on every scene in core forms alone.

    An id, meta and unknown keys stay. Assertions over traces are lowered (see `evaluator.lowering`), for
    scenes that have the trace under the key ``trace``.

    Raises
    ------
    OutsideCoreError
        When parts have no counterpart; it names them all.
    CheckError
        When the check is not well formed.

    >>> core_profile({"op": "lt", "path": "n", "value": 5}).check
    {'op': 'and', 'of': [{'op': 'lte', 'path': 'n', 'value': 5}, {'op': 'neq', 'path': 'n', 'value': 5}]}
    """
    wire = compile_check(check).check
    lowering = _Lowering()
    asserted = list(_assertions(wire))
    if asserted:
        refused = [
            (f"{place}.op", f'it has no "{part["op"]}"') for place, part in asserted if not _sayable(part)
        ]
        if refused:
            raise OutsideCoreError(tuple(refused))
        wire = lower(wire)
        lowering.notes += [
            f'{place}: "{part["op"]}" is said of the trace at "trace"' for place, part in asserted
        ]
    if is_defined(wire):
        core = wire | {"expr": lowering.said(wire["expr"], "$.expr")}
    else:
        core = lowering.said(wire, "$")
    if lowering.problems:
        raise OutsideCoreError(tuple(lowering.problems))
    return CoreProfile(core, tuple(lowering.notes))


def _assertions(wire: Wire) -> Iterator[tuple[str, Wire]]:
    """The parts of a check that are assertions over traces, with their places."""
    defined = is_defined(wire)
    for place, part in parts(wire["expr"] if defined else wire, ("expr",) if defined else ()):
        if "." in part["op"] and not part["op"].startswith("cel."):
            yield place_text(place), part


def _sayable(assertion: Wire) -> bool:
    try:
        lower(assertion)
    except CheckError:
        return False
    return True


class _Lowering:
    """One walk over a check: collects what cannot be said, and what is said in another way."""

    def __init__(self) -> None:
        self.problems: list[tuple[str, str]] = []
        self.notes: list[str] = []

    def said(self, check: Wire, place: str) -> Wire:
        op = check["op"]
        if op in _LOWERED:
            return self._in_other_words(check, place)
        if op not in CORE_FIELDS:
            self.problems.append((f"{place}.op", f'it has no "{op}"'))
            return _NEVER
        core = dict(check)
        for field in fields_of(op):
            if field.name not in check:
                continue
            value, where = check[field.name], f"{place}.{field.name}"
            if field.name not in CORE_FIELDS[op]:
                if value is False:
                    del core[field.name]
                elif not (
                    field.name == "absent" or (field.name == "ci" and not _has_text(check.get("value")))
                ):
                    self.problems.append((where, f'its "{op}" has no "{field.name}"'))
            elif field.holds_check:
                core[field.name] = self.said(value, where)
            elif field.holds_checks:
                core[field.name] = [self.said(part, f"{where}[{i}]") for i, part in enumerate(value)]
            elif field.holds is Path:
                self._require_core_path(value, where)
            else:
                self._require_doubles(value, where)
        if check.get("absent"):
            return self._without_absent(core, place)
        if "ci" in core and op != "contains":
            del core["ci"]
        return core

    def _in_other_words(self, check: Wire, place: str) -> Wire:
        if "value_path" in check:
            self.problems.append((f"{place}.value_path", "it compares with no other path of the scene"))
            return _NEVER
        words = _LOWERED[check["op"]](check)
        core = self.said(words, place)
        self._note(place, f'"{check["op"]}"', words)
        return core

    def _without_absent(self, core: Wire, place: str) -> Wire:
        """A missing collection counts as empty: for `find` that changes nothing."""
        words = {key: value for key, value in core.items() if key != "absent"}
        zero_will_do = core.get("eq", 0) == 0 and core.get("gte", 0) <= 0 and core.get("lte", 0) >= 0
        if core["op"] == "count" and zero_will_do:
            words = {"op": "or", "of": [words, {"op": "missing", "path": core["collection"]}]}
        self._note(place, f'"{core["op"]}" with "absent"', words)
        return words

    def _note(self, place: str, what: str, words: Wire) -> None:
        told = (
            f" {words['op']} ".join(part["op"] for part in words["of"])
            if words["op"] in ("and", "or")
            else words["op"]
        )
        self.notes.append(
            f"{place}: {what} is said as {told or 'what never passes'}: the same verdict, the gap may differ"
        )

    def _require_core_path(self, path: str, place: str) -> None:
        for segment in parse_path(path):
            if isinstance(segment, Property) and (not segment.key or set(segment.key) & set(".[]")):
                self.problems.append((place, f"its paths have no quoted keys: {path}"))
                return

    def _require_doubles(self, value: Any, place: str) -> None:
        """The original reads every number as a double: another one must not come out."""
        if type(value) is int and not _is_double(value):
            self.problems.append((place, "its numbers are doubles, and this whole number is none"))
        elif type(value) is list:
            for index, member in enumerate(value):
                self._require_doubles(member, f"{place}[{index}]")
        elif type(value) is dict:
            for key, member in value.items():
                self._require_doubles(member, f"{place}.{key}")


def _is_double(number: int) -> bool:
    try:
        return int(float(number)) == number
    except OverflowError:
        return False


def _has_text(value: Any) -> bool:
    """Whether case can matter to equality with a value; nothing known of it, it can."""
    if type(value) is list:
        return any(map(_has_text, value))
    if type(value) is dict:
        return any(map(_has_text, value.values()))
    return type(value) is str


def in_plain_words(check: Wire) -> Wire:
    """A `cel.compare` or `cel.size` as `gt`, `lt`, `gte`, `lte` or `count`, with the same verdict."""
    return _cel_compare(check) if check["op"] == "cel.compare" else _cel_size(check)


def _strict(check: Wire) -> Wire:
    """`gt` or `lt`: the bound included, and not the bound."""
    wide, other = {"gt": "gte", "lt": "lte"}[check["op"]], {"path": check["path"], "value": check["value"]}
    rest = {key: value for key, value in check.items() if key not in ("op", "path", "value")}
    return {**rest, "op": "and", "of": [{"op": wide, **other}, {"op": "neq", **other}]}


def _cel_compare(check: Wire) -> Wire:
    if "value" not in check:
        return _NEVER
    op = {"<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}[check["is"]]
    return {"op": op, "path": check["path"], "value": check["value"]}


def _cel_size(check: Wire) -> Wire:
    if "value" not in check:
        return _NEVER
    bound = check["value"]
    name, number = {
        "==": ("eq", bound),
        "<=": ("lte", bound),
        ">=": ("gte", bound),
        "<": ("lte", ceil(bound) - 1),
        ">": ("gte", floor(bound) + 1),
    }[check["is"]]
    where = {"where": check["where"]} if "where" in check else {}
    return {"op": "count", "collection": check["collection"], **where, name: number}


_LOWERED: Final[dict[str, Callable[[Wire], Wire]]] = {
    "gt": _strict,
    "lt": _strict,
    "cel.compare": _cel_compare,
    "cel.size": _cel_size,
}

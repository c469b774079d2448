"""Comparison: a value equals another, or a number reaches a bound (`eq`, `neq`, `gte`, `lte`, `gt`, `lt`).

What a value is compared with is `value`, or what stands at `value_path`, another path of the same scene.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from evaluator.equality import WAYS, Same, same_as, same_ignoring_case
from evaluator.errors import SceneError
from evaluator.fields import Fields
from evaluator.node import Node, at_path, atom
from evaluator.path import Resolver
from evaluator.result import CheckResult
from evaluator.values import MISSING, compact, distance, equal, number_text, require_json, rounded


def eq(fields: Fields) -> Node:
    """The value at `path` deep-equals `value`, or what stands at `value_path`.

    `ci` puts the case of texts aside, by lower-casing. `as` asks for another way to be equal (`equality`).
    At `value_path` nothing equals nothing: both must be there.
    """
    path, get = fields.path("path")
    if _is_extended(fields):
        return _likeness(fields, path, get, wanted=True)
    value = fields.value("value")
    wanted = compact(value)
    return atom(
        path,
        get,
        _equals(value, path),
        passing=lambda found: f"{path} = {compact(found)}",
        failing=lambda found: f"{path}: expected {wanted}, got {compact(found)}",
    )


def neq(fields: Fields) -> Node:
    """The value at `path` does not deep-equal `value`; passes where nothing is there.

    The opposite of `eq` with the same fields, `ci`, `as` and `value_path` among them.
    """
    path, get = fields.path("path")
    if _is_extended(fields):
        return _likeness(fields, path, get, wanted=False)
    value = fields.value("value")
    unwanted = compact(value)
    equals = _equals(value, path)
    return atom(
        path,
        get,
        lambda found: not equals(found),
        passing=f"{path} ≠ {unwanted}",
        failing=lambda found: f"{path}: expected ≠ {unwanted}, got {compact(found)}",
    )


def _is_extended(fields: Fields) -> bool:
    return "value_path" in fields or "ci" in fields or "as" in fields


def _likeness(fields: Fields, path: str, get: Resolver, *, wanted: bool) -> Node:
    """Equality, wanted or not, in another way than the plain one or with another place of the scene."""
    same, manner = _relation(fields, path)
    other, get_other = _other(fields) or (None, _constant(fields.value("value")))
    sign = "" if wanted else "≠ "

    def pair(scene: Any) -> tuple[Any, Any]:
        return get(scene), get_other(scene)

    def gap(scene: Any) -> float:
        return 0.0 if same(*pair(scene)) is wanted else 1.0

    def told(right: Any) -> str:
        return compact(right) if other is None else f"{other} = {compact(right)}"

    def passing(both: tuple[Any, Any]) -> str:
        found, right = both
        if not wanted:
            return f"{path} ≠ {told(right)}{manner}"
        return f"{path} = {compact(found)}" if other is None else f"{path} = {told(right)}{manner}"

    def failing(both: tuple[Any, Any]) -> str:
        found, right = both
        return f"{path}: expected {sign}{told(right)}{manner}, got {compact(found)}"

    def judge(scene: Any) -> CheckResult:
        both = pair(scene)
        if same(*both) is wanted:
            return CheckResult(True, 0.0, passing, both)
        return CheckResult(False, 1.0, failing, both)

    return Node(gap, judge, at_path(path))


def _relation(fields: Fields, path: str) -> tuple[Same, str]:
    """The equality a check asks for, and how to say so."""
    ignore_case, way = fields.flag("ci"), fields.choice("as", WAYS)
    if way is not None:
        same, manner = same_as(way), f" (as {way})"
    elif ignore_case:
        same, manner = same_ignoring_case, " (ignoring case)"
    else:
        same, manner = _same, ""

    def checked(found: Any, other: Any) -> bool:
        try:
            return same(found, other)
        except SceneError as error:
            raise SceneError(error.problem, path) from None

    return checked, manner


def _same(left: Any, right: Any) -> bool:
    return left is not MISSING and right is not MISSING and equal(left, right)


def _other(fields: Fields) -> tuple[str, Resolver] | None:
    """The other place of the scene that a check compares with, if it names one."""
    if "value_path" not in fields:
        return None
    if "value" in fields:
        raise fields.refusal("value_path", 'give "value" or "value_path", not both')
    return fields.path("value_path")


def _equals(value: Any, path: str) -> Callable[[Any], bool]:
    """Equality with a constant, made for its type."""
    kind = type(value)
    if kind is str or kind is bool:

        def equals(found: Any) -> bool:
            if type(found) is kind:
                return bool(found == value)
            require_json(found, path)
            return False

    elif kind is int or kind is float:

        def equals(found: Any) -> bool:
            if type(found) is int or type(found) is float:
                return bool(found == value)
            require_json(found, path)
            return False

    else:

        def equals(found: Any) -> bool:
            try:
                return equal(found, value)
            except SceneError as error:
                raise SceneError(error.problem, path) from None

    return equals


def gte(fields: Fields) -> Node:
    """The value at `path` is a number of at least `value`; the gap is what it falls short by."""
    path, get = fields.path("path")
    if "value_path" in fields:
        return _ordered(fields, _AT_LEAST, path, get)
    bound = fields.number("value")
    shown, rounded_bound = number_text(bound), rounded(bound)

    def gap(scene: Any) -> float:
        found = get(scene)
        if type(found) is float or type(found) is int:
            return 0.0 if found >= bound else _shortfall(bound, found, path)
        require_json(found, path)
        return 1.0

    def passing(found: float) -> str:
        return f"{path} = {rounded(found)} ≥ {rounded_bound}"

    def failing(found: float) -> str:
        short = rounded(distance(bound, found))
        return f"{path}: expected ≥ {rounded_bound}, got {rounded(found)} (short by {short})"

    def no_number(found: Any) -> str:
        return f"{path}: expected number ≥ {shown}, got {compact(found)}"

    def judge(scene: Any) -> CheckResult:
        found = get(scene)
        if type(found) is float or type(found) is int:
            if found >= bound:
                return CheckResult(True, 0.0, passing, found)
            return CheckResult(False, _shortfall(bound, found, path), failing, found)
        require_json(found, path)
        return CheckResult(False, 1.0, no_number, found)

    return Node(gap, judge, at_path(path))


def lte(fields: Fields) -> Node:
    """The value at `path` is a number of at most `value`; the gap is what it is over by."""
    path, get = fields.path("path")
    if "value_path" in fields:
        return _ordered(fields, _AT_MOST, path, get)
    bound = fields.number("value")
    shown, rounded_bound = number_text(bound), rounded(bound)

    def gap(scene: Any) -> float:
        found = get(scene)
        if type(found) is float or type(found) is int:
            return 0.0 if found <= bound else _shortfall(found, bound, path)
        require_json(found, path)
        return 1.0

    def passing(found: float) -> str:
        return f"{path} = {rounded(found)} ≤ {rounded_bound}"

    def failing(found: float) -> str:
        over = rounded(distance(found, bound))
        return f"{path}: expected ≤ {rounded_bound}, got {rounded(found)} (over by {over})"

    def no_number(found: Any) -> str:
        return f"{path}: expected number ≤ {shown}, got {compact(found)}"

    def judge(scene: Any) -> CheckResult:
        found = get(scene)
        if type(found) is float or type(found) is int:
            if found <= bound:
                return CheckResult(True, 0.0, passing, found)
            return CheckResult(False, _shortfall(found, bound, path), failing, found)
        require_json(found, path)
        return CheckResult(False, 1.0, no_number, found)

    return Node(gap, judge, at_path(path))


def gt(fields: Fields) -> Node:
    """The value at `path` is a number above `value`.

    The gap is what it falls short by; at the bound itself 1 between whole numbers, else 1e-6.
    """
    path, get = fields.path("path")
    return _ordered(fields, _ABOVE, path, get)


def lt(fields: Fields) -> Node:
    """The value at `path` is a number below `value`.

    The gap is what it is over by; at the bound itself 1 between whole numbers, else 1e-6.
    """
    path, get = fields.path("path")
    return _ordered(fields, _BELOW, path, get)


class _Order(NamedTuple):
    """An order: its sign, how it is missed, which way it goes, and whether the bound itself is out."""

    sign: str
    missed: str
    upwards: bool
    strict: bool

    def gap(self, found: float, bound: float, path: str) -> float:
        if found == bound:
            return _least_step(found, bound) if self.strict else 0.0
        if found > bound:
            return 0.0 if self.upwards else _shortfall(found, bound, path)
        if found < bound and not self.upwards:
            return 0.0
        return _shortfall(bound, found, path)


_AT_LEAST: Final = _Order("≥", "short by", upwards=True, strict=False)
_AT_MOST: Final = _Order("≤", "over by", upwards=False, strict=False)
_ABOVE: Final = _Order(">", "short by", upwards=True, strict=True)
_BELOW: Final = _Order("<", "over by", upwards=False, strict=True)


def _least_step(found: float, bound: float) -> float:
    """The gap at a bound that must be passed: one step between whole numbers, a small one between others."""
    whole = all(type(number) is int or float(number).is_integer() for number in (found, bound))
    return 1.0 if whole else 1e-6


def _ordered(fields: Fields, order: _Order, path: str, get: Resolver) -> Node:
    """A number in an order to a bound that is given, or that stands at `value_path`.

    Numbers are told in full, so that a bound that is missed by little reads so.
    """
    other, bound_of = _other(fields) or (None, _constant(fields.number("value")))

    def distance_left(found: Any, bound: Any) -> float:
        if _is_number(found) and _is_number(bound):
            return order.gap(found, bound, path)
        require_json(found, path)
        require_json(bound, other or "")
        return 1.0

    def told(bound: Any) -> str:
        text = number_text(bound) if _is_number(bound) else compact(bound)
        return f"{order.sign} {text}" if other is None else f"{order.sign} {other} = {text}"

    def explain(both: tuple[Any, Any]) -> str:
        found, bound = both
        if not _is_number(bound):
            return f"{path}: expected {told(bound)} to be a number"
        if not _is_number(found):
            return f"{path}: expected number {told(bound)}, got {compact(found)}"
        left = order.gap(found, bound, path)
        if left == 0.0:
            return f"{path} = {number_text(found)} {told(bound)}"
        missed = "at the bound" if found == bound else f"{order.missed} {number_text(left)}"
        return f"{path}: expected {told(bound)}, got {number_text(found)} ({missed})"

    def judge(scene: Any) -> CheckResult:
        both = get(scene), bound_of(scene)
        left = distance_left(*both)
        return CheckResult(left == 0.0, left, explain, both)

    return Node(lambda scene: distance_left(get(scene), bound_of(scene)), judge, at_path(path))


def _constant(value: Any) -> Resolver:
    """The resolver of a value that the check itself gives."""
    return lambda _scene: value


def _is_number(value: Any) -> bool:
    return type(value) is int or type(value) is float


def _shortfall(larger: float, smaller: float, path: str) -> float:
    """The positive distance between a bound and a number that misses it; NaN misses every bound."""
    if larger != larger or smaller != smaller:
        raise SceneError("a scene is plain JSON, found NaN", path)
    return distance(larger, smaller)

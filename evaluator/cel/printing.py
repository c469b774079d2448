"""A check into a CEL text with the same verdict on every scene (`to_cel`).

The gap is not promised: CEL has none, and some checks are said in other words, such as `p >= "-2"` for a
negative bound, which the autocheck dialect has no literal for.
"""

from __future__ import annotations

import re
from decimal import Decimal
from math import ceil, floor
from typing import Any, Final, NamedTuple

from evaluator.cel.lowering import BEYOND_DOUBLES
from evaluator.check import is_defined
from evaluator.compile import compile_check
from evaluator.errors import CheckError, kind_of
from evaluator.expression import fields_of
from evaluator.fresh_stack import on_fresh_stack
from evaluator.path import Index, Property, format_path, parse_path
from evaluator.values import integer_digits, quoted

_EITHER, _BOTH, _COMPARISON, _UNARY, _POSTFIX = range(5)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LITERAL_NAMES: Final = re.compile("true|false")
_RESERVED: Final = re.compile(
    "true|false|as|break|const|continue|else|for|function|if|import|in|let|loop|namespace|null|package|return"
    "|var|void|while"
)
_WHOLE_SCENE: Final = '[""]'
_VARIABLES: Final = "xyzuvw"
_WHOLE_DOUBLES: Final = 2**53
_LEAST_INTEGER, _GREATEST_INTEGER = -(2**63), 2**63 - 1
_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SAYABLE: Final = {
    "eq": ("path", "value"),
    "neq": ("path", "value"),
    "gte": ("path", "value"),
    "lte": ("path", "value"),
    "gt": ("path", "value"),
    "lt": ("path", "value"),
    "contains": ("path", "substring"),
    "matches": ("path", "pattern"),
    "exists": ("path",),
    "missing": ("path",),
    "find": ("collection", "where"),
    "count": ("collection", "where", "eq", "gte", "lte"),
    "and": ("of",),
    "or": ("of",),
    "not": ("of",),
    "cel.compare": ("path", "is", "value"),
    "cel.size": ("collection", "where", "is", "value"),
}
_SIGNS: Final = {"gte": ">=", "lte": "<=", "gt": ">", "lt": "<"}


def to_cel(check: object, *, standard: bool = False) -> str:
    """The CEL text of a check: `from_cel` of it has the check's verdict on every scene.

    Parameters:
        check: anything `compile_check` takes; of a defined check the expression is printed.
        standard: write standard CEL, for other engines, instead of the autocheck dialect. Mind that those
            refuse, rather than fail, a scene in which a name is missing or a value has another type.

    Raises:
        CheckError: the check is not well formed, or says what CEL has no words for: lookups such as `[id=7]`
            and `[tags has X]`, arrays and objects as values, `contains` with `ci` and other fields of this
            language alone, whole numbers that are no doubles. null, `matches`, and keys that are empty or
            have a dot or bracket in them, need `standard`. `place` is where in the check.

    >>> to_cel({"op": "find", "collection": "items", "where": {"op": "gte", "path": "price", "value": 20}})
    'items.exists(x, x.price >= 20)'
    """
    wire = compile_check(check).check
    expression, place = (wire["expr"], "$.expr") if is_defined(wire) else (wire, "$")
    try:
        return on_fresh_stack(lambda: _Printer(standard).said(expression, place, None).text)
    except RecursionError:
        raise CheckError("the check is nested too deeply to be written as CEL", "$") from None


class _Said(NamedTuple):
    """A text and how tightly its outermost part binds."""

    text: str
    level: int

    def within(self, level: int) -> str:
        """The text where something binding as tightly as `level` is needed."""
        return self.text if self.level >= level else f"({self.text})"


class _Printer:
    def __init__(self, standard: bool) -> None:
        self.standard = standard

    def said(self, check: dict[str, Any], place: str, depth: int | None) -> _Said:
        """The text of a check on the element of the `depth`-th body, or on the whole scene (None)."""
        op = check["op"]
        if op not in _SAYABLE or (op == "matches" and not self.standard):
            also = "; standard CEL has" if op == "matches" else ""
            raise CheckError(f'CEL cannot say "{op}"{also}', f"{place}.op")
        for field in fields_of(op):
            if field.name not in _SAYABLE[op] and check.get(field.name, False) is not False:
                raise CheckError(f'CEL cannot say "{field.name}" of "{op}"', f"{place}.{field.name}")
        match op:
            case "and" | "or":
                return self.joined(check, place, depth)
            case "not":
                return self.negated(check["of"], f"{place}.of", depth)
            case "find":
                path, body = self.over_elements(check, place, depth)
                return _Said(f"{path}.exists({body})", _POSTFIX)
            case "count" | "cel.size":
                return self.counted(check, place, depth)
        if op in ("exists", "missing"):
            present = self.present(check["path"], f"{place}.path", depth)
            return present if op == "exists" else _Said(f"!{present.within(_UNARY)}", _UNARY)
        path = self.path(check["path"], f"{place}.path", depth)
        match op:
            case "contains":
                return _Said(f"{path}.contains({self.text(check['substring'])})", _POSTFIX)
            case "matches":
                return _Said(f"{path}.matches({self.text(check['pattern'])})", _POSTFIX)
            case "eq" | "neq":
                return self.equality(path, check["value"], f"{place}.value", equal=op == "eq")
        sign = check["is"] if op == "cel.compare" else _SIGNS[op]
        return self.ordered(path, sign, check, place)

    def joined(self, check: dict[str, Any], place: str, depth: int | None) -> _Said:
        parts = check["of"]
        strict = _strict(check)
        if strict is not None:
            loose = parts[0]
            return self.ordered(self.path(loose["path"], f"{place}.of[0].path", depth), strict, loose, place)
        said = [self.said(part, f"{place}.of[{index}]", depth) for index, part in enumerate(parts)]
        if not said:
            return self.constant(check["op"] == "and", depth)
        if len(said) == 1:
            return said[0]
        if check["op"] == "and":
            return _Said(" && ".join(part.within(_BOTH) for part in said), _BOTH)
        return _Said(" || ".join(part.text for part in said), _EITHER)

    def negated(self, check: dict[str, Any], place: str, depth: int | None) -> _Said:
        inner = self.said(check, place, depth)
        return _Said(f"!{inner.within(_UNARY)}", _UNARY)

    def constant(self, value: bool, depth: int | None) -> _Said:
        """What always holds, or never. The autocheck dialect takes no bare literal: the scene is there."""
        if self.standard:
            return _Said("true" if value else "false", _POSTFIX)
        whole = _variable(depth) or _WHOLE_SCENE
        return _Said(f"has({whole})", _POSTFIX) if value else _Said(f"!has({whole})", _UNARY)

    def present(self, path: str, place: str, depth: int | None) -> _Said:
        """That something is at a path. Standard CEL asks `has` of a name below another only."""
        if not self.standard:
            return _Said(f"has({self.path(path, place, depth)})", _POSTFIX)
        segments = parse_path(path)
        if not segments:
            return self.constant(True, depth)
        *parents, last = segments
        if isinstance(last, Index):
            size = f"{self.path(format_path(parents), place, depth)}.size()"
            return _Said(f"{size} >= {int(self.index(last.digits, place)) + 1}", _COMPARISON)
        said = self.path(path, place, depth)
        if said.endswith("]") or "." not in said:
            raise CheckError(f"standard CEL asks has() of a name below another, not of {said}", place)
        return _Said(f"has({said})", _POSTFIX)

    def equality(self, path: str, value: Any, place: str, *, equal: bool) -> _Said:
        if value is True:
            return _Said(path, _POSTFIX) if equal else _Said(f"!{path}", _UNARY)
        if isinstance(value, list | dict):
            raise CheckError(f"CEL here compares with no {kind_of(value).split()[1]}", place)
        if value is None and not self.standard:
            raise CheckError("this dialect of CEL has no null; standard CEL has", place)
        if type(value) in (int, float) and value < 0 and not self.standard:
            number = self.number(value, place)
            both = f"{path} >= {number} && {path} <= {number}"
            return _Said(both, _BOTH) if equal else _Said(f"!({both})", _UNARY)
        return _Said(f"{path} {'==' if equal else '!='} {self.literal(value, place)}", _COMPARISON)

    def ordered(self, path: str, sign: str, check: dict[str, Any], place: str) -> _Said:
        number = self.bound(check, place)
        return _Said(f"{path} {sign} {number}", _COMPARISON)

    def bound(self, check: dict[str, Any], place: str) -> str:
        """The literal of a field `value` that may be absent: then it is no number."""
        if "value" in check:
            return self.number(check["value"], f"{place}.value")
        if self.standard:
            raise CheckError("standard CEL compares no number with a literal that is none", f"{place}.op")
        return '"NaN"'

    def over_elements(self, check: dict[str, Any], place: str, depth: int | None) -> tuple[str, str]:
        """The collection, and the bound name with the text of `where`."""
        inner = 0 if depth is None else depth + 1
        path = self.path(check["collection"], f"{place}.collection", depth)
        body = self.said(check["where"], f"{place}.where", inner)
        return path, f"{_variable(inner)}, {body.text}"

    def counted(self, check: dict[str, Any], place: str, depth: int | None) -> _Said:
        bounds = {name: check[name] for name in ("eq", "gte", "lte") if name in check}
        where = check.get("where")
        if check["op"] == "count" and where and where["op"] == "not" and bounds == {"lte": 0}:
            affirmed = {"collection": check["collection"], "where": where["of"]}
            path, body = self.over_elements(affirmed, place, depth)
            return _Said(f"{path}.all({body})", _POSTFIX)
        if "where" in check:
            path, body = self.over_elements(check, place, depth)
            size = f"{path}.filter({body}).size()"
        else:
            size = f"{self.path(check['collection'], f'{place}.collection', depth)}.size()"
        if check["op"] == "cel.size":
            return _Said(f"{size} {check['is']} {self.bound(check, place)}", _COMPARISON)
        told = [f"{size} {_size_bound(name, bound)}" for name, bound in bounds.items()] or [f"{size} >= 0"]
        return _Said(" && ".join(told), _COMPARISON if len(told) == 1 else _BOTH)

    def path(self, path: str, place: str, depth: int | None) -> str:
        """A path in CEL's words, from the bound name on or from the scene."""
        said = _variable(depth)
        segments = parse_path(path)
        if not segments and said is None:
            if self.standard:
                raise CheckError("standard CEL has no name for the whole scene", place)
            return _WHOLE_SCENE
        for segment in segments:
            if isinstance(segment, Property):
                said = self.member(said, segment.key, place)
            elif isinstance(segment, Index):
                said = self.element(said, segment.digits, place)
            else:
                raise CheckError("CEL has no lookup by key; a collection is searched with exists", place)
        return said or ""

    def member(self, target: str | None, key: str, place: str) -> str:
        reserved = _RESERVED if self.standard else _LITERAL_NAMES
        if _NAME.fullmatch(key) and not reserved.fullmatch(key):
            return key if target is None else f"{target}.{key}"
        if target is None and self.standard:
            raise CheckError(f"standard CEL cannot name {quoted(key)}, a key of the scene itself", place)
        if not self.standard and (not key or any(character in key for character in ".[]")):
            raise CheckError(f"this dialect of CEL has no key such as {quoted(key)}; standard CEL has", place)
        return f"{target or ''}[{self.text(key)}]"

    def element(self, target: str | None, digits: str, place: str) -> str:
        if target is None and self.standard:
            raise CheckError("standard CEL has no name for the whole scene", place)
        return f"{target or ''}[{self.index(digits, place)}]"

    def index(self, digits: str, place: str) -> str:
        significant = digits.lstrip("0") or "0"
        if len(significant) > 15:
            raise CheckError("CEL's numbers are doubles; this index is too large for one", place)
        return significant

    def literal(self, value: Any, place: str) -> str:
        if isinstance(value, str):
            return self.text(value)
        if value is None or isinstance(value, bool):
            return {None: "null", True: "true", False: "false"}[value]
        return self.number(value, place)

    def text(self, text: str) -> str:
        """A string literal; in the autocheck dialect a backslash keeps the next character and no more."""
        if not self.standard:
            return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
        escaped = text.translate(_ESCAPES)
        return '"' + _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped) + '"'

    def number(self, number: float, place: str) -> str:
        if abs(number) == BEYOND_DOUBLES and not self.standard:
            return '"Infinity"' if number > 0 else '"-Infinity"'
        try:
            exact = float(number)
        except OverflowError:
            exact = 0.0
        if exact != number:
            raise CheckError(f"CEL's numbers are doubles, and {integer_digits(int(number))} is none", place)
        if self.standard:
            whole = exact.is_integer() and _LEAST_INTEGER <= exact <= _GREATEST_INTEGER
            return str(int(exact)) if whole else repr(exact)
        digits = format(Decimal(repr(abs(exact))), "f")
        digits = digits.removesuffix(".0") if exact else "0"
        return f'"-{digits}"' if exact < 0 else digits


def _variable(depth: int | None) -> str | None:
    """The name bound in a body: x, y, z and so on inwards."""
    if depth is None:
        return None
    return _VARIABLES[depth] if depth < len(_VARIABLES) else f"x{depth}"


def _strict(check: dict[str, Any]) -> str | None:
    """`<` or `>` for the pair of checks, a bound and not the bound, that `from_cel` makes of them."""
    parts = check["of"]
    if check["op"] != "and" or [set(part) for part in parts] != [{"op", "path", "value"}] * 2:
        return None
    loose, other = parts
    if other["op"] != "neq" or loose["path"] != other["path"] or type(other["value"]) not in (int, float):
        return None
    return {"lte": "<", "gte": ">"}.get(loose["op"]) if loose["value"] == other["value"] else None


def _size_bound(name: str, bound: float) -> str:
    """A bound of a count, which only whole numbers from 0 on can meet."""
    if name == "gte":
        least = max(0, ceil(bound))
        return f">= {least}" if least <= _WHOLE_DOUBLES else "< 0"
    if name == "lte":
        most = floor(bound)
        if most < 0:
            return "< 0"
        return f"<= {most}" if most <= _WHOLE_DOUBLES else ">= 0"
    possible = bound == floor(bound) and 0 <= bound <= _WHOLE_DOUBLES
    return f"== {int(bound)}" if possible else "< 0"

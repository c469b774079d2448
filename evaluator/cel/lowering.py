"""A CEL text into a check with the original evaluator's verdict and gap (`from_cel`).

Nearly all of it is said by the core operators:

    p == 1               eq                      p.exists(x, B)            find where B
    p < 1                lte and neq             p.all(x, B)               count of those not B, at most 0
    p                    eq true                 p.filter(x, B).size()     count where B
    p.size() > 2         count at least 3        p in ["a", "b"]           or of eq

What they do not say is left to the operators `cel.*`: a strict bound inside `&&` (the original has no gap
right at the bound, which shows in a sum), an order against what is no number (the gap is NaN), a strict size
that is no whole number, and a body that means nothing, which is at fault once there is an element to test.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import inf, isfinite, isnan, nan
from typing import Any, Final, NamedTuple

from evaluator.cel.fault import fault
from evaluator.cel.lexer import is_space
from evaluator.cel.parser import parse
from evaluator.cel.syntax import (
    Call,
    Comparison,
    Expression,
    Index,
    Joint,
    Literal,
    Member,
    Membership,
    Method,
    Name,
    Negation,
    kind,
)
from evaluator.compile import compile_check
from evaluator.errors import CheckError, kind_of
from evaluator.fresh_stack import on_fresh_stack
from evaluator.path import Property, format_path, parse_path
from evaluator.values import number_text, string_form

Json = dict[str, Any]

BEYOND_DOUBLES: Final = 10**309
"""A whole number that stands for Infinity, which JSON cannot write: every distance to it is infinite."""
ALWAYS: Final[Json] = {"op": "and", "of": []}
NEVER: Final[Json] = {"op": "not", "of": ALWAYS}

_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_RADIX: Final = re.compile(r"0(?:[xX]([0-9a-fA-F]+)|[oO]([0-7]+)|[bB]([01]+))")


def _quoted_pattern(text: str) -> str:
    """The RE2 pattern of a text."""
    return "".join(f"\\{c}" if c.isascii() and not (c.isalnum() or c == "_") else c for c in text)


_PATTERNS: Final[dict[str, Callable[[str], str]]] = {
    "startsWith": lambda text: f"^{_quoted_pattern(text)}",
    "endsWith": lambda text: f"{_quoted_pattern(text)}$",
    "matches": lambda text: text,
}


class Lowered(NamedTuple):
    """A check, and whether evaluating it may meet a body at fault (then no branch may be skipped)."""

    check: Json
    may_fail: bool = False


def from_cel(text: str, *, standard: bool = False) -> Json:
    """The check that a CEL text means.

    Parameters:
        text: the expression, e.g. `spend_usd <= 500 && items.exists(x, x.kind == "pen")`.
        standard: read standard CEL instead of the autocheck dialect: signed numbers, exponents, null, escapes
            in strings, `startsWith`, `endsWith` and `matches`; a body may read its element only.

    Returns a bare expression. In the autocheck dialect verdict and gap are the original CEL evaluator's, only
    that the gap is positive where the original fails a strict bound, met exactly, with gap 0. As in the
    original, a body that means nothing is at fault (`CheckError`) once there is an element to test.

    Raises:
        CheckError: the text does not parse, is no predicate, or has more than 100 parentheses, calls and
            negations inside each other; the message shows where in the text.

    >>> from_cel("spend_usd <= 500")
    {'op': 'lte', 'path': 'spend_usd', 'value': 500}
    """
    if type(text) is not str:
        raise CheckError(f"CEL: an expression is a string, got {kind_of(text)}")
    try:
        return on_fresh_stack(lambda: _check_of(text, standard))
    except RecursionError:
        raise CheckError("CEL: the expression is nested too deeply") from None
    except CheckError as error:
        raise error if error.problem.startswith("CEL: ") else CheckError(f"CEL: {error.problem}") from None


def _check_of(text: str, standard: bool) -> Json:
    expression = parse(text, standard=standard)
    check = _Lowering(text, standard).predicate(expression, _Scope(counts=not standard)).check
    compile_check(check)  # refuses what is too large
    return check


class _Scope(NamedTuple):
    """Where an expression stands: the name bound to the element; whether its gap counts, and in a sum."""

    bound: str | None = None
    counts: bool = True
    summed: bool = False


class _Lowering:
    def __init__(self, text: str, standard: bool) -> None:
        self.text = text
        self.standard = standard

    def refusal(self, expression: Expression, problem: str) -> CheckError:
        return fault(self.text, expression.at, problem)

    def predicate(self, expression: Expression, scope: _Scope) -> Lowered:
        match expression:
            case Joint():
                return self.joint(expression, scope)
            case Negation():
                return self.negation(expression, scope)
            case Comparison():
                return self.comparison(expression, scope)
            case Membership(_, left, literals):
                path = self.path(left, scope)
                return Lowered({"op": "or", "of": [_equality(path, literal) for literal in literals]})
            case Call(_, "has", (argument,)):
                return Lowered({"op": "exists", "path": self.path(argument, scope)})
            case Call(_, name):
                raise self.refusal(expression, f"unsupported function '{name}()'")
            case Method():
                return self.method(expression, scope)
            case Literal(_, True | False as value) if self.standard:
                return Lowered(ALWAYS if value else {"op": "or", "of": []})
            case Literal():
                raise self.refusal(expression, "a bare literal is not a predicate")
            case _:
                return Lowered({"op": "eq", "path": self.path(expression, scope), "value": True})

    def joint(self, joint: Joint, scope: _Scope) -> Lowered:
        if joint.operator == "&&":
            scope = scope._replace(summed=scope.counts)
        parts = [self.predicate(operand, scope) for operand in joint.operands]
        checks = [part.check for part in parts]
        may_fail = any(part.may_fail for part in parts)
        if joint.operator == "&&":
            return Lowered({"op": "and", "of": checks}, may_fail)
        either = {"op": "or", "of": checks}
        if may_fail:  # `or` stops at the first branch that passes; reach those that may be at fault before
            reached = [{"op": "or", "of": [part.check, ALWAYS]} for part in parts if part.may_fail]
            return Lowered({"op": "and", "of": [*reached, either]}, True)
        return Lowered(either)

    def negation(self, negation: Negation, scope: _Scope) -> Lowered:
        operand = negation.operand
        if isinstance(operand, Call) and operand.name == "has":
            if not operand.arguments or (self.standard and len(operand.arguments) > 1):
                raise self.refusal(operand, "has(path) expected")
            return Lowered({"op": "missing", "path": self.path(operand.arguments[0], scope)})
        inner = self.predicate(operand, scope._replace(counts=False, summed=False))
        return Lowered({"op": "not", "of": inner.check}, inner.may_fail)

    def comparison(self, comparison: Comparison, scope: _Scope) -> Lowered:
        left, right = comparison.left, comparison.right
        if isinstance(left, Method) and left.name == "size" and not left.arguments:
            return self.size(comparison, left.target, scope)
        if self.standard and isinstance(left, Call) and left.name == "size" and len(left.arguments) == 1:
            return self.size(comparison, left.arguments[0], scope)
        path = self.path(left, scope)
        literal = self.literal(right)
        if comparison.operator in ("==", "!="):
            equality = _equality(path, literal)
            if comparison.operator == "!=":
                equality = equality | {"op": "neq"} if equality["op"] == "eq" else ALWAYS
            return Lowered(equality)
        return Lowered(_ordering(path, comparison.operator, self.number(literal), scope.summed))

    def literal(self, expression: Expression) -> Literal:
        if isinstance(expression, Literal):
            return expression
        raise self.refusal(expression, "expected a literal value")

    def text_literal(self, expression: Expression) -> str:
        """A literal as a text; standard CEL takes no other."""
        value = self.literal(expression).value
        if self.standard and not isinstance(value, str):
            raise self.refusal(expression, "expected a string")
        return string_form(value)

    def number(self, literal: Literal) -> float:
        """A literal as a number; standard CEL orders and counts with numbers only."""
        if self.standard and not isinstance(literal.value, float):
            raise self.refusal(literal, "expected a number; other values are not ordered here")
        return _as_number(literal.value)

    def size(self, comparison: Comparison, counted: Expression, scope: _Scope) -> Lowered:
        """`path.size() OP literal`, `path.filter(x, body).size() OP literal`."""
        operator = comparison.operator
        bound = self.number(self.literal(comparison.right))
        where: Lowered | None = None
        if isinstance(counted, Method) and counted.name == "filter":
            path, where = self.over_elements(counted, scope)
        else:
            path = self.path(counted, scope)
        count: Json = {"op": "count", "collection": path}
        if operator == "!=":
            return _at_fault_on_arrays(
                path, fault(self.text, comparison.at, "unsupported size comparison '!='")
            )
        if where is not None:
            count["where"] = where.check
        may_fail = where is not None and where.may_fail
        bounds = _size_bounds(operator, bound)
        if bounds is not None:
            return Lowered(count | bounds, may_fail)
        value = {} if isnan(bound) else {"value": _plain(bound)}
        return Lowered(count | {"op": "cel.size", "is": operator, **value}, may_fail)

    def method(self, method: Method, scope: _Scope) -> Lowered:
        arguments = method.arguments
        if method.name in _PATTERNS and len(arguments) == 1 and self.standard:
            path, text = self.path(method.target, scope), self.text_literal(arguments[0])
            return Lowered({"op": "matches", "path": path, "pattern": _PATTERNS[method.name](text)})
        if method.name == "contains" and len(arguments) == 1:
            path, text = self.path(method.target, scope), self.text_literal(arguments[0])
            return Lowered({"op": "contains", "path": path, "substring": text})
        if method.name == "exists" and len(arguments) == 2:
            path, body = self.over_elements(method, scope)
            return Lowered({"op": "find", "collection": path, "where": body.check}, body.may_fail)
        if method.name == "all" and len(arguments) == 2:
            path, body = self.over_elements(method, scope)
            violated = {"op": "not", "of": body.check}
            return Lowered({"op": "count", "collection": path, "where": violated, "lte": 0}, body.may_fail)
        problem = f"unsupported method '.{method.name}()' (or it needs a comparison, e.g. .size() >= 3)"
        raise self.refusal(method, problem)

    def over_elements(self, method: Method, scope: _Scope) -> tuple[str, Lowered]:
        """The path and the body of `path.exists(x, body)` and its like.

        A body at fault is none of the expression while there is no element to test.
        """
        bound, body = method.arguments if len(method.arguments) == 2 else (None, None)
        if not isinstance(bound, Name) or body is None:
            raise self.refusal(method, f"{method.name}(v, pred) expected")
        path = self.path(method.target, scope)
        counts = scope.counts and method.name == "exists"  # the others only ask which elements pass
        try:
            return path, self.predicate(body, _Scope(bound.name, counts))
        except CheckError as error:
            if self.standard:
                raise
            return path, Lowered(_unsupported(error), True)

    def path(self, expression: Expression, scope: _Scope) -> str:
        """The path an expression spells. Raises `CheckError` where it spells none."""
        steps: list[Member | Index] = []
        node: Expression | None = expression
        while isinstance(node, Member | Index):
            steps.append(node)
            node = node.target
        if isinstance(node, Name):
            path = "" if node.name == scope.bound else node.name
        elif node is None and not self.standard:
            path = ""
        elif node is None:
            raise self.refusal(expression, "standard CEL has no name for the whole scene")
        else:
            raise self.refusal(node, f"expected a field path, got {kind(node)}")
        if self.standard and isinstance(node, Name) and path and scope.bound is not None:
            raise self.refusal(node, f'a body reads its own element, "{scope.bound}", only')
        parts = [path] if path else []
        for step in reversed(steps):
            piece = f"[{number_text(step.number)}]" if isinstance(step, Index) else self.key(step)
            parts.append(f".{piece}" if parts and not piece.startswith("[") else piece)
        path = "".join(parts)
        try:
            parse_path(path)
        except CheckError as error:
            raise self.refusal(expression, error.problem) from None
        return path

    def key(self, member: Member) -> str:
        """A key as it stands in a path; the autocheck dialect knows no quoted ones."""
        if self.standard:
            return format_path((Property(member.key),))
        if any(character in member.key for character in ".[]"):
            problem = "contains '.', '[' or ']', which the path syntax cannot express"
            raise self.refusal(member, f'index key "{member.key}" {problem}')
        return member.key


def _equality(path: str, literal: Literal) -> Json:
    value = literal.value
    if isinstance(value, float):
        if not isfinite(value):  # NaN equals nothing, and no scene holds Infinity
            return NEVER
        value = _plain(value)
    return {"op": "eq", "path": path, "value": value}


def _unsupported(error: CheckError) -> Json:
    return {"op": "cel.unsupported", "problem": error.problem}


def _at_fault_on_arrays(path: str, error: CheckError) -> Lowered:
    """Fails with gap 1 where there is no array at the path, and is at fault where there is one."""
    array = {"op": "count", "collection": path}
    reached = {"op": "or", "of": [{"op": "not", "of": array}, _unsupported(error)]}
    return Lowered({"op": "and", "of": [reached, array]}, True)


def _ordering(path: str, operator: str, bound: float, summed: bool) -> Json:
    """`path OP bound` for the four orders."""
    if isnan(bound):
        return {"op": "cel.compare", "path": path, "is": operator}
    value = _plain(bound)
    loose = {"op": "lte" if operator[0] == "<" else "gte", "path": path, "value": value}
    if operator in ("<=", ">="):
        return loose
    if summed:
        return {"op": "cel.compare", "path": path, "is": operator, "value": value}
    return {"op": "and", "of": [loose, {"op": "neq", "path": path, "value": value}]}


def _size_bounds(operator: str, bound: float) -> Json | None:
    """The bounds of `count` that mean `size() OP bound`; None where they say another gap."""
    if isnan(bound):
        return None
    if operator == "==":
        return {"eq": _plain(bound)}
    if operator in (">=", "<="):
        return {"gte" if operator == ">=" else "lte": _plain(bound)}
    if isfinite(bound) and not bound.is_integer():
        return None
    return {"gte": _plain(bound + 1)} if operator == ">" else {"lte": _plain(bound - 1)}


def _plain(number: float) -> float:
    """A double as JSON writes it best: whole numbers without a point, infinite ones as `BEYOND_DOUBLES`."""
    if number in (inf, -inf):
        return BEYOND_DOUBLES if number > 0 else -BEYOND_DOUBLES
    return int(number) if number.is_integer() and abs(number) < 1e21 else number


def _as_number(value: str | float | None) -> float:
    """A literal as a number, as JavaScript's `Number()` has it; NaN when it is none."""
    if value is None:
        return 0.0
    if not isinstance(value, str):
        return float(value)
    start, end = 0, len(value)
    while start < end and is_space(value[start]):
        start += 1
    while start < end and is_space(value[end - 1]):
        end -= 1
    digits = value[start:end]
    if not digits:
        return 0.0
    if _DECIMAL.fullmatch(digits):
        return float(digits)
    if radix := _RADIX.fullmatch(digits):
        base = 16 if radix[1] else 8 if radix[2] else 2
        return _to_double(int(radix[radix.lastindex or 0], base))
    return {"Infinity": inf, "+Infinity": inf, "-Infinity": -inf}.get(digits, nan)


def _to_double(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return inf

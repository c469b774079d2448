"""The parts of a parsed CEL expression. Every part knows the offset in the text where it starts."""

from __future__ import annotations

from typing import NamedTuple


class Literal(NamedTuple):
    """A string, number (perhaps NaN, as in `1.2.3`), boolean or, in standard CEL, null."""

    at: int
    value: str | float | None


class Name(NamedTuple):
    """A name by itself: a field of the scene, or the element inside a body."""

    at: int
    name: str


class Member(NamedTuple):
    """`target.key` or `target["key"]`; without a target the key is one of the scene itself."""

    at: int
    target: Expression | None
    key: str


class Index(NamedTuple):
    """`target[2]`; without a target the scene itself is the array."""

    at: int
    target: Expression | None
    number: float


class Call(NamedTuple):
    """`name(arguments)`."""

    at: int
    name: str
    arguments: tuple[Expression, ...]


class Method(NamedTuple):
    """`target.name(arguments)`; `at` is where the name starts."""

    at: int
    target: Expression
    name: str
    arguments: tuple[Expression, ...]


class Negation(NamedTuple):
    """`!operand`."""

    at: int
    operand: Expression


class Comparison(NamedTuple):
    """`left operator right`; `at` is where the operator stands."""

    at: int
    operator: str
    left: Expression
    right: Expression


class Membership(NamedTuple):
    """`left in [literal, ...]`; `at` is where `in` stands."""

    at: int
    left: Expression
    literals: tuple[Literal, ...]


class Joint(NamedTuple):
    """Operands joined by `&&` or by `||`, in order."""

    at: int
    operator: str
    operands: tuple[Expression, ...]


Expression = Literal | Name | Member | Index | Call | Method | Negation | Comparison | Membership | Joint


def kind(expression: Expression) -> str:
    """What a part is called in messages."""
    match expression:
        case Literal():
            return "lit"
        case Negation():
            return "unary"
        case Call():
            return "call"
        case Method():
            return "method"
        case Comparison() | Membership() | Joint():
            return "binary"
        case _:
            return "path"

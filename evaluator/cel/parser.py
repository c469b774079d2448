"""CEL tokens into an expression: or, and, comparison (not chained), `!`, postfix, primary.

The subset is that of the autocheck language and `path in [literal, ...]`; standard CEL adds signed numbers,
exponents, null and escapes.
"""

from __future__ import annotations

import re
from math import nan
from typing import Final

from evaluator.cel.fault import fault
from evaluator.cel.lexer import Kind, Token, tokenize
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
)
from evaluator.errors import CheckError

MAX_NESTING: Final = 100
"""Parentheses, arguments and negations inside each other."""
_COMPARISONS: Final = ("==", "!=", "<=", ">=", "<", ">")
_DECIMAL: Final = re.compile(r"[0-9]+\.?[0-9]*|\.[0-9]+")
_BAD_INDEX: Final = 'index must be a quoted key or a number, e.g. x["my-key"] or rows[0]'
_BAD_LIST: Final = 'the right side of "in" is a list of literals, e.g. state in ["open", "held"]'


def parse(text: str, *, standard: bool = False) -> Expression:
    """The expression of a CEL text. Raises `CheckError`, which shows the place in the text."""
    return _Parser(text, tokenize(text, standard=standard), standard).whole()


class _Parser:
    def __init__(self, text: str, tokens: list[Token], standard: bool) -> None:
        self.text = text
        self.tokens = tokens
        self.standard = standard
        self.position = 0
        self.depth = 0

    def whole(self) -> Expression:
        expression = self.either()
        if self.token.kind is not Kind.END:
            raise self.refusal(f"trailing tokens at '{self.token.text}'")
        return expression

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def refusal(self, problem: str) -> CheckError:
        return fault(self.text, self.token.at, problem)

    def stands(self, operator: str) -> bool:
        """Whether the operator stands here."""
        token = self.token
        return token.kind is Kind.OPERATOR and token.text == operator

    def accept(self, operator: str) -> bool:
        """Step over the operator if it stands here."""
        if self.stands(operator):
            self.position += 1
            return True
        return False

    def expect(self, operator: str) -> None:
        if not self.accept(operator):
            raise self.refusal(f"expected '{operator}', got '{self.token.text}'")

    def next(self) -> Token:
        token = self.token
        self.position += 1
        return token

    def deeper(self) -> None:
        """Step into an inner expression; refused where too many are inside each other."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.refusal(f"nested deeper than {MAX_NESTING} levels")

    def inner(self) -> Expression:
        """A whole expression inside another."""
        self.deeper()
        expression = self.either()
        self.depth -= 1
        return expression

    def either(self) -> Expression:
        at, operands = self.token.at, [self.both()]
        while self.accept("||"):
            operands.append(self.both())
        return operands[0] if len(operands) == 1 else Joint(at, "||", tuple(operands))

    def both(self) -> Expression:
        at, operands = self.token.at, [self.comparison()]
        while self.accept("&&"):
            operands.append(self.comparison())
        return operands[0] if len(operands) == 1 else Joint(at, "&&", tuple(operands))

    def comparison(self) -> Expression:
        left = self.unary()
        token = self.token
        if token.kind is Kind.OPERATOR and token.text in _COMPARISONS:
            self.position += 1
            return Comparison(token.at, token.text, left, self.unary())
        if token.kind is Kind.NAME and token.text == "in":
            self.position += 1
            return Membership(token.at, left, self.literals())
        return left

    def literals(self) -> tuple[Literal, ...]:
        """The list of literals right of `in`."""
        if not self.accept("["):
            raise self.refusal(_BAD_LIST)
        found: list[Literal] = []
        while not self.stands("]"):
            if found:
                self.expect(",")
            expression = self.either()
            if not isinstance(expression, Literal):
                raise fault(self.text, expression.at, _BAD_LIST)
            found.append(expression)
        self.expect("]")
        return tuple(found)

    def unary(self) -> Expression:
        starts = []
        while self.stands("!"):
            self.deeper()
            starts.append(self.next().at)
        expression = self.postfix()
        self.depth -= len(starts)
        for at in reversed(starts):
            expression = Negation(at, expression)
        return expression

    def postfix(self) -> Expression:
        expression = self.primary()
        while True:
            at = self.token.at
            if self.accept("."):
                if self.token.kind is not Kind.NAME:
                    raise self.refusal("expected member name after '.'")
                name = self.next()
                if self.accept("("):
                    expression = Method(name.at, expression, name.text, self.arguments())
                else:
                    expression = Member(name.at, expression, name.text)
            elif self.accept("["):
                expression = self.bracket(at, expression)
            else:
                return expression

    def bracket(self, at: int, target: Expression | None) -> Expression:
        if self.token.kind not in (Kind.STRING, Kind.NUMBER):
            raise self.refusal(_BAD_INDEX)
        token = self.next()
        self.expect("]")
        if token.kind is Kind.STRING:
            return Member(at, target, token.text)
        return Index(at, target, self.number(token))

    def arguments(self) -> tuple[Expression, ...]:
        """The arguments after an opening parenthesis, up to and with the closing one."""
        found: list[Expression] = []
        if not self.accept(")"):
            found.append(self.inner())
            while self.accept(","):
                found.append(self.inner())
            self.expect(")")
        return tuple(found)

    def primary(self) -> Expression:
        token = self.token
        if token.kind is Kind.END:
            raise self.refusal("unexpected EOF" if self.position else "empty CEL expression")
        self.position += 1
        match token.kind, token.text:
            case Kind.STRING, text:
                return Literal(token.at, text)
            case Kind.NUMBER, _:
                return Literal(token.at, self.number(token))
            case Kind.NAME, "true" | "false":
                return Literal(token.at, token.text == "true")
            case Kind.NAME, "null" if self.standard:
                return Literal(token.at, None)
            case Kind.NAME, name:
                return Call(token.at, name, self.arguments()) if self.accept("(") else Name(token.at, name)
            case Kind.OPERATOR, "(":
                expression = self.inner()
                self.expect(")")
                return expression
            case Kind.OPERATOR, "[":
                return self.bracket(token.at, None)
        self.position -= 1
        raise self.refusal(f"unexpected token '{token.text}'")

    def number(self, token: Token) -> float:
        """The double a number token says, NaN for one with two dots; huge ones are infinite."""
        if self.standard or _DECIMAL.fullmatch(token.text):
            return float(token.text)
        return nan

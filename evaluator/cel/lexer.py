"""CEL text into tokens. A token's kind is never guessed from its text: a quoted "(" is a string."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

from evaluator.cel.fault import fault
from evaluator.values import has_lone_surrogate


class Kind(Enum):
    """What a token is."""

    STRING = "string"
    NUMBER = "number"
    NAME = "name"
    OPERATOR = "operator"
    END = "end"


class Token(NamedTuple):
    """One token. `text` is how it reads in messages; a string's is its content. `at` is its offset."""

    kind: Kind
    text: str
    at: int


_OPERATOR: Final = re.compile(r"==|!=|<=|>=|&&|\|\||[<>!.(),\[\]]")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER: Final = re.compile(r"(?=\.?[0-9])[0-9.]+")
_STANDARD_NUMBER: Final = re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_UNTIL_QUOTE: Final = {quote: re.compile(rf"[^{quote}\\]*") for quote in "'\""}
_ESCAPE: Final = re.compile(
    r"\\(?:([abfnrtv\\?\"'`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))"
)
_ESCAPED: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def tokenize(text: str, *, standard: bool = False) -> list[Token]:
    """The tokens of a text, closed by one of kind `END`. Raises `CheckError` where a character is none.

    In the autocheck dialect a backslash in a string only keeps the next character, and numbers have neither
    sign nor exponent; standard CEL has both, and the usual escapes.
    """
    if has_lone_surrogate(text):
        at = next(at for at, character in enumerate(text) if "\ud800" <= character <= "\udfff")
        raise fault(text, at, "half of a surrogate pair is not text")
    tokens: list[Token] = []
    at, end = 0, len(text)
    number = _STANDARD_NUMBER if standard else _NUMBER
    while at < end:
        character = text[at]
        if is_space(character):
            at += 1
        elif character in "'\"":
            content, after = (_standard_string if standard else _string)(text, at)
            tokens.append(Token(Kind.STRING, content, at))
            at = after
        elif found := number.match(text, at):
            tokens.append(Token(Kind.NUMBER, found[0], at))
            at = found.end()
        elif found := _NAME.match(text, at):
            tokens.append(Token(Kind.NAME, found[0], at))
            at = found.end()
        elif found := _OPERATOR.match(text, at):
            tokens.append(Token(Kind.OPERATOR, found[0], at))
            at = found.end()
        else:
            raise fault(text, at, f"unexpected character '{character}'")
    tokens.append(Token(Kind.END, "EOF", end))
    return tokens


def is_space(character: str) -> bool:
    """Whether a character is white space as JavaScript has it."""
    return (character.isspace() and character not in "\x1c\x1d\x1e\x1f\x85") or character == "\ufeff"


def _string(text: str, start: int) -> tuple[str, int]:
    """The content of the string that starts at a quote, and the offset after it."""
    quote, parts, at = text[start], [], start + 1
    while True:
        plain = _UNTIL_QUOTE[quote].match(text, at)
        if plain is not None:
            parts.append(plain[0])
            at = plain.end()
        if at >= len(text) or (text[at] == "\\" and at + 1 >= len(text)):
            raise fault(text, start, "unterminated string")
        if text[at] == quote:
            return "".join(parts), at + 1
        parts.append(text[at + 1])
        at += 2


def _standard_string(text: str, start: int) -> tuple[str, int]:
    quote, parts, at = text[start], [], start + 1
    while True:
        plain = _UNTIL_QUOTE[quote].match(text, at)
        if plain is not None:
            parts.append(plain[0])
            at = plain.end()
        if at >= len(text):
            raise fault(text, start, "unterminated string")
        if text[at] == quote:
            return "".join(parts), at + 1
        escape = _ESCAPE.match(text, at)
        if escape is None:
            raise fault(text, at, "unknown escape in a string")
        parts.append(_unescaped(text, at, escape))
        at = escape.end()


def _unescaped(text: str, at: int, escape: re.Match[str]) -> str:
    letter, *codes = escape.groups()
    if letter is not None:
        return _ESCAPED.get(letter, letter)
    *hexadecimal, octal = codes
    digits = next((code for code in hexadecimal if code is not None), None)
    code = int(octal, 8) if digits is None else int(digits, 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise fault(text, at, "an escape names no character")
    return chr(code)

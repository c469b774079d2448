"""Reading the fields of one check expression, each with its place, so that every error can name it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, TypeVar

from evaluator.errors import CheckError, kind_of, nearest
from evaluator.node import Node
from evaluator.path import Resolver, resolver
from evaluator.values import compact

Compile = Callable[[Any, str, int], Node]
C = TypeVar("C", bound=str)


class Fields:
    """The fields of one operator in a check, at `place`; sub-checks are compiled with `compile_check`."""

    __slots__ = ("_compile", "_depth", "check", "op", "place")

    def __init__(
        self, check: dict[str, Any], op: str, place: str, depth: int, compile_check: Compile
    ) -> None:
        self.check = check
        self.op = op
        self.place = place
        self._depth = depth
        self._compile = compile_check

    def __contains__(self, name: str) -> bool:
        return name in self.check

    def value(self, name: str, expected: str = "any JSON value") -> Any:
        """A required field of any type."""
        if name in self.check:
            return self.check[name]
        message = f'"{self.op}" needs a field "{name}" ({expected})'
        meant = nearest(name, (key for key in self.check if key != "op"))
        if meant is not None:
            message += f'; is "{meant}" a misspelling of it?'
        raise CheckError(message, f"{self.place}.{name}")

    def number(self, name: str) -> float:
        """A required finite number; a boolean is none."""
        value = self.value(name, "a number")
        if type(value) is int or (type(value) is float and isfinite(value)):
            return value
        raise self._refusal(name, "a number", value)

    def text(self, name: str) -> str:
        """A required string."""
        value = self.value(name, "a string")
        if type(value) is str:
            return value
        raise self._refusal(name, "a string", value)

    def flag(self, name: str) -> bool:
        """An optional boolean, false when absent."""
        value = self.check.get(name, False)
        if type(value) is bool:
            return value
        raise self._refusal(name, "true or false", value)

    def choice(self, name: str, choices: Sequence[C]) -> C | None:
        """An optional text, one of those given; None when absent."""
        if name not in self.check:
            return None
        value = self.check[name]
        for choice in choices:
            if type(value) is str and value == choice:
                return choice
        allowed = ", ".join(f'"{choice}"' for choice in choices)
        raise self._refusal(name, f"one of {allowed}" if len(choices) > 1 else allowed, value)

    def path(self, name: str) -> tuple[str, Resolver]:
        """A required path, as written and compiled."""
        value = self.value(name, "a path")
        if type(value) is not str:
            raise self._refusal(name, "a path, which is a string", value)
        try:
            return value, resolver(value)
        except CheckError as error:
            raise CheckError(error.problem, f"{self.place}.{name}") from None

    def node(self, name: str) -> Node:
        """A required sub-check, compiled."""
        return self._compile(self.value(name, "a check"), f"{self.place}.{name}", self._depth + 1)

    def nodes(self, name: str) -> list[Node]:
        """A required array of sub-checks, compiled."""
        value = self.value(name, "an array of checks")
        if type(value) is not list:
            raise self._refusal(name, "an array of checks", value)
        compiled = []
        for index, check in enumerate(value):
            compiled.append(self._compile(check, f"{self.place}.{name}[{index}]", self._depth + 1))
        return compiled

    def refusal(self, name: str, problem: str) -> CheckError:
        """The error that something is wrong with a field."""
        return CheckError(problem, f"{self.place}.{name}")

    def _refusal(self, name: str, expected: str, value: Any) -> CheckError:
        shown = "" if value is None else f" {compact(value)}"
        return self.refusal(name, f"expected {expected}, got {kind_of(value)}{shown}")

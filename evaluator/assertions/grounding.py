"""Groundedness: an argument's value occurred before, so that an invented id is caught.

What a call may rest on is the trace's `input` and the results of the steps before it, but for those of
`llm_call` steps, whose text the model made up itself. A value occurs there

* as an equal JSON value, anywhere in it, the keys of objects included;
* as text: a string, or the digits of a number, of at least three characters stands in a string between word
  boundaries. A boundary is where a letter, digit or underscore meets something else or the end; a number does
  not start or end inside a longer one (`155` is not in `155.5`).

An array or object occurs when each value in it does; an empty one must occur itself. Case counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from evaluator.assertions.arguments import Text
from evaluator.assertions.json_value import at_dot_path, key_of
from evaluator.assertions.judgement import Judge, Judgement, MissingEvidenceError, failed, passed
from evaluator.assertions.view import TraceView
from evaluator.values import MISSING, compact, number_text

_SHORTEST: Final = 3


def grounded(*, tool: Text, arg: Text) -> Judge:
    """In every call of `tool` the value at `arg`, a dot path into its arguments, occurred before the call.

    Before means in the trace's input or in an earlier result. The gap is the number of calls where it did
    not; a call without the argument is missing evidence, unless another call violates. Tool absent: passes.
    """
    keys = tuple(arg.split("."))
    what = f"{tool}.{arg}"

    def judge(view: TraceView) -> Judgement:
        invented: list[tuple[int, Any]] = []
        lacking: list[int] = []
        for call in view.calls_by_name.get(tool, ()):
            value = at_dot_path(call.step.get("args"), keys)
            if value is MISSING:
                lacking.append(call.number + 1)
            elif not view.said.holds(value, before=call.position):
                invented.append((call.number + 1, value))
        if invented:
            first, value = invented[0]
            more = f" (and {len(invented) - 1} more)" if len(invented) > 1 else ""
            return failed(
                len(invented),
                lambda: (
                    f"{what} (call {first}): expected a value that occurred before, "
                    f"got {compact(value)}{more}"
                ),
            )
        if lacking:
            raise MissingEvidenceError(f"{what} (call {lacking[0]})")
        return passed(f"{what}: every value occurred before")

    return judge


class Said:
    """What a trace's input and results say, with the step that brought it (-1: the input)."""

    def __init__(self, sources: list[tuple[int, Any]]) -> None:
        self._first: dict[Any, int] = {}
        self._texts: list[tuple[int, str]] = []
        self._sources = sources
        for position, source in sources:
            self._take(position, source)

    def _take(self, position: int, source: Any) -> None:
        first, texts, pending = self._first, self._texts, [source]
        while pending:
            value = pending.pop()
            kind = type(value)
            if kind is str:
                first.setdefault(value, position)
                texts.append((position, value))
            elif kind is dict:
                pending.extend(value)
                pending.extend(value.values())
            elif kind is list:
                pending.extend(value)
            elif kind is int:
                first.setdefault(value, position)
            else:
                first.setdefault(key_of(value), position)

    def holds(self, value: Any, *, before: int) -> bool:
        """Whether a value occurs in the input or in the result of a step before this one."""
        if type(value) is dict or type(value) is list:
            leaves = [leaf for leaf in _values(value, keys=False) if type(leaf) not in (dict, list)]
            if not leaves:
                return self._has_equal(value, before)
            return all(self.holds(leaf, before=before) for leaf in leaves)
        if self._first.get(key_of(value), before) < before:
            return True
        if type(value) is str:
            text = value
        elif type(value) is int or type(value) is float:
            text = number_text(value)
        else:
            return False
        if len(text) < _SHORTEST:
            return False
        number = type(value) is not str
        return any(
            position < before and _stands_in(text, said, number=number) for position, said in self._texts
        )

    def _has_equal(self, value: Any, before: int) -> bool:
        wanted = key_of(value)
        return any(
            key_of(inner) == wanted
            for position, source in self._sources
            if position < before
            for inner in _values(source)
            if type(inner) is type(value)
        )


def _values(root: Any, *, keys: bool = True) -> Iterator[Any]:
    """A value and all values inside it, with `keys` the keys of objects too."""
    pending = [root]
    while pending:
        value = pending.pop()
        yield value
        if type(value) is dict:
            if keys:
                yield from value
            pending.extend(reversed(value.values()))
        elif type(value) is list:
            pending.extend(reversed(value))


def _stands_in(wanted: str, text: str, *, number: bool) -> bool:
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        starts = not (_in_word(wanted[0]) and at and _in_word(text[at - 1]))
        ends = not (_in_word(wanted[-1]) and end < len(text) and _in_word(text[end]))
        if starts and ends and not (number and _inside_number(text, at, end)):
            return True
        at = text.find(wanted, at + 1)
    return False


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _inside_number(text: str, at: int, end: int) -> bool:
    """Whether a number goes on over a point or comma on either side."""
    before, after = text[max(0, at - 2) : at], text[end : end + 2]
    return (len(before) == 2 and before[1] in ".," and before[0].isdigit()) or (
        len(after) == 2 and after[0] in ".," and after[1].isdigit()
    )

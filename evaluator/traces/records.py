"""The JSON values in a file of recorded runs: JSON, an array of values, or JSON Lines."""

from __future__ import annotations

import os
from typing import Any

from evaluator.commands import UnusableInputError
from evaluator.conversion import to_scene
from evaluator.errors import SceneError
from evaluator.json_read import JsonTextError, read_json
from evaluator.scene_lines import numbered_lines, shown

Placed = tuple[Any, str]
"""A value and the place where it stands, with `$` for the value itself."""


def read_records(path: str | os.PathLike[str]) -> list[Placed]:
    """The values of a file (`-`: standard input; `.gz`, `.zst`: unpacked): of each line, or of the whole.

    Raises `SceneError`, which names the file and line.
    """
    name = os.fsdecode(path)
    try:
        lines = list(numbered_lines(name))
    except UnusableInputError as error:
        raise SceneError(str(error)) from None
    if not lines:
        raise SceneError("is empty; recorded runs are expected", shown(name))
    file = shown(name)
    try:
        first = read_json(lines[0][1])
    except JsonTextError as error:
        if len(lines) == 1:
            raise _unreadable(error, file, lines[0][0]) from None
        return [(_whole(lines, file), f"{file}: $")]
    if len(lines) == 1:
        return [(first, f"{file}: $")]
    found = [(first, f"{file}:{lines[0][0]}: $")]
    for number, line in lines[1:]:
        try:
            found.append((read_json(line), f"{file}:{number}: $"))
        except JsonTextError as error:
            raise _unreadable(error, file, number) from None
    return found


def records_of(source: object) -> list[Placed]:
    """The values of a source: a path, or what a JSON text holds as Python objects."""
    if isinstance(source, (str, os.PathLike)):
        return read_records(source)
    return [(to_scene(source), "$")]


def spread(records: list[Placed]) -> list[Placed]:
    """The values, with the members of each array in its place."""
    found: list[Placed] = []
    pending = list(reversed(records))
    while pending:
        value, place = pending.pop()
        if type(value) is list:
            pending.extend(
                (member, f"{place}[{index}]") for index, member in reversed(list(enumerate(value)))
            )
        else:
            found.append((value, place))
    return found


def _whole(lines: list[tuple[int, bytes]], file: str) -> Any:
    """The value of a text of several lines; blank ones are put back, so that errors name the right line."""
    at, parts = 1, []
    for number, line in lines:
        parts.append(b"\n" * (number - at) + line)
        at = number
    try:
        return read_json(b"".join(parts))
    except JsonTextError as error:
        raise _unreadable(error, file, error.line) from None


def _unreadable(error: JsonTextError, file: str, line: int) -> SceneError:
    column = f":{error.column}" if error.column else ""
    return SceneError(error.problem, f"{file}:{line}{column}" if line else file)

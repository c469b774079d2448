"""Scenes as they come: one JSON value a line, from a file, a compressed file or standard input.

Read one line at a time, so that a file may be larger than memory. A line is a scene, or a labelled line,
`{"id"?, "label"?, "labels"?, "scene"}`, whose scene is what stands under "scene".
"""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from importlib import import_module
from typing import IO, Any, NamedTuple, cast

from evaluator.commands import UnusableInputError
from evaluator.json_read import JsonTextError, read_json

_ZSTD_MODULES = ("compression.zstd", "backports.zstd")  # from Python 3.14 on, and before


class SceneLine(NamedTuple):
    """A scene and where it came from: the number of its line, from 1, and its id, or else that number."""

    number: int
    id: str | int | float
    scene: Any


def scene_lines(path: str, *, raw: bool = False) -> Iterator[SceneLine]:
    """The scenes of a JSONL file (`-`: standard input; `.gz`, `.zst`: unpacked); blank lines are skipped.

    With `raw`, every line is a scene, also one that looks like a labelled line.

    Raises `UnusableInputError`, which names the file, the line and what was expected, when it comes to it.
    """
    for number, line in numbered_lines(path):
        yield scene_line(path, number, line, raw=raw)


def numbered_lines(path: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file as they stand, with their numbers; without blank ones."""
    try:
        with open_lines(path) as lines:
            for number, line in enumerate(lines, start=1):
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if line.strip():
                    yield number, line.rstrip(b"\r\n")
    except OSError as error:
        raise UnusableInputError(f"{shown(path)}: {reason(error)}") from None
    except EOFError:
        raise UnusableInputError(f"{shown(path)}: the compressed file is cut off") from None
    except _damage() as error:
        raise UnusableInputError(f"{shown(path)}: the compressed file is damaged ({error})") from None


def scene_line(path: str, number: int, line: bytes, *, raw: bool = False) -> SceneLine:
    """The scene on one line of a file. Raises `UnusableInputError`."""
    try:
        value = read_json(line)
    except JsonTextError as error:
        column = f":{error.column}" if error.column else ""
        hint = "; every line is one whole JSON value" if error.column else ""
        raise UnusableInputError(f"{shown(path)}:{number}{column}: {error.problem}{hint}") from None
    if (
        raw
        or type(value) is not dict
        or "scene" not in value
        or not (value.keys() & {"id", "label", "labels"})
    ):
        return SceneLine(number, number, value)
    name: Any = value.get("id")
    return SceneLine(number, name if type(name) in (str, int, float) else number, value["scene"])


def open_lines(path: str) -> IO[bytes]:
    """A file opened for reading, unpacked by the ending of its name.

    Raises `OSError`, or `UnusableInputError` when a package is missing.
    """
    if path == "-":
        if sys.stdin is None:
            raise UnusableInputError("standard input is closed")
        return open(sys.stdin.fileno(), "rb", closefd=False)
    if path.endswith(".gz"):
        return cast(IO[bytes], gzip.open(path, "rb"))
    if path.endswith(".zst"):
        return _open_zstd(path)
    return open(path, "rb")


def is_packed(path: str) -> bool:
    """Whether a file is compressed, by the ending of its name."""
    return path.endswith((".gz", ".zst"))


def _open_zstd(path: str) -> IO[bytes]:
    for module in _ZSTD_MODULES:
        try:
            zstd = import_module(module)
        except ImportError:
            continue
        file: IO[bytes] = zstd.open(path, "rb")
        return file
    advice = "install it with: pip install 'check-induction[zst]'"
    raise UnusableInputError(f"{path}: reading .zst files needs the package backports.zstd; {advice}")


def _damage() -> tuple[type[Exception], ...]:
    """The errors that unpacking a damaged file raises and that are no `OSError`."""
    zstd = next((sys.modules[module] for module in _ZSTD_MODULES if module in sys.modules), None)
    return (zlib.error,) if zstd is None else (zlib.error, zstd.ZstdError)


def shown(path: str) -> str:
    """A path as messages name it."""
    return "standard input" if path == "-" else path


def reason(error: OSError) -> str:
    """What the system says is wrong with a file, in lower case."""
    if isinstance(error, IsADirectoryError):
        return "is a folder, a file is expected"
    return (error.strerror or str(error)).lower()

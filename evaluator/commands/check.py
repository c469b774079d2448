"""`evaluator check CHECK.json SCENES.jsonl`: one verdict a scene, streamed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

from evaluator.commands import UnusableInputError
from evaluator.compile import CompiledCheck, compile_check
from evaluator.errors import CheckError, SceneError
from evaluator.json_read import JsonTextError, read_json
from evaluator.json_write import json_text
from evaluator.values import number_text

_EPILOG = """\
A line of SCENES is a scene, or a labelled line: an object with "scene" and with "id" or "label"; then the
scene is what stands under "scene" (--raw takes every line as a scene). Each verdict is one JSON object a
line, {"id", "pass", "gap", "why"}, in the order of the scenes; its id is the labelled line's, or else the
number of the line, from 1. An infinite gap is the text "Infinity".

exit status: 0 all scenes pass, 1 some fail, 2 the input cannot be used
"""

_ROWS_A_TABLE = 1_000


class Verdict(NamedTuple):
    """One line of output."""

    id: str | int | float
    passed: bool
    gap: float
    why: str


def add_parser(commands: Any) -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "check",
        help="evaluate a check on scenes, one JSON value a line",
        description="Evaluate a check on every scene of a JSONL file and print one verdict a scene.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("check", metavar="CHECK.json", help="file with the check, bare or defined")
    parser.add_argument(
        "scenes", metavar="SCENES.jsonl", help="file with one scene a line; - is standard input"
    )
    parser.add_argument(
        "--raw", action="store_true", help='take every line as a scene, also one with "scene" in it'
    )
    parser.add_argument(
        "--format",
        choices=("jsonl", "table"),
        help="default: a table on a terminal, else JSON lines (a table needs the package rich)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the verdicts and, on standard error, a summary. Returns 0 when all pass, 1 when some fail."""
    check = read_check(args.check)
    counts = [0, 0]
    verdicts = _counted(_verdicts(check, args.scenes, raw=args.raw), counts)
    if args.format == "table" or (args.format is None and sys.stdout.isatty() and _has_rich()):
        if not _has_rich():
            raise UnusableInputError(
                "--format table needs the package rich; install it or use --format jsonl"
            )
        _print_tables(verdicts)
    else:
        _print_lines(verdicts, at_once=args.scenes == "-")
    failed, passed = counts
    if not failed + passed:
        raise UnusableInputError(f"{_shown(args.scenes)}: no scenes; one JSON value a line is expected")
    total = failed + passed
    print(f"{total} {'scene' if total == 1 else 'scenes'}: {passed} pass, {failed} fail", file=sys.stderr)
    return 1 if failed else 0


def read_check(path: str) -> CompiledCheck:
    """The check in a file, compiled. Raises `UnusableInputError` naming the file and the place in it."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UnusableInputError(f"{path}: {_reason(error)}") from None
    if not data.strip():
        raise UnusableInputError(f"{path}: the file is empty; a check in JSON is expected")
    try:
        return compile_check(read_json(data))
    except JsonTextError as error:
        place = "".join(f":{number}" for number in (error.line, error.column) if number)
        raise UnusableInputError(f"{path}{place}: {error.problem}") from None
    except CheckError as error:
        raise UnusableInputError(f"{path}: {error}") from None


def _verdicts(check: CompiledCheck, path: str, *, raw: bool) -> Iterator[Verdict]:
    for number, value in _lines(path):
        name: str | int | float = number
        scene = value
        if not raw and type(value) is dict and "scene" in value and ("id" in value or "label" in value):
            scene = value["scene"]
            if type(value.get("id")) in (str, int, float):
                name = value["id"]
        try:
            result = check(scene)
            yield Verdict(name, result.passed, result.gap, result.why)
        except SceneError as error:
            raise UnusableInputError(f"{_shown(path)}:{number}: {error}") from None


def _lines(path: str) -> Iterator[tuple[int, Any]]:
    """The values of a JSONL file with the numbers of their lines; blank lines are skipped."""
    try:
        with _open(path) as lines:
            for number, line in enumerate(lines, start=1):
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if not line.strip():
                    continue
                try:
                    yield number, read_json(line.rstrip(b"\r\n"))
                except JsonTextError as error:
                    column = f":{error.column}" if error.column else ""
                    hint = "; every line is one whole JSON value" if error.column else ""
                    raise UnusableInputError(
                        f"{_shown(path)}:{number}{column}: {error.problem}{hint}"
                    ) from None
    except OSError as error:
        raise UnusableInputError(f"{_shown(path)}: {_reason(error)}") from None


def _open(path: str) -> IO[bytes]:
    if path == "-":
        if sys.stdin is None:
            raise UnusableInputError("standard input is closed")
        return open(sys.stdin.fileno(), "rb", closefd=False)
    return open(path, "rb")


def _shown(path: str) -> str:
    return "standard input" if path == "-" else path


def _reason(error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        return "is a folder, a file is expected"
    return (error.strerror or str(error)).lower()


def _counted(verdicts: Iterator[Verdict], counts: list[int]) -> Iterator[Verdict]:
    for verdict in verdicts:
        counts[verdict.passed] += 1
        yield verdict


def _print_lines(verdicts: Iterator[Verdict], *, at_once: bool) -> None:
    for name, passed, gap, why in verdicts:
        sys.stdout.write(json_text({"id": name, "pass": passed, "gap": gap, "why": why}) + "\n")
        if at_once:
            sys.stdout.flush()


def _has_rich() -> bool:
    from importlib.util import find_spec

    return find_spec("rich") is not None


def _print_tables(verdicts: Iterator[Verdict]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=sys.stdout)
    while rows := list(islice(verdicts, _ROWS_A_TABLE)):
        table = Table("id", "pass", "gap", "why")
        for name, passed, gap, why in rows:
            verdict = Text("pass", "green") if passed else Text("FAIL", "bold red")
            table.add_row(Text(_printable(str(name))), verdict, Text(number_text(gap)), Text(_printable(why)))
        console.print(table)


def _printable(text: str) -> str:
    """The text without anything that could steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)

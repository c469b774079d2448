"""`evaluator cel TEXT`, `evaluator cel --to cel CHECK.json`: CEL texts into checks, and back."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from evaluator.cel import from_cel, to_cel
from evaluator.commands import UnusableInputError
from evaluator.errors import CheckError
from evaluator.expression import sub_checks
from evaluator.file_kind import not_utf8
from evaluator.json_read import JsonTextError, read_json
from evaluator.json_write import json_text

_EPILOG = """\
--to check (the default) prints the check of a CEL text as JSON; verdict and gap are those of the original CEL
evaluator. --to cel prints the CEL text of a check; CEL has no gap, so only the verdict is kept, and what CEL
has no words for is refused with its place.

The dialect is that of the autocheck language: no signed numbers (a bound may be a text: n >= "-2"), no null,
no escapes in strings. --standard reads and writes the CEL of other engines.

exit status: 0 printed, 2 the input cannot be used
"""


def add_parser(commands: Any) -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "cel",
        help="turn a CEL text into a check, or a check into a CEL text",
        description="Turn a CEL text into a check, or a check into a CEL text.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "source",
        metavar="TEXT|CHECK.json",
        help="the CEL text itself, or with --to cel the file with the check; - is standard input",
    )
    parser.add_argument("--to", choices=("check", "cel"), default="check", help="default: check")
    parser.add_argument("--standard", action="store_true", help="standard CEL, not the autocheck dialect")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the check or the text; a body at fault is named on standard error. Returns 0."""
    if args.to == "cel":
        print(_text(args.source, standard=args.standard))
        return 0
    try:
        check = from_cel(_cel_of(args.source), standard=args.standard)
    except CheckError as error:
        raise UnusableInputError(str(error)) from None
    print(json_text(check))
    for problem in _faults(check):
        print(f"evaluator cel: evaluating fails once there is an element to test: {problem}", file=sys.stderr)
    return 0


def _cel_of(source: str) -> str:
    if source != "-":
        return source
    try:
        data = _standard_input()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, problem = not_utf8(data, error.start)
        raise UnusableInputError(f"standard input:{line}: {problem}") from None


def _text(source: str, *, standard: bool) -> str:
    shown = "standard input" if source == "-" else source
    try:
        return to_cel(read_json(_standard_input() if source == "-" else _file(source)), standard=standard)
    except JsonTextError as error:
        place = "".join(f":{number}" for number in (error.line, error.column) if number)
        raise UnusableInputError(f"{shown}{place}: {error.problem}") from None
    except CheckError as error:
        raise UnusableInputError(f"{shown}: {error}") from None


def _file(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise UnusableInputError(f"{path}: {(error.strerror or str(error)).lower()}") from None


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise UnusableInputError("standard input is closed")
    return sys.stdin.buffer.read()


def _faults(check: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the bodies that mean nothing, in order; each once."""
    seen: set[str] = set()
    pending = [check]
    while pending:
        part = pending.pop()
        if part["op"] == "cel.unsupported" and part["problem"] not in seen:
            seen.add(part["problem"])
            yield part["problem"]
        pending.extend(reversed([inner for _, inner in sub_checks(part)]))

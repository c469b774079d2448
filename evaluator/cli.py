"""The command line: `evaluator COMMAND ...`, also `python -m evaluator`. Needs nothing beyond msgspec."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

from evaluator.commands import UnusableInputError
from evaluator.safe_text import printable_lines

_COMMANDS = (
    "check",
    "pack",
    "explain",
    "diff",
    "schema",
    "cel",
    "watch",
    "replay",
    "traces",
    "automationbench",
    "audit",
    "mcp",
    "doctor",
)
"""In the order of the help, each a module of `evaluator.commands`; only the one asked for is imported."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 2 when the input cannot be used."""
    if sys.stdout is None:  # closed by the caller
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    words = list(sys.argv[1:] if argv is None else argv)
    args = _parser(words).parse_args(words)
    try:
        status: int = args.run(args)
        sys.stdout.flush()
    except UnusableInputError as error:
        _flush_quietly()
        print(printable_lines(f"evaluator {args.command}: {error}"), file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader has gone, as `head` does
        _discard_output()
        return 141
    except OSError as error:
        _discard_output()
        print(f"evaluator {args.command}: the output cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        _discard_output()
        return 130
    return status


def _parser(words: list[str]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="evaluator",
        description="Evaluate checks, predicates over JSON scenes that say how far off a failure is.",
    )
    parser.add_argument("--version", action=_PrintVersion, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    asked = [name for name in _COMMANDS if words[:1] == [name]]
    for name in asked or _COMMANDS:
        import_module(f"evaluator.commands.{name}").add_parser(commands)
    return parser


class _Parser(argparse.ArgumentParser):
    """Words of the command line are echoed in complaints as they can be shown."""

    def error(self, message: str) -> NoReturn:
        super().error(printable_lines(message))


class _PrintVersion(argparse.Action):
    """Looks the version up only when asked: the look-up costs more than a whole evaluation."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from evaluator.version import installed_version

        print(f"evaluator {installed_version() or '(not installed)'}")
        parser.exit()


def _flush_quietly() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        _discard_output()


def _discard_output() -> None:
    """Send what is still to be written nowhere, so that Python does not complain when it exits."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

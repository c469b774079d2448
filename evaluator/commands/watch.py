"""`evaluator watch CHECK.json SCENES.jsonl`: follow a growing file and tell when the verdict changes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from evaluator.attach import attach_check
from evaluator.commands import UnusableInputError
from evaluator.commands.check import read_check
from evaluator.errors import CheckError, SceneError, kind_of
from evaluator.follow import FollowedLine, follow_lines
from evaluator.json_write import json_text
from evaluator.path import resolve
from evaluator.result import CheckResult
from evaluator.safe_text import printable, printable_lines
from evaluator.scene_lines import is_packed, numbered_lines, reason, scene_line, shown
from evaluator.values import MISSING, number_text

_EPILOG = """\
A line of SCENES is a scene or a labelled line, as for `evaluator check`. Only flips are printed: a line of
output for each scene whose verdict differs from the one before, {"id", "pass", "gap", "why"} with --format
jsonl. A line that cannot be used is named on standard error and skipped. When the file is rotated, truncated
or written anew, the new content is read from its start. Ctrl-C ends it.

With --window, a verdict holds from its line to the next, and is a flip when the answer for the whole window
changes: --window 300 asks whether the check held all the time in the last 300 seconds, with --eventually
whether it held at some time. Time is the clock when a line is read, or what stands at --time in each scene.

exit status: 130 after Ctrl-C; with --once 0 if the last verdict is a pass, else 1; 2 the input cannot be used
"""


def add_parser(commands: Any) -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "watch",
        help="follow a growing file and print when the verdict changes",
        description="Follow a growing JSONL file of scenes and print when the verdict of a check changes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("check", metavar="CHECK.json", help="file with the check, bare or defined")
    parser.add_argument(
        "scenes",
        metavar="SCENES.jsonl",
        help="file that grows by one scene a line; standard input (-) and .gz, .zst are read to their end",
    )
    parser.add_argument("--first", action="store_true", help="print the first verdict, too")
    parser.add_argument("--once", action="store_true", help="stop at the end of the file")
    parser.add_argument("--window", type=float, metavar="SECONDS", help="judge the last SECONDS as a whole")
    parser.add_argument(
        "--eventually", action="store_true", help="with --window: at some time, instead of all the time"
    )
    parser.add_argument("--time", metavar="PATH", help="path in each scene to its time in seconds")
    parser.add_argument(
        "--interval", type=float, default=0.2, metavar="SECONDS", help="between two looks (default 0.2)"
    )
    parser.add_argument(
        "--raw", action="store_true", help='take every line as a scene, also one with "scene" in it'
    )
    parser.add_argument(
        "--format", choices=("text", "jsonl"), help="default: text on a terminal, else JSON lines"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print flips until interrupted; with --once, or from standard input, until the end of the scenes."""
    check = read_check(args.check)
    as_text = args.format == "text" or (args.format is None and sys.stdout.isatty())
    name: str | int | float = 0
    last: CheckResult | None = None

    def tell(result: CheckResult, _scene: object) -> None:
        print(_text(name, result) if as_text else _json(name, result), flush=True)

    if args.window is None and args.eventually:
        raise UnusableInputError("--eventually asks about a window of time; add --window SECONDS")
    if not 0 < args.interval < 3600:
        raise UnusableInputError("--interval: expected seconds between 0 and 3600")
    try:
        if args.time is not None:
            resolve(None, args.time)
        window = None if args.window is None else {"from": -args.window}
        quantifier = "eventually" if args.eventually else None
        subscription = attach_check(
            check, tell, fire_on_first=args.first, window=window, quantifier=quantifier
        )
    except CheckError as error:
        option = "--window" if error.place.startswith("window") else "--time"
        raise UnusableInputError(f"{option}: {error.problem}") from None
    for number, text in _lines(args):
        try:
            line = scene_line(args.scenes, number, text, raw=args.raw)
            name = f"line {number}" if as_text and line.id is number else line.id
            at = None if args.time is None else _time(line.scene, args.time)
            last = subscription.tick(line.scene, at)
        except UnusableInputError as error:
            _say(f"{error}; the line is skipped")
        except (SceneError, CheckError) as error:
            _say(f"{shown(args.scenes)}:{number}: {error}; the line is skipped")
    if last is None:
        raise UnusableInputError(f"{shown(args.scenes)}: no scene was read, so there is no verdict")
    return 0 if last.passed else 1


def _lines(args: argparse.Namespace) -> Iterator[tuple[int, bytes]]:
    if args.scenes == "-" or is_packed(args.scenes):  # neither can be looked at again
        yield from numbered_lines(args.scenes)
        return
    try:
        lines: Iterator[FollowedLine] = follow_lines(
            args.scenes,
            wait=not args.once,
            interval=args.interval,
            on_restart=lambda what: _say(f"{args.scenes}: {what}, reading it from its start"),
        )
        for number, text in lines:
            text = text.removeprefix(b"\xef\xbb\xbf") if number == 1 else text
            if text.strip():
                yield number, text.rstrip(b"\r")
    except OSError as error:
        raise UnusableInputError(f"{args.scenes}: {reason(error)}") from None


def _text(name: str | int | float, result: CheckResult) -> str:
    verdict = "pass" if result.passed else f"FAIL by {number_text(result.gap)}"
    return printable(f"{name}: {verdict}: {result.why}")


def _json(name: str | int | float, result: CheckResult) -> str:
    return json_text({"id": name, "pass": result.passed, "gap": result.gap, "why": result.why})


def _time(scene: Any, path: str) -> float:
    """The time that stands in a scene. Raises `SceneError` when it is no number."""
    found = resolve(scene, path)
    if type(found) is int or type(found) is float:
        return found
    got = "nothing" if found is MISSING else kind_of(found)
    raise SceneError(f"expected a time in seconds, got {got}", path)


def _say(message: str) -> None:
    print(printable_lines(f"evaluator watch: {message}"), file=sys.stderr, flush=True)

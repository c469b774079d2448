"""`evaluator diff A.json B.json SCENES.jsonl`: the scenes on which two checks disagree."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from evaluator.commands import UnusableInputError
from evaluator.commands.check import read_check
from evaluator.errors import CheckError, SceneError
from evaluator.json_write import json_text
from evaluator.result import CheckResult
from evaluator.scene_lines import scene_lines, shown

_EPILOG = """\
Each scene on which one check passes and the other fails is one JSON object a line,
{"id", "a": {"pass", "gap", "why"}, "b": {...}}; with --gap also those with the same verdict and another gap.

exit status: 0 they agree on all scenes, 1 they disagree on some, 2 the input cannot be used
"""


def add_parser(commands: Any) -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "diff",
        help="list the scenes on which two checks disagree",
        description="List the scenes on which two checks disagree.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("a", metavar="A.json", help="file with a check, bare or defined")
    parser.add_argument("b", metavar="B.json", help="file with the other check")
    parser.add_argument(
        "scenes", metavar="SCENES.jsonl", help="file with one scene a line; - is standard input"
    )
    parser.add_argument("--gap", action="store_true", help="list the scenes whose gaps differ as well")
    parser.add_argument(
        "--raw", action="store_true", help='take every line as a scene, also one with "scene" in it'
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the scenes and, on standard error, how many. Returns 0 when the checks agree, else 1."""
    a, b = read_check(args.a), read_check(args.b)
    scenes = differing = 0
    for line in scene_lines(args.scenes, raw=args.raw):
        scenes += 1
        try:
            one, other = a(line.scene), b(line.scene)
        except (CheckError, SceneError) as error:
            raise UnusableInputError(f"{shown(args.scenes)}:{line.number}: {error}") from None
        if one.passed is not other.passed or (args.gap and one.gap != other.gap):
            differing += 1
            sys.stdout.write(json_text({"id": line.id, "a": _told(one), "b": _told(other)}) + "\n")
    if not scenes:
        raise UnusableInputError(f"{shown(args.scenes)}: no scenes; one JSON value a line is expected")
    noun = "scene" if scenes == 1 else "scenes"
    print(f"{scenes} {noun}: {differing} {'differs' if differing == 1 else 'differ'}", file=sys.stderr)
    return 1 if differing else 0


def _told(result: CheckResult) -> dict[str, Any]:
    return {"pass": result.passed, "gap": result.gap, "why": result.why}

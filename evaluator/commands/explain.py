"""`evaluator explain CHECK.json [SCENES.jsonl]`: a check in words, and which part of it fails on a scene."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from evaluator.commands import UnusableInputError
from evaluator.commands.check import read_check
from evaluator.errors import CheckError, SceneError
from evaluator.explanation import explain
from evaluator.json_write import json_text
from evaluator.scene_lines import scene_lines, shown
from evaluator.values import number_text

_EPILOG = """\
Without SCENES the check is printed as an indented sentence. With scenes, each part of it is marked pass or
FAIL, or ? where evidence is missing, with what was found and the gap; of "find" the nearest element is looked
into. Numbers are exact.

exit status: 0 printed, 2 the input cannot be used
"""


def add_parser(commands: Any) -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "explain",
        help="say what a check asks for, and which part of it fails on a scene",
        description="Print a check as an indented sentence and, given scenes, which part fails by how much.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("check", metavar="CHECK.json", help="file with the check, bare or defined")
    parser.add_argument(
        "scenes", metavar="SCENES.jsonl", nargs="?", help="file with one scene a line; - is standard input"
    )
    parser.add_argument("--id", metavar="ID", help="only the scene with this id, or on this line")
    parser.add_argument(
        "--raw", action="store_true", help='take every line as a scene, also one with "scene" in it'
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the check, or how it fares on each scene. Returns 0."""
    check = read_check(args.check)
    if args.scenes is None:
        if args.id is not None:
            raise UnusableInputError("--id picks a scene; name the file with the scenes as well")
        print(_explained(check, args.check))
        return 0
    seen = 0
    for line in scene_lines(args.scenes, raw=args.raw):
        if args.id is not None and str(line.id) != args.id:
            continue
        where = f"{shown(args.scenes)}:{line.number}"
        try:
            result = check(line.scene)
        except SceneError as error:
            raise UnusableInputError(f"{where}: {error}") from None
        told = json_text(line.id) if isinstance(line.id, str) else number_text(line.id)
        verdict = "pass" if result.passed else f"FAIL, gap {number_text(result.gap)}"
        sys.stdout.write(("\n" if seen else "") + f"scene {told}: {verdict}\n")
        print(_explained(check, where, line.scene))
        seen += 1
    if not seen:
        missing = "no scenes; one JSON value a line is expected"
        if args.id is not None:
            missing = f"no scene has the id {json_text(args.id)}"
        raise UnusableInputError(f"{shown(args.scenes)}: {missing}")
    return 0


def _explained(check: object, where: str, *scene: object) -> str:
    try:
        return explain(check, *scene)
    except (CheckError, SceneError) as error:
        raise UnusableInputError(f"{where}: {error}") from None

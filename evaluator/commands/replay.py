"""`evaluator replay CHECK.json TRACE...`: recorded runs step by step, as the check sees them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from evaluator.commands import UnusableInputError
from evaluator.commands.check import read_check
from evaluator.errors import CheckError, SceneError
from evaluator.json_write import json_text
from evaluator.replay import Replay, ReplayedStep, replay_trace
from evaluator.safe_text import printable
from evaluator.scene_lines import numbered_lines, shown
from evaluator.scene_otel import SceneTrace, traces_of
from evaluator.values import number_text

_EPILOG = """\
A TRACE is a scene-otel file, one span a line; each trace in it is replayed by itself. The check sees the
object of all keys of the scene; with --key, the value of that key (scenegrad writes the world under the key
"scene"). A step whose verdict needs a value that was cut or is broken is "unknown", with the reason.

With --format jsonl, each step is {"file", "trace", "step", "tools", "pass", "gap", "why", "flip", "rise"},
pass and gap null when unknown; after each trace comes {"file", "trace", "name", "steps", "pass", "flips",
"rises", "success"}, success being what the run says of itself.

exit status: 0 every run ends in a pass, 1 some do not, 2 the input cannot be used
"""


class _Run(NamedTuple):
    file: str
    trace: SceneTrace
    replay: Replay


def add_parser(commands: Any) -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "replay",
        help="evaluate a check after every step of recorded runs",
        description="Show the verdict, the gap and why after every step of recorded runs.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("check", metavar="CHECK.json", help="file with the check, bare or defined")
    parser.add_argument(
        "traces",
        metavar="TRACE",
        nargs="+",
        help="scene-otel file, one span a line; - is standard input, .gz and .zst are unpacked",
    )
    parser.add_argument("--key", metavar="KEY", help="evaluate on the value of this key of the scene")
    parser.add_argument("--format", choices=("text", "jsonl", "svg"), default="text", help="default: text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the runs. Returns 0 when every run ends in a pass, 1 when some do not."""
    check = read_check(args.check)
    runs = []
    for file in args.traces:
        try:
            traces = traces_of((line for _, line in numbered_lines(file)), shown(file))
            if not traces:
                raise UnusableInputError(f"{shown(file)}: no spans; one span a line is expected")
            name = shown(file)
            runs += [_Run(name, trace, replay_trace(check, trace.steps, key=args.key)) for trace in traces]
            for trace in traces:
                _ = trace.success
        except (SceneError, CheckError) as error:
            raise UnusableInputError(str(error)) from None
    if not any(found.replay.steps for found in runs):
        raise UnusableInputError(f"{', '.join(args.traces)}: no span sets a scene (events named scene.set)")
    if args.format == "svg":
        from evaluator.gap_chart import Panel, gap_chart

        sys.stdout.write(gap_chart([Panel(_title(found), found.replay) for found in runs]))
    else:
        lines = _json_lines if args.format == "jsonl" else _text_lines
        for at, found in enumerate(runs):
            if at and args.format == "text":
                print()
            for line in lines(found):
                print(line)
    return 0 if all(found.replay.passed for found in runs if found.replay.steps) else 1


def _title(found: _Run) -> str:
    count = len(found.replay.steps)
    return f"{found.trace.name or found.trace.trace_id}: {count} {'step' if count == 1 else 'steps'}"


def _text_lines(found: _Run) -> Iterator[str]:
    yield printable(f"{found.file}: {_title(found)}")
    rows = [("step", "tool", "verdict", "gap", "why")]
    rows += [_row(step) for step in found.replay.steps]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for number, tool, verdict, gap, why in rows if len(rows) > 1 else []:
        start = f"{number:>{widths[0]}}  {tool:<{widths[1]}}  {verdict:<{widths[2]}}  {gap:>{widths[3]}}"
        yield f"{start}  {why}".rstrip()
    flips = [f"step {step.number} to {_verdict(step)}" for step in found.replay.flips]
    yield f"flips: {', '.join(flips) or 'none'}"
    rises = ", ".join(f"step {step.number}" for step in found.replay.rises)
    yield f"the gap {'rose at ' + rises if rises else 'never rose'}"
    if found.trace.success is not None:
        yield f"the run says of itself: {'success' if found.trace.success else 'no success'}"


def _row(step: ReplayedStep) -> tuple[str, str, str, str, str]:
    result = step.result
    gap, why = ("", step.problem) if result is None else (number_text(result.gap), result.why)
    tools = printable(", ".join(step.tools)) or "-"
    return str(step.number), tools, _verdict(step), gap, printable(why)


def _verdict(step: ReplayedStep) -> str:
    if step.result is None:
        return "unknown"
    return "pass" if step.result.passed else "FAIL"


def _json_lines(found: _Run) -> Iterator[str]:
    run = {"file": found.file, "trace": found.trace.trace_id}
    for step in found.replay.steps:
        result = step.result
        yield json_text(
            run
            | {
                "step": step.number,
                "tools": list(step.tools),
                "pass": None if result is None else result.passed,
                "gap": None if result is None else result.gap,
                "why": step.problem if result is None else result.why,
                "flip": step.flipped,
                "rise": step.rose,
            }
        )
    yield json_text(
        run
        | {
            "name": found.trace.name,
            "steps": len(found.replay.steps),
            "pass": found.replay.passed,
            "flips": [step.number for step in found.replay.flips],
            "rises": [step.number for step in found.replay.rises],
            "success": found.trace.success,
        }
    )

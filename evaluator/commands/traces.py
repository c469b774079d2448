"""`evaluator traces FILE`: what others record of an agent's runs, as scenes with a trace."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from evaluator.commands import UnusableInputError
from evaluator.errors import SceneError
from evaluator.json_write import json_text
from evaluator.scene_lines import reason
from evaluator.traces.reading import FORMS, read_trace_scenes
from evaluator.traces.tree import TraceTree

_EPILOG = """\
FILE holds JSON, an array, or JSON lines; - is standard input, files ending in .gz or .zst are unpacked:
  otlp       OpenTelemetry's spans as JSON, with GenAI, OpenInference, OpenLLMetry or Vercel attributes
  openai     messages of chat completions, or items of Responses: one conversation, or one a line
  anthropic  messages with content blocks, likewise
  mlflow     traces as to_dict(), to_json() or search_traces give them
  trace      traces already: they are judged, and written as scenes
Each run becomes one line, {"id", "scene": {"trace": ...}}; a record's "label", "labels", "weight" and "world"
are kept, and induce learn reads the lines once they are labelled. No tool call is dropped: what is odd about
one is told on standard error, with the span or message it stands in.

exit status: 0 written, 1 written but with warnings (only with --strict), 2 the input cannot be used
"""


def add_parser(commands: Any) -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "traces",
        help="turn recorded runs (OTLP, OpenAI, Anthropic, MLflow) into scenes with a trace",
        description="Turn recorded runs of agents into scenes with a trace, one a line.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="file with recorded runs; - is standard input")
    parser.add_argument(
        "--from",
        dest="form",
        choices=(*FORMS, "auto"),
        default="auto",
        help="the form of the file (default: told by its first value)",
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT.jsonl", help="file to write (default: standard output)"
    )
    parser.add_argument(
        "--no-model-calls", action="store_true", help="leave calls of models out of the steps"
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 when there were warnings")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the scenes. Returns 0, or 1 when there were warnings and they are not to be overlooked."""
    warned: list[str] = []
    form = None if args.form == "auto" else args.form
    try:
        scenes = read_trace_scenes(
            args.file, form, model_calls=not args.no_model_calls, on_warning=warned.append
        )
    except SceneError as error:
        raise UnusableInputError(str(error)) from None
    for warning in warned:
        print(f"warning: {warning}", file=sys.stderr)
    lines = (json_text(scene) + "\n" for scene in scenes)
    if args.output is None or args.output == "-":
        sys.stdout.writelines(lines)
    else:
        _write(Path(args.output), "".join(lines))
    calls = sum(
        step.get("type") == "tool_call"
        for scene in scenes
        for step, _, _ in TraceTree(scene["scene"]["trace"]).flatten()
    )
    counts = [_counted(len(scenes), "trace"), _counted(calls, "tool call"), _counted(len(warned), "warning")]
    print(", ".join(counts), file=sys.stderr)
    return 1 if warned and args.strict else 0


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _write(path: Path, text: str) -> None:
    """Write all of a file or nothing: into one beside it, which then takes its place."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        if path.exists() and not path.is_file():  # a device or a pipe
            path.write_bytes(data)
            return
        beside = path.resolve()
        beside = beside.with_name(f".{beside.name}.{os.getpid()}.tmp")
        try:
            beside.write_bytes(data)
            os.replace(beside, path.resolve())
        finally:
            with suppress(FileNotFoundError):
                beside.unlink()
    except OSError as error:
        raise UnusableInputError(f"{path}: cannot be written: {reason(error)}") from None

"""``induce export``: a check in another form, for other programs."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from evaluator import CheckError
from induce.commands import exit_codes, note
from induce.export import EXPORT_FORMATS, export_check, require_writable, write_atomically
from induce.scenes import load_json, load_scenes


def run(
    check: Annotated[
        str, typer.Argument(metavar="CHECK", help="A check as `induce learn -o` writes it, or - for stdin.")
    ],
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help=f"{', '.join(EXPORT_FORMATS)}.")] = "json",
    scenes: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="With las: scenes whose facts follow the rules, for clingo to judge."
        ),
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Write here instead of to stdout.")
    ] = None,
) -> None:
    """Print a check as JSON, in core forms alone, as CEL, as a Python module, or as answer set rules."""
    with exit_codes():
        if output is not None:
            require_writable(output)
        if scenes is not None and to != "las":
            raise ValueError("--scenes goes with --to las only")
        wire = load_json(check)
        if not isinstance(wire, dict):
            raise ValueError(f"{check}: expected a check, a JSON object")
        try:
            text = export_check(wire, to)
            if scenes is not None:
                from induce.export.las import scene_facts

                judged = load_scenes(scenes)
                text += "\n" + scene_facts(wire, judged.scenes, judged.ids) + "#show passes/1.\n"
            if to == "core":
                from induce.export.core import core_profile

                for lowered in core_profile(wire).lowered:
                    note(f"{check}: {lowered}")
        except CheckError as error:
            raise ValueError(f"{check}: {error}") from None
        if output is None:
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            write_atomically(output, text)

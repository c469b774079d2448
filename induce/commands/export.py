"""``induce export``: a check in another form, for other programs."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from evaluator import CheckError
from induce.commands import exit_codes, note
from induce.export import EXPORT_FORMATS, export_check, require_writable, write_atomically
from induce.scenes import load_json


def run(
    check: Annotated[
        str, typer.Argument(metavar="CHECK", help="A check as `induce learn -o` writes it, or - for stdin.")
    ],
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help=f"{', '.join(EXPORT_FORMATS)}.")] = "json",
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Write here instead of to stdout.")
    ] = None,
) -> None:
    """Print a check as JSON, in core forms alone, as CEL, as a Python module, or as answer set rules."""
    with exit_codes():
        if output is not None:
            require_writable(output)
        wire = load_json(check)
        if not isinstance(wire, dict):
            raise ValueError(f"{check}: expected a check, a JSON object")
        try:
            text = export_check(wire, to)
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

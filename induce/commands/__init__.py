"""The commands of ``induce`` beside ``learn``, one module each, imported when the command is asked for.

The command ``export-task`` is the function `run` of the module ``export_task``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from evaluator.safe_text import printable

UNUSABLE = 2
INTERRUPTED = 130
READER_GONE = 141

COMMANDS: tuple[str, ...] = (
    "alternatives",
    "explain",
    "export",
    "export-task",
    "invariants",
    "label",
    "next",
    "repair",
    "score",
)
"""The names of the commands that have a module here; keep them sorted."""


class Commands(TyperGroup):
    """The commands given at once and those of this package."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module = import_module(f"{__name__}.{cmd_name.replace('-', '_')}")
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(cmd_name)(module.run)
        return typer.main.get_command(alone)


def complain(message: str, status: int) -> int:
    """Say on stderr in one line what went wrong; returns the exit code."""
    print(printable(f"induce: {' '.join(message.split())}"), file=sys.stderr)
    return status


def note(message: str) -> None:
    """Say on stderr what the user should know."""
    print(printable(f"induce: note: {message}"), file=sys.stderr)


def say(lines: Iterable[str]) -> None:
    """Print lines, each as soon as it is there."""
    for line in lines:
        print(line, flush=True)


@contextmanager
def exit_codes() -> Iterator[None]:
    """Leave the process with the exit code for what went wrong inside, and one sentence."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing left to flush at the exit
        raise typer.Exit(READER_GONE) from None
    except (ValueError, OSError) as error:
        raise typer.Exit(complain(_said(error), UNUSABLE)) from None
    except KeyboardInterrupt as interrupt:
        raise typer.Exit(complain(str(interrupt) or "interrupted", INTERRUPTED)) from None


def _said(error: ValueError | OSError) -> str:
    """An error in words; one of the system, which has a number, by its reason and file."""
    if isinstance(error, OSError) and error.strerror:
        where = "the output" if error.filename is None else str(error.filename)
        return f"{where}: {error.strerror.lower()}"
    return str(error)

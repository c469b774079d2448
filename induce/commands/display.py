"""How far the learner has come, on standard error: a live line on a terminal, else plain lines if asked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from induce.progress import Progress

STAGES = {
    "scenes": "reading scenes",
    "candidates": "listing candidates",
    "search": "searching",
    "proof": "proving",
}
BETWEEN_LINES = 2.0
"""Seconds between two plain lines of one stage."""

Listener = Callable[["Progress"], None]


@contextmanager
def shown_progress(wanted: bool | None, task: str = "") -> Iterator[Listener | None]:
    """A listener for the learner; None where nothing is to be shown.

    `wanted` is True for plain lines where standard error is no terminal, False for nothing anywhere. The
    live line goes when the block is left. `task` says what is learnt where there are several.
    """
    prefix = f"{task}: " if task else ""
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield None
    elif not sys.stderr.isatty():
        yield _plain_lines(prefix)
    else:
        from rich.console import Console
        from rich.progress import Progress as Live
        from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.table import Column

        text = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True))
        columns = SpinnerColumn(), text, TimeElapsedColumn()
        with Live(*columns, console=Console(stderr=True), transient=True) as live:
            line = live.add_task(f"{prefix}{STAGES['scenes']}", total=None)
            yield lambda progress: live.update(line, description=prefix + progress_text(progress))


def _plain_lines(prefix: str) -> Listener:
    stage, due = "", 0.0

    def show(progress: Progress) -> None:
        nonlocal stage, due
        if progress.stage != stage or progress.seconds >= due:
            stage, due = progress.stage, progress.seconds + BETWEEN_LINES
            text = f"{prefix}{progress_text(progress)}, {progress.seconds:.1f} s"
            print(f"induce: {text}", file=sys.stderr, flush=True)

    return show


def progress_text(progress: Progress) -> str:
    """The stage, how many atoms there are, the best objective and its bound."""
    if not progress.atoms:
        return STAGES[progress.stage]
    best = "none yet" if progress.best is None else f"{progress.best:.1f} bits"
    return (
        f"{STAGES[progress.stage]}: {progress.atoms:,} atoms, best {best}, "
        f"none below {progress.bound:.1f}, {progress.nodes:,} nodes"
    )

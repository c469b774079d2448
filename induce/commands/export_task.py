"""``induce export-task``: labelled scenes as the learning task of another learner."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from induce.commands import exit_codes, note, say
from induce.export.task import TASK_FORMATS, export_task
from induce.scenes import FORMATS, load_json, load_scenes


def run(
    scenes: Annotated[
        str,
        typer.Argument(metavar="SCENES", help="Labelled scenes, as `induce learn` takes them."),
    ],
    folder: Annotated[
        str, typer.Option("-o", "--output", metavar="DIR", help="Write here; made when it is absent.")
    ],
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help=f"{' or '.join(TASK_FORMATS)}.")] = "las",
    fmt: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help=f"{', '.join(FORMATS)}; of the scenes.")
    ] = None,
    grammar: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Grammar as JSON: operators and paths.")
    ] = None,
    penalty: Annotated[
        int, typer.Option(metavar="N", help="Literals that an error is worth in a .las task; 0: none may be.")
    ] = 3,
    max_constants: Annotated[
        int, typer.Option(metavar="N", help="Most values, words and bounds asked for at one path.")
    ] = 50,
    max_terms: Annotated[
        int | None, typer.Option(metavar="N", help="Most rules of Popper; by default as many as we learn.")
    ] = None,
    max_literals: Annotated[int, typer.Option(metavar="N", help="Most literals in a term.")] = 4,
    max_where: Annotated[int, typer.Option(metavar="N", help="Most conjuncts about one element.")] = 3,
    max_nesting: Annotated[int, typer.Option(metavar="N", help="Most levels of collections.")] = 2,
) -> None:
    """Write the learning task for ILASP and FastLAS (las), or for Popper (popper)."""
    with exit_codes():
        labelled = load_scenes(scenes, fmt=fmt)
        labels = labelled.require_labels()
        if labelled.ignored_keys:
            note(f"keys beside id, label, scene and weight were ignored: {', '.join(labelled.ignored_keys)}")
        written = export_task(
            labelled.scenes,
            labels,
            None if grammar is None else load_json(grammar),
            to,
            folder,
            ids=labelled.ids,
            sample_weight=labelled.weights,
            penalty=penalty or None,
            max_constants=max_constants,
            max_terms=max_terms,
            max_literals=max_literals,
            max_where=max_where,
            max_nesting=max_nesting,
        )
        say(f"written: {path}" for path in written)

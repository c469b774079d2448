"""``induce invariants``: what passing scenes have in common, where no failing ones are at hand."""

from __future__ import annotations

from typing import Annotated

import typer

from evaluator import json_text
from induce.commands import exit_codes, note, say
from induce.commands.inputs import (
    AsJson,
    Format,
    GrammarFile,
    LabelColumn,
    bits_text,
    read_grammar,
)
from induce.export import require_writable, write_atomically
from induce.scenes import LabelledScenes, load_scenes


def run(
    scenes: Annotated[
        str,
        typer.Argument(
            metavar="SCENES", help="Passing scenes; labels may be left out, failing ones are not used."
        ),
    ],
    k: Annotated[int, typer.Option("-k", metavar="N", help="How many at most.")] = 20,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write them as a pack for `evaluator pack`."),
    ] = None,
    grammar: GrammarFile = None,
    fmt: Format = None,
    label_column: LabelColumn = "label",
    as_json: AsJson = False,
) -> None:
    """Rank what holds on every passing scene by how unlikely it is by chance."""
    with exit_codes():
        if output is not None:
            require_writable(output)
        language = read_grammar(grammar)
        data = load_scenes(scenes, fmt=fmt, label_column=label_column)
        passing = passing_scenes(data)
        from induce.invariance import invariants

        found = invariants(passing.scenes, language, k)
        if output is not None:
            checks = [
                {
                    "id": f"invariant-{number}",
                    "expr": one.check,
                    "meta": {"tags": ["invariant", one.kind], "invariant": one.to_dict()},
                }
                for number, one in enumerate(found, start=1)
            ]
            write_atomically(output, json_text({"id": "invariants@1.0.0", "checks": checks}) + "\n")
        if as_json:
            print(json_text({"scenes": len(passing), "invariants": [one.to_dict() for one in found]}))
            return
        say([f"{len(passing)} passing scenes"])
        for one in found:
            by_chance = f"{bits_text(one.bits)} bits, {one.kind}, {one.samples} scenes"
            say([f"{one.sentence} ({by_chance})", f"  {json_text(one.check)}"])
        if output is not None:
            say([f"written: {output}"])
        note("passing scenes alone cannot tell which of these a failing scene would break")


def passing_scenes(data: LabelledScenes) -> LabelledScenes:
    """The scenes labelled pass; all of them where none has a label.

    Raises
    ------
    ValueError
        When all that is labelled is labelled fail.
    """
    if data.counts["fail"] and not data.counts["pass"]:
        raise ValueError(
            "all labelled scenes are labelled fail; invariants are what passing scenes share, "
            "so add scenes labelled pass"
        )
    wanted = "pass" if data.counts["pass"] else None
    left_out = sum(label != wanted for label in data.labels)
    if left_out:
        note(f"{left_out} of {len(data)} scenes are not labelled pass and were left out")
    return data.subset(index for index, label in enumerate(data.labels) if label == wanted)

"""``induce alternatives``: other checks near the best, and where they differ from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from evaluator import json_text, sentence
from induce.commands import exit_codes, note, say
from induce.commands.asking import Material, PoolFile, TimeLimit, check_line, scene_text
from induce.commands.inputs import (
    AsJson,
    Format,
    GrammarFile,
    LabelColumn,
    ScenesFile,
    bits_text,
    read_grammar,
)

if TYPE_CHECKING:
    from induce.differences import Alternative


def run(
    scenes: ScenesFile,
    pool: PoolFile = None,
    k: Annotated[int, typer.Option("-k", metavar="N", help="How many checks at most.")] = 5,
    within: Annotated[float, typer.Option(metavar="BITS", help="How far from the best they may be.")] = 10.0,
    grammar: GrammarFile = None,
    time_limit: TimeLimit = 20.0,
    fmt: Format = None,
    label_column: LabelColumn = "label",
    as_json: AsJson = False,
) -> None:
    """List other checks that fit about as well, and a scene on which each differs from the best."""
    with exit_codes():
        language = read_grammar(grammar)
        material = Material.read(scenes, pool, fmt, label_column)
        result, rivals = material.rivals(language, time_limit, within)
        from induce.differences import alternatives

        others = material.pool
        found = alternatives(
            rivals,
            material.labelled.scenes,
            k,
            within=within,
            ids=material.labelled.ids,
            pool=None if others is None else others.scenes,
            pool_ids=None if others is None else others.ids,
        )
        if as_json:
            best = {"check": result.check, "sentence": sentence(result.check), "objective": result.objective}
            print(json_text({"best": best, "alternatives": [one.to_dict() for one in found]}))
            return
        say([material.summary, check_line(result)])
        say(line for one in found for line in _lines(one))
        if not found:
            note(
                f"no other check was found within {bits_text(within)} bits that differs on a plausible scene"
            )


def _lines(one: Alternative) -> Iterator[str]:
    distance = "as good" if one.distance == 0 else f"{bits_text(one.distance)} bits dearer"
    yield f"{distance}: {sentence(one.check)}"
    yield f"  json: {json_text(one.check)}"
    says, other = ("passes", "fails") if one.passes else ("fails", "passes")
    yield f"  differs on {one.differs} of {one.of} plausible scenes"
    example = scene_text(one.example.id, one.example.source, one.example.edits)
    yield f"  {says} what the check {other}: {example}"

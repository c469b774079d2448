"""``induce repair``: the smallest change to a check that fits labelled scenes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluator import json_text, sentence
from induce.commands import exit_codes, say
from induce.commands.inputs import (
    AsJson,
    CheckFile,
    Format,
    GrammarFile,
    LabelColumn,
    ScenesFile,
    bits_text,
    names,
    read_check,
    read_grammar,
)
from induce.export import export_check, require_writable, write_atomically
from induce.scenes import load_scenes

if TYPE_CHECKING:
    from induce.mend import Repair
    from induce.objective import Objective


def run(
    check: CheckFile,
    scenes: ScenesFile,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Write the repaired check here.")
    ] = None,
    max_edits: Annotated[int, typer.Option(metavar="N", help="The most edits.")] = 5,
    node_limit: Annotated[int, typer.Option(metavar="N", help="The most checks to try.")] = 20_000,
    grammar: GrammarFile = None,
    fmt: Format = None,
    label_column: LabelColumn = "label",
    as_json: AsJson = False,
) -> None:
    """Find the smallest change to a check that fits labelled scenes, and list the edits."""
    with exit_codes():
        if output is not None:
            require_writable(output)
        wire = read_check(check)
        language = read_grammar(grammar)
        data = load_scenes(scenes, fmt=fmt, label_column=label_column)
        from induce.mend import repair

        repaired = repair(
            wire,
            data.scenes,
            data.require_labels(),
            language,
            ids=data.ids,
            sample_weight=data.weights,
            max_edits=max_edits,
            node_limit=node_limit,
        )
        if output is not None:
            write_atomically(output, export_check(_in_place(wire, repaired)))
        if as_json:
            print(json_text({**repaired.to_dict(), "written": output}))
            return
        say([data.summary(), f"check: {sentence(wire)}"])
        say(_lines(repaired))
        if output is not None:
            say([f"written: {output}"])


def _in_place(wire: dict[str, Any], repaired: Repair) -> dict[str, Any]:
    """The repaired check, defined where the given one was; what was said of its induction no longer holds."""
    if "op" in wire:
        return repaired.check
    meta = {key: value for key, value in wire.get("meta", {}).items() if key != "induction"}
    return {**wire, "expr": repaired.check, **({"meta": meta} if "meta" in wire else {})}


def _lines(repaired: Repair) -> Iterator[str]:
    yield f"wrong before: {names(repaired.wrong_before) or 'none'}"
    if not repaired.edits:
        yield "edits: none" if not repaired.wrong_before else "edits: none of those tried is worth its bits"
        return
    for edit in repaired.edits:
        values = f"{json_text(edit.before)} → {json_text(edit.after)}; " if edit.kind == "change" else ""
        yield f"edit: {edit.path}: {values}{edit.text}"
    yield f"repaired: {sentence(repaired.check)}"
    yield f"json: {json_text(repaired.check)}"
    yield f"wrong after: {names(repaired.wrong_after) or 'none'}"
    yield f"objective: {_objective(repaired.before)} → {_objective(repaired.after)}"
    if repaired.stopped == "nodes":
        yield f"the search stopped at its limit of {repaired.nodes:,} checks"


def _objective(objective: Objective | None) -> str:
    return "outside the grammar" if objective is None else f"{bits_text(objective.total)} bits"

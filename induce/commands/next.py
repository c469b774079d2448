"""``induce next``: the scenes whose labels would settle most, with what the rivals say of them."""

from __future__ import annotations

from typing import Annotated

import typer

from evaluator import json_text
from induce.commands import exit_codes, note, say
from induce.commands.asking import Material, PoolFile, TimeLimit, check_line, question_lines
from induce.commands.inputs import Format, GrammarFile, LabelColumn, ScenesFile, read_grammar


def run(
    scenes: ScenesFile,
    pool: PoolFile = None,
    k: Annotated[int, typer.Option("-k", metavar="N", help="How many scenes at most.")] = 3,
    grammar: GrammarFile = None,
    time_limit: TimeLimit = 20.0,
    fmt: Format = None,
    label_column: LabelColumn = "label",
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print records, one a line, to be labelled and read as scenes again."),
    ] = False,
) -> None:
    """Name the scenes whose labels would settle most among the checks that fit.

    Scenes without a label, in SCENES or the pool, are chosen from; where there are none, labelled ones are
    edited.
    """
    with exit_codes():
        language = read_grammar(grammar)
        material = Material.read(scenes, pool, fmt, label_column)
        result, rivals = material.rivals(language, time_limit)
        questions = material.questions(rivals, k)
        if as_json:
            say(json_text(question.to_dict()) for question in questions)
        else:
            say([material.summary, check_line(result), f"rivals: {len(rivals) - 1}"])
            say(line for question in questions for line in question_lines(question))
        if not questions:
            note("the checks that were found near the best agree on every scene that could be asked")

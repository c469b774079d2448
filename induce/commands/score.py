"""``induce score``: a check on labelled scenes, with what speaks for it and against it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from evaluator import json_text
from induce.commands import exit_codes, note, say
from induce.commands.inputs import (
    AsJson,
    CheckFile,
    Format,
    GrammarFile,
    LabelColumn,
    ScenesFile,
    bits_text,
    read_check,
    read_grammar,
)
from induce.scenes import load_scenes


def run(
    check: CheckFile,
    scenes: ScenesFile,
    permutation: Annotated[
        int, typer.Option(metavar="N", help="Shuffle the labels so often and test for chance.")
    ] = 0,
    grammar: GrammarFile = None,
    work_limit: Annotated[int, typer.Option(metavar="N", help="Search nodes a shuffling.")] = 2000,
    seed: Annotated[int, typer.Option(metavar="N", help="For the shufflings.")] = 0,
    jobs: Annotated[int | None, typer.Option(metavar="N", help="Parallel workers of the test.")] = None,
    fmt: Format = None,
    label_column: LabelColumn = "label",
    as_json: AsJson = False,
) -> None:
    """Score a check on labelled scenes: objective, accuracy, evidence, coverage by term, margins, errors."""
    with exit_codes():
        if permutation < 0:
            raise ValueError(f"--permutation: expected a number of shufflings, got {permutation}")
        wire = read_check(check)
        language = read_grammar(grammar)
        data = load_scenes(scenes, fmt=fmt, label_column=label_column)
        from induce.score import score_check, score_lines

        score = score_check(wire, data, language)
        if not as_json:
            say([data.summary()])
            say(score_lines(score))
        test = None
        if permutation:
            from induce.trust import permutation_test

            test = permutation_test(
                data.scenes,
                data.require_labels(),
                permutation,
                seed,
                check=wire,
                grammar=language,
                sample_weight=data.weights,
                work_limit=work_limit,
                n_jobs=jobs,
            )
            if test.cut_by_clock:
                note(f"the clock stopped {test.cut_by_clock} searches; a rerun may give another p")
        if as_json:
            print(json_text({**score.to_dict(), "permutation": None if test is None else asdict(test)}))
        elif test is not None:
            fitted = f"{test.hits} of {test.rounds} shufflings fitted within {bits_text(test.objective)} bits"
            say([f"permutation: p = {test.p_value:.3g} ({fitted})"])

"""``induce label``: ask for labels on the terminal, keep them in the file, and learn again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluator import canonical_json, json_text
from induce.commands import exit_codes, say
from induce.commands.asking import Material, PoolFile, TimeLimit, check_line, question_lines
from induce.commands.inputs import GrammarFile, LabelColumn, read_grammar
from induce.export import export_check, require_writable, write_atomically

if TYPE_CHECKING:
    from induce.query import Question

ANSWERS = {"p": "pass", "pass": "pass", "f": "fail", "fail": "fail"}
SKIP, QUIT = ("s", "skip"), ("q", "quit")


def run(
    scenes: Annotated[
        str,
        typer.Argument(metavar="SCENES", help="Labelled scenes, a JSONL file; answers are written to it."),
    ],
    pool: PoolFile = None,
    questions: Annotated[int, typer.Option("-n", metavar="N", help="How many questions at most.")] = 10,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Write the check here in the end.")
    ] = None,
    check_id: Annotated[
        str, typer.Option("--id", metavar="NAME", help="The id of the written check.")
    ] = "induced",
    grammar: GrammarFile = None,
    time_limit: TimeLimit = 20.0,
    label_column: LabelColumn = "label",
) -> None:
    """Ask for the label of the most telling scene, write the answer into SCENES, learn again, and so on.

    A scene of SCENES that has no label gets it in its line; any other one is added at the end.
    """
    with exit_codes():
        if questions < 1:
            raise ValueError(f"-n: expected a number of questions, at least 1, got {questions}")
        if scenes == "-":
            raise ValueError("SCENES: answers are written to the file, so give one instead of -")
        for path in (scenes, output):
            if path is not None:
                require_writable(path)
        language = read_grammar(grammar)
        skipped: set[str] = set()
        answered = 0
        while True:
            material = Material.read(scenes, pool, "jsonl", label_column)
            result, rivals = material.rivals(language, time_limit)
            say([material.summary, check_line(result)])
            if answered + len(skipped) >= questions:
                break
            asked = material.questions(rivals, len(skipped) + 1)
            question = next((one for one in asked if canonical_json(one.scene) not in skipped), None)
            if question is None:
                say(["settled: the checks that were found agree on every scene that could be asked"])
                break
            answer = _ask(question)
            if answer in QUIT:
                break
            if answer in SKIP:
                skipped.add(canonical_json(question.scene))
                continue
            _keep(scenes, question, label_column, ANSWERS[answer])
            answered += 1
        say([f"labelled: {answered} scene{'' if answered == 1 else 's'}, written to {scenes}"])
        if output is not None:
            write_atomically(output, export_check(result.to_check(id=check_id)))
            say([f"written: {output}"])


def _ask(question: Question) -> str:
    """Show the scene and read an answer; the end of the input means quit."""
    say(question_lines(question))
    say([json.dumps(question.scene, indent=2, ensure_ascii=False)])
    while True:
        print("label it: p(ass), f(ail), s(kip), q(uit)? ", end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            print()
            return QUIT[0]
        answer = line.strip().lower()
        if answer in ANSWERS or answer in SKIP or answer in QUIT:
            return answer


def _keep(path: str, question: Question, label_column: str, label: str) -> None:
    """Write the label into the line where the scene stands without one, or a new line at the end."""
    lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
    records = [json.loads(line) if line.strip() else {} for line in lines]
    asked = canonical_json(question.scene)
    for number, record in enumerate(records):
        unlabelled = "scene" in record and record.get(label_column) is None
        if unlabelled and canonical_json(record["scene"]) == asked:
            lines[number] = json_text({**record, label_column: label})
            break
    else:
        taken = {str(record["id"]) for record in records if record.get("id") is not None}
        name, turn = question.id, 1
        while name in taken:
            turn += 1
            name = f"{question.id}~{turn}"
        if not lines[-1].strip():
            lines.pop()
        lines += [json_text({"id": name, label_column: label, "scene": question.scene}), ""]
    write_atomically(path, "\n".join(lines))

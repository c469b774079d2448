"""`evaluator automationbench TASKS.jsonl`: runs of AutomationBench scored, and the rules behind it told."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from evaluator.commands import UnusableInputError
from evaluator.errors import CheckError, SceneError
from evaluator.json_write import json_text
from evaluator.progress import Progress
from evaluator.safe_text import printable
from evaluator.scene_lines import scene_lines, shown
from evaluator.text_table import text_table
from evaluator.translate.automationbench.descent import Descent, descend
from evaluator.translate.automationbench.grading import GradedAssertion, Grading, TaskGrader, require_task
from evaluator.translate.automationbench.outside_grader import GraderError, ask_grader
from evaluator.translate.automationbench.roll_up import (
    Agreement,
    AssertionTally,
    ComparedVerdict,
    RollUp,
    domain_of,
)
from evaluator.translate.automationbench.translation import Coverage, coverage
from evaluator.values import compact, number_text

_EPILOG = """\
A line of TASKS is {"task", "initial_state", "assertions"}; a line of FINAL is {"task", "world"}, the end
state of one run, nested or flat; a task may have several runs. Without --final the starting worlds are
graded: the score of an agent that does nothing.

An assertion that holds at the start and at the end is free and does not count, nor does one that is marked
"scored": false; one marked "excluded": false always counts. A type without a rule is untranslated, and a
task is not completed while one that would count is.

--grader CMD asks a program of yours for its verdicts. It reads {"idx", "assertion", "world"}, one a line, the
world as it is in the file, and answers {"idx", "satisfied"}, one a line, in any order.

--descend takes the gap as a planner's heuristic: from each starting world it makes the edit after which the
gaps of the task's assertions add up to least, and again, until all hold or no edit helps. A task that is not
completed so may have assertions at odds.

exit status: 0 all runs (--descend: tasks) are completed (--coverage: all assertions are translated; --grader:
all verdicts agree), 1 some are not, 2 the input cannot be used or the grader does not work
"""

_TALLY_HEAD = ["assertions", "free", "unscored", "untranslated", "counted", "passed", "share"]
_NUMBERS = (
    *_TALLY_HEAD,
    *("runs", "completed", "credit", "types", "translated", "total", "agree", "disagree"),
    *("edits", "gap at start", "gap at end"),
)


def add_parser(commands: Any) -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "automationbench",
        help="score runs of AutomationBench; compare with an outside grader",
        description="Score the end states of AutomationBench runs by checks made of the tasks' assertions.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("tasks", metavar="TASKS.jsonl", help="file with one task a line; - is standard input")
    parser.add_argument("--final", metavar="FINAL.jsonl", help="file with the end state of one run a line")
    parser.add_argument("--coverage", action="store_true", help="tell what is translated; grade nothing")
    parser.add_argument(
        "--descend", action="store_true", help="complete the tasks by edits that make the gap smaller"
    )
    parser.add_argument(
        "--domain", action="append", metavar="NAME", help="only tasks of this domain (may be repeated)"
    )
    parser.add_argument("-n", type=_positive, metavar="N", help="only the first N tasks (of those domains)")
    parser.add_argument(
        "--show", type=_natural, default=20, metavar="N", help="types and examples to print (default 20)"
    )
    parser.add_argument("--grader", metavar="CMD", help="compare each verdict with this program's")
    parser.add_argument(
        "--grader-timeout",
        type=_seconds,
        default=60.0,
        metavar="SECONDS",
        help="how long the grader may neither read nor answer (default 60)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the scores, the coverage or the agreement. Returns 0 when nothing is amiss, else 1."""
    for alone, asked in (("--coverage", args.coverage), ("--descend", args.descend)):
        if asked and (args.grader is not None or args.final is not None):
            raise UnusableInputError(f"{alone} grades no runs; leave --final and --grader out")
    if args.coverage and args.descend:
        raise UnusableInputError("--coverage and --descend are two questions; ask one at a time")
    tasks = _tasks(args)
    if args.coverage:
        return _tell_coverage(tasks, args)
    if args.descend:
        return _tell_descents(list(_descended(tasks)), args)
    runs = list(_graded(tasks, args))
    if args.grader is not None:
        return _tell_agreement(runs, args)
    return _tell_scores([run.grading for run in runs], args)


def _positive(text: str) -> int:
    value = _natural(text)
    if not value:
        raise argparse.ArgumentTypeError("expected a whole number from 1")
    return value


def _natural(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise argparse.ArgumentTypeError(f"expected a whole number, got {compact(text)}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1e6:
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {compact(text)}")
    return value


# Reading


class _Task(NamedTuple):
    place: str
    task: dict[str, Any]


def _tasks(args: argparse.Namespace) -> list[_Task]:
    """The tasks of the file that are asked for, each with its place; their names differ."""
    found: list[_Task] = []
    places: dict[str, str] = {}
    for line in scene_lines(args.tasks, raw=True):
        place = f"{shown(args.tasks)}:{line.number}"
        try:
            require_task(line.scene)
        except SceneError as error:
            raise UnusableInputError(f"{place}: {error}") from None
        name = line.scene["task"]
        if name in places:
            raise UnusableInputError(f"{place}: the task {compact(name)} stands already at {places[name]}")
        places[name] = place
        found.append(_Task(place, line.scene))
    if not found:
        raise UnusableInputError(f"{shown(args.tasks)}: no tasks; one a line is expected")
    if args.domain:
        domains = sorted({domain_of(one.task["task"]) for one in found})
        for domain in args.domain:
            if domain not in domains:
                known = ", ".join(map(printable, domains))
                raise UnusableInputError(f"--domain {printable(domain)}: the domains here are {known}")
        found = [one for one in found if domain_of(one.task["task"]) in args.domain]
    return found[: args.n]


class _Run(NamedTuple):
    grading: Grading
    world: Any


def _graded(tasks: list[_Task], args: argparse.Namespace) -> Iterator[_Run]:
    """Every run, graded."""
    progress = Progress(results_on_screen=False)
    try:
        if args.final is None:
            for number, one in enumerate(tasks, start=1):
                if progress.due():
                    progress.show(f"{number:,} of {len(tasks):,} tasks")
                yield _graded_run(_grader(one), one.task["initial_state"], one.place)
            return
        by_name = {one.task["task"]: one for one in tasks}
        graders: dict[str, TaskGrader] = {}
        chosen = bool(args.domain or args.n)
        seen = False
        for line in scene_lines(args.final, raw=True):
            place = f"{shown(args.final)}:{line.number}"
            name, world = _end_state(line.scene, place)
            seen = True
            if name not in by_name:
                if chosen:
                    continue
                problem = f"the task {compact(name)} is not in {shown(args.tasks)}"
                raise UnusableInputError(f"{place}: {problem}")
            if progress.due():
                progress.show(f"{line.number:,} runs")
            if name not in graders:
                graders[name] = _grader(by_name[name])
            yield _graded_run(graders[name], world, place)
        if not seen:
            raise UnusableInputError(f"{shown(args.final)}: no end states; one a line is expected")
    finally:
        progress.clear()


def _end_state(line: Any, place: str) -> tuple[str, Any]:
    if not isinstance(line, dict) or not isinstance(line.get("task"), str) or "world" not in line:
        expected = 'an end state, {"task": name, "world": object}'
        raise UnusableInputError(f"{place}: expected {expected}, got {compact(line)}")
    return line["task"], line["world"]


def _grader(one: _Task) -> TaskGrader:
    try:
        return TaskGrader(one.task)
    except (CheckError, SceneError) as error:
        raise UnusableInputError(f"{one.place}: {error}") from None


def _graded_run(grader: TaskGrader, world: Any, place: str) -> _Run:
    try:
        return _Run(grader.grade(world), world)
    except (CheckError, SceneError) as error:
        raise UnusableInputError(f"{place}: {error}") from None


# Scores


def _tell_scores(gradings: list[Grading], args: argparse.Namespace) -> int:
    counts = RollUp(gradings)
    if args.json:
        told = {**counts.to_dict(), "runs": [grading.to_dict() for grading in gradings]}
        sys.stdout.write(json_text(told) + "\n")
    else:
        print("\n".join(_score_tables(counts, args.show)))
    whole = counts.all
    credit = f"mean partial credit {whole.mean_credit:.4f}"
    print(f"{_number(whole.runs, 'run')}: {whole.completed:,} completed, {credit}", file=sys.stderr)
    return 0 if whole.completed == whole.runs else 1


def _score_tables(counts: RollUp, show: int) -> Iterator[str]:
    rows = sorted(counts.by_type.items(), key=lambda item: (-item[1].assertions, item[0]))
    yield from _tally_table("type", rows[:show])
    yield from _left_out(show, len(rows), "type")
    yield ""
    rows = sorted(counts.by_confidence.items())
    yield from _tally_table("confidence", [*rows, ("all", counts.all.assertions)])
    yield ""
    yield from text_table(
        ["domain", "runs", "completed", "credit", *_TALLY_HEAD],
        [
            [
                name,
                f"{tally.runs:,}",
                f"{tally.completed:,}",
                f"{tally.mean_credit:.4f}",
                *_cells(tally.assertions),
            ]
            for name, tally in [*sorted(counts.by_domain.items()), ("all", counts.all)]
        ],
        right=_NUMBERS,
    )


def _tally_table(what: str, rows: Iterable[tuple[str, AssertionTally]]) -> Iterator[str]:
    cells = [[name, *_cells(tally)] for name, tally in rows]
    return text_table([what, *_TALLY_HEAD], cells, right=_NUMBERS)


def _cells(tally: AssertionTally) -> list[str]:
    numbers = [tally.assertions, tally.free, tally.unscored, tally.untranslated, tally.counted, tally.passed]
    return [*(f"{number:,}" for number in numbers), _share(tally.passed, tally.counted)]


def _share(part: int, whole: int) -> str:
    """In per cent, rounded down: 100 is said only of all."""
    return f"{part * 1000 // whole / 10:.1f} %" if whole else "-"


def _left_out(shown_so_far: int, whole: int, noun: str) -> Iterator[str]:
    if whole > shown_so_far:
        yield f"... and {_number(whole - shown_so_far, noun)} more; --show {whole} prints all"


def _number(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# Coverage


def _tell_coverage(tasks: list[_Task], args: argparse.Namespace) -> int:
    try:
        found = coverage(one.task for one in tasks)
    except (CheckError, SceneError) as error:
        raise UnusableInputError(f"{shown(args.tasks)}: {error}") from None
    if args.json:
        told = {
            "types": found.types,
            "types_translated": found.types_translated,
            "assertions": found.assertions,
            "translated": found.translated,
            "share": found.share,
            "by_family": {name: list(pair) for name, pair in sorted(found.by_family.items())},
            "by_confidence": {name: list(pair) for name, pair in sorted(found.by_confidence.items())},
            "untranslated": dict(sorted(found.untranslated.items())),
        }
        sys.stdout.write(json_text(told) + "\n")
    else:
        print("\n".join(_coverage_tables(found, args.show)))
    share = _share(found.translated, found.assertions)
    translated = f"{found.translated:,} of {_number(found.assertions, 'assertion')} translated ({share})"
    print(f"{found.types_translated:,} of {_number(found.types, 'type')}, {translated}", file=sys.stderr)
    return 0 if found.translated == found.assertions else 1


def _coverage_tables(found: Coverage, show: int) -> Iterator[str]:
    for what, counts in (("family", found.by_family), ("confidence", found.by_confidence)):
        rows = sorted(counts.items(), key=lambda item: (-item[1][1], item[0]))
        yield from text_table(
            [what, "types", "assertions", "share"],
            [
                [name, f"{types:,}", f"{assertions:,}", _share(assertions, found.assertions)]
                for name, (types, assertions) in rows
            ],
            right=_NUMBERS,
        )
        yield ""
    missing = sorted(found.untranslated.items(), key=lambda item: (-item[1], item[0]))
    if missing:
        rows_shown = [[name, f"{number:,}"] for name, number in missing[:show]]
        yield from text_table(["untranslated type", "assertions"], rows_shown, right=_NUMBERS)
        yield from _left_out(show, len(missing), "type")


# Agreement with an outside grader


def _tell_agreement(runs: list[_Run], args: argparse.Namespace) -> int:
    asked = [(run, one) for run in runs for one in run.grading.assertions if one.passed is not None]
    untranslated = sum(len(run.grading.assertions) for run in runs) - len(asked)
    progress = Progress(results_on_screen=False)

    def told(answers: int) -> None:
        if progress.due():
            progress.show(f"{answers:,} of {len(asked):,} verdicts")

    try:
        theirs = ask_grader(
            args.grader, _questions(asked), len(asked), patience=args.grader_timeout, progress=told
        )
    except GraderError as error:
        raise UnusableInputError(f"--grader: {error}") from None
    finally:
        progress.clear()
    compared = (
        ComparedVerdict(run.grading.task, one, verdict)
        for (run, one), verdict in zip(asked, theirs, strict=True)
    )
    agreement = Agreement(compared)
    if args.json:
        by_type = {name: tally.to_dict() for name, tally in sorted(agreement.by_type.items())}
        examples = [one.to_dict() for one in agreement.disagreements[: args.show]]
        whole = {**agreement.all.to_dict(), "untranslated": untranslated}
        sys.stdout.write(json_text({**whole, "by_type": by_type, "disagreements": examples}) + "\n")
    else:
        print("\n".join(_agreement_table(agreement, untranslated, args.show)))
    return 1 if agreement.disagreements else 0


def _questions(asked: list[tuple[_Run, GradedAssertion]]) -> Iterator[bytes]:
    world: Any = None
    text = ""
    for index, (run, one) in enumerate(asked):
        if run.world is not world:  # the assertions of a run follow each other
            world, text = run.world, json_text(run.world)
        line = f'{{"idx":{index},"assertion":{json_text(dict(one.assertion))},"world":{text}}}\n'
        yield line.encode("utf-8", "surrogatepass")


def _agreement_table(agreement: Agreement, untranslated: int, show: int) -> Iterator[str]:
    rows = sorted(agreement.by_type.items(), key=lambda item: (-item[1].disagree, -item[1].total, item[0]))
    tallies = [*rows[:show], ("all", agreement.all)]
    cells = [[name, f"{tally.total:,}", f"{tally.agree:,}", f"{tally.disagree:,}"] for name, tally in tallies]
    yield from text_table(["type", "total", "agree", "disagree"], cells, right=_NUMBERS)
    yield from _left_out(show, len(rows), "type")
    for compared in agreement.disagreements[:show]:
        one = compared.assertion
        yield f"{printable(compared.task)} [{one.index}] {printable(json_text(dict(one.assertion)))}"
        yield f"  ours:   {'holds' if one.passed else 'fails'}: {printable(one.why or '')}"
        yield f"  theirs: {'holds' if compared.theirs else 'fails'}"
    yield from _left_out(show, len(agreement.disagreements), "disagreement")
    if untranslated:
        yield f"not compared, being untranslated: {_number(untranslated, 'assertion')}"
    yield f"equivalence: {agreement.all.percent} %"


# Descent on the gap


def _descended(tasks: list[_Task]) -> Iterator[Descent]:
    progress = Progress(results_on_screen=False)
    try:
        for number, one in enumerate(tasks, start=1):
            if progress.due():
                progress.show(f"{number:,} of {len(tasks):,} tasks")
            try:
                yield descend(one.task)
            except (CheckError, SceneError) as error:
                raise UnusableInputError(f"{one.place}: {error}") from None
    finally:
        progress.clear()


def _tell_descents(descents: list[Descent], args: argparse.Namespace) -> int:
    completed = sum(descent.grading.completed for descent in descents)
    if args.json:
        told = {"total": len(descents), "completed": completed}
        told_of_each = [descent.to_dict() for descent in descents]
        sys.stdout.write(json_text({**told, "tasks": told_of_each}) + "\n")
    else:
        print("\n".join(_descent_table(descents, args.show)))
    print(f"{_number(len(descents), 'task')}: {completed:,} completed by descent on the gap", file=sys.stderr)
    return 0 if completed == len(descents) else 1


def _descent_table(descents: list[Descent], show: int) -> Iterator[str]:
    yield from text_table(
        ["task", "assertions", "gap at start", "edits", "gap at end", "outcome"],
        [
            [
                descent.task,
                f"{len(descent.grading.assertions):,}",
                number_text(descent.gaps[0]),
                f"{len(descent.edits):,}",
                number_text(descent.gaps[-1]),
                _outcome(descent.grading),
            ]
            for descent in descents[:show]
        ],
        right=_NUMBERS,
    )
    yield from _left_out(show, len(descents), "task")


def _outcome(grading: Grading) -> str:
    if grading.completed:
        return "completed"
    failing = [one.type for one in grading.counted if not one.passed]
    if failing:
        return f"fails {', '.join(dict.fromkeys(failing))}"
    return f"unknown: {_number(len(grading.untranslated), 'assertion')} untranslated"

"""`evaluator check CHECK.json SCENES.jsonl`: one verdict a scene, streamed."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from evaluator.commands import UnusableInputError
from evaluator.compile import CompiledCheck, compile_check
from evaluator.errors import CheckError, SceneError
from evaluator.json_read import JsonTextError, read_json
from evaluator.json_write import json_text
from evaluator.progress import Progress
from evaluator.safe_text import printable
from evaluator.scene_lines import numbered_lines, reason, scene_line, shown
from evaluator.values import number_text

_EPILOG = """\
A line of SCENES is a scene, or a labelled line: an object with "scene" and with "id" or "label"; then the
scene is what stands under "scene" (--raw takes every line as a scene). Each verdict is one JSON object a
line, {"id", "pass", "gap", "why"}, in the order of the scenes; its id is the labelled line's, or else the
number of the line, from 1. An infinite gap is the text "Infinity". Files ending in .gz or .zst are unpacked.
Memory does not grow with the number of scenes. The output is the same for any number of jobs.

A check with assertions over traces says a "status" as well: pass, soft_fail, hard_fail or not_evaluated, the
last with a "reason". A scene on which it is not evaluated does not pass.

exit status: 0 all scenes pass, 1 some fail, 2 the input cannot be used
"""

_ROWS_A_TABLE = 1_000
_LINES_A_BATCH = 500
_BYTES_A_BATCH = 65_536
_MOST_JOBS = 256


class Verdict(NamedTuple):
    """One line of output; `status` has the status, and the reason if any, of assertions over traces."""

    id: str | int | float
    passed: bool
    gap: float
    why: str
    status: dict[str, str]

    @property
    def evaluated(self) -> bool:
        """Whether the scene holds what the check asks for."""
        return self.status.get("status") != "not_evaluated"


class _Judged(NamedTuple):
    """What came of a run of lines: verdicts, or their text; and what stopped it early, if anything did."""

    verdicts: list[Verdict]
    text: str
    passed: int
    failed: int
    not_evaluated: int
    problem: str | None


class _Counts:
    """How many scenes passed and failed; those on which the check is not evaluated are among the latter."""

    __slots__ = ("failed", "not_evaluated", "passed")

    def __init__(self) -> None:
        self.passed = self.failed = self.not_evaluated = 0

    def add(self, judged: _Judged) -> None:
        """Count a run of lines."""
        self.passed += judged.passed
        self.failed += judged.failed
        self.not_evaluated += judged.not_evaluated

    def __str__(self) -> str:
        total = self.passed + self.failed
        told = f" ({self.not_evaluated} not evaluated)" if self.not_evaluated else ""
        return f"{total} {'scene' if total == 1 else 'scenes'}: {self.passed} pass, {self.failed} fail{told}"


def add_parser(commands: Any) -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "check",
        help="evaluate a check on scenes, one JSON value a line",
        description="Evaluate a check on every scene of a JSONL file and print one verdict a scene.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("check", metavar="CHECK.json", help="file with the check, bare or defined")
    parser.add_argument(
        "scenes", metavar="SCENES.jsonl", help="file with one scene a line; - is standard input"
    )
    parser.add_argument(
        "--raw", action="store_true", help='take every line as a scene, also one with "scene" in it'
    )
    parser.add_argument(
        "--format",
        choices=("jsonl", "table", "junit"),
        help="default: a table on a terminal, else JSON lines (a table needs the package rich)",
    )
    parser.add_argument(
        "--jobs", type=_jobs, default=1, metavar="N", help="processes to evaluate in (default 1)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the verdicts and, on standard error, a summary. Returns 0 when all pass, 1 when some fail."""
    check = read_check(args.check)
    form = args.format or ("table" if sys.stdout.isatty() and _has_rich() else "jsonl")
    if form == "table" and not _has_rich():
        raise UnusableInputError("--format table needs the package rich; install it or use --format jsonl")
    counts = _Counts()
    with closing(_judged(check, args.scenes, raw=args.raw, jobs=args.jobs, as_text=form == "jsonl")) as runs:
        counted = _counted(runs, counts, results_on_screen=form != "junit")
        if form == "jsonl":
            _print_lines(counted, at_once=_is_live(args.scenes))
        elif form == "table":
            _print_tables(counted)
        else:
            _print_junit(counted, _name(check, args.check))
    print(counts, file=sys.stderr)
    return 1 if counts.failed else 0


def read_check(path: str) -> CompiledCheck:
    """The check in a file, compiled. Raises `UnusableInputError` naming the file and the place in it."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UnusableInputError(f"{path}: {reason(error)}") from None
    if not data.strip():
        raise UnusableInputError(f"{path}: the file is empty; a check in JSON is expected")
    try:
        return compile_check(read_json(data))
    except JsonTextError as error:
        place = "".join(f":{number}" for number in (error.line, error.column) if number)
        raise UnusableInputError(f"{path}{place}: {error.problem}") from None
    except CheckError as error:
        raise UnusableInputError(f"{path}: {error}") from None


# Judging


class _Judge:
    """The check and where its scenes come from: from lines to verdicts, in this process or another."""

    def __init__(self, check: CompiledCheck, path: str, *, raw: bool, as_text: bool) -> None:
        self._check = check
        self._path = path
        self._raw = raw
        self._as_text = as_text
        self._asks_of_runs = _asks_of_runs(check.check)

    def __call__(self, lines: list[tuple[int, bytes]]) -> _Judged:
        verdicts, problem = [], None
        for number, line in lines:
            try:
                verdicts.append(self._verdict(number, line))
            except UnusableInputError as error:
                problem = str(error)
                break
        passed = sum(verdict.passed for verdict in verdicts)
        failed = len(verdicts) - passed
        not_evaluated = sum(not verdict.evaluated for verdict in verdicts)
        kept, text = ([], "".join(map(_line, verdicts))) if self._as_text else (verdicts, "")
        return _Judged(kept, text, passed, failed, not_evaluated, problem)

    def _verdict(self, number: int, line: bytes) -> Verdict:
        scene = scene_line(self._path, number, line, raw=self._raw)
        if self._asks_of_runs and not self._raw:
            self._refuse_recorded_run(scene.scene, number)
        try:
            result = self._check(scene.scene)
            said = result.meta if self._check.three_valued else {}
            status = {name: said[name] for name in ("status", "reason") if name in said}
            return Verdict(scene.id, result.passed, result.gap, result.why, status)
        except SceneError as error:
            raise UnusableInputError(f"{shown(self._path)}:{number}: {error}") from None

    def _refuse_recorded_run(self, scene: Any, number: int) -> None:
        """Refuse a run as others record it: a trace without steps would satisfy what forbids them."""
        if type(scene) is not dict or "trace" in scene or "steps" in scene:
            return
        from evaluator.traces.reading import form_of  # scenes without a trace are rare, and it costs start-up

        form = form_of(scene)
        if form is not None:
            advice = f"make scenes of the file with: evaluator traces FILE --from {form} -o scenes.jsonl"
            problem = f"a recorded run in the form {form}, but the check asks of a trace"
            raise UnusableInputError(f"{shown(self._path)}:{number}: {problem}; {advice}")


def _asks_of_runs(check: Any) -> bool:
    """Whether an operator of the check reads a trace: its name has its family before a dot."""
    pending = [check]
    while pending:
        value = pending.pop()
        if type(value) is dict:
            if type(value.get("op")) is str and "." in value["op"]:
                return True
            pending.extend(value.values())
        elif type(value) is list:
            pending.extend(value)
    return False


def _judged(check: CompiledCheck, path: str, *, raw: bool, jobs: int, as_text: bool) -> Generator[_Judged]:
    """The verdicts of all lines in their order, a run at a time; raises `UnusableInputError` at the end."""
    judge = _Judge(check, path, raw=raw, as_text=as_text)
    if jobs == 1:
        runs: Iterator[_Judged] = map(judge, _batches(path, most=1 if _is_live(path) else _LINES_A_BATCH))
    else:
        runs = _judged_in_parallel(judge, _batches(path, most=_LINES_A_BATCH), jobs)
    seen = False
    for judged in runs:
        seen = True
        yield judged
        if judged.problem is not None:
            raise UnusableInputError(judged.problem)
    if not seen:
        raise UnusableInputError(f"{shown(path)}: no scenes; one JSON value a line is expected")


def _judged_in_parallel(
    judge: _Judge, batches: Iterator[list[tuple[int, bytes]]], jobs: int
) -> Iterator[_Judged]:
    from evaluator.parallel import LostProcessError, in_order

    try:
        yield from in_order(judge, batches, jobs=jobs)
    except LostProcessError as error:
        raise UnusableInputError(f"{error}; with fewer --jobs less memory is needed") from None


def _batches(path: str, *, most: int) -> Iterator[list[tuple[int, bytes]]]:
    """The lines of a file in runs that are short in lines and bytes; also those before an error."""
    batch: list[tuple[int, bytes]] = []
    size = 0
    try:
        for number, line in numbered_lines(path):
            batch.append((number, line))
            size += len(line)
            if len(batch) >= most or size >= _BYTES_A_BATCH:
                yield batch
                batch, size = [], 0
    except UnusableInputError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _is_live(path: str) -> bool:
    """Whether lines may come slowly, each one waited for: from anything but a file on a disk."""
    try:
        return path == "-" or not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def _counted(runs: Iterable[_Judged], counts: _Counts, *, results_on_screen: bool) -> Iterator[_Judged]:
    progress = Progress(results_on_screen=results_on_screen)
    try:
        for judged in runs:
            counts.add(judged)
            if progress.due():
                progress.show(str(counts))
            yield judged
    finally:
        progress.clear()


# Printing


def _print_lines(runs: Iterable[_Judged], *, at_once: bool) -> None:
    for judged in runs:
        sys.stdout.write(judged.text)
        if at_once:
            sys.stdout.flush()


def _line(verdict: Verdict) -> str:
    name, passed, gap, why, status = verdict
    return json_text({"id": name, "pass": passed, "gap": gap, "why": why, **status}) + "\n"


def _print_junit(runs: Iterable[_Judged], name: str) -> None:
    from evaluator.junit import junit_suite, write_junit

    with junit_suite(name) as suite:
        for judged in runs:
            for verdict in judged.verdicts:
                kind = f"gap {number_text(verdict.gap)}" if verdict.evaluated else "not evaluated"
                failure = None if verdict.passed else verdict.why
                suite.add(str(verdict.id), failure=failure, kind="" if verdict.passed else kind)
        write_junit(sys.stdout, name, [suite])


def _name(check: CompiledCheck, path: str) -> str:
    name = check.check.get("id")
    return name if type(name) is str and name else Path(path).stem


def _has_rich() -> bool:
    from importlib.util import find_spec

    return find_spec("rich") is not None


def _print_tables(runs: Iterable[_Judged]) -> None:
    rows: list[Verdict] = []
    try:
        for judged in runs:
            rows += judged.verdicts
            if len(rows) >= _ROWS_A_TABLE:
                _print_table(rows)
                rows = []
    finally:
        if rows:
            _print_table(rows)


def _print_table(rows: list[Verdict]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    class Piped(Console):
        """A console that leaves a reader who has gone to the command line, as other formats do."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    table = Table("id", "pass", "gap", "why")
    for row in rows:
        said = Text("pass", "green") if row.passed else Text("FAIL", "bold red")
        if not row.evaluated:
            said = Text("not evaluated", "bold yellow")
        table.add_row(
            Text(printable(str(row.id))), said, Text(number_text(row.gap)), Text(printable(row.why))
        )
    Piped(file=sys.stdout).print(table)


def _jobs(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if not 1 <= number <= _MOST_JOBS:
        raise argparse.ArgumentTypeError(f"a whole number from 1 to {_MOST_JOBS} is expected, got {text!r}")
    return number

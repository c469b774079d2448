"""The command ``experiments report``: a run or a sweep as one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.report.arguments import Parser, add_store, answer
from experiments.report.files import RunFiles, read_run
from experiments.report.sources import Found, find
from induce.export import write_atomically

_PROGRAM = "experiments report"


def main(words: Sequence[str]) -> int:
    """Write the report that ``words`` ask for, and return the exit code."""
    arguments = _parser().parse_args(words)

    def work() -> None:
        path = Path(arguments.output or _place(arguments.run))
        found = find(arguments.run, _read, arguments.uri)
        write_atomically(path, _page(found))
        print(f"report: {path} ({_said(found)})")

    return answer(_PROGRAM, work)


def _read(folder: Path, name: str | None, alone: bool) -> RunFiles:
    return read_run(folder, name=name, brief=not alone)


def _page(found: Found[RunFiles]) -> str:
    from experiments.report.run_page import render_run
    from experiments.report.sweep_page import render_sweep

    return render_sweep(found) if found.is_sweep else render_run(found.runs[0])


def _place(word: str) -> str:
    """Where a report goes that was given no place: into the folder itself, else into this one."""
    folder = Path(word)
    return str(folder / "report.html") if folder.is_dir() else "report.html"


def _said(found: Found[RunFiles]) -> str:
    if not found.is_sweep:
        return "1 run"
    missing = f", {len(found.unfinished)} not finished" if found.unfinished else ""
    return f"a sweep of {len(found.runs)} run{'' if len(found.runs) == 1 else 's'}{missing}"


def _parser() -> Parser:
    parser = Parser(
        prog=_PROGRAM,
        description="Write what is known of a finished run or sweep as one HTML file, complete in itself.",
    )
    parser.add_argument(
        "run", metavar="RUN|SWEEP", help="the folder of a run or a sweep, or the id of an MLflow run"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE.html", help="default: report.html in the folder, else in this one"
    )
    add_store(parser)
    return parser

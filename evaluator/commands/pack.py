"""`evaluator pack PACK SCENES.jsonl`: all checks of a pack on all scenes, rolled up."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from evaluator.commands import UnusableInputError
from evaluator.errors import CheckError, SceneError
from evaluator.json_write import json_text
from evaluator.junit import JUnitSuite, junit_suite, write_junit
from evaluator.meta import SEVERITIES, Meta, Severity, parse_meta
from evaluator.pack import CheckPack, PackReport, PackRun, Tally, load_pack
from evaluator.progress import Progress
from evaluator.result import CheckResult
from evaluator.scene_lines import scene_lines, shown
from evaluator.text_table import text_table
from evaluator.values import number_text

_EPILOG = """\
PACK is {"id": "name@version", "checks": [{"id", "expr", "meta"}, ...]}, in JSON or YAML (.yaml, .yml; needs
PyYAML). A check's meta may say "severity" (fail or error, the default; warn; info), "tags" and "references".
A failing check fails the run when its severity is at least that of --fail-on. In JUnit XML a check is a
suite and a scene a case; failures that do not fail the run are told in the case's output.

exit status: 0 no check fails that counts, 1 some does, 2 the input cannot be used
"""

_NUMBERS = ("pass", "fail", "checks", "failing", "worst gap")


def add_parser(commands: Any) -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "pack",
        help="run a pack of checks on scenes and roll the verdicts up",
        description="Run every check of a pack on every scene; roll up per check, tag and severity.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("pack", metavar="PACK", help="file with the pack, JSON or YAML")
    parser.add_argument(
        "scenes", metavar="SCENES.jsonl", help="file with one scene a line; - is standard input"
    )
    parser.add_argument(
        "--format", choices=("table", "json", "junit"), default="table", help="default: table"
    )
    parser.add_argument(
        "--fail-on",
        choices=SEVERITIES,
        default="error",
        metavar="SEVERITY",
        help="the least severity that fails the run: error (default), warn or info",
    )
    parser.add_argument(
        "--raw", action="store_true", help='take every line as a scene, also one with "scene" in it'
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the report and, on standard error, a summary. Returns 1 when a check that counts fails."""
    run_of_pack = PackRun(_read_pack(args.pack))
    with ExitStack() as opened:
        suites: dict[str, JUnitSuite] = {}
        if args.format == "junit":
            for check in run_of_pack.pack.checks:
                about = _properties(parse_meta(check.meta))
                suites[check.id] = opened.enter_context(junit_suite(check.id, about))
        for scene_id, name, meta, result in _verdicts(run_of_pack, args.scenes, raw=args.raw):
            if suites:
                _add_case(suites[name], str(scene_id), result, meta.severity, args.fail_on)
        report = run_of_pack.report()
        if args.format == "junit":
            write_junit(sys.stdout, report.pack.id, suites.values())
        elif args.format == "json":
            print(json_text(report.to_dict()))
        else:
            print("\n".join(_table(report)))
    fails = report.fails(args.fail_on)
    print(_summary(report, fails=fails), file=sys.stderr)
    return 1 if fails else 0


def _read_pack(path: str) -> CheckPack:
    try:
        return load_pack(path)
    except CheckError as error:
        raise UnusableInputError(str(error)) from None


def _verdicts(
    run_of_pack: PackRun, path: str, *, raw: bool
) -> Iterator[tuple[str | int | float, str, Meta, CheckResult]]:
    progress = Progress(results_on_screen=False)
    seen = 0
    try:
        for line in scene_lines(path, raw=raw):
            seen += 1
            if progress.due():
                progress.show(f"{seen:,} scenes")
            try:
                for name, meta, result in run_of_pack.judge(line.scene, line.id):
                    yield line.id, name, meta, result
            except (CheckError, SceneError) as error:
                raise UnusableInputError(f"{shown(path)}:{line.number}: {error}") from None
    finally:
        progress.clear()
    if not seen:
        raise UnusableInputError(f"{shown(path)}: no scenes; one JSON value a line is expected")


def _summary(report: PackReport, *, fails: bool) -> str:
    failing = ", ".join(
        f"{tally.failing_checks} of {tally.checks} {severity}"
        for severity, tally in report.by_severity.items()
    )
    scenes = f"{report.scenes} {'scene' if report.scenes == 1 else 'scenes'}"
    verdict = "FAIL" if fails else "pass"
    return f"{report.pack.id} on {scenes}: {verdict} (checks failing: {failing})"


# JUnit


def _properties(meta: Meta) -> dict[str, str]:
    told = {"severity": str(meta.severity)}
    return told | {"tags": ", ".join(meta.tags)} if meta.tags else told


def _add_case(
    suite: JUnitSuite, scene: str, result: CheckResult, severity: Severity, fail_on: Severity
) -> None:
    if result.passed:
        suite.add(scene)
    elif SEVERITIES.index(severity) <= SEVERITIES.index(fail_on):
        suite.add(scene, failure=result.why, kind=f"{severity}, gap {number_text(result.gap)}")
    else:
        suite.add(scene, output=f"{severity}, gap {number_text(result.gap)}: {result.why}\n")


# The table


def _table(report: PackReport) -> Iterator[str]:
    metas = {check.id: parse_meta(check.meta) for check in report.pack.checks}
    yield from text_table(
        ["check", "severity", "pass", "fail", "worst gap", "worst scene"],
        [
            [name, metas[name].severity, *_counts(tally), *_worst(tally)]
            for name, tally in report.by_check.items()
        ],
        right=_NUMBERS,
    )
    for kind, tallies in (("tag", report.by_tag), ("severity", report.by_severity)):
        if tallies:
            yield ""
            yield from text_table(
                [kind, "checks", "failing", "pass", "fail"],
                [
                    [name, str(tally.checks), str(tally.failing_checks), *_counts(tally)]
                    for name, tally in tallies.items()
                ],
                right=_NUMBERS,
            )


def _counts(tally: Tally) -> list[str]:
    return [str(tally.passed), str(tally.failed)]


def _worst(tally: Tally) -> list[str]:
    if tally.worst is None:
        return ["", ""]
    scene, gap, _ = tally.worst
    return [number_text(gap), scene if isinstance(scene, str) else number_text(scene)]

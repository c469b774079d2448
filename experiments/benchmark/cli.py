"""The command line of the benchmarks: ``experiments benchmark evaluator``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

_BAD_INPUT = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark that the words name; 2 when it cannot be run."""
    arguments = _parser().parse_args(argv)
    from experiments.benchmark import evaluation

    try:
        batch = evaluation.read_batch(arguments.batch or evaluation.recorded_batch())
        report = evaluation.benchmark_evaluator(batch, arguments.rounds)
    except evaluation.BenchmarkError as error:
        print(f"experiments benchmark {arguments.benchmark}: {error}", file=sys.stderr)
        return _BAD_INPUT
    print(json.dumps(evaluation.as_dict(report), indent=2) if arguments.json else evaluation.table(report))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="experiments benchmark", description="Measure how fast the parts are."
    )
    benchmarks = parser.add_subparsers(dest="benchmark", metavar="PART", required=True)
    evaluator = benchmarks.add_parser(
        "evaluator",
        help="evaluations a second, beside other evaluators of predicates over JSON",
        description="Evaluations a CPU second: full results, verdict and gap of raw and of prepared scenes; "
        "then verdicts beside common-expression-language, cel-python and jsonschema, where installed.",
    )
    evaluator.add_argument(
        "--rounds", type=_rounds, default=9, metavar="N", help="best of N rounds (default: 9)"
    )
    evaluator.add_argument("--json", action="store_true", help="print JSON")
    evaluator.add_argument(
        "--batch",
        type=Path,
        metavar="FILE",
        help='JSON with "scenes" and "checks" (default: the recorded batch)',
    )
    return parser


def _rounds(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to 1000, got {text!r}")
    return int(text)

"""The command ``experiments compare``: a table of runs, and the differences between them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from evaluator import json_text
from evaluator.safe_text import printable
from evaluator.text_table import text_table
from experiments.compare.contenders import read_judged
from experiments.compare.differences import ALL_PAIRS, Comparison, Difference, Method, compare
from experiments.compare.words import (
    contender_rows,
    difference_words,
    heading,
    interval_words,
    method_words,
    metric_words,
    p_words,
    run_rows,
    scene_words,
)
from experiments.report.arguments import Parser, add_store, answer
from experiments.report.sources import find
from induce.export import write_atomically

_PROGRAM = "experiments compare"


def main(words: Sequence[str]) -> int:
    """Print the comparison that ``words`` ask for, and return the exit code."""
    arguments = _parser().parse_args(words)

    def work() -> None:
        comparison = compare(
            [find(word, read_judged, arguments.uri) for word in arguments.runs],
            metric=arguments.metric,
            by=arguments.by or (),
            baselines=arguments.baselines,
            against=arguments.against,
            method=Method(arguments.level, arguments.resamples, arguments.seed),
        )
        if arguments.html is not None:
            from experiments.compare.page import render_comparison

            write_atomically(arguments.html, render_comparison(comparison))
        if arguments.json:
            print(json_text(to_dict(comparison)))
            return
        for line in lines(comparison):
            print(printable(line))
        if arguments.html is not None:
            print(f"\npage: {arguments.html}")

    return answer(_PROGRAM, work)


def lines(comparison: Comparison) -> Iterator[str]:
    """The comparison as text: the runs, then a line for each difference, and how it was judged."""
    yield heading(comparison)
    yield ""
    head, *rows = run_rows(comparison)
    yield from text_table(head, rows, right=head[2 + len(comparison.keys) :])
    yield ""
    if grouped := contender_rows(comparison):
        yield from text_table(grouped[0], grouped[1:], right=grouped[0][1:])
        yield ""
    if not comparison.differences:
        yield "differences: none; each run has test scenes of its own, so that no two can be paired"
        return
    yield f"differences in {metric_words(comparison)}"
    for one in comparison.differences:
        yield f"  {one.first} - {one.second}: {_told(comparison, one)}"
    for part in method_words(comparison):
        yield f"  ({part})"
    if comparison.apart:
        named = "; ".join(f"{first} and {second}" for first, second in comparison.apart[:5])
        more = f", and {len(comparison.apart) - 5} more pairs" if len(comparison.apart) > 5 else ""
        yield f"not compared, as they share no test scenes: {named}{more}"


def _told(comparison: Comparison, one: Difference) -> str:
    parts = (
        difference_words(comparison, one),
        interval_words(comparison, one),
        p_words(one),
        scene_words(one),
    )
    return ", ".join(part for part in parts if part)


def to_dict(comparison: Comparison) -> dict[str, Any]:
    """The comparison as JSON: shares and p-values from 0 to 1."""
    method = comparison.method
    return {
        "metric": comparison.metric,
        "level": method.level,
        "resamples": method.resamples,
        "seed": method.seed,
        "says": method_words(comparison),
        "keys": list(comparison.keys),
        "runs": [
            {
                "number": one.number,
                "argument": one.word,
                "name": one.judged.run.name,
                "contender": one.contender,
                "test_set": one.test_set + 1,
                "metrics": dict(one.judged.run.result.metrics),
            }
            for one in comparison.entrants
        ],
        "contenders": [
            {
                "name": one.name,
                "runs": len(one.runs),
                "baseline": one.baseline,
                "mean": one.mean(comparison.metric),
            }
            for one in comparison.contenders
        ],
        "against": comparison.against,
        "differences": [_difference_dict(one) for one in comparison.differences],
        "not_compared": [list(pair) for pair in comparison.apart],
    }


def _difference_dict(one: Difference) -> dict[str, Any]:
    return {
        "first": one.first,
        "second": one.second,
        "pairs": one.blocks,
        "scenes": one.scenes,
        "difference": one.estimate.value,
        "low": one.estimate.low,
        "high": one.estimate.high,
        "p_value": one.estimate.p_value,
        "p_value_holm": one.adjusted,
        "only_first_right": one.only_first,
        "only_second_right": one.only_second,
    }


def _level(text: str) -> float:
    try:
        level = float(text)
    except ValueError:
        level = 0.0
    if not 0.5 <= level < 1:
        raise argparse.ArgumentTypeError(f"expected a share from 0.5 to below 1, got {text!r}")
    return level


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"expected a whole number from {least} to {most}, got {text!r}")
        return int(text)

    return read


def _parser() -> Parser:
    parser = Parser(
        prog=_PROGRAM,
        description="Say whether finished runs differ beyond chance, on the test scenes that they share.",
    )
    parser.add_argument(
        "runs", nargs="+", metavar="RUN|SWEEP", help="folders of runs or sweeps, or ids of MLflow runs"
    )
    parser.add_argument(
        "--metric", default="test_accuracy", metavar="NAME", help="what is compared (default: test_accuracy)"
    )
    parser.add_argument(
        "--by",
        action="append",
        metavar="KEY",
        help="key of the configuration that tells what is compared, may be repeated "
        "(default: all that differ on equal scenes; seeds make pairs)",
    )
    parser.add_argument(
        "--against",
        metavar="NAME",
        help=f"compare all others with this one (default: each with each, beyond {ALL_PAIRS} with the first)",
    )
    parser.add_argument(
        "--baselines", action="store_true", help="compare with other learners of each run too"
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the comparison as a page as well")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--level", type=_level, default=0.95, metavar="SHARE", help="of the intervals (default: 0.95)"
    )
    parser.add_argument(
        "--resamples", type=_whole(100, 100_000), default=10_000, metavar="N", help="default: 10000"
    )
    parser.add_argument(
        "--seed", type=_whole(0, 2**32 - 1), default=0, metavar="N", help="of the resamples (default: 0)"
    )
    add_store(parser)
    return parser

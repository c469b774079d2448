"""The command line of the benchmarks: ``experiments benchmark evaluator``, ``traces``, …"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

_BAD_INPUT = 2
_ENGINES: Final = ("auto", "enumerate", "asp")
_Read = TypeVar("_Read")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark that the words name; 2 when it cannot be run."""
    arguments = _parser().parse_args(argv)
    from experiments.benchmark.evaluation import BenchmarkError

    try:
        figures, text = arguments.run(arguments)
    except BenchmarkError as error:
        print(f"experiments benchmark {arguments.benchmark}: {error}", file=sys.stderr)
        return _BAD_INPUT
    print(json.dumps(figures, indent=2) if arguments.json else text)
    return 0


def _evaluator(arguments: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from experiments.benchmark import evaluation

    batch = evaluation.read_batch(arguments.batch or evaluation.recorded_batch())
    report = evaluation.benchmark_evaluator(batch, arguments.rounds)
    return evaluation.as_dict(report), evaluation.table(report)


def _traces(arguments: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from experiments.benchmark import traces

    report = traces.benchmark_traces(arguments.traces, arguments.steps, arguments.rounds)
    return traces.as_dict(report), traces.table(report)


def _automationbench(arguments: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from experiments.benchmark import automationbench

    found = automationbench.relearn(
        arguments.tasks,
        sample=arguments.sample,
        seconds=arguments.seconds,
        grammar=arguments.grammar,
        seed=arguments.seed,
    )
    return automationbench.as_dict(found), automationbench.table(found)


def _learner(arguments: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from experiments.benchmark import learner

    report = learner.benchmark_learner(
        arguments.scenes,
        arguments.terms,
        arguments.engines,
        arguments.rounds,
        arguments.seconds,
        tell=lambda line: print(line, file=sys.stderr, flush=True),
    )
    return learner.as_dict(report), learner.table(report)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="experiments benchmark", description="Measure the parts: how fast they are, how much they learn."
    )
    benchmarks = parser.add_subparsers(dest="benchmark", metavar="PART", required=True)
    evaluator = benchmarks.add_parser(
        "evaluator",
        help="evaluations a second, beside other evaluators of predicates over JSON",
        description="Evaluations a CPU second: full results, verdict and gap of raw and of prepared scenes; "
        "then verdicts beside common-expression-language, cel-python and jsonschema, where installed.",
    )
    evaluator.set_defaults(run=_evaluator)
    _add_common(evaluator, rounds=9)
    evaluator.add_argument(
        "--batch",
        type=Path,
        metavar="FILE",
        help='JSON with "scenes" and "checks" (default: the recorded batch)',
    )
    traces = benchmarks.add_parser(
        "traces",
        help="evaluations a second of trace operators on long agent traces",
        description="Evaluations a CPU second of twenty trace operators on made traces: verdict and gap of "
        "all together, then full results one by one.",
    )
    traces.set_defaults(run=_traces)
    _add_common(traces, rounds=3)
    traces.add_argument(
        "--traces", type=_up_to(1_000_000), default=10_000, metavar="N", help="how many (default: 10000)"
    )
    traces.add_argument(
        "--steps", type=_up_to(10_000), default=50, metavar="N", help="steps of each (default: 50)"
    )
    learner = benchmarks.add_parser(
        "learner",
        help="what learning takes by scenes and terms, beside a decision tree",
        description="CPU and wall seconds, seconds to the first rule and to the proof, and memory of each "
        "engine on generated warehouse plans, beside a decision tree on the same plans.",
    )
    learner.set_defaults(run=_learner)
    _add_common(learner, rounds=3, how="median")
    learner.add_argument(
        "--scenes",
        type=_list_of(_up_to(100_000)),
        default=[100, 1000],
        metavar="N,…",
        help="how many, several after commas (default: 100,1000)",
    )
    learner.add_argument(
        "--terms",
        type=_list_of(_up_to(3)),
        default=[1, 2, 3],
        metavar="K,…",
        help="terms of the hidden rule, 1 to 3 (default: 1,2,3)",
    )
    learner.add_argument(
        "--engines",
        type=_list_of(_engine),
        default=list(_ENGINES),
        metavar="NAME,…",
        help=f"of {', '.join(_ENGINES)} (default: all)",
    )
    learner.add_argument(
        "--seconds",
        type=_up_to(3_600),
        default=20,
        metavar="S",
        help="for one learning at most (default: 20)",
    )
    automationbench = benchmarks.add_parser(
        "automationbench",
        help="the share of AutomationBench's assertions that worlds alone give back",
        description="Relearn a sample of assertions, each from 10 passing worlds and 10 near misses, and "
        "count those right on 99 % of 200 unseen worlds, beside a decision tree.",
    )
    automationbench.set_defaults(run=_automationbench)
    automationbench.add_argument("tasks", type=Path, metavar="TASKS.jsonl", help="file with one task a line")
    automationbench.add_argument(
        "--sample", type=_up_to(100_000), default=100, metavar="N", help="about how many (default: 100)"
    )
    automationbench.add_argument(
        "--seconds", type=_up_to(3_600), default=10, metavar="S", help="for one at most (default: 10)"
    )
    automationbench.add_argument(
        "--seed",
        type=_up_to(1_000_000),
        default=1,
        metavar="N",
        help="of the sample and the worlds (default: 1)",
    )
    automationbench.add_argument(
        "--grammar",
        choices=("searches", "default"),
        default="searches",
        help="the language to learn in: searches of a collection (default), or all of it",
    )
    automationbench.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _add_common(parser: argparse.ArgumentParser, rounds: int, how: str = "best") -> None:
    parser.add_argument(
        "--rounds",
        type=_up_to(1000),
        default=rounds,
        metavar="N",
        help=f"{how} of N rounds (default: {rounds})",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _list_of(read: Callable[[str], _Read]) -> Callable[[str], list[_Read]]:
    return lambda text: list(dict.fromkeys(read(word) for word in text.split(",")))


def _engine(text: str) -> str:
    if text not in _ENGINES:
        raise argparse.ArgumentTypeError(f"expected {', '.join(_ENGINES)}, got {text!r}")
    return text


def _up_to(most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"expected a whole number from 1 to {most}, got {text!r}")
        return int(text)

    return read

"""The speed of assertions over agent traces: many checks over many long traces, in one process."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from random import Random
from typing import Any, Final, NamedTuple

from evaluator import CompiledCheck, compile_check, evaluate_many
from experiments.benchmark.evaluation import BenchmarkError
from experiments.benchmark.timing import Figure, Task, measure

CHECKED_TRACES: Final = 200
"""Traces on which the ways to evaluate are compared, and full results are timed."""

_TOOLS: Final = (
    "search",
    "get_order",
    "get_user",
    "check_stock",
    "pay",
    "refund",
    "cancel",
    "notify",
    "update",
    "escalate",
)

CHECKS: Final[tuple[dict[str, Any], ...]] = (
    {"op": "trace.required_tools", "tools": ["search", "pay"]},
    {"op": "trace.forbidden_tools", "tools": ["delete_all", "drop_table"]},
    {"op": "trace.tools_called_in_order", "tools": ["search", "check_stock", "pay"]},
    {"op": "trace.tools_called_exactly", "tools": ["search", "pay"]},
    {"op": "trace.no_tool_loops", "tool": "refund", "max_repetitions": 3},
    {"op": "trace.no_duplicate_tools"},
    {"op": "constraint.cost_under", "max_cost": 0.2},
    {"op": "constraint.step_count", "operator": "lte", "value": 60},
    {"op": "constraint.tool_call_count", "operator": "lt", "value": 40},
    {"op": "behaviour.tool_cardinality", "tool": "refund", "at_most": 3},
    {"op": "behaviour.tool_cardinality", "tool": "refund", "per": "order_id", "at_most": 1},
    {"op": "behaviour.trajectory", "tools": ["search", "pay", "refund"], "mode": "superset"},
    {"op": "behaviour.trajectory", "tools": ["search", "get_order", "check_stock", "pay", "notify"]},
    {"op": "behaviour.trajectory_partial_order", "order": [["check_stock", "pay"], ["get_order", "refund"]]},
    {"op": "behaviour.tool_called_before", "before": "get_order", "after": "refund"},
    {"op": "behaviour.no_tool_cycles", "period": 2},
    {"op": "behaviour.max_tool_failure_streak", "max_streak": 2},
    {
        "op": "behaviour.tool_arg_satisfies",
        "tool": "refund",
        "arg": "amount_cents",
        "operator": "lte",
        "value": 500,
    },
    {
        "op": "behaviour.tool_arg_satisfies",
        "tool": "pay",
        "arg": "opts.mode",
        "operator": "in",
        "value": ["fast", "safe"],
    },
    {"op": "content.output_contains", "value": "refund"},
)
"""Twenty operators of four families, with bounds that some of the traces keep and others do not."""


class TracesReport(NamedTuple):
    """What the benchmark found; rates are a CPU second, one thread, best of `rounds`.

    Attributes:
        together: verdict and gap of every check on every trace (`evaluate_many`).
        full: results with their text, each check and trace by itself, on the first traces.
    """

    rounds: int
    traces: int
    steps: int
    checks: int
    together: Figure
    full: Figure


def make_traces(number: int, steps: int, seed: int = 0) -> list[dict[str, Any]]:
    """Scenes with a trace of so many steps: seven of ten are tool calls, one in ten of those failed."""
    random = Random(seed)
    return [_scene(random, f"t-{index}", steps) for index in range(number)]


def _scene(random: Random, trace_id: str, steps: int) -> dict[str, Any]:
    run = {
        "schema_version": 2,
        "trace_id": trace_id,
        "agent_id": "desk",
        "input": {"request": "Where is my order?"},
        "steps": [_step(random) for _ in range(steps)],
        "output": {"message": random.choice(["Your refund is on its way.", "It ships today."])},
        "metadata": {
            "cost_usd": random.random() / 4,
            "total_tokens": random.randrange(1000, 9000),
            "latency_ms": random.randrange(500, 90_000),
        },
    }
    return {"trace": run}


def _step(random: Random) -> dict[str, Any]:
    kind = random.choices(["tool_call", "llm_call", "retrieval"], [7, 2, 1])[0]
    if kind != "tool_call":
        return {"type": kind, "name": "model" if kind == "llm_call" else "index"}
    return {
        "type": kind,
        "name": random.choice(_TOOLS),
        "args": {
            "order_id": f"O-{random.randrange(9)}",
            "amount_cents": random.randrange(900),
            "opts": {"mode": random.choice(["fast", "safe"])},
        },
        "result": {"ok": True},
        "error": None if random.random() < 0.9 else {"kind": "timeout"},
    }


def benchmark_traces(number: int, steps: int, rounds: int) -> TracesReport:
    """Measure the evaluation of trace checks; checks are compiled afresh in every round.

    Raises `BenchmarkError` when two ways of evaluating disagree about a gap.
    """
    scenes = make_traces(number, steps)
    first = scenes[:CHECKED_TRACES]
    gaps = [[check(scene).gap for scene in first] for check in map(compile_check, CHECKS)]
    if evaluate_many(CHECKS, first).gap.tolist() != gaps:
        raise BenchmarkError("the ways to evaluate disagree about a gap; this is a fault in the evaluator")
    tasks = [
        Task(
            "verdict and gap, all together",
            number * len(CHECKS),
            lambda: [dict(check) for check in CHECKS],
            lambda checks: evaluate_many(checks, scenes),
        ),
        Task(
            "full results, one by one",
            len(first) * len(CHECKS),
            lambda: list(map(compile_check, CHECKS)),
            lambda compiled: _full_results(compiled, first),
        ),
    ]
    together, full = measure(tasks, rounds)
    return TracesReport(rounds, number, steps, len(CHECKS), together, full)


def _full_results(checks: Sequence[CompiledCheck], scenes: Sequence[Any]) -> None:
    for check in checks:
        for scene in scenes:
            check(scene).why  # noqa: B018 (asking builds the text)


def table(report: TracesReport) -> str:
    """The report as text."""
    head = f"{report.checks} trace operators on {report.traces:,} traces of {report.steps} steps"
    lines = [f"{head}; CPU time, one thread, best of {report.rounds}", ""]
    for figure in (report.together, report.full):
        lines.append(f"{figure.name:<36}{figure.per_second:>12,.0f} a second")
    return "\n".join(lines)


def as_dict(report: TracesReport) -> dict[str, Any]:
    """The report as JSON."""
    return {
        "benchmark": "traces",
        "python": platform.python_version(),
        "machine": platform.machine(),
        "rounds": report.rounds,
        "traces": report.traces,
        "steps": report.steps,
        "checks": report.checks,
        "evaluations": report.together.evaluations,
        "per_second": {
            "together": round(report.together.per_second),
            "full": round(report.full.per_second),
        },
    }

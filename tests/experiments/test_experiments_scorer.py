"""A check as a scorer of ``mlflow.genai.evaluate``, on an SQLite store: outputs, runs of an agent, traces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mlflow
import pytest
from mlflow.entities import Feedback, SpanType

import experiments
from evaluator import CheckError, SceneError, define_check

TOTAL = {"op": "lte", "path": "total", "value": 500}
REFUNDED = {"op": "trace.required_tools", "tools": ["refund"]}
NAMED = {"op": "find", "collection": "trace.steps", "where": {"op": "eq", "path": "name", "value": "refund"}}


@pytest.fixture(scope="module", autouse=True)
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("scorer")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{(folder / 'mlflow.db').as_posix()}")
    mlflow.create_experiment("scored", artifact_location=Path(folder, "artifacts").as_uri())
    mlflow.set_experiment("scored")
    yield
    mlflow.set_tracking_uri(before)


@mlflow.trace(span_type=SpanType.TOOL)
def look_up(order: str) -> dict[str, str]:
    return {"order": order, "status": "returned"}


@mlflow.trace(span_type=SpanType.TOOL)
def refund(order: str) -> dict[str, Any]:
    return {"order": order, "refunded": True}


@mlflow.trace(span_type=SpanType.AGENT)
def agent(order: str, generous: bool) -> dict[str, Any]:
    look_up(order)
    if generous:
        refund(order)
    return {"total": 540 if generous else 450}


def rows(result: Any, *columns: str) -> list[tuple[Any, ...]]:
    frame = result.result_df
    return sorted(tuple(record[column] for column in columns) for record in frame.to_dict("records"))


def test_outputs_are_scenes() -> None:
    data = [{"inputs": {"n": 1}, "outputs": {"total": 450}}, {"inputs": {"n": 2}, "outputs": {"total": 540}}]
    result = mlflow.genai.evaluate(data=data, scorers=[experiments.scorer(define_check("total", TOTAL))])
    assert rows(result, "total/value", "total/gap/value", "total/rationale") == [
        (False, 40.0, "total: expected ≤ 500, got 540 (over by 40)"),
        (True, 0.0, "total = 450 ≤ 500"),
    ]
    assert result.metrics == {"total/mean": 0.5, "total/gap/mean": 20.0}


def test_an_agent_is_judged_by_its_trace_and_by_its_outputs() -> None:
    data = [{"inputs": {"order": "A", "generous": generous}} for generous in (True, False)]
    scorers = [
        experiments.scorer(REFUNDED, "refunded"),
        experiments.scorer(NAMED, "named"),
        experiments.scorer(TOTAL, "total"),
    ]
    result = mlflow.genai.evaluate(data=data, predict_fn=agent, scorers=scorers)
    found = rows(result, "refunded/value", "named/value", "total/value", "refunded/gap/value")
    assert found == [(False, False, True, 1.0), (True, True, False, 0.0)]


def test_recorded_traces_are_judged() -> None:
    mlflow.set_experiment("recorded")
    agent("A", True)
    agent("B", False)
    mlflow.flush_trace_async_logging()
    traces = mlflow.search_traces()
    result = mlflow.genai.evaluate(data=traces, scorers=[experiments.scorer(REFUNDED, "refunded")])
    assert rows(result, "refunded/value", "refunded/rationale") == [
        (False, "steps: expected every one of 1 names, missing: refund"),
        (True, "steps: every one of refund occurs"),
    ]


def test_what_can_be_no_scene_is_an_error_of_its_row() -> None:
    data = [{"inputs": {"n": 1}, "outputs": {"total": float("nan")}}]
    result = mlflow.genai.evaluate(data=data, scorers=[experiments.scorer(TOTAL, "total")])
    (record,) = result.result_df.to_dict("records")
    assert record["total/error_message"].startswith("$.total: JSON has no number for NaN")


def test_an_infinite_gap_stands_in_the_metadata() -> None:
    (said,) = experiments.scorer({"op": "or", "of": []}, "never")(outputs={})
    assert isinstance(said, Feedback)
    assert (said.value, said.metadata) == (False, {"gap": "Infinity"})


def test_a_part_of_the_outputs_may_be_the_scene() -> None:
    judge = experiments.scorer(TOTAL, scene=lambda outputs: outputs["state"])
    verdict, gap = judge(outputs={"state": {"total": 501}, "text": "done"})
    assert (judge.name, verdict.name, verdict.value) == ("check", "check", False)
    assert (gap.name, gap.value) == ("check/gap", 1.0)


def test_a_check_over_traces_wants_a_trace() -> None:
    with pytest.raises(SceneError, match="judges a trace, and there is none"):
        experiments.scorer(REFUNDED)(outputs={"total": 1})
    (verdict, _) = experiments.scorer(REFUNDED)(outputs={"trace": {"steps": []}})
    assert verdict.value is False
    with pytest.raises(CheckError):
        experiments.scorer({"op": "equals"})

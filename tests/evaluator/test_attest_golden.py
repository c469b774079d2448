"""The golden cases of the attest assertions, evaluated one by one and as operators of a check."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator import CheckError, Providers, aggregate_outcome, compile_check, evaluate_assertion, providing
from evaluator.assertions.method import FAMILIES, find_method, methods

GOLDEN = Path(__file__).parents[1] / "golden" / "attest"
FILES = [path.stem for path in sorted(GOLDEN.glob("*.jsonl")) if path.stem != "outcome"]


def cases(name: str) -> Iterator[dict[str, Any]]:
    for line in (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def canned(env: dict[str, Any]) -> Providers:
    """The providers that answer as a case says."""
    embeddings, judge = env.get("embeddings"), env.get("judge")

    def embed(text: str) -> Any:
        if "error" in embeddings or text not in embeddings:
            raise RuntimeError(embeddings.get("error", "no embedding"))
        return embeddings[text]

    def reply(_request: Any) -> str:
        if "error" in judge:
            raise RuntimeError(judge["error"])
        return str(judge["reply"])

    def plugin(answer: dict[str, Any]) -> Any:
        def run(_trace: Any, config: Any = None) -> Any:  # noqa: ARG001 (a plugin's own signature)
            if "raises" in answer:
                raise RuntimeError(answer["raises"])
            return answer

        return run

    return Providers(
        embed=None if embeddings is None else embed,
        judge=None if judge is None else reply,
        history=env.get("history"),
        plugins={name: plugin(answer) for name, answer in (env.get("plugins") or {}).items()},
        simulation=bool(env.get("simulation", False)),
    )


@pytest.mark.parametrize("name", FILES)
def test_each_case_has_its_status_score_and_gap(name: str) -> None:
    seen = 0
    for case in cases(name):
        seen += 1
        wanted, assertion = case["expect"], case["assertion"]
        given = {"method": assertion["method"], "args": assertion["args"]}
        before = json.dumps([case["trace"], given])
        result = evaluate_assertion(case["trace"], given, canned(case.get("env") or {}))
        assert json.dumps([case["trace"], given]) == before, case["id"]
        assert result.status == wanted["status"], (case["id"], result)
        for key in ("score", "gap"):
            if key in wanted:
                assert getattr(result, key) == pytest.approx(wanted[key], abs=1e-6), (case["id"], result)
        if "reason" in wanted:
            assert result.reason == wanted["reason"], (case["id"], result)
        assert (result.gap == 0.0) is (result.status == "pass"), (case["id"], result)
        assert result.why, case["id"]
        assert "\n" not in result.why, (case["id"], result)
    assert seen >= 8


@pytest.mark.parametrize("name", FILES)
def test_an_operator_says_what_its_method_says(name: str) -> None:
    for case in cases(name):
        wanted, assertion = case["expect"], case["assertion"]
        wire = find_method(assertion["method"]).check(assertion["args"])
        if wanted.get("reason") == "spec_error":
            with pytest.raises(CheckError, match=r"spec: |needs a field"):
                compile_check(wire)
            continue
        with providing(canned(case.get("env") or {})):
            check = compile_check(wire)
            result = check({"trace": case["trace"]})
            negated = compile_check({"op": "not", "of": wire})({"trace": case["trace"]})
            assert check.gap(case["trace"]) == result.gap, case["id"]
        assert result.meta["status"] == wanted["status"], (case["id"], result)
        assert result.passed is (wanted["status"] == "pass")
        if "gap" in wanted:
            assert result.gap == pytest.approx(wanted["gap"], abs=1e-6), (case["id"], result)
        opposite = {"pass": "hard_fail", "not_evaluated": "not_evaluated"}.get(wanted["status"], "pass")
        assert negated.meta["status"] == opposite, (case["id"], negated)


def test_outcomes() -> None:
    for case in cases("outcome"):
        outcome = aggregate_outcome(
            case["results"], strict=case.get("strict", False), soft_limit=case.get("soft_limit")
        )
        assert (outcome.outcome, outcome.passed) == (case["expect"]["outcome"], case["expect"]["passed"]), (
            case
        )


def test_every_method_of_the_families_is_pinned() -> None:
    pinned = {find_method(case["assertion"]["method"]).op for name in FILES for case in cases(name)}
    assert set(methods()) - pinned == {"trace.distinct", "trace.grounded"}
    assert {op.partition(".")[0] for op in methods()} == set(FAMILIES)

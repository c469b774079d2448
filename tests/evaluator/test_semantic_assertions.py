"""Semantic assertions with providers that answer, refuse, abstain and lie; and the dynamic threshold."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from math import inf, nan, sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_cases import is_unusable, judged, trace

from evaluator.assertions.judgement import Judgement
from evaluator.assertions.semantic import METHODS, dynamic_bar
from evaluator.providers import Providers
from evaluator.providers.errors import BudgetExceededError, HistoryError
from evaluator.providers.prompt import JudgeRequest, register_rubric

MESSAGE = "All good"


def embedding(**vectors: Any) -> Callable[..., Any]:
    return lambda text: vectors["message" if text == MESSAGE else text]


def similar(vectors: dict[str, Any], scene: Any = None, **arguments: Any) -> Judgement:
    scene = trace(message=MESSAGE) if scene is None else scene
    given = {"reference": "other"} | arguments
    return judged(METHODS, "output_similar_to", scene, Providers(embed=embedding(**vectors)), **given)


def ruled(reply: Any, scene: Any = None, history: Any = None, **arguments: Any) -> Judgement:
    scene = trace(message=MESSAGE) if scene is None else scene
    providers = Providers(judge=lambda _: reply, history=history)
    return judged(METHODS, "passes_judge", scene, providers, **({"criteria": "is it good?"} | arguments))


def score_reply(score: float) -> str:
    return json.dumps({"score": score, "explanation": "fine"})


# Similarity

VECTORS = st.lists(st.integers(-5, 5), min_size=1, max_size=4)


@given(VECTORS, VECTORS, st.sampled_from([0.1, 0.5, 0.9, 1.0]))
def test_similarity_is_the_cosine(left: list[int], right: list[int], threshold: float) -> None:
    found = similar({"message": left, "other": right}, threshold=threshold)
    if len(left) != len(right) or not any(left) or not any(right):
        assert (found.status, found.gap, found.reason) == ("not_evaluated", 1.0, "provider")
        return
    cosine = sum(x * y for x, y in zip(left, right, strict=True)) / sqrt(
        sum(x * x for x in left) * sum(y * y for y in right)
    )
    assert found.score == pytest.approx(max(0, cosine), abs=1e-12)
    if abs(cosine - threshold) > 1e-9:
        assert found.status == ("pass" if cosine >= threshold else "hard_fail")
        assert found.gap == pytest.approx(max(0, threshold - cosine), abs=1e-12)
    assert (found.gap == 0) == (found.status == "pass")


@given(st.lists(st.floats(-1e308, 1e308), min_size=1, max_size=5))
def test_a_text_is_wholly_similar_to_itself(vector: list[float]) -> None:
    found = similar({"message": vector, "other": vector}, threshold=1.0)
    assert found.status == ("pass" if any(vector) else "not_evaluated")


@pytest.mark.parametrize(
    "vector",
    [None, [], "1", b"1", {"0": 1}, [1, nan], [inf, 1], ["x", 1], [None, 1], 7, ["1", "0"], [True, False]],
)
def test_what_is_no_vector_leaves_the_assertion_not_evaluated(vector: Any) -> None:
    for soft in (False, True):
        found = similar({"message": [1, 0], "other": vector}, soft=soft)
        assert (found.status, found.gap, found.reason) == ("not_evaluated", 1.0, "provider")


def test_a_model_is_asked_for_by_name() -> None:
    asked = []

    def embed(_text: str, model: str | None = None) -> Sequence[float]:
        asked.append(model)
        return [1.0]

    for arguments in ({}, {"model": "small"}):
        judged(METHODS, "output_similar_to", trace(), Providers(embed=embed), reference="r", **arguments)
    assert asked == [None, None, "small", "small"]


# The judge


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("I cannot say.", "malformed_reply"),
        ("", "malformed_reply"),
        (None, "malformed_reply"),
        ('{"score": "0.9"}', "malformed_reply"),
        ('{"score": true}', "malformed_reply"),
        ('{"score": null}', "malformed_reply"),
        ('{"score": 1.01}', "malformed_reply"),
        ('{"score": -0.1}', "malformed_reply"),
        ('{"score": NaN}', "malformed_reply"),
        ('{"score": 1', "malformed_reply"),
        ('{"score": 0.1} {"score": 0.9}', "malformed_reply"),
        ('{"explanation": "x"}', "malformed_reply"),
        ('{"abstain": true, "explanation": "no data"}', "abstained"),
    ],
)
def test_a_reply_without_a_verdict_is_not_evaluated(reply: Any, reason: str) -> None:
    for soft in (False, True):
        found = ruled(reply, soft=soft)
        assert (found.status, found.gap, found.reason) == ("not_evaluated", 1.0, reason)


@pytest.mark.parametrize(
    "error", [RuntimeError("401"), TimeoutError(), KeyError("x"), HistoryError("locked")]
)
def test_a_provider_that_fails_is_not_evaluated(error: Exception) -> None:
    def fails(*_: Any) -> Any:
        raise error

    class Broken:
        scores = fails
        record = fails

    for method, arguments, providers in (
        ("passes_judge", {"criteria": "c"}, Providers(judge=fails)),
        ("output_similar_to", {"reference": "r"}, Providers(embed=fails)),
        (
            "passes_judge",
            {"criteria": "c", "threshold": "dynamic"},
            Providers(judge=lambda _: score_reply(1), history=Broken()),
        ),
    ):
        found = judged(METHODS, method, trace(), providers, soft=True, **arguments)
        assert (found.status, found.reason) == ("not_evaluated", "provider")
        assert found.text().startswith("output.message: not evaluated: provider: ")
        assert found.text()[-1] != " "


def test_an_exceeded_budget_leaves_the_assertion() -> None:
    def broke(_: JudgeRequest) -> str:
        raise BudgetExceededError("no calls are left", "calls")

    with pytest.raises(BudgetExceededError):
        judged(METHODS, "passes_judge", trace(), Providers(judge=broke), criteria="c")


@pytest.mark.parametrize(
    ("method", "arguments"), [("passes_judge", {"criteria": "c"}), ("output_similar_to", {"reference": "r"})]
)
def test_without_a_provider_nothing_is_evaluated(method: str, arguments: dict[str, Any]) -> None:
    for providers, reason in (
        (None, "provider"),
        (Providers(), "provider"),
        (Providers(simulation=True), "simulation"),
    ):
        found = judged(METHODS, method, trace(), providers, soft=True, **arguments)
        assert (found.status, found.gap, found.reason) == ("not_evaluated", 1.0, reason)


def test_no_provider_is_asked_in_a_simulation() -> None:
    def never(*_: Any) -> Any:
        raise AssertionError

    providers = Providers(embed=never, judge=never, simulation=True)
    assert judged(METHODS, "passes_judge", trace(), providers, criteria="c").reason == "simulation"


@pytest.mark.parametrize("output", [None, {}, {"note": "x"}, "text"])
def test_an_absent_message_fails_hard_although_soft(output: Any) -> None:
    scene = {"steps": []} if output is None else {"output": output}
    found = ruled(score_reply(1), scene, soft=True)
    assert (found.status, found.score, found.gap) == ("hard_fail", 0.0, 1.0)


@pytest.mark.parametrize(
    ("message", "read"), [("Hi", "Hi"), (None, ""), (1.5, "1.5"), ({"ü": [True, 2]}, '{"ü":[true,2]}')]
)
def test_a_message_that_is_no_text_is_read_as_its_json_text(message: Any, read: str) -> None:
    asked: list[JudgeRequest] = []
    providers = Providers(judge=lambda request: asked.append(request) or score_reply(1))
    judged(METHODS, "passes_judge", {"output": {"message": message}}, providers, criteria="c", model="m")
    assert asked == [JudgeRequest("c", read, "default", "m")]


@given(st.sampled_from([0, 0.2, 0.5, 0.79, 0.8, 0.81, 1]), st.sampled_from([-1, 0, 0.5, 0.8, 0.9, 1]))
def test_the_threshold_itself_passes(score: float, threshold: float) -> None:
    bar = threshold if threshold > 0 else 0.8
    found = ruled(score_reply(score), threshold=threshold)
    assert (found.status, found.score) == ("pass" if score >= bar else "hard_fail", score)
    assert found.gap == pytest.approx(max(0, bar - score))


def test_a_registered_rubric_can_be_asked_for() -> None:
    register_rubric("test-brevity", "1: one sentence.")
    assert ruled(score_reply(1), rubric="test-brevity").status == "pass"


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("output_similar_to", {"reference": ""}),
        ("output_similar_to", {}),
        ("output_similar_to", {"reference": "r", "threshold": "high"}),
        ("output_similar_to", {"reference": "r", "threshold": True}),
        ("passes_judge", {"criteria": "c", "rubric": "poetry"}),
        ("passes_judge", {"criteria": "c", "rubric": ""}),
        ("passes_judge", {"criteria": 1}),
    ],
)
def test_unusable_specs_are_refused_when_built(method: str, arguments: dict[str, Any]) -> None:
    assert is_unusable(METHODS, method, **arguments)


# The dynamic threshold

PAST = st.builds(
    lambda status, score: {"status": status, "score": None if status == "not_evaluated" else score},
    st.sampled_from(["pass", "pass", "pass", "soft_fail", "hard_fail", "not_evaluated"]),
    st.sampled_from([0.5, 0.9, 0.95, 0.97, 0.99, 1.0]),
)


@given(st.lists(PAST, max_size=80))
def test_the_dynamic_bar(history: list[dict[str, Any]]) -> None:
    scores = [past["score"] for past in history if past["status"] in ("pass", "soft_fail")]
    scores = scores[max(0, len(scores) - 50) :]
    bar = 0.8
    if len(scores) >= 10:
        mean = sum(scores) / len(scores)
        deviation = sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
        bar = max(0.8, mean - 2 * max(0.02, deviation))
    assert dynamic_bar(history).value == pytest.approx(bar, abs=1e-12)
    assert 0.8 <= dynamic_bar(history).value <= 0.96
    found = ruled(score_reply(0.85), history=history, threshold="dynamic", soft=True)
    if abs(bar - 0.85) > 1e-9:
        assert found.status == ("pass" if bar <= 0.85 else "soft_fail")
        assert found.gap == pytest.approx(max(0, bar - 0.85))


def test_a_history_is_asked_under_an_id_of_the_spec() -> None:
    asked: list[str] = []

    class History:
        def scores(self, assertion_id: str) -> list[dict[str, Any]]:
            asked.append(assertion_id)
            return [{"status": "pass", "score": 1.0}] * 10

        def record(self, *_: Any) -> None:
            raise AssertionError

    for arguments in ({}, {}, {"rubric": "safety"}):
        found = ruled(score_reply(0.9), history=History(), threshold="dynamic", **arguments)
        assert found.gap == pytest.approx(0.06)
    assert asked[0] == asked[1] != asked[2]


# Why


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (
            lambda: similar({"message": [3, 4], "other": [1, 0]}, threshold=0.85),
            "output.message: expected similarity ≥ 0.85, got 0.6 (short by 0.25)",
        ),
        (
            lambda: ruled('{"score": 0.5, "explanation": "too\\n short"}'),
            "output.message: expected judge score ≥ 0.8, got 0.5 (short by 0.3): too short",
        ),
        (
            lambda: ruled(
                score_reply(0.9), threshold="dynamic", history=[{"status": "pass", "score": 0.96}] * 10
            ),
            (
                "output.message: expected judge score ≥ 0.92 (dynamic: 10 scores, mean 0.96, "
                "\N{GREEK SMALL LETTER SIGMA} 0), got 0.9: fine"
            ),
        ),
        (
            lambda: ruled('{"score": 0.79999}'),
            "output.message: expected judge score ≥ 0.8, got 0.79999 (short by 0.00001)",
        ),
        (
            lambda: ruled("nothing"),
            "output.message: not evaluated: malformed_reply: the reply holds no JSON object",
        ),
        (
            lambda: ruled('{"abstain": true, "explanation": "no data"}'),
            "output.message: not evaluated: abstained: no data",
        ),
        (
            lambda: judged(METHODS, "passes_judge", trace(), Providers(), criteria="c"),
            "output.message: not evaluated: provider: no judge is set up",
        ),
    ],
)
def test_why(found: Callable[[], Judgement], why: str) -> None:
    assert found().text() == why

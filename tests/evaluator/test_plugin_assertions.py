"""Plugins: in providers, registered in code, declared by installed packages; and answers of every kind."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import Any

import pytest
from trace_cases import is_unusable, judged, trace

from evaluator import register_plugin
from evaluator.assertions.judgement import Judgement
from evaluator.assertions.plugin import METHODS
from evaluator.providers import Providers
from evaluator.providers.errors import BudgetExceededError


def said(answer: Any, **arguments: Any) -> Judgement:
    """What a plugin with this answer makes of a trace; an exception is raised instead."""

    def run(run: Any, config: Any = None) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer(run, config) if callable(answer) else answer

    providers = Providers(plugins={"tone_meter": run})
    return judged(METHODS, "plugin", trace(), providers, plugin_id="tone_meter", **arguments)


@pytest.mark.parametrize(
    ("answer", "soft", "status", "score", "gap"),
    [
        ({"status": "pass", "score": 0.9}, False, "pass", 0.9, 0.0),
        ({"status": "pass", "score": 0}, True, "pass", 0.0, 0.0),
        ({"status": "pass"}, False, "pass", 1.0, 0.0),
        ({"status": "hard_fail", "score": 0.4}, False, "hard_fail", 0.4, 0.6),
        ({"status": "hard_fail", "score": 0.4}, True, "soft_fail", 0.4, 0.6),
        ({"status": "hard_fail", "score": 1}, False, "hard_fail", 1.0, 1.0),
        ({"status": "hard_fail"}, False, "hard_fail", 0.0, 1.0),
        ({"status": "soft_fail", "score": 0.6}, False, "soft_fail", 0.6, 0.4),
        ({"status": "soft_fail", "score": 0.6}, True, "soft_fail", 0.6, 0.4),
        ({"status": "not_evaluated", "score": 0.5}, True, "not_evaluated", 0.0, 1.0),
        (RuntimeError("boom"), False, "hard_fail", 0.0, 1.0),
        (RuntimeError("boom"), True, "soft_fail", 0.0, 1.0),
        (None, False, "hard_fail", 0.0, 1.0),
        ("pass", True, "soft_fail", 0.0, 1.0),
        ({"score": 1}, False, "hard_fail", 0.0, 1.0),
        ({"status": "passed", "score": 1}, False, "hard_fail", 0.0, 1.0),
        ({"status": [], "score": 1}, False, "hard_fail", 0.0, 1.0),
        ({"status": "pass", "score": 1.5}, False, "hard_fail", 0.0, 1.0),
        ({"status": "pass", "score": True}, False, "hard_fail", 0.0, 1.0),
        ({"status": "pass", "score": nan}, False, "hard_fail", 0.0, 1.0),
        ({"status": "pass", "score": "1"}, False, "hard_fail", 0.0, 1.0),
    ],
)
def test_answers(answer: Any, soft: bool, status: str, score: float, gap: float) -> None:
    found = said(answer, soft=soft)
    assert (found.status, found.score, found.gap) == (status, score, pytest.approx(gap))
    assert found.text().startswith("tone_meter: ")


def test_a_plugin_is_called_with_the_trace_and_the_configuration() -> None:
    def check(run: Any, config: Any) -> dict[str, Any]:
        return {"status": "pass" if (run["trace_id"], config) == ("t-1", {"min": 1}) else "hard_fail"}

    assert said(check, config={"min": 1}).status == "pass"
    assert said(check).status == "hard_fail"


@pytest.mark.parametrize("soft", [False, True])
def test_a_plugin_that_is_not_there_is_a_mistake_in_the_test(soft: bool) -> None:
    for providers in (None, Providers(), Providers(plugins={})):
        found = judged(METHODS, "plugin", trace(), providers, plugin_id="test-unknown", soft=soft)
        assert (found.status, found.score, found.gap) == ("hard_fail", 0.0, 1.0)


def test_registered_plugins_are_found_by_id_and_those_of_the_run_come_first() -> None:
    register_plugin("test-registered", lambda *_: {"status": "pass"})
    assert judged(METHODS, "plugin", trace(), plugin_id="test-registered").status == "pass"
    providers = Providers(plugins={"test-registered": lambda *_: {"status": "hard_fail"}})
    assert judged(METHODS, "plugin", trace(), providers, plugin_id="test-registered").status == "hard_fail"


@pytest.mark.parametrize(("plugin_id", "plugin"), [("", len), (7, len), ("x", "text")])
def test_what_cannot_be_registered(plugin_id: Any, plugin: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        register_plugin(plugin_id, plugin)


def test_entry_points_of_installed_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tones.py").write_text(
        "def measure(trace, config):\n    return {'status': 'pass', 'score': 0.7}\n"
    )
    info = tmp_path / "tones-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tones\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[evaluator.plugins]\ntest_tone = tones:measure\ntest_gone = tones_gone:measure\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert judged(METHODS, "plugin", trace(), plugin_id="test_tone").score == 0.7
    gone = judged(METHODS, "plugin", trace(), plugin_id="test_gone", soft=True)
    assert gone.status == "hard_fail"
    assert gone.text() == "test_gone: the plugin cannot be loaded: No module named 'tones_gone'"


def test_an_exceeded_budget_leaves_the_plugin() -> None:
    with pytest.raises(BudgetExceededError):
        said(BudgetExceededError("no calls are left", "calls"))


def test_an_id_is_needed() -> None:
    assert is_unusable(METHODS, "plugin")
    assert is_unusable(METHODS, "plugin", plugin_id="")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"status": "hard_fail", "explanation": "too\n harsh"}, "tone_meter: too harsh"),
        ({"status": "not_evaluated", "explanation": "no data"}, "tone_meter: not evaluated: plugin: no data"),
        (KeyError("tone"), "tone_meter: the plugin failed: 'tone'"),
        (None, "tone_meter: expected an answer with a status, got null"),
        ({"status": "pass", "score": 2}, "tone_meter: expected a score in 0…1, got 2"),
    ],
)
def test_why(answer: Any, why: str) -> None:
    assert said(answer).text() == why

"""Providers as environment variables describe them, and what is said when they cannot be built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from model_server import answer, chat, model_server

from evaluator import (
    AnthropicJudge,
    BudgetExceededError,
    JudgeRequest,
    LocalEmbeddings,
    OpenAIEmbeddings,
    OpenAIJudge,
    ProviderError,
    Providers,
    ScoreHistory,
    default_providers,
)
from evaluator.providers import environment as module

ROOT = Path(__file__).parents[2]
REQUEST = JudgeRequest("c", "o")


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def test_nothing_set() -> None:
    assert default_providers({}) == Providers()
    assert default_providers({"EVALUATOR_JUDGE": "", "EVALUATOR_HISTORY": " "}) == Providers()


@pytest.mark.parametrize("name", ["EVALUATOR_SIMULATION", "ATTEST_SIMULATION"])
def test_simulation_builds_nothing(name: str) -> None:
    for yes in ("1", "true", "YES"):
        given = {name: yes, "EVALUATOR_JUDGE": "openai", "EVALUATOR_EMBEDDINGS": "nonsense"}
        assert default_providers(given) == Providers(simulation=True)
    assert not default_providers({name: "0"}).simulation


def test_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-mine")
    both = {"choices": [{"message": {"content": "{}"}}], "data": [{"embedding": [1.0]}]}
    with model_server(answer({**both, "usage": {"prompt_tokens": 10, "completion_tokens": 0}})) as model:
        found = default_providers(
            {
                "EVALUATOR_JUDGE": "OpenAI",
                "EVALUATOR_JUDGE_MODEL": "m-1",
                "EVALUATOR_JUDGE_URL": model.url,
                "EVALUATOR_JUDGE_KEY_VARIABLE": "MY_KEY",
                "EVALUATOR_JUDGE_PRICE": "1, 2",
                "EVALUATOR_EMBEDDINGS": "openai",
                "EVALUATOR_EMBEDDINGS_MODEL": "e-1",
                "EVALUATOR_EMBEDDINGS_URL": model.url,
                "EVALUATOR_EMBEDDINGS_PRICE": "0.02",
                "EVALUATOR_TIMEOUT": "5",
                "EVALUATOR_HISTORY": str(tmp_path / "scores.db"),
                "EVALUATOR_BUDGET_USD": "0.5",
                "EVALUATOR_BUDGET_CALLS": "2",
            }
        )
        assert isinstance(found.judge, OpenAIJudge)
        assert isinstance(found.embed, OpenAIEmbeddings)
        assert isinstance(found.history, ScoreHistory)
        found.judge(REQUEST)
        found.embed("x")
        with pytest.raises(BudgetExceededError, match="budget of 2 calls"):  # shared by both
            found.judge(REQUEST)
        assert [received.headers.get("authorization") for received in model.received] == [
            "Bearer sk-mine",
            None,
        ]


def test_other_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant")
    given = {"EVALUATOR_JUDGE": "anthropic", "EVALUATOR_JUDGE_MODEL": "m", "EVALUATOR_EMBEDDINGS": "local"}
    found = default_providers(given)
    assert isinstance(found.judge, AnthropicJudge)
    assert isinstance(found.embed, LocalEmbeddings)


def test_the_budget_of_a_test() -> None:
    with model_server(chat("{}")) as model:
        found = default_providers(
            {
                "EVALUATOR_JUDGE": "openai",
                "EVALUATOR_JUDGE_MODEL": "m",
                "EVALUATOR_JUDGE_URL": model.url,
                "EVALUATOR_TEST_BUDGET_CALLS": "1",
            }
        )
        assert found.judge is not None
        found.judge(REQUEST)
        with pytest.raises(ProviderError, match="the test's budget of 1 call is spent"):
            found.judge(REQUEST)


def test_workers_of_one_run_share_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: str(tmp_path))
    with model_server(chat("{}")) as model:
        given = {
            "EVALUATOR_JUDGE": "openai",
            "EVALUATOR_JUDGE_MODEL": "m",
            "EVALUATOR_JUDGE_URL": model.url,
            "EVALUATOR_BUDGET_CALLS": "1",
            "PYTEST_XDIST_TESTRUNUID": "one/../run",
        }
        first, second = default_providers(given), default_providers(given)
        other = default_providers({**given, "PYTEST_XDIST_TESTRUNUID": "another"})
        assert first.judge is not None
        assert second.judge is not None
        assert other.judge is not None
        first.judge(REQUEST)
        other.judge(REQUEST)
        with pytest.raises(BudgetExceededError):
            second.judge(REQUEST)
    assert len(list(tmp_path.iterdir())) == 2


OPENAI = {
    "EVALUATOR_JUDGE": "openai",
    "EVALUATOR_JUDGE_MODEL": "m",
    "EVALUATOR_JUDGE_URL": "http://localhost",
}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"EVALUATOR_JUDGE": "gpt"}, "^EVALUATOR_JUDGE: expected openai or anthropic, got 'gpt'$"),
        ({"EVALUATOR_JUDGE": "openai"}, "^EVALUATOR_JUDGE_MODEL: not set; it names the model"),
        ({"EVALUATOR_EMBEDDINGS": "x"}, "^EVALUATOR_EMBEDDINGS: expected local or openai"),
        ({**OPENAI, "EVALUATOR_JUDGE_URL": "h"}, "^EVALUATOR_JUDGE…: base_url is an http"),
        (
            {**OPENAI, "EVALUATOR_JUDGE_KEY_VARIABLE": "NO_SUCH"},
            "^EVALUATOR_JUDGE…: the environment variable NO_SUCH",
        ),
        (
            {**OPENAI, "EVALUATOR_JUDGE_PRICE": "1"},
            "^EVALUATOR_JUDGE_PRICE: expected two numbers such as 0.5,1.5",
        ),
        ({**OPENAI, "EVALUATOR_JUDGE_PRICE": "1,-2"}, "^EVALUATOR_JUDGE_PRICE: expected two numbers"),
        ({**OPENAI, "EVALUATOR_BUDGET_USD": "1"}, "^EVALUATOR_JUDGE…: a budget in USD needs price="),
        ({**OPENAI, "EVALUATOR_TIMEOUT": "soon"}, "^EVALUATOR_TIMEOUT: expected a number, got 'soon'"),
        ({"EVALUATOR_BUDGET_CALLS": "1.5"}, "^EVALUATOR_BUDGET_CALLS: expected a whole number"),
        ({"EVALUATOR_TEST_BUDGET_USD": "nan"}, "^EVALUATOR_TEST_BUDGET…: a budget in USD is a number"),
        ({"EVALUATOR_JUDGE": "anthropic", "EVALUATOR_JUDGE_MODEL": "m"}, "set ANTHROPIC_API_KEY"),
    ],
)
def test_what_cannot_be_built(given: dict[str, str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        default_providers(given)


def test_without_the_extras() -> None:
    """All names can be imported without the packages of the extras."""
    script = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("httpx", "wordllama", "tokenizers", "safetensors", "numpy"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import evaluator
for name in evaluator.__all__:
    if name not in ("EvaluationTable", "SceneTable", "evaluate_many"):
        getattr(evaluator, name)
evaluator.Providers(judge=lambda request: "{}")
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from evaluator.providers import endpoint, local

    def nothing(_: str) -> Any:
        return None

    monkeypatch.setattr(endpoint, "find_spec", nothing)
    with pytest.raises(ModuleNotFoundError, match=r"the judge needs the package httpx: .*\[providers\]"):
        OpenAIJudge("m", key="k")
    monkeypatch.setattr(local, "find_spec", nothing)
    local._model.cache_clear()
    with pytest.raises(ModuleNotFoundError, match=r"local embeddings need .*\[embeddings\]"):
        LocalEmbeddings()

"""A key is sent to the endpoint and is to be seen nowhere else."""

from __future__ import annotations

import copy
import logging
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import pytest
from _pytest._io.saferepr import saferepr
from model_server import Step, answer, chat, closed_port, drop, hang, model_server, raw

from evaluator import (
    AnthropicJudge,
    JudgeRequest,
    OpenAIEmbeddings,
    OpenAIJudge,
    ProviderError,
    Providers,
    Retries,
    evaluate_assertion,
)
from evaluator.providers.key import Key

SECRET = "sk-very-secret-1234"
REQUEST = JudgeRequest("c", "o")
ONCE = Retries(attempts=2, sleep=lambda _: None)
Build = Callable[[str], Callable[[], object]]


def openai(url: str) -> Callable[[], object]:
    judge = OpenAIJudge("m", base_url=url, key=SECRET, retries=ONCE, timeout=0.5)
    return lambda: judge(REQUEST)


def anthropic(url: str) -> Callable[[], object]:
    judge = AnthropicJudge("m", base_url=url, key=SECRET, retries=ONCE, timeout=0.5)
    return lambda: judge(REQUEST)


def embeddings(url: str) -> Callable[[], object]:
    embed = OpenAIEmbeddings("m", base_url=url, key=SECRET, retries=ONCE, timeout=0.5)
    return lambda: embed("text")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def with_locals(error: BaseException) -> str:
    """All that a debugger or `--showlocals` would show of an error and those behind it."""
    shown, waiting = [], [error]
    while waiting:
        one = waiting.pop()
        shown.append("".join(traceback.format_exception(one)) + repr(one) + str(one))
        frame: TracebackType | None = one.__traceback__
        while frame is not None:
            if "test_provider_keys" not in frame.tb_frame.f_code.co_filename:
                shown.extend(
                    f"{name}={saferepr(value, maxsize=10**6)}"
                    for name, value in frame.tb_frame.f_locals.items()
                )
                shown.extend(
                    repr(vars(value))
                    for value in frame.tb_frame.f_locals.values()
                    if hasattr(value, "__dict__")
                )
            frame = frame.tb_next
        waiting.extend(e for e in (one.__cause__, one.__context__) if e is not None)
    return "\n".join(shown)


ECHO = f"your key {SECRET} is wrong"
FAILURES = [
    drop,
    hang,
    raw(ECHO.encode(), 400),
    raw(ECHO.encode()),
    answer({"error": {"message": ECHO}}, 401),
    answer({"error": ECHO}, 500),
    answer({"choices": [{"message": {"refusal": ECHO}}], "stop_reason": "refusal"}),
    raw(ECHO.encode(), 302, Location="http://127.0.0.1/"),
    raw(b'{"error": "your key \\u0073k-very-secret-1234"}', 403),
]


@pytest.mark.parametrize("build", [openai, anthropic, embeddings])
@pytest.mark.parametrize("step", FAILURES)
def test_no_error_shows_it(build: Build, step: Step, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with model_server(step) as model:
        ask = build(model.url)
        with pytest.raises(ProviderError) as raised:
            ask()
        sent = model.received[0].headers
    assert SECRET in sent.get("authorization", "") + sent.get("x-api-key", "")
    assert SECRET not in with_locals(raised.value)
    assert SECRET not in caplog.text


def test_it_is_not_shown_when_nobody_listens() -> None:
    with pytest.raises(ProviderError) as raised:
        openai(f"http://127.0.0.1:{closed_port()}")()
    assert SECRET not in with_locals(raised.value)
    assert raised.value.__context__ is None


def test_success_does_not_log_or_return_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    reply = f'{{"score": 0.1, "explanation": "I was asked with {SECRET}."}}'
    trace = {"steps": [], "output": {"message": "x"}}
    with model_server(chat(reply)) as model:
        judge = OpenAIJudge("m", base_url=model.url, key=SECRET)
        ask = {"method": "passes_judge", "args": {"criteria": "c"}}
        found = evaluate_assertion(trace, ask, Providers(judge=judge))
        assert model.received[0].headers["authorization"] == f"Bearer {SECRET}"
    assert found.status == "hard_fail"
    assert "***" in found.why
    assert SECRET not in found.why
    assert SECRET not in caplog.text


def test_nothing_prints_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    key = Key(SECRET)
    judge, other = OpenAIJudge("m", key=key), AnthropicJudge("m")
    for shown in (
        key,
        judge,
        other,
        Providers(judge=judge),
        vars(judge),
        vars(judge._endpoint),
        vars(other._endpoint),
    ):
        assert SECRET not in repr(shown)
        assert SECRET not in str(shown)
        assert SECRET not in f"{shown}"
    assert copy.deepcopy(judge)._endpoint.key is key
    with pytest.raises(TypeError, match="a key is not pickled"):
        pickle.dumps(judge)


def test_what_cannot_be_built_does_not_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="base_url is") as raised:
        OpenAIJudge("m", key=SECRET, base_url="nowhere")
    assert SECRET not in with_locals(raised.value)
    monkeypatch.setenv("OPENAI_API_KEY", f"{SECRET}\x1b")
    with pytest.raises(
        ValueError, match="OPENAI_API_KEY: the key is empty or holds what no header"
    ) as raised:
        OpenAIJudge("m")
    assert SECRET not in with_locals(raised.value)


def test_a_traceback_with_locals_does_not_print_it(tmp_path: Path) -> None:
    """What pytest writes of a failing test, its locals included."""
    (tmp_path / "test_it.py").write_text(
        "from evaluator import JudgeRequest, OpenAIJudge, Retries\n"
        "def test_judge():\n"
        "    judge = OpenAIJudge('m', base_url='http://127.0.0.1:1', retries=Retries(attempts=1))\n"
        "    judge(JudgeRequest('c', 'o'))\n"
    )
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-l",
            "--full-trace",
            "-p",
            "no:cacheprovider",
            "--log-level=DEBUG",
            "test_it.py",
        ],
        cwd=tmp_path,
        env=environment_with(OPENAI_API_KEY=SECRET, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "ProviderError: judge m at http://127.0.0.1:1 could not be reached" in ran.stdout
    assert SECRET not in ran.stdout + ran.stderr


def environment_with(**variables: str) -> dict[str, str]:
    import os

    root = str(Path(__file__).parents[2])
    return {**os.environ, "PYTHONPATH": root, "NO_PROXY": "127.0.0.1", **variables}

"""Budgets: no session and no test spends more than it may, whatever the server says."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from model_server import Step, answer, chat, drop, hang, model_server, raw

from evaluator import (
    AnthropicJudge,
    Budget,
    BudgetExceededError,
    JudgeRequest,
    OpenAIEmbeddings,
    OpenAIJudge,
    Price,
    ProviderError,
    Providers,
    Retries,
    Spending,
    evaluate_assertion,
)
from evaluator.providers.budget import start_test

REQUEST = JudgeRequest("c", "o")
ROOT = Path(__file__).parents[2]
QUICK = Retries(sleep=lambda _: None)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def judge_of(url: str, spending: Spending, **arguments: Any) -> OpenAIJudge:
    return OpenAIJudge("m", base_url=url, retries=QUICK, spending=spending, **arguments)


def test_calls_of_a_session() -> None:
    spending = Spending(session=Budget(calls=2))
    with model_server(chat('{"score": 1}')) as model:
        judge = judge_of(model.url, spending)
        embed = OpenAIEmbeddings("e", base_url=model.url, spending=spending)
        judge(REQUEST)
        judge(REQUEST)
        for ask in (lambda: judge(REQUEST), lambda: embed("x"), lambda: judge(REQUEST)):
            with pytest.raises(
                BudgetExceededError, match=r"^the session's budget of 2 calls is spent"
            ) as raised:
                ask()
            assert raised.value.budget == "calls"
        assert len(model.received) == 2
    assert spending.spent == (2, 0.0)


def test_it_leaves_the_assertion() -> None:
    with model_server(chat('{"score": 1}')) as model:
        judge = judge_of(model.url, Spending(session=Budget(calls=0)))
        trace = {"steps": [], "output": {"message": "x"}}
        ask = {"method": "passes_judge", "args": {"criteria": "c", "soft": True}}
        with pytest.raises(BudgetExceededError):
            evaluate_assertion(trace, ask, Providers(judge=judge))
        assert model.received == []


def test_calls_of_a_test() -> None:
    spending = Spending(session=Budget(calls=3), test=Budget(calls=1))
    trace = {"steps": [], "output": {"message": "x"}}
    ask = {"method": "passes_judge", "args": {"criteria": "c"}}
    with model_server(chat('{"score": 1}')) as model:
        providers = Providers(judge=judge_of(model.url, spending))
        for _ in range(3):
            start_test()
            assert evaluate_assertion(trace, ask, providers).status == "pass"
            if spending.spent.calls < 3:
                refused = evaluate_assertion(trace, ask, providers)
                assert (refused.status, refused.reason) == ("not_evaluated", "provider")
                assert "the test's budget of 1 call is spent" in refused.why
        with pytest.raises(BudgetExceededError):  # both are spent: the session's counts
            evaluate_assertion(trace, ask, providers)
        assert len(model.received) == 3
    assert spending.spent_in_test.calls == 1


def test_every_attempt_is_a_call() -> None:
    spending = Spending(session=Budget(calls=2))
    with model_server(drop) as model:
        with pytest.raises(BudgetExceededError):
            judge_of(model.url, spending)(REQUEST)
        assert len(model.received) == 2


def test_what_the_answer_says_is_what_it_cost() -> None:
    spending = Spending(session=Budget(usd=1.0))
    with model_server(chat('{"score": 1}', tokens_in=1000, tokens_out=10)) as model:
        judge_of(model.url, spending, price=Price(input=2.0, output=8.0))(REQUEST)
    assert spending.spent == (1, pytest.approx(0.002 + 0.00008))
    message = {"content": [{"text": "{}"}], "usage": {"input_tokens": 7, "output_tokens": 0}}
    with model_server(answer(message)) as model:
        price = {"a": Price(input=1.0), "b": Price(input=1e6)}
        judge = AnthropicJudge("a", base_url=model.url, spending=spending, price=price)
        judge(REQUEST)
        assert spending.spent.usd == pytest.approx(0.00208 + 0.000007)
        with pytest.raises(BudgetExceededError, match="budget of 1 USD") as raised:
            judge(JudgeRequest("c", "o", model="b"))
        with pytest.raises(
            ProviderError, match='may not be asked for "c": price holds no price of that model'
        ):
            judge(JudgeRequest("c", "o", model="c"))
        assert len(model.received) == 1
    assert raised.value.budget == "usd"
    vector = {"data": [{"embedding": [1]}], "usage": {"prompt_tokens": 500_000}}
    with model_server(answer(vector)) as model:
        OpenAIEmbeddings("e", base_url=model.url, spending=spending, price=Price(0.02))("text")
    assert spending.spent.usd == pytest.approx(0.002087 + 0.01)


@pytest.mark.parametrize("tokens", [None, -5, True, "100", 1.5, 10**30])
def test_an_answer_that_lies_about_its_cost_costs_the_most_it_can(tokens: object) -> None:
    spending = Spending(session=Budget(usd=1.0))
    with model_server(chat('{"score": 1}', tokens_in=tokens)) as model:
        judge_of(model.url, spending, price=Price(1.0, 1.0))(REQUEST)
        size = int(model.received[0].headers["content-length"])
    assert spending.spent.usd == pytest.approx((size + 64 + 1024) / 1e6)


@pytest.mark.parametrize(
    ("step", "billed"),
    [(answer({}, 400), False), (answer({}, 503), False), (drop, True), (hang, True), (raw(b"no"), True)],
)
def test_a_failure_costs_something_if_it_may_have_been_worked_on(step: Step, billed: bool) -> None:
    spending = Spending(session=Budget(usd=1.0))
    with model_server(step) as model:
        judge = judge_of(model.url, spending, price=Price(1.0, 1.0), timeout=0.3 if step is hang else 30)
        with pytest.raises(ProviderError):
            judge(REQUEST)
        calls = len(model.received)
    assert spending.spent.calls == calls
    assert (spending.spent.usd > 0) is billed


def test_a_call_that_could_pass_the_limit_is_not_made() -> None:
    with model_server(chat('{"score": 1}', tokens_in=1, tokens_out=1)) as model:
        size_limit = Spending(session=Budget(usd=0.001))
        with pytest.raises(BudgetExceededError):
            judge_of(model.url, size_limit, price=Price(0.0, 1.0))(REQUEST)  # 1024 tokens could cost 0.001024
        judge_of(model.url, size_limit, price=Price(0.0, 1.0), options={"max_tokens": 900})(REQUEST)
        with pytest.raises(ProviderError, match="without limit: set max_tokens"):
            judge_of(model.url, size_limit, price=Price(0.0, 1.0), options={"max_tokens": None})(REQUEST)
        assert len(model.received) == 1
    assert size_limit.spent == (1, pytest.approx(1e-6))


def test_threads_do_not_overspend() -> None:
    spending = Spending(session=Budget(calls=10), test=Budget())
    with model_server(chat('{"score": 1}')) as model:
        judge = judge_of(model.url, spending)

        def ask(_: int) -> bool:
            try:
                judge(REQUEST)
            except BudgetExceededError:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(ask, range(30))) == 10
        assert len(model.received) == 10


def test_processes_share_a_ledger(tmp_path: Path) -> None:
    script = """
import sys
from evaluator import Budget, BudgetExceededError, Spending
spending, made = Spending(session=Budget(calls=50, usd=1.0), ledger=sys.argv[1]), 0
try:
    while True:
        spending.reserve(10**7)
        spending.settle(10**7, 10**6)
        made += 1
except BudgetExceededError as error:
    print(made, error.budget)
"""
    ledger = tmp_path / "spent.db"
    command = [sys.executable, "-c", script, str(ledger)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(4)]
    printed = [process.communicate(timeout=60)[0].split() for process in started]
    assert sum(int(made) for made, _ in printed) == 50
    assert {budget for _, budget in printed} == {"calls"}
    assert Spending(ledger=ledger).spent == (50, pytest.approx(0.05))


def test_an_unusable_ledger_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database, but long enough to look like one? " * 5)
    for path in (tmp_path / "text", tmp_path, tmp_path / "none" / "x"):
        with pytest.raises(ProviderError, match="the ledger of the budget cannot be used: ") as raised:
            Spending(session=Budget(calls=1), ledger=path).reserve(0)
        assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    "values",
    [
        {"usd": -1},
        {"usd": float("nan")},
        {"usd": float("inf")},
        {"usd": "1"},
        {"usd": True},
        {"calls": 1.5},
        {"calls": -1},
        {"calls": True},
    ],
)
def test_unusable_budgets(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a budget in"):
        Budget(**values)


def test_unusable_prices() -> None:
    for parts in ((-1,), (1, float("nan")), ("1",), (True,)):
        with pytest.raises(ValueError, match="a price is a number of USD per million tokens"):
            Price(*parts)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a budget in USD needs price="):
        OpenAIJudge("m", key="k", spending=Spending(test=Budget(usd=1)))

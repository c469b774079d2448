"""Providers as the environment describes them, so that a test suite runs unchanged with or without them.

| variable | means |
| --- | --- |
| `EVALUATOR_SIMULATION` | `1`, `true` or `yes`: semantic assertions are not evaluated, nobody is asked |
| `EVALUATOR_JUDGE` | `openai` (any compatible endpoint) or `anthropic`; without it there is no judge |
| `EVALUATOR_JUDGE_MODEL` | the model; needed with `EVALUATOR_JUDGE` |
| `EVALUATOR_JUDGE_URL` | the address, when it is not the vendor's own |
| `EVALUATOR_JUDGE_KEY_VARIABLE` | the variable with the key, else `OPENAI_API_KEY` or `ANTHROPIC_API_KEY` |
| `EVALUATOR_JUDGE_PRICE` | USD per million tokens in and out: `0.5,1.5` |
| `EVALUATOR_EMBEDDINGS` | `local` or `openai`; without it there are no embeddings |
| `EVALUATOR_EMBEDDINGS_MODEL`, `_URL`, `_KEY_VARIABLE`, `_PRICE` | as for the judge; the price is one |
| `EVALUATOR_TIMEOUT` | seconds for one request |
| `EVALUATOR_HISTORY` | the file of the score history |
| `EVALUATOR_BUDGET_USD`, `EVALUATOR_BUDGET_CALLS` | the session's budget, judge and embeddings together |
| `EVALUATOR_TEST_BUDGET_USD`, `EVALUATOR_TEST_BUDGET_CALLS` | the budget of each test |
| `EVALUATOR_BUDGET_LEDGER` | a file in which processes add up what the session spends |

Under pytest-xdist the workers share the session's budget without a ledger being named. An unset variable and
an empty one are the same. `ATTEST_SIMULATION` is heeded like `EVALUATOR_SIMULATION`.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from evaluator.providers import Embed, Judge, Providers
from evaluator.providers.anthropic import AnthropicJudge
from evaluator.providers.budget import Budget, Price, Spending
from evaluator.providers.history import ScoreHistory
from evaluator.providers.local import LocalEmbeddings
from evaluator.providers.openai import OpenAIEmbeddings, OpenAIJudge

_YES = ("1", "true", "yes")
_SIMULATION = ("EVALUATOR_SIMULATION", "ATTEST_SIMULATION")
_RUN_OF_WORKERS = "PYTEST_XDIST_TESTRUNUID"
_Number = TypeVar("_Number", int, float)
_Built = TypeVar("_Built")


def default_providers(environment: Mapping[str, str] | None = None) -> Providers:
    """The providers that the environment describes; without any variable, `Providers()`.

    In simulation none is built. `environment` stands for `os.environ` in everything but the keys, which the
    providers look up themselves.

    Raises `ValueError`, one sentence that names the variable, for a value that cannot be used, and
    `ModuleNotFoundError` when an extra is missing.
    """
    given = os.environ if environment is None else environment
    variables = {name: text.strip() for name, text in given.items() if text.strip()}
    if any(variables.get(name, "").lower() in _YES for name in _SIMULATION):
        return Providers(simulation=True)
    spending = _spending(variables)
    history = variables.get("EVALUATOR_HISTORY")
    return Providers(
        embed=_embed(variables, spending),
        judge=_judge(variables, spending),
        history=ScoreHistory(history) if history is not None else None,
    )


def _judge(variables: Mapping[str, str], spending: Spending) -> Judge | None:
    kind = _choice(variables, "EVALUATOR_JUDGE", ("openai", "anthropic"))
    if kind is None:
        return None
    arguments = _endpoint_arguments(variables, "EVALUATOR_JUDGE", spending, prices=2)
    if kind == "anthropic":
        return _built("EVALUATOR_JUDGE", lambda: AnthropicJudge(**arguments))
    return _built("EVALUATOR_JUDGE", lambda: OpenAIJudge(**arguments))


def _embed(variables: Mapping[str, str], spending: Spending) -> Embed | None:
    kind = _choice(variables, "EVALUATOR_EMBEDDINGS", ("local", "openai"))
    if kind is None:
        return None
    if kind == "local":
        return LocalEmbeddings()
    arguments = _endpoint_arguments(variables, "EVALUATOR_EMBEDDINGS", spending, prices=1)
    return _built("EVALUATOR_EMBEDDINGS", lambda: OpenAIEmbeddings(**arguments))


def _endpoint_arguments(
    variables: Mapping[str, str], prefix: str, spending: Spending, prices: int
) -> dict[str, Any]:
    model = variables.get(f"{prefix}_MODEL")
    if model is None:
        raise ValueError(f"{prefix}_MODEL: not set; it names the model that {prefix} asks")
    arguments: dict[str, Any] = {"model": model, "spending": spending}
    if (address := variables.get(f"{prefix}_URL")) is not None:
        arguments["base_url"] = address
    if (key_variable := variables.get(f"{prefix}_KEY_VARIABLE")) is not None:
        arguments["key_variable"] = key_variable
    if (timeout := _number(variables, "EVALUATOR_TIMEOUT", float)) is not None:
        arguments["timeout"] = timeout
    if (price := variables.get(f"{prefix}_PRICE")) is not None:
        try:
            parts = [float(part) for part in price.split(",")]
            if len(parts) != prices:
                raise ValueError
            arguments["price"] = Price(*parts)
        except ValueError:
            form = "two numbers such as 0.5,1.5" if prices == 2 else "one number such as 0.02"
            raise ValueError(f"{prefix}_PRICE: expected {form}, USD per million tokens") from None
    return arguments


def _spending(variables: Mapping[str, str]) -> Spending:
    session = _budget(variables, "EVALUATOR_BUDGET")
    test = _budget(variables, "EVALUATOR_TEST_BUDGET")
    ledger = variables.get("EVALUATOR_BUDGET_LEDGER")
    run = variables.get(_RUN_OF_WORKERS)
    if ledger is None and run is not None and session != Budget():
        name = f"evaluator-budget-{sha256(run.encode()).hexdigest()[:32]}.db"
        ledger = str(Path(tempfile.gettempdir()) / name)
    return Spending(session=session, test=test, ledger=ledger)


def _budget(variables: Mapping[str, str], prefix: str) -> Budget:
    usd, calls = _number(variables, f"{prefix}_USD", float), _number(variables, f"{prefix}_CALLS", int)
    return _built(prefix, lambda: Budget(usd=usd, calls=calls))


def _number(variables: Mapping[str, str], name: str, kind: type[_Number]) -> _Number | None:
    text = variables.get(name)
    if text is None:
        return None
    try:
        return kind(text)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise ValueError(f"{name}: expected {what}, got {text!r:.40}") from None


def _choice(variables: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> str | None:
    text = variables.get(name)
    if text is not None and text.lower() not in allowed:
        raise ValueError(f"{name}: expected {' or '.join(allowed)}, got {text!r:.40}")
    return None if text is None else text.lower()


def _built(variable: str, build: Callable[[], _Built]) -> _Built:
    """What `build` gives; a value that it refuses is said with the variables that it came from."""
    try:
        return build()
    except ValueError as error:
        raise ValueError(f"{variable}…: {error}") from None

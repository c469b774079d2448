"""Any endpoint that speaks OpenAI's API: chat completions as a judge, embeddings as vectors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from evaluator.providers.budget import Prices, Spending
from evaluator.providers.endpoint import Endpoint, text_at
from evaluator.providers.key import Key, find_key
from evaluator.providers.prompt import JudgeRequest
from evaluator.providers.retries import Retries

_HOME = "https://api.openai.com/v1"
_VARIABLE = "OPENAI_API_KEY"
_REMEMBERED = 256


class OpenAIJudge:
    """A judge behind an OpenAI-compatible `/chat/completions`.

    Parameters:
        model: the model's name at the endpoint; an assertion that names a model overrides it.
        base_url: up to and without `/chat/completions`.
        key: the key. None takes it from the environment variable `key_variable`, OPENAI_API_KEY unless named;
            an endpoint other than OpenAI's own may do without.
        options: members of the request's body, over the defaults `{"temperature": 0, "max_tokens": 1024}`;
            None removes one: `{"max_tokens": None, "max_completion_tokens": 4096}`.
        timeout: seconds for one request, from connecting to the last byte.
        retries: see `Retries`.
        spending: the budget that it shares with other providers.
        price: what the model costs, or models by name; needed when the budget is in USD.

    Raises `ValueError` for an argument that cannot work and `ModuleNotFoundError` without httpx. Calling it
    raises `ProviderError` and, when the session's budget is spent, `BudgetExceededError`.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = _HOME,
        key: str | Key | None = None,
        key_variable: str | None = None,
        options: Mapping[str, Any] | None = None,
        timeout: float = 60.0,
        retries: Retries | None = None,
        spending: Spending | None = None,
        price: Prices | None = None,
    ) -> None:
        key = find_key(key, key_variable, _VARIABLE, needed=base_url == _HOME)
        self._endpoint = Endpoint(
            "judge",
            model,
            base_url,
            key=key,
            defaults={"temperature": 0, "max_tokens": 1024},
            options=options,
            timeout=timeout,
            retries=retries,
            spending=spending,
            price=price,
            usage=("prompt_tokens", "completion_tokens"),
        )

    def __repr__(self) -> str:
        return f"OpenAIJudge({self._endpoint.model!r}, base_url={self._endpoint.base_url!r})"

    def __call__(self, request: JudgeRequest, /) -> str:
        """The text of the model's reply to the request."""
        messages = [
            {"role": "system", "content": request.system},
            {"role": "user", "content": request.user},
        ]
        answer = self._endpoint.post("/chat/completions", request.model, {"messages": messages})
        refusal = text_at(answer, "choices", 0, "message", "refusal")
        if refusal is not None or text_at(answer, "choices", 0, "finish_reason") == "content_filter":
            raise self._endpoint.error(f"refused{': ' + refusal if refusal else ''}")
        reply = text_at(answer, "choices", 0, "message", "content")
        if reply is None:
            raise self._endpoint.error("answered without text at choices[0].message.content")
        return self._endpoint.key.scrub(reply)


class OpenAIEmbeddings:
    """Vectors from an OpenAI-compatible `/embeddings`; the latest texts are remembered and asked for once.

    Parameters: as of `OpenAIJudge`; `options` are members of the body, such as `{"dimensions": 256}`.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = _HOME,
        key: str | Key | None = None,
        key_variable: str | None = None,
        options: Mapping[str, Any] | None = None,
        timeout: float = 60.0,
        retries: Retries | None = None,
        spending: Spending | None = None,
        price: Prices | None = None,
    ) -> None:
        key = find_key(key, key_variable, _VARIABLE, needed=base_url == _HOME)
        self._endpoint = Endpoint(
            "embeddings",
            model,
            base_url,
            key=key,
            options=options,
            timeout=timeout,
            retries=retries,
            spending=spending,
            price=price,
            usage=("prompt_tokens", None),
        )
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._ask)

    def __repr__(self) -> str:
        return f"OpenAIEmbeddings({self._endpoint.model!r}, base_url={self._endpoint.base_url!r})"

    def __call__(self, text: str, /, *, model: str | None = None) -> tuple[float, ...]:
        """The vector of a text, from `model` where one is named."""
        return self._remembered(model or self._endpoint.model, text)

    def _ask(self, model: str, text: str) -> tuple[float, ...]:
        body = {"input": text, "encoding_format": "float"}
        answer = self._endpoint.post("/embeddings", model, body)
        data = answer.get("data") if isinstance(answer, dict) else None
        first = data[0] if isinstance(data, list) and data else None
        found = first.get("embedding") if isinstance(first, dict) else None
        if not isinstance(found, list) or not found or not all(_is_number(part) for part in found):
            raise self._endpoint.error("answered without a vector of numbers at data[0].embedding")
        return tuple(float(part) for part in found)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 1e300

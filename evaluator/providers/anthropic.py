"""Any endpoint that speaks Anthropic's messages API, as a judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluator.providers.budget import Prices, Spending
from evaluator.providers.endpoint import Endpoint, text_at
from evaluator.providers.key import Key, find_key
from evaluator.providers.prompt import JudgeRequest
from evaluator.providers.retries import Retries

_HOME = "https://api.anthropic.com"
_VARIABLE = "ANTHROPIC_API_KEY"
_API_VERSION = "2023-06-01"


class AnthropicJudge:
    """A judge behind an Anthropic `/v1/messages`.

    Parameters: as of `OpenAIJudge`, with `base_url` up to and without `/v1/messages` and the key in
    ANTHROPIC_API_KEY unless named otherwise. `options` go over `{"temperature": 0, "max_tokens": 1024}`.
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
            key_header="x-api-key",
            key_prefix="",
            headers={"anthropic-version": _API_VERSION},
            defaults={"temperature": 0, "max_tokens": 1024},
            options=options,
            timeout=timeout,
            retries=retries,
            spending=spending,
            price=price,
            usage=("input_tokens", "output_tokens"),
        )

    def __repr__(self) -> str:
        return f"AnthropicJudge({self._endpoint.model!r}, base_url={self._endpoint.base_url!r})"

    def __call__(self, request: JudgeRequest, /) -> str:
        """The text of the model's reply to the request."""
        body = {"system": request.system, "messages": [{"role": "user", "content": request.user}]}
        answer = self._endpoint.post("/v1/messages", request.model, body)
        if text_at(answer, "stop_reason") == "refusal":
            raise self._endpoint.error("refused")
        blocks = answer.get("content") if isinstance(answer, dict) else None
        texts = [text_at(block, "text") for block in blocks] if isinstance(blocks, list) else []
        reply = "".join(text for text in texts if text is not None)
        if not reply:
            raise self._endpoint.error("answered without a text in content")
        return self._endpoint.key.scrub(reply)

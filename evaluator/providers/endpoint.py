"""One HTTP endpoint that answers JSON with JSON, asked so that nothing it does can hang, leak or mislead.

Every failure becomes one sentence in a `ProviderError`. The key goes into the header of the request and
nowhere else: redirects are not followed, addresses with credentials are refused, the answer is stripped of
the key, and no error carries the exception behind it, whose frames hold headers.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from evaluator.json_read import JsonTextError, read_json
from evaluator.providers.budget import Price, Prices, Spending
from evaluator.providers.errors import ProviderError
from evaluator.providers.key import Key
from evaluator.providers.retries import Retries
from evaluator.safe_text import printable

if TYPE_CHECKING:
    import ssl

    import httpx

_LARGEST_ANSWER = 4 * 2**20
_LONGEST_MESSAGE = 200
_TRANSIENT = frozenset({408, 409, 429})
_TEMPLATE_TOKENS = 64  # what a chat template adds around the messages


@dataclass(frozen=True, slots=True)
class _Failure:
    """A request that came to nothing. `billed`: it may have been worked on, so it counts as paid for."""

    problem: str
    transient: bool = False
    billed: bool = False
    retry_after: str | None = None


class Endpoint:
    """Where requests go, and by which rules.

    Parameters:
        what: how errors call it, before the name of the model.
        model: the model that is asked where no other is named.
        base_url: `http` or `https`, without credentials, query or fragment.
        key, key_header, key_prefix: the key and the header that carries it.
        headers: further headers; nothing secret.
        timeout: seconds that one request may take, from connecting to the last byte of the answer.
        retries: see `Retries`.
        spending: the budget that requests are paid from; None is without limit.
        options: members of the body over `defaults`; None removes one.
        price: what tokens of `model`, or of each of several models, cost. Where `spending` has a limit in
            USD, only models with a price are asked.
        usage: the fields of the answer's `usage` that count the tokens in and, where there are any, out.
    """

    def __init__(
        self,
        what: str,
        model: str,
        base_url: str,
        *,
        key: Key,
        key_header: str = "Authorization",
        key_prefix: str = "Bearer ",
        headers: Mapping[str, str] | None = None,
        defaults: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None,
        timeout: float,
        retries: Retries | None,
        spending: Spending | None,
        price: Prices | None,
        usage: tuple[str, str | None],
    ) -> None:
        _require_httpx(what)
        self.model = _checked_model(model)
        self.base_url = _checked_url(base_url)
        self.key = key
        self._what = what
        self._key_header = key_header
        self._key_prefix = key_prefix
        self._headers = dict(headers or {})
        self._options = {**(defaults or {}), **_checked_options(options)}
        self._timeout = _checked_timeout(timeout)
        self._retries = retries or Retries()
        self._spending = spending or Spending()
        self._prices = {self.model: price} if isinstance(price, Price) else dict(price or {})
        self._usage = usage
        if self._spending.in_usd and not self._prices:
            raise ValueError(f"a budget in USD needs price=Price(input=…, output=…) of the {what}'s model")

    def post(self, path: str, model: str | None, body: Mapping[str, Any]) -> Any:
        """The JSON that the endpoint answers, without the key should it hold it.

        The request's body is the name of the model, `body` and the options.

        Raises:
            ProviderError: there is no usable answer, or the budget of the test is spent.
            BudgetExceededError: the budget of the session is spent.
        """
        model = model or self.model
        whole = {"model": model, **body, **self._options}
        whole = {name: value for name, value in whole.items() if value is not None}
        text = json.dumps(whole, ensure_ascii=False, allow_nan=False)
        data = text.encode("utf-8", "replace")  # a lone surrogate, which UTF-8 cannot say, becomes "?"
        price = self._price(model)
        reserved = self._most(price, whole, len(data))
        attempts = self._retries.attempts
        for attempt in range(attempts):
            self._spending.reserve(reserved)
            answer = self._send(path, data)
            if not isinstance(answer, _Failure):
                self._spending.settle(reserved, self._cost(price, answer, reserved))
                return answer
            if not answer.billed:
                self._spending.settle(reserved, 0)
            if not answer.transient or attempt + 1 == attempts:
                break
            self._retries.sleep(self._retries.wait(data, attempt, answer.retry_after))
        failed = f"failed {attempts} times, at last it " if answer.transient and attempts > 1 else ""
        raise self.error(f"{failed}{answer.problem}")

    def error(self, problem: str) -> ProviderError:
        """An error about this endpoint, in one printable line without the key."""
        return ProviderError(
            printable(self.key.scrub(f"{self._what} {self.model} at {self.base_url} {problem}"))
        )

    def _send(self, path: str, data: bytes) -> Any:
        """The answer to one request, or why there is none, within the time-out whatever the other side does.

        The client's time-outs hold for each read, and none for name look-up: a server that sends a byte now
        and then would never run into one. So the exchange has its own thread, which is waited for that long.
        """
        import httpx

        try:
            client = httpx.Client(verify=_tls(), timeout=self._timeout, follow_redirects=False)
        except Exception as error:  # such as a proxy in the environment that is no address
            return _Failure(f"could not be asked: {error or type(error).__name__}")
        outcome: SimpleQueue[Any] = SimpleQueue()
        Thread(target=lambda: outcome.put(self._outcome(client, path, data)), daemon=True).start()
        try:
            return outcome.get(timeout=self._timeout)
        except Empty:
            return self._timed_out()
        finally:
            client.close()

    def _timed_out(self) -> _Failure:
        return _Failure(f"gave no answer within {self._timeout:g} s", transient=True, billed=True)

    def _outcome(self, client: httpx.Client, path: str, data: bytes) -> Any:
        import httpx

        try:
            return self._exchange(client, path, data)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            return _Failure(f"could not be reached: {error or type(error).__name__}", transient=True)
        except httpx.TimeoutException:
            return self._timed_out()
        except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
            what = error or type(error).__name__
            return _Failure(f"dropped the connection: {what}", transient=True, billed=True)
        except Exception as error:
            return _Failure(f"could not be asked: {error or type(error).__name__}")

    def _exchange(self, client: httpx.Client, path: str, data: bytes) -> Any:
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", **self._headers}
        address = self.base_url + path
        with client.stream(
            "POST", address, content=data, headers=headers, auth=self._authentication()
        ) as response:
            received = bytearray()
            for chunk in response.iter_raw():
                received += chunk
                if len(received) > _LARGEST_ANSWER:
                    return _Failure(f"answered with more than {_LARGEST_ANSWER // 2**20} MiB", billed=True)
        text = self.key.scrub(received.decode("utf-8", "replace"))
        status = response.status_code
        if response.is_success:
            try:
                return read_json(text.encode("utf-8"))
            except JsonTextError as error:
                return _Failure(f"answered with what cannot be read: {error.problem}", billed=True)
        if response.is_redirect:
            return _Failure(f"answered {_status(status)}; redirects are not followed, give the final address")
        return _Failure(
            f"answered {_status(status)}{self.key.scrub(_message(text))}",
            transient=status in _TRANSIENT or status >= 500,
            retry_after=response.headers.get("Retry-After"),
        )

    def _authentication(self) -> httpx.Auth:
        """Sets the header as the request leaves; it also keeps `~/.netrc` out of it."""
        import httpx

        name, prefix, key = self._key_header, self._key_prefix, self.key

        class Authentication(httpx.Auth):
            def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
                if key:
                    request.headers[name] = key.header(prefix)
                yield request

        return Authentication()

    def _price(self, model: str) -> Price | None:
        price = self._prices.get(model)
        if price is None and self._spending.in_usd:
            raise self.error(f'may not be asked for "{model}": price holds no price of that model')
        return price

    def _most(self, price: Price | None, body: Mapping[str, Any], size: int) -> int:
        """The most that a body of this size can cost, where a limit in USD wants to know."""
        if price is None or not self._spending.in_usd:
            return 0
        tokens_out = 0
        if self._usage[1] is not None:
            tokens_out = body.get("max_completion_tokens", body.get("max_tokens"))
            if type(tokens_out) is not int or tokens_out < 1:
                raise self.error("may not be asked for a reply without limit: set max_tokens in the options")
        return price.nano(size + _TEMPLATE_TOKENS, tokens_out)

    def _cost(self, price: Price | None, answer: Any, reserved: int) -> int:
        """What the answer says that it cost; what was reserved when it does not say."""
        usage = answer.get("usage") if isinstance(answer, dict) else None
        if price is None or not isinstance(usage, dict):
            return reserved
        field_in, field_out = self._usage
        tokens_in = _count(usage.get(field_in))
        tokens_out = 0 if field_out is None else _count(usage.get(field_out))
        return reserved if tokens_in is None or tokens_out is None else price.nano(tokens_in, tokens_out)


def _count(value: object) -> int | None:
    """A number of tokens, None for anything else."""
    return value if isinstance(value, int) and value is not True and 0 <= value < 2**53 else None


def text_at(answer: Any, *path: str | int) -> str | None:
    """The text at a path of an answer, None when there is none that is not blank."""
    for step in path:
        if isinstance(step, int):
            if not isinstance(answer, list) or len(answer) <= step:
                return None
        elif not isinstance(answer, dict) or step not in answer:
            return None
        answer = answer[step]
    return answer if isinstance(answer, str) and answer.strip() else None


def _message(text: str) -> str:
    """What the server says about the failure, shortened."""
    try:
        answer = read_json(text.encode("utf-8"))
    except JsonTextError:
        said = text if not text.lstrip().startswith("<") else None  # no pages of HTML
    else:
        said = text_at(answer, "error", "message") or text_at(answer, "error") or text_at(answer, "message")
    if not said or not said.strip():
        return ""
    said = " ".join(said.split())
    return f": {said if len(said) <= _LONGEST_MESSAGE else said[:_LONGEST_MESSAGE] + '…'}"


def _status(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _checked_url(url: object) -> str:
    """The address without a slash at its end. What is wrong with it is said without showing it."""
    if not isinstance(url, str):
        raise TypeError("base_url is text such as http://localhost:8000/v1")
    try:
        parts = urlsplit(url.strip())
        port_is_usable = parts.port is None or parts.port > 0
    except ValueError:
        raise ValueError("base_url is no address such as http://localhost:8000/v1") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_usable:
        raise ValueError("base_url is an http or https address such as http://localhost:8000/v1")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError("base_url holds no credentials, query or fragment; give a key as key=")
    return url.strip().rstrip("/")


def _checked_model(model: object) -> str:
    if not isinstance(model, str) or not model.strip():
        raise ValueError(f"model is the name of a model at the endpoint, got {model!r:.40}")
    return model


def _checked_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    options = dict(options or {})
    taken = sorted({"model", "messages", "system", "input", "stream"} & options.keys())
    if taken:
        raise ValueError(f'options cannot hold "{taken[0]}", which the provider sets itself')
    try:
        json.dumps(options, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ValueError("options hold something that is not JSON") from None
    return options


def _checked_timeout(seconds: object) -> float:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds < 86_400:
        raise ValueError(f"timeout is a number of seconds above 0, below a day, got {seconds!r:.40}")
    return float(seconds)


def _require_httpx(what: str) -> None:
    if find_spec("httpx") is None:
        raise ModuleNotFoundError(
            f"the {what} needs the package httpx: pip install 'check-induction[providers]'", name="httpx"
        )


@cache
def _tls() -> ssl.SSLContext:
    """One context for all: reading the certificates takes longer than a local request."""
    import httpx

    return httpx.create_ssl_context()

"""Judges and embeddings against a real server that answers, fails in every way, and lies."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from model_server import (
    ModelServer,
    Step,
    answer,
    chat,
    closed_port,
    drip,
    drop,
    drop_halfway,
    hang,
    model_server,
    raw,
)

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
from evaluator.providers.retries import hashed_jitter, retry_after_seconds

REQUEST = JudgeRequest("names the berth", "Berth 7 is yours.")
GOOD = '{"score": 0.9, "explanation": "it does"}'


@pytest.fixture(autouse=True)
def _no_proxy_and_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


class Waits(list[float]):
    """A `sleep` that notes what it was asked for and does not wait."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def judge_of(model: ModelServer, waits: Waits | None = None, **arguments: Any) -> OpenAIJudge:
    arguments.setdefault("retries", Retries(sleep=Waits() if waits is None else waits))
    return OpenAIJudge("m-1", base_url=f"{model.url}/v1/", **arguments)


def test_openai_judge() -> None:
    with model_server(chat(GOOD)) as model:
        judge = judge_of(model, key="sk-test")
        assert judge(REQUEST) == GOOD
        (received,) = model.received
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == "Bearer sk-test"
    assert received.body == {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": REQUEST.system},
            {"role": "user", "content": REQUEST.user},
        ],
        "temperature": 0,
        "max_tokens": 1024,
    }


def test_options_go_over_the_defaults_and_the_assertion_may_name_a_model() -> None:
    with model_server(chat(GOOD)) as model:
        judge = judge_of(model, options={"max_tokens": None, "max_completion_tokens": 9, "seed": 1})
        judge(JudgeRequest("c", "\ud800 é", model="m-2"))
        (received,) = model.received
    assert "authorization" not in received.headers
    assert {name: received.body[name] for name in received.body if name != "messages"} == {
        "model": "m-2",
        "temperature": 0,
        "max_completion_tokens": 9,
        "seed": 1,
    }
    assert "? é" in received.body["messages"][1]["content"]


def test_anthropic_judge() -> None:
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": GOOD}]
    with model_server(answer({"content": blocks, "usage": {"input_tokens": 5, "output_tokens": 2}})) as model:
        judge = AnthropicJudge("m-1", base_url=model.url, key="sk-ant")
        assert judge(REQUEST) == GOOD
        (received,) = model.received
    assert received.path == "/v1/messages"
    assert (received.headers["x-api-key"], received.headers["anthropic-version"]) == ("sk-ant", "2023-06-01")
    assert "authorization" not in received.headers
    assert received.body["system"] == REQUEST.system
    assert received.body["messages"] == [{"role": "user", "content": REQUEST.user}]
    assert received.body["max_tokens"] == 1024


def test_embeddings() -> None:
    with model_server(answer({"data": [{"embedding": [0.5, 1, -2e-3]}]})) as model:
        embed = OpenAIEmbeddings("e-1", base_url=model.url, options={"dimensions": 3})
        assert embed("a") == embed("a") == (0.5, 1.0, -0.002)
        embed("b")
        embed("a", model="e-2")
        bodies = [received.body for received in model.received]
    assert [(body["model"], body["input"], body["dimensions"]) for body in bodies] == [
        ("e-1", "a", 3),
        ("e-1", "b", 3),
        ("e-2", "a", 3),
    ]


@pytest.mark.parametrize(
    "transient",
    [drop, drop_halfway, *(answer({}, status) for status in (408, 409, 429, 500, 502, 503, 529))],
)
def test_transient_failures_are_tried_again(transient: Step) -> None:
    waits = Waits()
    with model_server(transient, transient, chat(GOOD)) as model:
        assert judge_of(model, waits)(REQUEST) == GOOD
        assert len(model.received) == 3
        assert len({json.dumps(received.body) for received in model.received}) == 1
    assert 0.25 <= waits[0] <= 0.5 <= waits[1] <= 1.0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_other_refusals_are_not(status: int) -> None:
    refusal = answer({"error": {"message": "the model\ndoes not exist"}}, status)
    with model_server(refusal) as model:
        with pytest.raises(
            ProviderError, match=rf"^judge m-1 at {model.url}/v1 answered {status} .*: the model does not"
        ):
            judge_of(model)(REQUEST)
        assert len(model.received) == 1


def test_it_gives_up_after_its_attempts() -> None:
    waits = Waits()
    with model_server(raw(b"<html>no</html>", 503)) as model:
        with pytest.raises(
            ProviderError, match=r"failed 3 times, at last it answered 503 Service Unavailable$"
        ):
            judge_of(model, waits)(REQUEST)
        assert (len(model.received), len(waits)) == (3, 2)
        with pytest.raises(ProviderError, match=r"/v1 answered 503 Service Unavailable$"):
            judge_of(model, retries=Retries(attempts=1))(REQUEST)
        assert len(model.received) == 4


def test_retry_after_is_heeded_and_capped() -> None:
    waits = Waits()
    steps = [answer({}, 429, Retry_After=text) for text in ("3", "86400", "soon")]
    with model_server(*steps, chat(GOOD)) as model:
        judge_of(model, retries=Retries(attempts=4, retry_after_at_most=20, sleep=waits))(REQUEST)
    assert waits[:2] == [3.0, 20.0]
    assert 1.0 <= waits[2] <= 2.0


def test_what_retry_after_says() -> None:
    assert retry_after_seconds(" 12 ") == 12
    assert retry_after_seconds("9" * 400) == 999_999_999
    assert retry_after_seconds("Thu, 01 Jan 1970 00:00:00 GMT") == 0
    ahead = retry_after_seconds("Thu, 01 Jan 2970 00:00:00 GMT")
    assert ahead is not None
    assert ahead > 1e9
    assert retry_after_seconds("-1") is None
    assert retry_after_seconds("") is None


def test_the_jitter_is_spread_over_requests_and_the_same_in_every_run() -> None:
    fractions = [hashed_jitter(b"%d" % number, 0) for number in range(200)]
    assert all(0 <= fraction < 1 for fraction in fractions)
    assert min(fractions) < 0.1
    assert max(fractions) > 0.9
    assert hashed_jitter(b"a", 1) == hashed_jitter(b"a", 1) != hashed_jitter(b"a", 2)
    longest = Retries(jitter=lambda *_: 1.0)
    assert [longest.wait(b"", attempt, None) for attempt in (0, 1, 2, 9, 9999)] == [0.5, 1.0, 2.0, 8.0, 8.0]
    shortest = Retries(jitter=lambda *_: -3.0)
    assert shortest.wait(b"", 0, None) == 0.25


@pytest.mark.parametrize("stall", [hang, drip])
def test_a_server_that_stalls_runs_into_the_time_out(stall: Step) -> None:
    began = time.monotonic()
    with model_server(stall) as model:
        judge = judge_of(model, timeout=0.2, retries=Retries(attempts=2, sleep=Waits()))
        with pytest.raises(ProviderError, match=r"failed 2 times, at last it gave no answer within 0\.2 s$"):
            judge(REQUEST)
        assert len(model.received) == 2
    assert time.monotonic() - began < 15


def test_nobody_listens() -> None:
    waits = Waits()
    judge = OpenAIJudge("m", base_url=f"http://127.0.0.1:{closed_port()}", retries=Retries(sleep=waits))
    with pytest.raises(ProviderError, match=r"failed 3 times, at last it could not be reached: .*refused"):
        judge(REQUEST)
    assert len(waits) == 2


def test_redirects_are_not_followed() -> None:
    with (
        model_server(chat(GOOD)) as elsewhere,
        model_server(raw(b"", 307, Location=f"{elsewhere.url}/")) as model,
    ):
        with pytest.raises(
            ProviderError, match="answered 307 Temporary Redirect; redirects are not followed"
        ):
            judge_of(model, key="sk-test")(REQUEST)
        assert len(model.received) == 1
        assert elsewhere.received == []


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (raw(b"<html>"), "cannot be read: not JSON"),
        (raw(b""), "cannot be read"),
        (raw(b"\xff\xfe\x00"), "cannot be read"),
        (raw(b'{"choices": [{"message": {"content": "a"}}], "x": NaN}'), "cannot be read"),
        (raw(b"[" * 200_000), "cannot be read"),
        (raw(b'{"a": "' + b"x" * (5 * 2**20) + b'"}'), "more than 4 MiB"),
        (raw(b"x" * (5 * 2**20), 500), "more than 4 MiB"),
        (raw(b"\x1f\x8b\x08\x00", Content_Encoding="gzip"), "cannot be read"),
        (answer([]), "without text"),
        (answer({"choices": []}), "without text"),
        (answer({"choices": [{"message": None}]}), "without text"),
        (answer({"choices": {"0": 1}}), "without text"),
        (chat(None), "without text"),
        (chat("  "), "without text"),
        (chat(["a"]), "without text"),
        (chat(None, refusal="I will not\nsay"), r"refused: I will not\\nsay$"),
        (
            answer({"choices": [{"finish_reason": "content_filter", "message": {"content": GOOD}}]}),
            "refused$",
        ),
    ],
)
def test_an_answer_that_is_no_completion(step: Step, problem: str) -> None:
    with model_server(step) as model:
        with pytest.raises(ProviderError, match=problem) as raised:
            judge_of(model)(REQUEST)
        assert len(model.received) == 1
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize(
    "content",
    [None, [], "text", [{"type": "tool_use"}], [None, 5]],
)
def test_an_answer_that_is_no_message(content: object) -> None:
    with (
        model_server(answer({"content": content})) as model,
        pytest.raises(ProviderError, match="answered without a text in content"),
    ):
        AnthropicJudge("m", base_url=model.url, key="k")(REQUEST)


def test_anthropic_refuses() -> None:
    body = {"stop_reason": "refusal", "content": [{"type": "text", "text": GOOD}]}
    with model_server(answer(body)) as model, pytest.raises(ProviderError, match="refused"):
        AnthropicJudge("m", base_url=model.url, key="k")(REQUEST)


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"data": []},
        {"data": [7]},
        {"data": [{"embedding": []}]},
        {"data": [{"embedding": "AAAA"}]},
        {"data": [{"embedding": [1, "2"]}]},
        {"data": [{"embedding": [1, True]}]},
        {"data": [{"embedding": [1, None]}]},
        {"data": [{"embedding": [10**400]}]},
    ],
)
def test_an_answer_that_is_no_vector(body: object) -> None:
    with (
        model_server(answer(body)) as model,
        pytest.raises(ProviderError, match="without a vector of numbers"),
    ):
        OpenAIEmbeddings("e", base_url=model.url)("text")


TRACE = {"steps": [], "output": {"message": "Berth 7 is yours."}}
ASK = {"method": "passes_judge", "args": {"criteria": "names the berth"}}


@pytest.mark.parametrize(
    ("step", "status", "reason"),
    [
        (chat(GOOD), "pass", None),
        (chat(f"```json\n{GOOD}\n```"), "pass", None),
        (chat('{"score": 0.2}'), "hard_fail", None),
        (chat('{"score": 1.7}'), "not_evaluated", "malformed_reply"),
        (chat('{"score": true}'), "not_evaluated", "malformed_reply"),
        (chat('{"score": "0.9"}'), "not_evaluated", "malformed_reply"),
        (chat(GOOD + GOOD), "not_evaluated", "malformed_reply"),
        (chat('{"abstain": true}'), "not_evaluated", "abstained"),
        (answer({}, 401), "not_evaluated", "provider"),
        (answer({}, 500), "not_evaluated", "provider"),
        (hang, "not_evaluated", "provider"),
        (drop, "not_evaluated", "provider"),
    ],
)
def test_what_becomes_of_the_assertion(step: Step, status: str, reason: str | None) -> None:
    with model_server(step) as model:
        judge = judge_of(model, timeout=0.3 if step is hang else 30)
        found = evaluate_assertion(TRACE, ASK, Providers(judge=judge))
    assert (found.status, found.reason) == (status, reason), found.why


def test_in_a_simulation_nobody_is_asked() -> None:
    with model_server(chat(GOOD)) as model:
        found = evaluate_assertion(TRACE, ASK, Providers(judge=judge_of(model), simulation=True))
        assert model.received == []
    assert (found.status, found.reason) == ("not_evaluated", "simulation")


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (lambda: OpenAIJudge("m"), "a key is needed: set OPENAI_API_KEY"),
        (lambda: AnthropicJudge("m"), "a key is needed: set ANTHROPIC_API_KEY"),
        (lambda: OpenAIJudge("m", key_variable="MY_KEY"), "environment variable MY_KEY.* is not set"),
        (lambda: OpenAIJudge("m", key="two\nlines"), "the key is empty or holds what no header can carry"),
        (lambda: OpenAIJudge("m", key=" "), "the key is empty"),
        (lambda: OpenAIJudge(" ", key="k"), "model is the name of a model"),
        (lambda: OpenAIJudge("m", key="k", base_url="localhost:80"), "base_url is an http or https address"),
        (lambda: OpenAIJudge("m", key="k", base_url="http://h:99999"), "base_url is no address"),
        (lambda: OpenAIJudge("m", key="k", base_url="http://me:pw@h"), "holds no credentials"),
        (lambda: OpenAIJudge("m", key="k", base_url="http://h?api-key=7"), "holds no credentials"),
        (lambda: OpenAIJudge("m", key="k", timeout=0), "timeout is a number of seconds"),
        (lambda: OpenAIJudge("m", key="k", options={"messages": []}), 'cannot hold "messages"'),
        (lambda: OpenAIJudge("m", key="k", options={"x": {1}}), "not JSON"),
        (lambda: Retries(attempts=0), "attempts is a whole number from 1 up"),
    ],
)
def test_what_cannot_work_is_said_when_it_is_built(build: Callable[[], object], problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as raised:
        build()
    assert "pw" not in str(raised.value)


@pytest.fixture
def served() -> Iterator[ModelServer]:
    with model_server(chat(GOOD)) as model:
        yield model


def test_many_threads_may_share_a_judge(served: ModelServer) -> None:
    from concurrent.futures import ThreadPoolExecutor

    judge = judge_of(served)
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda number: judge(JudgeRequest("c", str(number))), range(40)))
    assert replies == [GOOD] * 40
    assert len(served.received) == 40

"""Who answers what code cannot decide: embeddings, a judge, earlier scores, plugins.

`Providers` is what assertions are given. A provider is a function, so a test can pass its own; the ones here
talk to a local model or to an HTTP endpoint. Nothing is contacted, and no optional package imported, before a
provider is built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from evaluator.providers.prompt import JudgeRequest


class Embed(Protocol):
    """Text to vector: `embed(text)`, or `embed(text, model=name)` when the assertion names a model."""

    def __call__(self, text: str, /) -> Sequence[float]: ...


class History(Protocol):
    """Earlier scores by stable assertion id, oldest first, each `{"score": …, "status": …}`."""

    def scores(self, assertion_id: str) -> Sequence[Mapping[str, Any]]: ...

    def record(self, assertion_id: str, score: float, status: str) -> None: ...


Judge = Callable[[JudgeRequest], str]
"""Asks a judge and returns the text of its reply, which `read_verdict` reads."""

Plugin = Callable[..., Mapping[str, Any]]
"""`plugin(trace, config=None)` returns `{"status", "score", "explanation"}`."""


@dataclass(frozen=True)
class Providers:
    """What the assertions of a chain may ask. A provider that is None leaves them not evaluated.

    Attributes:
        embed: text to vector (`output_similar_to`).
        judge: request to reply (`passes_judge`).
        history: earlier scores for `threshold="dynamic"`: a `ScoreHistory`, or a sequence of
            `{"score", "status"}`, oldest first, that stands for the history of every assertion.
        plugins: plugins by id, beside the registered ones.
        simulation: the run is simulated: semantic assertions are not evaluated and no provider is asked.
    """

    embed: Embed | None = None
    judge: Judge | None = None
    history: History | Sequence[Mapping[str, Any]] | None = None
    plugins: Mapping[str, Plugin] | None = None
    simulation: bool = False

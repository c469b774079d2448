"""Semantic checks: what an embedding model or a judge says of the text of the output.

Both read `output.message` and pass from a threshold on. They ask a provider (`Providers`); in a simulation,
without one, and where it fails, they are not evaluated, soft or not: a score is never made up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from math import frexp, fsum, isfinite, ldexp, sqrt
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from evaluator.assertions.arguments import Text
from evaluator.assertions.content import text_of
from evaluator.assertions.json_value import at_dot_path
from evaluator.assertions.judgement import (
    Judge,
    Judgement,
    SpecError,
    failed,
    not_evaluated,
    passed,
    short_number,
)
from evaluator.assertions.method import Method
from evaluator.assertions.view import TraceView
from evaluator.assertions.wording import one_line
from evaluator.errors import nearest
from evaluator.json_write import canonical_json
from evaluator.providers.errors import BudgetExceededError
from evaluator.providers.prompt import JudgeRequest, known_rubrics
from evaluator.providers.verdict import AbstainedError, MalformedReplyError, Verdict, read_verdict
from evaluator.values import MISSING, number_text

if TYPE_CHECKING:
    from evaluator.providers import Providers

Threshold = float | Literal["dynamic"]

DEFAULT_THRESHOLD: Final = 0.8
_MESSAGE: Final = "output.message"
_COUNTED_STATUSES: Final = ("pass", "soft_fail")
_LATEST: Final = 50
_FEWEST: Final = 10
_LEAST_SPREAD: Final = 0.02
_HIGHEST_BAR: Final = 0.96


class Bar(NamedTuple):
    """The threshold that a score must reach and, where it is dynamic, what it was made from."""

    value: float
    told: str = ""


class _UnansweredError(Exception):
    """A provider gave no answer that can be used; `reason` says in which way."""

    def __init__(self, reason: str, which: str) -> None:
        super().__init__(reason, which)
        self.reason = reason
        self.which = which


_Ask = Callable[[str, "Providers"], Verdict]
"""Asks a provider about a text: its score, not clipped, and what it says."""


def output_similar_to(*, reference: Text, threshold: Threshold = 0.8, model: Text | None = None) -> Judge:
    """The embedding of the message is so similar to that of `reference`.

    The similarity is the cosine of the two vectors and the score is never below 0.
    """

    def ask(message: str, providers: Providers) -> Verdict:
        embed = providers.embed
        if embed is None:
            raise _UnansweredError("provider", "no embeddings are set up")
        return Verdict(_cosine(_vector(embed, message, model), _vector(embed, reference, model)), "")

    return _scored("output_similar_to", "similarity", threshold, ask, [reference, model])


def passes_judge(
    *, criteria: Text, rubric: Text = "default", threshold: Threshold = 0.8, model: Text | None = None
) -> Judge:
    """A judge gives the message so high a score by the criteria, under a built-in or registered rubric."""
    if rubric not in known_rubrics():
        meant = nearest(rubric, known_rubrics())
        advice = f'did you mean "{meant}"?' if meant else f"there are {', '.join(known_rubrics())}"
        raise SpecError(f'rubric: no rubric is called "{rubric}"; {advice}', "rubric")

    def ask(message: str, providers: Providers) -> Verdict:
        if providers.judge is None:
            raise _UnansweredError("provider", "no judge is set up")
        try:
            return read_verdict(providers.judge(JudgeRequest(criteria, message, rubric, model)))
        except MalformedReplyError as error:
            raise _UnansweredError("malformed_reply", str(error)) from None
        except AbstainedError as error:
            raise _UnansweredError("abstained", str(error) or "no reason given") from None

    return _scored("passes_judge", "judge score", threshold, ask, [criteria, rubric, model])


def _scored(method: str, what: str, threshold: Threshold, ask: _Ask, spec: list[str | None]) -> Judge:
    """The judge that compares what a provider says of the message with the threshold."""
    fixed = None if threshold == "dynamic" else Bar(threshold if threshold > 0 else DEFAULT_THRESHOLD)

    def judge(view: TraceView) -> Judgement:
        providers = view.providers
        if providers is not None and providers.simulation:
            return not_evaluated(_MESSAGE, "no provider is asked in a simulation", "simulation")
        message = at_dot_path(view.output, ("message",))
        if message is MISSING:
            return failed(1.0, f"{_MESSAGE}: expected text, got nothing", soft_heeded=False, reason="target")
        if providers is None:
            return not_evaluated(_MESSAGE, "no providers are set up", "provider")
        try:
            bar = fixed or dynamic_bar(_earlier(providers, method, spec))
            score, explanation = ask(text_of(message), providers)
        except _UnansweredError as error:
            return not_evaluated(_MESSAGE, one_line(error.which), error.reason)
        except BudgetExceededError:
            raise
        except Exception as error:  # a provider is foreign code: whatever it raises, it did not answer
            return not_evaluated(_MESSAGE, one_line(str(error)) or type(error).__name__, "provider")
        return _judged(what, bar, score, explanation)

    return judge


def _judged(what: str, bar: Bar, score: float, explanation: str) -> Judgement:
    clipped = max(0.0, score)
    said = f": {one_line(explanation)}" if explanation else ""
    if score >= bar.value:
        return passed(
            lambda: f"{_MESSAGE}: {what} {_places(score)} ≥ {_places(bar.value)}{bar.told}{said}", clipped
        )

    def why() -> str:
        got, by = _places(score), _places(bar.value - score)
        if got == _places(bar.value):  # the difference is beyond the fourth place
            got, by = number_text(score), short_number(bar.value - score)
        short = "" if bar.told else f" (short by {by})"
        return f"{_MESSAGE}: expected {what} ≥ {_places(bar.value)}{bar.told}, got {got}{short}{said}"

    return failed(bar.value - score, why, clipped)


def _places(number: float) -> str:
    """A score to four places."""
    return number_text(round(number, 4))


# Similarity


def _vector(embed: Callable[..., Any], text: str, model: str | None) -> list[float]:
    found = embed(text) if model is None else embed(text, model=model)
    if isinstance(found, (str, bytes, Mapping)):
        raise _UnansweredError("provider", "the embedding is no vector")
    try:
        numbers = list(found)
        if any(isinstance(number, (str, bytes, bool)) for number in numbers):
            raise TypeError
        vector = [float(number) for number in numbers]
    except (TypeError, ValueError, OverflowError):
        raise _UnansweredError("provider", "the embedding is no vector") from None
    if not vector or not all(map(isfinite, vector)):
        raise _UnansweredError("provider", "the embedding is no vector of finite numbers")
    return vector


def _cosine(left: list[float], right: list[float]) -> float:
    """The cosine of two vectors in -1…1; exactly 1 of a vector with itself."""
    if len(left) != len(right):
        raise _UnansweredError("provider", f"the embeddings have {len(left)} and {len(right)} numbers")
    left, right = _scaled(left), _scaled(right)
    product = fsum(x * y for x, y in zip(left, right, strict=True))
    squares = fsum(x * x for x in left) * fsum(y * y for y in right)
    return max(-1.0, min(1.0, product / sqrt(squares)))


def _scaled(vector: list[float]) -> list[float]:
    """The vector with its largest number brought near 1 by a power of two, so that no square overflows."""
    _, exponent = frexp(max(map(abs, vector)))
    if not any(vector):
        raise _UnansweredError("provider", "an embedding is the zero vector")
    return [ldexp(number, -exponent) for number in vector]


# The dynamic threshold


def dynamic_bar(history: Sequence[Mapping[str, Any]]) -> Bar:
    """The bar that earlier scores set, oldest first: two standard deviations below their mean.

    Counted are the latest 50 with the status `pass` or `soft_fail`. With fewer than 10 the bar is 0.8; it is
    never lower and, since the (population's) deviation counts as 0.02 at least, never above 0.96.
    """
    counted = [past["score"] for past in history if past.get("status") in _COUNTED_STATUSES]
    scores: list[float] = counted[-_LATEST:]
    if len(scores) < _FEWEST:
        return Bar(DEFAULT_THRESHOLD, f" (dynamic: {len(scores)} scores, {_FEWEST} needed)")
    mean = sum(scores) / len(scores)
    spread = sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    value = min(_HIGHEST_BAR, max(DEFAULT_THRESHOLD, mean - 2 * max(spread, _LEAST_SPREAD)))
    sigma = f"\N{GREEK SMALL LETTER SIGMA} {_places(spread)}"
    return Bar(value, f" (dynamic: {len(scores)} scores, mean {_places(mean)}, {sigma})")


def _earlier(providers: Providers, method: str, spec: list[str | None]) -> Sequence[Mapping[str, Any]]:
    """The scores to compare with.

    A chain hands on those of its assertion. Elsewhere a history is asked under an id of the spec alone.
    """
    history: Any = providers.history
    if history is None or isinstance(history, Sequence):
        return history or ()
    told = canonical_json(["", method, spec])
    earlier: Sequence[Mapping[str, Any]] = history.scores(f"2:{sha256(told.encode()).hexdigest()[:24]}")
    return earlier


METHODS: Final = (
    Method("output_similar_to", "semantic", output_similar_to),
    Method("passes_judge", "semantic", passes_judge),
)

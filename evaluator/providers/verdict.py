"""Reading a judge's reply: one JSON object with a score in 0…1, or no verdict at all.

A judge has read text that an agent wrote, so its reply is not to be trusted further than its form. What is
not exactly one verdict is malformed; no score is ever made up, rounded or clipped into range.
"""

from __future__ import annotations

from typing import NamedTuple

from evaluator.errors import kind_of
from evaluator.json_read import JsonTextError, read_json
from evaluator.safe_text import printable

_LONGEST_EXPLANATION = 2000


class MalformedReplyError(ValueError):
    """The reply holds no verdict that can be read. The text says what it lacks."""


class AbstainedError(ValueError):
    """The judge says that it cannot judge. The text is its explanation."""


class Verdict(NamedTuple):
    """What a judge said: a score in 0…1 and, in one printable line, why ("" when it gave no reason)."""

    score: float
    explanation: str


def read_verdict(reply: object) -> Verdict:
    """The verdict in a reply: the JSON object from the first `{` to the last `}`, whatever stands around it.

    Two objects are therefore none, as are a key twice in one object, NaN, and a score that is text, a boolean
    or outside 0…1. `"abstain": true` without a score (or with null) is an abstention; beside a score it is
    ignored.

    Raises:
        MalformedReplyError: there is no object, or none with a score in 0…1.
        AbstainedError: the judge abstained.
    """
    if not isinstance(reply, str):
        raise MalformedReplyError(f"expected text with one JSON object, got {kind_of(reply)}")
    start, end = reply.find("{"), reply.rfind("}")
    if start < 0 or end < start:
        raise MalformedReplyError("the reply holds no JSON object")
    try:
        found = read_json(reply[start : end + 1].encode("utf-8", "replace"))
    except JsonTextError as error:
        raise MalformedReplyError(f"the reply holds no single JSON object: {error.problem}") from None
    said = found.get("explanation")
    explanation = printable(" ".join(said.split()))[:_LONGEST_EXPLANATION] if isinstance(said, str) else ""
    score = found.get("score")
    if score is None:
        if found.get("abstain") is True:
            raise AbstainedError(explanation)
        raise MalformedReplyError("the reply has no score")
    if isinstance(score, bool) or not isinstance(score, (int, float)):
        raise MalformedReplyError(f"the score is {kind_of(score)}, not a number")
    if not 0 <= score <= 1:
        raise MalformedReplyError("the score is outside 0…1")
    return Verdict(float(score), explanation)

"""How often and after what wait a request is sent again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256

Jitter = Callable[[bytes, int], float]


def hashed_jitter(body: bytes, attempt: int) -> float:
    """A fraction in 0…1 from a digest of the request: spread over requests, equal in every run."""
    digest = sha256(attempt.to_bytes(4, "big") + body).digest()
    return int.from_bytes(digest[:4], "big") / 2**32


@dataclass(frozen=True, slots=True)
class Retries:
    """When a transient failure is tried again; any other failure never is.

    Transient are: no connection, a time-out, a connection dropped before the whole answer came, and the
    statuses 408, 409, 429 and 5xx. The wait doubles from `first` up to `longest` seconds, and of that between
    half and the whole is waited, as `jitter` says. A `Retry-After` is waited for instead, but never
    longer than `retry_after_at_most`.

    Attributes:
        attempts: requests sent at most, the first one included; 1 means none again.
        first, longest, retry_after_at_most: seconds.
        jitter: a fraction in 0…1 by the body of the request and the number of the attempt, from 0.
        sleep: waits that many seconds.
    """

    attempts: int = 3
    first: float = 0.5
    longest: float = 8.0
    retry_after_at_most: float = 30.0
    jitter: Jitter = hashed_jitter
    sleep: Callable[[float], object] = time.sleep

    def __post_init__(self) -> None:
        if type(self.attempts) is not int or self.attempts < 1:
            raise ValueError(f"attempts is a whole number from 1 up, got {self.attempts!r:.40}")

    def wait(self, body: bytes, attempt: int, retry_after: str | None) -> float:
        """The seconds to wait after the failed attempt of this number (from 0)."""
        asked = retry_after_seconds(retry_after) if retry_after is not None else None
        if asked is not None:
            return min(asked, self.retry_after_at_most)
        whole = min(self.longest, self.first * 2.0 ** min(attempt, 60))
        return whole * (0.5 + 0.5 * min(1.0, max(0.0, self.jitter(body, attempt))))


def retry_after_seconds(text: str) -> float | None:
    """What a `Retry-After` asks for: seconds, or until a date; None when it says neither."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())

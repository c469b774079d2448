"""What may be spent on providers, in calls and in USD, by a session and by each test of it.

A request is paid for before it is sent, at the most it can cost: a token is at least one byte, so a prompt
has at most as many tokens as bytes, and the reply at most as many as were asked for. What it did cost is
settled afterwards. So no limit is passed by a cost that came as a surprise: a call that *could* pass it is
refused. Every request counts as a call, retries too.

Money is counted in whole billionths of a USD, rounded up. Prices are the user's: none is built in.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from math import ceil, isfinite
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from evaluator.providers.errors import BudgetExceededError, ProviderError

_NANO = 10**9
_BUSY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be spent; None is no limit.

    Attributes:
        usd: in USD. A provider with such a limit needs its `price`.
        calls: requests sent.
    """

    usd: float | None = None
    calls: int | None = None

    def __post_init__(self) -> None:
        if self.usd is not None and not _is_amount(self.usd):
            raise ValueError(f"a budget in USD is a number from 0 up, got {self.usd!r:.40}")
        if self.calls is not None and (type(self.calls) is not int or self.calls < 0):
            raise ValueError(f"a budget in calls is a whole number from 0 up, got {self.calls!r:.40}")


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs in USD per million tokens, as its vendor lists it."""

    input: float
    output: float = 0.0

    def __post_init__(self) -> None:
        if not _is_amount(self.input) or not _is_amount(self.output):
            raise ValueError("a price is a number of USD per million tokens, from 0 up")

    def nano(self, tokens_in: int, tokens_out: int) -> int:
        """The cost of these tokens in billionths of a USD."""
        return ceil(self.input * tokens_in * 1000) + ceil(self.output * tokens_out * 1000)


Prices = Price | Mapping[str, Price]
"""The price of the provider's model, or prices by model where assertions name models of their own."""


class Spent(NamedTuple):
    """What was spent so far."""

    calls: int
    usd: float


class Spending:
    """Limits and what was spent of them. Give the same one to every provider that shares a budget.

    Parameters:
        session: the limit of the whole session. A call that could pass it raises `BudgetExceededError`.
        test: the limit of one test. A call that could pass it fails as a provider does, so that the
            assertion is not evaluated and other tests go on. `start_test()` says where a test begins.
        ledger: a file that several processes keep the session's sum in (SQLite, created when it is missing),
            such as the workers of one parallel run. None keeps it in memory, for one process.
    """

    def __init__(
        self, session: Budget | None = None, test: Budget | None = None, ledger: str | Path | None = None
    ) -> None:
        self.session = session or Budget()
        self.test = test or Budget()
        self._lock = Lock()
        self._ledger = _Ledger(Path(ledger)) if ledger is not None else None
        self._session_spent = (0, 0)
        self._test_spent = (0, 0)
        self._test_number = _test_number

    def __deepcopy__(self, _: object) -> Spending:
        return self  # a copy of a provider spends from the same budget

    @property
    def in_usd(self) -> bool:
        """Whether a limit is in USD, so that prices are needed."""
        return self.session.usd is not None or self.test.usd is not None

    @property
    def spent(self) -> Spent:
        """What the session spent so far; calls under way count at the most they can cost."""
        with self._lock:
            calls, nano = self._session_spent if self._ledger is None else self._ledger.read()
        return Spent(calls, nano / _NANO)

    @property
    def spent_in_test(self) -> Spent:
        """What this process spent since the test began."""
        with self._lock:
            self._notice_test()
            calls, nano = self._test_spent
        return Spent(calls, nano / _NANO)

    def reserve(self, nano: int) -> None:
        """Count one call that costs at most `nano` billionths of a USD, or refuse it and count nothing.

        Raises:
            BudgetExceededError: it could pass the limit of the session.
            ProviderError: it could pass the limit of the test, or the ledger is unusable.
        """
        with self._lock:
            self._notice_test()
            passed = _passed(self.test, self._test_spent, nano)
            session_passed = self._session_passed(nano, count=passed is None)
            if session_passed is not None:
                problem = f"the session's budget of {_limit(self.session, session_passed)} is spent"
                raise BudgetExceededError(f"{problem}; the next call could exceed it", session_passed)
            if passed is not None:
                problem = f"the test's budget of {_limit(self.test, passed)} is spent"
                raise ProviderError(f"{problem}; the next call could exceed it")
            self._test_spent = (self._test_spent[0] + 1, self._test_spent[1] + nano)

    def settle(self, reserved: int, actual: int) -> None:
        """Replace what a call was reserved at by what it did cost, both in billionths of a USD."""
        with self._lock:
            if self._ledger is not None:
                self._ledger.add(actual - reserved)
            else:
                self._session_spent = (self._session_spent[0], self._session_spent[1] + actual - reserved)
            self._test_spent = (self._test_spent[0], max(0, self._test_spent[1] + actual - reserved))

    def _session_passed(self, nano: int, *, count: bool) -> str | None:
        if self._ledger is not None:
            return self._ledger.reserve(self.session, nano, count=count)
        passed = _passed(self.session, self._session_spent, nano)
        if passed is None and count:
            self._session_spent = (self._session_spent[0] + 1, self._session_spent[1] + nano)
        return passed

    def _notice_test(self) -> None:
        if self._test_number != _test_number:
            self._test_number, self._test_spent = _test_number, (0, 0)


_test_number = 0


def start_test() -> None:
    """Say that a test begins: what a test may spend counts from here, in every `Spending` of this process.

    The pytest plugin calls it. A process is taken to run one test at a time.
    """
    global _test_number
    _test_number += 1


class _Ledger:
    """The session's sum in a file, changed by one process at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> tuple[int, int]:
        with self._transaction() as connection:
            return _sum(connection)

    def add(self, nano: int) -> None:
        with self._transaction() as connection:
            connection.execute("INSERT INTO spent VALUES (0, ?)", (nano,))

    def reserve(self, limit: Budget, nano: int, *, count: bool) -> str | None:
        """Count a call unless it passes a limit; which limit it would pass."""
        with self._transaction() as connection:
            passed = _passed(limit, _sum(connection), nano)
            if passed is None and count:
                connection.execute("INSERT INTO spent VALUES (1, ?)", (nano,))
            return passed

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=_BUSY_SECONDS)) as connection, connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("CREATE TABLE IF NOT EXISTS spent (calls INTEGER, nano INTEGER)")
                yield connection
        except sqlite3.Error as error:
            raise ProviderError(f"{self._path}: the ledger of the budget cannot be used: {error}") from None


def _sum(connection: sqlite3.Connection) -> tuple[int, int]:
    query = "SELECT coalesce(sum(calls), 0), coalesce(sum(nano), 0) FROM spent"
    calls, nano = connection.execute(query).fetchone()
    return calls, nano


def _passed(limit: Budget, spent: tuple[int, int], nano: int) -> str | None:
    calls, nano_spent = spent
    if limit.calls is not None and calls + 1 > limit.calls:
        return "calls"
    if limit.usd is not None and nano_spent + nano > round(limit.usd * _NANO):
        return "usd"
    return None


def _limit(limit: Budget, which: str) -> str:
    return f"{limit.usd:g} USD" if which == "usd" else f"{limit.calls} call{'' if limit.calls == 1 else 's'}"


def _is_amount(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value) and value >= 0

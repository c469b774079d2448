"""The test that runs now: the chains made in it, and how often it used each spec, which stable ids need.

A test runner opens a scope for each test. It is one for the process, not for the thread or task, so that what
an agent does in threads of its own belongs to the test as well; tests of one process run one after another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Protocol


class Chained(Protocol):
    """A chain as its scope sees it."""

    @property
    def evaluated(self) -> bool: ...

    @property
    def origin(self) -> str: ...


class Scope:
    """What belongs to one test.

    Attributes:
        name: the test's own name, which its assertions' ids are made from.
        trial: whether the runner repeats this test itself.
    """

    def __init__(self, name: str, *, trial: bool = False) -> None:
        self.name = name
        self.trial = trial
        self._lock = Lock()
        self._chains: list[Chained] = []
        self._occurrences: Counter[str] = Counter()
        self._soft_failures: list[str] = []

    def occurrence(self, spec: str) -> int:
        """The number of this use of a spec among equal ones, from 1."""
        with self._lock:
            self._occurrences[spec] += 1
            return self._occurrences[spec]

    def add(self, chain: Chained) -> None:
        """Remember a chain that was made in this test."""
        with self._lock:
            self._chains.append(chain)

    def chains(self) -> list[Chained]:
        """The chains made so far, in order."""
        with self._lock:
            return list(self._chains)

    def note_soft_failures(self, said: list[str]) -> None:
        """Remember soft failures that were enforced, for the report of the test."""
        with self._lock:
            self._soft_failures += said

    def take_soft_failures(self) -> list[str]:
        """The soft failures noted since this was last asked."""
        with self._lock:
            taken, self._soft_failures = self._soft_failures, []
        return taken

    def unevaluated_text(self, first: int = 0) -> str:
        """What to say of the chains left unevaluated, from the `first` made on; empty when there are none."""
        left = [chain.origin for chain in self.chains()[first:] if not chain.evaluated]
        if not left:
            return ""
        which = "a chain was" if len(left) == 1 else f"{len(left)} chains were"
        advice = (
            "call .evaluate() on it, or .inspect()" if len(left) == 1 else "call .evaluate(), or .inspect()"
        )
        return f"{which} left unevaluated, made at {', '.join(left)}; {advice}"


_current: Scope | None = None


def current_scope() -> Scope | None:
    """The scope of the test that runs, or None outside one."""
    return _current


@contextmanager
def entering(scope: Scope) -> Iterator[Scope]:
    """While it lasts, chains belong to this scope."""
    global _current
    before, _current = _current, scope
    try:
        yield scope
    finally:
        _current = before

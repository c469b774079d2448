"""What a run makes of assertions that failed softly or were not evaluated: arguments, options, environment.

The first that says something decides: an argument of the call, the command line of the test run, the
environment, the configuration file of the test run, the default.

    EVALUATOR_STRICT, else ATTEST_STRICT     1, true or yes: what was not evaluated fails
    EVALUATOR_SOFT_LIMIT                     how many soft failures the whole run may have
    EVALUATOR_NOT_EVALUATED                  skip (default), warn or block
    EVALUATOR_MIN_PASS                       the share of trials that must pass, 1 by default
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import isfinite
from threading import Lock
from typing import Final, Literal, NamedTuple, get_args

NotEvaluated = Literal["skip", "warn", "block"]
"""What enforcing does when an assertion was not evaluated and none failed hard: end the test as skipped, warn
and go on, or fail. `block` and strict are the same."""
_CHOICES: Final[tuple[NotEvaluated, ...]] = get_args(NotEvaluated)

STRICT_VARIABLES: Final = ("EVALUATOR_STRICT", "ATTEST_STRICT")
_SOFT_LIMIT: Final = "EVALUATOR_SOFT_LIMIT"
_NOT_EVALUATED: Final = "EVALUATOR_NOT_EVALUATED"
_MIN_PASS: Final = "EVALUATOR_MIN_PASS"
_YES: Final = ("1", "true", "yes")


class Choices(NamedTuple):
    """What one source says; None where it says nothing.

    Attributes:
        strict: whether an assertion that was not evaluated fails the test.
        soft_limit: how many soft failures are allowed.
        not_evaluated: what happens when one was not evaluated.
        min_pass: the share of trials that must pass.
    """

    strict: bool | None = None
    soft_limit: int | None = None
    not_evaluated: NotEvaluated | None = None
    min_pass: float | None = None

    def over(self, other: Choices) -> Choices:
        """These choices, and where they say nothing the other's."""
        if self.strict is None and self.not_evaluated is None:
            strict, not_evaluated = other.strict, other.not_evaluated
        else:  # the two say the same thing in two ways: a source speaks for both
            strict, not_evaluated = self.strict, self.not_evaluated
        limit = other.soft_limit if self.soft_limit is None else self.soft_limit
        share = other.min_pass if self.min_pass is None else self.min_pass
        return Choices(strict, limit, not_evaluated, share)


class Policy(NamedTuple):
    """What is made of the results of a chain.

    Attributes:
        not_evaluated: see `NotEvaluated`.
        soft_limit: how many soft failures the chain may have; any number when None.
    """

    not_evaluated: NotEvaluated = "skip"
    soft_limit: int | None = None

    @property
    def strict(self) -> bool:
        """Whether an assertion that was not evaluated fails the test."""
        return self.not_evaluated == "block"

    def choices(self) -> Choices:
        """The policy as choices, for others to stand over."""
        return Choices(None, self.soft_limit, self.not_evaluated)


DEFAULT_POLICY: Final = Policy()


class RunOptions:
    """The options of a test run, above and below the environment; and its soft failures so far."""

    def __init__(self, above: Choices | None = None, below: Choices | None = None) -> None:
        self._above = above or Choices()
        self._below = below or Choices()
        self._lock = Lock()
        self._soft_failures = 0

    def choices(self) -> Choices:
        """What holds for the run now. Raises `ValueError` when the environment says what is no choice."""
        return self._above.over(choices_of_environment(os.environ).over(self._below))

    def count_soft_failures(self, more: int) -> int:
        """Add to the soft failures of the run; returns how many there are now."""
        with self._lock:
            self._soft_failures += more
            return self._soft_failures


_run = RunOptions()


def run_options() -> RunOptions:
    """The options of this run."""
    return _run


def use_run_options(options: RunOptions) -> RunOptions:
    """Set the options of this run, which a test runner does at its start; returns those before."""
    global _run
    before, _run = _run, options
    return before


def policy_of(asked: Choices) -> Policy:
    """The policy of a chain with these choices as arguments. The soft limit of the run is not the chain's.

    Raises `ValueError` for a choice that there is not.
    """
    _require(asked)
    held = asked.over(run_options().choices())
    if held.strict:
        return Policy("block", asked.soft_limit)
    if held.strict is False and held.not_evaluated == "block":
        return Policy("skip", asked.soft_limit)
    return Policy(held.not_evaluated or "skip", asked.soft_limit)


def choices_of_environment(environment: Mapping[str, str]) -> Choices:
    """What the environment says; an empty variable says nothing.

    Raises `ValueError` when one holds what it cannot mean.
    """
    strict = next((environment[name] for name in STRICT_VARIABLES if environment.get(name)), None)
    return Choices(
        None if strict is None else strict.strip().lower() in _YES,
        read_soft_limit(environment.get(_SOFT_LIMIT), _SOFT_LIMIT),
        read_not_evaluated(environment.get(_NOT_EVALUATED), _NOT_EVALUATED),
        read_min_pass(environment.get(_MIN_PASS), _MIN_PASS),
    )


def read_soft_limit(text: str | None, name: str) -> int | None:
    """A limit of soft failures from text, None from an empty one; `name` is where it stands, for errors."""
    if not text:
        return None
    if not (text.strip().isascii() and text.strip().isdecimal()):
        raise ValueError(f"{name}: expected a whole number from 0, got {text!r:.40}")
    return int(text)


def read_not_evaluated(text: str | None, name: str) -> NotEvaluated | None:
    """A policy from text, None from an empty one; `name` is where it stands, for errors."""
    if not text:
        return None
    for choice in _CHOICES:
        if text.strip().lower() == choice:
            return choice
    raise ValueError(f"{name}: expected one of {', '.join(_CHOICES)}, got {text!r:.40}")


def read_min_pass(text: str | None, name: str) -> float | None:
    """A share of trials from text, None from an empty one; `name` is where it stands, for errors."""
    if not text:
        return None
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    return require_share(share, name, text)


def require_share(share: float, name: str, written: object) -> float:
    """The share, which is above 0 and at most 1; raises `ValueError` otherwise."""
    if type(share) not in (int, float) or not isfinite(share) or not 0 < share <= 1:
        raise ValueError(f"{name}: expected a share above 0 and at most 1, got {written!r:.40}")
    return share


def _require(asked: Choices) -> None:
    limit, choice = asked.soft_limit, asked.not_evaluated
    if limit is not None and (type(limit) is not int or limit < 0):
        raise ValueError(f"soft_limit: expected a whole number from 0, got {limit!r:.40}")
    if choice is not None and choice not in _CHOICES:
        raise ValueError(f"not_evaluated: expected one of {', '.join(_CHOICES)}, got {choice!r:.40}")
    if asked.strict is not None and type(asked.strict) is not bool:
        raise ValueError(f"strict: expected True or False, got {asked.strict!r:.40}")

"""Trials: a test of an agent that does not always do the same is repeated, and the share of passes judged."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar
from unittest import SkipTest

from evaluator.expecting.enforcing import enforce
from evaluator.expecting.policy import Choices, policy_of, require_share, run_options
from evaluator.expecting.scope import Scope, current_scope, entering
from evaluator.expecting.trials_result import Trial, TrialsResult
from evaluator.providers.errors import BudgetExceededError

P = ParamSpec("P")
R = TypeVar("R")

TRIALS: Final = "__trials__"
"""The attribute of a decorated function that holds its `Trials`."""


@dataclass(frozen=True)
class Trials:
    """How often a test is repeated.

    Attributes:
        count: how many trials there are.
        min_pass: the share that must pass; None for the run's (`EVALUATOR_MIN_PASS`), which is 1 by default.
    """

    count: int
    min_pass: float | None = None

    def required(self) -> float:
        """The share that must pass."""
        share = run_options().choices().min_pass if self.min_pass is None else self.min_pass
        return 1.0 if share is None else share


def trials(count: int, *, min_pass: float | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Repeat a test and enforce the verdict of all repetitions.

        @trials(5, min_pass=0.8)
        def test_refund(): ...

    With the pytest plugin every trial has fixtures of its own and the test is reported once;
    `@pytest.mark.trials(5, min_pass=0.8)` says the same. Without it the decorated function, which may be
    `async`, calls the test this often with the same arguments. Trial failures are exceptions of any kind; a
    trial that was not evaluated (or skipped) is no pass. A spent budget ends all of it at once.

    Calling it raises `ExpectationError` or `NotEvaluatedError`, as `enforce` does.
    """
    wanted = read_trials(count, min_pass)

    def decorate(test: Callable[P, R]) -> Callable[P, R]:
        name = f"{test.__module__}.{test.__qualname__}"

        if inspect.iscoroutinefunction(test):

            @wraps(test)
            async def repeated_later(*args: P.args, **kwargs: P.kwargs) -> Any:
                __tracebackhide__ = True
                if _is_repeated():
                    return await test(*args, **kwargs)
                seen: list[Trial] = []
                for _ in range(wanted.count):
                    with _trial(seen, name):
                        await test(*args, **kwargs)
                return _enforce(seen, wanted)

            repeated: Any = repeated_later
        else:

            @wraps(test)
            def repeated_now(*args: P.args, **kwargs: P.kwargs) -> Any:
                __tracebackhide__ = True
                if _is_repeated():
                    return test(*args, **kwargs)
                seen: list[Trial] = []
                for _ in range(wanted.count):
                    with _trial(seen, name):
                        test(*args, **kwargs)
                return _enforce(seen, wanted)

            repeated = repeated_now
        setattr(repeated, TRIALS, wanted)
        decorated: Callable[P, R] = repeated
        return decorated

    return decorate


def read_trials(count: object, min_pass: object = None) -> Trials:
    """The arguments of `trials`, judged. Raises `ValueError`."""
    if type(count) is not int or count < 1:
        raise ValueError(f"trials: expected a whole number from 1, got {count!r:.40}")
    if min_pass is None:
        return Trials(count)
    if type(min_pass) is not int and type(min_pass) is not float:
        raise ValueError(f"min_pass: expected a share above 0 and at most 1, got {min_pass!r:.40}")
    return Trials(count, require_share(min_pass, "min_pass", min_pass))


def _is_repeated() -> bool:
    """Whether a test runner repeats the test, so that a call is one trial."""
    scope = current_scope()
    return scope is not None and scope.trial


@contextmanager
def _trial(seen: list[Trial], name: str) -> Iterator[None]:
    outer = current_scope()
    scope = Scope(name if outer is None else outer.name)
    try:
        with entering(scope):
            yield
    except BudgetExceededError:
        raise
    except SkipTest as skipped:
        seen.append(Trial("skip", str(skipped)))
    except Exception as error:
        text = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
        seen.append(Trial("fail", text or type(error).__name__))
    else:
        left = scope.unevaluated_text()
        seen.append(Trial("fail", left) if left else Trial("pass"))


def _enforce(seen: list[Trial], wanted: Trials) -> None:
    __tracebackhide__ = True
    enforce(TrialsResult(tuple(seen), wanted.required(), policy_of(Choices())))

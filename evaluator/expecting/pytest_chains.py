"""Chains in pytest: options, a scope for each test, chains left unevaluated, soft failures of the run."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Generator
from dataclasses import dataclass, field

import pytest

from evaluator.expecting.enforcing import NotEvaluatedError
from evaluator.expecting.policy import (
    Choices,
    NotEvaluated,
    RunOptions,
    read_min_pass,
    read_not_evaluated,
    read_soft_limit,
    use_run_options,
)
from evaluator.expecting.scope import Scope, current_scope, entering

SOFT_FAILURE = "soft_failure"
"""The name under which a test's soft failures stand among its user properties."""


@dataclass
class _Run:
    """A test run.

    Attributes:
        options: its options, with those of the environment.
        before: the options of the process before it.
        soft_failures: the test and what it said, for every soft failure of the run, workers' included.
    """

    options: RunOptions
    before: RunOptions
    soft_failures: list[tuple[str, str]] = field(default_factory=list)

    def beyond_limit(self) -> str:
        """What to say when the run has more soft failures than it may have, else nothing."""
        limit = self.options.choices().soft_limit
        if limit is None or len(self.soft_failures) <= limit:
            return ""
        return f"{len(self.soft_failures)} soft failures in the whole run, {limit} allowed"


_RUN = pytest.StashKey[_Run]()
_MADE_BEFORE_CALL = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("expect", "assertions over agent traces (evaluator)")
    group.addoption(
        "--expect-strict", action="store_true", help="fail a test in which an assertion was not evaluated"
    )
    group.addoption(
        "--expect-not-evaluated",
        choices=("skip", "warn", "block"),
        help="what becomes of a test in which an assertion was not evaluated and none failed (default: skip)",
    )
    group.addoption("--expect-soft-limit", metavar="N", help="soft failures that the whole run may have")
    group.addoption("--expect-min-pass", metavar="SHARE", help="share of a test's trials that must pass")
    parser.addini("expect_strict", "as --expect-strict", type="bool", default=False)
    parser.addini("expect_not_evaluated", "as --expect-not-evaluated", default="")
    parser.addini("expect_soft_limit", "as --expect-soft-limit", default="")
    parser.addini("expect_min_pass", "as --expect-min-pass", default="")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "trials(count, min_pass=1): repeat the test; so large a share of the trials must pass"
    )
    try:
        options = RunOptions(_of_command_line(config), _of_file(config))
        options.choices()
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[_RUN] = _Run(options, use_run_options(options))


def pytest_unconfigure(config: pytest.Config) -> None:
    run = config.stash.get(_RUN, None)
    if run is not None:
        use_run_options(run.before)


def _of_command_line(config: pytest.Config) -> Choices:
    strict: bool = config.getoption("expect_strict")
    not_evaluated: NotEvaluated | None = config.getoption("expect_not_evaluated")
    return Choices(
        strict or None,
        read_soft_limit(config.getoption("expect_soft_limit"), "--expect-soft-limit"),
        not_evaluated,
        read_min_pass(config.getoption("expect_min_pass"), "--expect-min-pass"),
    )


def _of_file(config: pytest.Config) -> Choices:
    return Choices(
        config.getini("expect_strict") or None,
        read_soft_limit(config.getini("expect_soft_limit"), "expect_soft_limit"),
        read_not_evaluated(config.getini("expect_not_evaluated"), "expect_not_evaluated"),
        read_min_pass(config.getini("expect_min_pass"), "expect_min_pass"),
    )


# One test


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    budget = sys.modules.get("evaluator.providers.budget")
    if budget is not None:  # otherwise there is no provider that could spend
        budget.start_test()
    with entering(Scope(item.nodeid)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    __tracebackhide__ = True
    scope = current_scope()
    if scope is None:
        return (yield)
    made_before = len(scope.chains())
    try:
        yield
        _require_evaluated(scope, made_before)
    except NotEvaluatedError as error:
        raise pytest.skip.Exception(str(error)).with_traceback(error.__traceback__) from None
    finally:
        item.user_properties += [(SOFT_FAILURE, said) for said in scope.take_soft_failures()]
    item.stash[_MADE_BEFORE_CALL] = made_before


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """Chains made in fixtures may be evaluated when these are torn down."""
    yield
    scope = current_scope()
    if scope is not None and item.stash.get(_MADE_BEFORE_CALL, None) is not None:
        del item.stash[_MADE_BEFORE_CALL]
        _require_evaluated(scope, 0)


def _require_evaluated(scope: Scope, first: int) -> None:
    text = scope.unevaluated_text(first)
    if text:
        pytest.fail(text, pytrace=False)


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an `async` test that no other plugin runs; without it pytest would refuse it."""
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return None
    names = inspect.signature(test).parameters
    asyncio.run(test(**{name: pyfuncitem.funcargs[name] for name in names if name in pyfuncitem.funcargs}))
    return True


# The whole run


class _Gatherer:
    """Gathers soft failures where the reports of all workers come together."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            said = [str(value) for name, value in report.user_properties if name == SOFT_FAILURE]
            self._run.soft_failures += [(report.nodeid, text) for text in said]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.OK and self._run.beyond_limit():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._run.soft_failures:
            return
        terminalreporter.section("soft failures", yellow=True)
        for nodeid, text in self._run.soft_failures:
            terminalreporter.line(f"{nodeid}: {text}")
        beyond = self._run.beyond_limit()
        if beyond:
            terminalreporter.line(beyond, red=True)


def pytest_sessionstart(session: pytest.Session) -> None:
    config = session.config
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Gatherer(config.stash[_RUN]), "evaluator-soft-failures")

"""Trials in pytest: a marked test is run several times, each with fixtures of its own, and reported once."""

from __future__ import annotations

from typing import Any, cast

import pytest
from _pytest.runner import runtestprotocol  # what every plugin that runs tests again uses

from evaluator.expecting.policy import Choices, policy_of
from evaluator.expecting.scope import Scope, entering
from evaluator.expecting.trials import TRIALS, Trials, read_trials
from evaluator.expecting.trials_result import Trial, TrialsResult


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse markers that mean nothing before any test runs."""
    for item in items:
        try:
            _wanted(item)
        except (TypeError, ValueError) as error:
            raise pytest.UsageError(f"{item.nodeid}: {error}") from None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    wanted = _wanted(item)
    if wanted is None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _repeated(item, nextitem, wanted):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _wanted(item: pytest.Item) -> Trials | None:
    marker = item.get_closest_marker("trials")
    if marker is not None:
        return _of_marker(*marker.args, **marker.kwargs)
    wanted = getattr(getattr(item, "obj", None), TRIALS, None)
    return wanted if isinstance(wanted, Trials) else None


def _of_marker(count: object = None, min_pass: object = None) -> Trials:
    return read_trials(count, min_pass)


def _repeated(item: pytest.Item, nextitem: pytest.Item | None, wanted: Trials) -> list[pytest.TestReport]:
    """The reports of the test as a whole: of its setup, its call and its teardown."""
    calls: list[pytest.TestReport] = []
    failed_teardown: pytest.TestReport | None = None
    reports: list[pytest.TestReport] = []
    for number in range(1, wanted.count + 1):
        # Before the next trial only what belongs to the test itself is torn down, as if a sibling followed.
        after = nextitem if number == wanted.count else cast(Any, item.parent)
        if number > 1 and isinstance(item.parent, pytest.Class):
            for made in ("_instance", "_obj"):  # each trial has an instance of its own
                item.__dict__.pop(made, None)
        with entering(Scope(item.nodeid, trial=True)):
            reports = runtestprotocol(item, log=False, nextitem=after)
        if len(reports) < 3:  # the setup failed or skipped the test
            return reports
        calls.append(reports[1])
        if failed_teardown is None and reports[2].failed:
            failed_teardown = reports[2]
        if item.session.shouldfail or item.session.shouldstop:
            break
    verdict = TrialsResult(tuple(_trial(report) for report in calls), wanted.required(), policy_of(Choices()))
    return [reports[0], _aggregate(calls, verdict), failed_teardown or reports[2]]


def _trial(report: pytest.TestReport) -> Trial:
    """What became of a trial. Of a test that is expected to fail the failures count as such."""
    said = _told(report)
    if report.passed or said.startswith("[XPASS(strict)]"):
        return Trial("pass")
    if report.skipped and not hasattr(report, "wasxfail"):
        return Trial("skip", said)
    return Trial("fail", said)


def _aggregate(calls: list[pytest.TestReport], verdict: TrialsResult) -> pytest.TestReport:
    """The report of the first trial that went as all together, with the verdict of all."""
    outcome, text = verdict.outcome, verdict.summary()
    alike = [report for report, trial in zip(calls, verdict.trials, strict=True) if trial.outcome == outcome]
    report = alike[0] if alike else calls[0]
    report.duration = sum(each.duration for each in calls)
    report.user_properties = calls[-1].user_properties
    report.sections.append(("Trials", text))
    if outcome != "fail" or hasattr(report, "wasxfail"):
        return report
    crash = getattr(report.longrepr, "reprcrash", None)
    if report.failed and crash is not None:
        crash.message = f"{text.partition(chr(10))[0]}: {crash.message}"
    else:
        report.outcome, report.longrepr = "failed", text
    return report


def _told(report: pytest.TestReport) -> str:
    """Why a trial did not pass, in a few words."""
    told = report.longrepr
    if isinstance(told, tuple):  # a skip: file, line, reason
        return str(told[2]).removeprefix("Skipped: ")
    crash = getattr(told, "reprcrash", None)
    if crash is not None:
        return str(crash.message)
    return str(getattr(report, "wasxfail", "")) if told is None else str(told)

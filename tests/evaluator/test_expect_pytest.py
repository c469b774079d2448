"""Chains and trials under pytest: alone and in workers, with and without plugins for async tests."""

from __future__ import annotations

import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
TRACE = """
import pytest
from evaluator import World, enforce, expect, trials

TRACE = {
    "steps": [{"type": "tool_call", "name": "search", "args": {"q": 1}}],
    "output": {"message": "ok"},
    "metadata": {"cost_usd": 0.2},
}
def good(): return expect(TRACE).required_tools(["search"])
def bad(): return expect(TRACE).required_tools(["pay"])
def soft(): return expect(TRACE).cost_under(0.1, soft=True)
def unknown(): return expect(TRACE).tokens_under(3)
"""
PLUGIN = ("-p", "evaluator.pytest_plugin")
WORKERS = pytest.mark.parametrize("workers", [[], ["-p", "xdist", "-n", "2"]], ids=["alone", "in workers"])


class Project:
    """A folder with tests, and a pytest to run them in another process."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester = pytester

    def write(self, tests: str, name: str = "test_agent.py") -> None:
        (self._pytester.path / name).write_text(TRACE + textwrap.dedent(tests), encoding="utf-8")

    def run(self, *args: str) -> pytest.RunResult:
        """Run the tests in another process."""
        return self._pytester.runpytest_subprocess("-rA", "-p", "no:cacheprovider", *PLUGIN, *args)

    def run_here(self, *args: str) -> pytest.RunResult:
        """Run the tests in this process, which is much faster."""
        return self._pytester.runpytest_inprocess("-rA", "-p", "no:cacheprovider", *PLUGIN, *args)

    def run_without(self, *args: str) -> pytest.RunResult:
        """Run the tests in another process without the plugin."""
        return self._pytester.runpytest_subprocess("-rA", "-p", "no:cacheprovider", *args)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name in (
        "EVALUATOR_STRICT",
        "ATTEST_STRICT",
        "EVALUATOR_SOFT_LIMIT",
        "EVALUATOR_MIN_PASS",
        "PYTEST_ADDOPTS",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # only what a test asks for: it saves a second
    return Project(pytester)


CHAINS = """
def test_good(): good().evaluate()
def test_bad(): bad().evaluate()
def test_soft(): soft().evaluate()
def test_unknown(): unknown().evaluate()
def test_inspected(): assert bad().inspect().outcome == "fail"
def test_enforced(): enforce(bad().inspect())

def test_left():
    good().evaluate()
    good()
    bad()

def test_left_after_adding():
    chain = good()
    chain.evaluate()
    chain.cost_under(1)

def test_other_failure_says_itself():
    bad()
    assert 1 + 1 == 3

def test_other_skip_stays_a_skip():
    bad()
    pytest.skip("no agent today")

@pytest.mark.xfail(strict=True)
def test_expected_to_fail(): bad().evaluate()

async def test_async(): await good().evaluate_async()
async def test_async_bad(): bad().evaluate()
async def test_async_left(): good()

@pytest.fixture
def ended():
    chain = expect(TRACE)
    yield chain
    chain.evaluate()

def test_ended_by_fixture(ended): ended.required_tools(["search"])

@pytest.fixture
def begun(): return expect(TRACE)

def test_begun_by_fixture(begun): begun.required_tools(["search"]).evaluate()
def test_begun_and_left(begun): begun.required_tools(["search"])

@pytest.mark.parametrize("tool", ["search", "pay"])
def test_parametrized(tool): expect(TRACE).required_tools([tool]).evaluate()

class TestClass:
    def test_method(self): good().evaluate()
    def test_left(self): good()
"""


@WORKERS
def test_chains_under_pytest(project: Project, workers: list[str]) -> None:
    project.write(CHAINS)
    ran = project.run(*workers)
    ran.assert_outcomes(passed=9, failed=9, skipped=2, xfailed=1, errors=1)
    ran.stdout.fnmatch_lines_random(
        [
            "FAILED *::test_bad - evaluator.ExpectationError: required_tools: steps: expected *missing: pay*",
            "FAILED *::test_enforced - *",
            "FAILED *::test_left - *: 2 chains were left unevaluated, made at *.py:10, test_agent.py:11;*",
            "FAILED *::test_left_after_adding - *: a chain was left unevaluated, made at test_agent.py:10;*",
            "FAILED *::test_other_failure_says_itself - assert (1 + 1) == 3",
            "FAILED *::test_async_bad - *",
            "FAILED *::test_async_left - Failed: a chain was left unevaluated*",
            "FAILED *::test_parametrized?pay? - *",
            "FAILED *::TestClass::test_left - *",
            "ERROR *::test_begun_and_left - Failed: a chain was left unevaluated*",
            "SKIPPED*tokens_under: not evaluated: missing_evidence: metadata.total_tokens*",
            "SKIPPED*no agent today",
            "*::test_soft: cost_under: metadata.cost_usd: expected ? 0.1, got 0.2 (over by 0.1)",
        ]
    )
    ran.stdout.no_fnmatch_line("*enforcing.py:*")  # a traceback ends where the user evaluates
    ran.stdout.no_fnmatch_line("*INTERNAL*")


def test_the_line_named_is_where_the_chain_was_made(project: Project) -> None:
    project.write("\ndef test_it():\n    made = expect(TRACE)\n    made.cost_under(1)\n", "test_line.py")
    project.run_here().stdout.fnmatch_lines(
        ["*made at test_line.py:16; call .evaluate() on it, or .inspect()"]
    )


STRICT = """
def test_unknown(): unknown().evaluate()
def test_inspected(): assert unknown().inspect().outcome == "fail"
"""


@pytest.mark.parametrize(
    ("args", "ini", "variable"),
    [
        (["--expect-strict"], "", ""),
        (["--expect-not-evaluated=block"], "", ""),
        ([], "expect_strict = true", ""),
        ([], "expect_not_evaluated = block", ""),
        ([], "", "EVALUATOR_STRICT"),
        ([], "", "ATTEST_STRICT"),
    ],
)
def test_a_strict_run(
    project: Project,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    args: list[str],
    ini: str,
    variable: str,
) -> None:
    pytester.makeini(f"[pytest]\n{ini}\n")
    if variable:
        monkeypatch.setenv(variable, "1")
    project.write(STRICT)
    project.run_here(*args).assert_outcomes(passed=1, failed=1)


def test_what_says_more_decides(
    project: Project, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("def test_unknown(): unknown().evaluate()\n")
    pytester.makeini("[pytest]\nexpect_strict = true\n")
    monkeypatch.setenv("EVALUATOR_STRICT", "0")
    project.run_here().assert_outcomes(skipped=1)
    warned = project.run_here("--expect-not-evaluated=warn")
    warned.assert_outcomes(passed=1, warnings=1)
    warned.stdout.fnmatch_lines(["*test_agent.py:14: NotEvaluatedWarning: tokens_under: not evaluated*"])


@WORKERS
def test_the_run_has_a_limit_of_soft_failures(project: Project, workers: list[str]) -> None:
    project.write("\n".join(f"def test_{number}(): soft().evaluate()" for number in range(4)))
    if not workers:
        assert project.run_here("--expect-soft-limit=4").ret == pytest.ExitCode.OK
    beyond = project.run("--expect-soft-limit=3", *workers)
    assert beyond.ret == pytest.ExitCode.TESTS_FAILED
    beyond.stdout.fnmatch_lines(["4 soft failures in the whole run, 3 allowed"])
    if not workers:
        beyond.assert_outcomes(passed=3, failed=1)
        beyond.stdout.fnmatch_lines(["FAILED *test_3*4 soft failures in the whole run, 3 allowed*"])


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--expect-soft-limit=few"], "--expect-soft-limit: expected a whole number from 0, got 'few'"),
        (["--expect-min-pass=0"], "--expect-min-pass: expected a share above 0 and at most 1, got '0'"),
        (
            ["-o", "expect_not_evaluated=no"],
            "expect_not_evaluated: expected one of skip, warn, block, got 'no'",
        ),
    ],
)
def test_options_that_mean_nothing_are_said_in_one_sentence(
    project: Project, args: list[str], said: str
) -> None:
    project.write("def test_good(): good().evaluate()")
    ran = project.run_here(*args)
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    ran.stderr.fnmatch_lines([f"ERROR: {said}"])


TRIALS = """
import random
seen = {}

def turn(name):
    seen[name] = seen.get(name, 0) + 1
    return seen[name]

@pytest.fixture
def world():
    with World({"refunds": []}) as made:
        yield made

@trials(3)
def test_fresh_fixtures(world):
    world.record("refunds", {"id": turn("fresh")})
    expect(TRACE).world(world).count("refunds", equals=1).evaluate()

def test_ran_three_times(): assert seen["fresh"] == 3

@pytest.mark.trials(4, min_pass=0.75)
def test_most(): assert turn("most") != 2

@pytest.mark.trials(4)
def test_all(): assert turn("all") != 2

@pytest.mark.trials(4, min_pass=0.5)
def test_too_few():
    if turn("few") > 1: bad().evaluate()
    good().evaluate()

@pytest.mark.trials(2)
def test_no_evidence(): unknown().evaluate()

@pytest.mark.trials(3, min_pass=0.5)
def test_evidence_in_most(): (unknown() if turn("evidence") == 2 else good()).evaluate()

@pytest.mark.trials(3, min_pass=1)
def test_evidence_would_decide(): (unknown() if turn("decide") == 2 else good()).evaluate()

@pytest.mark.trials(2)
def test_left(): good()

@trials(2)
async def test_async(): await good().evaluate_async()

@pytest.mark.trials(3)
@pytest.mark.xfail
def test_expected_to_fail(): assert turn("xfail") != 2

@pytest.mark.trials(2)
@pytest.mark.skip(reason="not now")
def test_skipped(): raise AssertionError

@pytest.mark.trials(2)
def test_broken_fixture(nothing): pass

@pytest.fixture
def torn():
    yield
    assert turn("torn") != 1

@pytest.mark.trials(2)
def test_torn(torn): pass

@pytest.mark.trials(2)
class TestClass:
    def test_own_instance(self):
        assert not hasattr(self, "seen")
        self.seen = True

    @pytest.mark.parametrize("number", [1, 2])
    def test_parametrized(self, number): assert turn(number)

ids = []

@pytest.mark.trials(2)
def test_same_ids():
    chain = good().required_tools(["search"])
    ids.append([assertion.id for assertion in chain.assertions])
    chain.evaluate()

def test_ids():
    assert ids[0] == ids[1] and ids[0][0] != ids[0][1]
"""


@WORKERS
def test_trials_are_reported_once(project: Project, workers: list[str]) -> None:
    project.write(TRIALS)
    ran = project.run(*workers, *(["--dist", "loadfile"] if workers else []))
    ran.assert_outcomes(passed=11, failed=3, skipped=3, xfailed=1, errors=2)
    ran.stdout.fnmatch_lines_random(
        [
            "FAILED *::test_all - 3 of 4 trials passed; 100 % must: AssertionError: assert 2 != 2*",
            "FAILED *::test_too_few - 1 of 4 trials passed; 50 % must: *ExpectationError: required_tools: *",
            "FAILED *::test_left - *a chain was left unevaluated*",
            "ERROR *::test_broken_fixture*",
            "ERROR *::test_torn*",
            "XFAIL *::test_expected_to_fail*",
            "PASSED *::test_most",
            "PASSED *::test_evidence_in_most",
            "SKIPPED*tokens_under: not evaluated*",
            "SKIPPED*not now",
            "  trial 2 failed: *",
        ]
    )
    ran.stdout.no_fnmatch_line("*INTERNAL*")


def test_the_share_of_trials_is_an_option(
    project: Project, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("seen = []\n\n@trials(4)\ndef test_it(): seen.append(1); assert len(seen) != 2\n")
    project.run_here().assert_outcomes(failed=1)
    project.run_here("--expect-min-pass=0.75").assert_outcomes(passed=1)
    pytester.makeini("[pytest]\nexpect_min_pass = 0.75\n")
    project.run_here().assert_outcomes(passed=1)
    monkeypatch.setenv("EVALUATOR_MIN_PASS", "0.8")
    project.run_here().assert_outcomes(failed=1)


def test_strict_trials_want_all_the_evidence(project: Project) -> None:
    project.write("@pytest.mark.trials(2)\ndef test_it(): pytest.skip('no agent today')\n")
    project.run_here().assert_outcomes(skipped=1)
    strict = project.run_here("--expect-strict")
    strict.assert_outcomes(failed=1)
    strict.stdout.fnmatch_lines(["0 of 2 trials passed, 2 not evaluated; 100 % must"])


@pytest.mark.parametrize(
    "marker", ["trials", "trials()", "trials(0)", "trials(2, min_pass=2)", "trials(n=2)"]
)
def test_a_marker_that_means_nothing_is_refused_before_any_test(project: Project, marker: str) -> None:
    project.write(f"@pytest.mark.{marker}\ndef test_it(): pass\n")
    ran = project.run_here()
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    ran.stderr.fnmatch_lines(["ERROR: test_agent.py::test_it: *"])


def test_without_the_plugin_chains_still_decide(project: Project) -> None:
    project.write(
        """
        def test_good(): good().evaluate()
        def test_bad(): bad().evaluate()
        def test_unknown(): unknown().evaluate()
        def test_left(): good()

        seen = []

        @trials(3, min_pass=0.5)
        def test_trials(): seen.append(1); assert len(seen) != 2

        def test_ran_three_times(): assert len(seen) == 3
        """
    )
    project.run_without().assert_outcomes(passed=4, failed=1, skipped=1)


def test_unittest_knows_the_outcomes_too(project: Project, pytester: pytest.Pytester) -> None:
    project.write(
        """
        import unittest

        class Agent(unittest.TestCase):
            def test_good(self): good().evaluate()
            def test_bad(self): bad().evaluate()
            def test_unknown(self): unknown().evaluate()
            def test_left(self): good()

            @trials(2)
            def test_trials(self): good().evaluate()

        class Async(unittest.IsolatedAsyncioTestCase):
            async def test_good(self): await good().evaluate_async()
        """
    )
    project.run().assert_outcomes(passed=3, failed=2, skipped=1)
    alone = pytester.run(sys.executable, "-m", "unittest", "test_agent")
    alone.stderr.fnmatch_lines(["*missing: pay*", "FAILED (failures=1, skipped=1)"])


ASYNC = """
import asyncio

{mark}
async def test_good():
    await asyncio.sleep(0)
    await good().evaluate_async()

{mark}
async def test_left(): good()

{mark}
async def test_unknown(): await unknown().evaluate_async()

{mark}
@pytest.mark.trials(2)
async def test_trials(): await good().evaluate_async()
"""


@pytest.mark.parametrize(
    ("module", "plugin", "mark"),
    [
        (None, "", ""),
        ("anyio", "anyio.pytest_plugin", "@pytest.mark.anyio"),
        ("pytest_asyncio", "pytest_asyncio.plugin", "@pytest.mark.asyncio"),
    ],
    ids=["plain", "anyio", "asyncio"],
)
def test_async_tests_with_and_without_their_plugins(
    project: Project, module: str | None, plugin: str, mark: str
) -> None:
    if module is not None and not find_spec(module):
        pytest.skip(f"{module} is not installed")
    fixture = '@pytest.fixture\ndef anyio_backend(): return "asyncio"\n'
    project.write(fixture + ASYNC.format(mark=mark))
    ran = project.run(*(["-p", plugin] if plugin else []))
    ran.assert_outcomes(passed=2, failed=1, skipped=1)


def test_a_conftest_can_bring_the_plugin(project: Project, pytester: pytest.Pytester) -> None:
    pytester.makeconftest('pytest_plugins = ["evaluator.pytest_plugin"]')
    project.write("def test_left(): good()")
    project.run_without("--expect-strict").assert_outcomes(failed=1)


def test_each_test_has_a_budget_of_its_own(project: Project) -> None:
    project.write(
        """
        from evaluator import Budget, Spending

        spending = Spending(test=Budget(calls=1))

        @pytest.mark.parametrize("number", [1, 2])
        def test_it(number): spending.reserve(0)
        """
    )
    project.run_here().assert_outcomes(passed=2)

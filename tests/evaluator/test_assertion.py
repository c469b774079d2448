"""`assert_check`, and the pytest plugin as users run it: in processes of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluator import CheckAssertionError, CheckError, SceneError, assert_check, define_check

ROOT = Path(__file__).parents[2]
CHEAP = {"op": "lte", "path": "total", "value": 500}
NAMED = {"op": "exists", "path": "id"}


def failure(scene: Any, check: Any) -> CheckAssertionError:
    with pytest.raises(AssertionError) as caught:
        assert_check(scene, check)
    assert isinstance(caught.value, CheckAssertionError)
    return caught.value


def test_a_pass_is_silent() -> None:
    assert_check({"total": 1, "id": 7}, {"op": "and", "of": [CHEAP, NAMED]})


def test_a_failure_says_why_how_far_and_which_part() -> None:
    error = failure({"total": 540, "id": 7}, define_check("budget", {"op": "and", "of": [NAMED, CHEAP]}))
    assert str(error).splitlines() == [
        'the check "budget" fails: total: expected ≤ 500, got 540 (over by 40)',
        "gap: 40",
        "place: total",
        "part to blame:",
        "  FAIL total is at most 500: found 540 (gap 40)",
    ]
    assert error.parts == (CHEAP,)
    assert (error.result.gap, error.result.anchor) == (40, {"asset_id": "total"})


def test_several_parts_are_all_named_in_the_order_of_the_check() -> None:
    check = {"op": "and", "of": [CHEAP, {"op": "and", "of": [NAMED, {"op": "or", "of": [NAMED, CHEAP]}]}]}
    error = failure({}, check)
    assert error.parts == (CHEAP, NAMED, {"op": "or", "of": [NAMED, CHEAP]})
    assert "3 parts to blame:" in str(error)


def test_a_long_failure_is_told_in_part() -> None:
    many = {"op": "and", "of": [{"op": "exists", "path": f"p{number}"} for number in range(300)]}
    error = failure({}, many)
    assert len(error.parts) == 300
    assert len(str(error).splitlines()) < 50
    assert str(error).endswith("...")


def test_what_cannot_be_judged_is_no_failed_assertion() -> None:
    with pytest.raises(CheckError):
        assert_check({}, {"op": "nope"})
    with pytest.raises(SceneError):
        assert_check({"total": {1}}, CHEAP)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with checks in every form, scenes, and an ordinary test."""
    (tmp_path / "checks" / "deep").mkdir(parents=True)
    (tmp_path / "checks" / "cheap.json").write_text(json.dumps(CHEAP))
    meta = {"severity": "warn"}
    listed = [{"id": "named", "expr": NAMED, "meta": meta}, {"op": "missing", "path": "bad"}]
    (tmp_path / "checks" / "deep" / "more.json").write_text(json.dumps(listed))
    pack = {"id": "p@1", "checks": [{"id": "low", "expr": {"op": "gte", "path": "total", "value": 1}}]}
    (tmp_path / "checks" / "pack.json").write_text(json.dumps(pack))
    lines = [{"id": "a", "scene": {"total": 540}}, {"id": "b", "scene": {"total": 5, "id": 1}}, {"total": 0}]
    (tmp_path / "scenes.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_plain.py").write_text(
        "from evaluator import assert_check\n\n"
        "def test_plain():\n    assert True\n\n"
        f"def test_scene():\n    assert_check({{'total': 540}}, {CHEAP!r})\n"
    )
    return tmp_path


ALONE = {"PYTHONPATH": str(ROOT), "COLUMNS": "200", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""With the plugins that are asked for and no others, which take a second to start."""


def run(project: Path, *args: str, plugin: bool = True) -> subprocess.CompletedProcess[str]:
    asked = ["-p", "evaluator.pytest_plugin"] if plugin else []
    asked += ["-p", "xdist"] if "-n" in args else []
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", *asked, *args]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=project,
        env=kept | ALONE,
        timeout=120,
        check=False,
    )


OUTCOMES = {
    "FAILED checks/cheap.json::cheap[a]",
    "PASSED checks/cheap.json::cheap[b]",
    "PASSED checks/cheap.json::cheap[3]",
    "XFAIL checks/deep/more.json::named[a]",
    "PASSED checks/deep/more.json::named[b]",
    "XFAIL checks/deep/more.json::named[3]",
    "PASSED checks/deep/more.json::more[1][a]",
    "PASSED checks/deep/more.json::more[1][b]",
    "PASSED checks/deep/more.json::more[1][3]",
    "PASSED checks/pack.json::low[a]",
    "PASSED checks/pack.json::low[b]",
    "FAILED checks/pack.json::low[3]",
}


def outcomes(output: str) -> set[str]:
    found = (line.split(" - ")[0] for line in output.splitlines())
    return {line for line in found if line.startswith(("FAILED", "PASSED", "XFAIL")) and "::" in line}


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_checks_run_as_tests_alone_and_in_workers(project: Path, workers: list[str]) -> None:
    ran = run(project, "--checks", "checks", "--scenes", "scenes.jsonl", *workers)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert outcomes(ran.stdout) == OUTCOMES
    assert 'the check "cheap" fails: total: expected ≤ 500, got 540 (over by 40)' in ran.stdout
    assert "warn: id: missing" in ran.stdout
    assert "Traceback" not in ran.stdout


def test_named_tests_run_beside_the_checks(project: Path) -> None:
    ran = run(project, "--checks", "checks/cheap.json", "--scenes", "scenes.jsonl", "tests")
    assert outcomes(ran.stdout) == {
        *(outcome for outcome in OUTCOMES if "cheap" in outcome),
        "PASSED tests/test_plain.py::test_plain",
        "FAILED tests/test_plain.py::test_scene",
    }
    assert "part to blame:" in ran.stdout
    assert "assertion.py" not in ran.stdout  # the traceback ends where the user asserts


def test_unless_asked_nothing_changes(project: Path) -> None:
    ran = run(project)
    assert outcomes(ran.stdout) == {
        "PASSED tests/test_plain.py::test_plain",
        "FAILED tests/test_plain.py::test_scene",
    }
    refused = run(project, "--checks", "checks", plugin=False)
    assert refused.returncode == 4
    assert "unrecognized arguments: --checks" in refused.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--checks", "checks"], "--checks needs --scenes too"),
        (["--checks", "no", "--scenes", "scenes.jsonl"], "--checks no: no such file or folder"),
        (["--checks", "checks", "--scenes", "broken.jsonl"], "broken.jsonl:1:2: not JSON"),
    ],
)
def test_unusable_input_is_said_in_one_sentence(project: Path, args: list[str], said: str) -> None:
    (project / "broken.jsonl").write_text("{broken")
    ran = run(project, *args)
    assert ran.returncode == 4
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr


def test_an_unusable_check_is_an_error_of_its_file(project: Path) -> None:
    (project / "checks" / "bad.json").write_text('{"op": "ltee", "path": "a"}')
    ran = run(project, "--checks", "checks", "--scenes", "scenes.jsonl")
    assert ran.returncode == 2
    assert 'bad.json: $.op: unknown operator "ltee"; did you mean "lte"?' in ran.stdout
    assert "Traceback" not in ran.stdout

"""The evaluator needs msgspec and nothing else, and drags nothing heavy in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import msgspec
import pytest

ROOT = Path(__file__).parents[2]
HEAVY = [
    "numpy",
    "clingo",
    "sklearn",
    "mlflow",
    "pandas",
    "joblib",
    "rich",
    "typer",
    "hydra",
    "induce",
    "experiments",
]


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new virtual environment, made offline, with msgspec and a copy of the evaluator."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False, symlinks=os.name == "posix")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    asked = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    shutil.copytree(Path(msgspec.__file__).parent, packages / "msgspec")
    shutil.copytree(ROOT / "evaluator", packages / "evaluator")
    return python


def run(python: Path | str, *args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [str(python), *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=kept,
        cwd=cwd,
        timeout=60,
        check=False,
    )


def test_it_runs_with_msgspec_alone(bare_python: Path, tmp_path: Path) -> None:
    script = f"""
import importlib.util, sys
assert not [name for name in {HEAVY} if importlib.util.find_spec(name)]
import evaluator
result = evaluator.run_check({{"a": [1, {{"b": "x"}}]}}, {{"op": "contains", "path": "a[1].b",
    "substring": "y"}})
assert (result.passed, result.gap, result.why) == (False, 1, 'a[1].b: "y" not in "x"')
try:
    evaluator.compile_check({{"op": "nope"}})
except evaluator.CheckError as error:
    print(evaluator.json_text({{"place": error.place}}))
print(evaluator.sentence({{"op": "exists", "path": "a"}}), evaluator.canonical_json([1.0]))
"""
    ran = run(bare_python, "-c", script, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == '{"place": "$.op"}\na is present [1]\n'


def test_its_command_line_runs_with_msgspec_alone(bare_python: Path, tmp_path: Path) -> None:
    (tmp_path / "check.json").write_text(json.dumps({"op": "gte", "path": "n", "value": 2}))
    (tmp_path / "scenes.jsonl").write_text('{"n": 3}\n{"id": "x", "scene": {"n": 0.5}}\n')
    ran = run(bare_python, "-m", "evaluator", "check", "check.json", "scenes.jsonl", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (1, "2 scenes: 1 pass, 1 fail\n")
    assert [json.loads(line)["pass"] for line in ran.stdout.splitlines()] == [True, False]
    ran = run(
        bare_python,
        "-m",
        "evaluator",
        "check",
        "check.json",
        "scenes.jsonl",
        "--format",
        "table",
        cwd=tmp_path,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "needs the package rich" in ran.stderr
    assert run(bare_python, "-m", "evaluator", "--version", cwd=tmp_path).returncode == 0


def test_nothing_heavy_is_imported_where_it_is_installed(tmp_path: Path) -> None:
    (tmp_path / "check.json").write_text('{"op": "exists", "path": "n"}')
    (tmp_path / "scenes.jsonl").write_text('{"n": 3}\n')
    script = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from evaluator.cli import main
assert main(["check", "check.json", "scenes.jsonl"]) == 0
print(sorted(set(sys.modules) & set({HEAVY})))
"""
    ran = run(sys.executable, "-c", script, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == "[]"

"""The built package carries its configs and templates, and runs from them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from report_runs import write_run

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "evaluator",
    "induce",
    "experiments",
    "configs",
    "tests/golden",
)


def test_the_wheel_carries_configs_and_templates(experiments: Callable[..., Any], tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling builds the wheel")
    source = tmp_path / "source"
    source.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source / name)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "built")]
    subprocess.run(build, cwd=source, check=True, capture_output=True, timeout=120)
    (wheel,) = (tmp_path / "built").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    shutil.rmtree(source)
    carried = tmp_path / "installed/experiments/configs"
    wanted = {path.relative_to(ROOT / "configs") for path in (ROOT / "configs").rglob("*.yaml")}
    assert {path.relative_to(carried) for path in carried.rglob("*.yaml")} == wanted
    assert (tmp_path / "installed/evaluator/golden/autocheck/checks.jsonl").is_file()
    shown = experiments(tmp_path, "--info", "searchpath", path=tmp_path / "installed")
    assert shown.returncode == 0, shown.stderr
    assert str(carried) in shown.stdout
    write_run(tmp_path / "run")
    reported = experiments(tmp_path, "report", "run", path=tmp_path / "installed")
    assert (reported.returncode, reported.stderr) == (0, "")
    assert (tmp_path / "run/report.html").is_file()

"""The README's examples, run in a shell as they stand and compared with what it prints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from readme_examples import PAGES, examples, settled

ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_the_page_says(page: str, tmp_path: Path) -> None:
    ran = 0
    for example in examples(page):
        done = subprocess.run(
            ["bash", "-c", example.commands],
            cwd=tmp_path,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        assert settled(done.stdout) == settled(example.output), done.stderr
        ran += 1
    assert ran >= 2


@pytest.mark.parametrize("command", ["evaluator", "induce", "experiments"])
def test_each_command_is_also_a_module(command: str) -> None:
    shown = [
        subprocess.run(
            [*words, "--version"], env=ENVIRONMENT, capture_output=True, text=True, check=True
        ).stdout
        for words in ([command], [sys.executable, "-m", command])
    ]
    assert shown[0] == shown[1] != ""

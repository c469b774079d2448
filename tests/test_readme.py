"""The README's examples, run in a shell as they stand and compared with what it prints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from readme_examples import PAGES, Example, examples, settled

ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


class Page:
    """The examples of a page, run one after the other in one folder as far as they are asked for."""

    def __init__(self, name: str, folder: Path) -> None:
        self.folder = folder
        self.left = iter(examples(name))
        self.ran: list[tuple[Example, subprocess.CompletedProcess[str]]] = []

    def example(self, number: int) -> tuple[Example, subprocess.CompletedProcess[str]]:
        while len(self.ran) <= number:
            example = next(self.left)
            self.ran.append((example, self._run(example)))
        return self.ran[number]

    def _run(self, example: Example) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", example.commands],
            cwd=self.folder,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Page]:
    return {name: Page(name, tmp_path_factory.mktemp("page")) for name in PAGES}


@pytest.mark.parametrize(
    ("page", "number"), [(page, number) for page in PAGES for number in range(len(examples(page)))]
)
def test_examples_print_what_the_page_says(pages: dict[str, Page], page: str, number: int) -> None:
    example, done = pages[page].example(number)
    assert done.returncode in (0, 1), done.stderr
    assert settled(done.stdout) == settled(example.output), done.stderr


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_examples(page: str) -> None:
    assert len(examples(page)) >= 2


@pytest.mark.parametrize("command", ["evaluator", "induce", "experiments"])
def test_each_command_is_also_a_module(command: str) -> None:
    shown = [
        subprocess.run(
            [*words, "--version"], env=ENVIRONMENT, capture_output=True, text=True, check=True
        ).stdout
        for words in ([command], [sys.executable, "-m", command])
    ]
    assert shown[0] == shown[1] != ""

"""The examples of the README and of the pages beside it: commands, and what they are said to print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "evaluator/TRACES.md", "evaluator/AUTOMATIONBENCH.md", "experiments/EXPERIMENTS.md")
_EXAMPLE = re.compile(r"<!-- example -->\n```sh\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


class Example(NamedTuple):
    commands: str
    output: str


def examples(page: str) -> list[Example]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [Example(*found.groups()) for found in _EXAMPLE.finditer(text)]


def settled(output: str) -> str:
    """The output without what differs from run to run: times, run ids and folders."""
    output = re.sub(r"\d{4}-\d\d-\d\d/\d\d-\d\d-\d\d-\d+", "DATE/TIME", output)
    output = re.sub(r"\b[0-9a-f]{32}\b", "RUN", output)
    return re.sub(r"(artifacts: )\S*?(mlartifacts)", r"\1\2", output)

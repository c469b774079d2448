"""The examples of README.md: commands, and what it says they print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

README = Path(__file__).parent.parent / "README.md"
_EXAMPLE = re.compile(r"<!-- example -->\n```sh\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


class Example(NamedTuple):
    commands: str
    output: str


def examples() -> list[Example]:
    return [Example(*found.groups()) for found in _EXAMPLE.finditer(README.read_text(encoding="utf-8"))]


def settled(output: str) -> str:
    """The output without what differs from run to run: times, run ids and folders."""
    output = re.sub(r"\d{4}-\d\d-\d\d/\d\d-\d\d-\d\d-\d+", "DATE/TIME", output)
    output = re.sub(r"\b[0-9a-f]{32}\b", "RUN", output)
    return re.sub(r"(artifacts: )\S*?(mlartifacts)", r"\1\2", output)

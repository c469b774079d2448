"""JUnit XML, the form in which test reports are read by build servers: one test case a verdict."""

from __future__ import annotations

import re
from collections.abc import Iterable
from shutil import copyfileobj
from tempfile import SpooledTemporaryFile
from typing import NamedTuple, TextIO

_IN_MEMORY = 1_000_000
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ENTITIES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)


class JUnitCase(NamedTuple):
    """One named result.

    Attributes:
        group: what it belongs to, such as the check's id; `classname` in the report.
        name: its own name, such as the scene's id.
        failure: one sentence saying why it failed; None when it passed.
        detail: further lines about the failure.
        tolerated: whether the failure does not count; it is reported as skipped.
    """

    group: str
    name: str
    failure: str | None = None
    detail: str = ""
    tolerated: bool = False


def write_junit(cases: Iterable[JUnitCase], suite: str, out: TextIO) -> None:
    """Write a report of one test suite.

    The counts stand before the cases, so the cases are kept in a temporary file (in memory while they are few)
    until the last one has come. What XML cannot hold (control characters, lone surrogates) is written as an
    escape such as `\\x1b`. Nothing is written when `cases` raises.
    """
    tests = failures = skipped = 0
    with SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8", newline="\n") as body:
        for case in cases:
            tests += 1
            failed = case.failure is not None
            failures += failed and not case.tolerated
            skipped += failed and case.tolerated
            body.write(_case(case))
        counts = f'tests="{tests}" failures="{failures}" errors="0" skipped="{skipped}"'
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        out.write(f'<testsuites {counts}>\n  <testsuite name="{_attribute(suite)}" {counts}>\n')
        body.seek(0)
        copyfileobj(body, out)
        out.write("  </testsuite>\n</testsuites>\n")


def _case(case: JUnitCase) -> str:
    start = f'    <testcase classname="{_attribute(case.group)}" name="{_attribute(case.name)}"'
    if case.failure is None:
        return f"{start}/>\n"
    element = "skipped" if case.tolerated else "failure"
    message = f'<{element} message="{_attribute(case.failure)}"'
    ending = f">{_attribute(case.detail)}</{element}>" if case.detail else "/>"
    return f"{start}>\n      {message}{ending}\n    </testcase>\n"


def _attribute(text: str) -> str:
    return _NO_XML.sub(_escape, text).translate(_ENTITIES)


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")

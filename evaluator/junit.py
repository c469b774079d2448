"""JUnit XML, the report that build servers read: one suite a check, one case a scene.

Cases are written as they come into a temporary file, because a suite opens with its totals: however many
scenes there are, memory stays small.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Final, TextIO
from xml.sax.saxutils import escape, quoteattr

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_IN_MEMORY: Final = 1_000_000
_CHUNK: Final = 65_536


class JUnitSuite:
    """One `<testsuite>`, its cases kept in the text file `cases`. Made by `junit_suite`."""

    def __init__(self, name: str, properties: dict[str, str], cases: IO[str]) -> None:
        self.name = name
        self.properties = properties
        self.tests = 0
        self.failures = 0
        self._cases = cases

    def add(self, name: str, *, failure: str | None = None, kind: str = "", output: str = "") -> None:
        """Add a case: failed when there is a `failure`, the message, of a `kind`; `output` fails nothing."""
        self.tests += 1
        head = f"<testcase classname={_attribute(self.name)} name={_attribute(name)}"
        inside = ""
        if failure is not None:
            self.failures += 1
            inside += f"<failure type={_attribute(kind)} message={_attribute(failure)}/>\n"
        if output:
            told = escape(_xml_text(output), {"\r": "&#13;"})
            inside += f"<system-out>{told}</system-out>\n"
        self._cases.write(f"{head}>\n{inside}</testcase>\n" if inside else f"{head}/>\n")

    def write(self, out: TextIO) -> None:
        """Write the suite with all its cases."""
        counts = f'tests="{self.tests}" failures="{self.failures}" errors="0" skipped="0"'
        out.write(f"<testsuite name={_attribute(self.name)} {counts}>\n")
        if self.properties:
            out.write("<properties>\n")
            for name, value in self.properties.items():
                out.write(f"<property name={_attribute(name)} value={_attribute(value)}/>\n")
            out.write("</properties>\n")
        self._cases.seek(0)
        while chunk := self._cases.read(_CHUNK):
            out.write(chunk)
        out.write("</testsuite>\n")


@contextmanager
def junit_suite(name: str, properties: dict[str, str] | None = None) -> Iterator[JUnitSuite]:
    """A suite to add cases to; gone, with its temporary file, when the `with` block ends.

    >>> import sys
    >>> with junit_suite("budget") as suite:
    ...     suite.add("a17", failure="total: expected ≤ 500, got 540 (over by 40)", kind="gap 40")
    ...     write_junit(sys.stdout, "yard@1", [suite])
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="yard@1" tests="1" failures="1" errors="0">
    <testsuite name="budget" tests="1" failures="1" errors="0" skipped="0">
    <testcase classname="budget" name="a17">
    <failure type="gap 40" message="total: expected ≤ 500, got 540 (over by 40)"/>
    </testcase>
    </testsuite>
    </testsuites>
    """
    with tempfile.SpooledTemporaryFile(
        max_size=_IN_MEMORY, mode="w+", encoding="utf-8", newline="\n"
    ) as cases:
        yield JUnitSuite(name, properties or {}, cases)


def write_junit(out: TextIO, name: str, suites: Iterable[JUnitSuite]) -> None:
    """Write a whole report, `<testsuites>`, to a text stream in UTF-8."""
    suites = list(suites)
    tests, failures = sum(suite.tests for suite in suites), sum(suite.failures for suite in suites)
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(f'<testsuites name={_attribute(name)} tests="{tests}" failures="{failures}" errors="0">\n')
    for suite in suites:
        suite.write(out)
    out.write("</testsuites>\n")


def _attribute(text: str) -> str:
    return quoteattr(_xml_text(text))


def _xml_text(text: str) -> str:
    """The text with what XML 1.0 cannot hold, such as control characters, written as `\\u0000`."""
    return _NOT_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)

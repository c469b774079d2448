"""Patterns in JSON Schemas of assertions: as ECMA-262 reads them, written out for Python."""

from __future__ import annotations

import re
import unicodedata
import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator import AssertionResult, evaluate_assertion
from evaluator.assertions.schema_pattern import SchemaPattern, SchemaPatternError


def conforms(value: Any, schema: Any) -> AssertionResult:
    trace = {"output": {"structured": value}}
    return evaluate_assertion(trace, {"method": "output_matches_schema", "args": {"schema": schema}})


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        (r"^\p{L}+$", "Ünal", True),
        (r"^\p{L}+$", "O-7", False),
        (r"^\pN$", "٣", True),
        (r"^\d$", "٣", False),
        (r"^\w$", "é", False),
        (r"^[\p{Lu}\d_]+$", "É9_", True),
        (r"^[^\p{Lu}]$", "É", False),
        (r"^\P{Lu}$", "é", True),
        (r"^[\P{L}]$", "é", False),
        (r"a$", "a\n", False),
        (r"^[$]$", "$", True),
        (r"(?<year>\d{4})", "in 2024", True),
        (r"a(?=b)", "ab", True),
        (r"(?i)abc", "xABC", True),
        (r"\Aab\z", "ab", True),
        (r"^[]$", "", False),
        (r"^[^]$", "\n", True),
        (r"^[a[]$", "[", True),
        (r"^[\]]$", "]", True),
        (r"^[a&&b||c~~]$", "&", True),
        (r"\u00e9", "é", True),
    ],
)
def test_patterns_are_ecmas(pattern: str, text: str, matches: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = conforms(text, {"pattern": pattern})
    assert found.passed is matches
    assert matches or f"expected match of /{pattern}/, got" in found.why


@pytest.mark.parametrize("pattern", ["[", "(", "\\", r"\p", r"\p{Greek}", "a{2,1}", "(?x)a"])
def test_what_is_no_pattern_is_an_unusable_spec(pattern: str) -> None:
    for schema in ({"pattern": pattern}, {"patternProperties": {pattern: True}}):
        found = conforms("x", schema)
        assert (found.status, found.reason) == ("hard_fail", "spec_error")
        assert found.why.startswith("output_matches_schema: spec: schema: pattern ")
    with pytest.raises(SchemaPatternError):
        SchemaPattern(pattern)


def test_patterns_of_names_work_beside_other_keywords() -> None:
    named = {"patternProperties": {r"^\p{Lu}": {"type": "integer"}}}
    assert conforms({"É": 1}, named | {"additionalProperties": False}).passed
    assert conforms({"É": "x"}, named).gap == 1
    assert conforms({"É": 1, "é": 2}, named | {"additionalProperties": False}).gap == 1
    assert conforms({"É": 1, "é": 2}, named | {"unevaluatedProperties": False}).gap == 1


@settings(deadline=None, max_examples=30)
@given(st.characters(), st.sampled_from(["L", "Lu", "N", "Nd", "P", "S", "Z", "C", "M"]))
def test_a_category_holds_the_characters_that_unicode_says(character: str, name: str) -> None:
    inside = unicodedata.category(character).startswith(name)
    assert bool(re.fullmatch(SchemaPattern(rf"\p{{{name}}}"), character)) is inside
    assert bool(re.fullmatch(SchemaPattern(rf"\P{{{name}}}"), character)) is not inside

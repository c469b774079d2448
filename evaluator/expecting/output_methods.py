"""Assertions over what an agent said and what its calls exchanged: JSON Schema, content, meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from evaluator.expecting.collecting import Collecting, listed

Schema = Mapping[str, Any] | bool
Threshold = float | Literal["dynamic"]


class SchemaMethods(Collecting):
    """JSON Schema (draft 2020-12). There is no soft option: a malformed exchange is a failure."""

    def output_matches_schema(self, schema: Schema) -> Self:
        """`output.structured` conforms to the schema."""
        return self._add("output_matches_schema", {"schema": schema})

    def output_field_matches_schema(self, field: str, schema: Schema) -> Self:
        """`output.<field>` conforms to the schema; `field` may be a dot path."""
        return self._add("output_field_matches_schema", {"field": field, "schema": schema})

    def tool_args_match_schema(self, tool_name: str, schema: Schema) -> Self:
        """There is a step of this name, and the arguments of every such step conform to the schema."""
        return self._add("tool_args_match_schema", {"tool_name": tool_name, "schema": schema})

    def tool_result_matches_schema(self, tool_name: str, schema: Schema) -> Self:
        """There is a step of this name, and the result of every such step conforms to the schema."""
        return self._add("tool_result_matches_schema", {"tool_name": tool_name, "schema": schema})


class ContentMethods(Collecting):
    """Substrings and patterns, case-insensitive unless asked otherwise."""

    def output_contains(self, value: str, *, case_sensitive: bool = False, soft: bool = False) -> Self:
        """`output.message` contains the text."""
        arguments = {"value": value, "case_sensitive": case_sensitive}
        return self._add("output_contains", arguments, soft=soft)

    def output_not_contains(self, value: str, *, case_sensitive: bool = False, soft: bool = False) -> Self:
        """`output.message` does not contain the text; it is there."""
        arguments = {"value": value, "case_sensitive": case_sensitive}
        return self._add("output_not_contains", arguments, soft=soft)

    def output_matches_regex(self, pattern: str, *, soft: bool = False) -> Self:
        """Some part of `output.message` matches the RE2 pattern; case-sensitive unless it says `(?i)`."""
        return self._add("output_matches_regex", {"pattern": pattern}, soft=soft)

    def output_has_all_keywords(
        self, keywords: Sequence[str], *, case_sensitive: bool = False, soft: bool = False
    ) -> Self:
        """`output.message` contains each keyword; the score is the share that it does."""
        arguments = {"keywords": listed(keywords), "case_sensitive": case_sensitive}
        return self._add("output_has_all_keywords", arguments, soft=soft)

    def output_has_any_keyword(
        self, keywords: Sequence[str], *, case_sensitive: bool = False, soft: bool = False
    ) -> Self:
        """`output.message` contains at least one of the keywords."""
        arguments = {"keywords": listed(keywords), "case_sensitive": case_sensitive}
        return self._add("output_has_any_keyword", arguments, soft=soft)

    def output_forbids(self, terms: Sequence[str]) -> Self:
        """`output.message` contains none of the terms. There is no soft option."""
        return self._add("output_forbids", {"terms": listed(terms)})

    def content_contains(
        self, target: str, value: str, *, case_sensitive: bool = False, soft: bool = False
    ) -> Self:
        """What stands at the target contains the text.

        Targets: `output`, `output.<path>`, and of the first step called N `steps[?name=='N'].args[.<path>]`
        or `steps[?name=='N'].result[.<path>]`.
        """
        arguments = {"target": target, "value": value, "case_sensitive": case_sensitive}
        return self._add("content_contains", arguments, soft=soft)


class SemanticMethods(Collecting):
    """Meaning, by embeddings or a judge; without a provider not evaluated.

    A threshold is a number above 0, or "dynamic": a bar made from the earlier scores under the same id.
    """

    def output_similar_to(
        self, reference: str, *, threshold: Threshold = 0.8, model: str | None = None, soft: bool = False
    ) -> Self:
        """The embeddings of `output.message` and the reference have at least this cosine."""
        arguments = {"reference": reference, "threshold": threshold}
        return self._add("output_similar_to", arguments, {"model": model}, soft=soft)

    def passes_judge(
        self,
        criteria: str,
        *,
        rubric: str = "default",
        threshold: Threshold = 0.8,
        model: str | None = None,
        soft: bool = False,
    ) -> Self:
        """A judge scores `output.message` by these criteria, under a rubric, at least this high."""
        arguments = {"criteria": criteria, "rubric": rubric, "threshold": threshold}
        return self._add("passes_judge", arguments, {"model": model}, soft=soft)

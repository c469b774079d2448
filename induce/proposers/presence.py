"""Candidates for ``exists`` and ``missing``."""

from __future__ import annotations

from collections.abc import Iterator

from induce.costs import DescriptionLength
from induce.literals import Literal, PathTest
from induce.profile import Scope
from induce.proposers.rows import Candidate


def presence(scope: Scope, cost: DescriptionLength) -> Iterator[Candidate]:
    """Presence and absence of every path but lengths."""
    for path, column in scope.columns.items():
        if column.kind == "length":
            continue
        for op, mask in (("exists", column.present), ("missing", ~column.present)):
            if cost.grammar.allows(op) and scope.telling(mask):
                yield Candidate(Literal(PathTest(op, path)), mask, cost.presence(scope, column, op), path)

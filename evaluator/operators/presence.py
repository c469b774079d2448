"""Presence: something is at a path, or nothing is (`exists`, `missing`). A key holding null is present."""

from __future__ import annotations

from evaluator.fields import Fields
from evaluator.node import Node, atom
from evaluator.values import MISSING, compact


def exists(fields: Fields) -> Node:
    """Something, be it null, is at `path`."""
    path, get = fields.path("path")
    return atom(
        path, get, lambda found: found is not MISSING, passing=f"{path} present", failing=f"{path}: missing"
    )


def missing(fields: Fields) -> Node:
    """Nothing, not even null, is at `path`."""
    path, get = fields.path("path")
    return atom(
        path,
        get,
        lambda found: found is MISSING,
        passing=f"{path}: absent (as required)",
        failing=lambda found: f"{path}: expected missing, got {compact(found)}",
    )

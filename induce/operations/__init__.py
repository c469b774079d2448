"""Operators over traces and worlds as the learner handles them: candidates, truth columns and prices.

One module a family. A family names its candidates by hashable keys; it prices a key, says it on the wire,
reads it back, and tabulates the truth of all of them over the scenes without running the evaluator. What core
operators say as well (required and forbidden tools, how often a tool is called, tests of one argument, how
many records there are) is left to them.
"""

from induce.operations.catalogue import Operations

__all__ = ["Operations"]

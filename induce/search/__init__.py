"""Combinatorial search for the cheapest DNF over packed truth columns."""

from induce.search.bits import pack, unpack
from induce.search.problem import Hypothesis, Progress, SearchOutcome, SearchProblem, canonical, preference
from induce.search.search import search

__all__ = [
    "Hypothesis",
    "Progress",
    "SearchOutcome",
    "SearchProblem",
    "canonical",
    "pack",
    "preference",
    "search",
    "unpack",
]

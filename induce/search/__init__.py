"""Combinatorial search for the cheapest DNF over packed truth columns."""

from induce.search.bits import pack, unpack
from induce.search.openings import Openings, TooManyOpeningsError, openings
from induce.search.problem import Hypothesis, Progress, SearchOutcome, SearchProblem, canonical, preference
from induce.search.search import search

__all__ = [
    "Hypothesis",
    "Openings",
    "Progress",
    "SearchOutcome",
    "SearchProblem",
    "TooManyOpeningsError",
    "canonical",
    "openings",
    "pack",
    "preference",
    "search",
    "unpack",
]

"""Combinatorial search for the cheapest DNF over packed truth columns."""

from induce.search.bits import pack, unpack
from induce.search.openings import Asks, Openings, TooManyOpeningsError, Unknown, openings
from induce.search.problem import Hypothesis, Progress, SearchOutcome, SearchProblem, canonical, preference
from induce.search.search import search
from induce.search.term_prices import TermPrices, term_prices, undercuts
from induce.search.terms import get_ready

__all__ = [
    "Asks",
    "Hypothesis",
    "Openings",
    "Progress",
    "SearchOutcome",
    "SearchProblem",
    "TermPrices",
    "TooManyOpeningsError",
    "Unknown",
    "canonical",
    "get_ready",
    "openings",
    "pack",
    "preference",
    "search",
    "term_prices",
    "undercuts",
    "unpack",
]

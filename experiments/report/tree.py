"""A check as a tree to be read: what joins its parts, what is searched, and each test in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from evaluator import CheckError, json_text, sentence
from induce.parts import children, expression_of

_DEEPEST = 40
_PLAIN: Final = {
    "find": {"op", "collection", "where"},
    "count": {"op", "collection", "where", "eq", "gte", "lte"},
}
"""Fields of a search that a heading can say; one with others is said by its sentence."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A part of a check: its heading, the name of a collection at its end, and the parts below it."""

    words: str
    collection: str = ""
    then: str = ""
    below: tuple[Branch, ...] = ()


def tree_of(check: object) -> Branch:
    """The tree of a check, bare or defined. Raises :class:`evaluator.CheckError` where it is malformed."""
    return _branch(expression_of(check), inside=False, depth=0)


def _branch(check: dict[str, Any], *, inside: bool, depth: int) -> Branch:
    op = check["op"]
    if depth == _DEEPEST:
        return Branch(f"and so on: {json_text(check)[:200]}")
    if op in ("and", "or") and len(check["of"]) > 1:
        words = "All of these hold" if op == "and" else "At least one of these holds"
        return Branch(words, below=_below(check, inside, depth))
    if op == "not":
        return _denied(check, inside, depth)
    if set(check) <= _PLAIN.get(op, set()) and "where" in check:
        quantity = "Some element" if op == "find" else _quantity(check)
        return _search(quantity, check, depth)
    return Branch(_leaf(check, inside))


def _below(check: dict[str, Any], inside: bool, depth: int) -> tuple[Branch, ...]:
    return tuple(_branch(part, inside=inside, depth=depth + 1) for _, part in children(check))


def _denied(check: dict[str, Any], inside: bool, depth: int) -> Branch:
    denied = check["of"]
    if denied["op"] == "find" and set(denied) <= _PLAIN["find"]:
        where = denied["where"]
        if where["op"] == "not":
            return _search("Every element", {**denied, "where": where["of"]}, depth)
        return _search("No element", denied, depth)
    if denied["op"] in ("and", "or", "find", "count"):
        return Branch("It is not so that", below=_below(check, inside, depth))
    return Branch(_leaf(check, inside))


def _search(quantity: str, check: dict[str, Any], depth: int) -> Branch:
    where = check["where"]
    below = _branch(where, inside=True, depth=depth + 1)
    verb = "has" if quantity.endswith("element") else "have"
    if where["op"] == "and" and below.below:  # "has all of" says what a branch of its own would
        return Branch(f"{quantity} of", check["collection"], f"{verb} all of", below.below)
    if where["op"] == "or" and below.below:
        return Branch(f"{quantity} of", check["collection"], f"{verb} at least one of", below.below)
    return Branch(f"{quantity} of", check["collection"], f"{verb}", (below,))


def _quantity(check: dict[str, Any]) -> str:
    words = {"eq": "exactly", "gte": "at least", "lte": "at most"}
    given = [f"{word} {json_text(check[bound])}" for bound, word in words.items() if bound in check]
    if not given:
        return "Any number of elements"
    said = " and ".join(given)
    last = next(check[bound] for bound in reversed(words) if bound in check)
    return f"{said[0].upper()}{said[1:]} element{'' if last == 1 else 's'}"


def _leaf(check: dict[str, Any], inside: bool) -> str:
    try:
        said = sentence(check)
    except CheckError:
        said = json_text(check)
    if inside and said.startswith("the scene ") and check.get("path") == "":
        return f"the element {said.removeprefix('the scene ')}"
    return said

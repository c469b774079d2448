"""Structures of Zendo pieces: what lies where and touches what, labelled by a named hidden rule.

In Zendo (K. Heath, 2001) players find out a secret rule about structures of small pyramids. A scene here
holds pieces with a colour, a size, an orientation and a place on a board; each lists the pieces that it
touches (those on neighbouring squares) and those in its column, so that a relation between two pieces is a
search within a search. The generator and the rules are our own.
"""

from __future__ import annotations

import copy
import random
from typing import Any

from experiments.datasets.base import Rule
from experiments.datasets.build import at_least, at_most, both, either, eq, gte, lte, negated, none, some
from experiments.datasets.generator import Generator

_COLOURS = ("red", "green", "blue", "yellow")
_ORIENTATIONS = ("upright", "upright", "left", "right", "flat")
_BOARD = 8
_SEEN = ("id", "colour", "size", "orientation")

_SMALL = lte("size", 3)
_LARGE = gte("size", 7)

RULES: dict[str, Rule] = {
    "a_large_piece": Rule("some piece is of size 7 or more", some("pieces", _LARGE)),
    "no_flat_red": Rule(
        "no red piece lies flat",
        none("pieces", eq("colour", "red"), eq("orientation", "flat")),
    ),
    "two_blue": Rule("at least two pieces are blue", at_least(2, "pieces", eq("colour", "blue"))),
    "at_most_one_upright": Rule(
        "at most one piece stands upright",
        at_most(1, "pieces", eq("orientation", "upright")),
    ),
    "red_green_and_no_yellow": Rule(
        "there are a red and a green piece, and no yellow one",
        both(
            some("pieces", eq("colour", "red")),
            some("pieces", eq("colour", "green")),
            none("pieces", eq("colour", "yellow")),
        ),
    ),
    "small_touches_red": Rule(
        "some piece of size 3 or less touches a red one",
        some("pieces", _SMALL, some("touches", eq("colour", "red"))),
    ),
    "blue_touches_blue": Rule(
        "two blue pieces touch",
        some("pieces", eq("colour", "blue"), some("touches", eq("colour", "blue"))),
    ),
    "touches_two": Rule(
        "some piece touches two others or more",
        some("pieces", at_least(2, "touches")),
    ),
    "upright_in_column_with_flat": Rule(
        "some upright piece has a flat one in its column",
        some("pieces", eq("orientation", "upright"), some("column", eq("orientation", "flat"))),
    ),
    "free_large_or_red_touching_green": Rule(
        "some piece of size 7 or more touches nothing, or a red piece touches a green one",
        either(
            some("pieces", _LARGE, negated(at_least(1, "touches"))),
            some("pieces", eq("colour", "red"), some("touches", eq("colour", "green"))),
        ),
    ),
}


def _structure(source: random.Random) -> dict[str, Any]:
    pieces: list[dict[str, Any]] = []
    for _ in range(source.randint(2, 6)):
        pieces.append(_piece(source, pieces))
    return _related(pieces)


def _piece(source: random.Random, others: list[dict[str, Any]]) -> dict[str, Any]:
    x, y = _place(source, others)
    return {
        "id": "",
        "colour": source.choice(_COLOURS),
        "size": source.randint(1, 9),
        "orientation": source.choice(_ORIENTATIONS),
        "x": x,
        "y": y,
    }


def _place(source: random.Random, others: list[dict[str, Any]]) -> tuple[int, int]:
    """A free square, beside another piece four times of ten."""
    taken = {(other["x"], other["y"]) for other in others}
    while True:
        x, y = source.randrange(_BOARD), source.randrange(_BOARD)
        if others and source.random() < 0.4:
            near = source.choice(others)
            x, y = near["x"] + source.randint(-1, 1), near["y"] + source.randint(-1, 1)
        if (x, y) not in taken and 0 <= x < _BOARD and 0 <= y < _BOARD:
            return x, y


def _changed(source: random.Random, scene: dict[str, Any]) -> dict[str, Any]:
    """The structure with a piece added, taken away or moved, or one of its properties drawn anew."""
    pieces: list[dict[str, Any]] = copy.deepcopy(scene["pieces"])
    place = source.randrange(len(pieces))
    others = pieces[:place] + pieces[place + 1 :]
    what = source.choice(("colour", "size", "orientation", "move", "less", "more"))
    if what == "more" and len(pieces) < 6:
        pieces.append(_piece(source, pieces))
    elif what == "less" and len(pieces) > 2:
        pieces = others
    elif what == "move":
        pieces[place]["x"], pieces[place]["y"] = _place(source, others)
    elif what in pieces[place]:
        pieces[place][what] = _piece(source, pieces)[what]
    return _related(pieces)


def _related(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    """The structure of these pieces, with what each touches and has in its column."""
    for number, piece in enumerate(pieces, start=1):
        piece["id"] = f"p{number}"
    for piece in pieces:
        others = [other for other in pieces if other is not piece]
        column = [other for other in others if other["x"] == piece["x"]]
        beside = [other for other in others if abs(other["x"] - piece["x"]) <= 1]
        piece["touches"] = [_seen(other) for other in beside if abs(other["y"] - piece["y"]) <= 1]
        piece["column"] = [_seen(other) for other in column]
    return {"pieces": pieces}


def _seen(piece: dict[str, Any]) -> dict[str, Any]:
    return {key: piece[key] for key in _SEEN}


ZENDO = Generator("zendo", "structures", RULES, _structure, _changed)

"""Trains after Michalski: cars with a shape, wheels, a roof and loads, labelled by a named hidden rule.

Michalski's trains (R. S. Michalski and J. B. Larson, 1977) are the puzzle that relational learners are shown
first: ten trains, and why do five of them go east? These are drawn anew in that manner, any number of them,
and the rules are our own, from one car that differs to loads inside of cars.
"""

from __future__ import annotations

import copy
import random
from typing import Any

from experiments.datasets.base import Rule
from experiments.datasets.build import at_least, both, either, eq, gte, neq, none, some
from experiments.datasets.generator import Generator

_LENGTHS = ("short", "short", "long")
_ROOFS = ("open", "open", "flat", "peaked", "jagged", "arched")
_BODIES = ("rectangle", "rectangle", "bucket", "ellipse", "hexagon")
_SHAPES = ("circle", "triangle", "rectangle", "hexagon", "diamond")

_CARS = "train.cars"

RULES: dict[str, Rule] = {
    "short_closed_car": Rule(
        "some car is short and closed",
        some(_CARS, eq("length", "short"), neq("roof", "open")),
    ),
    "no_long_open_car": Rule(
        "no car is long and open",
        none(_CARS, eq("length", "long"), eq("roof", "open")),
    ),
    "two_open_cars": Rule(
        "at least two cars are open",
        at_least(2, _CARS, eq("roof", "open")),
    ),
    "four_cars_or_jagged_roof": Rule(
        "there are at least four cars, or one with a jagged roof",
        either(at_least(4, _CARS), some(_CARS, eq("roof", "jagged"))),
    ),
    "triangle_load": Rule(
        "some car carries triangles",
        some(_CARS, some("loads", eq("shape", "triangle"))),
    ),
    "pile_of_circles_on_short_car": Rule(
        "some short car carries two or more circles of a kind",
        some(_CARS, eq("length", "short"), some("loads", eq("shape", "circle"), gte("count", 2))),
    ),
    "three_wheels_and_long_closed": Rule(
        "some car has three wheels, and some car is long and closed",
        both(
            some(_CARS, eq("wheels", 3)),
            some(_CARS, eq("length", "long"), neq("roof", "open")),
        ),
    ),
    "two_cars_with_two_loads": Rule(
        "at least two cars carry two loads or more",
        at_least(2, _CARS, at_least(2, "loads")),
    ),
    "bucket_or_hexagon_in_front": Rule(
        "the first car is a bucket, or some car carries a hexagon and no car has three wheels",
        either(
            eq("train.cars[0].body", "bucket"),
            both(some(_CARS, some("loads", eq("shape", "hexagon"))), none(_CARS, eq("wheels", 3))),
        ),
    ),
}


def _train(source: random.Random) -> dict[str, Any]:
    cars = [_car(source) for _ in range(source.choice((2, 2, 3, 3, 3, 4, 4, 5)))]
    return _numbered({"train": {"engine": source.choice(("steam", "diesel")), "cars": cars}})


def _car(source: random.Random) -> dict[str, Any]:
    length = source.choice(_LENGTHS)
    return {
        "position": 0,
        "length": length,
        "body": source.choice(_BODIES),
        "wheels": 3 if length == "long" and source.random() < 0.5 else 2,
        "roof": source.choice(_ROOFS),
        "double_sided": source.random() < 0.3,
        "loads": [_load(source) for _ in range(source.choice((0, 1, 1, 1, 2, 2, 3)))],
    }


def _load(source: random.Random) -> dict[str, Any]:
    return {"shape": source.choice(_SHAPES), "count": source.choice((1, 1, 1, 2, 3))}


def _changed(source: random.Random, scene: dict[str, Any]) -> dict[str, Any]:
    """The train with one car, one of its properties or one load drawn anew, added or taken away."""
    scene = copy.deepcopy(scene)
    cars: list[dict[str, Any]] = scene["train"]["cars"]
    place = source.randrange(len(cars))
    car, other = cars[place], _car(source)
    what = source.choice(("length", "body", "wheels", "roof", "loads", "load", "less", "more"))
    if what == "load" and car["loads"]:
        car["loads"][source.randrange(len(car["loads"]))] = _load(source)
    elif what == "less" and len(cars) > 2:
        del cars[place]
    elif what == "more" and len(cars) < 5:
        cars.insert(place, other)
    elif what == "wheels":
        car["wheels"] = 5 - car["wheels"] if car["length"] == "long" else 2
    elif what == "length":
        car |= {"length": other["length"], "wheels": other["wheels"]}
    elif what in car:
        car[what] = other[what]
    return _numbered(scene)


def _numbered(scene: dict[str, Any]) -> dict[str, Any]:
    for number, car in enumerate(scene["train"]["cars"], start=1):
        car["position"] = number
    return scene


TRAINS = Generator("trains", "trains", RULES, _train, _changed)

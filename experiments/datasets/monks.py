"""The MONK's problems: robots of six attributes, all 432 of them, and three published rules.

S. Thrun et al., *The MONK's Problems: A Performance Comparison of Different Learning Algorithms*,
CMU-CS-91-197, 1991. The rules, the sizes of the training sets (124, 169 and 122) and the noise of the third
(5 % of the training labels) are those of the report; which robots are drawn follows from the seed, each label
by its share. The unseen scenes are all other robots.
"""

from __future__ import annotations

import random
from itertools import combinations, product
from typing import Any

from evaluator import compile_check
from experiments.datasets.base import Dataset, Rule
from experiments.datasets.build import Check, both, either, eq, negated, neq
from induce.scenes import LabelledScenes

_ATTRIBUTES = {
    "head_shape": ("round", "square", "octagon"),
    "body_shape": ("round", "square", "octagon"),
    "is_smiling": ("yes", "no"),
    "holding": ("sword", "balloon", "flag"),
    "jacket_color": ("red", "yellow", "green", "blue"),
    "has_tie": ("yes", "no"),
}
_SIZES = {"monks1": 124, "monks2": 169, "monks3": 122}
_NOISE = {"monks3": 0.05}


def _two_firsts() -> Check:
    firsts = [eq(f"robot.{name}", values[0]) for name, values in _ATTRIBUTES.items()]
    return either(
        *(
            both(*(first if place in pair else negated(first) for place, first in enumerate(firsts)))
            for pair in combinations(range(len(firsts)), 2)
        )
    )


RULES: dict[str, Rule] = {
    "monks1": Rule(
        "head and body have the same shape, or the jacket is red",
        either(
            {"op": "eq", "path": "robot.head_shape", "value_path": "robot.body_shape"},
            eq("robot.jacket_color", "red"),
        ),
    ),
    "monks2": Rule("exactly two of the six attributes have the first of their values", _two_firsts()),
    "monks3": Rule(
        "the jacket is green and a sword is held, or the jacket is not blue and the body is no octagon",
        either(
            both(eq("robot.jacket_color", "green"), eq("robot.holding", "sword")),
            both(neq("robot.jacket_color", "blue"), neq("robot.body_shape", "octagon")),
        ),
    ),
}


def dataset(rule: str, train: int | None = None, noise: float | None = None, seed: int = 0) -> Dataset:
    """``train`` robots to learn from, ``round(noise * train)`` of their labels flipped; all others unseen.

    None stands for what was published. There are at most 430 robots to learn from.
    """
    size = _SIZES[rule] if train is None else train
    share = _NOISE.get(rule, 0.0) if noise is None else noise
    robots = _robots(rule)
    source = random.Random(f"monks/{rule}/{seed}")
    wanted = {"pass": min(max(round(size * robots.counts["pass"] / len(robots)), 1), size - 1)}
    wanted["fail"] = size - wanted["pass"]
    chosen = [
        place
        for label, number in wanted.items()
        for place in source.sample([i for i, own in enumerate(robots.labels) if own == label], number)
    ]
    source.shuffle(chosen)
    flipped = set(source.sample(chosen, round(share * size)))
    noisy = f", {share:.0%} of the training labels flipped" if flipped else ""
    return Dataset(
        name="monks",
        source=f"robots of the MONK's problems, rule {rule}, seed {seed}{noisy}",
        train=_with_flips(robots, flipped).subset(chosen),
        test=robots.subset(sorted(set(range(len(robots))).difference(chosen))),
        hidden_rule=RULES[rule],
    )


def _robots(rule: str) -> LabelledScenes:
    """All robots, labelled by the rule; the digits of an id are the places of the values."""
    passes = compile_check(RULES[rule].check).passes
    places = list(product(*(range(len(values)) for values in _ATTRIBUTES.values())))
    scenes: list[dict[str, Any]] = [
        {
            "robot": {
                name: values[place] for (name, values), place in zip(_ATTRIBUTES.items(), own, strict=True)
            }
        }
        for own in places
    ]
    return LabelledScenes(
        ids=tuple("robot-" + "".join(str(place + 1) for place in own) for own in places),
        labels=tuple("pass" if passes(scene) else "fail" for scene in scenes),
        scenes=tuple(scenes),
        weights=(1.0,) * len(scenes),
    )


def _with_flips(scenes: LabelledScenes, flipped: set[int]) -> LabelledScenes:
    other = {"pass": "fail", "fail": "pass", None: None}
    return LabelledScenes(
        ids=scenes.ids,
        labels=tuple(other[own] if i in flipped else own for i, own in enumerate(scenes.labels)),
        scenes=scenes.scenes,
        weights=scenes.weights,
    )

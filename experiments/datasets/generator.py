"""Balanced labelled scenes from a seeded generator, with near misses, noise and a hidden rule.

Scenes are drawn until each label has its share. A near miss is a passing scene of its own, drawn and then
changed in one small way after another until the rule fails: it is not in the set itself, so that nothing but
the rule tells it from a passing one. Everything follows from the seed, the rule's name and the part's,
through :class:`random.Random`, so a seed means the same scenes on every platform, and a larger set holds the
smaller.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evaluator import canonical_json, compile_check
from experiments.datasets.base import Dataset, Rule
from induce.scenes import LabelledScenes

Scene = dict[str, Any]

_MOST_DRAWS_PER_SCENE = 400
_MOST_CHANGES = 3


@dataclass(frozen=True, slots=True)
class Generator:
    """How scenes of one kind are drawn and changed.

    ``draw`` makes a scene; ``change`` returns a copy of one that differs in one small way, and there are no
    near misses without it. ``noun`` names the scenes in the plural.
    """

    name: str
    noun: str
    rules: Mapping[str, Rule]
    draw: Callable[[random.Random], Scene]
    change: Callable[[random.Random, Scene], Scene] | None = None

    def dataset(
        self, rule: str, train: int, test: int, *, noise: float = 0.0, near_misses: float = 0.0, seed: int = 0
    ) -> Dataset:
        """Training scenes, ``noise`` of their labels flipped, and unseen ones whose labels are the rule's."""
        flipped = f", {noise:.0%} of the training labels flipped" if noise else ""
        return Dataset(
            name=self.name,
            source=f"generated {self.noun}, rule {rule}, seed {seed}{flipped}",
            train=self.scenes(rule, "train", train, noise=noise, near_misses=near_misses, seed=seed),
            test=self.scenes(rule, "test", test, near_misses=near_misses, seed=seed),
            hidden_rule=self.rules[rule],
        )

    def scenes(
        self,
        rule: str,
        part: str,
        size: int,
        *,
        noise: float = 0.0,
        near_misses: float = 0.0,
        seed: int = 0,
    ) -> LabelledScenes:
        """``size`` scenes labelled by the named rule, half of them passing (one more when ``size`` is odd).

        ``part`` ("train", "test", "pool") names an independent stream of the same seed and begins the ids.
        ``near_misses`` is the share of failing scenes that are near misses. ``noise`` is the share of labels
        (0 to 0.5) that are flipped after balancing: exactly ``round(noise * size)`` of them.

        Raises KeyError for a rule that the generator has not.
        """
        passes = compile_check(self.rules[rule].check).passes
        stream = f"{self.name}/{rule}/{part}/{seed}"
        near = round(near_misses * (size // 2)) if self.change else 0
        drawn = self._drawn(rule, stream, passes, {"pass": size - size // 2, "fail": size // 2 - near})
        drawn += self._near_misses(rule, stream, passes, near)
        if near:
            random.Random(f"{stream}/order").shuffle(drawn)
        labels = [label for label, _ in drawn]
        for flipped in random.Random(f"{stream}/noise").sample(range(size), round(noise * size)):
            labels[flipped] = "fail" if labels[flipped] == "pass" else "pass"
        return LabelledScenes(
            ids=tuple(f"{part}-{number:04}" for number in range(1, size + 1)),
            labels=tuple(labels),
            scenes=tuple(scene for _, scene in drawn),
            weights=(1.0,) * size,
        )

    def _drawn(
        self, rule: str, stream: str, passes: Callable[[Scene], bool], wanted: dict[str, int]
    ) -> list[tuple[str, Scene]]:
        found: list[tuple[str, Scene]] = []
        for scene in self._distinct(stream, sum(wanted.values())):
            if not any(wanted.values()):
                break
            label = "pass" if passes(scene) else "fail"
            if wanted[label]:
                wanted[label] -= 1
                found.append((label, scene))
        if any(wanted.values()):
            raise RuntimeError(f"the {self.name} generator decides the rule {rule} one way too rarely")
        return found

    def _near_misses(
        self, rule: str, stream: str, passes: Callable[[Scene], bool], wanted: int
    ) -> list[tuple[str, Scene]]:
        found: list[tuple[str, Scene]] = []
        source = random.Random(f"{stream}/changes")
        for scene in self._distinct(f"{stream}/near", wanted):
            if len(found) == wanted:
                break
            if self.change is None or not passes(scene):
                continue
            for _ in range(_MOST_CHANGES):
                scene = self.change(source, scene)
                if not passes(scene):
                    found.append(("fail", scene))
                    break
        if len(found) < wanted:
            raise RuntimeError(f"the {self.name} generator finds too few near misses of the rule {rule}")
        return found

    def _distinct(self, stream: str, size: int) -> Iterator[Scene]:
        """Different scenes, as many as it may take to find ``size`` of a kind."""
        source, seen = random.Random(stream), set()
        for _ in range(_MOST_DRAWS_PER_SCENE * max(size, 1)):
            scene = self.draw(source)
            text = canonical_json(scene)
            if text not in seen:
                seen.add(text)
                yield scene

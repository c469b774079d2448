"""Active learning as an experiment: labels are asked for, one by one, until the learnt rule is exact.

The hidden rule answers. After each answer a check is learnt anew from all labels, as ``induce label`` does,
and the loop ends with the first one that is right on every unseen scene: how many answers that took is what
asking is measured by. Scenes are asked for because they would settle most (:mod:`induce.query`), or drawn at
random from the same pool, for comparison.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from experiments.config import ExperimentConfig
from experiments.datasets.split import joined
from experiments.learning import rivals
from induce.query import next_scenes
from induce.result import InductionResult
from induce.scenes import LabelledScenes


@dataclass(frozen=True, slots=True)
class Asked:
    """The scenes at the end (those to start from, then those asked for), what was learnt, and the answers."""

    train: LabelledScenes
    result: InductionResult
    answers: int


def ask(
    config: ExperimentConfig,
    train: LabelledScenes,
    pool: LabelledScenes,
    learn: Callable[[LabelledScenes], InductionResult],
    exact: Callable[[InductionResult], bool],
) -> Asked:
    """Learn from ``train``, then ask up to ``config.asking.labels`` scenes of ``pool`` while not ``exact``.

    The labels of ``pool`` are the answers; the learner sees those it asked for. With ``how: telling`` a scene
    is asked for among the rivals of the best check, the one least like the labelled scenes where all of them
    agree.
    """
    left = list(range(len(pool)))
    random.Random(f"asking/{config.seed}").shuffle(left)
    result, answers = learn(train), 0
    while answers < config.asking.labels and left and not exact(result):
        position = 0
        if config.asking.how == "telling":
            (question,) = next_scenes(
                rivals(config, result, train),
                train.scenes,
                pool=[pool.scenes[index] for index in left],
                pool_ids=[str(position) for position in range(len(left))],
                explore=True,
            )
            position = int(question.id)
        train = joined(train, pool.subset([left.pop(position)]))
        answers += 1
        result = learn(train)
    return Asked(train, result, answers)

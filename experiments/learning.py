"""What an experiment learns from scenes: a check, and the others near it, by its learner and grammar."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from experiments.config import ConfigError, ExperimentConfig
from induce.committee import Rival, near_best
from induce.learn import learn_check
from induce.progress import Progress
from induce.result import InductionResult
from induce.scenes import LabelledScenes

_SIZES = ("max_terms", "max_literals", "max_where", "max_nesting", "penalty")


def learn(
    config: ExperimentConfig,
    scenes: LabelledScenes,
    progress: Callable[[Progress], None] | None = None,
) -> InductionResult:
    """Learn from labelled scenes as ``config`` says.

    Raises :class:`ConfigError` for scenes that nothing can be learnt from, and KeyboardInterrupt when it was
    interrupted.
    """
    weighted = any(weight != 1.0 for weight in scenes.weights)
    try:
        result = learn_check(
            scenes.scenes,
            scenes.require_labels(),
            config.grammar,
            ids=scenes.ids,
            sample_weight=scenes.weights if weighted else None,
            progress=progress,
            **msgspec.structs.asdict(config.learner),
        )
    except ValueError as error:
        raise ConfigError(str(error)) from error
    if result.stopped == "interrupted":
        raise KeyboardInterrupt
    return result


def rivals(config: ExperimentConfig, result: InductionResult, scenes: LabelledScenes) -> tuple[Rival, ...]:
    """The checks near the one that was learnt from ``scenes``, itself among them."""
    return near_best(
        scenes.scenes,
        scenes.require_labels(),
        result.check,
        config.grammar,
        sample_weight=scenes.weights,
        time_limit=config.learner.time_limit,
        **sizes(config),
    )


def sizes(config: ExperimentConfig) -> dict[str, Any]:
    """How large a check may be and what a mistake costs, as every search of a run has it."""
    return {name: getattr(config.learner, name) for name in _SIZES}

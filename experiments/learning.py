"""One learning of an experiment: its scenes, and the learner and grammar of its configuration."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from experiments.config import ConfigError, ExperimentConfig
from induce.learn import learn_check
from induce.progress import Progress
from induce.result import InductionResult
from induce.scenes import LabelledScenes


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

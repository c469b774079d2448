"""The names of a run's figures, so that a table that asks for another is refused before its sweep begins."""

from __future__ import annotations

from experiments.config.sentence import ConfigError, did_you_mean

_RUN = (
    "train_accuracy",
    "test_accuracy",
    "train_misclassified",
    "test_misclassified",
    "recovered",
    "size",
    "penalty",
    "objective",
    "lower_bound",
    "optimal",
    "atoms",
    "nodes",
    "seconds",
    "cpu_seconds",
    "seconds_to_rule",
    "seconds_to_best",
    "seconds_to_proof",
)
_RULE = ("rule_size", "flipped", "suspected", "flipped_suspected")
_ASKING = ("answers", "recovered_by_0", "recovered_by_5", "recovered_by_10", "recovered_by_20")
_EVALUATION = ("cross_validated_accuracy", "p_value")
_BASELINE = ("train_accuracy", "test_accuracy", "size", "seconds")


def check_metric(name: str, baselines: tuple[str, ...]) -> None:
    """Raise :class:`ConfigError` for what no run has; a known figure that these runs lack is found out later.

    ``baselines`` are the names of all other learners, each with ``baseline.NAME.test_accuracy`` and so on.
    """
    known = {*_RUN, *_RULE, *_ASKING, *_EVALUATION}
    known.update(f"baseline.{own}.{figure}" for own in baselines for figure in _BASELINE)
    if name not in known:
        raise ConfigError(f"table.values: {name!r} is no metric of a run{did_you_mean(name, known)}")

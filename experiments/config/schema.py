"""The schema of an experiment: what a configuration may say, and one sentence where it says anything else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

import msgspec

from experiments.config.datasets import (
    DatasetConfig,
    can_answer,
    check_dataset,
    kind_of,
    with_seed,
)
from experiments.config.metric_names import check_metric
from experiments.config.sentence import (
    ConfigError,
    keys_of,
    nearest,
    sentence_of_finding,
)
from induce.grammar import Grammar

Count = Annotated[int, msgspec.Meta(ge=1)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
Text = Annotated[str, msgspec.Meta(min_length=1)]


class Learner(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of :func:`induce.learn_check`."""

    engine: Literal["auto", "enumerate", "asp"] = "auto"
    max_terms: Count | None = None
    max_literals: Count = 4
    max_where: Count = 3
    max_nesting: Annotated[int, msgspec.Meta(ge=0)] = 2
    penalty: Literal["auto"] | Positive = "auto"
    time_limit: Positive = 60.0
    work_limit: Count | None = None
    n_jobs: int | None = None
    random_state: int | None = 0


class Asking(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Labels that are asked of the hidden rule after the training scenes, until the learnt check is exact."""

    labels: Annotated[int, msgspec.Meta(ge=0)] = 0
    how: Literal["telling", "random"] = "telling"
    pool: Count = 200


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table of a sweep: two keys of the configuration, and metrics to average, each with its title."""

    title: Text = "sweep"
    rows: Text | None = None
    columns: Text | None = None
    values: dict[str, str] = msgspec.field(
        default_factory=lambda: {"recovered": "share of runs that recover the rule"}
    )


class Tracking(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a run is recorded: an MLflow store, an experiment in it, and a folder for the files of runs.

    With ``record`` off a run leaves its files and nothing else; ``model`` logs the check as a model as well,
    ``report`` its page and charts.
    """

    record: bool = True
    model: bool = True
    report: bool = True
    uri: Text = "sqlite:///mlflow.db"
    experiment: Text = "check-induction"
    artifacts: Text = "mlartifacts"


BaselineName = Literal["tree", "ripper", "greedy_list", "optimal_list", "popper", "fastlas", "ilasp"]


class Baselines(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Other learners that get the same scenes; ``time_limit`` is in seconds, for each of them."""

    names: tuple[BaselineName, ...] = ()
    time_limit: Positive = 60.0


class Evaluation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is measured beside the accuracy on unseen scenes; 0 or nothing leaves a part out.

    ``folds`` of a cross-validation of the training scenes, ``permutations`` of their labels, sizes of sets to
    learn from for a ``learning_curve``, ``alternatives`` that tie and ``next_scenes`` to label.
    """

    folds: Annotated[int, msgspec.Meta(ge=0)] = 0
    permutations: Annotated[int, msgspec.Meta(ge=0)] = 0
    learning_curve: tuple[Annotated[int, msgspec.Meta(ge=2)], ...] = ()
    alternatives: Annotated[int, msgspec.Meta(ge=0)] = 0
    next_scenes: Annotated[int, msgspec.Meta(ge=0)] = 0


class Sweep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a sweep treats what an earlier call of it has finished."""

    resume: bool = True


class Paper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is run and told as a paper instead of one run: sweeps, as overrides in one text, by section.

    ``common`` are overrides for all of them.
    """

    title: Text = "Paper"
    common: str = ""
    sections: dict[str, tuple[Text, ...]] = {}


class ExperimentConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole experiment. ``grammar`` holds the fields of :class:`induce.Grammar` that are given."""

    dataset: DatasetConfig
    learner: Learner = Learner()
    grammar: dict[str, Any] = {}
    asking: Asking = Asking()
    table: Table = Table()
    seed: int = 0
    tracking: Tracking = Tracking()
    evaluation: Evaluation = Evaluation()
    baselines: Baselines = Baselines()
    sweep: Sweep = Sweep()
    paper: Paper = Paper()


class _Language(msgspec.Struct):
    """The part of a configuration that is kept as it is given."""

    grammar: Grammar


def parse_config(tree: Mapping[str, Any]) -> ExperimentConfig:
    """The experiment that a composed configuration describes.

    Raises :class:`ConfigError` for unknown keys (with the nearest known one), wrong types and bad values.
    """
    # Groups last: they repeat the seed, and a wrong one should be named where it was given.
    ordered = dict(sorted(tree.items(), key=lambda item: isinstance(item[1], Mapping)))
    if "dataset" in tree:
        ordered["dataset"] = with_seed(tree["dataset"], tree.get("seed", 0))
    try:
        config = msgspec.convert(ordered, ExperimentConfig)
    except msgspec.ValidationError as error:
        raise ConfigError(sentence_of_finding(str(error), tree, ExperimentConfig)) from None
    check_dataset(config.dataset)
    if config.asking.labels and not can_answer(config.dataset):
        raise ConfigError(
            f"asking.labels: dataset={kind_of(config.dataset)} has no further scenes to ask for; warehouse, "
            "trains, zendo, traces and automationbench have, and a folder where dataset.train is a part of "
            "train.jsonl"
        )
    _check_table(config.table)
    if config.learner.n_jobs == 0:
        raise ConfigError("learner.n_jobs: expected a number of workers, -1 for all cores, or null, got 0")
    if config.evaluation.folds == 1:
        raise ConfigError("evaluation.folds: expected 0 (none) or a whole number >= 2, got 1")
    try:
        msgspec.convert({"grammar": config.grammar}, _Language)
        Grammar.of(config.grammar)
    except msgspec.ValidationError as error:
        raise ConfigError(sentence_of_finding(str(error), tree, _Language)) from None
    except ValueError as error:
        raise ConfigError(str(error)) from None
    return config


def known_keys() -> frozenset[str]:
    """Every dotted key that some valid configuration may have, apart from those inside table.values."""
    return frozenset((*keys_of(ExperimentConfig), *keys_of(_Language)))


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings as one level of dotted keys; lists, scalars and empty mappings are values."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            flat |= flatten(value, f"{name}.")
        else:
            flat[name] = value
    return flat


def _check_table(table: Table) -> None:
    if (table.rows is None) != (table.columns is None):
        missing = "rows" if table.rows is None else "columns"
        raise ConfigError(f"table.{missing} is missing; a table needs both table.rows and table.columns")
    for name in ("rows", "columns"):
        key = getattr(table, name)
        if key is not None and key not in known_keys():
            close = nearest(key, known_keys())
            hint = f"; did you mean {close!r}?" if close else ", such as dataset.train"
            raise ConfigError(f"table.{name}: expected a key of the configuration, got {key!r}{hint}")
    for metric in table.values:
        check_metric(metric, get_args(BaselineName))

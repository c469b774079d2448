"""The schema of an experiment: what a configuration may say, and one sentence where it says anything else."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from experiments.datasets.warehouse import RULES
from induce.grammar import Grammar

Count = Annotated[int, msgspec.Meta(ge=1)]
Share = Annotated[float, msgspec.Meta(ge=0, le=0.5)]
OpenShare = Annotated[float, msgspec.Meta(gt=0, lt=1)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
Text = Annotated[str, msgspec.Meta(min_length=1)]


class ConfigError(ValueError):
    """A configuration can't be used; the message is one sentence that names the key and what was expected."""


class Warehouse(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="warehouse"):
    """Generated warehouse plans, labelled by a named hidden rule."""

    rule: str = "no_forklift_in_cold_zone"
    train: Annotated[int, msgspec.Meta(ge=2)] = 60
    test: Count = 200
    noise: Share = 0.0
    seed: int = 0


class Jsonl(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="jsonl"):
    """Labelled scenes from JSONL files: one that is split, or one for training and one for testing."""

    path: Text | None = None
    test_share: OpenShare = 0.25
    train: Text | None = None
    test: Text | None = None
    seed: int = 0


class AutomationBench(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="automationbench"
):
    """Worlds made for one assertion of an AutomationBench task, labelled by it."""

    tasks: Text | None = None
    task: Text | None = None
    assertion: Annotated[int, msgspec.Meta(ge=0)] = 0
    train: Annotated[int, msgspec.Meta(ge=2)] = 20
    test: Count = 200
    seed: int = 0


DatasetConfig = Warehouse | Jsonl | AutomationBench


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

    With ``record`` off a run leaves its files and nothing else; ``model`` logs the check as a model as well.
    """

    record: bool = True
    model: bool = True
    uri: Text = "sqlite:///mlflow.db"
    experiment: Text = "check-induction"
    artifacts: Text = "mlartifacts"


BaselineName = Literal["tree", "ripper", "greedy_list", "optimal_list", "popper", "fastlas"]


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


def parse_config(tree: Mapping[str, Any]) -> ExperimentConfig:
    """The experiment that a composed configuration describes.

    Raises :class:`ConfigError` for unknown keys (with the nearest known one), wrong types and bad values.
    """
    # Groups last: they repeat the seed, and a wrong one should be named where it was given.
    ordered = dict(sorted(tree.items(), key=lambda item: isinstance(item[1], Mapping)))
    try:
        config = msgspec.convert(ordered, ExperimentConfig)
    except msgspec.ValidationError as error:
        raise ConfigError(_sentence(str(error), tree)) from None
    _check_dataset(config.dataset)
    if config.asking.labels and not isinstance(config.dataset, Warehouse):
        raise ConfigError(
            "asking.labels: only the hidden rules of dataset=warehouse can answer; induce label asks a person"
        )
    _check_table(config.table)
    if config.evaluation.folds == 1:
        raise ConfigError("evaluation.folds: expected 0 (none) or a whole number >= 2, got 1")
    try:
        Grammar.of(config.grammar)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    return config


def known_keys() -> frozenset[str]:
    """Every dotted key that some valid configuration may have, apart from those inside ``grammar``."""
    return frozenset(_keys_of(ExperimentConfig, ""))


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


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like ``name``, if any is alike."""
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return close[0] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` for the nearest known name, else the known names."""
    names = sorted(known)
    close = nearest(name, names)
    return f"; did you mean {close!r}?" if close else f"; known are {', '.join(names)}"


def _check_dataset(dataset: DatasetConfig) -> None:
    if isinstance(dataset, Warehouse):
        if dataset.rule not in RULES:
            hint = did_you_mean(dataset.rule, RULES)
            raise ConfigError(f"dataset.rule: {dataset.rule!r} is no hidden rule of the warehouse{hint}")
        return
    if isinstance(dataset, AutomationBench):
        for name, what in (("tasks", "FILE with one task a line"), ("task", "NAME of a task in it")):
            if getattr(dataset, name) is None:
                raise ConfigError(f"dataset: dataset.{name} is missing; give dataset.{name}={what}")
        return
    if dataset.path is not None and (dataset.train is not None or dataset.test is not None):
        raise ConfigError(
            "dataset: give either dataset.path (to be split) or dataset.train and dataset.test, not both"
        )
    if dataset.path is None and (dataset.train is None or dataset.test is None):
        missing = [name for name in ("train", "test") if getattr(dataset, name) is None]
        what = "dataset.path" if len(missing) == 2 else f"dataset.{missing[0]}"
        raise ConfigError(
            f"dataset: {what} is missing; give dataset.path=FILE (to be split) "
            "or dataset.train=FILE and dataset.test=FILE"
        )


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


_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*?)`(?: - at `\$\.?(?P<place>.*)`)?$", re.S)
_MISSING = re.compile(r"Object missing required field `(?P<name>.*?)`")
_PLACED = re.compile(r"(?P<what>.*) - at `\$\.?(?P<place>.*)`$", re.S)
_EXPECTED = re.compile(r"Expected (?P<what>.*?)(?:, got .*)?$", re.S)
_TYPE_NAMES = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "null": "null",
    "object": "a mapping",
}


def _sentence(message: str, tree: Mapping[str, Any]) -> str:
    """msgspec's finding (text with a path) as a sentence about a key of the configuration."""
    unknown = _UNKNOWN.match(message)
    if unknown:
        place, name = unknown["place"] or "", unknown["name"]
        return f"{_join(place, name)}: unknown key{did_you_mean(name, _fields_at(place, tree))}"
    placed = _PLACED.match(message)
    place, what = (placed["place"], placed["what"]) if placed else ("", message)
    missing = _MISSING.match(what)
    if missing:
        key = _join(place, missing["name"])
        choices = _choices_at(key, tree)
        return f"{key} is missing{'; give one of ' + ', '.join(choices) if choices else ''}"
    value, choices = _value_at(tree, place), _choices_at(place, tree)
    if choices:
        hint = _hint(value, choices) if isinstance(value, str) else ""
        return f"{place}: expected {_one_of(choices)}, got {_shown(value)}{hint}"
    expected = _EXPECTED.match(what)
    if not expected:
        return f"{place or 'configuration'}: {what[:1].lower()}{what[1:]}"
    words = re.sub(r"`([^`]*)`", lambda types: _one_of(types[1].split(" | ")), expected["what"])
    return f"{place}: expected {words}, got {_shown(value)}"


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _one_of(choices: Iterable[str]) -> str:
    *first, last = (_TYPE_NAMES.get(choice, choice) for choice in choices)
    return f"{', '.join(first)} or {last}" if first else last


def _hint(value: str, choices: Iterable[str]) -> str:
    close = nearest(value, choices)
    return f"; did you mean {close!r}?" if close else ""


def _shown(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)


def _value_at(tree: Any, place: str) -> Any:
    for key in place.split(".") if place else ():
        tree = tree.get(key) if isinstance(tree, Mapping) else None
    return tree


_DATASETS: dict[str, type[msgspec.Struct]] = {
    "warehouse": Warehouse,
    "jsonl": Jsonl,
    "automationbench": AutomationBench,
}
_GROUPS: dict[str, type[msgspec.Struct]] = {
    "learner": Learner,
    "asking": Asking,
    "table": Table,
    "tracking": Tracking,
    "evaluation": Evaluation,
    "baselines": Baselines,
    "sweep": Sweep,
}


def _struct_at(place: str, tree: Mapping[str, Any]) -> type[msgspec.Struct] | None:
    if place == "":
        return ExperimentConfig
    if place == "dataset":
        return _DATASETS.get(str(_value_at(tree, "dataset.kind")))
    return _GROUPS.get(place)


def _fields_at(place: str, tree: Mapping[str, Any]) -> tuple[str, ...]:
    struct = _struct_at(place, tree)
    return struct.__struct_fields__ if struct else ()


def _choices_at(place: str, tree: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts allowed at a key whose type lists them, and "a number" where one may stand there as well."""
    if place == "dataset.kind":
        return tuple(_DATASETS)
    parent, _, name = place.rpartition(".")
    struct = _struct_at(parent, tree)
    if struct is None or name not in struct.__struct_fields__:
        return ()
    hint = get_type_hints(struct)[name]
    options = (hint, *get_args(hint))
    texts = tuple(text for option in options if get_origin(option) is Literal for text in get_args(option))
    return (*texts, "a number above 0") if texts and float in options else texts


def _keys_of(struct: type[msgspec.Struct], prefix: str) -> Iterable[str]:
    for name, hint in get_type_hints(struct).items():
        yield f"{prefix}{name}"
        for option in (hint, *get_args(hint)):
            if isinstance(option, type) and issubclass(option, msgspec.Struct):
                if option.__struct_config__.tag_field:
                    yield f"{prefix}{name}.{option.__struct_config__.tag_field}"
                yield from _keys_of(option, f"{prefix}{name}.")

"""The schema of datasets: what each kind may be told, and how labelled scenes are split."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec

from experiments.config.sentence import ConfigError, did_you_mean
from experiments.datasets.base import Rule
from experiments.datasets.monks import RULES as MONKS_RULES
from experiments.datasets.traces import RULES as TRACES_RULES
from experiments.datasets.trains import RULES as TRAINS_RULES
from experiments.datasets.warehouse import RULES as WAREHOUSE_RULES
from experiments.datasets.zendo import RULES as ZENDO_RULES

Count = Annotated[int, msgspec.Meta(ge=1)]
Several = Annotated[int, msgspec.Meta(ge=2)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Noise = Annotated[float, msgspec.Meta(ge=0, le=0.5)]
OpenShare = Annotated[float, msgspec.Meta(gt=0, lt=1)]
Text = Annotated[str, msgspec.Meta(min_length=1)]


class Split(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How labelled scenes become training and unseen ones.

    ``given`` takes the two sets as they come, ``stratified`` keeps ``test_share`` of each label unseen,
    ``grouped`` about that share of all scenes in whole groups, ``kfold`` the ``fold``-th of ``folds`` parts,
    in whole groups where ``group`` is given. ``auto`` is given where there are two sets and stratified
    otherwise. ``group`` is a path in the scene; scenes with equal values there are never on both sides.
    """

    kind: Literal["auto", "given", "stratified", "grouped", "kfold"] = "auto"
    test_share: OpenShare = 0.25
    group: Text | None = None
    folds: Several = 5
    fold: Count = 1
    seed: int = 0


class _Generated(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """Scenes from a seeded generator, labelled by a named hidden rule."""

    rule: Text
    train: Several = 60
    test: Count = 200
    noise: Noise = 0.0
    seed: int = 0

    @property
    def title(self) -> str:
        return self.rule


class Warehouse(_Generated, frozen=True, tag="warehouse"):
    """Generated warehouse plans."""

    rule: Text = "no_forklift_in_cold_zone"


class Trains(_Generated, frozen=True, tag="trains"):
    """Generated trains after Michalski; ``near_misses`` is the share of failing ones that nearly pass."""

    rule: Text = "short_closed_car"
    near_misses: Share = 0.5


class Zendo(_Generated, frozen=True, tag="zendo"):
    """Generated structures of Zendo pieces; ``near_misses`` is the share of failing ones that nearly pass."""

    rule: Text = "small_touches_red"
    near_misses: Share = 0.5


class Traces(_Generated, frozen=True, tag="traces"):
    """Generated runs of a shop's agent, labelled by a policy; some failing ones nearly keep it."""

    rule: Text = "look_up_before_write"
    near_misses: Share = 0.5


class Monks(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="monks"):
    """The MONK's problems: training sizes and noise are those published unless they are given."""

    rule: Text = "monks1"
    train: Annotated[int, msgspec.Meta(ge=2, le=430)] | None = None
    noise: Noise | None = None
    seed: int = 0

    @property
    def title(self) -> str:
        return self.rule


class _Files(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """Labelled scenes from files: one that is split, or one for training and one for testing."""

    path: Text | None = None
    train: Text | None = None
    test: Text | None = None
    split: Split = Split()

    @property
    def title(self) -> str:
        return Path(self.path or self.train or "").stem


class Jsonl(_Files, frozen=True, tag="jsonl"):
    """Labelled scenes from JSONL files."""


class Parquet(_Files, frozen=True, tag="parquet"):
    """Labelled scenes from Parquet files: flat columns, or one column ``scene``."""

    label_column: Text = "label"
    id_column: str = "id"
    weight_column: str = ""


class Folder(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="folder"):
    """A folder with a file of training scenes and one of unseen scenes, and perhaps their rule."""

    path: Text | None = None
    train: Text = "train.jsonl"
    test: Text = "test.jsonl"
    split: Split = Split()

    @property
    def title(self) -> str:
        return Path(self.path or "").name


class Tables(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="tables"):
    """A table that comes with scikit-learn, a scene for each row.

    Rows of the classes ``passing`` pass, those of ``failing`` fail (null: all others). Where the target is a
    number, rows from ``at_least`` on pass.
    """

    table: Literal["breast_cancer", "wine", "iris", "digits", "diabetes"] = "breast_cancer"
    passing: tuple[Text, ...] | None = None
    failing: tuple[Text, ...] | None = None
    at_least: float | None = None
    split: Split = Split()

    @property
    def title(self) -> str:
        return self.table


class AutomationBench(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="automationbench"
):
    """Worlds made for one assertion of an AutomationBench task, labelled by it."""

    tasks: Text | None = None
    task: Text | None = None
    assertion: Annotated[int, msgspec.Meta(ge=0)] = 0
    train: Several = 20
    test: Count = 200
    seed: int = 0

    @property
    def title(self) -> str:
        return f"{self.task} [{self.assertion}]"


Generated = Warehouse | Trains | Zendo | Traces
Files = Jsonl | Parquet
DatasetConfig = (
    Warehouse | Trains | Zendo | Traces | Monks | Jsonl | Parquet | Folder | Tables | AutomationBench
)

RULES: dict[type[msgspec.Struct], dict[str, Rule]] = {
    Warehouse: WAREHOUSE_RULES,
    Trains: TRAINS_RULES,
    Zendo: ZENDO_RULES,
    Traces: TRACES_RULES,
    Monks: MONKS_RULES,
}


def check_dataset(config: DatasetConfig) -> None:
    """Judge what the types of single fields can't say. Raises :class:`ConfigError`."""
    if isinstance(config, (Warehouse, Trains, Zendo, Traces, Monks)):
        known = RULES[type(config)]
        if config.rule not in known:
            what = f"no hidden rule of dataset={kind_of(config)}{did_you_mean(config.rule, known)}"
            raise ConfigError(f"dataset.rule: {config.rule!r} is {what}")
    elif isinstance(config, AutomationBench):
        for name, what in (("tasks", "FILE with one task a line"), ("task", "NAME of a task in it")):
            _require(config, name, what)
    else:
        if isinstance(config, (Jsonl, Parquet)):
            _check_files(config)
        elif isinstance(config, Folder):
            _require(config, "path", "FOLDER with train.jsonl and test.jsonl")
        _check_split(config.split, given=_has_two_sets(config))


def kind_of(config: DatasetConfig) -> str:
    """The name of the kind, as ``dataset.kind`` has it."""
    return str(config.__struct_config__.tag)


def kinds_with(key: str) -> tuple[str, ...]:
    """The kinds of datasets that have a key, ``split`` for one, in their order."""
    kinds: tuple[type[msgspec.Struct], ...] = get_args(DatasetConfig)
    return tuple(str(kind.__struct_config__.tag) for kind in kinds if key in kind.__struct_fields__)


def paths_of(config: DatasetConfig) -> tuple[str, ...]:
    """The files and folders that a dataset is read from."""
    found: tuple[str | None, ...] = ()
    if isinstance(config, (Jsonl, Parquet)):
        found = (config.path, config.train, config.test)
    elif isinstance(config, Folder):
        found = (config.path,)
    elif isinstance(config, AutomationBench):
        found = (config.tasks,)
    return tuple(path for path in found if path is not None)


def with_seed(dataset: Any, seed: Any) -> Any:
    """The mapping of a dataset; its seed, or that of its split, is ``seed`` where it leaves that out."""
    if not isinstance(dataset, Mapping):
        return dataset
    kind, split = dataset.get("kind"), dataset.get("split", {})
    if kind in kinds_with("seed"):
        return {"seed": seed, **dataset}
    if kind in kinds_with("split") and isinstance(split, Mapping):
        return {**dataset, "split": {"seed": seed, **split}}
    return dataset


def can_answer(config: DatasetConfig) -> bool:
    """Whether there are scenes beside the others whose labels can be asked for."""
    if isinstance(config, Folder):
        return config.train != "train.jsonl" and config.split.kind in ("auto", "given")
    return isinstance(config, (Warehouse, Trains, Zendo, Traces, AutomationBench))


def _require(config: AutomationBench | Folder, name: str, what: str) -> None:
    if getattr(config, name) is None:
        raise ConfigError(f"dataset: dataset.{name} is missing; give dataset.{name}={what}")


def _has_two_sets(config: Files | Folder | Tables) -> bool:
    return isinstance(config, Folder) or (isinstance(config, (Jsonl, Parquet)) and config.path is None)


def _check_files(config: Files) -> None:
    if config.path is not None and (config.train is not None or config.test is not None):
        raise ConfigError(
            "dataset: give either dataset.path (to be split) or dataset.train and dataset.test, not both"
        )
    if config.path is None and (config.train is None or config.test is None):
        missing = [name for name in ("train", "test") if getattr(config, name) is None]
        what = "dataset.path" if len(missing) == 2 else f"dataset.{missing[0]}"
        raise ConfigError(
            f"dataset: {what} is missing; give dataset.path=FILE (to be split) "
            "or dataset.train=FILE and dataset.test=FILE"
        )


def _check_split(split: Split, *, given: bool) -> None:
    if split.kind == "given" and not given:
        raise ConfigError(
            "dataset.split.kind: given needs two sets, training and unseen scenes, and there is one; "
            "choose stratified, grouped or kfold"
        )
    if split.kind == "grouped" and split.group is None:
        raise ConfigError(
            "dataset.split.group is missing; kind grouped needs the PATH in the scene that tells the groups, "
            "such as dataset.split.group=task"
        )
    if split.kind not in ("grouped", "kfold") and split.group is not None:
        raise ConfigError(
            f"dataset.split.group: kind {split.kind} keeps no groups together; choose grouped or kfold"
        )
    if split.kind == "kfold" and split.fold > split.folds:
        raise ConfigError(
            f"dataset.split.fold: expected a fold from 1 to {split.folds} (dataset.split.folds), "
            f"got {split.fold}"
        )

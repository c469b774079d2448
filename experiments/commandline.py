"""Reads a command line of ``experiments``: composes and judges what it asks for before anything is run."""

from __future__ import annotations

import argparse
import importlib.util
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra._internal.utils import get_args_parser
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, ValueType
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from experiments import launchers
from experiments.config import ConfigError, ExperimentConfig, flatten, parse_config
from experiments.mistakes import CONFIG_MISTAKES, missing_launcher, no_such_folder, sentence_of, wrong_option
from experiments.sweeps.identity import ABOUT_RUNS

SWEEPS = "multirun"
_BASIC_SWEEPER = "hydra._internal.core_plugins.basic_sweeper.BasicSweeper"


@dataclass(frozen=True, slots=True)
class SweepRequest:
    """A sweep that a command line asks for.

    ``first`` is its first configuration, ``swept`` has the values of each key with several, ``jobs`` counts
    their combinations (None when only the sweeper knows), ``folder`` is the value of ``hydra.sweep.dir``, and
    ``sweeper`` the settings of a sweeper other than Hydra's own.
    """

    first: ExperimentConfig
    swept: Mapping[str, Sequence[str]]
    jobs: int | None
    preset: str | None
    folder: str
    sweeper: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A single run that a command line asks for; ``folder`` is the value of ``hydra.run.dir``."""

    folder: str


@dataclass(frozen=True, slots=True)
class _Place:
    """Where configs come from beside the package's own: a file to start from, a folder that is added."""

    name: str | None = None
    extra: str | None = None


def config_directory() -> Path:
    """The configs that come with the package: inside it when installed, beside it in a source tree."""
    package = Path(__file__).resolve().parent
    installed = package / "configs"
    return installed if installed.is_dir() else package.parent / "configs"


def options_first(words: Sequence[str]) -> list[str]:
    """The words with options before overrides, which is the order that Hydra reads.

    Raises :class:`ConfigError` for an unknown option.
    """
    parser = get_args_parser()
    parser.exit_on_error = False
    try:
        arguments, unknown = parser.parse_known_intermixed_args(list(words))
    except argparse.ArgumentError as error:
        raise ConfigError(f"{error}; experiments --help shows what there is") from None
    if unknown:
        raise ConfigError(f"{unknown[0]}: unknown option; experiments --help shows what there is")
    options = list(words)
    for override in arguments.overrides:
        options.remove(override)
    return [*options, *arguments.overrides]


def read_command_line(words: Sequence[str]) -> SweepRequest | RunRequest | None:
    """The sweep or run that is asked for; None where Hydra only shows something.

    Every value that a sweep lists is judged once, not every combination. Raises :class:`ConfigError` and what
    :data:`experiments.mistakes.CONFIG_MISTAKES` names.
    """
    arguments = get_args_parser().parse_args(list(words))
    if arguments.config_dir is not None and not Path(arguments.config_dir).is_dir():
        raise ConfigError(no_such_folder(arguments.config_dir))
    for name in ("config_path", "experimental_rerun"):
        if getattr(arguments, name):
            option = f"--{name.replace('_', '-')}"
            raise ConfigError(
                f"{option}: not taken here; --config-dir DIR adds a folder with configs of your own"
            )
    modes = [
        name for name in ("run", "multirun", "cfg", "info", "shell_completion") if getattr(arguments, name)
    ]
    if len(modes) > 1:
        options = " and ".join(f"--{name.replace('_', '-')}" for name in modes)
        raise ConfigError(f"{options} exclude each other; give one of them")
    shows = ("help", "hydra_help", "shell_completion", "cfg", "info")
    if any(getattr(arguments, name) for name in shows):
        return None
    place = _Place(arguments.config_name, arguments.config_dir)
    overrides: list[str] = arguments.overrides
    settings = _compose(_fixed(overrides), place, settings=True).hydra
    if not arguments.multirun and settings.mode != RunMode.MULTIRUN:
        parse_tree(_compose(overrides, place))
        return RunRequest(str(settings.run.dir))
    if (
        settings.launcher.get("_target_") == launchers.DASK
        and importlib.util.find_spec("distributed") is None
    ):
        raise ConfigError(missing_launcher("dask"))
    given = settings.sweeper.get("params") or {}
    swept = _last_of_each([*(f"{key}={value}" for key, value in given.items()), *overrides])
    judged = [parse_tree(_compose(trial, place)) for trial in _trials(swept)]
    values = {
        override.get_key_element(): _texts(override) for override in swept if override.is_sweep_override()
    }
    for key in values:
        if key.lstrip("+").partition(".")[0] in ABOUT_RUNS:
            raise ConfigError(f"{key}: a sweep has one value of it, got {', '.join(values[key])}")
    basic = settings.sweeper.get("_target_") == _BASIC_SWEEPER
    counted = basic and all(not _is_pattern(override) for override in swept)
    return SweepRequest(
        first=judged[0],
        swept=values,
        jobs=math.prod(map(len, values.values())) if counted else None,
        preset=settings.runtime.choices.get("preset"),
        folder=str(settings.sweep.dir),
        sweeper={} if basic else _plain(settings.sweeper),
    )


def parse_tree(composed: DictConfig) -> ExperimentConfig:
    """The experiment that Hydra composed."""
    return parse_config(tree_of(composed))


def tree_of(composed: DictConfig) -> dict[str, Any]:
    """What Hydra composed, without its own settings and with every reference resolved."""
    return _plain(OmegaConf.masked_copy(composed, [str(key) for key in composed if key != "hydra"]))


def said(error: Exception) -> str:
    """A user's mistake in one sentence."""
    if isinstance(error, CONFIG_MISTAKES):
        return sentence_of(error, _keys_now)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'file'}: {error.strerror.lower()}"
    return str(error)


def _fixed(words: list[str]) -> list[str]:
    """The overrides that have one value."""
    parsed = OverridesParser.create().parse_overrides(words)
    return [str(override.input_line) for override in parsed if not override.is_sweep_override()]


def _last_of_each(words: list[str]) -> list[Override]:
    """Overrides of a sweep by key, where a later one replaces an earlier one."""
    parsed = OverridesParser.create().parse_overrides(words)
    return list({override.get_key_element(): override for override in parsed}.values())


def _trials(swept: Sequence[Override]) -> list[list[str]]:
    """Overrides of single runs in which each value that a sweep lists occurs once."""
    lists = [values for values in map(_values, swept) if values]
    first = [values[0] for values in lists]
    others = [
        [value if own is values else own[0] for own in lists] for values in lists for value in values[1:]
    ]
    return [first, *others]


def _values(override: Override) -> list[str]:
    """The override with each value it lists; a range is judged by its first, a pattern by Hydra."""
    if not override.is_sweep_override():
        return [str(override.input_line)]
    if _is_pattern(override):
        return []
    texts = _texts(override)
    return [
        f"{override.get_key_element()}={text}" for text in (texts[:1] if override.is_range_sweep() else texts)
    ]


def _texts(override: Override) -> list[str]:
    """The values that a sweep lists; of a pattern its own text."""
    return [str(override.value())] if _is_pattern(override) else list(override.sweep_string_iterator())


def _is_pattern(override: Override) -> bool:
    """Whether only Hydra or its sweeper knows the values: names of options by pattern, intervals."""
    if not override.is_sweep_override():
        return False
    return override.value_type == ValueType.GLOB_CHOICE_SWEEP or not override.is_discrete_sweep()


def _compose(overrides: list[str], place: _Place, settings: bool = False) -> DictConfig:
    if place.extra is not None:
        overrides = [*overrides, f"hydra.searchpath=['{quoted(str(Path(place.extra).resolve()))}']"]
    try:
        with initialize_config_dir(str(config_directory()), job_name="experiments", version_base="1.3"):
            return compose(place.name or "config", overrides=overrides, return_hydra_config=settings)
    except CONFIG_MISTAKES:
        raise
    except ValueError as error:
        raise ConfigError(wrong_option(error)) from error
    finally:
        GlobalHydra.instance().clear()


def quoted(text: str) -> str:
    """A text as it may stand between single quotes in an override."""
    return text.replace("\\", "\\\\").replace("'", "\\'")


def _plain(config: DictConfig) -> dict[str, Any]:
    tree = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    assert isinstance(tree, dict)
    return {str(key): value for key, value in tree.items()}


def _keys_now() -> Iterable[str]:
    """The groups of options, and the keys that the default configuration has, inner ones as well."""
    configs = config_directory()
    yield from (path.relative_to(configs).as_posix() for path in configs.rglob("*") if path.is_dir())
    for name in flatten(tree_of(_compose([], _Place()))):
        parts = name.split(".")
        yield from (".".join(parts[: length + 1]) for length in range(len(parts)))

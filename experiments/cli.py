"""The command line ``experiments``: a Hydra app whose mistakes are one sentence and exit code 2."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import hydra
from hydra import compose, initialize_config_dir
from hydra._internal.utils import get_args_parser
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, ValueType
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from evaluator import CheckError, SceneError
from experiments.config import ConfigError, ExperimentConfig, flatten, parse_config
from experiments.mistakes import CONFIG_MISTAKES, no_such_folder, sentence_of
from experiments.tracking import TrackingError, masked, open_store, track
from induce.version import __version__

_BAD_INPUT, _READER_GONE = 2, 141
_USER_MISTAKES = (*CONFIG_MISTAKES, ConfigError, SceneError, CheckError, TrackingError, OSError)


def config_directory() -> Path:
    """The configs that come with the package: inside it when installed, beside it in a source tree."""
    package = Path(__file__).resolve().parent
    installed = package / "configs"
    return installed if installed.is_dir() else package.parent / "configs"


def main() -> None:
    """Run the experiments that ``sys.argv`` asks for."""
    if sys.argv[1:2] == ["--version"]:
        print(f"experiments {__version__}")
        return
    if sys.argv[1:2] == ["benchmark"]:
        from experiments.benchmark.cli import main as benchmark

        sys.exit(benchmark(sys.argv[2:]))
    # Hydra then raises what it would otherwise print with a traceback.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    try:
        _check_command_line(sys.argv[1:])
        hydra.main(version_base="1.3", config_path=str(config_directory()), config_name="config")(_job)()
    except _USER_MISTAKES as error:
        _stop(error)
    except KeyboardInterrupt:
        sys.exit(130)


def _job(composed: DictConfig) -> None:
    """One run of a configuration; Hydra calls it, in another process when a launcher says so."""
    settings = HydraConfig.get()
    try:
        _run(composed, Path(settings.runtime.cwd), Path(settings.runtime.output_dir))
    except _USER_MISTAKES as error:
        if settings.mode == RunMode.MULTIRUN:
            raise
        _stop(error)


def _run(composed: DictConfig, folder: Path, output: Path) -> None:
    from experiments import run  # numpy and clingo, which a mistyped key need not wait for

    config = _parse(composed)
    outcome = run.run_experiment(config, folder)
    public = _tree(composed)
    public["tracking"] = {**public["tracking"], "uri": masked(config.tracking.uri)}
    files = run.write_results(outcome, OmegaConf.to_yaml(public), output)
    brief = config.table.rows is not None
    for line in [run.summary_line(outcome)] if brief else run.summary(outcome):
        print(line, flush=True)
    if not brief:
        print(f"files: {_relative(output, folder)}", flush=True)
    try:
        tracked = track(config.tracking, run.run_record(outcome, files), folder)
    except TrackingError as error:
        raise TrackingError(f"{error}; the results are in {_relative(output, folder)}") from error
    for line in () if brief or tracked is None else run.tracking_summary(tracked):
        print(line, flush=True)


class TableWriter(Callback):
    """Writes the table of a sweep, where its configuration asks for one, when all runs have ended."""

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:
        try:
            _tabulate(config)
        except _USER_MISTAKES as error:
            _stop(error)


def _tabulate(composed: DictConfig) -> None:
    from experiments import run, table as tables

    config = _parse(composed)
    if config.table.rows is None:
        return
    folder, output = Path.cwd(), Path.cwd() / composed.hydra.sweep.dir
    table = tables.tabulate(config.table, tables.read_runs(output))
    files = tables.write_table(table, output)
    print(f"\n{table.markdown()}\nfiles: {_relative(output, folder)}", flush=True)
    try:
        tracked = track(config.tracking, run.table_record(table, files), folder)
    except TrackingError as error:
        raise TrackingError(f"{error}; the table is in {_relative(output, folder)}") from error
    for line in () if tracked is None else run.tracking_summary(tracked):
        print(line, flush=True)


def _check_command_line(words: list[str]) -> None:
    """Compose and judge the configuration before Hydra makes a folder for its output.

    For a sweep every value is judged once, not every combination, and the store is made here: its jobs may be
    processes that would get in each other's way.
    """
    arguments, unknown = get_args_parser().parse_known_args(words)
    if unknown:
        raise ConfigError(f"{unknown[0]}: unknown option; experiments --help shows what there is")
    if arguments.config_dir is not None and not Path(arguments.config_dir).is_dir():
        raise ConfigError(no_such_folder(arguments.config_dir))
    shows = ("help", "hydra_help", "shell_completion", "cfg", "info")
    elsewhere = ("config_path", "experimental_rerun")
    if any(getattr(arguments, name) for name in (*shows, *elsewhere)):
        return
    place = arguments.config_name, arguments.config_dir
    swept = _sweep(arguments.overrides, *place, multirun=arguments.multirun)
    trials = [arguments.overrides] if swept is None else _trials(swept)
    configs = [_parse(_compose(trial, *place)) for trial in trials]
    if swept is not None:
        try:
            open_store(configs[0].tracking, Path.cwd())
        except TrackingError:
            return  # each job says so itself, once its results are written


def _sweep(words: list[str], name: str | None, extra: str | None, multirun: bool) -> list[str] | None:
    """The overrides of a sweep, its preset's first and then those given; None for one run."""
    fixed = [
        override
        for override in OverridesParser.create().parse_overrides(words)
        if not override.is_sweep_override()
    ]
    settings = _compose([str(override.input_line) for override in fixed], name, extra, settings=True).hydra
    if not multirun and settings.mode != RunMode.MULTIRUN:
        return None
    given = settings.sweeper.get("params") or {}
    return [*(f"{key}={value}" for key, value in given.items()), *words]


def _trials(words: list[str]) -> list[list[str]]:
    """Overrides of single runs in which each value that a sweep lists occurs once."""
    overrides = OverridesParser.create().parse_overrides(words)
    swept = list({override.get_key_element(): _values(override) for override in overrides}.values())
    first = [values[0] for values in swept if values]
    others = [
        [value if own is values else own[0] for own in swept if own]
        for values in swept
        for value in values[1:]
    ]
    return [first, *others]


def _values(override: Override) -> list[str]:
    """The override with each value it lists; a range is judged by its first, a pattern by Hydra."""
    if not override.is_sweep_override():
        return [str(override.input_line)]
    if override.value_type == ValueType.GLOB_CHOICE_SWEEP or not override.is_discrete_sweep():
        return []
    key, values = override.get_key_element(), override.sweep_string_iterator()
    return [f"{key}={value}" for value in ([next(values)] if override.is_range_sweep() else values)]


def _compose(overrides: list[str], name: str | None, extra: str | None, settings: bool = False) -> DictConfig:
    if extra is not None:
        overrides = [*overrides, f"hydra.searchpath=['{_quoted(str(Path(extra).resolve()))}']"]
    try:
        with initialize_config_dir(str(config_directory()), job_name="experiments", version_base="1.3"):
            return compose(name or "config", overrides=overrides, return_hydra_config=settings)
    except CONFIG_MISTAKES:
        raise
    except ValueError as error:
        raise ConfigError(str(error)) from error
    finally:
        GlobalHydra.instance().clear()


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def _parse(composed: DictConfig) -> ExperimentConfig:
    return parse_config(_tree(composed))


def _tree(composed: DictConfig) -> dict[str, Any]:
    own = OmegaConf.masked_copy(composed, [str(key) for key in composed if key != "hydra"])
    tree = OmegaConf.to_container(own, resolve=True, throw_on_missing=True)
    assert isinstance(tree, dict)
    return {str(key): value for key, value in tree.items()}


def _sentence(error: Exception) -> str:
    if isinstance(error, CONFIG_MISTAKES):
        return sentence_of(error, _keys_now)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'file'}: {error.strerror.lower()}"
    return str(error)


def _keys_now() -> Iterable[str]:
    """The keys that the default configuration has, inner ones as well."""
    for name in flatten(_tree(_compose([], None, None))):
        parts = name.split(".")
        yield from (".".join(parts[: length + 1]) for length in range(len(parts)))


def _relative(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


def _stop(error: Exception) -> NoReturn:
    if isinstance(error, BrokenPipeError):  # the reader has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing left to flush at the exit
        sys.exit(_READER_GONE)
    print(f"experiments: {_sentence(error)}", file=sys.stderr)
    sys.exit(_BAD_INPUT)

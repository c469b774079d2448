"""One run of a configuration, alone or as a job of a sweep: learn, write the files, record."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from omegaconf import OmegaConf

from evaluator import CheckError, SceneError
from experiments.commandline import said
from experiments.config import ConfigError, ExperimentConfig, flatten, parse_config
from experiments.mistakes import CONFIG_MISTAKES
from experiments.sweeps.identity import config_hash
from experiments.sweeps.nesting import Nest, is_recorded, job_of, lock_of, record
from experiments.sweeps.run_folder import RunFolder, locked
from experiments.sweeps.stopping import stop_if_asked
from experiments.tracking import RunRecord, TrackingError, masked, track

USER_MISTAKES = (*CONFIG_MISTAKES, ConfigError, SceneError, CheckError, TrackingError, OSError)


def run_alone(tree: Mapping[str, Any], folder: Path, output: Path) -> Iterator[str]:
    """Run the configuration that Hydra composed; yields what is to be said of it, as it becomes known.

    Relative paths start at ``folder``; the files go to ``output``. Raises :data:`USER_MISTAKES`.
    """
    from experiments import run  # numpy and clingo, which a mistyped key need not wait for

    config, own = parse_config(tree), RunFolder(output)
    identity = config_hash(config, folder)
    outcome = run.run_experiment(config, folder)
    own.clear()
    files = run.write_results(outcome, _public(tree, config), output)
    own.learnt(identity, run.run_record(outcome, files))
    yield from run.summary(outcome)
    yield f"files: {relative(output, folder)}"
    try:
        tracked = track(config.tracking, own.record(), folder)
    except TrackingError as error:
        raise TrackingError(f"{error}; the results are in {relative(output, folder)}") from error
    if tracked is None:
        own.finish(identity, None, None, None)
        return
    own.finish(identity, tracked.store, tracked.run_id, None)
    yield from run.tracking_summary(tracked)


def run_nested(
    tree: Mapping[str, Any], title: str, folder: Path, output: Path, sweep: Path, nest: Nest
) -> str:
    """Run a configuration of a sweep unless its results are in ``output``; says in a line how it went.

    Whatever is wrong with this configuration is kept in its folder, and the sweep goes on with the others.
    """
    stop_if_asked()
    own = RunFolder(output)
    job = job_of(sweep, own)
    with locked(sweep, lock_of(job), wait=True):
        try:
            config = parse_config(tree)
            identity = config_hash(config, folder)
        except USER_MISTAKES as error:
            own.begin(hashlib.sha256(title.encode()).hexdigest(), title, _last_words({}, title))
            return _failed(own, title, said(error))
        if own.holds(identity):
            return f"{title}: {_reuse(config, folder, nest, job, own)}"
        own.begin(identity, title, _last_words(_params(config), title))
        try:
            return f"{title}: {_learn(config, tree, identity, folder, nest, job, own)}"
        except USER_MISTAKES as error:
            return _failed(own, title, said(error))
        except Exception as error:
            logging.getLogger(__name__).exception("%s", title)
            log = relative(output / "experiments.log", folder)
            return _failed(own, title, f"an internal error, {type(error).__name__}: {error} (see {log})")


def _reuse(config: ExperimentConfig, folder: Path, nest: Nest, job: str, own: RunFolder) -> str:
    if is_recorded(nest, own):
        return "reused, an earlier call finished it"
    try:
        record(config.tracking, folder, nest, job, own)
    except TrackingError:
        return "reused, an earlier call finished it; still not recorded"
    return "reused, an earlier call finished it; recorded now"


def _learn(
    config: ExperimentConfig,
    tree: Mapping[str, Any],
    identity: str,
    folder: Path,
    nest: Nest,
    job: str,
    own: RunFolder,
) -> str:
    from experiments import run

    outcome = run.run_experiment(config, folder)
    stop_if_asked()  # what was found until then is not the result of this configuration
    files = run.write_results(outcome, _public(tree, config), own.path)
    own.learnt(identity, run.run_record(outcome, files))
    line = run.summary_line(outcome)
    try:
        record(config.tracking, folder, nest, job, own)
    except TrackingError:  # the sweep tries again when all jobs have ended, and then says why
        return f"{line}; not recorded"
    return line


def _failed(own: RunFolder, title: str, sentence: str) -> str:
    own.fail("failed", sentence)
    return f"{title}: failed: {sentence}"


def _last_words(params: Mapping[str, Any], title: str) -> RunRecord:
    """What is recorded of a run that doesn't end well."""
    return RunRecord(title, params, {}, (), (), time.time())


def _params(config: ExperimentConfig) -> dict[str, Any]:
    return flatten(msgspec.to_builtins(config)) | {"tracking.uri": masked(config.tracking.uri)}


def _public(tree: Mapping[str, Any], config: ExperimentConfig) -> str:
    """The configuration as YAML, without a password that its store may need."""
    shown = {**tree, "tracking": {**tree["tracking"], "uri": masked(config.tracking.uri)}}
    return OmegaConf.to_yaml(OmegaConf.create(shown))


def relative(path: Path, folder: Path) -> str:
    """A path as it is shown: from the working folder where it lies in it."""
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)

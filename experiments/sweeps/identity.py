"""What makes two runs the same: a hash of the configuration, its files, the version, and who could be asked.

Where a run is tracked, what a sweep does about earlier runs and what it tabulates change no result, and so
are no part of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from evaluator import canonical_json
from experiments.baselines.installed import why_absent
from experiments.config import ExperimentConfig
from experiments.config.datasets import paths_of
from induce.version import __version__

ABOUT_RUNS = ("tracking", "sweep", "table")
"""The groups of a configuration that change no result."""


def config_hash(config: ExperimentConfig, folder: Path) -> str:
    """The hash of one configuration; relative paths start at ``folder``.

    A file or folder that the dataset names counts by its content, so changed scenes are another
    configuration; so is one whose baselines were not installed and now are. Raises :class:`OSError` for a
    file that can't be read.
    """
    files = {place: _digest(folder / place) for place in paths_of(config.dataset)}
    absent = sorted({name for name in config.baselines.names if why_absent(name)})
    results = _results_of(config)
    return _hash({"version": __version__, "config": results, "files": files, "absent": absent})


def sweep_hash(
    first: ExperimentConfig, swept: Mapping[str, Sequence[str]], sweeper: Mapping[str, Any]
) -> str:
    """The hash of a sweep: its first configuration, the values of each swept key, and who chooses them."""
    keys = [[key, list(values)] for key, values in swept.items()]
    return _hash({"version": __version__, "first": _results_of(first), "swept": keys, "sweeper": sweeper})


def _results_of(config: ExperimentConfig) -> dict[str, Any]:
    tree: dict[str, Any] = msgspec.to_builtins(config)
    return {name: value for name, value in tree.items() if name not in ABOUT_RUNS}


def _digest(path: Path) -> str | None:
    """The hash of a file, or of all files in a folder; None of nothing."""
    if not path.exists():
        return None
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    inner = (file for file in sorted(path.rglob("*")) if file.is_file())
    return _hash([[file.relative_to(path).as_posix(), _digest(file)] for file in inner])


def _hash(value: Any) -> str:
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()

"""What makes two runs the same: a hash of the configuration, of the files it names, and of the version.

Where a run is tracked, what a sweep does about earlier runs and what it tabulates change no result, and so
are no part of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from evaluator import canonical_json
from experiments.config import ExperimentConfig, flatten
from induce.version import __version__

ABOUT_RUNS = ("tracking", "sweep", "table")
"""The groups of a configuration that change no result."""


def config_hash(config: ExperimentConfig, folder: Path) -> str:
    """The hash of one configuration; relative paths start at ``folder``.

    A file or folder that the dataset names counts by its content, so changed scenes are another
    configuration. Raises :class:`OSError` for a file that can't be read.
    """
    files = {place: _digest(folder / place) for place in sorted(set(_paths(config, folder)))}
    return _hash({"version": __version__, "config": _results_of(config), "files": files})


def sweep_hash(
    first: ExperimentConfig, swept: Mapping[str, Sequence[str]], sweeper: Mapping[str, Any]
) -> str:
    """The hash of a sweep: its first configuration, the values of each swept key, and who chooses them."""
    keys = [[key, list(values)] for key, values in swept.items()]
    return _hash({"version": __version__, "first": _results_of(first), "swept": keys, "sweeper": sweeper})


def _results_of(config: ExperimentConfig) -> dict[str, Any]:
    tree: dict[str, Any] = msgspec.to_builtins(config)
    return {name: value for name, value in tree.items() if name not in ABOUT_RUNS}


def _paths(config: ExperimentConfig, folder: Path) -> Iterator[str]:
    for value in flatten(msgspec.to_builtins(config.dataset)).values():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and text and (folder / text).exists():
                yield text


def _digest(path: Path) -> str:
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    inner = (file for file in sorted(path.rglob("*")) if file.is_file())
    return _hash([[file.relative_to(path).as_posix(), _digest(file)] for file in inner])


def _hash(value: Any) -> str:
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()

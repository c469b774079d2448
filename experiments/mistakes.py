"""What Hydra and OmegaConf raise about a command line or a config file, said in one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import yaml
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import InterpolationKeyError, OmegaConfBaseException

from experiments.config import did_you_mean, known_keys, nearest

CONFIG_MISTAKES = (HydraException, OmegaConfBaseException, yaml.YAMLError)

_EXAMPLE = "write KEY=VALUE, such as seed=3 or learner=asp"
_NO_OVERRIDE = re.compile(r"Could not override '(?P<key>[^']+)'")
_SEVERAL = re.compile(
    r"Ambiguous value for argument '(?P<choices>[^']+)'|'(?P<sweep>[^']+)' requires --multirun"
)
_LAUNCHERS = ("joblib", "dask")
_NO_GROUP = re.compile(r"Could not find '(?P<group>[^']+)/(?P<option>[^'/]+)'")


def sentence_of(error: Exception, keys: Callable[[], Iterable[str]]) -> str:
    """One sentence for one of :data:`CONFIG_MISTAKES`.

    ``keys`` gives the dotted keys that can be overridden as things are, groups among them; it is asked only
    when they are needed.
    """
    if isinstance(error, OverrideParseException):
        return _unparsed(error)
    if isinstance(error, MissingConfigException):
        return _missing_config(error)
    if isinstance(error, yaml.YAMLError):
        return f"a config file is not valid YAML: {_one_line(str(error))}"
    text = str(error)
    unknown = _NO_OVERRIDE.search(text)
    if unknown:
        return _unknown_key(unknown["key"], frozenset(keys()))
    if isinstance(error, InterpolationKeyError):
        return f"{error.full_key}: refers to another key that this configuration leaves out"
    several = _SEVERAL.search(text)
    if several:
        word = several["choices"] or several["sweep"]
        return f"{word}: several values need -m, which runs one job for each; a list is written KEY=[a,b]"
    return _one_line(text)


def _unparsed(error: OverrideParseException) -> str:
    word = str(error.override)
    if "=" not in word and not word.startswith(("+", "~")):
        return f"{word!r} is neither an option nor an override; {_EXAMPLE}"
    reason = _first_line(error.message)
    return f"{word!r} can't be read as an override ({reason}); a value with signs needs quotes: KEY='\"a:b\"'"


def _missing_config(error: MissingConfigException) -> str:
    found = _NO_GROUP.search(str(error))
    options: Sequence[str] = error.options or ()
    if found and options:
        group, option = found["group"], found["option"]
        if group == "hydra/launcher" and option in _LAUNCHERS:
            return missing_launcher(option)
        return f"{group}={option}: no such {group}{did_you_mean(option, options)}"
    return _one_line(_first_line(str(error)))


def _unknown_key(key: str, keys: frozenset[str]) -> str:
    if key in known_keys():
        return f"{key}: this configuration leaves the key out; write +{key}=VALUE to add it"
    close = "hydra/launcher" if key == "launcher" else nearest(key, keys)
    if close is None:
        last = key.rpartition(".")[2]
        named = {name.rpartition(".")[2]: name for name in sorted(keys, reverse=True)}
        inner = nearest(last, named)
        close = named[inner] if inner else None
    hint = f"; did you mean {close!r}?" if close else "; experiments --help lists the keys"
    return f"{key}: unknown key{hint}"


def missing_launcher(name: str) -> str:
    """The sentence for a launcher whose extra is not installed."""
    return f"hydra/launcher={name}: not installed; pip install 'check-induction[{name}]' brings it"


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "no reason given"


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def no_such_folder(folder: str) -> str:
    """The sentence for a ``--config-dir`` that is not there."""
    kind = "is a file, not a folder" if Path(folder).exists() else "does not exist"
    return (
        f"--config-dir: {folder} {kind}; it should hold folders such as dataset/ or learner/ with YAML files"
    )

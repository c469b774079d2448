"""What Hydra and OmegaConf raise about a command line or a config file, said in one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import yaml
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import InterpolationKeyError, OmegaConfBaseException

from experiments.config import did_you_mean, known_keys, nearest
from experiments.config.datasets import kinds_with

CONFIG_MISTAKES = (HydraException, OmegaConfBaseException, yaml.YAMLError)

_EXAMPLE = "write KEY=VALUE, such as seed=3 or learner=asp"
_NO_OVERRIDE = re.compile(r"Could not override '(?P<key>[^']+)'")
_SEVERAL = re.compile(
    r"Ambiguous value for argument '(?P<choices>[^']+)'|'(?P<sweep>[^']+)' requires --multirun"
)
_LAUNCHERS = ("joblib", "dask")
_NO_GROUP = re.compile(r"Could not find '(?P<group>[^']+)/(?P<option>[^'/]*)'")
_NOT_THERE = re.compile(r"Could not delete\D*?'(?P<key>[^']+)'")
_THERE = re.compile(
    r"Multiple values for (?P<group>[^ ]+)\. To override|An item is already at '(?P<key>[^']+)'"
)
_MERGING = re.compile(r"Error merging override (?P<word>.+)")


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
    absent = _NOT_THERE.search(text)
    if absent:
        return f"~{_unknown_key(absent['key'], frozenset(keys()))}"
    there = _THERE.search(text)
    if there:
        return f"{there['group'] or there['key']}: has a value already; leave out the + to give it another"
    merging = _MERGING.search(text)
    if merging:
        return f"{merging['word']}: {_first_line(str(error.__cause__)).lower()}"
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
    key, _, value = word.partition("=")
    plain = value and not set("\"'\\") & set(value)
    quoted = f"""'{key}="{value}"'""" if plain else """KEY='"a:b"'"""
    reason = _first_line(error.message)
    why = "" if reason.startswith("LexerNoViableAlt") else f" ({reason})"  # the parser's own name of it
    return f"{word!r} can't be read as an override{why}; a value with signs needs quotes: {quoted}"


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
    """``keys`` are those of the default configuration, and the groups."""
    kinds = kinds_with(re.split("[./]", key)[1]) if re.match("dataset[./]", key) else ()
    if kinds and (key in known_keys() or key in keys):
        adding = "" if "/" in key else f"; +{key}=VALUE adds it to a file of your own"
        have = f"{_listed(kinds)} {'have' if len(kinds) > 1 else 'has'}"
        return f"{key}: this dataset has no such key, but dataset={have}{adding}"
    if key in known_keys():
        return f"{key}: this configuration leaves the key out; write +{key}=VALUE to add it"
    if key.startswith("table.values."):
        return f"{key}: table.values names no such metric yet; write +{key}=TITLE to add it"
    if key.startswith("hydra."):
        return f"{key}: unknown key; experiments --cfg hydra shows Hydra's own keys"
    close = "hydra/launcher" if key == "launcher" else _nearest_key(key, keys | known_keys())
    hint = f"; did you mean {close!r}?" if close else "; experiments --help lists the keys"
    return f"{key}: unknown key{hint}"


def _nearest_key(key: str, keys: frozenset[str]) -> str | None:
    """A key beside it, else one of the same name, else the most like it, else the most like its last part."""
    parent, _, last = key.rpartition(".")
    beside = {name.rpartition(".")[2]: name for name in sorted(keys) if name.rpartition(".")[0] == parent}
    named = [name for name in keys if name.rpartition(".")[2] == last]
    ends = {name.rpartition(".")[2]: name for name in sorted(keys, reverse=True)}
    same = nearest(key, named) or min(named, key=lambda name: (name.count("."), name), default=None)
    close, alike = nearest(last, beside), nearest(last, ends)
    return (
        (beside[close] if close else None) or same or nearest(key, keys) or (ends[alike] if alike else None)
    )


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def wrong_option(error: ValueError) -> str:
    """The sentence for what Hydra says of a group that is given something other than a name."""
    if "Config group override must be a string" in str(error):
        return f"a group takes the name of an option, and null or a number is none; {_EXAMPLE}"
    return str(error)


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

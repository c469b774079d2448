"""Runs the sweeps of a paper and writes its files."""

from __future__ import annotations

import hashlib
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from hydra.conf import HydraConf
from hydra.core.override_parser.overrides_parser import OverridesParser

from evaluator import json_text
from experiments.config import ConfigError, Paper, did_you_mean, flatten, parse_config
from experiments.paper.runs import Runs
from experiments.paper.sections import SECTIONS, Section
from experiments.paper.table import PaperTable
from experiments.sweeps.job import relative
from experiments.sweeps.table import read_runs
from experiments.tracking import RunRecord, TrackingError, track
from induce.export import write_atomically
from induce.version import __version__

_NOT_FOR_SWEEPS = ("preset", "paper", "hydra.run.dir")
_NO_PART_OF_RUNS = ("hydra", "tracking", "sweep", "table")


@dataclass(frozen=True, slots=True)
class Sweep:
    """One sweep of a section: the words of its command line, and the folder of its runs."""

    section: str
    words: tuple[str, ...]
    folder: Path


def build(tree: Mapping[str, Any], settings: HydraConf, folder: Path, output: Path) -> Iterator[str]:
    """Run the sweeps of the paper that Hydra composed and write it to ``output``; yields what is to be said.

    Runs that have finished are not run again, so that an interrupted paper goes on where it stopped.
    """
    config = parse_config(tree)
    sweeps = planned(config.paper, settings.overrides.task, output)
    sources = (source for source in settings.runtime.config_sources if source.provider == "command-line")
    flags = ["-m", *(f"--config-dir={source.path}" for source in sources)]
    for number, sweep in enumerate(sweeps, 1):
        words = [*flags, *sweep.words]
        yield f"sweep {number} of {len(sweeps)}: experiments {shlex.join(words)}"
        run(words, folder)
    files = write(config.paper, sweeps, output)
    yield f"files: {', '.join(relative(file, folder) for file in files)}"
    record = RunRecord(
        name=config.paper.title,
        params=flatten({"paper": msgspec.to_builtins(config.paper)}),
        metrics={},
        datasets=(),
        files=files,
        started=time.time(),
    )
    try:
        track(config.tracking, record, folder)
    except TrackingError as error:
        raise TrackingError(f"{error}; the paper is in {relative(output, folder)}") from error


def planned(paper: Paper, given: Sequence[str], output: Path) -> list[Sweep]:
    """The sweeps of a paper in ``output``; ``given`` are the overrides of its own command line.

    Of the words with one key the last counts: those for all sweeps, the sweep's own, those given. The folder
    of a sweep is named by what it runs, so that another paper in the same place takes no run of this one for
    its own. Raises :class:`ConfigError` for a section that there is not.
    """
    if not paper.sections:
        raise ConfigError("paper.sections: no sweeps; preset=paper has some")
    sweeps = []
    for section, lines in paper.sections.items():
        if section not in SECTIONS:
            raise ConfigError(f"paper.sections: no section {section!r}{did_you_mean(section, SECTIONS)}")
        for number, line in enumerate(lines, 1):
            ours = (word for word in given if not _is_about(word, _NOT_FOR_SWEEPS))
            words = _last_of_each([*_split(paper.common), *_split(line), *ours])
            what = "\n".join(sorted(word for word in words if not _is_about(word, _NO_PART_OF_RUNS)))
            identity = hashlib.sha256(what.encode()).hexdigest()[:8]
            folder = output / "runs" / f"{section}-{number}-{identity}"
            sweeps.append(Sweep(section, (*words, f"hydra.sweep.dir={_quoted(folder)}"), folder))
    return sweeps


def run(words: Sequence[str], folder: Path) -> None:
    """Run a command line of ``experiments`` in ``folder`` as a process of its own, which says how it goes.

    A request to terminate is passed on to it. Raises SystemExit with its exit code when it fails.
    """
    command = [sys.executable, "-m", "experiments", *words]
    with subprocess.Popen(command, cwd=folder) as process, _passing_on(process):
        code = process.wait()
    if code:
        raise SystemExit(code if code > 0 else 128 - code)


@contextmanager
def _passing_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def write(paper: Paper, sweeps: Sequence[Sweep], output: Path) -> tuple[Path, ...]:
    """Read the runs back and write paper.md, paper.json and the figures, and the same of the times."""
    told = {}
    for name in dict.fromkeys(sweep.section for sweep in sweeps):
        found = [run for sweep in sweeps if sweep.section == name for run in read_runs(sweep.folder)]
        told[name] = Runs(tuple(found))
    sections = {name: SECTIONS[name](runs) for name, runs in told.items()}
    texts = {
        "paper.md": "\n\n".join(_markdown(paper, sections, told)) + "\n",
        "paper.json": _json(paper, {name: section.tables for name, section in sections.items()}),
        "times.md": "\n\n".join(_times(sections)) + "\n",
        "times.json": _json(paper, {name: section.times for name, section in sections.items()}),
    }
    for section in sections.values():
        for figure in (*section.figures, *section.time_figures):
            texts[f"{figure.name}.svg"] = figure.svg()
    for name, text in texts.items():
        write_atomically(output / name, text)
    return tuple(output / name for name in texts)


def _markdown(paper: Paper, sections: Mapping[str, Section], told: Mapping[str, Runs]) -> Iterable[str]:
    yield f"# {paper.title}"
    for name, section in sections.items():
        yield f"## {section.title}"
        yield section.says
        absent = told[name].absent
        if absent:
            yield f"Not installed where this was run: {', '.join(absent)}."
        for table in section.tables:
            yield table.markdown()
        for figure in section.figures:
            yield f"![{figure.says}]({figure.name}.svg)"


def _times(sections: Mapping[str, Section]) -> Iterable[str]:
    yield "# Times"
    yield "In seconds of one machine; they differ from run to run, as nothing else does."
    for section in sections.values():
        if section.times:
            yield f"## {section.title}"
            yield section.says
        for table in section.times:
            yield table.markdown()
        for figure in section.time_figures:
            yield f"![{figure.says}]({figure.name}.svg)"


def _json(paper: Paper, sections: Mapping[str, Sequence[PaperTable]]) -> str:
    tables = {name: [table.to_dict() for table in tables] for name, tables in sections.items() if tables}
    return f"{json_text({'title': paper.title, 'version': __version__, 'sections': tables})}\n"


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise ConfigError(f"paper.sections: {line!r} can't be read: {str(error).lower()}") from None


def _is_about(word: str, keys: Sequence[str]) -> bool:
    """Whether an override is of one of the keys, or of something in it."""
    (override,) = OverridesParser.create().parse_overrides([word])
    key = str(override.get_key_element()).lstrip("~+")
    return any(key == own or key.startswith((f"{own}.", f"{own}/")) for own in keys)


def _last_of_each(words: Sequence[str]) -> list[str]:
    parsed = OverridesParser.create().parse_overrides(list(words))
    return [str(override.input_line) for override in {one.get_key_element(): one for one in parsed}.values()]


def _quoted(folder: Path) -> str:
    text = str(folder).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"

"""The command line ``experiments``: a Hydra app whose mistakes are one sentence and exit code 2."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import hydra
from hydra.conf import HydraConf
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from experiments.commandline import (
    RunRequest,
    SweepRequest,
    config_directory,
    options_first,
    quoted,
    read_command_line,
    said,
    tree_of,
)
from experiments.launchers import join_hydra_plugins
from experiments.output_folder import undone_without_results
from experiments.sweeps import sweep
from experiments.sweeps.job import USER_MISTAKES, run_alone, run_nested
from experiments.sweeps.nesting import read_nest
from experiments.sweeps.orphans import end_with_parent
from experiments.sweeps.stopping import stoppable
from experiments.tracking.secrets import mask_files, without_passwords
from induce.version import __version__

# A first word that is no override picks one of these, each the module of a function main(words) -> exit code.
COMMANDS = {
    "benchmark": "experiments.benchmark.cli",
    "compare": "experiments.compare.cli",
    "report": "experiments.report.cli",
}
_GAVE_UP, _BAD_INPUT, _INTERRUPTED, _READER_GONE, _TERMINATED = 1, 2, 130, 141, 143


def main() -> None:
    """Run the experiments that ``sys.argv`` asks for."""
    words = without_passwords(sys.argv[1:])
    if words[:1] == ["--version"]:
        print(f"experiments {__version__}")
        return
    if words and words[0] in COMMANDS:
        sys.exit(importlib.import_module(COMMANDS[words[0]]).main(words[1:]))
    # Hydra then raises what it would otherwise print with a traceback.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    join_hydra_plugins()
    try:
        words = options_first(words)
        request = read_command_line(words)
        if request is None:
            _hydra(words)
        elif isinstance(request, SweepRequest):
            _sweep(words, request)
        else:
            _run(words, request)
    except USER_MISTAKES as error:
        _stop(error)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


def _hydra(words: Sequence[str]) -> None:
    sys.argv[1:] = words
    hydra.main(version_base="1.3", config_path=str(config_directory()), config_name="config")(_job)()


def _job(composed: DictConfig) -> None:
    """One run of a configuration; Hydra calls it, in another process when a launcher says so."""
    settings = HydraConfig.get()
    folder, output = Path(settings.runtime.cwd), Path(settings.runtime.output_dir)
    mask_files(output)
    if settings.mode == RunMode.MULTIRUN:
        end_with_parent()
        outer = folder / settings.sweep.dir
        nest = read_nest(outer)
        assert nest is not None
        given = [word for word in settings.overrides.task if word.partition("=")[0] in nest.swept]
        title = " ".join([f"[{settings.job.num}]", *given])
        line = run_nested(tree_of(composed), title, folder, output, outer, nest)
        sys.stdout.write(f"{line}\n")  # in one piece: other jobs may write at the same time
        sys.stdout.flush()
        return
    tree = tree_of(composed)
    try:
        lines = _paper(tree, settings, folder, output) if "paper" in tree else run_alone(tree, folder, output)
        for line in lines:
            print(line, flush=True)
    except USER_MISTAKES as error:
        _stop(error)


def _paper(tree: Mapping[str, Any], settings: HydraConf, folder: Path, output: Path) -> Iterator[str]:
    from experiments.paper.build import build  # what tables need, and a single run does not

    return build(tree, settings, folder, output)


def _run(words: Sequence[str], request: RunRequest) -> None:
    with undone_without_results(Path.cwd() / request.folder):
        _hydra([*words, f"hydra.run.dir='{quoted(request.folder)}'"])


def _sweep(words: Sequence[str], request: SweepRequest) -> None:
    """Run a sweep, or what is left of it; it is ended in the store however its jobs end."""
    folder, stopped, gave_up = Path.cwd(), False, None
    with sweep.begun(request, folder) as current, stoppable() as received:
        try:
            _hydra([*words, f"hydra.sweep.dir='{quoted(str(current.output))}'"])
        except KeyboardInterrupt:
            stopped = True
        except BaseException as error:
            if not isinstance(error, Exception) or isinstance(error, USER_MISTAKES):
                sweep.end(current, stopped=True)
                raise
            gave_up = f"the launcher gave up ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
        mask_files(current.output)
        ended = sweep.end(current, stopped=stopped or gave_up is not None)
    for line in sweep.summary(current, ended):
        print(line, flush=True)
    complaints = list(sweep.complaints(current, ended, "interrupted" if stopped else gave_up))
    for line in complaints:
        print(f"experiments: {line}", file=sys.stderr)
    if stopped:
        sys.exit(_TERMINATED if signal.SIGTERM in received else _INTERRUPTED)
    if complaints:
        sys.exit(_GAVE_UP if gave_up else _BAD_INPUT)


def _stop(error: Exception) -> NoReturn:
    if isinstance(error, BrokenPipeError):  # the reader has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing left to flush at the exit
        sys.exit(_READER_GONE)
    print(f"experiments: {said(error)}", file=sys.stderr)
    sys.exit(_BAD_INPUT)

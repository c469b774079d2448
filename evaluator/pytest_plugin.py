"""A pytest plugin: checks on scenes as tests, and tests that expect something of agent traces.

    pytest -p evaluator.pytest_plugin --checks checks/ --scenes scenes.jsonl
    pytest -p evaluator.pytest_plugin tests/

`--checks` is a folder, searched through, or one file: a check, an array of defined checks, or a pack, in JSON
(packs also in YAML). `--scenes` is what `evaluator check` reads. A failing check whose severity is `warn` or
`info` is an expected failure (`xfail`) and does not fail the run. Without the two options nothing happens.

What `expect` needs of pytest comes along (`evaluator/expecting/pytest_chains.py`, `pytest_trials.py`): a test
that leaves a chain unevaluated fails, one without evidence is skipped, a marked one is repeated. Without `-p`
the plugin is not even imported; `pytest_plugins = ["evaluator.pytest_plugin"]` in the root `conftest.py` does
the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator.assertion import CheckAssertionError, assert_check
from evaluator.check import Check, is_defined
from evaluator.commands import UnusableInputError
from evaluator.compile import compile_check
from evaluator.errors import CheckError, SceneError
from evaluator.json_read import JsonTextError, read_json
from evaluator.meta import parse_meta
from evaluator.pack import load_pack
from evaluator.safe_text import printable
from evaluator.scene_lines import SceneLine, reason, scene_lines

pytest_plugins = ("evaluator.expecting.pytest_chains", "evaluator.expecting.pytest_trials")

_SCENES = pytest.StashKey[list[SceneLine]]()
_SUFFIXES = (".json", ".yaml", ".yml")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("checks", "checks on scenes (evaluator)")
    group.addoption("--checks", metavar="PATH", help="folder or file with checks to run as tests")
    group.addoption("--scenes", metavar="FILE", help="file with the scenes to run them on, one a line")


def pytest_configure(config: pytest.Config) -> None:
    checks, scenes = config.getoption("checks"), config.getoption("scenes")
    if checks is None and scenes is None:
        return
    if checks is None or scenes is None:
        given, other = ("--scenes", "--checks") if checks is None else ("--checks", "--scenes")
        raise pytest.UsageError(f"{given} needs {other} too")
    folder = str(_absolute(config, checks))
    if not Path(folder).exists():
        raise pytest.UsageError(f"--checks {checks}: no such file or folder")
    try:
        lines = list(scene_lines(str(_absolute(config, scenes))))
    except UnusableInputError as error:
        raise pytest.UsageError(f"--scenes {error}") from None
    if not lines:
        raise pytest.UsageError(f"--scenes {scenes}: no scenes; one JSON value a line is expected")
    config.stash[_SCENES] = lines
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args[:] = [folder]  # no tests were named: the checks are all that is wanted
    elif folder not in config.args:
        config.args.append(folder)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> _CheckFile | None:
    checks = parent.config.getoption("checks")
    if checks is None or file_path.suffix.lower() not in _SUFFIXES:
        return None
    within = _absolute(parent.config, checks)
    if file_path != within and within not in file_path.parents:
        return None
    return _CheckFile.from_parent(parent, path=file_path)


class _CheckFile(pytest.File):
    """A file of checks: for every check, a test on every scene."""

    def collect(self) -> Iterator[_CheckItem]:
        used: set[str] = set()
        for check in _read_checks(self.path):
            for line in self.config.stash[_SCENES]:
                name = printable(f"{check.id}[{line.id}]")
                if name in used:  # two lines with one id: the number of the line tells them apart
                    name = printable(f"{check.id}[{line.id}, line {line.number}]")
                used.add(name)
                yield _CheckItem.from_parent(self, name=name, check=check, line=line)


class _CheckItem(pytest.Item):
    """One check on one scene."""

    def __init__(self, *, check: Check, line: SceneLine, **rest: Any) -> None:
        super().__init__(**rest)
        self._check = check
        self._line = line

    def runtest(self) -> None:
        try:
            assert_check(self._line.scene, self._check)
        except CheckAssertionError as error:
            severity = parse_meta(self._check.meta).severity
            if severity != "error":
                pytest.xfail(f"{severity}: {error.result.why}")
            raise

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any) -> Any:
        if isinstance(excinfo.value, CheckAssertionError | CheckError | SceneError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, *args)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"check {self.name}"


def _read_checks(path: Path) -> tuple[Check, ...]:
    """The checks of a file, each with an id: its own, or the file's name."""
    try:
        if path.suffix.lower() != ".json":
            return load_pack(path).checks
        wire = read_json(path.read_bytes())
        if type(wire) is dict and "checks" in wire and "op" not in wire:
            return load_pack(path).checks
        if type(wire) is not list:
            return (_check(wire, path.stem),)
        return tuple(_check(one, f"{path.stem}[{index}]") for index, one in enumerate(wire))
    except JsonTextError as error:
        place = "".join(f":{number}" for number in (error.line, error.column) if number)
        raise pytest.Collector.CollectError(f"{path}{place}: {error.problem}") from None
    except CheckError as error:
        text = str(error)
        named = text if text.startswith(str(path)) else f"{path}: {text}"
        raise pytest.Collector.CollectError(named) from None
    except OSError as error:
        raise pytest.Collector.CollectError(f"{path}: {reason(error)}") from None


def _check(wire: Any, name: str) -> Check:
    judged = compile_check(wire).check
    if not is_defined(judged):
        return Check(name, judged)
    parse_meta(judged.get("meta"))
    return Check(judged["id"] or name, judged["expr"], judged.get("meta"))


def _absolute(config: pytest.Config, path: str) -> Path:
    return Path(config.invocation_params.dir, path).resolve()

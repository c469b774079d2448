"""A single run that fails on a mistake of the user's leaves its output folder as it found it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.output_folder import undone_without_results

Command = Callable[..., Any]


def contents(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def hydra_writes(output: Path, text: str) -> None:
    (output / ".hydra").mkdir(parents=True, exist_ok=True)
    for name in ("config.yaml", "hydra.yaml", "overrides.yaml"):
        (output / ".hydra" / name).write_text(text, encoding="utf-8")
    with (output / "experiments.log").open("a", encoding="utf-8") as log:
        log.write(text)


def test_a_missing_file_leaves_nothing_behind(experiments: Command, tmp_path: Path) -> None:
    done = experiments(tmp_path, "dataset=jsonl", "dataset.path=none.jsonl")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert contents(tmp_path) == {}


def test_scenes_that_teach_nothing_leave_a_folder_of_ones_own_as_it_was(
    experiments: Command, tmp_path: Path
) -> None:
    lines = "".join(json.dumps({"label": "pass", "scene": {"n": n}}) + "\n" for n in range(4))
    (tmp_path / "s.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "it's mine").mkdir()
    (tmp_path / "it's mine/result.json").write_text("of an earlier run", encoding="utf-8")
    hydra_writes(tmp_path / "it's mine", "of an earlier run")
    before = contents(tmp_path)
    words = ["dataset=jsonl", "dataset.train=s.jsonl", "dataset.test=s.jsonl"]
    done = experiments(tmp_path, *words, r"hydra.run.dir='it\'s mine'")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert contents(tmp_path) == before


def ended_by(end: BaseException, output: Path, result: str | None = None) -> None:
    """A run in ``output`` that ends like this, after a result when there is one."""

    def run() -> None:
        with undone_without_results(output):
            hydra_writes(output, "now")
            if result is not None:
                (output / "new").write_text(result, encoding="utf-8")
                (output / "new").replace(output / "result.json")
            raise end

    with pytest.raises(type(end)):
        run()


@pytest.mark.parametrize("end", [SystemExit(2), KeyboardInterrupt()])
def test_only_the_folders_that_were_made_go(tmp_path: Path, end: BaseException) -> None:
    (tmp_path / "outputs").mkdir()
    ended_by(end, tmp_path / "outputs/day/time")
    assert contents(tmp_path) == {"outputs": None}


def test_a_folder_beside_other_runs_goes_alone(tmp_path: Path) -> None:
    (tmp_path / "day/one").mkdir(parents=True)
    ended_by(SystemExit(2), tmp_path / "day/two")
    assert contents(tmp_path) == {"day": None, "day/one": None}


def test_results_stay_with_the_settings_they_came_from(tmp_path: Path) -> None:
    hydra_writes(tmp_path, "before")
    (tmp_path / "result.json").write_text("before", encoding="utf-8")
    ended_by(SystemExit(2), tmp_path, result="after")
    assert (tmp_path / ".hydra/config.yaml").read_text(encoding="utf-8") == "now"
    assert (tmp_path / "result.json").read_text(encoding="utf-8") == "after"


def test_what_a_fault_of_ours_left_stays(tmp_path: Path) -> None:
    ended_by(ZeroDivisionError(), tmp_path / "outputs")
    assert (tmp_path / "outputs/.hydra/config.yaml").is_file()

"""What a run ran in, how its learner came to the answer, and that a light start stays light."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.anytime import Anytime
from experiments.environment import Environment, git_state
from experiments.tracking.secrets import mask_files, without_passwords
from induce import learn_check

ROOT = Path(__file__).resolve().parents[2]


def git(folder: Path, *words: str) -> str:
    named = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
    done = subprocess.run(named, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_folder_without_repository_commit_or_git_has_no_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert git_state(tmp_path) is None
    assert git_state(tmp_path / "missing") is None
    git(tmp_path, "init", "-q")
    assert git_state(tmp_path) is None
    (tmp_path / "a").write_text("1", encoding="utf-8")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-qm", "A")
    assert git_state(tmp_path) is not None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_state(tmp_path) is None


def test_the_state_of_a_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "trunk")
    (tmp_path / "a").write_text("1", encoding="utf-8")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-qm", "A")
    commit = git(tmp_path, "rev-parse", "HEAD")
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs/result.json").write_text("{}", encoding="utf-8")
    found = git_state(tmp_path / "outputs")
    assert found is not None
    assert (found.commit, found.branch, found.dirty) == (commit, "trunk", False)
    (tmp_path / "a").write_text("2", encoding="utf-8")
    git(tmp_path, "checkout", "-q", "--detach")
    found = git_state(tmp_path)
    assert found is not None
    assert (found.commit, found.branch, found.dirty) == (commit, None, True)


def test_tags_of_an_environment(tmp_path: Path) -> None:
    tags = Environment.of(tmp_path).tags()
    assert tags["version.python"] == ".".join(map(str, sys.version_info[:3]))
    assert {"version.check-induction", "version.clingo", "version.mlflow"} <= tags.keys()
    assert not [name for name in tags if "git" in name]


def test_every_step_of_the_learner_is_kept_once() -> None:
    scenes = [{"a": n % 7, "b": n % 3, "c": n} for n in range(40)]
    labels = ["pass" if scene["a"] > 3 and scene["b"] != 1 else "fail" for scene in scenes]
    anytime = Anytime()
    result = learn_check(scenes, labels, progress=anytime)
    anytime.finish(result)
    moments = anytime.moments
    assert (moments[-1].objective, moments[-1].lower_bound) == (result.objective, result.lower_bound)
    assert len({(moment.objective, moment.lower_bound) for moment in moments}) == len(moments)
    assert [moment.seconds for moment in moments] == sorted(moment.seconds for moment in moments)
    known = [moment.objective for moment in moments if moment.objective is not None]
    assert known == sorted(known, reverse=True)
    series = anytime.series()
    assert [value for _, value in series["anytime.objective"]] == known
    assert anytime.to_list()[-1]["objective"] == result.objective


def test_a_password_on_the_command_line_goes_into_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHECK_INDUCTION_TRACKING_URI", raising=False)
    words = ["seed=1", "tracking.uri=http://host", "++tracking.uri='http://me:a,b@host'"]
    kept = without_passwords(words)
    assert kept == [*words[:2], "++tracking.uri=${oc.env:CHECK_INDUCTION_TRACKING_URI}"]
    assert os.environ["CHECK_INDUCTION_TRACKING_URI"] == "http://me:a,b@host"


def test_a_password_in_a_config_of_ones_own_is_taken_out_of_hydras_files(tmp_path: Path) -> None:
    (tmp_path / ".hydra").mkdir()
    config = tmp_path / ".hydra/config.yaml"
    config.write_text("tracking:\n  uri: http://me:secret@host:80/x\nseed: 1\n", encoding="utf-8")
    (tmp_path / "multirun.yaml").write_text("seed: 1\n", encoding="utf-8")
    mask_files(tmp_path)
    assert config.read_text(encoding="utf-8") == "tracking:\n  uri: http://host:80/x\nseed: 1\n"
    assert (tmp_path / "multirun.yaml").read_text(encoding="utf-8") == "seed: 1\n"


@pytest.mark.parametrize(
    "program", ["import experiments", "import experiments.cli", "import experiments.tracking"]
)
def test_what_starts_first_imports_nothing_heavy(program: str) -> None:
    heavy = ("mlflow", "sklearn", "matplotlib", "pandas", "jinja2")
    code = f"{program}, sys; print([name for name in {heavy} if name in sys.modules])"
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"

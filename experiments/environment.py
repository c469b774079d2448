"""What a run ran in: versions of Python and of the packages that matter, the machine, the state of git."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec

from induce.version import __version__

# The learner, then what trains, records and spreads; those that are absent are left out.
_PACKAGES = (
    "clingo",
    "numpy",
    "scipy",
    "scikit-learn",
    "msgspec",
    "hydra-core",
    "mlflow",
    "pandas",
    "pyarrow",
    "joblib",
    "dask",
    "ray",
    "wittgenstein",
    "imodels",
)
_GIT_SECONDS = 10


class GitState(msgspec.Struct, frozen=True):
    """The commit of a working folder, its branch (None where the commit alone is checked out), and whether
    files that git tracks differ from it.
    """

    commit: str
    branch: str | None
    dirty: bool


class Environment(msgspec.Struct, frozen=True):
    """What a run ran in; ``git`` is None where the working folder is in no repository."""

    python: str
    platform: str
    cpus: int | None
    versions: dict[str, str]
    git: GitState | None

    @classmethod
    def of(cls, folder: Path) -> Environment:
        """The environment of this process; ``folder`` is the user's working folder."""
        return cls(
            python=platform.python_version(),
            platform=platform.platform(),
            cpus=os.cpu_count(),
            versions=versions(),
            git=git_state(folder),
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found

    def tags(self) -> dict[str, str]:
        """Tags that runs are found by, with MLflow's own names where it has some."""
        found = {"version.python": self.python}
        found |= {f"version.{name}": text for name, text in self.versions.items()}
        if self.git is not None:
            found["mlflow.source.git.commit"] = self.git.commit
            if self.git.branch is not None:
                found["mlflow.source.git.branch"] = self.git.branch
            found["git.dirty"] = str(self.git.dirty).lower()
        return found


def versions() -> dict[str, str]:
    """The versions of this library and of the packages it stands on, as far as they are installed."""
    found = {"check-induction": __version__}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def git_state(folder: Path) -> GitState | None:
    """The state of the repository that ``folder`` is in; None without one, without a commit, without git."""
    command = ["git", "-C", str(folder), "status", "--porcelain=v2", "--branch", "--untracked-files=no"]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        said = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=True,
        ).stdout.decode(errors="replace")
    except (OSError, subprocess.SubprocessError):
        return None
    header: dict[str, str] = {}
    dirty = False
    for line in said.splitlines():
        if line.startswith("# branch."):
            name, _, value = line.removeprefix("# branch.").partition(" ")
            header[name] = value
        elif line[:1] in ("1", "2", "u"):
            dirty = True
    commit, branch = header.get("oid", "(initial)"), header.get("head", "(detached)")
    if commit == "(initial)":
        return None
    return GitState(commit, None if branch == "(detached)" else branch, dirty)

"""The steps of all traces side by side: their names, their scenes, what comes first and what comes after."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.assertions.json_value import at_dot_path, key_of
from evaluator.assertions.judgement import MissingEvidenceError
from evaluator.assertions.view import Step, TraceView, view_of
from evaluator.values import MISSING

JSON = Any
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
DEEPEST_ARGUMENT = 3


class Lane:
    """Rows of several scenes, one scene after another, each with the code of its tool (-1 for none).

    Parameters
    ----------
    scene, code : int64 (rows,)
    tools, scenes : int
        How many there are.
    """

    def __init__(self, scene: Ints, code: Ints, tools: int, scenes: int) -> None:
        self.scene, self.code, self.tools, self.scenes = scene, code, tools, scenes

    def __len__(self) -> int:
        return len(self.scene)

    @cached_property
    def counts(self) -> Ints:
        """How often each tool occurs in each scene: (tools, scenes)."""
        named = self.code >= 0
        cells = self.code[named] * self.scenes + self.scene[named]
        return np.bincount(cells, minlength=self.tools * self.scenes).reshape(self.tools, self.scenes)

    @cached_property
    def first(self) -> Ints:
        """The first row of each tool in each scene, `len(self)` where there is none: (tools, scenes)."""
        return self.first_in(self.scene, self.scenes)

    def first_in(self, group: Ints, groups: int) -> Ints:
        """The first row of each tool in each group of rows (-1: in none), as `first`: (tools, groups)."""
        found = np.full((self.tools, groups), len(self), np.int64)
        rows = np.flatnonzero((self.code >= 0) & (group >= 0))[::-1]
        found[self.code[rows], group[rows]] = rows
        return found

    @cached_property
    def after(self) -> Ints:
        """The next row of each tool in the scene of each row, as `first`: (tools, rows + 1)."""
        rows = len(self)
        found = np.full((self.tools, rows + 1), rows, np.int64)
        following = np.full(self.tools, rows, np.int64)
        scene = -1
        for row in range(rows - 1, -1, -1):
            if self.scene[row] != scene:
                scene = int(self.scene[row])
                following = np.full(self.tools, rows, np.int64)
            found[:, row] = following
            if self.code[row] >= 0:
                following[self.code[row]] = row
        return found


class Traces:
    """The traces of some scenes as the assertions read them.

    Attributes
    ----------
    names : list of str
        The tools, by code.
    known : bool (scenes,)
        Whether the steps can be read; where they cannot, nothing is evaluated.
    steps, calls : Lane
        All steps, and those that are tool calls.
    """

    def __init__(self, scenes: Sequence[JSON], names: Sequence[str]) -> None:
        self.names = list(names)
        self.views = [view_of(scene) for scene in scenes]
        self.known = np.array([_readable(view) for view in self.views], np.bool_)
        code_of = {name: code for code, name in enumerate(self.names)}
        step_rows = [(at, name) for at, view in self._readable() for name in view.names]
        self.steps = _lane(step_rows, code_of, len(self.views))
        calls = [(at, call) for at, view in self._readable() for call in view.calls]
        self.calls = _lane([(at, call.name) for at, call in calls], code_of, len(self.views))
        self.call_steps: list[Step] = [call.step for _, call in calls]
        self.call_places = [(at, call.position) for at, call in calls]

    def _readable(self) -> list[tuple[int, TraceView]]:
        return [(at, view) for at, view in enumerate(self.views) if self.known[at]]

    @cached_property
    def arguments(self) -> dict[str, tuple[list[JSON], Ints]]:
        """Dot paths to the scalar arguments of calls: the values (`MISSING` for none), and their codes.

        Codes are equal exactly when the values are, -1 where there is none.
        """
        paths = {path for step in self.call_steps for path in _scalar_paths(step.get("args"))}
        found = {}
        for path in sorted(paths):
            keys = path.split(".")
            values = [at_dot_path(step.get("args"), keys) for step in self.call_steps]
            found[path] = (values, coded(values))
        return found

    @cached_property
    def paths_of(self) -> list[list[str]]:
        """The arguments that each tool takes."""
        taken: list[list[str]] = [[] for _ in self.names]
        for path, (_, codes) in self.arguments.items():
            for tool in np.unique(self.calls.code[codes >= 0]).tolist():
                if tool >= 0:
                    taken[tool].append(path)
        return taken


def coded(values: Sequence[JSON]) -> Ints:
    """A number for each value, equal for equal ones; -1 for `MISSING`."""
    known: dict[Any, int] = {}
    codes = [-1 if value is MISSING else known.setdefault(key_of(value), len(known)) for value in values]
    return np.array(codes, np.int64)


def _readable(view: TraceView) -> bool:
    try:
        view.steps  # noqa: B018 (it is read for its error)
    except MissingEvidenceError:
        return False
    return True


def _lane(rows: list[tuple[int, str]], code_of: dict[str, int], scenes: int) -> Lane:
    scene = np.array([at for at, _ in rows], np.int64)
    code = np.array([code_of.get(name, -1) for _, name in rows], np.int64)
    return Lane(scene, code, len(code_of), scenes)


def _scalar_paths(arguments: JSON) -> list[str]:
    """Dot paths to the scalars in arguments; keys that hold a dot have none."""
    found: list[str] = []
    pending = [("", 0, arguments)]
    while pending:
        path, depth, value = pending.pop()
        if type(value) is dict:
            if depth < DEEPEST_ARGUMENT:
                pending += [
                    (f"{path}.{key}" if path else key, depth + 1, inner)
                    for key, inner in value.items()
                    if key and "." not in key
                ]
        elif type(value) is not list and path:
            found.append(path)
    return found

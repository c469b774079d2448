"""What a chain holds: the run, the assertions collected for it, and which of them were submitted."""

from __future__ import annotations

import os
from typing import Any, Final

from evaluator.conversion import to_scene
from evaluator.errors import CheckError, SceneError, kind_of
from evaluator.expecting.assertion import Assertion, identified
from evaluator.expecting.caller import calling_line
from evaluator.expecting.result import AgentResult
from evaluator.expecting.scope import Scope, current_scope
from evaluator.expecting.world import World
from evaluator.json_write import json_text
from evaluator.providers import Providers
from evaluator.scene import is_plain_tree
from evaluator.traces.builder import TraceBuilder
from evaluator.traces.validation import validate_trace
from evaluator.values import MISSING

MOST_SNAPSHOT_BYTES: Final = 9 * 2**20
"""How much JSON the snapshots of a chain may come to, each counted once for every contract on it."""


class Chain:
    """The assertions over one run.

    Attributes:
        trace: the trace.
        world: the snapshot that checks over the scene see: the scene's own, or else the first one given.
        providers: what semantic assertions and plugins call; None for the session's.
        assertions: what was collected, in order.
        submitted: how many of them were last submitted; None before.
        origin: the file and line where the chain was made.
    """

    def __init__(self, run: object, providers: Providers | None, scope: str | None) -> None:
        self._extra, self.trace, self.world = read_run(run)
        self.providers = providers
        self.assertions: list[Assertion] = []
        self.submitted: int | None = None
        file, line = calling_line()
        self.origin = f"{_shown(file)}:{line}"
        self._snapshot_bytes = 0
        test = current_scope()
        self._scope = Scope(scope or "") if test is None or scope is not None else test
        if test is not None:
            test.add(self)

    @property
    def evaluated(self) -> bool:
        """Whether the list of assertions, as it is now, was submitted."""
        return self.submitted == len(self.assertions)

    @property
    def scene(self) -> dict[str, Any]:
        """The run as a scene: its trace, its world where there is one, and what else the scene had."""
        scene = self._extra | {"trace": self.trace}
        return scene if self.world is MISSING else scene | {"world": self.world}

    def add(self, method: str, arguments: dict[str, Any]) -> None:
        """Collect an assertion. Raises `CheckError` when an argument is not JSON."""
        try:
            copied = to_scene(arguments)
        except SceneError as error:
            problem = error.problem.replace("a scene is", "an argument is")
            raise CheckError(f"{method}: {problem}", error.place) from None
        self.assertions.append(identified(method, copied, self._scope))

    def count_snapshot(self, size: int) -> None:
        """Count a snapshot of so many bytes once more; raises `SceneError` when they come to too much."""
        if self._snapshot_bytes + size > MOST_SNAPSHOT_BYTES:
            most = MOST_SNAPSHOT_BYTES // 2**20
            advice = "keep to the resources that the contracts name"
            problem = (
                f"the snapshots of a chain, counted once a contract, come to more than {most} MiB; {advice}"
            )
            raise SceneError(problem, "$.world")
        self._snapshot_bytes += size


def read_run(run: object) -> tuple[dict[str, Any], dict[str, Any], Any]:
    """What else the scene of a run has, the trace, and the world, `MISSING` where there is none.

    Raises `SceneError` when it is no trace and no scene with one, or not JSON.
    """
    if isinstance(run, AgentResult):
        return {}, run.trace, run.world
    if isinstance(run, TraceBuilder):
        run = run.build()
    scene: Any = run if is_plain_tree(run) else to_scene(run)
    if type(scene) is not dict:
        raise SceneError(f'expected a trace or a scene {{"trace", "world"}}, got {kind_of(scene)}', "$")
    if "trace" not in scene:
        _require_trace(scene, "$")
        return {}, scene, MISSING
    trace = scene["trace"]
    _require_trace(trace, "$.trace")
    extra = {key: value for key, value in scene.items() if key not in ("trace", "world")}
    return extra, trace, scene.get("world", MISSING)


def _require_trace(trace: Any, place: str) -> None:
    """Raise `SceneError` unless it is a trace; its id and its output may be absent, as recorded runs go."""
    if type(trace) is not dict:
        raise SceneError(f"expected a trace, an object, got {kind_of(trace)}", place)
    try:
        validate_trace({"trace_id": "run", "output": {"message": ""}} | trace)
    except SceneError as error:
        raise SceneError(error.problem, error.place.replace("$", place, 1)) from None


def read_snapshot(snapshot: object) -> tuple[Any, int]:
    """A copy of a snapshot of the world, and how many bytes its JSON has.

    Raises `SceneError` when it is not JSON.
    """
    copied = snapshot.state() if isinstance(snapshot, World) else to_scene(snapshot)
    return copied, len(json_text(copied, compact=True).encode())


def _shown(file: str) -> str:
    """A file's path from the working folder, where it lies in it."""
    try:
        near = os.path.relpath(file)
    except ValueError:  # on another drive
        return file
    return file if near.startswith("..") else near

"""Replaying a recorded run against a check: the verdict and the gap after every step, and where they turned.

The gap after each step is a gradient: a good step lowers it. A run is told by its flips (steps at which the
verdict changed) and its rises (steps that took the world further from what the check asks).
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from evaluator.compile import compile_check
from evaluator.errors import SceneError
from evaluator.result import CheckResult
from evaluator.scene_otel import SceneStep


class ReplayedStep(Struct, frozen=True):
    """One step of a run as the check sees it.

    Attributes:
        number: from 1.
        step: the scene and the calls.
        result: None when it cannot be known: the check looks at a value that is cut, broken or not yet set.
        problem: then the reason, else "".
        flipped: the verdict differs from the last known one. False at the first.
        rose: the gap is larger than the last known one. False at the first.
    """

    number: int
    step: SceneStep
    result: CheckResult | None
    problem: str
    flipped: bool
    rose: bool

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools called; "?" for one that is not named."""
        return tuple("?" if call.name is None else call.name for call in self.step.calls)


class Replay(Struct, frozen=True):
    """What a check says of a run, step by step."""

    steps: tuple[ReplayedStep, ...]

    @property
    def passed(self) -> bool | None:
        """The verdict of the last step; None when that is not known."""
        result = self.steps[-1].result if self.steps else None
        return None if result is None else result.passed

    @property
    def flips(self) -> tuple[ReplayedStep, ...]:
        """The steps at which the verdict changed."""
        return tuple(step for step in self.steps if step.flipped)

    @property
    def rises(self) -> tuple[ReplayedStep, ...]:
        """The steps at which the gap rose."""
        return tuple(step for step in self.steps if step.rose)


def replay_trace(check: object, steps: Iterable[SceneStep], *, key: str | None = None) -> Replay:
    """Evaluate a check after every step of a recorded run.

    Parameters:
        check: a bare expression, a defined check, a `Check` or a `CompiledCheck`.
        steps: of one trace, as `read_scene_otel` yields them or `SceneTrace.steps` holds them.
        key: evaluate on the value of this key instead of on the whole scene: scenegrad writes the world under
            the key `scene`.

    Raises:
        CheckError: the check is not well formed.
    """
    compiled = compile_check(check)
    replayed: list[ReplayedStep] = []
    before: CheckResult | None = None
    for number, step in enumerate(steps, start=1):
        result, problem = None, ""
        if key is not None and key not in step.scene:
            problem = f"the key {key} is not set yet"
        else:
            try:
                result = compiled(step.scene if key is None else step.scene[key])
            except SceneError as error:
                problem = _broken_values(step) or str(error)
        flipped = rose = False
        if result is not None:
            if before is not None:
                flipped, rose = result.passed is not before.passed, result.gap > before.gap
            before = result
        replayed.append(ReplayedStep(number, step, result, problem, flipped, rose))
    return Replay(tuple(replayed))


def _broken_values(step: SceneStep) -> str:
    return "; ".join(f"{key}: {value.problem} ({value.place})" for key, value in step.broken.items())

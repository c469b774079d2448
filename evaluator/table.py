"""Many checks on many scenes: verdicts and gaps as matrices, scenes prepared once as columns.

>>> scenes = [{"total": 540}, {"total": 480}, {}]
>>> table = evaluate_many([{"op": "lte", "path": "total", "value": 500}], SceneTable(scenes))
>>> table.passed.tolist(), table.gap.tolist()
([[False, True, False]], [[40.0, 0.0, 1.0]])

This is the part of the evaluator that needs numpy; `import evaluator` does not load it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator.check import is_defined
from evaluator.columnar import gaps
from evaluator.columns import Rows, UncoveredError
from evaluator.compile import CompiledCheck, compile_check
from evaluator.errors import CheckError, SceneError, kind_of


class EvaluationTable(NamedTuple):
    """Verdicts and gaps of checks on scenes.

    Attributes:
        passed: (checks, scenes) bool, whether the scene satisfies the check.
        gap: (checks, scenes) float64, the distance to satisfaction: 0 exactly where passed, maybe infinite.
    """

    passed: NDArray[np.bool_]
    gap: NDArray[np.float64]


class SceneTable:
    """Scenes prepared for many checks: a column for each path, arrays' elements with their owners.

    Preparing reads every value once and costs about what evaluating ten checks does; each check then looks
    at arrays instead of scenes. The scenes themselves are kept, for checks that columns do not cover, and
    must not change.

    Attributes:
        scenes: the scenes, in order.
        rows: the table of whole scenes, from which columns (`Rows.locate`) and elements lead on.

    Raises `SceneError` for one scene where several are expected.
    """

    __slots__ = ("rows", "scenes")

    def __init__(self, scenes: Iterable[Any]) -> None:
        self.scenes = _listed(scenes)
        self.rows = Rows.of_scenes(self.scenes)
        self.rows.prepare()

    def __len__(self) -> int:
        return len(self.scenes)


def evaluate_many(checks: Iterable[object], scenes: Iterable[Any] | SceneTable) -> EvaluationTable:
    """Evaluate checks on scenes: the verdicts and gaps `compile_check` gives, as doubles bit for bit.

    Parameters:
        checks: as for `compile_check`; each a row of the result.
        scenes: JSON trees, each a column of the result; or a `SceneTable` of them, which pays when several
            calls or many checks ask of the same scenes.

    Raises:
        CheckError: a check is not well formed; `place` starts with its index, `$[3].where.op`.
        SceneError: a scene holds something that is not JSON where a check looks; `place` starts with the
            scene's index, `scenes[12]: total`.
    """
    if isinstance(checks, dict | str):
        raise CheckError(f"expected several checks, got {kind_of(checks)}; put it into a list", "$")
    compiled = [_compiled(check, index) for index, check in enumerate(checks)]
    rows = scenes.rows if isinstance(scenes, SceneTable) else Rows.of_scenes(_listed(scenes))
    gap = np.empty((len(compiled), rows.size))
    traced = [(index, check) for index, check in enumerate(compiled) if check.three_valued]
    with np.errstate(over="ignore"):  # a distance beyond the largest double is infinite
        for index, check in enumerate(compiled):
            if not check.three_valued:
                gap[index] = _gaps(check, rows, index)
        if traced:
            _scene_by_scene(traced, rows.itself.found, gap)
    return EvaluationTable(gap == 0.0, gap)


def _listed(scenes: Iterable[Any]) -> list[Any]:
    if isinstance(scenes, dict | str):
        raise SceneError(f"expected several scenes, got {kind_of(scenes)}; put it into a list", "scenes")
    return list(scenes)


def _compiled(check: object, index: int) -> CompiledCheck:
    try:
        return compile_check(check)
    except CheckError as error:
        raise CheckError(error.problem, f"$[{index}]{error.place[1:]}") from None


def _gaps(check: CompiledCheck, rows: Rows, index: int) -> NDArray[np.float64]:
    expression = check.check["expr"] if is_defined(check.check) else check.check
    try:
        return gaps(rows, expression)
    except (UncoveredError, SceneError, CheckError, RecursionError):
        return _one_by_one(check, rows.itself.found, index)


def _one_by_one(check: CompiledCheck, scenes: list[Any], index: int) -> NDArray[np.float64]:
    """The gaps by the check's closure, a scene at a time."""
    gap = np.empty(len(scenes))
    for number, scene in enumerate(scenes):
        gap[number] = _gap(check, index, scene, number)
    return gap


def _scene_by_scene(
    checks: list[tuple[int, CompiledCheck]], scenes: list[Any], gap: NDArray[np.float64]
) -> None:
    """Fill in the gaps of checks over traces: all of one scene's, so that its trace is read once for them."""
    from evaluator.assertions.operators import kept_views  # loaded already: there is an assertion

    for number, scene in enumerate(scenes):
        with kept_views():
            for index, check in checks:
                gap[index, number] = _gap(check, index, scene, number)


def _gap(check: CompiledCheck, index: int, scene: Any, number: int) -> float:
    try:
        return check.gap(scene)
    except SceneError as error:
        place = f"scenes[{number}]"
        raise SceneError(error.problem, f"{place}: {error.place}" if error.place else place) from None
    except CheckError as error:
        raise CheckError(error.problem, f"$[{index}]{error.place[1:]}") from None
    except RecursionError:
        problem = "the check is nested too deeply for what is left of Python's call stack"
        raise CheckError(problem, f"$[{index}]") from None

"""A check as a scorer of ``mlflow.genai.evaluate``: verdict, gap and reason for each output or trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, Literal

from mlflow.entities import AssessmentSource, Feedback, Trace
from mlflow.entities.assessment_source import AssessmentSourceType
from mlflow.genai.scorers import Scorer
from pydantic import PrivateAttr

from evaluator import (
    Check,
    CheckResult,
    CompiledCheck,
    SceneError,
    compile_check,
    sentence,
    to_scene,
    traces_from_mlflow,
)

Judged = Literal["auto", "outputs", "trace"]
Select = Callable[[Any], Any]
_IN_TRACE = re.compile(r"trace(?:$|[.\[])")


class CheckScorer(Scorer):
    """Judges each row of an evaluation by a check.

    Gives two assessments: one named as the scorer, whose value is whether the check passes and whose
    rationale is the reason, and ``NAME/gap`` with the distance to passing. An infinite gap has no number; it
    is the text "Infinity" in the metadata of the first, and the second is left out.
    """

    _check: CompiledCheck = PrivateAttr()
    _judged: Judged = PrivateAttr()
    _select: Select | None = PrivateAttr()

    def __init__(
        self, check: Mapping[str, Any] | Check, name: str, judged: Judged, select: Select | None
    ) -> None:
        wire = check.to_dict() if isinstance(check, Check) else dict(check)
        compiled = compile_check(wire)
        expression = wire.get("expr", wire)
        super().__init__(name=name, description=sentence(expression))
        self._check = compiled
        self._select = select
        self._judged = judged
        if judged == "auto":
            self._judged = "trace" if _speaks_of_trace(expression) else "outputs"

    def __call__(self, *, outputs: Any = None, trace: Trace | None = None, **_: Any) -> list[Feedback]:
        result = self._check(self._scene(outputs, trace))
        source = AssessmentSource(source_type=AssessmentSourceType.CODE, source_id="check-induction")
        gap = result.gap
        metadata = {"gap": repr(gap) if isfinite(gap) else "Infinity", **_status(result)}
        verdict = Feedback(
            name=self.name, value=result.passed, rationale=result.why, source=source, metadata=metadata
        )
        if not isfinite(gap):
            return [verdict]
        return [verdict, Feedback(name=f"{self.name}/gap", value=gap, source=source)]

    def _scene(self, outputs: Any, trace: Trace | None) -> Any:
        if self._select is not None:
            outputs = self._select(outputs)
        scene = to_scene(outputs)
        if self._judged == "outputs" or (isinstance(scene, dict) and "trace" in scene):
            return scene
        if trace is None:
            raise SceneError(
                "this check judges a trace, and there is none; evaluate traces, or give predict_fn"
            )
        (steps,) = traces_from_mlflow(trace)
        return {**scene, "trace": steps} if isinstance(scene, dict) else {"trace": steps}


def scorer(
    check: Mapping[str, Any] | Check,
    name: str | None = None,
    *,
    judged: Judged = "auto",
    scene: Select | None = None,
) -> CheckScorer:
    """A check as a scorer of ``mlflow.genai.evaluate``.

    Parameters
    ----------
    check : dict or Check
        On the wire, with or without an id.
    name : str, optional
        Of the assessments; the check's id by default, or "check" where it has none.
    judged : {"auto", "outputs", "trace"}
        What the check is asked of: the outputs as a scene, or the trace as ``{"trace": …}``, beside the keys
        of the outputs where these are an object. "auto" takes the trace where the check speaks of one.
    scene : callable, optional
        From the outputs to the scene, where the outputs are more than that.

    Returns
    -------
    CheckScorer
        Gives the assessment `name`, whose value is whether the check passes, with the reason as rationale and
        the gap in the metadata; and `name`/gap, its number.

    Raises
    ------
    evaluator.CheckError
        The check is not well formed.
    """
    own = check.get("id") if isinstance(check, Mapping) else check.id
    return CheckScorer(check, name or own or "check", judged, scene)


def _status(result: CheckResult) -> dict[str, str]:
    status = (result.meta or {}).get("status")
    return {} if status is None else {"status": str(status)}


def _speaks_of_trace(expression: Any) -> bool:
    """Whether a check reads the part of a scene named "trace", by a path or by an assertion over traces."""
    if isinstance(expression, list):
        return any(map(_speaks_of_trace, expression))
    if not isinstance(expression, dict):
        return False
    op = str(expression.get("op"))
    if "." in op and op != "trace.before" and not op.startswith("cel."):
        return True
    paths = (expression.get("path"), expression.get("collection"))
    if any(isinstance(path, str) and _IN_TRACE.match(path) for path in paths):
        return True
    return any(map(_speaks_of_trace, expression.values()))

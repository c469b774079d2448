"""The check as a model that MLflow loads: this file is copied into the model and run wherever it is loaded.

A prediction is ``{"pass", "gap", "why"}`` as on the wire, where an infinite gap is the text "Infinity".
"""

import warnings
from math import isfinite
from pathlib import Path
from typing import Any

from mlflow.exceptions import MlflowException
from mlflow.models import set_model
from mlflow.pyfunc.model import PythonModel, PythonModelContext

from evaluator import CheckError, SceneError, compile_check, to_scene
from evaluator.json_read import JsonTextError, read_json

_EXPECTED = "expected an object, an array, or the JSON text of one (of a data frame, the first column counts)"

# MLflow warns, past every filter, that a scene may be anything; the model judges scenes itself.
with warnings.catch_warnings(record=True):

    class CheckModel(PythonModel):
        """A check over scenes."""

        def load_context(self, context: PythonModelContext) -> None:
            try:
                self._check = compile_check(read_json(Path(context.artifacts["check"]).read_bytes()))
            except (CheckError, JsonTextError) as error:
                raise MlflowException.invalid_parameter_value(f"the check of this model: {error}") from error

        def predict(
            self, context: Any, model_input: list[Any], params: dict[str, Any] | None = None
        ) -> list[dict[str, Any]]:
            """The verdict on each scene.

            A scene is an object or an array, or its JSON text; of a labelled line, ``{"id", "scene"}``, what
            stands under "scene". Of a data frame MLflow hands on the first column.
            """
            del context, params  # which MLflow hands to every model
            return [self._verdict(number, value) for number, value in enumerate(model_input)]

        def _verdict(self, number: int, value: Any) -> dict[str, Any]:
            try:
                result = self._check(_scene(value))
                why = result.why
            except SceneError as error:
                raise MlflowException.invalid_parameter_value(f"scene {number}: {error}") from error
            gap = result.gap if isfinite(result.gap) else "Infinity"
            return {"pass": result.passed, "gap": gap, "why": why}


def _scene(value: Any) -> Any:
    if isinstance(value, str | bytes):
        try:
            value = read_json(value.encode() if isinstance(value, str) else value)
        except JsonTextError as error:
            raise SceneError(f"{_EXPECTED}; {error}") from None
    scene = to_scene(value)
    if isinstance(scene, dict) and "scene" in scene and scene.keys() & {"id", "label", "labels"}:
        scene = scene["scene"]
    if not isinstance(scene, dict | list):
        raise SceneError(f"{_EXPECTED}; got {type(value).__name__}")
    return scene


set_model(CheckModel())

"""World models: what a scene would be after an action, so that it can be judged before anything is done.

A world model is a function `fn(scene, action)`. It returns the next scene, or changes the one it is given,
which is its own copy, and returns None. When the action cannot be taken there it raises
`ImpossibleActionError`. The same scene and action must always lead to the same scene.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from typing import Any

from evaluator.conversion import to_scene
from evaluator.errors import SceneError, kind_of, nearest
from evaluator.scene import is_plain_tree
from evaluator.values import compact

WorldModel = Callable[[Any, Any], Any]


class ImpossibleActionError(ValueError):
    """Raised by a world model: the action cannot be taken in this scene. The message says why not."""


_registered: dict[str, WorldModel] = {}


def register_world_model(name: str, fn: WorldModel) -> None:
    """Make a world model known by a name; one that had the name before is replaced.

    Raises `TypeError` when the name is no text or `fn` cannot be called.
    """
    if type(name) is not str or not name:
        raise TypeError(f"the name of a world model is a string that is not empty, got {name!r:.60}")
    if not callable(fn):
        raise TypeError(f"a world model is a function of a scene and an action, got {kind_of(fn)}")
    _registered[name] = fn


def predict(scene: object, action: object, model: str | WorldModel | None = None) -> Any:
    """The scene after an action, as a world model predicts it: a new tree that shares nothing with anything.

    Parameters:
        scene: the scene before. Never changed: the model works on a copy.
        action: whatever the model understands; one that is plain JSON is copied too, anything else is handed
            over as it is.
        model: the name of a registered world model, or a function. None means the one registered model; of
            several, the one named "default".

    Raises:
        ValueError: there is no such model, or none to choose.
        SceneError: the scene, or what the model returned for it, is no scene.
        ImpossibleActionError: the model says that the action cannot be taken. Other exceptions of the model
            leave as they are.
    """
    fn = world_model(model)
    given = copied_scene(scene)
    after = fn(given, marshal_copy(action) if is_plain_tree(action) else action)
    try:
        return copied_scene(given if after is None else after)
    except SceneError as error:
        raise SceneError(
            f"the world model {_name(fn)} returned no scene: {error.problem}", error.place
        ) from None


def world_model(model: str | WorldModel | None) -> WorldModel:
    """A model by its name; a function is itself, None the one to use when none is named."""
    if model is None:
        if len(_registered) == 1:
            return next(iter(_registered.values()))
        if "default" in _registered:
            return _registered["default"]
        if not _registered:
            raise ValueError(
                "no world model is registered; register_world_model(name, fn) does, or give model=fn"
            )
        raise ValueError(f'several world models are registered and none is named "default"; {_choice()}')
    if callable(model):
        return model
    if type(model) is not str:
        raise ValueError(f"a world model is a name or a function, got {kind_of(model)}")
    if model not in _registered:
        meant = nearest(model, _registered)
        advice = f'did you mean "{meant}"?' if meant else _choice()
        raise ValueError(f"no world model is registered as {compact(model)}; {advice}")
    return _registered[model]


def _name(fn: WorldModel) -> str:
    known = (compact(name) for name, model in _registered.items() if model is fn)
    return next(known, str(getattr(fn, "__name__", "given")))


def _choice() -> str:
    if not _registered:
        return "none is"
    return f"give model= one of {', '.join(map(compact, sorted(_registered)))}"


def copied_scene(scene: object) -> Any:
    """A deep copy of a scene. Raises `SceneError` when it is none and cannot be turned into one."""
    return marshal_copy(scene) if is_plain_tree(scene) else to_scene(scene)


def marshal_copy(tree: Any) -> Any:
    """A deep copy of plain JSON, in C where it is not too deep for that."""
    try:
        return marshal.loads(marshal.dumps(tree))
    except ValueError:
        return to_scene(tree)

"""Plugins: assertions written in Python and found by an id.

A plugin is a function of the trace and a configuration that answers `{"status", "score", "explanation"}`.
Those in `Providers.plugins` come first, then those of `register_plugin`, then the entry points of the group
`evaluator.plugins`, which installed packages declare:

    [project.entry-points."evaluator.plugins"]
    tone_meter = "tones:measure"

A plugin that raises, or answers in another form, fails the assertion; one that is not there is a mistake in
the test and fails it even where it is soft.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from evaluator.assertions.arguments import Text
from evaluator.assertions.judgement import Judge, Judgement, failed
from evaluator.assertions.method import Method
from evaluator.assertions.outcome import STATUSES
from evaluator.assertions.view import TraceView
from evaluator.assertions.wording import name_text, one_line
from evaluator.errors import kind_of
from evaluator.providers.errors import BudgetExceededError
from evaluator.values import MISSING

Plugin = Callable[..., Mapping[str, Any]]

GROUP: Final = "evaluator.plugins"
"""The group of entry points in which packages declare plugins."""

_REGISTERED: Final[dict[str, Plugin]] = {}


def register_plugin(plugin_id: str, plugin: Plugin) -> None:
    """Make a plugin known by an id; one registered under it before is replaced.

    `plugin(trace, config)` answers `{"status", "score", "explanation"}`: a status as of any assertion, a
    score in 0…1 (by default 1 on a pass, else 0) and, if it likes, why. `config` is None when the assertion
    has none.

    Raises `TypeError` when the id is not a text or the plugin cannot be called, `ValueError` for an empty id.
    """
    if not isinstance(plugin_id, str):
        raise TypeError(f"the id of a plugin is a string, got {kind_of(plugin_id)}")
    if not plugin_id:
        raise ValueError("the id of a plugin must not be empty")
    if not callable(plugin):
        raise TypeError(f"a plugin is a function of a trace and a configuration, got {kind_of(plugin)}")
    _REGISTERED[plugin_id] = plugin


def plugin(*, plugin_id: Text, config: Any = None) -> Judge:
    """What the plugin of that id says of the trace."""
    what = name_text(plugin_id)

    def judge(view: TraceView) -> Judgement:
        given = view.providers.plugins if view.providers is not None else None
        try:
            found = _found(plugin_id, given or {})
        except Exception as error:  # a package that cannot be imported may raise anything
            return _unusable(f"{what}: the plugin cannot be loaded: {_said(error)}", soft_heeded=False)
        if found is None:
            return _unusable(f"{what}: expected a registered plugin, got none", soft_heeded=False)
        try:
            answer = found(None if view.trace is MISSING else view.trace, config)
        except BudgetExceededError:
            raise
        except Exception as error:  # a plugin is foreign code
            return _unusable(f"{what}: the plugin failed: {_said(error)}")
        return _read(what, answer)

    return judge


def _found(plugin_id: str, given: Mapping[str, Plugin]) -> Plugin | None:
    known = given.get(plugin_id) or _REGISTERED.get(plugin_id)
    if known is not None:
        return known
    from importlib.metadata import entry_points  # not at the top: it costs start-up

    for entry in entry_points(group=GROUP, name=plugin_id):
        loaded: Plugin = entry.load()
        return loaded
    return None


def _read(what: str, answer: Any) -> Judgement:
    """The judgement in a plugin's answer."""
    if not isinstance(answer, Mapping):
        return _unusable(f"{what}: expected an answer with a status, got {kind_of(answer)}")
    status = answer.get("status")
    if status not in STATUSES:
        got = name_text(status) if isinstance(status, str) else kind_of(status)
        return _unusable(f"{what}: expected one of {', '.join(STATUSES)} as status, got {got}")
    explanation = answer.get("explanation")
    said = one_line(explanation) if isinstance(explanation, str) and explanation else status
    if status == "not_evaluated":
        return Judgement(status, 0.0, 1.0, f"{what}: not evaluated: plugin: {said}", "plugin")
    score = answer.get("score")
    if score is None:
        score = float(status == "pass")
    if type(score) is not int and type(score) is not float:
        return _unusable(f"{what}: expected a score in 0…1, got {kind_of(score)}")
    if not 0 <= score <= 1:
        return _unusable(f"{what}: expected a score in 0…1, got {score}")
    gap = 0.0 if status == "pass" else 1.0 - score or 1.0
    return Judgement(status, float(score), gap, f"{what}: {said}")


def _unusable(why: str, *, soft_heeded: bool = True) -> Judgement:
    return failed(1.0, why, soft_heeded=soft_heeded, reason="plugin")


def _said(error: Exception) -> str:
    return one_line(str(error)) or type(error).__name__


METHODS: Final = (Method("plugin", "plugin", plugin),)

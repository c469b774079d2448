"""The assertions as operators of the check language: `<family>.<method>`, compiled to closures over scenes.

A scene's trace is found once for all assertions of a check (`view.py`), and what an assertion judged is kept
for as long as the check is evaluated: a judge or plugin is asked once however often the verdict is used.
Nothing is kept from one evaluation to the next, so that a scene may change between them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from evaluator.assertions.judgement import Judge, Judgement
from evaluator.assertions.method import Method, methods
from evaluator.assertions.run import current_providers
from evaluator.assertions.view import TraceView, view_of
from evaluator.fields import Fields
from evaluator.node import Node
from evaluator.operators.sequence import before
from evaluator.operators.three_valued import with_status
from evaluator.result import CheckResult

Operator = Callable[[Fields], Node]

_views: Final[dict[int, tuple[Any, TraceView]]] = {}


def _view(scene: Any) -> TraceView:
    held = _views.get(id(scene))
    if held is not None and held[0] is scene:
        return held[1]
    view = view_of(scene, current_providers())
    _views[id(scene)] = scene, view
    return view


def afresh(node: Node) -> Node:
    """A check as a whole: what it found of the scenes is forgotten before and after it is evaluated."""

    def around(function: Any) -> Any:
        def run(*given: Any) -> Any:
            _views.clear()
            try:
                return function(*given)
            finally:
                _views.clear()

        return run

    gap, judge, locate, decide = map(around, node)
    return Node(gap, judge, locate, decide)


def _operator(method: Method) -> Operator:
    required = [argument.wire for argument in method.arguments if argument.required]

    def build(fields: Fields) -> Node:
        for name in required:
            fields.value(name, "an argument")
        given = {
            argument.name: fields.check[argument.wire]
            for argument in method.arguments
            if argument.wire in fields
        }
        if "soft" in fields:
            given["soft"] = fields.check["soft"]
        return _node(method.build(given, fields.place))

    return build


def _node(judge: Judge) -> Node:
    leaf = object()

    def judged(scene: Any) -> Judgement:
        judgements = (view := _view(scene)).judgements
        found = judgements.get(leaf)
        if found is None:
            found = judgements[leaf] = judge(view)
        return found

    def gap(scene: Any) -> float:
        return float(judged(scene).gap)

    def decide(scene: Any) -> float | None:
        judgement = judged(scene)
        return None if judgement.status == "not_evaluated" else float(judgement.gap)

    def result(scene: Any) -> CheckResult:
        judgement = judged(scene)
        said = CheckResult(judgement.status == "pass", float(judgement.gap), Judgement.text, judgement)
        return with_status(said, judgement.status, judgement.reason)

    return Node(gap, result, decide=decide)


EXTENSIONS: Final[dict[str, Operator]] = {
    **{op: _operator(method) for op, method in methods().items()},
    "trace.before": before,
}
"""The operators beyond the core, by name."""

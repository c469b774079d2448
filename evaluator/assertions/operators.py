"""The assertions as operators of the check language: `<family>.<method>`, compiled to closures over scenes.

A scene's trace is found once for all assertions of a check (`view.py`), and what an assertion judged is kept
for as long as the check is evaluated: a judge or plugin is asked once however often the verdict is used.
Nothing is kept from one evaluation to the next, so that a scene may change between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local
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


class _Found(local):
    """What this thread found of the scenes that it evaluates, by their identity."""

    def __init__(self) -> None:
        self.views: dict[int, tuple[Any, TraceView]] = {}
        self.kept = False

    def begin(self, *, kept: bool) -> tuple[dict[int, tuple[Any, TraceView]], bool]:
        """Start without anything found; what was found before is for `restore`."""
        before = self.views, self.kept
        self.views, self.kept = {}, kept
        return before

    def restore(self, before: tuple[dict[int, tuple[Any, TraceView]], bool]) -> None:
        """Forget what was found since `begin`."""
        for _, view in self.views.values():
            view.release()
        self.views, self.kept = before


_found: Final = _Found()


def _view(scene: Any) -> TraceView:
    views = _found.views
    held = views.get(id(scene))
    if held is not None and held[0] is scene:
        return held[1]
    view = view_of(scene, current_providers())
    views[id(scene)] = scene, view
    return view


def afresh(node: Node) -> Node:
    """A check as a whole: what it found of the scenes is forgotten before and after it is evaluated."""

    def around(function: Any) -> Any:
        def run(*given: Any) -> Any:
            if _found.kept:
                return function(*given)
            before = _found.begin(kept=False)
            try:
                return function(*given)
            finally:
                _found.restore(before)

        return run

    gap, judge, locate, decide = map(around, node)
    return Node(gap, judge, locate, decide)


@contextmanager
def kept_views() -> Iterator[None]:
    """While it lasts, all checks that this thread evaluates share what they find of scenes.

    The scenes must not change meanwhile.
    """
    before = _found.begin(kept=True)
    try:
        yield
    finally:
        _found.restore(before)


def _operator(method: Method) -> Operator:
    def build(fields: Fields) -> Node:
        given = {}
        for argument in method.arguments:
            if argument.required:
                fields.value(argument.wire, "an argument")
            if argument.wire in fields:
                given[argument.name] = fields.check[argument.wire]
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
